"""The data of the page Explore: one layer on one tensor."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isfinite, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from normviz.analysis.description import Description
from normviz.analysis.steps import Step, steps, whole_formula
from normviz.code.generate import code
from normviz.figures.charts import Lines
from normviz.figures.panels import (
    Panel,
    PanelValues,
    layer_data,
    linked_data,
    moments_data,
    parameters_data,
    sharing_panels,
    statistics_data,
    value_panel,
    value_panels,
    values_data,
)
from normviz.scene.grid import Grid
from normviz.texts.messages import _


def view_payload(
    e: Description, drawing: Grid, *, at: tuple[int, ...] | None = None, editable: bool = False
) -> dict[str, Any]:
    """The panels of both kinds of sharing and, if ``e`` has values, of the values. ``editable``: the reader can change values of x."""
    panels = [*sharing_panels(e), *value_panels(e, drawing)]
    values = values_data(e, drawing) if e.x is not None else None
    own = {"values": values, "moments": moments_data(e, drawing), "facts": counts(e), "editable": editable}
    return linked_data("view", drawing, panels, at) | layer_data(e) | own


def counts(e: Description) -> list[dict[str, str]]:
    """The numbers of statistics, elements, parameters and buffers, each with its label and a note."""
    found, has_means = e.counts, e.norm.center or e.norm.running
    gamma, beta = found.gamma_shape, found.beta_shape
    parameters, note = f"{found.parameters:,}", "" if gamma is None else f"gamma {gamma}"
    if gamma is not None and beta is not None:
        parameters, note = f"{prod(gamma):,} + {prod(beta):,} = {parameters}", f"{note} + beta {beta}"
    buffers = "running_mean, running_var, num_batches_tracked" if found.buffers else _("no running statistics")
    rows = (
        (_("(mean, variance) pairs") if has_means else _("mean squares"), f"{found.statistics:,}", ""),
        (_("elements in each group"), f"{found.elements_per_statistic:,}", ""),
        (_("parameters"), parameters, note),
        (_("buffers"), f"{found.buffers:,}", buffers),
    )
    return [{"label": label, "value": value, "note": note} for label, value, note in rows]


# The cube of the Group Normalization paper: examples, channels and positions (H·W) as a box of bricks.


MOST_DRAWN = (6, 10, 16)  # bricks along n, c and s


def box(axes: Sequence[str], extent: Sequence[int]) -> dict[str, Any]:
    """Which axes of the drawn window are examples (n), channels (c) and positions (s), and how many bricks each has.

    example, channel  the number of the axis; None if x has no such axis
    rest              the axes of the positions; the last one varies fastest
    whole, drawn      the number of bricks along n, c and s: in the window, and drawn
    names             the labels of n, c and s

    >>> found = box(("n", "c", "h", "w"), (2, 3, 4, 4))
    >>> found["example"], found["channel"], found["rest"], found["whole"], found["names"]
    (0, 1, [2, 3], [2, 3, 16], ['N', 'C', 'H·W'])
    """
    channel = next((axes.index(name) for name in ("c", "d") if name in axes), None)
    example = axes.index("n") if "n" in axes else 0 if axes[0] == "b" else None  # a batch may be called b
    rest = [axis for axis in range(len(axes)) if axis not in (example, channel)]
    n, c = (1 if axis is None else extent[axis] for axis in (example, channel))
    whole = [n, c, prod(extent[axis] for axis in rest)]
    return {
        "example": example,
        "channel": channel,
        "rest": rest,
        "whole": whole,
        "drawn": [min(sizes) for sizes in zip(whole, MOST_DRAWN, strict=True)],
        "names": [
            "" if example is None else axes[example].upper(),
            "" if channel is None else axes[channel].upper(),
            "·".join(axes[axis].upper() for axis in rest),
        ],
    }


# The data of a comparison: several layers on one tensor, a column for each layer.


def compare_payload(
    descriptions: Sequence[Description], drawing: Grid, *, at: tuple[int, ...] | None = None
) -> dict[str, Any]:
    """The statistics, the parameters and the cube of each layer, all on one tensor."""
    sharings: dict[str, Any] = {}
    panels: list[Panel] = []
    bricks = box(descriptions[0].axes, drawing.extent)
    for number, e in enumerate(descriptions):
        stats, params, cube = f"stats{number}", f"params{number}", f"cube{number}"
        sharings |= {stats: statistics_data(e), params: parameters_data(e)}
        statistics, parameters = sharing_panels(e)
        links = params if parameters["links"] else ""
        panels += [
            statistics | {"key": stats, "links": stats, "title": e.title, "row": "stats"},
            parameters | {"key": params, "links": links, "title": _parameters_title(e), "row": "params"},
            {"key": cube, "links": stats, "title": e.title, "row": "cube", "scale": "cube", "box": bricks},
        ]
    layers = [{"name": e.title} for e in descriptions]
    return linked_data("compare", drawing, panels, at) | {"sharings": sharings, "layers": layers}


def _parameters_title(e: Description) -> str:
    """The layer and its parameters. The title names the layer because a narrow page shows the panels below each other."""
    if e.norm.params is None:
        return _("{layer}: no gamma, no beta", layer=e.title)
    return _("{layer}: gamma and beta", layer=e.title) if e.norm.bias else _("{layer}: gamma", layer=e.title)


# The data of the forward pass in steps: the values of each step, the formula in tokens, and the loops.


def steps_payload(e: Description, drawing: Grid, *, step: int = 0, at: tuple[int, ...] | None = None) -> dict[str, Any]:
    """The data of ``e``'s steps; ``step`` is the one that is shown first."""
    panels, sizes = [_panel(each, e, drawing) for each in steps(e)], e.norm.axis_sizes(e.shape)
    return (
        linked_data("steps", drawing, panels, at)
        | layer_data(e)
        | {
            "values": values_data(e, drawing),
            "moments": moments_data(e, drawing),
            "groups": sharing_panels(e)[0],
            "formula": [asdict(token) for token in whole_formula(e)],
            "loops": {
                "code": code(e, "loops"),
                "runs": [{"name": name, "size": sizes[name]} for name in e.norm.pattern.reduced],
            },
            "step": int(np.clip(step, 0, len(panels) - 1)),
        }
    )


def _panel(step: Step, e: Description, drawing: Grid) -> Panel:
    """The step's values, and why it is taken."""
    links = step.links if e.norm.params is not None else "stats"
    values = PanelValues(step.key, step.title, step.formula, step.values.float().expand(e.shape), links)
    return value_panel(values, drawing) | {"why": step.why}


# The data of a chart: Plotly's traces and layout as JSON; each trace names its color by meaning.


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
