// The numbers of a small tensor as tables, one for each facet: the values of x, or the groups of a pattern in colors.

import { html } from "../../../../figures/browser/page/dom.js";
import { formatNumber } from "../../../../figures/browser/text/format.js";
import { layoutOf } from "../marking.js";
import { indexOf } from "./positions.js";

const GOLDEN_ANGLE = 137.5; // degrees: neighboring groups get different hues

/**
 * @param {HTMLElement} parent
 * @param {PracticeExercise} exercise
 */
export function drawNumbers(parent, { shape, names, at, numbers, values = [] }) {
  const { row, col, facets } = layoutOf({ shape, names, axes: [], at: [] }), place = html("div", "nv-numbers", parent);
  /** @type {Map<string, HTMLTableElement>} By the indices of the facet. */
  const tables = new Map();
  for (const [position, number] of (numbers ?? values).entries()) {
    const index = indexOf(position, shape), facet = facets.map((axis) => `${names[axis]} = ${index[axis]}`).join(", ");
    const table = tables.get(facet) ?? addTable(place, facet);
    tables.set(facet, table);
    const line = row === null ? 0 : index[row], cell = (table.rows[line] ?? table.insertRow()).insertCell(index[col]);
    cell.textContent = formatNumber(number);
    if (numbers) cell.style.setProperty("--nv-hue", String((number * GOLDEN_ANGLE) % 360));
    cell.classList.toggle("nv-numbers-framed", String(index) === String(at));
  }
}

/**
 * @param {HTMLElement} parent
 * @param {string} caption
 */
function addTable(parent, caption) {
  const table = html("table", "", parent);
  if (caption) html("caption", "", table, caption);
  return table;
}
