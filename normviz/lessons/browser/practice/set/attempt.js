// What a reader has answered in the last sets of exercises. The tab keeps it, so that it is there after a reload; without storage, until the page is left.

const KEPT_ATTEMPTS = "normviz.practice", MOST_ATTEMPTS = 10;

/** @type {PracticeAttempt[]} The last one first; for a browser that stores nothing, as in some frames. */
let lastAttempts = [];

/** @param {string} key of the set @returns {PracticeAttempt} */
export const newAttempt = (key) => ({ key, at: 0, seconds: 0, draft: null, answers: [] });

/**
 * The attempt at this set, or a new one.
 * @param {string} key
 * @param {number} count of its exercises
 */
export function readAttempt(key, count) {
  const kept = storedAttempts().find((one) => one.key === key);
  return kept && isPossible(kept, count) ? kept : newAttempt(key);
}

/**
 * @param {PracticeAttempt} attempt
 * @param {number} count
 */
function isPossible({ at, answers }, count) {
  return Array.isArray(answers) && at >= 0 && at <= answers.length && answers.length <= count;
}

function storedAttempts() {
  try {
    const stored = JSON.parse(sessionStorage.getItem(KEPT_ATTEMPTS) ?? "null");
    if (Array.isArray(stored)) lastAttempts = stored;
  } catch {
    // nothing can be stored, or it is something else
  }
  return lastAttempts;
}

/** @param {PracticeAttempt} attempt */
export function keepAttempt(attempt) {
  lastAttempts = [attempt, ...storedAttempts().filter(({ key }) => key !== attempt.key)].slice(0, MOST_ATTEMPTS);
  try {
    sessionStorage.setItem(KEPT_ATTEMPTS, JSON.stringify(lastAttempts));
  } catch {
    // until the page is left
  }
}
