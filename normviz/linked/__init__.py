"""The linked heatmap: one ES module and its style, and the data that it draws.

The module is written in parts, one subject each, which share one scope; ``module()`` joins them in order. It serves the app, and
every other place that shows a view. plotly.js is taken from the installed plotly package.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from importlib.resources import files

from normviz.linked.chart import chart_payload
from normviz.linked.compare import compare_panels, compare_payload
from normviz.linked.payload import payload
from normviz.linked.steps import step_panels, steps_payload
from normviz.linked.tabs import tabs_payload
from normviz.linked.values import Shown, shown_panels, values_payload

PARTS = (
    "format",
    "geometry",
    "colour",
    "labels",
    "panel",
    "worked",
    "picture",
    "saving",
    "view",
    "edit",
    "cube",
    "compare",
    "steps",
    "values",
    "chart",
    "tabs",
    "main",
)


@cache
def module() -> str:
    """The ES module; its default export mounts a view and updates it."""
    return "\n".join((files(__package__) / f"{part}.js").read_text(encoding="utf-8") for part in PARTS)


@cache
def style() -> str:
    """The module's CSS; every rule is below ``.nv-view``'s own names."""
    return (files(__package__) / "linked.css").read_text(encoding="utf-8")


@cache
def plotly_js() -> bytes:
    """plotly.js, minified, as the plotly package carries it."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_bytes()


def plotly_version() -> str:
    return version("plotly")


__all__ = [
    "Shown",
    "chart_payload",
    "compare_panels",
    "compare_payload",
    "module",
    "payload",
    "plotly_js",
    "plotly_version",
    "shown_panels",
    "step_panels",
    "steps_payload",
    "style",
    "tabs_payload",
    "values_payload",
]
