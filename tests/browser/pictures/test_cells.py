"""The cells that the browser paints before plotly.js has loaded look like Plotly's heatmaps."""

import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page

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


@pytest.mark.parametrize(
    ("name", "scheme"), [("view", "light"), ("large", "dark"), ("compare", "dark"), ("steps", "light")]
)
def test_painted_cells_have_the_colors_and_places_of_plotly(
    without_plotly: Page, draw_figure: Callable[..., Any], name: str, scheme: str
) -> None:
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
