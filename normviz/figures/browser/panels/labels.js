// Names of axes and facets around a panel, and the strips of means and variances along it.

/** @import { Panel } from "./panel.js" */

import { svg } from "../page/dom.js";
import { _ } from "../page/messages.js";
import { formatShort } from "../text/format.js";

/** @typedef {(x: number, y: number, text: string, attributes?: Record<string, string | number>) => void} Write */

const STATISTIC_NAMES = /** @type {("mean" | "var")[]} */ (["mean", "var"]);

/** @param {"mean" | "var"} statistic */
const nameOf = (statistic) => (statistic === "mean" ? _("mean") : _("var"));

/**
 * @param {Panel} panel
 * @param {SVGElement} group
 */
export function drawLabels(panel, group) {
  const { geometry, data } = panel, { grid, axes } = data;
  /** @type {Write} */
  const write = (x, y, text, attributes = {}) => {
    svg("text", { x, y, ...attributes }, group).textContent = text;
  };
  if (!grid.facets.length) {
    drawAxis(panel, write, grid.col, true);
    if (grid.row !== null) drawAxis(panel, write, grid.row, false);
  } else {
    drawFacetNames(panel, write);
    const bottom = geometry.height + (panel.facetStrips ? 43 : 13);
    const right = `${axes[grid.col]} \u2192`, down = grid.row === null ? "" : `${axes[grid.row]} \u2193`;
    const beside = grid.facets.length < 2 || geometry.rows * geometry.cellH > 46; // above the name of the first row of facets
    write(0, bottom, beside || !down ? right : `${right}  ${down}`, { "text-anchor": "start", class: "nv-axis" });
    if (panel.facetStrips && geometry.width > 220) write(geometry.width, bottom, _("mean and var of each plane"), { "text-anchor": "end" });
    if (beside && down) write(-8, 8, down, { "text-anchor": "end", class: "nv-axis" });
  }
  const strips = panel.figure.strips;
  if (strips.facet) drawFacetStrips(panel, write, strips.facet);
  if (strips.row) drawRowStrips(panel, write, group, strips.row);
  if (strips.col) drawColumnStrips(panel, write, group, strips.col);
}

/**
 * "d = 0", "d = 1", ... along one axis, as many as fit.
 * @param {Panel} panel
 * @param {Write} write
 * @param {number} axis
 * @param {boolean} across
 */
function drawAxis(panel, write, axis, across) {
  const { geometry, data } = panel, drawn = data.grid.indices[axis];
  const cell = across ? geometry.cellW : geometry.cellH;
  const width = across ? `${data.axes[axis]} = ${drawn[drawn.length - 1]}`.length * 6.6 + 6 : 13;
  const every = Math.max(1, Math.ceil(width / cell)), bare = across && every > 1 && cell > 16;
  for (let i = 0; i < drawn.length; i += bare ? 1 : every) {
    const text = bare && i ? String(drawn[i]) : `${data.axes[axis]} = ${drawn[i]}`;
    const middle = (i + 0.5) * cell;
    if (across) write(middle, -8, text, { "text-anchor": "middle" });
    else write(-8, middle, text, { "text-anchor": "end", "dominant-baseline": "central" });
  }
}

/**
 * @param {Panel} panel
 * @param {Write} write
 */
function drawFacetNames(panel, write) {
  const { geometry, data } = panel, { grid, axes } = data;
  /** @type {(axis: number, index: Index) => string} */
  const name = (axis, index) => `${axes[axis]} = ${grid.indices[axis][index[axis]]}`;
  const columnAxes = grid.facets.length > 1 ? grid.facets.slice(1) : grid.facets;
  const facetWidth = geometry.columns * geometry.cellW, facetHeight = geometry.rows * geometry.cellH;
  const shown = grid.facets.length > 1 ? geometry.across : geometry.facets;
  const longest = columnAxes.map((axis) => name(axis, geometry.extent.map((n) => n - 1))).join(", ").length * 6.6 + 4;
  const every = Math.max(1, Math.ceil(longest / geometry.pitchX));
  for (let facet = 0; facet < shown; facet += every) {
    const index = geometry.facetIndex(facet);
    const x = (facet % geometry.across) * geometry.pitchX + facetWidth / 2;
    const y = Math.floor(facet / geometry.across) * geometry.pitchY - 7;
    write(x, y, columnAxes.map((axis) => name(axis, index)).join(", "), { "text-anchor": "middle" });
  }
  if (grid.facets.length < 2) return;
  const rowsEvery = Math.max(1, Math.ceil(14 / geometry.pitchY));
  for (let row = 0; row < geometry.down; row += rowsEvery) {
    const index = geometry.facetIndex(row * geometry.across);
    write(-8, row * geometry.pitchY + facetHeight / 2, name(grid.facets[0], index), { "text-anchor": "end", "dominant-baseline": "central" });
  }
}

/**
 * The mean and the variance below each facet, where they fit.
 * @param {Panel} panel
 * @param {Write} write
 * @param {Strip} strip
 */
function drawFacetStrips(panel, write, strip) {
  const { geometry } = panel, facetWidth = geometry.columns * geometry.cellW;
  if (!panel.facetStrips) return;
  for (let facet = 0; facet < geometry.facets; facet++) {
    const x = (facet % geometry.across) * geometry.pitchX + facetWidth / 2;
    const y = Math.floor(facet / geometry.across) * geometry.pitchY + geometry.rows * geometry.cellH + 13;
    STATISTIC_NAMES.forEach((kind, line) =>
      write(x, y + 14 * line, `${nameOf(kind)} ${formatShort(strip[kind][facet])}`, { "text-anchor": "middle", class: "nv-strip" }));
  }
}

/**
 * @param {Panel} panel
 * @param {Write} write
 * @param {SVGElement} group
 * @param {Strip} strip
 */
function drawRowStrips(panel, write, group, strip) {
  const { geometry } = panel, x = geometry.width + 8;
  STATISTIC_NAMES.forEach((kind, column) => {
    write(x + column * 42 + 20, -8, nameOf(kind), { "text-anchor": "middle" });
    strip[kind].forEach((value, row) => {
      if (geometry.cellH < 12 && row % Math.ceil(12 / geometry.cellH)) return;
      write(x + column * 42 + 20, (row + 0.5) * geometry.cellH, formatShort(value), { "text-anchor": "middle", "dominant-baseline": "central", class: "nv-strip" });
    });
  });
  svg("path", { d: `M${x - 2},0V${geometry.height}`, class: "nv-rule" }, group);
}

/**
 * @param {Panel} panel
 * @param {Write} write
 * @param {SVGElement} group
 * @param {Strip} strip
 */
function drawColumnStrips(panel, write, group, strip) {
  const { geometry } = panel, y = geometry.height + 8;
  const longest = Math.max(...[...strip.mean, ...strip.var].map((value) => formatShort(value).length));
  const every = Math.max(1, Math.ceil((longest * 5.6 + 3) / geometry.cellW));
  STATISTIC_NAMES.forEach((kind, row) => {
    write(-8, y + row * 15 + 8, nameOf(kind), { "text-anchor": "end", "dominant-baseline": "central" });
    strip[kind].forEach((value, column) => {
      if (column % every) return;
      write((column + 0.5) * geometry.cellW, y + row * 15 + 8, formatShort(value), { "text-anchor": "middle", "dominant-baseline": "central", class: "nv-strip" });
    });
  });
  svg("path", { d: `M0,${y - 2}H${geometry.width}`, class: "nv-rule" }, group);
}
