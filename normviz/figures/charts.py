"""Lines and bars over one axis: the charts of the lessons. Colours are named by their meaning, and resolved by the theme.

A chart is plain: what plotly.js draws, as dicts. A trace carries the name of its colour in ``meta``; the light theme's colour stands
in the chart itself, so that it can be shown anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
from numpy.typing import NDArray

from normviz.figures.palette import by_meaning, theme

Values = NDArray[Any] | Sequence[Any]
Trace = dict[str, Any]
LIGHT = theme("light")


@dataclass(frozen=True, eq=False)
class Lines:
    """Traces over one pair of axes, in Plotly's own words."""

    data: Sequence[Trace]
    layout: Mapping[str, Any]

    def figure(self) -> go.Figure:
        """The same as a Plotly figure, whose every property Plotly has checked."""
        return go.Figure({"data": list(self.data), "layout": {**self.layout, "template": "none"}})


def line(
    name: str, x: Values, y: Values, colour: str, *, dash: str = "solid", width: float = 2.2, **more: Any
) -> Trace:
    """One line; ``colour`` is "accent", "muted" or "few.0" to "few.7"; ``more`` is Plotly's."""
    drawn = {"color": by_meaning(colour, LIGHT), "dash": dash, "width": width}
    return _trace("scatter", name, x, y, colour) | {"mode": "lines", "line": drawn, **more}


def dots(
    name: str,
    x: Values,
    y: Values,
    colour: str,
    *,
    size: float = 6,
    marker: Mapping[str, Any] | None = None,
    **more: Any,
) -> Trace:
    """One series of points; ``marker`` and ``more`` are Plotly's."""
    drawn = {"color": by_meaning(colour, LIGHT), "size": size, **(marker or {})}
    return _trace("scatter", name, x, y, colour) | {"mode": "markers", "marker": drawn, **more}


def bars(name: str, x: Values, y: Values, colour: str) -> Trace:
    """One series of bars."""
    return _trace("bar", name, x, y, colour) | {"marker": {"color": by_meaning(colour, LIGHT)}}


def _trace(kind: str, name: str, x: Values, y: Values, colour: str) -> Trace:
    return {"type": kind, "name": name, "x": x, "y": y, "meta": {"colour": colour}}


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis, named in letters as large as its numbers; ``more`` is Plotly's."""
    return {"title": {"text": title, "font": {"size": 13}, "standoff": 8}, **more}


def chart(
    traces: Sequence[Trace], x: str | Mapping[str, Any], y: str | Mapping[str, Any], *, height: int = 320, **layout: Any
) -> Lines:
    """The traces over one pair of axes, each its title or an ``axis``; ``layout`` is Plotly's."""
    axes = {name: axis(one) if isinstance(one, str) else one for name, one in (("xaxis", x), ("yaxis", y))}
    return Lines(traces, {"height": height, **axes, **layout})
