// Texts of exercises: prompts with the layer as code, answers and times as words.

import { html } from "../../../../figures/browser/common/dom.js";
import { formatElement, formatNumber } from "../../../../figures/browser/common/format.js";
import { _, ngettext } from "../../../../figures/browser/common/messages.js";
import { indexOf } from "../../../../figures/browser/tensor/sharing.js";

const MOST_NAMED = 6; // marked elements that a summary names

/**
 * Writes a text in which the layer is code. Texts on the two modes name it without .eval().
 * @param {HTMLElement} parent
 * @param {string} text
 * @param {string} layer
 */
export function writeWithCode(parent, text, layer) {
  const code = text.includes(layer) ? layer : layer.replace(".eval()", "");
  for (const [i, part] of text.split(code).entries()) {
    if (i) html("code", "", parent, code);
    parent.append(part);
  }
}

/**
 * An answer in words: the text itself, a number, or the marked elements.
 * @param {PracticeAnswer | null} answer
 * @param {PracticeExercise} exercise
 */
export function answerText(answer, { shape, kind }) {
  if (answer === null) return _("no answer");
  if (typeof answer === "number") return formatNumber(answer);
  if (typeof answer === "string") return answer;
  if (!answer.length) return kind === "moves" ? _("none") : _("no other element");
  const named = answer.slice(0, MOST_NAMED).map((position) => formatElement("x", indexOf(position, shape))).join(", "), more = answer.length - MOST_NAMED;
  return more > 0 ? ngettext("{named} and {n} more", "{named} and {n} more", more, { named }) : named;
}

/** @param {number} seconds */
export const timeText = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds) % 60).padStart(2, "0")}`;
