// A prediction: the choices or a field for a number, and the verdict that appears with the answer.

import { find, findAll, html } from "../../figures/browser/page/dom.js";

/** @param {HTMLElement} box */
const answerOf = (box) => /** @type {HTMLDetailsElement} */ (find(box, ":scope > .nv-answer"));

/**
 * Shows the verdict if the answer is open, and returns the guess: the key of an option, or a number.
 * @param {HTMLElement} box
 * @param {boolean} [open] open the answer
 */
export function judge(box, open = false) {
  const answer = answerOf(box), verdict = find(answer, ":scope > .nv-verdict");
  if (open) answer.open = true;
  const guess = answer.open ? guessOf(box) : null;
  verdict.hidden = !guess;
  verdict.replaceChildren();
  if (!guess) return "";
  const { correct = "", predicted = "", wrong = "", notANumber = "" } = box.dataset;
  if (guess.isRight === null) {
    verdict.append(notANumber.replace("{guess}", () => `'${guess.text}'`));
    return "";
  }
  html("strong", "", verdict, guess.isRight ? correct : predicted.replace("{guess}", () => guess.text));
  if (!guess.isRight) verdict.append(` ${wrong}`);
  return guess.value;
}

/**
 * Shows the guess of an address: enters it and opens the answer. Without a guess, or with one that is no answer, the answer closes.
 * @param {HTMLElement} box
 * @param {string} guess
 */
export function showGuess(box, guess) {
  const predict = find(box, ":scope > .nv-predict"), field = predict.querySelector("input[type=text]");
  for (const radio of /** @type {HTMLInputElement[]} */ (findAll(predict, "input[type=radio]"))) radio.checked = radio.value === guess;
  if (field instanceof HTMLInputElement) field.value = guess;
  const entered = guessOf(box);
  answerOf(box).open = entered !== null && entered.isRight !== null;
  judge(box);
}

/**
 * The guess and whether it is right; null without a guess. ``isRight`` is null where a number is asked for and the text is not one.
 * @param {HTMLElement} box
 */
function guessOf(box) {
  const predict = find(box, ":scope > .nv-predict"), right = box.dataset.right ?? "";
  const radio = /** @type {HTMLInputElement | null} */ (predict.querySelector("input:checked"));
  const field = /** @type {HTMLInputElement | null} */ (predict.querySelector("input[type=text]"));
  if (radio) return { value: radio.value, text: (radio.parentElement?.textContent ?? "").trim(), isRight: radio.value === right };
  const text = field?.value.trim(), number = readNumber(text ?? "");
  if (!text) return null;
  const isNear = Math.abs(number - Number(right)) <= 1e-6 * Math.max(1, Math.abs(Number(right)));
  return { value: text, text, isRight: Number.isFinite(number) ? isNear : null };
}

/**
 * Like the app, it accepts commas between thousands.
 * @param {string} text
 */
function readNumber(text) {
  const plain = text.replaceAll(",", "").trim();
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
}
