"""The data of every linked view: the drawn elements, which of them share, values, and the selected element."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from normviz.analysis.description import Description
from normviz.analysis.forward import broadcast
from normviz.figures.payload.panels import Panel, pack
from normviz.layers.sharing import check_groups
from normviz.scene.grid import Grid

if TYPE_CHECKING:
    from torch import Tensor


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
