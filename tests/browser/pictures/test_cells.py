"""The cells that the browser paints before plotly.js has loaded look like Plotly's heatmaps."""

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.pictures.figure import data_of

pytestmark = pytest.mark.browser

HIDE = "() => { window.kept = window.Plotly; window.Plotly = undefined; }"
SHOW = "() => { window.Plotly = window.kept; }"


@pytest.fixture
def without_plotly(tab: Page) -> Iterator[Page]:
    tab.evaluate(HIDE)
    yield tab
    tab.evaluate(SHOW)


def picture(tab: Page) -> Any:
    """The first panel, without its title."""
    shot = tab.locator(".nv-panel .nv-body").first.screenshot()
    return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), dtype=int)


def test_painted_cells_have_the_colors_and_places_of_plotly(
    without_plotly: Page, draw_figure: Callable[..., Any], subtests: pytest.Subtests
) -> None:
    for name, scheme in (("view", "light"), ("large", "dark"), ("compare", "dark"), ("steps", "light")):
        with subtests.test(name):
            without_plotly.evaluate("() => { window.Plotly = undefined; }")
            draw_figure(name, scheme, at=None)
            assert without_plotly.locator(".nv-cells").count() > 0
            assert without_plotly.locator(".nv-plot image").count() == 0
            painted = picture(without_plotly)
            without_plotly.evaluate(SHOW)
            draw_figure(name, scheme, at=None)
            assert without_plotly.locator(".nv-cells").count() == 0
            plotted = picture(without_plotly)
            assert painted.shape == plotted.shape
            different = np.abs(painted - plotted).max(axis=2) > 12
            assert different.mean() < 0.002, name


COUNT = """() => { window.plotted = []; window.react = Plotly.react;
  Plotly.react = (plot, ...rest) => { plotted.push(plot.closest(".nv-panel").className); return react(plot, ...rest); }; }"""
# Plotly draws nothing until it may go on: then the plots that wait are drawn, in this test and in those after it.
WAIT = "() => { window.react = Plotly.react; window.waiting = []; Plotly.react = () => new Promise((done) => waiting.push(done)); }"
GO_ON = "() => { Plotly.react = react; waiting.forEach((done) => done()); }"
UPDATE = "async data => { updateFigure(JSON.parse(data)); await new Promise(requestAnimationFrame); }"


def test_plotly_draws_only_the_panels_that_have_changed(tab: Page, draw_figure: Callable[..., Any]) -> None:
    data = draw_figure("view") | {"alone": True, "theme": "light"}
    output = next(panel for panel in data["panels"] if panel["key"] == "output")
    changed = [panel | {"z": output["z"]} if panel["key"] == "x" else panel for panel in data["panels"]]
    tab.evaluate(COUNT)
    try:
        tab.evaluate(UPDATE, json.dumps(data | {"at": None}))
        assert tab.locator(".nv-cells").count() == 0
        tab.evaluate(UPDATE, json.dumps(data | {"panels": changed}))
        tab.wait_for_function("() => !document.querySelector('.nv-cells')")
        assert tab.evaluate("plotted") == ["nv-panel nv-panel-x nv-valued"]
    finally:
        tab.evaluate("() => { Plotly.react = react; }")


def test_new_cells_are_shown_before_plotly_has_drawn_them(tab: Page, draw_figure: Callable[..., Any]) -> None:
    draw_figure("view")
    tab.evaluate(WAIT)
    try:
        tab.evaluate("data => drawFigure(JSON.parse(data))", json.dumps(data_of("large") | {"alone": True, "at": None}))
        expect(tab.locator(".nv-view[data-state=ready] .nv-cells").first).to_be_visible()
        covered = tab.locator(".nv-plot:has(.nv-cells) .plot-container").evaluate_all(
            "all => all.map(plot => getComputedStyle(plot).opacity)"
        )
        assert set(covered) <= {"0"}  # the values before
    finally:
        tab.evaluate(GO_ON)


APART = """async data => { const later = [], { setTimeout } = window, root = document.body.firstElementChild;
  window.setTimeout = (call) => later.push(call);
  try {
    updateFigure(JSON.parse(data));
    root.remove();
    for (const call of later) await call();
  } finally { window.setTimeout = setTimeout; }
  document.body.append(root); }"""


def test_cells_stay_painted_in_a_view_that_leaves_the_page_before_plotly_draws(
    tab: Page, draw_figure: Callable[..., Any]
) -> None:
    data = draw_figure("view") | {"alone": True, "theme": "light"}
    output = next(panel for panel in data["panels"] if panel["key"] == "output")
    changed = [panel | {"z": output["z"]} if panel["key"] == "x" else panel for panel in data["panels"]]
    tab.evaluate(APART, json.dumps(data | {"panels": changed}))
    expect(tab.locator(".nv-panel-x .nv-cells")).to_be_visible()
