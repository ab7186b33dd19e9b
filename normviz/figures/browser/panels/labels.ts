// What is written around the cells of a panel: the names of axes and facets, which can be dragged, and the mean and the variance of groups.

import { formatShort } from "../common/format.ts";
import { _ } from "../common/messages.ts";
import { broadcastAt, isComputed } from "../tensor/sharing.ts";
import { cutAxes, facetAxes, gapsBefore, listSlices } from "../tensor/slices.ts";
import type { DrawnPanel } from "../tensor/drawn_panel.ts";

type Write = (x: number, y: number, text: string, attributes?: Record<string, string | number>) => void;

export const NAME_HEIGHT = 22; // px: the name of a facet above it
const MOMENTS_HEIGHT = 17; // px: the moments of a group below it
const LETTER = 6.6; // px
const STATISTIC_NAMES = ["mean", "var"] as ("mean" | "var")[];

const nameOf = (statistic: "mean" | "var") => (statistic === "mean" ? _("mean") : _("var"));

/** What the elements inside the outline have in common. */
export function outlineName({ center, running }: Sharing & Partial<Statistics>) {
  if (center === undefined) return _("same gamma");
  return running ? _("same running mean") : center ? _("same mean") : _("same mean square");
}

/** The name of a group (``groupName``) where only the legend has it. */
export function numberedName({ center, running }: Sharing & Partial<Statistics>, n: number) {
  if (center === undefined) return _("gamma no. {n}", { n });
  return center || running ? _("mean no. {n}", { n }) : _("mean square no. {n}", { n });
}

/** The mean and the variance of an element's group at the stage that a panel shows, if it outlines this group and they were sent. */
function momentsAt({ data, figure: { key, links } }: DrawnPanel, index: Index) {
  const stage = links === "stats" && data.moments?.[key === "output" && !data.params ? "normalized" : key], { grid, sent } = data;
  const known = stage && stage.mean.shape.every((size, axis) => size === 1 || sent.indices[axis].includes(grid.indices[axis][index[axis]]));
  return known && isComputed(data, index) ? { mean: broadcastAt(stage.mean, index), var: broadcastAt(stage.var, index) } : null;
}

/** Where the moments of groups are written: those of every row of a matrix at the right, of every column below, or of one group below it. */
function placeOfMoments({ data: { grid, moments, stats }, isId }: DrawnPanel): "rows" | "columns" | "group" | null {
  if (!moments || isId) return null;
  const [row, column] = [grid.row, grid.col].map((axis) => axis !== null && moments.x.mean.shape[axis] > 1);
  return grid.facets.length || !stats.center || row === column ? "group" : row ? "rows" : "columns";
}

/** Writes the mean and the variance of an element's group below the group. */
export function writeMoments(panel: DrawnPanel, index: Index | null) {
  const { data, geometry, momentsText } = panel, moments = index && placeOfMoments(panel) === "group" ? momentsAt(panel, index) : null;
  momentsText.textContent = moments ? momentsInWords(moments, data.stats, panel.figure.high) : "";
  if (!moments) return;
  const half = (momentsText.textContent.length * LETTER) / 2, { middle, bottom } = geometry.belowPeers(data.stats.tables, index as Index);
  momentsText.setAttribute("x", String(Math.max(half, Math.min(middle, geometry.width - half))));
  momentsText.setAttribute("y", String(bottom + MOMENTS_HEIGHT - 4));
}

const momentsInWords = ({ mean, var: variance }: Moments<number>, { center }: Statistics, most: number): string => center
  ? _("mean = {mean}, var = {variance}", { mean: formatShort(mean, most), variance: formatShort(variance, most) })
  : _("mean square = {value}", { value: formatShort(variance + mean * mean, most) });

/** The room for labels: facet names above, row names at the left, the moments of groups at the right or below. */
export function marginsOf(panel: DrawnPanel) {
  const { grid, axes } = panel.data, place = placeOfMoments(panel);
  const longest = (axis: number) => `${axes[axis]} = ${grid.indices[axis].at(-1)}`.length * 7;
  const { band } = facetAxes(grid), rowAxis = grid.facets.length ? band : grid.row, under = place === "group" ? MOMENTS_HEIGHT : 0;
  const left = rowAxis === null ? 22 : Math.max(40, longest(rowAxis) + 14), right = place === "rows" ? 92 : 4;
  const bottom = (place === "columns" ? 40 : grid.facets.length ? 18 : 4) + under;
  return { left, right, top: NAME_HEIGHT, bottom, between: grid.facets.length && band === null ? NAME_HEIGHT : 0, under };
}

export function drawLabels(panel: DrawnPanel) {
  const { labels, data: { grid } } = panel;
  const write: Write = (x, y, text, attributes = {}) => {
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
  const place = placeOfMoments(panel);
  if (place === "rows" || place === "columns") drawStrips(panel, write, place === "columns");
  labels.end();
}

/** "d = 0", "d = 1", ... along one axis, as many as fit, and an ellipsis where slices are left out. */
function drawAxis(panel: DrawnPanel, write: Write, axis: number, across: boolean) {
  const { geometry, data } = panel, drawn = data.grid.indices[axis], gaps = gapsBefore(drawn);
  const [starts, cell] = across ? [geometry.xs, geometry.cellW] : [geometry.ys, geometry.cellH];
  const label = (at: number, text: string): void => {
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

/** The names of the axes inside each facet, with the drawn slices of a cut axis. */
function drawInnerAxes(panel: DrawnPanel, write: Write) {
  const { geometry, data, under } = panel, { grid, axes } = data, cut = cutAxes(grid), bottom = geometry.height + under + 13;
  const name = (axis: number, arrow: string): string => (cut.includes(axis) ? `${axes[axis]} = ${listSlices(grid.indices[axis])} ${arrow}` : `${axes[axis]} ${arrow}`);
  const right = name(grid.col, "\u2192"), down = grid.row === null ? "" : name(grid.row, "\u2193");
  const beside = !cut.includes(grid.row ?? -1) && (facetAxes(grid).band === null || geometry.facetH > 46); // the label stands above the name of the first row of facets
  const below = beside || !down ? right : `${right}   ${down}`;
  write(0, bottom, below, { "text-anchor": "start", class: "nv-axis" });
  if (beside && down) write(-8, 8, down, { "text-anchor": "end", class: "nv-axis" });
}

/** An ellipsis where slices are left out, between facets and inside them. */
function drawEllipses({ geometry }: DrawnPanel, write: Write) {
  const { xs, ys, lefts, tops, cellW, cellH, facetW, facetH, apart } = geometry;
  const facets = tops.flatMap((top, line) => lefts.flatMap((left, place) => (geometry.facetAt(place, line) === null ? [] : [{ left, top }])));
  const mark = (x: number, y: number, text: string): void => write(x, y, text, { "text-anchor": "middle", "dominant-baseline": "central" });
  const before = (starts: number[], size: number, at: number): number => (starts[at - 1] + size + starts[at]) / 2;
  for (const { left, top } of facets) {
    for (const column of apart.columns) mark(left + before(xs, cellW, column), top + ys[0] + cellH / 2, "⋯");
    for (const row of apart.rows) mark(left + xs[0] + cellW / 2, top + before(ys, cellH, row), "⋮");
  }
  for (const top of tops) for (const place of apart.places) mark(before(lefts, facetW, place), top + facetH / 2, "⋯");
  for (const line of apart.lines) write(-14, before(tops, facetH, line), "⋮", { "text-anchor": "end", "dominant-baseline": "central" }); // the dots stand below the names at the left
}

function drawFacetNames(panel: DrawnPanel, write: Write) {
  const { geometry, data } = panel, { grid, axes } = data, { lefts, tops, facetW, facetH, lines } = geometry;
  const name = (axis: number, index: Index): string => `${axes[axis]} = ${grid.indices[axis][index[axis]]}`;
  const { band, inBand } = facetAxes(grid), rows = band !== null && lines === 1 ? 1 : tops.length;
  const pitch = lefts.length > 1 ? lefts[1] : facetW, [along] = inBand, digits = String(grid.indices[along]?.at(-1)).length;
  const bare = inBand.length === 1 && lines === 1 && (`${axes[along]} = 0`.length + digits) * (LETTER / 2) + 4 <= pitch; // "c = 0", "1", "2"
  const title = (facet: number) => {
    const index = geometry.facetIndex(facet), jump = lines > 1 && inBand.some((axis) => gapsBefore(grid.indices[axis])[index[axis]] > 0);
    return `${jump ? "⋯ " : ""}${inBand.map((axis) => name(axis, index)).join(", ")}`;
  };
  const longest = title(geometry.facets - 1).length * LETTER + 4, shortened = bare && longest > pitch, every = shortened ? 1 : Math.max(1, Math.ceil(longest / pitch));
  for (let line = 0; line < rows; line++)
    for (let place = 0; place < lefts.length; place += every) {
      const facet = geometry.facetAt(place, line);
      if (facet === null) continue;
      const text = shortened && place ? String(grid.indices[along][geometry.facetIndex(facet)[along]]) : title(facet);
      write(lefts[place] + facetW / 2, tops[line] - 7, text, { "text-anchor": "middle" });
    }
  if (band === null) return;
  const bandsEvery = Math.max(1, Math.ceil(14 / (tops.length > lines ? tops[lines] : 14)));
  for (let line = 0; line < tops.length; line += lines * bandsEvery) {
    const index = geometry.facetIndex(geometry.facetAt(0, line) ?? 0);
    write(-8, tops[line] + facetH / 2, name(band, index), { "text-anchor": "end", "dominant-baseline": "central" });
  }
}

/** The mean and the variance of every column (``across``) below it, or of every row next to it, where they fit. */
function drawStrips(panel: DrawnPanel, write: Write, across: boolean) {
  const { geometry: { width, height, xs, ys, cellW, cellH }, data: { grid }, figure: { high: most }, labels } = panel;
  const [starts, cell, axis] = across ? [xs, cellW, grid.col] : [ys, cellH, grid.row];
  const found = starts.map((_start, at) => momentsAt(panel, grid.indices.map((_indices, other) => (other === axis ? at : 0))));
  if (!found.some(Boolean)) return;
  const longest = Math.max(...found.flatMap((moments) => (moments ? [moments.mean, moments.var] : [])).map((value) => formatShort(value, most).length));
  const every = Math.max(1, Math.ceil((across ? longest * 6.2 + 3 : 12) / cell));
  STATISTIC_NAMES.forEach((kind, line) => {
    const put = (along: number, text: string, attributes: Record<string, string>): void =>
      across ? write(along, height + 16 + line * 15, text, attributes) : write(width + 28 + line * 42, along, text, attributes);
    put(-8, nameOf(kind), across ? { "text-anchor": "end", "dominant-baseline": "central" } : { "text-anchor": "middle" });
    starts.forEach((start, at) => {
      const moments = found[at];
      if (!moments || at % every) return;
      put(start + cell / 2, formatShort(moments[kind], most), { "text-anchor": "middle", "dominant-baseline": "central", class: "nv-strip" });
    });
  });
  labels.add("path", { d: across ? `M0,${height + 6}H${width}` : `M${width + 6},0V${height}`, class: "nv-rule" });
}

// Dragging the names of an axis that is not drawn whole moves its slices.

/** The axis whose labels are at a point, if some of its slices are left out; null elsewhere. */
function axisAt({ geometry, data: { grid } }: DrawnPanel, x: number, y: number) {
  const { facets, row, col } = grid, { band, inBand } = facetAxes(grid), above = inBand.at(-1) ?? col;
  const beside = facets.length ? band : row, below = facets.length ? col : null;
  const axis = y < 0 ? above : x < 0 ? beside : y > geometry.height ? below : null;
  return axis !== null && cutAxes(grid).includes(axis) ? axis : null;
}

/** The pointer's shape: labels that can be dragged show it. */
export function showDraggable(panel: DrawnPanel, event: PointerEvent) {
  if (event.buttons) return;
  panel.svg.style.cursor = panel.geometry && axisAt(panel, ...panel.pointOf(event)) !== null ? "grab" : "";
}

/** Follows the pointer until it is released. */
export function dragSlices(panel: DrawnPanel, event: PointerEvent) {
  panel.dragged = false;
  const { svg, geometry, view, data } = panel, [x, y] = panel.pointOf(event), axis = geometry ? axisAt(panel, x, y) : null;
  if (axis === null) return;
  event.preventDefault();
  svg.setPointerCapture(event.pointerId);
  const { facets, col } = data.grid, first = data.grid.indices[axis][0], across = axis === col || facetAxes(data.grid).inBand.includes(axis);
  const pitch = axis === col ? geometry.cellW : !facets.length ? geometry.cellH : across ? geometry.lefts[1] : geometry.tops[geometry.lines];
  const follow = (moved: PointerEvent) => {
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
