"""Lines, points and bars: the charts of the lessons, as Plotly's own dicts, as its figures, and as JSON for the browser.

A trace names its color by meaning in ``meta``; the light theme's color is also set, so that Plotly alone can draw the chart.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from normviz.figures.palette import FONT, Theme, by_meaning, theme

Values = NDArray[Any] | Sequence[Any]
PlotlyTrace = dict[str, Any]
LIGHT = theme("light")


@dataclass(frozen=True, eq=False)
class Lines:
    """Traces over one pair of axes, as Plotly's dicts."""

    data: Sequence[PlotlyTrace]
    layout: Mapping[str, Any]

    def figure(self, theme_name: str = "light") -> go.Figure:
        """A Plotly figure in the colors of a theme. Raises NormvizError for an unknown theme."""
        colors = theme(theme_name)
        figure = go.Figure({"data": [_recolor(trace, colors) for trace in self.data], "layout": dict(self.layout)})
        lines = dict.fromkeys(("gridcolor", "zerolinecolor", "linecolor"), colors.border)
        figure.update_xaxes(lines, color=colors.muted, automargin=True)
        figure.update_yaxes(lines, color=colors.muted, automargin=True)
        return figure.update_layout(
            template="none",
            paper_bgcolor=colors.background,
            plot_bgcolor=colors.background,
            font={"color": colors.text, "size": 13, "family": FONT},
            legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 12}},
        )


def _recolor(trace: PlotlyTrace, colors: Theme) -> PlotlyTrace:
    color = {"color": by_meaning(trace["meta"]["color"], colors)}
    return trace | {part: trace[part] | color for part in ("line", "marker") if part in trace}


def line(
    name: str, x: Values, y: Values, color: str, *, dash: str = "solid", width: float = 2.2, **more: Any
) -> PlotlyTrace:
    """A line; ``color`` is "accent", "muted" or "few.0" to "few.7"; ``more`` are Plotly properties."""
    drawn = {"color": by_meaning(color, LIGHT), "dash": dash, "width": width}
    return _trace("scatter", name, x, y, color) | {"mode": "lines", "line": drawn, **more}


def dots(
    name: str,
    x: Values,
    y: Values,
    color: str,
    *,
    size: float = 6,
    marker: Mapping[str, Any] | None = None,
    **more: Any,
) -> PlotlyTrace:
    """A series of points; ``marker`` and ``more`` are Plotly properties."""
    drawn = {"color": by_meaning(color, LIGHT), "size": size, **(marker or {})}
    return _trace("scatter", name, x, y, color) | {"mode": "markers", "marker": drawn, **more}


def bars(name: str, x: Values, y: Values, color: str) -> PlotlyTrace:
    """A series of bars."""
    return _trace("bar", name, x, y, color) | {"marker": {"color": by_meaning(color, LIGHT)}}


def _trace(kind: str, name: str, x: Values, y: Values, color: str) -> PlotlyTrace:
    return {"type": kind, "name": name, "x": x, "y": y, "meta": {"color": color}}


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with a title as large as its tick labels; ``more`` are Plotly properties."""
    return {"title": {"text": title, "font": {"size": 13}, "standoff": 8}, **more}


def chart(
    traces: Sequence[PlotlyTrace],
    x: str | Mapping[str, Any],
    y: str | Mapping[str, Any],
    *,
    height: int = 320,
    **layout: Any,
) -> Lines:
    """The traces over one pair of axes, each given by its title or as an ``axis``; ``layout`` are Plotly properties."""
    axes = {name: axis(one) if isinstance(one, str) else one for name, one in (("xaxis", x), ("yaxis", y))}
    return Lines(traces, {"height": height, **axes, **layout})


def chart_payload(chart: Lines, alt: str) -> dict[str, Any]:
    """The data of ``chart``; ``alt`` describes it in a sentence."""
    return {"kind": "chart", "figure": {"data": _json(chart.data), "layout": _json(chart.layout), "alt": alt}}


def _json(value: Any) -> Any:
    """The value as strict JSON: arrays as Plotly's typed arrays, NaN and infinity elsewhere as null."""
    if isinstance(value, np.ndarray):
        return _typed(value)
    if isinstance(value, Mapping):
        return {name: _json(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_json(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _typed(array: NDArray[Any]) -> Any:
    """Floats as float64, integers in the fewest bytes that hold them; a list for a type that Plotly does not have."""
    for kind in ("f8",) if array.dtype.kind == "f" else ("i1", "i2", "i4"):
        packed = array.astype(f"<{kind}")
        if np.array_equal(packed, array, equal_nan=True):
            return {"dtype": kind, "bdata": b64encode(packed.tobytes()).decode()}
    return array.tolist()
