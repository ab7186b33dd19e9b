// A small tensor as tables, one for each facet: the values of x, the groups of a pattern in colors, or empty cells.

import { findAll, html } from "../../figures/browser/common/dom.js";
import { formatNumber } from "../../figures/browser/common/format.js";
import { positionOf } from "../../figures/browser/tensor/sharing.js";

const GOLDEN_ANGLE = 137.5; // degrees: neighboring groups get different hues
const MOST_CELLS = 60; // a shape with at most so many cells is drawn up to MOST_ALONG indices per axis, a larger one up to FEW_ALONG
const MOST_ALONG = 10; // indices per axis; the same for tensors with values
const FEW_ALONG = 3;
const LEFT_OUT = null; // indices that are left out

/** @param {number} size */
export const upTo = (size) => [...Array(size).keys()];

/**
 * @param {HTMLElement} parent
 * @param {SmallTensor} tensor
 */
export function drawTensor(parent, { shape, names, facets, row, col, at, numbers, values, target }) {
  const place = html("div", "nv-numbers", parent), shown = numbers ?? values;
  place.classList.toggle("nv-numbers-shape", !shown);
  place.ariaHidden = String(!shown); // the prompt has the shape
  const most = numbers || target ? Infinity : values ? MOST_ALONG : shape.reduce((product, size) => product * size, 1) > MOST_CELLS ? FEW_ALONG : MOST_ALONG;
  /** @param {number | null} axis */
  const along = (axis) => (axis === null ? [0] : indicesOf(shape[axis], most, at?.[axis]));
  const [bands, across] = facets.length > 1 ? [along(facets[0]), facets.slice(1)] : [[0], facets];
  for (const band of bands) {
    const line = html("div", "nv-numbers-band", place);
    if (band === LEFT_OUT) line.append("⋮");
    else for (const rest of combinations(across.map(along))) addFacet(line, facets.length > 1 ? [band, ...rest] : rest);
  }
  return place;

  /**
   * @param {HTMLElement} parent
   * @param {(number | null)[]} facet the index along each axis of the facets
   */
  function addFacet(parent, facet) {
    const caption = facets.map((axis, i) => `${names[axis]} = ${facet[i]}`).join(", ");
    if (!facet.includes(LEFT_OUT)) addTable(parent, caption, facet);
    else if (parent.lastElementChild?.tagName === "TABLE") html("span", "nv-numbers-gap", parent, "…");
  }

  /**
   * @param {HTMLElement} parent
   * @param {string} caption
   * @param {(number | null)[]} facet the index along each axis of the facets
   */
  function addTable(parent, caption, facet) {
    const table = html("table", "", parent), heads = table.insertRow();
    if (caption) html("caption", "", table, caption);
    if (row !== null) html("th", "", heads, `${names[col]} =`).scope = "row";
    for (const column of along(col)) html("th", "", heads, column === LEFT_OUT ? "…" : row === null ? `${names[col]} = ${column}` : String(column)).scope = "col";
    for (const line of along(row)) {
      const cells = table.insertRow();
      if (row !== null) html("th", "", cells, line === LEFT_OUT ? "⋮" : `${names[row]} = ${line}`).scope = "row";
      for (const column of along(col)) {
        const cell = cells.insertCell();
        if (line === LEFT_OUT || column === LEFT_OUT) cell.className = "nv-numbers-gap";
        else fill(cell, shape.map((_size, axis) => (axis === col ? column : axis === row ? line : Number(facet[facets.indexOf(axis)]))));
      }
    }
  }

  /**
   * @param {HTMLElement} cell
   * @param {Index} index
   */
  function fill(cell, index) {
    cell.classList.toggle("nv-numbers-framed", String(index) === String(at));
    if (target) cell.dataset.position = String(positionOf(index, shape));
    if (!shown) return;
    const number = shown[positionOf(index, shape)];
    cell.textContent = formatNumber(number);
    if (numbers) cell.style.setProperty("--nv-hue", String((number * GOLDEN_ANGLE) % 360));
  }
}

/**
 * All indices along an axis, or the first, the framed one and the last, with gaps between them.
 * @param {number} size
 * @param {number} most
 * @param {number} [framed]
 * @returns {(number | null)[]}
 */
function indicesOf(size, most, framed = 0) {
  if (size <= most) return upTo(size);
  return [0, framed, size - 1].flatMap((index, i, all) => (i === 0 ? [index] : index === all[i - 1] ? [] : index === all[i - 1] + 1 ? [index] : [LEFT_OUT, index]));
}

/**
 * One of each, in all ways, the last one changing first.
 * @template T
 * @param {T[][]} choices
 */
export function combinations(choices) {
  /** @type {T[][]} */
  let found = [[]];
  for (const choice of choices) found = found.flatMap((before) => choice.map((one) => [...before, one]));
  return found;
}

/**
 * Draws the tensors whose places a page has.
 * @param {HTMLElement} root
 */
export function drawTensors(root) {
  for (const place of findAll(root, ".nv-tensor")) {
    place.replaceChildren();
    drawTensor(place, JSON.parse(place.dataset.tensor ?? ""));
    const figure = /** @type {HTMLElement} */ (place.parentElement);
    if (figure.scrollWidth > figure.clientWidth) figure.tabIndex = 0; // the arrow keys scroll it
  }
}
