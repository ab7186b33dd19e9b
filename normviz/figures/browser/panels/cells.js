// The cells of a panel: painted at once on a canvas, and then drawn by Plotly, which takes longer.

/** @import { DrawnPanel } from "../tensor/drawn_panel.d.ts" */
/** @typedef {{ z: Float32Array[], x: number[], y: number[], low: number, high: number, gap: number, scale: ColorScale, width: number, height: number }} Heatmap rows of values between edges, NaN between facets */

import { colorAt, shownAs } from "../page/color.js";
import { html } from "../page/dom.js";

const FRAME = 60; // ms: the canvases are on the screen before Plotly draws

/** @type {WeakMap<HTMLElement, Heatmap>} What each plot shows or will show. */
const heatmaps = new WeakMap();
/** @type {Set<HTMLElement>} The plots that Plotly has still to draw. */
const unplotted = new Set();

/** @param {DrawnPanel} panel */
export function drawCells(panel) {
  const { geometry, scale, plot } = panel, { width, height } = geometry, columns = geometry.raster(true), rows = geometry.raster(false);
  const gap = geometry.cellW >= 6 && geometry.cellH >= 6 ? 1 : 0, { z, zmin: low, zmax: high } = shownAs(panel.range, panel.heatmap(columns.cells, rows.cells));
  const heatmap = { z, x: columns.edges, y: rows.edges, low, high, gap, scale, width, height };
  if (sameHeatmap(heatmaps.get(plot), heatmap) && (unplotted.has(plot) || isPlotted(plot))) return;
  heatmaps.set(plot, heatmap);
  plot.classList.add("nv-painted");
  paintCells(plot.querySelector("canvas") ?? html("canvas", "nv-cells", plot), heatmap);
  if (!window.Plotly) return;
  if (!unplotted.size) setTimeout(plotNext, FRAME);
  unplotted.add(plot);
}

/** @param {HTMLElement} plot */
export function removeCells(plot) {
  heatmaps.delete(plot);
  removeCanvas(plot);
}

/** @param {HTMLElement} plot */
function removeCanvas(plot) {
  plot.querySelector(".nv-cells")?.remove();
  plot.classList.remove("nv-painted");
}

/** @param {HTMLElement} plot */
const isPlotted = (plot) => !plot.querySelector(".nv-cells");

// Draws one plot, and lets the browser answer the reader before the next one.
async function plotNext() {
  const [plot] = unplotted, heatmap = plot && heatmaps.get(plot);
  unplotted.delete(plot);
  try {
    if (!heatmap || !plot.isConnected) return; // the canvas stays
    await plotCells(plot, heatmap);
    if (heatmaps.get(plot) === heatmap) removeCanvas(plot);
  } finally {
    if (unplotted.size) setTimeout(plotNext);
  }
}

/**
 * @param {Heatmap | undefined} one
 * @param {Heatmap} other
 */
function sameHeatmap(one, other) {
  if (!one || one.z.length !== other.z.length || one.z.some((line, row) => line.length !== other.z[row].length)) return false;
  const { z, ...rest } = one, { z: lines, ...others } = other;
  return JSON.stringify(rest) === JSON.stringify(others) && z.every((line, row) => line.every((value, column) => Object.is(value, lines[row][column])));
}

/**
 * @param {HTMLElement} plot
 * @param {Heatmap} heatmap
 */
async function plotCells(plot, { z, x, y, low, high, gap, scale, width, height }) {
  const trace = {
    type: "heatmap", z, x, y, zmin: low, zmax: high, zauto: false, colorscale: scale, showscale: false, hoverinfo: "skip", xgap: gap, ygap: gap,
  };
  /** @param {[number, number]} range */
  const axis = (range) => ({ type: "linear", range, visible: false, fixedrange: true, autorange: false });
  const wide = Math.max(10, width), tall = Math.max(10, height); // below 10, Plotly draws its default size instead
  const layout = {
    width: wide, height: tall, margin: { l: 0, r: 0, t: 0, b: 0 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    xaxis: axis([0, wide]), yaxis: axis([tall, 0]),
  };
  await window.Plotly.react(plot, [trace], layout, { staticPlot: true, displayModeBar: false });
}

/**
 * Paints with Plotly's colors, at its places.
 * @param {HTMLCanvasElement} canvas
 * @param {Heatmap} heatmap
 */
function paintCells(canvas, { z, x, y, low, high, gap, scale }) {
  const sharp = window.devicePixelRatio || 1, context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const [across, down] = [x, y].map((edges) => edges.map((edge) => Math.round(Math.round(edge) * sharp))); // neighbors meet without a seam
  [canvas.width, canvas.height] = [across, down].map((edges) => edges[edges.length - 1]);
  canvas.style.cssText = `width:${canvas.width / sharp}px;height:${canvas.height / sharp}px`;
  /** @type {Map<number, string>} */
  const colors = new Map();
  z.forEach((line, row) => line.forEach((value, column) => {
    if (Number.isNaN(value)) return; // a gap between facets
    const known = colors.get(value) ?? `rgb(${colorAt(scale, (value - low) / (high - low)).map(Math.round).join(" ")})`;
    colors.set(value, known);
    context.fillStyle = known;
    const left = across[column], top = down[row], space = Math.round(gap * sharp);
    context.fillRect(left, top, across[column + 1] - left - space, down[row + 1] - top - space);
  }));
}
