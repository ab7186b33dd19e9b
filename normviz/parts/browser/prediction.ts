// A prediction: the choices or a field for a number, and the verdict that appears with the answer.

import { find, findAll, html } from "../../figures/browser/common/dom.ts";
import { betweenSentences } from "../../figures/browser/common/messages.ts";
import { askNumber, readNumber } from "../../figures/browser/common/numbers.ts";

const answerOf = (box: HTMLElement) => find(box, ":scope > .nv-answer") as HTMLDetailsElement;

/** Opens the answer after a guess. A text that is not a number is refused with a message at its field, and the answer stays closed. */
export function commit(box: HTMLElement) {
  const guess = guessOf(box);
  if (guess?.isRight === null) refuse(box, notANumber(box, guess.text));
  else if (guess) answerOf(box).open = true; // "toggle" follows
}

/** Shows the verdict if the answer is open, and returns the guess: the key of an option, or a number. */
export function judge(box: HTMLElement) {
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

/** How the answer was opened: after a right or a wrong prediction, or without one. */
export function resultOf(box: HTMLElement) {
  const { result } = find(answerOf(box), ":scope > .nv-verdict").dataset;
  return result === "right" || result === "wrong" ? result : "opened";
}

/** Says which option is right and which one was chosen, once the answer is open. */
function markOptions(box: HTMLElement, isOpen: boolean) {
  const { right, rightOption = "", wrongOption = "" } = box.dataset;
  for (const option of findAll(box, ":scope > .nv-predict .nv-option")) {
    const radio = find(option, "input") as HTMLInputElement, mark = find(option, ".nv-mark"), isRight = radio.value === right;
    option.dataset.result = isOpen && (isRight || radio.checked) ? (isRight ? "right" : "wrong") : "";
    mark.textContent = { right: rightOption, wrong: wrongOption }[option.dataset.result] ?? "";
  }
}

/** Why a text is no guess: it can be read in two ways, or it is no number. */
const notANumber = (box: HTMLElement, text: string) => askNumber(text, isWhole(box)) || (box.dataset.notANumber ?? "").replace("{guess}", () => `'${text}'`);

const isWhole = ({ dataset }: HTMLElement) => /^-?\d+$/.test(dataset.right ?? "");

/** ``message``: "" removes it */
export function refuse(box: HTMLElement, message: string) {
  const place = box.querySelector(":scope > .nv-predict .nv-refusal");
  if (place) place.textContent = message;
}

/** Shows the guess of an address: enters it and opens the answer. Without a guess, or with one that is no answer, the answer closes. */
export function showGuess(box: HTMLElement, guess: string) {
  const predict = find(box, ":scope > .nv-predict"), field = predict.querySelector("input[type=text]");
  for (const radio of findAll(predict, "input[type=radio]") as HTMLInputElement[]) radio.checked = radio.value === guess;
  if (field instanceof HTMLInputElement) field.value = guess;
  const entered = guessOf(box);
  answerOf(box).open = entered !== null && entered.isRight !== null;
  judge(box);
}

/**
 * The guess and whether it is right; null without a guess. ``value`` is a number as every language reads it: a link may be opened in
 * another one. ``isRight`` is null where a number is asked for and the text is not one.
 */
function guessOf(box: HTMLElement) {
  const predict = find(box, ":scope > .nv-predict"), right = box.dataset.right ?? "";
  const radio = predict.querySelector("input:checked") as HTMLInputElement | null;
  const field = predict.querySelector("input[type=text]") as HTMLInputElement | null;
  if (radio) return { value: radio.value, text: (radio.nextElementSibling?.textContent ?? "").trim(), isRight: radio.value === right };
  const text = field?.value.trim(), number = readNumber(text ?? "", isWhole(box));
  if (!text) return null;
  const isNear = Math.abs(number - Number(right)) <= 1e-6 * Math.max(1, Math.abs(Number(right)));
  return Number.isFinite(number) ? { value: String(number), text, isRight: isNear } : { value: text, text, isRight: null };
}
