// A prediction: the choices or a field for a number, and the verdict that appears with the answer.

import { find, findAll, html } from "../../figures/browser/common/dom.js";
import { betweenSentences } from "../../figures/browser/common/messages.js";
import { askNumber, readNumber } from "../../figures/browser/common/numbers.js";

/** @param {HTMLElement} box */
const answerOf = (box) => /** @type {HTMLDetailsElement} */ (find(box, ":scope > .nv-answer"));

/**
 * Opens the answer after a guess. A text that is not a number is refused with a message at its field, and the answer stays closed.
 * @param {HTMLElement} box
 */
export function commit(box) {
  const guess = guessOf(box);
  if (guess?.isRight === null) refuse(box, notANumber(box, guess.text));
  else if (guess) answerOf(box).open = true; // "toggle" follows
}

/**
 * Shows the verdict if the answer is open, and returns the guess: the key of an option, or a number.
 * @param {HTMLElement} box
 */
export function judge(box) {
  const answer = answerOf(box), verdict = find(answer, ":scope > .nv-verdict"), guess = answer.open ? guessOf(box) : null;
  if (answer.open) refuse(box, "");
  markOptions(box, answer.open);
  verdict.hidden = !guess;
  verdict.replaceChildren();
  delete verdict.dataset.result;
  if (!guess) return "";
  if (guess.isRight === null) {
    verdict.append(notANumber(box, guess.text));
    return "";
  }
  const { correct = "", predicted = "", wrong = "" } = box.dataset;
  verdict.dataset.result = guess.isRight ? "right" : "wrong";
  html("strong", "", verdict, guess.isRight ? correct : predicted.replace("{guess}", () => guess.text));
  if (!guess.isRight) verdict.append(betweenSentences(), wrong);
  return guess.value;
}

/**
 * How the answer was opened: after a right or a wrong prediction, or without one.
 * @param {HTMLElement} box
 */
export function resultOf(box) {
  const { result } = find(answerOf(box), ":scope > .nv-verdict").dataset;
  return result === "right" || result === "wrong" ? result : "opened";
}

/**
 * Says which option is right and which one was chosen, once the answer is open.
 * @param {HTMLElement} box
 * @param {boolean} isOpen
 */
function markOptions(box, isOpen) {
  const { right, rightOption = "", wrongOption = "" } = box.dataset;
  for (const option of findAll(box, ":scope > .nv-predict .nv-option")) {
    const radio = /** @type {HTMLInputElement} */ (find(option, "input")), mark = find(option, ".nv-mark"), isRight = radio.value === right;
    option.dataset.result = isOpen && (isRight || radio.checked) ? (isRight ? "right" : "wrong") : "";
    mark.textContent = { right: rightOption, wrong: wrongOption }[option.dataset.result] ?? "";
  }
}

/**
 * Why a text is no guess: it can be read in two ways, or it is no number.
 * @param {HTMLElement} box
 * @param {string} text
 */
const notANumber = (box, text) => askNumber(text, isWhole(box)) || (box.dataset.notANumber ?? "").replace("{guess}", () => `'${text}'`);

/** @param {HTMLElement} box */
const isWhole = ({ dataset }) => /^-?\d+$/.test(dataset.right ?? "");

/**
 * @param {HTMLElement} box
 * @param {string} message "" removes it
 */
export function refuse(box, message) {
  const place = box.querySelector(":scope > .nv-predict .nv-refusal");
  if (place) place.textContent = message;
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
 * The guess and whether it is right; null without a guess. ``value`` is a number as every language reads it: a link may be opened in
 * another one. ``isRight`` is null where a number is asked for and the text is not one.
 * @param {HTMLElement} box
 */
function guessOf(box) {
  const predict = find(box, ":scope > .nv-predict"), right = box.dataset.right ?? "";
  const radio = /** @type {HTMLInputElement | null} */ (predict.querySelector("input:checked"));
  const field = /** @type {HTMLInputElement | null} */ (predict.querySelector("input[type=text]"));
  if (radio) return { value: radio.value, text: (radio.nextElementSibling?.textContent ?? "").trim(), isRight: radio.value === right };
  const text = field?.value.trim(), number = readNumber(text ?? "", isWhole(box));
  if (!text) return null;
  const isNear = Math.abs(number - Number(right)) <= 1e-6 * Math.max(1, Math.abs(Number(right)));
  return Number.isFinite(number) ? { value: String(number), text, isRight: isNear } : { value: text, text, isRight: null };
}
