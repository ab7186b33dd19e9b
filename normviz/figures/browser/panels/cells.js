// The cells of a panel: Plotly's heatmap, and until plotly.js has loaded the same on a canvas.

/** @import { Panel } from "./panel.js" */
/** @typedef {{ z: Float32Array[], x: number[], y: number[], low: number, high: number, gap: number }} Heatmap rows of values between edges, NaN between facets */

import { html } from "../page/dom.js";
import { colorAt, shownAs } from "./color.js";

/** @param {Panel} panel */
export async function drawCells(panel) {
  const { geometry, scale, plot } = panel, columns = geometry.raster(true), rows = geometry.raster(false), gap = geometry.cellW >= 6 && geometry.cellH >= 6 ? 1 : 0;
  const { z, zmin: low, zmax: high } = shownAs(panel.range, panel.heatmap(columns.cells, rows.cells));
  const heatmap = { z, x: columns.edges, y: rows.edges, low, high, gap };
  if (window.Plotly) await plotCells(plot, heatmap, scale, geometry.width, geometry.height);
  removeCanvas(plot);
  if (!window.Plotly) paintCells(html("canvas", "nv-cells", plot), heatmap, scale);
}

/** @param {HTMLElement} plot */
export const removeCanvas = (plot) => plot.querySelectorAll(".nv-cells").forEach((canvas) => canvas.remove());

/**
 * @param {HTMLElement} plot
 * @param {Heatmap} heatmap
 * @param {ColorScale} scale
 * @param {number} width
 * @param {number} height
 */
async function plotCells(plot, { z, x, y, low, high, gap }, scale, width, height) {
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
 * @param {ColorScale} scale
 */
function paintCells(canvas, { z, x, y, low, high, gap }, scale) {
  const sharp = window.devicePixelRatio || 1, context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const [across, down] = [x, y].map((edges) => edges.map((edge) => Math.round(Math.round(edge) * sharp))); // neighbors meet without a seam
  [canvas.width, canvas.height] = [across, down].map((edges) => edges[edges.length - 1]);
  canvas.style.cssText = `width:${canvas.width / sharp}px;height:${canvas.height / sharp}px`;
  /** @type {Map<number, string>} */
  const colors = new Map();
  z.forEach((line, row) => line.forEach((value, column) => {
    if (Number.isNaN(value)) return; // between facets
    const known = colors.get(value) ?? `rgb(${colorAt(scale, (value - low) / (high - low)).map(Math.round).join(" ")})`;
    colors.set(value, known);
    context.fillStyle = known;
    const left = across[column], top = down[row], space = Math.round(gap * sharp);
    context.fillRect(left, top, across[column + 1] - left - space, down[row + 1] - top - space);
  }));
}
