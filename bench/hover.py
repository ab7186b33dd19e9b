"""How soon a figure answers the pointer: the time from the pointer event to the end of handler, style and layout.

    python -m bench.hover    the table, and one line of JSON

Explore as one HTML file, as ``normviz export`` writes it, is opened from disk. The goal is a p95 of at most 4 ms at 16,384 elements.

opened    from the navigation to the painted panels, including the decompression of the plotly.js in the file
hover     from the pointer event to the end of layout
answered  the fraction of pointer moves, each to another cell, to which the page responded
"""

from __future__ import annotations

import argparse
import os
from contextlib import suppress
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, TimeoutError

from bench.common import TAB, chromium, report, spread
from normviz.api.pages import output_of_query

SHAPES = ((2, 3, 4, 4), (4, 4, 16, 16), (4, 4, 32, 32), (8, 8, 16, 16))
LAYERS = ("BatchNorm2d({1})", "LayerNorm([{1},{2},{3}])", "ChannelsFirstLayerNorm({1})")
MOVES = 120
PAUSE = 20  # ms between moves: 50 per second, as from a hand

# Runs before the scripts of the file.
WATCH = """
let start, said;
window.bench = { hover: [], answered: 0 };
const look = async () => {
  const view = document.querySelector(".nv-view[data-state=ready]:not(:has(.nv-cells))");
  if (!view) return setTimeout(look);
  await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  bench.opened = performance.now();
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
  const { left, top } = plot.getBoundingClientRect(), { x, y, z } = plot.data[0];
  for (let k = 0; places.length < count; k++) {
    const row = (k * 7 + 1) % z.length, column = (k * 11) % z[0].length;
    if (!Number.isNaN(z[row][column])) places.push([left + middle(x, column), top + middle(y, row)]);
  }
  return places;
}"""


def measured(browser: Browser, address: str, moves: int) -> dict[str, Any]:
    """Open the file and move the pointer over its first panel."""
    page = browser.new_page(**TAB)
    page.add_init_script(WATCH)
    page.goto(address)
    page.wait_for_function("window.bench?.plot")
    for x, y in page.evaluate(PLACES, moves):
        page.mouse.move(x, y)
        page.wait_for_timeout(PAUSE)
    with suppress(TimeoutError):  # a response may be late
        page.wait_for_function("moves => bench.answered >= moves", arg=moves, timeout=500)
    found: dict[str, Any] = page.evaluate("({ hover: bench.hover, answered: bench.answered, opened: bench.opened })")
    page.close()
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a smoke test: one small figure, a few moves")
    given = parser.parse_args(arguments)
    shapes, layers, moves = (SHAPES[:1], LAYERS[:1], 5) if given.quick else (SHAPES, LAYERS, MOVES)
    load, rows = os.getloadavg()[0], []
    with chromium() as browser, TemporaryDirectory(prefix="normviz-bench-") as folder:
        file = Path(folder) / "file.html"
        for shape, pattern in product(shapes, layers):
            layer = pattern.format(*shape)
            output = output_of_query("explore", {"shape": ",".join(map(str, shape)), "layer": layer})
            file.write_text(output.to_html(theme="light"), encoding="utf-8")
            found = measured(browser, file.as_uri(), moves)
            hover = spread(found["hover"], 2)
            times = {"hover, ms (p50)": hover["p50"], "hover, ms (p95)": hover["p95"]}
            answered = {"answered": round(found["answered"] / moves, 3), "opened, ms": round(found["opened"])}
            rows.append({"shape": str(shape), "layer": layer} | times | answered)
    report("hover", rows, load)


if __name__ == "__main__":
    main()
