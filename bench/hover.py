"""How fast the linked view draws and answers the pointer, beside the same facets as Plotly subplots.

    python -m bench.hover                 the table, and one line of JSON
    python -m bench.hover --draws 9       more first draws for each median (default 7)

Both draw the five panels of Explore in the same browser run, on a plain page, with the plotly.js of the plotly package:

linked    normviz's module: one heatmap a panel, a hit test of our own, one SVG path a group
subplots  one heatmap a facet, and ``plotly_hover`` answered with a rectangle around each run of peers, as one writes it in an afternoon

first draw   from the call to the painted frame, on a page that was just loaded
hover        from the pointer event until handler, style and layout are done
answered     the share of pointer moves, each onto another cell, that the page answered
"""

import argparse
import functools
import json
import os
import statistics
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
from playwright.sync_api import Page, sync_playwright
from plotly.subplots import make_subplots

from normviz import linked
from normviz.figures import sharing_panels, theme, value_panels
from normviz.figures.palette import stops
from normviz.reading import read
from normviz.scene import Scene
from tools.browser import find

SHAPES = ((2, 3, 4, 4), (4, 4, 16, 16), (4, 4, 32, 32), (8, 8, 16, 16))
LAYERS = {
    "BatchNorm2d": "BatchNorm2d({1})",
    "LayerNorm": "LayerNorm([{1},{2},{3}])",
    "ChannelsFirst": "ChannelsFirstLayerNorm({1})",
}
KINDS = ("linked", "subplots")
MOVES = 120
PAUSE = 20  # ms between moves: 50 a second, as a hand makes them

COMMON = """
const painted = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
const settle = () => document.body.getBoundingClientRect();
window.bench = { hover: [], answered: 0 };
"""

LINKED = """<!doctype html><meta charset="utf-8"><style>body { margin: 16px; font-family: sans-serif; } %(style)s</style>
<div class="nv-root" style="width: 1120px"></div><script src="plotly.js"></script><script src="data.js"></script>
<script type="module">
import mount from "./linked.js";
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

# The middles of the cells of the statistics panel that the pointer goes to: each in another line and column than the one before.
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


def scene_of(shape: tuple[int, ...], layer: str) -> Scene:
    return read({"shape": ",".join(map(str, shape)), "layer": LAYERS[layer].format(*shape)}).scene


def subplots(scene: Scene) -> dict[str, Any]:
    """The same panels, a heatmap a facet, and the ids by which they link."""
    e, colours = scene.explanation, theme("light")
    values = {
        "stats": e.stat_ids,
        "params": e.param_ids,
        "x": e.x,
        "normalized": e.trace.normalized,
        "output": e.trace.output,
    }
    panels = (*sharing_panels(e, scene.grid), *value_panels(e, scene.grid))
    figures = {}
    for panel in panels:
        figure = make_subplots(*scene.shape[:2], horizontal_spacing=0.01, vertical_spacing=0.01)
        look = {"colorscale": stops(colours, panel.scale, panel.groups), "zmin": panel.low, "zmax": panel.high}
        for n, c in np.ndindex(scene.shape[:2]):
            z = np.asarray(values[panel.key][n, c], np.float32)
            figure.add_trace(go.Heatmap(z=z, showscale=False, xgap=1, ygap=1, **look), n + 1, c + 1)
        figure.update_xaxes(visible=False).update_yaxes(visible=False, autorange="reversed")
        size = {"width": 550, "height": 340} if panel.scale != "values" else {"width": 362, "height": 270}
        figure.update_layout(template="none", margin={"l": 30, "r": 4, "t": 22, "b": 18}, **size)
        figures[panel.key] = json.loads(figure.to_json())
    ids = {"stats": e.stat_ids.ravel().tolist(), "params": e.param_ids.ravel().tolist()}
    return {"figures": figures, "ids": ids, "links": {panel.key: panel.links for panel in panels}, "shape": scene.shape}


def write(folder: Path, scene: Scene) -> None:
    """Both pages, with what they need beside them."""
    for kind, template in (("linked", LINKED), ("subplots", SUBPLOTS)):
        place = folder / kind
        place.mkdir(exist_ok=True)
        (place / "plotly.js").write_bytes(linked.plotly_js())
        (place / "linked.js").write_text(linked.module(), encoding="utf-8")
        data = linked.payload(scene.explanation, scene.grid, at=None) if kind == "linked" else subplots(scene)
        (place / "data.js").write_text(f"window.DATA = {json.dumps(data)};", encoding="utf-8")
        page = template % {"common": COMMON, "style": linked.style()}
        (place / "index.html").write_text(page, encoding="utf-8")


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The folder's address; a module cannot be imported from a file."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def first_draw(page: Page, address: str) -> float:
    page.goto(f"{address}/index.html")
    page.wait_for_function("window.bench?.plot")
    return float(page.evaluate("bench.draw"))


def hovers(page: Page) -> dict[str, float]:
    """The pointer over the page that was drawn last."""
    page.bring_to_front()
    for x, y in page.evaluate(PLACES, MOVES):
        page.mouse.move(x, y)
        page.wait_for_timeout(PAUSE)
    page.wait_for_timeout(500)  # an answer may come late
    found = page.evaluate("({ hover: bench.hover, answered: bench.answered })")
    times = sorted(found["hover"]) or [float("nan")]
    return {
        "hover_median": round(statistics.median(times), 2),
        "hover_p95": round(times[int(0.95 * (len(times) - 1))], 2),
        "answered": round(found["answered"] / MOVES, 3),
    }


def run(draws: int) -> list[dict[str, Any]]:
    rows = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder, served(Path(folder)) as address:
        browser = playwright.chromium.launch(
            executable_path=find(), args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        for shape, layer in product(SHAPES, LAYERS):
            write(Path(folder), scene_of(shape, layer))
            pages = {kind: browser.new_page(viewport={"width": 1200, "height": 1000}) for kind in KINDS}
            times: dict[str, list[float]] = {kind: [] for kind in KINDS}
            for _, kind in product(range(draws), KINDS):  # in turns: what else the machine does, it does to both
                pages[kind].bring_to_front()
                times[kind].append(first_draw(pages[kind], f"{address}/{kind}"))
            for kind, page in pages.items():
                draw = round(statistics.median(times[kind]), 1)
                rows.append({"shape": shape, "layer": layer, "kind": kind, "draw": draw} | hovers(page))
                page.close()
        browser.close()
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """Both kinds side by side, as Markdown."""
    lines = [
        "| shape | layer | first draw, ms: linked | subplots | ratio | hover, ms (median / p95): linked | subplots | answered: linked | subplots |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for ours, theirs in zip(rows[::2], rows[1::2], strict=True):
        both = (ours, theirs)
        draw = " | ".join(f"{row['draw']:.0f}" for row in both)
        hover = " | ".join(f"{row['hover_median']:.1f} / {row['hover_p95']:.1f}" for row in both)
        answered = " | ".join(f"{row['answered']:.0%}" for row in both)
        ratio = f"1 : {theirs['draw'] / ours['draw']:.1f}"
        lines.append(f"| {ours['shape']} | {ours['layer']} | {draw} | {ratio} | {hover} | {answered} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=7, help="first draws for each median")
    found = run(parser.parse_args().draws)
    print(table(found))
    print(json.dumps({"cpus": os.cpu_count(), "load": round(os.getloadavg()[0], 1), "rows": found}))
