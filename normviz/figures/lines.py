"""Lines and bars over one axis: the charts of the lessons. Colours are named by their meaning, and resolved by the theme.

A trace carries the name of its colour in ``meta``; the light theme's colour stands in the figure itself, so that it can be shown
anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from numpy.typing import NDArray

from normviz.figures.palette import by_meaning, theme

Values = NDArray[Any] | Sequence[float]
LIGHT = theme("light")


def line(name: str, x: Values, y: Values, colour: str, *, dash: str = "solid", width: float = 2.2) -> go.Scatter:
    """One line; ``colour`` is "accent", "muted" or "few.0" to "few.7"."""
    return go.Scatter(
        x=x,
        y=y,
        name=name,
        mode="lines",
        line={"color": by_meaning(colour, LIGHT), "dash": dash, "width": width},
        meta={"colour": colour},
    )


def dots(name: str, x: Values, y: Values, colour: str, *, size: float = 6) -> go.Scatter:
    """One series of points."""
    return go.Scatter(
        x=x,
        y=y,
        name=name,
        mode="markers",
        marker={"color": by_meaning(colour, LIGHT), "size": size},
        meta={"colour": colour},
    )


def bars(name: str, x: Values, y: Values, colour: str) -> go.Bar:
    """One series of bars."""
    return go.Bar(x=x, y=y, name=name, marker={"color": by_meaning(colour, LIGHT)}, meta={"colour": colour})


def chart(traces: Sequence[Any], x_title: str, y_title: str, *, height: int = 320, **layout: Any) -> go.Figure:
    """The traces over one pair of axes; ``layout`` is Plotly's."""
    figure = go.Figure(list(traces))
    figure.update_layout(template="none", height=height, xaxis={"title": x_title}, yaxis={"title": y_title})
    figure.update_layout(**layout)
    return figure
