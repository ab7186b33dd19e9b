// A small tensor as tables, one for each facet: the values of x, the groups of a pattern in colors, or empty cells.

import { groupBackground } from "../../figures/browser/common/color.ts";
import { findAll, html } from "../../figures/browser/common/dom.ts";
import { formatNumber } from "../../figures/browser/common/format.ts";
import { positionOf } from "../../figures/browser/tensor/sharing.ts";

const MOST_CELLS = 60; // a shape with at most so many cells is drawn up to MOST_ALONG indices per axis, a larger one up to FEW_ALONG
const MOST_ALONG = 10; // indices per axis; the same for tensors with values
const FEW_ALONG = 3;
const LEFT_OUT = null; // indices that are left out

export const upTo = (size: number) => [...Array(size).keys()];

export function drawTensor(parent: HTMLElement, { shape, names, facets, row, col, at, numbers, values, target }: ExerciseTensor) {
  const place = html("div", "nv-numbers", parent), shown = numbers ?? values;
  place.classList.toggle("nv-numbers-shape", !shown);
  place.ariaHidden = String(!shown); // the prompt has the shape
  const most = numbers || target ? Infinity : values ? MOST_ALONG : shape.reduce((product, size) => product * size, 1) > MOST_CELLS ? FEW_ALONG : MOST_ALONG;
  const along = (axis: number | null) => (axis === null ? [0] : indicesOf(shape[axis], most, at?.[axis]));
  const [bands, across] = facets.length > 1 ? [along(facets[0]), facets.slice(1)] : [[0], facets];
  for (const band of bands) {
    const line = html("div", "nv-numbers-band", place);
    if (band === LEFT_OUT) line.append("⋮");
    else for (const rest of combinations(across.map(along))) addFacet(line, facets.length > 1 ? [band, ...rest] : rest);
  }
  return place;

  /** ``facet``: the index along each axis of the facets */
  function addFacet(parent: HTMLElement, facet: (number | null)[]) {
    const caption = facets.map((axis, i) => `${names[axis]} = ${facet[i]}`).join(", ");
    if (!facet.includes(LEFT_OUT)) addTable(parent, caption, facet);
    else if (parent.lastElementChild?.tagName === "TABLE") html("span", "nv-numbers-gap", parent, "…");
  }

  /** ``facet``: the index along each axis of the facets */
  function addTable(parent: HTMLElement, caption: string, facet: (number | null)[]) {
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

  function fill(cell: HTMLElement, index: Index) {
    cell.classList.toggle("nv-numbers-framed", String(index) === String(at));
    if (target) cell.dataset.position = String(positionOf(index, shape));
    if (!shown) return;
    const number = shown[positionOf(index, shape)];
    cell.textContent = formatNumber(number);
    if (numbers) cell.style.background = groupBackground(number);
  }
}

/** All indices along an axis, or the first, the framed one and the last, with gaps between them. */
function indicesOf(size: number, most: number, framed = 0): (number | null)[] {
  if (size <= most) return upTo(size);
  return [0, framed, size - 1].flatMap((index, i, all) => (i === 0 ? [index] : index === all[i - 1] ? [] : index === all[i - 1] + 1 ? [index] : [LEFT_OUT, index]));
}

/** One of each, in all ways, the last one changing first. */
export function combinations<T>(choices: T[][]) {
  let found: T[][] = [[]];
  for (const choice of choices) found = found.flatMap((before) => choice.map((one) => [...before, one]));
  return found;
}

/** Draws the tensors whose places a page has. */
export function drawTensors(root: HTMLElement) {
  for (const place of findAll(root, ".nv-tensor")) {
    place.replaceChildren();
    drawTensor(place, JSON.parse(place.dataset.tensor ?? ""));
    const figure = place.parentElement as HTMLElement;
    if (figure.scrollWidth > figure.clientWidth) figure.tabIndex = 0; // the arrow keys scroll it
  }
}
