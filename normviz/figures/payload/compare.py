"""The data of a comparison: several layers on one tensor, a column for each layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from normviz.analysis.description import Description
from normviz.figures.payload.cube import box
from normviz.figures.payload.linked import linked_data, parameters_data, statistics_data
from normviz.figures.payload.panels import Panel, sharing_panels
from normviz.layers.messages import _
from normviz.scene.grid import Grid


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
