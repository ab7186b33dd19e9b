"""Lines, points and bars: the charts of the lessons, as Plotly's own dicts, as its figures, and as JSON for the browser.

A trace names its color by meaning in ``meta``; the light theme's color is also set, so that Plotly alone can draw the chart.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from normviz.figures.palette import FONT, Theme, by_meaning, theme
from normviz.figures.wire import Json, Payload, sent

Values = NDArray[np.generic] | Sequence[object]
PlotlyTrace = dict[str, Any]  # Plotly has no types
Properties = Mapping[str, object]
LIGHT = theme("light")


@dataclass(frozen=True, eq=False)
class Lines:
    """Traces over one pair of axes, as Plotly's dicts."""

    data: Sequence[PlotlyTrace]
    layout: Properties

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
    name: str, x: Values, y: Values, color: str, *, dash: str = "solid", width: float = 2.2, **more: object
) -> PlotlyTrace:
    """A line; ``color`` is "accent", "muted" or "few.0" to "few.7"; ``more`` are Plotly properties."""
    drawn = {"color": by_meaning(color, LIGHT), "dash": dash, "width": width}
    return _trace("scatter", name, x, y, color) | {"mode": "lines", "line": drawn, **more}


def dots(
    name: str, x: Values, y: Values, color: str, *, size: float = 6, marker: Properties | None = None, **more: object
) -> PlotlyTrace:
    """A series of points; ``marker`` and ``more`` are Plotly properties."""
    drawn = {"color": by_meaning(color, LIGHT), "size": size, **(marker or {})}
    return _trace("scatter", name, x, y, color) | {"mode": "markers", "marker": drawn, **more}


def bars(name: str, x: Values, y: Values, color: str) -> PlotlyTrace:
    """A series of bars."""
    return _trace("bar", name, x, y, color) | {"marker": {"color": by_meaning(color, LIGHT)}}


def _trace(kind: str, name: str, x: Values, y: Values, color: str) -> PlotlyTrace:
    return {"type": kind, "name": name, "x": x, "y": y, "meta": {"color": color}}


def axis(title: str, **more: object) -> dict[str, object]:
    """An axis with a title as large as its tick labels; ``more`` are Plotly properties."""
    return {"title": {"text": title, "font": {"size": 13}, "standoff": 8}, **more}


def chart(
    traces: Sequence[PlotlyTrace], x: str | Properties, y: str | Properties, *, height: int = 320, **layout: object
) -> Lines:
    """The traces over one pair of axes, each given by its title or as an ``axis``; ``layout`` are Plotly properties."""
    axes = {name: axis(one) if isinstance(one, str) else one for name, one in (("xaxis", x), ("yaxis", y))}
    return Lines(traces, {"height": height, **axes, **layout})


@dataclass(frozen=True)
class ChartFigure(Payload):
    """Plotly's traces and layout, and what the chart shows in a sentence."""

    data: Json
    layout: Json
    alt: str


@dataclass(frozen=True, kw_only=True)
class ChartPayload(Payload):
    """A line or bar chart."""

    kind: Literal["chart"] = "chart"
    figure: ChartFigure


def chart_payload(chart: Lines, alt: str) -> ChartPayload:
    """The data of ``chart``; ``alt`` describes it in a sentence."""
    return ChartPayload(figure=ChartFigure(_json(chart.data), _json(chart.layout), alt))


def _json(value: object) -> Json:
    """The value as strict JSON: arrays as Plotly's typed arrays, NaN and infinity elsewhere as null."""
    if isinstance(value, np.ndarray):
        return _typed(value)
    if isinstance(value, Mapping):
        return {name: _json(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_json(one) for one in value]
    return sent(value) if not isinstance(value, float) or isfinite(value) else None


def _typed(array: NDArray[np.generic]) -> Json:
    """Floats as float64, integers in the fewest bytes that hold them; a list for a type that Plotly does not have."""
    for kind in ("f8",) if array.dtype.kind == "f" else ("i1", "i2", "i4"):
        packed = array.astype(f"<{kind}")
        if np.array_equal(packed, array, equal_nan=True):
            return {"dtype": kind, "bdata": b64encode(packed.tobytes()).decode()}
    return sent(array.tolist())
