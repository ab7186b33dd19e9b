"""The data of linked figures: the drawn elements, which of them share, values, and the selected element.

A payload is a dict. Python's own figure (``plotly_figure``) reads it as it is; the browser gets it as JSON (``sent``), in the form
of ``figures/browser/types.d.ts``. Its "panels" each describe one heatmap:

key      identifies the panel; the optional ``row`` is the row of panels that it belongs to
title, pattern, caption
scale    the color scale: "groups", "parameters", "values" or "none" (``palette.stops``)
low, high  the values at the ends of the scale
groups   the number of groups if the cells are ids, else 0
z        the values of the drawn elements; None if the cells are ids, which follow from ``links``
links    the kind of sharing whose peers the panel outlines: "stats", "params" or ""
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite, isnan, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from normviz.analysis import sentences
from normviz.analysis.description import Description
from normviz.analysis.forward import broadcast
from normviz.analysis.moments import moments
from normviz.analysis.steps import steps, whole_formula
from normviz.code.generate import code
from normviz.layers.sharing import check_groups
from normviz.scene.grid import Grid
from normviz.texts.messages import _, format_count

if TYPE_CHECKING:
    from torch import Tensor

Payload = dict[str, Any]
Panel = dict[str, Any]
Index = tuple[int, ...]
CARDS = (
    "mean",
    "gamma",
    "cube",
)  # what a comparison draws of each layer: who shares a mean, who shares a gamma, or the group of the mean in a cube
MOST_DRAWN = (6, 10, 16)  # bricks of a cube along n, c and s


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


# The figures.


def view_payload(
    e: Description,
    drawing: Grid,
    *,
    at: Index | None = None,
    editable: bool = False,
    scaled: bool = False,
    toggles: Mapping[str, Payload] | None = None,
) -> dict[str, Any]:
    """The panels of both kinds of sharing and, if ``e`` has values, of the values.

    editable  the reader can change values of x
    scaled    every gamma and beta has the value that the reader chose
    toggles   of the panels of sharing, by key, where the reader can change the layer by its axes
    """
    sharing = [panel | ({"toggles": toggles[panel["key"]]} if toggles else {}) for panel in sharing_panels(e)]
    panels = [*sharing, *value_panels(e, drawing)]
    values = values_data(e, drawing) if e.x is not None else None
    own = {
        "values": values,
        "moments": moments_data(e, drawing),
        "facts": counts(e),
        "editable": editable,
        "scaled": scaled,
    }
    return linked_data("view", drawing, panels, at) | layer_data(e) | own


def values_payload(
    e: Description, drawing: Grid, values: Iterable[PanelValues], *, name: str = "x", at: Index | None = None
) -> dict[str, Any]:
    """A panel for each of ``values``, all of x's shape and linked by the sharing of ``e``; ``name`` is the tensor's name."""
    panels = [value_panel(each, drawing) for each in values]
    named = {"name": name, "layer": e.title if name == "x" else ""}
    return linked_data("values", drawing, panels, at) | layer_data(e) | named


def steps_payload(
    e: Description, drawing: Grid, *, step: int = 0, at: Index | None = None, scaled: bool = False
) -> Payload:
    """The forward pass in steps: the values that each step makes, the formula in tokens, and the loops. ``step`` is shown first."""
    panels, sizes = [], e.norm.axis_sizes(e.shape)
    for each in steps(e):
        links = each.links if e.norm.params is not None else "stats"
        values = PanelValues(each.key, each.title, each.formula, each.values.float().expand(e.shape), links)
        panels.append(value_panel(values, drawing) | {"why": each.why})
    own = {
        "values": values_data(e, drawing),
        "moments": moments_data(e, drawing),
        "groups": sharing_panels(e)[0],
        "formula": [asdict(token) for token in whole_formula(e)],
        "loops": {
            "code": code(e, "loops"),
            "runs": [{"name": name, "size": sizes[name]} for name in e.norm.pattern.reduced],
        },
        "step": max(0, min(step, len(panels) - 1)),
        "scaled": scaled,
    }
    return linked_data("steps", drawing, panels, at) | layer_data(e) | own


def compare_payload(
    descriptions: Sequence[Description], drawing: Grid, *, at: Index | None = None, cards: str = CARDS[0]
) -> dict[str, Any]:
    """The statistics, the parameters and the cube of each layer, all on one tensor. ``cards``, one of CARDS, says which of them are shown first."""
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
    return linked_data("compare", drawing, panels, at) | {"sharings": sharings, "layers": layers, "cards": cards}


def _parameters_title(e: Description) -> str:
    """The layer and its parameters. The title names the layer because a narrow page shows the panels below each other."""
    if e.norm.params is None:
        return _("{layer}: no gamma, no beta", layer=e.title)
    return _("{layer}: gamma and beta", layer=e.title) if e.norm.bias else _("{layer}: gamma", layer=e.title)


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


# The panels.


def sharing_panels(e: Description) -> list[Panel]:
    """Which elements share a mean and a variance; which share a gamma and a beta."""
    has_parameters = e.norm.params is not None
    kinds = (
        ("stats", e.counts.statistics, "groups", "stats", e.norm.stats.replace("->", "→")),
        ("params", prod(e.counts.gamma_shape or ()), "parameters", "params", " ".join(e.norm.gamma_axes))
        if has_parameters
        else ("params", 1, "none", "", ""),
    )
    texts = (
        (sentences.statistics_title(e), sentences.statistics_caption(e)),
        (sentences.parameters_title(e), sentences.parameters_caption(e)),
    )
    return [
        _panel(
            key=key,
            title=title,
            pattern=pattern,
            caption=caption,
            low=-0.5,
            high=groups - 0.5,
            groups=groups,
            scale=scale,
            links=links,
        )
        for (key, groups, scale, links, pattern), (title, caption) in zip(kinds, texts, strict=True)
    ]


def value_panels(e: Description, drawing: Grid) -> list[Panel]:
    """x, normalized and output; no panels if only the shape is known."""
    if e.x is None:
        return []
    trace = e.trace
    above = "(x − mean)" if e.norm.center or e.norm.running else "x"
    below = "var" if e.norm.center or e.norm.running else _("mean of x²")
    steps = (
        PanelValues("x", "x", _("the input"), e.x),
        PanelValues("normalized", _("normalized"), f"{above} / √({below} + eps)", trace.normalized),
        PanelValues(
            "output",
            _("output"),
            sentences.scaling(e) if e.norm.params is not None else _("as normalized"),
            trace.output,
        ),
    )
    return [value_panel(each, drawing) for each in steps]


def value_panel(given: PanelValues, drawing: Grid) -> Panel:
    """The values, colored from blue below zero to brown above."""
    drawn = as_array(drawing.take(given.values))
    finite = np.abs(drawn[np.isfinite(drawn)])
    most = given.most or (float(finite.max()) if finite.size and finite.max() > 0 else 1.0)
    return _panel(
        key=given.key,
        title=given.title,
        caption=given.caption,
        z=drawn,
        low=-most,
        high=most,
        scale="values",
        links=given.links,
    )


def _panel(**values: Any) -> Panel:
    return {"pattern": "", "z": None, "groups": 0} | values


# What all figures have, and what they have of a layer.


def linked_data(kind: str, drawing: Grid, panels: Sequence[Panel], at: Index | None) -> dict[str, Any]:
    """The data of a figure of ``kind``: panels that show one tensor; ``at`` is the selected element, or None."""
    return {
        "kind": kind,
        "axes": list(drawing.axes),
        "grid": drawing,
        "panels": list(panels),
        "values": None,
        "at": None if at is None else list(at),
        "editable": False,
    }


def counts(e: Description) -> list[dict[str, str]]:
    """The numbers of statistics, elements, parameters and buffers, each with its label and a note."""
    found, has_means = e.counts, e.norm.center or e.norm.running
    gamma, beta = found.gamma_shape, found.beta_shape
    parameters, note = format_count(found.parameters), "" if gamma is None else f"gamma {gamma}"
    if gamma is not None and beta is not None:
        parameters, note = (
            f"{format_count(prod(gamma))} + {format_count(prod(beta))} = {parameters}",
            f"{note} + beta {beta}",
        )
    buffers = "running_mean, running_var, num_batches_tracked" if found.buffers else _("no running statistics")
    rows = (
        (_("(mean, variance) pairs") if has_means else _("mean squares"), format_count(found.statistics), ""),
        (_("elements in each group"), format_count(found.elements_per_statistic), ""),
        (_("parameters"), parameters, note),
        (_("buffers"), format_count(found.buffers), buffers),
    )
    return [{"label": label, "value": value, "note": note} for label, value, note in rows]


def layer_data(e: Description) -> dict[str, Any]:
    """The layer, and which elements share its statistics and its parameters."""
    return {"layer": e.title, "stats": statistics_data(e), "params": parameters_data(e)}


def statistics_data(e: Description) -> dict[str, Any]:
    """Which elements share a mean and a variance, and the counts. Raises NormvizError for too many groups."""
    check_groups(e.counts.statistics)
    return {
        "count": e.counts.statistics,
        "size": e.counts.elements_per_statistic,
        "axes": _indices(e, e.norm.pattern.right),
        "center": e.norm.center or e.norm.running,
        "running": e.norm.running,
    }


def parameters_data(e: Description) -> dict[str, Any] | None:
    """Which elements share a gamma and a beta; None for a layer without any. Raises NormvizError for too many groups."""
    if e.norm.params is None:
        return None
    elements = prod(e.counts.gamma_shape or ())
    check_groups(elements)
    return {
        "axes": _indices(e, e.norm.gamma_axes),
        "bias": e.norm.bias,
        "zero_centered_gamma": e.norm.zero_centered_gamma,
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
    return {name: as_array(drawing.take(value)) for name, value in values.items()} | {"eps": trace.eps}


def as_array(tensor: Tensor) -> NDArray[np.float32]:
    """The numbers that the browser gets."""
    array: NDArray[np.float32] = tensor.float().cpu().numpy()
    return array


def moments_data(e: Description, drawing: Grid) -> dict[str, dict[str, Any]] | None:
    """By stage ("x", "centered", "normalized", "output"): mean and variance as they broadcast over the drawn elements; None without values."""
    if e.x is None:
        return None
    return {
        stage: {name: as_array(value) for name, value in vars(each).items()}
        for stage, each in moments(e, drawing.take).items()
    }


# What the browser gets.


PLAIN = (str, int, type(None))


def sent(data: Any) -> Any:
    """The data as JSON: arrays packed, the grid with its layout, infinity as a text and NaN as null."""
    if isinstance(data, PLAIN):  # most of the data
        return data
    if isinstance(data, dict):
        return {name: sent(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [sent(value) for value in data]
    if isinstance(data, np.ndarray):
        return _pack(data)
    if isinstance(data, Grid):
        shown = {name: getattr(data, name) for name in ("shape", "facets", "row", "col", "indices")}
        return sent(shown | {"across": data.layout.across})
    if isinstance(data, float) and not isfinite(data):
        return None if isnan(data) else "Infinity" if data > 0 else "-Infinity"
    return data


def _pack(array: NDArray[np.float32]) -> dict[str, Any]:
    """Its shape, and its numbers as little-endian float32 in base64."""
    little_endian = np.ascontiguousarray(array, dtype="<f4")
    return {"shape": list(little_endian.shape), "data": b64encode(little_endian.tobytes()).decode("ascii")}
