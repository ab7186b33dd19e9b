"""The linked heatmap: one ES module and its style, and the data that it draws.

The module is written in parts, one subject each, which share one scope; ``module()`` joins them in order. It serves the app, and
every other place that shows a view. plotly.js is taken from the installed plotly package.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.metadata import version
from importlib.resources import files

from normviz.figures.palette import THEMES, as_json

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
    "prediction",
    "tabs",
    "main",
)


@cache
def module() -> str:
    """The ES module; its default export mounts a view and updates it. It has the colours of both themes, so that no view carries them."""
    themes = json.dumps({name: as_json(colours) for name, colours in THEMES.items()}, separators=(",", ":"))
    parts = ((files("normviz.figures") / "browser" / f"{part}.js").read_text(encoding="utf-8") for part in PARTS)
    return "\n".join((f"const THEMES = {themes};", *parts))


@cache
def style() -> str:
    """The module's CSS; every rule is below ``.nv-view``'s own names."""
    return (files("normviz.figures") / "browser" / "linked.css").read_text(encoding="utf-8")


@cache
def plotly_js() -> bytes:
    """plotly.js, minified, as the plotly package carries it."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_bytes()


def plotly_version() -> str:
    return version("plotly")
