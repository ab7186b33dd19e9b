// What a reader has answered in a set of exercises. The tab keeps it, so that it is there after a reload; without storage, until the page is left.

const KEPT_ATTEMPT = "normviz.practice";

/** @type {PracticeAttempt | null} For a browser that stores nothing, as in some frames. */
let lastAttempt = null;

/** @param {string} key of the set @returns {PracticeAttempt} */
export const newAttempt = (key) => ({ key, at: 0, seconds: 0, draft: null, answers: [] });

/**
 * The attempt at this set, or a new one.
 * @param {string} key
 * @param {number} count of its exercises
 */
export function readAttempt(key, count) {
  const kept = storedAttempt() ?? lastAttempt, isWhole = kept?.key === key && Array.isArray(kept.answers) && kept.at >= 0 && kept.at <= count;
  return isWhole && kept.answers.length <= count && kept.answers.length >= kept.at ? kept : newAttempt(key);
}

function storedAttempt() {
  try {
    return /** @type {PracticeAttempt | null} */ (JSON.parse(sessionStorage.getItem(KEPT_ATTEMPT) ?? "null"));
  } catch {
    return null; // nothing can be stored, or it is something else
  }
}

/** @param {PracticeAttempt} attempt */
export function keepAttempt(attempt) {
  lastAttempt = attempt;
  try {
    sessionStorage.setItem(KEPT_ATTEMPT, JSON.stringify(attempt));
  } catch {
    // until the page is left
  }
}
