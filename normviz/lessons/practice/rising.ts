// The rising set: the next exercise follows from the answers so far.

import { Random } from "./bank.ts";

const LEVELS = 3;
const IN_A_ROW = 2; // right at the first try: one level up; wrong: one level down
const LATER = 2; // other exercises before a confusion returns

/**
 * The level of the next exercise: it starts at 1, goes up after two answers in a row that were right at the first try, and down after two
 * wrong ones. An answer that was right at the second try begins a new row.
 */
export function levelAfter(results: readonly PracticeResult[]) {
  let level = 1, row = 0; // positive: right, negative: wrong
  for (const { isRight, tries } of results) {
    const step = isRight ? Number(tries.length === 1) : -1;
    row = step && Math.sign(row) === step ? row + step : step;
    if (Math.abs(row) < IN_A_ROW) continue;
    level = Math.min(LEVELS, Math.max(1, level + step));
    row = 0;
  }
  return level;
}

/**
 * Level 2 is named after sequences and images, and the toggle of an axis of one element changes nothing: such tables and such layers to
 * build are for sets that are fixed.
 */
const fitsItsLevel = ({ level, shape, form }: PracticeExercise) => (level !== 2 || shape.length > 2) && !(form === "build" && shape.includes(1));

/** The same one has the same words. */
const questionOf = ({ kind, layer }: PracticeExercise) => `${kind} ${layer}`;

/**
 * The next exercise of a rising set; undefined: there is no other.
 * @param results so far
 * @param due the confusions that came up in earlier sets
 */
export function nextExercise(pool: readonly PracticeExercise[], results: readonly PracticeResult[], seed: number, due: readonly string[] = []) {
  const used = new Set(results.map(({ exercise }) => exercise.id)), unused = pool.filter((one) => !used.has(one.id) && fitsItsLevel(one));
  if (!unused.length) return;
  const asked = new Set(results.map(({ exercise }) => questionOf(exercise))), unasked = unused.filter((one) => !asked.has(questionOf(one)));
  const rest = unasked.length ? unasked : unused, level = levelAfter(results);
  const random = new Random(seed + results.length), again = returning(rest, results, level, due);
  const near = rest.filter((one) => one.level === level), open = near.length ? near : rest;
  if (again.length) return again[random.below(again.length)];
  const times = ({ kind }: PracticeExercise): number => results.filter(({ exercise }) => exercise.kind === kind).length;
  const least = Math.min(...open.map(times)), kinds = [...new Set(open.filter((one) => times(one) === least).map(({ kind }) => kind))];
  const kind = kinds[random.below(kinds.length)], ofKind = open.filter((one) => one.kind === kind);
  return ofKind[random.below(ofKind.length)];
}

/**
 * Exercises up to this level in which a confusion may come up again, whose turn it is; of the same kind only if there are no others.
 * @param rest that were not shown yet
 */
function returning(rest: readonly PracticeExercise[], results: readonly PracticeResult[], level: number, due: readonly string[]) {
  for (const confusion of openConfusions(results, due)) {
    const found = rest.filter((one) => one.level <= level && hasConfusion(one, confusion)), last = results.at(-1)?.exercise.kind;
    if (!found.length) continue;
    const high = found.filter((one) => one.level === level), best = high.length ? high : found, others = best.filter(({ kind }) => kind !== last);
    return others.length ? others : best;
  }
  return [];
}

/** The confusions whose turn it is to return: not overcome since, and with some other exercises in between. */
function openConfusions(results: readonly PracticeResult[], due: readonly string[]) {
  const last: Map<string, number> = new Map(due.map((confusion) => [confusion, 0]));
  for (const [place, { exercise, confusions, isRight, tries }] of results.entries()) {
    const asked = [...last.keys()].filter((confusion) => hasConfusion(exercise, confusion)), isOvercome = isRight && tries.length === 1;
    if (isOvercome) for (const confusion of asked) last.delete(confusion);
    else for (const confusion of [...asked, ...confusions]) last.set(confusion, place + 1);
  }
  return [...last].filter(([, place]) => results.length >= place + LATER).map(([confusion]) => confusion);
}

/** Whether a wrong answer to the exercise follows from the confusion. */
export const hasConfusion = ({ wrong }: PracticeExercise, confusion: string) => wrong.some(([id]) => id === confusion);
