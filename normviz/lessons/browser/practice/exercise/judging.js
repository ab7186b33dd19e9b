// Whether an answer is right, and which confusion a wrong one follows from.

import { readNumber } from "../../questions/prediction.js";

const ROUNDING = 1e-6; // relative error of a typed number

/**
 * @param {PracticeExercise} exercise
 * @param {PracticeAnswer | null} value null: the reader has asked for the answer
 * @returns {{ isRight: boolean, confusion: string | null }} ``confusion``: its id, if the answer follows from a documented one
 */
export function judgeAnswer({ answer, wrong, options, tolerance = 0 }, value) {
  if (value === null) return { isRight: false, confusion: null };
  if (sameAnswer(value, answer, tolerance)) return { isRight: true, confusion: null };
  const chosen = options?.find(([text]) => text === value)?.[1], followed = wrong.find(([, other]) => sameAnswer(value, other, tolerance))?.[0];
  return { isRight: false, confusion: chosen || followed || null };
}

/**
 * @param {PracticeAnswer} value that the reader has given
 * @param {PracticeAnswer} other
 * @param {number} tolerance of numbers
 */
function sameAnswer(value, other, tolerance) {
  if (Array.isArray(other)) return Array.isArray(value) && value.length === other.length && value.every((position) => other.includes(position));
  if (typeof other === "string") return value === other;
  return Math.abs(readNumber(String(value)) - other) <= Math.max(tolerance, ROUNDING * Math.max(1, Math.abs(other)));
}
