// Names of axes and facets around a panel, the strips of means and variances along it, and dragging the names.

/** @import { DrawnPanel } from "../tensor/drawn_panel.d.ts" */

import { formatShort } from "../common/format.js";
import { _ } from "../common/messages.js";
import { cutAxes, facetAxes, gapsBefore, listSlices, sentPlace } from "../tensor/slices.js";

/** @typedef {(x: number, y: number, text: string, attributes?: Record<string, string | number>) => void} Write */

export const NAME_HEIGHT = 22; // px: the name of a facet above it
const STRIP_WIDTH = 70; // px: "mean −12.3" and a margin
const LETTER = 6.6; // px
const STATISTIC_NAMES = /** @type {("mean" | "var")[]} */ (["mean", "var"]);

/** @param {"mean" | "var"} statistic */
const nameOf = (statistic) => (statistic === "mean" ? _("mean") : _("var"));

/**
 * The room for labels: facet names above, row names at the left, strips at the right and below.
 * @param {DrawnPanel} panel
 * @param {number} width
 */
export function marginsOf({ data, figure }, width) {
  const { grid, axes } = data, { strips } = figure;
  const longest = (/** @type {number} */ axis) => `${axes[axis]} = ${grid.indices[axis].at(-1)}`.length * 7;
  const { band } = facetAxes(grid), rowAxis = grid.facets.length ? band : grid.row;
  const left = rowAxis === null ? 22 : Math.max(40, longest(rowAxis) + 14), right = strips.row ? 92 : 4;
  const facetStrips = !!strips.facet && (width - left - right) / grid.across >= STRIP_WIDTH, below = strips.col ? 40 : grid.facets.length ? 18 : 4;
  const gapY = (grid.facets.length && band === null ? NAME_HEIGHT : 0) + (facetStrips ? 34 : 0);
  return { left, right, top: NAME_HEIGHT, bottom: below + (facetStrips ? 30 : 0), gapY, facetStrips };
}

/** @param {DrawnPanel} panel */
export function drawLabels(panel) {
  const { labels, data: { grid } } = panel;
  /** @type {Write} */
  const write = (x, y, text, attributes = {}) => {
    labels.add("text", { x, y, ...attributes }, text);
  };
  if (!grid.facets.length) {
    drawAxis(panel, write, grid.col, true);
    if (grid.row !== null) drawAxis(panel, write, grid.row, false);
  } else {
    drawFacetNames(panel, write);
    drawInnerAxes(panel, write);
    drawEllipses(panel, write);
  }
  const strips = panel.figure.strips;
  if (strips.facet) drawFacetStrips(panel, write, strips.facet);
  if (strips.row) drawStrips(panel, write, strips.row, false);
  if (strips.col) drawStrips(panel, write, strips.col, true);
  labels.end();
}

/**
 * "d = 0", "d = 1", ... along one axis, as many as fit, and an ellipsis where slices are left out.
 * @param {DrawnPanel} panel
 * @param {Write} write
 * @param {number} axis
 * @param {boolean} across
 */
function drawAxis(panel, write, axis, across) {
  const { geometry, data } = panel, drawn = data.grid.indices[axis], gaps = gapsBefore(drawn);
  const [starts, cell] = across ? [geometry.xs, geometry.cellW] : [geometry.ys, geometry.cellH];
  /** @type {(at: number, text: string) => void} */
  const label = (at, text) => {
    if (across) write(at, -8, text, { "text-anchor": "middle" });
    else write(-8, at, text, { "text-anchor": "end", "dominant-baseline": "central" });
  };
  const last = drawn.length - 1, named = `${data.axes[axis]} = ${drawn[last]}`, bare = across && named.length * LETTER + 6 > cell;
  const needed = across ? (bare && cell > 16 ? String(drawn[last]) : named).length * LETTER + 6 : 13;
  const every = Math.max(1, Math.ceil(needed / cell));
  drawn.forEach((index, i) => {
    if (gaps[i] > (gaps[i - 1] ?? 0)) label((starts[i] + starts[i - 1] + cell) / 2, across ? "⋯" : "⋮");
    const chosen = gaps[last] ? i === last || (i % every === 0 && starts[last] - starts[i] >= needed) : i % every === 0;
    if (chosen) label(starts[i] + cell / 2, bare && i && cell > 16 ? String(index) : `${data.axes[axis]} = ${index}`);
  });
}

/**
 * The names of the axes inside each facet, with the drawn slices of a cut axis.
 * @param {DrawnPanel} panel
 * @param {Write} write
 */
function drawInnerAxes(panel, write) {
  const { geometry, data, facetStrips } = panel, { grid, axes } = data, cut = cutAxes(grid);
  const bottom = geometry.height + (facetStrips ? 43 : 13);
  /** @type {(axis: number, arrow: string) => string} */
  const name = (axis, arrow) => (cut.includes(axis) ? `${axes[axis]} = ${listSlices(grid.indices[axis])} ${arrow}` : `${axes[axis]} ${arrow}`);
  const right = name(grid.col, "\u2192"), down = grid.row === null ? "" : name(grid.row, "\u2193");
  const beside = !cut.includes(grid.row ?? -1) && (facetAxes(grid).band === null || geometry.facetH > 46); // the label stands above the name of the first row of facets
  const below = beside || !down ? right : `${right}   ${down}`;
  write(0, bottom, below, { "text-anchor": "start", class: "nv-axis" });
  if (beside && down) write(-8, 8, down, { "text-anchor": "end", class: "nv-axis" });
  const note = _("mean and var of each plane");
  if (facetStrips && geometry.width > (below.length + note.length) * LETTER) write(geometry.width, bottom, note, { "text-anchor": "end" });
}

/**
 * An ellipsis where slices are left out, between facets and inside them.
 * @param {DrawnPanel} panel
 * @param {Write} write
 */
function drawEllipses({ geometry }, write) {
  const { xs, ys, lefts, tops, cellW, cellH, facetW, facetH, apart } = geometry;
  const facets = tops.flatMap((top, line) => lefts.flatMap((left, place) => (geometry.facetAt(place, line) === null ? [] : [{ left, top }])));
  /** @type {(x: number, y: number, text: string) => void} */
  const mark = (x, y, text) => write(x, y, text, { "text-anchor": "middle", "dominant-baseline": "central" });
  /** @type {(starts: number[], size: number, at: number) => number} */
  const before = (starts, size, at) => (starts[at - 1] + size + starts[at]) / 2;
  for (const { left, top } of facets) {
    for (const column of apart.columns) mark(left + before(xs, cellW, column), top + ys[0] + cellH / 2, "⋯");
    for (const row of apart.rows) mark(left + xs[0] + cellW / 2, top + before(ys, cellH, row), "⋮");
  }
  for (const top of tops) for (const place of apart.places) mark(before(lefts, facetW, place), top + facetH / 2, "⋯");
  for (const line of apart.lines) write(-14, before(tops, facetH, line), "⋮", { "text-anchor": "end", "dominant-baseline": "central" }); // the dots stand below the names at the left
}

/**
 * @param {DrawnPanel} panel
 * @param {Write} write
 */
function drawFacetNames(panel, write) {
  const { geometry, data } = panel, { grid, axes } = data, { lefts, tops, facetW, facetH, lines } = geometry;
  /** @type {(axis: number, index: Index) => string} */
  const name = (axis, index) => `${axes[axis]} = ${grid.indices[axis][index[axis]]}`;
  const { band, inBand } = facetAxes(grid), rows = band !== null && lines === 1 ? 1 : tops.length;
  /** @param {number} facet */
  const title = (facet) => {
    const index = geometry.facetIndex(facet), jump = lines > 1 && inBand.some((axis) => gapsBefore(grid.indices[axis])[index[axis]] > 0);
    return `${jump ? "⋯ " : ""}${inBand.map((axis) => name(axis, index)).join(", ")}`;
  };
  const longest = title(geometry.facets - 1).length * LETTER + 4, pitch = lefts.length > 1 ? lefts[1] : facetW, every = Math.max(1, Math.ceil(longest / pitch));
  for (let line = 0; line < rows; line++)
    for (let place = 0; place < lefts.length; place += every) {
      const facet = geometry.facetAt(place, line);
      if (facet !== null) write(lefts[place] + facetW / 2, tops[line] - 7, title(facet), { "text-anchor": "middle" });
    }
  if (band === null) return;
  const bandsEvery = Math.max(1, Math.ceil(14 / (tops.length > lines ? tops[lines] : 14)));
  for (let line = 0; line < tops.length; line += lines * bandsEvery) {
    const index = geometry.facetIndex(geometry.facetAt(0, line) ?? 0);
    write(-8, tops[line] + facetH / 2, name(band, index), { "text-anchor": "end", "dominant-baseline": "central" });
  }
}

/**
 * The mean and the variance below each facet, where they fit.
 * @param {DrawnPanel} panel
 * @param {Write} write
 * @param {Strip} strip
 */
function drawFacetStrips(panel, write, strip) {
  const { geometry, data } = panel;
  if (!panel.facetStrips) return;
  for (let facet = 0; facet < geometry.facets; facet++) {
    const [place, line] = geometry.placeOf(facet), x = geometry.lefts[place] + geometry.facetW / 2, y = geometry.tops[line] + geometry.facetH + 13;
    const sent = sentPlace(data, geometry.facetIndex(facet));
    if (!sent) continue;
    STATISTIC_NAMES.forEach((kind, row) =>
      write(x, y + 14 * row, `${nameOf(kind)} ${formatShort(strip[kind][geometry.facetOf(sent)])}`, { "text-anchor": "middle", class: "nv-strip" }));
  }
}

/**
 * The means and the variances below the columns (``across``) or next to the rows, where they fit and were sent.
 * @param {DrawnPanel} panel
 * @param {Write} write
 * @param {Strip} strip
 * @param {boolean} across
 */
function drawStrips({ geometry, data: { grid, sent }, labels }, write, strip, across) {
  const { width, height, xs, ys, cellW, cellH } = geometry, [starts, cell, axis] = across ? [xs, cellW, grid.col] : [ys, cellH, grid.row];
  const longest = Math.max(...[...strip.mean, ...strip.var].map((value) => formatShort(value).length));
  const every = Math.max(1, Math.ceil((across ? longest * 5.6 + 3 : 12) / cell));
  STATISTIC_NAMES.forEach((kind, line) => {
    /** @type {(along: number, text: string, attributes: Record<string, string>) => void} */
    const put = (along, text, attributes) =>
      across ? write(along, height + 16 + line * 15, text, attributes) : write(width + 28 + line * 42, along, text, attributes);
    put(-8, nameOf(kind), across ? { "text-anchor": "end", "dominant-baseline": "central" } : { "text-anchor": "middle" });
    starts.forEach((start, at) => {
      const value = strip[kind][axis === null ? at : sent.indices[axis].indexOf(grid.indices[axis][at])];
      if (value === undefined || at % every) return;
      put(start + cell / 2, formatShort(value), { "text-anchor": "middle", "dominant-baseline": "central", class: "nv-strip" });
    });
  });
  labels.add("path", { d: across ? `M0,${height + 6}H${width}` : `M${width + 6},0V${height}`, class: "nv-rule" });
}

// Dragging the names of an axis that is not drawn whole moves its slices.

/**
 * The axis whose labels are at a point, if some of its slices are left out; null elsewhere.
 * @param {DrawnPanel} panel
 * @param {number} x
 * @param {number} y
 */
function axisAt({ geometry, data: { grid } }, x, y) {
  const { facets, row, col } = grid, { band, inBand } = facetAxes(grid), above = inBand.at(-1) ?? col;
  const beside = facets.length ? band : row, below = facets.length ? col : null;
  const axis = y < 0 ? above : x < 0 ? beside : y > geometry.height ? below : null;
  return axis !== null && cutAxes(grid).includes(axis) ? axis : null;
}

/**
 * The pointer's shape: labels that can be dragged show it.
 * @param {DrawnPanel} panel
 * @param {PointerEvent} event
 */
export function showDraggable(panel, event) {
  if (event.buttons) return;
  panel.svg.style.cursor = panel.geometry && axisAt(panel, ...panel.pointOf(event)) !== null ? "grab" : "";
}

/**
 * Follows the pointer until it is released.
 * @param {DrawnPanel} panel
 * @param {PointerEvent} event
 */
export function dragSlices(panel, event) {
  panel.dragged = false;
  const { svg, geometry, view, data } = panel, [x, y] = panel.pointOf(event), axis = geometry ? axisAt(panel, x, y) : null;
  if (axis === null) return;
  event.preventDefault();
  svg.setPointerCapture(event.pointerId);
  const { facets, col } = data.grid, first = data.grid.indices[axis][0], across = axis === col || facetAxes(data.grid).inBand.includes(axis);
  const pitch = axis === col ? geometry.cellW : !facets.length ? geometry.cellH : across ? geometry.lefts[1] : geometry.tops[geometry.lines];
  /** @param {PointerEvent} moved */
  const follow = (moved) => {
    const [toX, toY] = panel.pointOf(moved), start = first + Math.round((across ? x - toX : y - toY) / pitch);
    panel.dragged = true;
    view.slices.move(axis, Math.max(0, start));
  };
  const end = () => {
    svg.removeEventListener("pointermove", follow);
    if (panel.dragged) view.slices.send();
  };
  svg.addEventListener("pointermove", follow);
  svg.addEventListener("pointerup", end, { once: true });
  svg.addEventListener("pointercancel", end, { once: true });
}
