// A prediction: the choices or a field for a number, and the verdict that appears with the answer.

import { find, html } from "../page/dom.js";

/** @param {HTMLElement} box */
export function wirePrediction(box) {
  const answer = /** @type {HTMLDetailsElement} */ (find(box, ":scope > .nv-answer")), verdict = find(answer, ":scope > .nv-verdict");
  const judge = () => {
    const guess = answer.open ? guessOf(box) : null;
    verdict.hidden = !guess;
    verdict.replaceChildren();
    if (!guess) return;
    const { correct = "", predicted = "", wrong = "", notANumber = "" } = box.dataset;
    if (guess.isRight === null) return verdict.append(notANumber.replace("{guess}", () => `'${guess.text}'`));
    html("strong", "", verdict, guess.isRight ? correct : predicted.replace("{guess}", () => guess.text));
    if (!guess.isRight) verdict.append(` ${wrong}`);
  };
  answer.addEventListener("toggle", judge);
  box.addEventListener("change", judge);
  find(box, ":scope > .nv-predict").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    answer.open = true;
    judge();
  });
}

/**
 * The guess and whether it is right; null without a guess. ``isRight`` is null where a number is asked for and the text is not one.
 * @param {HTMLElement} box
 */
function guessOf(box) {
  const predict = find(box, ":scope > .nv-predict"), right = box.dataset.right ?? "";
  const radio = /** @type {HTMLInputElement | null} */ (predict.querySelector("input:checked"));
  const field = /** @type {HTMLInputElement | null} */ (predict.querySelector("input[type=text]"));
  if (radio) return { text: (radio.parentElement?.textContent ?? "").trim(), isRight: radio.value === right };
  const text = field?.value.trim(), number = readNumber(text ?? "");
  if (!text) return null;
  const isNear = Math.abs(number - Number(right)) <= 1e-6 * Math.max(1, Math.abs(Number(right)));
  return { text, isRight: Number.isFinite(number) ? isNear : null };
}

/**
 * Like the app, it accepts commas between thousands.
 * @param {string} text
 */
function readNumber(text) {
  const plain = text.replaceAll(",", "").trim();
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
}
