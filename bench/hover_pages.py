"""The pages of bench.hover, and their scripts."""

COMMON = """
const painted = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
const settle = () => document.body.getBoundingClientRect();
window.bench = { hover: [], answered: 0 };
"""

LINKED = """<!doctype html><meta charset="utf-8"><style>body { margin: 16px; font-family: sans-serif; } %(style)s</style>
<div class="nv-root" style="width: 1120px"></div><script src="plotly.js"></script><script src="data.js"></script>
<script type="module">
import mount from "./mount.js";
%(common)s
const root = document.querySelector(".nv-root"), begin = performance.now();
mount({ parentElement: root, data: DATA, setTriggerValue() {} });
while (root.firstElementChild?.dataset.state !== "ready") await new Promise(done => setTimeout(done));
await painted();
bench.draw = performance.now() - begin;
bench.plot = root.querySelector(".nv-panel-stats .nv-plot");
let start, said, line = root.querySelector(".nv-readout");
window.addEventListener("pointermove", () => { start = performance.now(); }, true);
window.addEventListener("pointermove", () => {
  settle();
  bench.hover.push(performance.now() - start);
  if (line.textContent !== said) { said = line.textContent; bench.answered++; }
});
</script>"""

SUBPLOTS = """<!doctype html><meta charset="utf-8"><style>body { margin: 16px; } div { display: inline-block; }</style>
<div id="stats"></div><div id="params"></div><div id="x"></div><div id="normalized"></div><div id="output"></div>
<script src="plotly.js"></script><script src="data.js"></script>
<script type="module">
%(common)s
const { figures, ids, links, shape: [N, C, H, W] } = DATA, begin = performance.now();
const plots = Object.fromEntries(Object.keys(figures).map(key => [key, document.getElementById(key)]));
await Promise.all(Object.entries(figures).map(([key, figure]) => Plotly.newPlot(plots[key], figure.data, figure.layout, { displayModeBar: false })));
await painted();
bench.draw = performance.now() - begin;
bench.plot = plots.stats;

function outlines(all, id) {  // a rectangle around each run of rows with the same run of peers
  const shapes = [];
  for (let facet = 0; facet < N * C; facet++) {
    let open = null;
    for (let h = 0; h <= H; h++) {
      let first = -1, last = -1;
      if (h < H) for (let w = 0; w < W; w++) if (all[(facet * H + h) * W + w] === id) { if (first < 0) first = w; last = w; }
      if (open && (first !== open.first || last !== open.last)) {
        const axis = facet ? facet + 1 : "";
        shapes.push({ type: "rect", xref: `x${axis}`, yref: `y${axis}`, x0: open.first - .5, x1: open.last + .5, y0: open.from - .5, y1: h - .5 });
        open = null;
      }
      if (!open && first >= 0) open = { first, last, from: h };
    }
  }
  return shapes;
}
let start;
window.addEventListener("mousemove", () => { start = performance.now(); }, true);
plots.stats.on("plotly_hover", async ({ points: [{ curveNumber, pointIndex: [h, w] }] }) => {
  const from = start, flat = (curveNumber * H + h) * W + w;
  bench.answered++;
  await Promise.all(Object.entries(plots).map(([key, plot]) => Plotly.relayout(plot, { shapes: outlines(ids[links[key]], ids[links[key]][flat]) })));
  settle();
  bench.hover.push(performance.now() - from);
});
</script>"""

# Runs before the scripts of an exported file. The file draws its figures once its own copy of plotly.js has run.
WATCH = """
let loaded, start, said, held;
window.bench = { hover: [], answered: 0 };
Object.defineProperty(window, "Plotly", { configurable: true, get: () => held, set(value) { held = value; loaded ??= performance.now(); } });
const look = async () => {
  const view = document.querySelector(".nv-view[data-state=ready]");
  if (!view) return setTimeout(look);
  await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  Object.assign(bench, { opened: performance.now(), draw: performance.now() - loaded });
  const line = view.querySelector(".nv-readout");
  window.addEventListener("pointermove", () => {
    document.body.getBoundingClientRect();
    bench.hover.push(performance.now() - start);
    if (line.textContent !== said) { said = line.textContent; bench.answered++; }
  });
  bench.plot = view.querySelector(".nv-panel-stats .nv-plot");
};
window.addEventListener("pointermove", () => { start = performance.now(); }, true);
look();
"""

# The centers of the cells of the statistics panel to which the pointer moves; each has another row and column than the previous one.
PLACES = """count => {
  const places = [], plot = bench.plot, middle = (edges, i) => (edges[i] + edges[i + 1]) / 2;
  const { width, height, left, top } = plot.getBoundingClientRect(), layout = plot._fullLayout;
  const facets = plot.data.length > 1 ? plot.data.map((_, i) => [layout["xaxis" + (i ? i + 1 : "")], layout["yaxis" + (i ? i + 1 : "")]]) : null;
  for (let k = 0; places.length < count; k++) {
    if (facets) {
      const [x, y] = facets[(k * 5) % facets.length], [, , rows, columns] = DATA.shape;
      places.push([left + x._offset + x.l2p((k * 3) % columns), top + y._offset + y.l2p((k * 7 + 1) % rows)]);
    } else {
      const { x, y, z } = plot.data[0], row = (k * 7 + 1) % z.length, column = (k * 11) % z[0].length;
      if (!Number.isNaN(z[row][column])) places.push([left + middle(x, column), top + middle(y, row)]);
    }
  }
  return places;
}"""
