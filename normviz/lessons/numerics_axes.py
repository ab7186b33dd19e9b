"""Logarithmic axes with places for what they cannot show, such as 0 and NaN, and marks on them."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor
from typing import Any

from normviz.figures.charts import axis

LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 12}}


def logarithmic(title: str, between: Sequence[float], ticks: Mapping[float, str], **more: Any) -> dict[str, Any]:
    """An axis between two powers of ten; ``ticks`` are the labels by number."""
    named = {"tickvals": list(ticks), "ticktext": list(ticks.values())}
    return axis(title, type="log", range=list(between), **named, **more)


def over_powers(title: str, low: float, high: float, every: int = 1, **more: Any) -> dict[str, Any]:
    """A logarithmic axis whose ticks are powers of ten."""
    exponents = (i for i in range(ceil(low), floor(high) + 1) if i % every == 0)
    return logarithmic(title, [low, high], powers(exponents), **more)


def powers(exponents: Iterable[int]) -> dict[float, str]:
    return {10.0**i: f"10<sup>{i}</sup>" for i in exponents}


def shape(kind: str, x0: float, x1: float, drawn: dict[str, Any]) -> dict[str, Any]:
    """A shape as high as the chart."""
    return {"type": kind, "xref": "x", "yref": "paper", "x0": x0, "x1": x1, "y0": 0, "y1": 1, "line": drawn}


def note(x: float, y: float, text: str, **more: Any) -> dict[str, Any]:
    """Text at 10^x; ``y`` is a fraction of the chart's height."""
    return {"x": x, "y": y, "yref": "paper", "text": text, "showarrow": False, **more}
