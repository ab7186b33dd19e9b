"""The panels of a view, each the data of one heatmap.

key      identifies the panel; the optional ``row`` is the row of panels that it belongs to
title, pattern, caption
scale    the color scale: "groups", "parameters", "values" or "none" (``palette.stops``)
low, high  the values at the ends of the scale
groups   the number of groups if the cells are ids, else 0
z        the packed values of the drawn elements; None if the cells are ids, which follow from ``links``
links    the kind of sharing whose peers the panel outlines: "stats", "params" or ""
strips   means and variances beside the panel, by position: "row", "col" or "facet"
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from math import isfinite, isnan, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from normviz.analysis import sentences
from normviz.analysis.description import Description
from normviz.layers.messages import _
from normviz.scene.grid import Grid

if TYPE_CHECKING:
    from torch import Tensor

Panel = dict[str, Any]
SentNumber = float | str | None  # JSON has no "Infinity" or "-Infinity"; None is NaN
Strips = dict[str, dict[str, list[SentNumber]]]


@dataclass(frozen=True)
class PanelValues:
    """Values of x's shape that one panel shows.

    links  the kind of sharing whose peers the panel outlines: "stats", "params" or ""
    most   the smallest absolute value that has the full color; None: the largest absolute value
    """

    key: str
    title: str
    caption: str
    values: Tensor
    links: str = "stats"
    most: float | None = None


def sharing_panels(e: Description) -> list[Panel]:
    """Which elements share a mean and a variance; which share a gamma and a beta."""
    return [
        _panel(
            key="stats",
            title=sentences.statistics_title(e),
            pattern=e.norm.stats.replace("->", "→"),
            caption=sentences.statistics_caption(e),
            **_id_range(e.counts.statistics),
            scale="groups",
            links="stats",
        ),
        _panel(
            key="params",
            title=sentences.parameters_title(e),
            pattern=" ".join(e.norm.gamma_axes) if e.norm.params is not None else "",
            caption=sentences.parameters_caption(e),
            **_id_range(prod(e.counts.gamma_shape or ())),
            scale="parameters" if e.norm.params is not None else "none",
            links="params" if e.norm.params is not None else "",
        ),
    ]


def _id_range(groups: int) -> dict[str, Any]:
    return {"low": -0.5, "high": groups - 0.5, "groups": groups}


def value_panels(e: Description, drawing: Grid) -> list[Panel]:
    """x, normalized and output, with the mean and variance of every row and column, or of every facet; no panels if only the shape is known."""
    if e.x is None:
        return []
    trace = e.trace
    above = "(x − mean)" if e.norm.center or e.norm.running else "x"
    below = "var" if e.norm.center or e.norm.running else _("mean of x²")
    scaled = "normalized · gamma + beta" if e.norm.bias else "normalized · gamma"
    last = ("params", scaled) if e.norm.params is not None else ("stats", _("as normalized"))
    steps = (
        PanelValues("x", "x", _("the input"), e.x),
        PanelValues("normalized", _("normalized"), f"{above} / √({below} + eps)", trace.normalized),
        PanelValues("output", _("output"), last[1], trace.output, last[0]),
    )
    return [value_panel(each, drawing, strips=True) for each in steps]


def value_panel(given: PanelValues, drawing: Grid, *, strips: bool = False) -> Panel:
    """The values, colored from blue below zero to brown above."""
    array = given.values.float().cpu().numpy()
    drawn = drawing.take(array)
    finite = np.abs(drawn[np.isfinite(drawn)])
    most = given.most or (float(finite.max()) if finite.size and finite.max() > 0 else 1.0)
    return _panel(
        key=given.key,
        title=given.title,
        caption=given.caption,
        z=pack(drawn),
        low=-most,
        high=most,
        scale="values",
        links=given.links,
        strips=_strips(array.astype(np.float64), drawing) if strips else {},
    )


def _panel(**values: Any) -> Panel:
    return {"pattern": "", "z": None, "groups": 0, "strips": {}} | values


def pack(array: NDArray[np.float32]) -> dict[str, Any]:
    """An array as JSON: its shape, and its numbers as little-endian float32 in base64."""
    little_endian = np.ascontiguousarray(array, dtype="<f4")
    return {"shape": list(little_endian.shape), "data": b64encode(little_endian.tobytes()).decode("ascii")}


def _strips(array: NDArray[np.float64], drawing: Grid) -> Strips:
    """Mean and variance of each row and column, or, if there are several facets, of each facet."""
    inside = tuple(axis for axis in (drawing.row, drawing.col) if axis is not None)
    if drawing.facets:
        return {"facet": _moments(array, inside, drawing)}
    rows = {"row": _moments(array, (drawing.col,), drawing)}
    return rows if drawing.row is None else rows | {"col": _moments(array, (drawing.row,), drawing)}


def _moments(array: NDArray[np.float64], over: tuple[int, ...], drawing: Grid) -> dict[str, list[SentNumber]]:
    kept = (
        range(size) if axis in over else drawn
        for axis, (size, drawn) in enumerate(zip(drawing.shape, drawing.indices, strict=True))
    )
    part = array[np.ix_(*kept)]
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        moments = {"mean": part.mean(axis=over), "var": part.var(axis=over)}
    return {name: [_sent(number) for number in numbers.ravel().tolist()] for name, numbers in moments.items()}


def _sent(number: float) -> SentNumber:
    if isnan(number):
        return None
    return number if isfinite(number) else "Infinity" if number > 0 else "-Infinity"
