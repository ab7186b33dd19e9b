"""The panels of a view as plain values: what each shows, in which colours, and whom it links."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from normviz.analysis import sentences
from normviz.analysis.explanation import Explanation
from normviz.layers.sharing import param_tables, stat_tables
from normviz.scene.grid import Grid

if TYPE_CHECKING:
    from torch import Tensor

MOST_BESIDE = 64  # facets in a row: of more, no screen has room for their means

Drawing = NDArray[np.float32]
Strips = dict[str, dict[str, list[float | None]]]  # None where a number is not finite


@dataclass(frozen=True)
class Panel:
    """One heatmap.

    z       what is drawn, laid flat by the grid, NaN between facets
    low, high  the values at the ends of the colour scale
    scale   "groups", "parameters", "values" or "none" (``palette.stops``)
    groups  the number of groups, where z holds ids
    links   the sharing that it outlines: "stats", "params" or ""
    strips  mean and variance along the panel, by place: "row", "col" or "facet"
    """

    key: str
    title: str
    pattern: str
    caption: str
    z: Drawing
    low: float
    high: float
    scale: str
    links: str
    groups: int = 0
    strips: Strips = field(default_factory=dict)


def sharing_panels(e: Explanation, drawing: Grid) -> tuple[Panel, Panel]:
    """Who shares a mean and a variance; who shares a gamma and a beta."""
    return _statistics_panel(e, drawing), _parameters_panel(e, drawing)


def _statistics_panel(e: Explanation, drawing: Grid) -> Panel:
    ids = reduce(np.add.outer, stat_tables(e.norm, e.shape, drawing.window))
    return Panel(
        key="stats",
        title=sentences.statistics_title(e),
        pattern=e.norm.stats.replace("->", "→"),
        caption=sentences.statistics_caption(e),
        z=drawing.lay(ids),
        **_id_range(e.counts.statistics),
        scale="groups",
        links="stats",
    )


def _parameters_panel(e: Explanation, drawing: Grid) -> Panel:
    tables = param_tables(e.norm, e.shape, drawing.window)
    ids = np.zeros(drawing.extent) if tables is None else reduce(np.add.outer, tables)
    number = prod(e.counts.gamma_shape or ())
    return Panel(
        key="params",
        title=sentences.parameters_title(e),
        pattern=" ".join(e.norm.gamma_axes) if tables else "",
        caption=sentences.parameters_caption(e),
        z=drawing.lay(ids),
        **_id_range(number),
        scale="parameters" if tables else "none",
        links="params" if tables else "",
    )


def _id_range(groups: int) -> dict[str, Any]:
    return {"low": -0.5, "high": groups - 0.5, "groups": groups}


def value_panels(e: Explanation, drawing: Grid) -> tuple[Panel, ...]:
    """x, normalized and output, with the mean and variance of every row and column, or of every facet."""
    trace = e.trace
    above = "(x − mean)" if e.norm.center or e.norm.running else "x"
    below = "var" if e.norm.center or e.norm.running else "mean of x²"
    scaled = "normalized · gamma + beta" if e.norm.bias else "normalized · gamma"
    steps = (
        ("x", "x", "the input", e.x, "stats"),
        ("normalized", "normalized", f"{above} / √({below} + eps)", trace.normalized, "stats"),
        ("output", "output", scaled if e.norm.params is not None else "as normalized", trace.output, "params"),
    )
    return tuple(
        value_panel(key, title, caption, values, links if e.norm.params is not None else "stats", drawing)
        for key, title, caption, values, links in steps
        if values is not None
    )


def value_panel(
    key: str,
    title: str,
    caption: str,
    values: Tensor,
    links: str,
    drawing: Grid,
    *,
    strips: bool = True,
    most: float | None = None,
) -> Panel:
    """The values of one step, coloured from blue below zero to brown above; with full colour from ``most`` on."""
    array = values.float().cpu().numpy()
    shown = array[drawing.slices]
    finite = np.abs(shown[np.isfinite(shown)])
    if not most:
        most = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
    return Panel(
        key=key,
        title=title,
        pattern="",
        caption=caption,
        z=drawing.lay(shown),
        low=-most,
        high=most,
        scale="values",
        links=links,
        strips=_strips(array.astype(np.float64), drawing) if strips else {},
    )


def _strips(array: NDArray[np.float64], drawing: Grid) -> Strips:
    """Of a single facet: every row's and every column's mean and variance; else every facet's, where there is room."""
    inside = {axis for axis in (drawing.row, drawing.col) if axis is not None}
    if drawing.facets:
        return {"facet": _moments(array, tuple(inside), drawing)} if drawing.facet_columns <= MOST_BESIDE else {}
    if drawing.row is None:
        return {"row": _moments(array, (drawing.col,), drawing)}
    return {
        "row": _moments(array, (drawing.col,), drawing),
        "col": _moments(array, (drawing.row,), drawing),
    }


def _moments(array: NDArray[np.float64], over: tuple[int, ...], drawing: Grid) -> dict[str, list[float | None]]:
    window = tuple(slice(None) if axis in over else part for axis, part in enumerate(drawing.slices))
    part = array[window]
    with np.errstate(invalid="ignore"):  # infinity less infinity
        moments = {"mean": part.mean(axis=over), "var": part.var(axis=over)}
    return {
        name: [number if np.isfinite(number) else None for number in numbers.ravel().tolist()]
        for name, numbers in moments.items()
    }
