"""How fast the linked view is drawn and responds to the pointer, in a page and in an exported file, compared with Plotly subplots.

    python -m bench.hover                 the table, and one line of JSON
    python -m bench.hover --draws 9       draw each figure 9 times (default 7)

Each draws the five panels of Explore in the same browser, with the plotly.js of the plotly package:

linked    normviz's module on a plain page: one heatmap per panel, its own hit test, one SVG path per group
file      Explore as one HTML file, as ``normviz export`` writes it, opened from disk
subplots  one heatmap per facet on a plain page, and a simple ``plotly_hover`` handler that draws a rectangle around each run of peers

draw      from the time when plotly.js is loaded to the painted frame, on a new page
opened    from the navigation to the painted frame, including the decompression of the plotly.js in the file
hover     from the pointer event to the end of handler, style and layout
answered  the fraction of pointer moves, each to another cell, to which the page responded
"""

import argparse
import functools
import json
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
from playwright.sync_api import Browser, Page, TimeoutError
from plotly.subplots import make_subplots

from bench.common import chromium, median, percentile, ratio, report
from bench.hover_pages import COMMON, LINKED, PLACES, SUBPLOTS, WATCH
from normviz.api import output_of_query
from normviz.figures import bundle
from normviz.figures.palette import stops, theme
from normviz.figures.payload import sent, view_payload
from normviz.scene.scene import Scene
from normviz.scene.view import read

SHAPES = ((2, 3, 4, 4), (4, 4, 16, 16), (4, 4, 32, 32), (8, 8, 16, 16))
LAYERS = {
    "BatchNorm2d": "BatchNorm2d({1})",
    "LayerNorm": "LayerNorm([{1},{2},{3}])",
    "ChannelsFirst": "ChannelsFirstLayerNorm({1})",
}
KINDS = ("linked", "file", "subplots")
MOVES = 120
PAUSE = 20  # ms between moves: 50 per second, as from a hand


def scene_of(shape: tuple[int, ...], layer: str) -> Scene:
    return read({"shape": ",".join(map(str, shape)), "layer": LAYERS[layer].format(*shape)}).scene


def subplots(scene: Scene) -> dict[str, Any]:
    """The same panels with one heatmap per facet, and the ids that link them."""
    e, colors = scene.description, theme("light")
    values = {
        "stats": e.stat_ids,
        "params": e.param_ids,
        "x": e.x,
        "normalized": e.trace.normalized,
        "output": e.trace.output,
    }
    panels = view_payload(e, scene.grid)["panels"]
    figures = {}
    for panel in panels:
        figure = make_subplots(*scene.shape[:2], horizontal_spacing=0.01, vertical_spacing=0.01)
        look = {
            "colorscale": stops(colors, panel["scale"], panel["groups"]),
            "zmin": panel["low"],
            "zmax": panel["high"],
        }
        for n, c in np.ndindex(scene.shape[:2]):
            z = np.asarray(values[panel["key"]][n, c], np.float32)
            figure.add_trace(go.Heatmap(z=z, showscale=False, xgap=1, ygap=1, **look), n + 1, c + 1)
        figure.update_xaxes(visible=False).update_yaxes(visible=False, autorange="reversed")
        size = {"width": 550, "height": 340} if panel["scale"] != "values" else {"width": 362, "height": 270}
        figure.update_layout(template="none", margin={"l": 30, "r": 4, "t": 22, "b": 18}, **size)
        figures[panel["key"]] = json.loads(figure.to_json())
    ids = {"stats": e.stat_ids.ravel().tolist(), "params": e.param_ids.ravel().tolist()}
    return {
        "figures": figures,
        "ids": ids,
        "links": {panel["key"]: panel["links"] for panel in panels},
        "shape": scene.shape,
    }


def write(folder: Path, scene: Scene) -> None:
    """Write the pages and the files that they load."""
    for kind, template in (("linked", LINKED), ("subplots", SUBPLOTS)):
        place = folder / kind
        place.mkdir(exist_ok=True)
        (place / "plotly.js").write_bytes(bundle.plotly_js())
        (place / "mount.js").write_text(bundle.module(), encoding="utf-8")
        data = sent(view_payload(scene.description, scene.grid)) if kind == "linked" else subplots(scene)
        (place / "data.js").write_text(f"window.DATA = {json.dumps(data)};", encoding="utf-8")
        page = template % {"common": COMMON, "style": bundle.style()}
        (place / "index.html").write_text(page, encoding="utf-8")
    (folder / "file.html").write_text(
        output_of_query("explore", scene.query()).to_html(theme="light"), encoding="utf-8"
    )


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the folder and return its address, because browsers do not import modules from files."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def first_draw(page: Page, address: str) -> dict[str, float]:
    page.goto(address)
    page.wait_for_function("window.bench?.plot")
    found: dict[str, float] = page.evaluate("({ draw: bench.draw, opened: bench.opened })")
    return found


def hovers(page: Page, moves: int) -> dict[str, float]:
    """Move the pointer over the last figure and return the response times."""
    page.bring_to_front()
    for x, y in page.evaluate(PLACES, moves):
        page.mouse.move(x, y)
        page.wait_for_timeout(PAUSE)
    with suppress(TimeoutError):  # a response may be late
        page.wait_for_function("moves => bench.answered >= moves", arg=moves, timeout=500)
    found = page.evaluate("({ hover: bench.hover, answered: bench.answered })")
    return {
        "median": round(median(found["hover"]), 2),
        "p95": round(percentile(found["hover"], 0.95), 2),
        "answered": round(found["answered"] / moves, 3),
    }


def measured(browser: Browser, pages: dict[str, str], draws: int, moves: int) -> dict[str, dict[str, float]]:
    """The measurements on each page of one scene."""
    tabs = {kind: browser.new_page(viewport={"width": 1200, "height": 1000}, reduced_motion="reduce") for kind in KINDS}
    tabs["file"].add_init_script(WATCH)
    times: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    for _, kind in product(range(draws), KINDS):  # in turns, so that other load affects all equally
        tabs[kind].bring_to_front()
        times[kind].append(first_draw(tabs[kind], pages[kind]))
    found = {}
    for kind, tab in tabs.items():
        found[kind] = hovers(tab, moves) | {"draw": median([time["draw"] for time in times[kind]])}
        tab.close()
    found["file"]["opened"] = median([time["opened"] for time in times["file"]])
    return found


def row(shape: tuple[int, ...], layer: str, found: dict[str, dict[str, float]]) -> dict[str, Any]:
    """One line of the table."""
    return (
        {"shape": str(shape), "layer": layer}
        | {f"draw, ms: {kind}": round(found[kind]["draw"]) for kind in KINDS}
        | {"linked / subplots": ratio(found["linked"]["draw"], found["subplots"]["draw"])}
        | {"file opened, ms": round(found["file"]["opened"])}
        | {f"hover, ms (p50): {kind}": found[kind]["median"] for kind in KINDS}
        | {f"(p95): {kind}": found[kind]["p95"] for kind in KINDS}
        | {f"answered: {kind}": found[kind]["answered"] for kind in KINDS}
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=7, help="drawings per median")
    parser.add_argument("--quick", action="store_true", help="a smoke test: one scene, drawn once")
    given = parser.parse_args(arguments)
    shapes, layers = (SHAPES[:1], list(LAYERS)[:1]) if given.quick else (SHAPES, list(LAYERS))
    draws, moves = (1, 5) if given.quick else (given.draws, MOVES)
    load, rows = os.getloadavg()[0], []
    with chromium() as browser, tempfile.TemporaryDirectory() as folder, served(Path(folder)) as address:
        pages = {kind: f"{address}/{kind}/index.html" for kind in KINDS}
        pages["file"] = (Path(folder) / "file.html").as_uri()
        for shape, layer in product(shapes, layers):
            write(Path(folder), scene_of(shape, layer))
            rows.append(row(shape, layer, measured(browser, pages, draws, moves)))
    report("hover", rows, load)


if __name__ == "__main__":
    main()
