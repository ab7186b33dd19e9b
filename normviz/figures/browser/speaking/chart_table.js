// The points of a chart as a table: a row for each x, a column for each series.

import { html } from "../page/dom.js";
import { formatNumber } from "../page/format.js";
import { _ } from "../page/messages.js";
import { openModal } from "./modal.js";

const ARRAYS = /** @type {const} */ ({ f8: [8, "getFloat64"], i1: [1, "getInt8"], i2: [2, "getInt16"], i4: [4, "getInt32"] });

/**
 * The numbers of a list, or of an array in Plotly's form.
 * @param {any} packed
 * @returns {(number | string | null)[]}
 */
export function numbersOf(packed) {
  if (!packed?.bdata) return packed ?? [];
  const [size, read] = ARRAYS[/** @type {keyof typeof ARRAYS} */ (packed.dtype)], bytes = Uint8Array.from(atob(packed.bdata), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Array.from({ length: bytes.length / size }, (_number, at) => view[read](at * size, true));
}

/**
 * The rows of the table, the heads first. Lines that only guide the eye have no name, and no column.
 * @param {ChartData["figure"]} figure
 */
export function chartRows({ data, layout }) {
  const series = data.filter(({ name, x, y }) => name && x && y).map(({ name, x, y }) => ({ name, x: numbersOf(x), y: numbersOf(y) }));
  const places = [...new Set(series.flatMap(({ x }) => x))];
  /** @param {any} value */
  const text = (value) => (typeof value === "number" ? formatNumber(value) : (value ?? "–"));
  const rows = places.map((place) => [text(place), ...series.map(({ x, y }) => (x.includes(place) ? text(y[x.indexOf(place)]) : ""))]);
  return [[layout.xaxis?.title?.text || "x", ...series.map(({ name }) => name)], ...rows];
}

/**
 * @param {HTMLElement} parent
 * @param {ChartData["figure"]} figure
 * @param {() => void} onClose
 */
export function showChartTable(parent, figure, onClose) {
  openModal(parent, _("The figure as a table"), (body) => {
    const [heads, ...rows] = chartRows(figure), table = html("table", "", body), head = html("tr", "", html("thead", "", table)), lines = html("tbody", "", table);
    table.createCaption().textContent = figure.layout.yaxis?.title?.text ?? "";
    for (const name of heads) html("th", "", head, name).scope = "col";
    for (const [place, ...numbers] of rows) {
      const line = html("tr", "", lines);
      html("th", "", line, place).scope = "row";
      for (const number of numbers) html("td", "", line, number);
    }
  }, onClose);
}
