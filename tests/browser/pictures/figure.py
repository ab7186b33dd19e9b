"""A page on disk with one figure: the module and plotly.js, without a server. It is loaded once and draws one figure after the other."""

import json
from functools import cache
from typing import Any

from playwright.sync_api import Page

from normviz.export import assets
from normviz.figures.charts import chart_payload
from normviz.figures.palette import THEMES, theme
from normviz.figures.wire import sent
from normviz.lessons.pages import PAGES
from normviz.parts.part import Chart, Panels, flat
from tests.support.javascript import open_with_modules

VIEWS = {
    "view": ("explore", "shape=2,3,4,4&layer=GroupNorm(3,3)&at=1,2,0,3&open=values,worked"),
    "matrix": ("explore", "shape=4,6&layer=BatchNorm1d(6)&at=3,5&open=values,worked"),
    "large": ("explore", "shape=2,16,16,16&layer=LayerNorm([16,16,16])&at=1,2,3,4&open=values,worked"),
    "unmarked": ("explore", "shape=3,4,5&layer=RMSNorm([4,5])&at=none&open=values,worked"),
    "compare": ("compare", "shape=2,3,4,4&layers=BatchNorm2d(3);LayerNorm([3,4,4]);InstanceNorm2d(3)&at=1,2,0,3"),
    "steps": ("step_by_step", "shape=2,3,4,4&step=3&at=1,2,0,3"),
    "values": ("train_and_eval", "show=modes&shape=2,3,4,4&layer=BatchNorm2d(3)&at=0,1,2,3"),
    "jacobian": ("gradients", "shape=2,3,4,4&show=matrix"),
    "chart": ("numerics", "show=variance"),
}


@cache
def data_of(name: str) -> dict[str, Any]:
    """The data of the first figure of a view."""
    page, query = PAGES[VIEWS[name][0]], VIEWS[name][1]
    parts = flat(page.parts(page.view(query)))
    figure = next(part for part in parts if isinstance(part, Panels | Chart))
    return sent(figure.data) if isinstance(figure, Panels) else sent(chart_payload(figure.lines, figure.alt))


def load(tab: Page) -> None:
    """Load the page, without a figure."""
    grounds = json.dumps({scheme: theme(scheme).background for scheme in THEMES})
    html = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>figure</title>
<style>body {{ margin: 16px; font-family: sans-serif }} {assets.read_css(assets.BROWSER / "linked.css")}</style>
<script src="plotly.js"></script>
<script type="module">
import {{ mountFigure }} from "/figures/browser/mount.ts";
let remove = () => {{}};
window.drawFigure = (data) => {{
  remove();
  document.body.innerHTML = "<div class='nv-root'></div>";
  document.documentElement.style.background = {grounds}[data.theme];
  updateFigure(data);
}};
window.updateFigure = (data) => {{ ({{ remove }} = mountFigure({{ parentElement: document.body, data }})); }};</script></html>"""
    open_with_modules(tab, html, {"plotly.js": assets.plotly_js()})


def draw(tab: Page, name: str, scheme: str = "light", **changes: Any) -> dict[str, Any]:
    """Draw one figure, and return its data."""
    data = data_of(name) | changes
    tab.mouse.move(1, 1)  # another test may have moved the pointer
    tab.evaluate("data => drawFigure(JSON.parse(data))", json.dumps(data | {"theme": scheme, "alone": True}))
    tab.wait_for_selector(".nv-view[data-state=ready]")
    tab.wait_for_function("() => !window.Plotly || !document.querySelector('.nv-cells')")  # Plotly draws the cells last
    return data
