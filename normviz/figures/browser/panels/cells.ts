// The cells of a panel: painted at once on a canvas, then drawn by Plotly, which takes longer, and as SVG in a picture.

/** Rows of values between the edges ``x`` and ``y``, NaN between facets; ``zmin`` and ``zmax`` are at the ends of the scale. */
type Heatmap = { z: Float32Array[]; zmin: number; zmax: number; x: number[]; y: number[]; gap: number; scale: ColorScale };

import { colorAt, formatHex, shownAs } from "../common/color.ts";
import { html } from "../common/dom.ts";
import { round2 } from "../common/format.ts";
import type { DrawnPanel } from "../tensor/drawn_panel.ts";

const FRAME = 60; // ms: the canvases are on the screen before Plotly draws

/** What each plot shows or will show. */
const shownCells = new WeakMap<HTMLElement, { heatmap: Heatmap, text: string }>();
/** The plots that Plotly has still to draw. */
const unplotted = new Set<HTMLElement>();

export function drawCells(panel: DrawnPanel) {
  const { plot } = panel, heatmap = heatmapOf(panel), text = JSON.stringify({ ...heatmap, z: heatmap.z.map(String) }); // JSON has no NaN
  if (shownCells.get(plot)?.text === text && (unplotted.has(plot) || !plot.querySelector(".nv-cells"))) return;
  shownCells.set(plot, { heatmap, text });
  plot.classList.add("nv-painted");
  paintCanvas(plot.querySelector("canvas") ?? html("canvas", "nv-cells", plot), heatmap);
  if (!window.Plotly) return;
  unplotted.add(plot);
  plotSoon(FRAME);
}

let plotTimer: ReturnType<typeof setTimeout> | undefined;

/** While values change all the time, Plotly waits. ``wait`` in ms. */
function plotSoon(wait?: number) {
  clearTimeout(plotTimer);
  plotTimer = setTimeout(plotNext, wait);
}

export function removeCells(plot: HTMLElement) {
  shownCells.delete(plot);
  removeCanvas(plot);
}

function removeCanvas(plot: HTMLElement) {
  plot.querySelector(".nv-cells")?.remove();
  plot.classList.remove("nv-painted");
}

// Draws one plot, and lets the browser answer the reader before the next one.
async function plotNext() {
  const [plot] = unplotted, now = plot && shownCells.get(plot);
  unplotted.delete(plot);
  try {
    if (!now || !plot.isConnected) return; // the canvas stays
    await plotCells(plot, now.heatmap);
    if (shownCells.get(plot) === now) removeCanvas(plot);
  } finally {
    if (unplotted.size) plotSoon();
  }
}

function heatmapOf(panel: DrawnPanel): Heatmap {
  const { geometry, scale, range } = panel, columns = geometry.raster(true), rows = geometry.raster(false);
  return { ...shownAs(range, panel.heatmap(columns.cells, rows.cells)), x: columns.edges, y: rows.edges, gap: geometry.gap, scale };
}

/** Paints each cell: calls ``fill`` with its color and its rectangle. */
function paint({ z, zmin, zmax, x, y, gap, scale }: Heatmap, fill: (color: string, left: number, top: number, width: number, height: number) => void) {
  const colors = new Map<number, string>();
  z.forEach((line, row) => {
    for (let column = 0, end = 0; column < line.length; column = end) {
      const value = line[column];
      end = column + 1;
      if (!Number.isFinite(value)) continue;
      const color = colors.get(value) ?? formatHex(colorAt(scale, (value - zmin) / (zmax - zmin)));
      colors.set(value, color);
      while (!gap && line[end] === value) end++; // a run of cells without gaps is one rectangle
      fill(color, x[column], y[row], x[end] - x[column] - gap, y[row + 1] - y[row] - gap);
    }
  });
}

function paintCanvas(canvas: HTMLCanvasElement, heatmap: Heatmap) {
  const sharp = window.devicePixelRatio || 1, context = canvas.getContext("2d") as CanvasRenderingContext2D;
  const [x, y] = [heatmap.x, heatmap.y].map((edges) => edges.map((edge) => Math.round(Math.round(edge) * sharp))); // neighbors meet without a seam
  [canvas.width, canvas.height] = [x, y].map((edges) => edges[edges.length - 1]);
  canvas.style.cssText = `width:${canvas.width / sharp}px;height:${canvas.height / sharp}px`;
  paint({ ...heatmap, x, y, gap: Math.round(heatmap.gap * sharp) }, (color, ...rectangle) => {
    context.fillStyle = color;
    context.fillRect(...rectangle);
  });
}

/** The cells as SVG, one path for each color. */
export function cellsAsSvg(panel: DrawnPanel) {
  const heatmap = heatmapOf(panel), sharp = heatmap.gap ? "" : ' shape-rendering="crispEdges"';
  const paths = new Map<string, string[]>();
  paint(heatmap, (color, left, top, width, height) => {
    const [x, y, wide, high] = [left, top, width, height].map(round2), path = paths.get(color) ?? [];
    path.push(`M${x},${y}h${wide}v${high}h-${wide}z`);
    paths.set(color, path);
  });
  return [...paths].map(([color, path]) => `<path fill="${color}"${sharp} d="${path.join("")}"/>`).join("");
}

async function plotCells(plot: HTMLElement, { z, zmin, zmax, x, y, gap, scale }: Heatmap) {
  const trace = {
    type: "heatmap", z, x, y, zmin, zmax, zauto: false, colorscale: scale, showscale: false, hoverinfo: "skip", xgap: gap, ygap: gap,
  };
  const axis = (range: [number, number]) => ({ type: "linear", range, visible: false, fixedrange: true, autorange: false });
  const [wide, tall] = [x, y].map((edges) => Math.max(10, edges[edges.length - 1])); // below 10, Plotly draws its default size instead
  const layout = {
    width: wide, height: tall, margin: { l: 0, r: 0, t: 0, b: 0 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    xaxis: axis([0, wide]), yaxis: axis([tall, 0]),
  };
  await window.Plotly.react(plot, [trace], layout, { staticPlot: true, displayModeBar: false });
}
