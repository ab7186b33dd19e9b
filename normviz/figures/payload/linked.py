"""What the linked heatmap needs of an Explanation, as plain JSON: the drawn window, tables of ids, numbers, colours."""

from __future__ import annotations

from base64 import b64encode
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from normviz.analysis.explanation import Explanation
from normviz.analysis.forward import broadcast
from normviz.figures.panels import Panel, sharing_panels, value_panels
from normviz.layers.sharing import param_tables, stat_tables
from normviz.scene.grid import Grid

if TYPE_CHECKING:
    from torch import Tensor


def payload(
    e: Explanation,
    drawing: Grid,
    *,
    at: tuple[int, ...] | None = None,
    editable: bool = False,
    plotly: str = "",
    theme: str | None = None,
) -> dict[str, Any]:
    """The data of one view.

    at        the selected element, or None
    editable  may single values of x be changed?
    plotly    where plotly.js is, relative to the page
    theme     "light" or "dark"; None follows the page
    """
    panels = [*sharing_panels(e, drawing), *(value_panels(e, drawing) if e.x is not None else ())]
    return frame("view", plotly, theme) | {
        "layer": e.title,
        "axes": list(e.axes),
        "grid": grid_of(drawing),
        "stats": statistics_of(e, drawing),
        "params": parameters_of(e, drawing),
        "panels": [panel_of(panel) for panel in panels],
        "values": values_of(e, drawing) if e.x is not None else None,
        "facts": facts(e),
        "at": None if at is None else list(at),
        "editable": editable,
    }


def frame(kind: str, plotly: str, theme: str | None) -> dict[str, Any]:
    """What every kind of view carries."""
    return {"kind": kind, "plotly": plotly, "theme": theme}


def grid_of(drawing: Grid) -> dict[str, Any]:
    """How the tensor is drawn."""
    return {
        "shape": list(drawing.shape),
        "facets": list(drawing.facets),
        "row": drawing.row,
        "col": drawing.col,
        "start": list(drawing.start),
        "extent": list(drawing.extent),
        "across": drawing.facet_columns,
    }


def facts(e: Explanation) -> list[dict[str, str]]:
    """The figures of merit, each with its label and what it is made of."""
    counts, bias = e.counts, e.norm.bias
    number = prod(counts.gamma_shape) if counts.gamma_shape is not None else 0
    pair = "(mean, variance) pairs" if e.norm.center or e.norm.running else "mean squares"
    shape = "" if counts.gamma_shape is None else f"gamma {_shape(counts.gamma_shape)}"
    made = f"{shape} + beta {_shape(counts.beta_shape)}" if counts.beta_shape is not None else shape
    return [
        {"label": pair, "value": f"{counts.statistics:,}", "note": ""},
        {"label": "elements each", "value": f"{counts.elements_per_statistic:,}", "note": ""},
        {
            "label": "parameters",
            "value": f"{number:,} + {number:,} = {counts.parameters:,}" if bias else f"{counts.parameters:,}",
            "note": made,
        },
        {
            "label": "buffers",
            "value": f"{counts.buffers:,}",
            "note": "running_mean, running_var, num_batches_tracked" if counts.buffers else "no running statistics",
        },
    ]


def _shape(shape: tuple[int, ...]) -> str:
    return str(shape)


def statistics_of(e: Explanation, drawing: Grid) -> dict[str, Any]:
    """Who shares a mean and a variance: a table of ids for each axis, and the counts."""
    return {
        "tables": [table.tolist() for table in stat_tables(e.norm, e.shape, drawing.window)],
        "count": e.counts.statistics,
        "size": e.counts.elements_per_statistic,
        "axes": _places(e, e.norm.pattern.right),
        "center": e.norm.center or e.norm.running,
        "running": e.norm.running,
    }


def parameters_of(e: Explanation, drawing: Grid) -> dict[str, Any] | None:
    """Who shares a gamma and a beta; None where there is none."""
    tables = param_tables(e.norm, e.shape, drawing.window)
    if tables is None:
        return None
    return {
        "tables": [table.tolist() for table in tables],
        "axes": _places(e, e.norm.gamma_axes),
        "bias": e.norm.bias,
        "met": prod(e.shape) // prod(e.counts.gamma_shape or ()),
    }


def _places(e: Explanation, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """How an index along a name follows from an index of x: ``x[axis] // divide % modulo``."""
    sizes = e.norm.axis_sizes(e.shape)
    places = []
    for name in names:
        for axis, (whole, parts) in enumerate(zip(e.axes, e.norm.pattern.left, strict=True)):
            if name == whole or name in parts:
                after = parts[parts.index(name) + 1 :] if name in parts else ()
                divide = prod(sizes[part] for part in after)
                places.append({"name": name, "axis": axis, "divide": divide, "modulo": sizes[name]})
    return places


def panel_of(panel: Panel) -> dict[str, Any]:
    """One heatmap; its ids are made from the tables in the browser, its values are sent."""
    return {
        "key": panel.key,
        "title": panel.title,
        "pattern": panel.pattern,
        "caption": panel.caption,
        "z": _packed(panel.z) if panel.scale == "values" else None,
        "low": panel.low,
        "high": panel.high,
        "scale": panel.scale,
        "groups": panel.groups,
        "links": panel.links,
        "strips": panel.strips,
    }


def values_of(e: Explanation, drawing: Grid) -> dict[str, Any]:
    """Mean, variance, gamma and beta as they broadcast over the window, and eps."""
    trace, held = e.trace, e.layer_values()
    values: dict[str, Any] = {"mean": trace.mean, "var": trace.var}
    for name, parameter in (("gamma", held.gamma), ("beta", held.beta)):
        if parameter is not None:
            values[name] = broadcast(e.norm, e.shape, parameter)
    return {name: _packed(_windowed(value, drawing)) for name, value in values.items()} | {"eps": trace.eps}


def _windowed(tensor: Tensor, drawing: Grid) -> NDArray[np.float32]:
    """The window of a tensor that broadcasts over x."""
    array = tensor.float().cpu().numpy()
    return array[
        tuple(part if size > 1 else slice(None) for part, size in zip(drawing.slices, array.shape, strict=True))
    ]


def _packed(array: NDArray[np.float32]) -> dict[str, Any]:
    little_endian = np.ascontiguousarray(array, dtype="<f4")
    return {"shape": list(little_endian.shape), "data": b64encode(little_endian.tobytes()).decode("ascii")}
