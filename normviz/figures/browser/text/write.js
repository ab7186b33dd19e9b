// Writes the texts of a view into its elements.

import { html } from "../page/dom.js";
import { formatElement } from "../page/format.js";
import { _ } from "../page/messages.js";
import { tensorIndex } from "../tensor/sharing.js";
import { sentPlace } from "../tensor/slices.js";
import { arithmeticLines } from "./arithmetic.js";

/**
 * @param {HTMLElement} parent
 * @param {Phrase[]} phrases
 */
export function writePhrases(parent, phrases) {
  parent.replaceChildren();
  phrases.forEach((phrase, i) => {
    if (i) html("span", "nv-dot", parent, " · ");
    const element = html("span", "nv-phrase", parent);
    for (const word of phrase) {
      if (typeof word === "string") element.append(word);
      else html("code" in word ? "code" : "strong", "", element, Object.values(word)[0]);
    }
  });
}

/**
 * @param {HTMLElement} list
 * @param {Count[]} counts
 */
export function writeCounts(list, counts) {
  list.replaceChildren();
  for (const { label, value, note } of counts) {
    const count = html("div", "nv-count", list);
    html("dt", "", count, label);
    const number = html("dd", "", count, value);
    if (note) html("span", "nv-note", number, note);
  }
}

/**
 * The arithmetic of the selected element.
 * @param {HTMLElement} section
 * @param {ValueSource} source
 * @param {Index | null} at
 */
export function writeArithmetic(section, source, at) {
  section.replaceChildren();
  section.hidden = !source.data.values;
  if (section.hidden) return;
  if (!at || !sentPlace(source.data, at)) {
    html("h2", "nv-heading", section, _("Worked out by hand"));
    html("p", "", section, _("Select an element (click it, or press Enter on it) to see its arithmetic."));
    return;
  }
  html("h2", "nv-heading", section, _("Worked out for {element}", { element: formatElement("x", tensorIndex(source.data, at)) }));
  const lines = html("div", "nv-lines", section);
  for (const [quantity, expression, result] of arithmeticLines(source, at)) {
    html("span", "nv-what", lines, quantity);
    html("span", "nv-how", lines, expression);
    html("span", "nv-result", lines, `= ${result}`);
  }
}
