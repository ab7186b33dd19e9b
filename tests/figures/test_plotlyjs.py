"""plotly.js: the small bundle where it was fetched, the script of the installed plotly package without it; what we draw needs no other trace."""

import gzip
import json
import re
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha384
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from normviz.export import assets
from normviz.export.document import CDN
from normviz.export.links import output_of_query
from normviz.export.output import Choices
from normviz.lessons.pages import PAGES
from normviz.parts.html import Body
from tests.support.javascript import NODE, modules
from tools import plotlyjs

# What the README of npm's package names.
CARTESIAN = {"bar", "box", "contour", "heatmap", "histogram", "histogram2d", "histogram2dcontour", "image", "pie"}
CARTESIAN |= {"scatter", "scatterternary", "violin"}
# Runs plotly.js where every question about a document has an empty answer, and prints what it can draw.
TRACES = """
const vm = require("node:vm"), script = require("node:fs").readFileSync(0, "utf8");
const nothing = () => new Proxy(function () {}, {
  get: (_, key) => key === Symbol.toPrimitive ? () => "" : key === Symbol.iterator ? function* () {} : key === "length" ? 0 : nothing(),
  apply: nothing, construct: nothing, set: () => true, has: () => true,
});
const scope = { URL, TextDecoder, Blob, console, setTimeout, clearTimeout, performance, navigator: { userAgent: "", vendor: "" } };
for (const name of ["document", "DOMParser", "Element", "HTMLElement", "getComputedStyle", "addEventListener"]) scope[name] = nothing();
scope.window = scope.self = scope;
vm.runInNewContext(script, scope);
console.log(JSON.stringify(Object.keys(scope.Plotly.PlotSchema.get().traces)));
"""


@pytest.fixture
def cartesian() -> bytes:
    if not assets.CARTESIAN.is_file():
        pytest.skip("the small plotly.js was not fetched: python -m tools.plotlyjs")
    return gzip.decompress(assets.CARTESIAN.read_bytes())


@pytest.fixture(autouse=True)
def read_again() -> Iterator[None]:
    assets.plotly_js.cache_clear()
    yield
    assets.plotly_js.cache_clear()


def test_the_small_bundle_is_used_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = tmp_path / "small.js.gz"
    small.write_bytes(gzip.compress(b"/* small */"))
    monkeypatch.setattr(assets, "CARTESIAN", small)
    assert assets.plotly_js() == b"/* small */"


def test_without_it_plotly_js_is_the_one_of_the_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assets, "CARTESIAN", tmp_path / "none.js.gz")
    script = (files("plotly") / "package_data" / "plotly.min.js").read_bytes()
    assert assets.plotly_js() == script.replace(*assets.MAPS)
    assert len(assets.plotly_js()) > 3_000_000


def test_the_one_of_plotly_5_24_fetches_no_style_for_maps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "package_data" / "plotly.min.js"
    script.parent.mkdir()
    script.write_text('link.href="https://unpkg.com/maplibre-gl@^4.3.2/dist/maplibre-gl.css"')
    monkeypatch.setattr(assets, "CARTESIAN", tmp_path / "none.js.gz")
    monkeypatch.setattr(assets, "files", lambda _package: tmp_path)
    assert assets.plotly_js() == b'link.href=""'


def test_the_tool_fetches_the_version_that_the_package_looks_for() -> None:
    assert plotlyjs.VERSION == assets.PLOTLY_VERSION
    assert plotlyjs.FOLDER / plotlyjs.SCRIPT == assets.CARTESIAN


def test_a_cdn_has_the_same_script(cartesian: bytes) -> None:
    assert b64encode(sha384(cartesian).digest()).decode() == assets.PLOTLY_SHA384
    assert f"v{assets.PLOTLY_VERSION}\n".encode() in cartesian[:100]
    assert CDN.address == f"https://cdn.plot.ly/plotly-cartesian-{assets.PLOTLY_VERSION}.min.js"


def test_its_license_is_beside_it(cartesian: bytes) -> None:
    text = (assets.CARTESIAN.parent / plotlyjs.LICENSE).read_text(encoding="utf-8")
    assert "Permission is hereby granted, free of charge" in text
    assert "Plotly" in text


def drawn_in_python() -> Iterator[Any]:
    """The traces of every page, with each of its experiments."""
    for name, page in PAGES.items():
        for query in ({}, *({"show": show} for show in [one.name for one in page.experiments])):
            if name == "home":
                continue
            body = Body()
            body.page(output_of_query(name, query).parts)
            yield from (
                (name, query, trace["type"])
                for figure in body.figures
                if figure["kind"] == "chart"
                for trace in figure["figure"]["data"]
            )


def test_the_small_bundle_has_every_trace_that_we_draw() -> None:
    found = list(drawn_in_python())
    assert len({(name, *query.values()) for name, query, _kind in found}) >= 5
    script = "".join(modules().values())
    assert script.count("window.Plotly.react(") + script.count("= window.Plotly;") == 2  # of a heatmap, and of a chart
    drawn_in_browser = re.findall(r'const trace *= \{\s*type: "(\w+)"', script)
    assert drawn_in_browser == ["heatmap"]
    assert {"bar", "scatter"} <= {kind for *_place, kind in found} | set(drawn_in_browser) <= CARTESIAN


def test_its_traces_are_those_that_its_makers_list(cartesian: bytes) -> None:
    printed = subprocess.run([NODE, "-e", TRACES], input=cartesian, capture_output=True, timeout=60, check=True)
    assert set(json.loads(printed.stdout)) == CARTESIAN


@pytest.mark.parametrize(("playable", "most"), [(False, 1_000_000), (True, 1_750_000)])
def test_a_file_of_explore_with_it_is_small(playable: bool, most: int, cartesian: bytes) -> None:
    output = output_of_query("explore", {}).with_(choices=Choices() if playable else None)
    assert 800_000 < len(output.to_html(plotlyjs="inline").encode()) < most
