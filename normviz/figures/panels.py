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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite, isnan, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from normviz.analysis import sentences
from normviz.analysis.description import Description
from normviz.analysis.forward import broadcast
from normviz.analysis.moments import moments
from normviz.layers.sharing import check_groups
from normviz.scene.grid import Grid
from normviz.texts.messages import _

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


# The data of every linked view: the drawn elements, which of them share, values, and the selected element.


def linked_data(kind: str, drawing: Grid, panels: Sequence[Panel], at: tuple[int, ...] | None) -> dict[str, Any]:
    """The data of a view of ``kind``: panels that show one tensor; ``at`` is the selected element, or None."""
    return {
        "kind": kind,
        "axes": list(drawing.axes),
        "grid": {
            "shape": list(drawing.shape),
            "facets": list(drawing.facets),
            "row": drawing.row,
            "col": drawing.col,
            "indices": [list(drawn) for drawn in drawing.indices],
            "across": drawing.layout.across,
        },
        "panels": list(panels),
        "values": None,
        "at": None if at is None else list(at),
        "editable": False,
    }


def layer_data(e: Description) -> dict[str, Any]:
    """The layer, and which elements share its statistics and its parameters."""
    return {"layer": e.title, "stats": statistics_data(e), "params": parameters_data(e)}


def statistics_data(e: Description) -> dict[str, Any]:
    """Which elements share a mean and a variance, and the counts."""
    check_groups(e.counts.statistics)
    return {
        "count": e.counts.statistics,
        "size": e.counts.elements_per_statistic,
        "axes": _indices(e, e.norm.pattern.right),
        "center": e.norm.center or e.norm.running,
        "running": e.norm.running,
    }


def parameters_data(e: Description) -> dict[str, Any] | None:
    """Which elements share a gamma and a beta; None for a layer without parameters."""
    if e.norm.params is None:
        return None
    elements = prod(e.counts.gamma_shape or ())
    check_groups(elements)
    return {
        "axes": _indices(e, e.norm.gamma_axes),
        "bias": e.norm.bias,
        "size": prod(e.shape) // elements,
    }


def _indices(e: Description, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """How to compute the index along each name from an index of x: ``x[axis] // divide % modulo``."""
    sizes = e.norm.axis_sizes(e.shape)
    indices = []
    for name in names:
        for axis, (whole, parts) in enumerate(zip(e.axes, e.norm.pattern.left, strict=True)):
            if name == whole or name in parts:
                after = parts[parts.index(name) + 1 :] if name in parts else ()
                divide = prod(sizes[part] for part in after)
                indices.append({"name": name, "axis": axis, "divide": divide, "modulo": sizes[name]})
    return indices


def values_data(e: Description, drawing: Grid) -> dict[str, Any]:
    """Mean, variance, gamma and beta as they broadcast over the drawn elements, and eps."""
    trace, held = e.trace, e.layer_values()
    values: dict[str, Any] = {"mean": trace.mean, "var": trace.var}
    for name, parameter in (("gamma", held.gamma), ("beta", held.beta)):
        if parameter is not None:
            values[name] = broadcast(e.norm, e.shape, parameter)
    return {name: pack(drawing.take(as_array(value))) for name, value in values.items()} | {"eps": trace.eps}


def as_array(tensor: Tensor) -> NDArray[np.float32]:
    """The numbers that the browser gets."""
    array: NDArray[np.float32] = tensor.float().cpu().numpy()
    return array


# The data of several values of one tensor side by side: two outputs and their difference, the terms of a Jacobian.


def values_payload(
    e: Description, drawing: Grid, values: Iterable[PanelValues], *, name: str = "x", at: tuple[int, ...] | None = None
) -> dict[str, Any]:
    """A panel for each of ``values``, all of x's shape and linked by the sharing of ``e``; ``name`` is the tensor's name."""
    panels = [value_panel(each, drawing) for each in values]
    named = {"name": name, "layer": e.title if name == "x" else ""}
    return linked_data("values", drawing, panels, at) | layer_data(e) | named


# The mean and the variance of each group at the stages of the forward pass, for the distribution of the selected group.


def moments_data(e: Description, drawing: Grid) -> dict[str, dict[str, Any]] | None:
    """By stage ("x", "centered", "normalized", "output"): mean and variance as they broadcast over the drawn elements; None without values."""
    if e.x is None:
        return None
    return {
        stage: {name: pack(drawing.take(as_array(value))) for name, value in vars(each).items()}
        for stage, each in moments(e).items()
    }
