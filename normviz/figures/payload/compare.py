"""The data of a comparison: several layers on one tensor, a column for each layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from normviz.analysis.explanation import Explanation
from normviz.figures.panels import sharing_panels
from normviz.figures.payload.cube import box
from normviz.figures.payload.linked import frame, grid_of, panel_of, parameters_of, statistics_of
from normviz.layers.messages import _
from normviz.scene.grid import Grid


def compare_payload(
    explanations: Sequence[Explanation],
    drawing: Grid,
    *,
    at: tuple[int, ...] | None = None,
    plotly: str = "",
    theme: str | None = None,
) -> dict[str, Any]:
    """The data of ``explanations``, all on one tensor: for each its statistics, its parameters and its cube."""
    sharings: dict[str, Any] = {}
    panels: list[dict[str, Any]] = []
    bricks = box(explanations[0].axes, drawing.extent)
    for number, e in enumerate(explanations):
        stats, params, cube = f"stats{number}", f"params{number}", f"cube{number}"
        sharings |= {stats: statistics_of(e, drawing), params: parameters_of(e, drawing)}
        statistics, parameters = map(panel_of, sharing_panels(e, drawing))
        panels += [
            statistics | {"key": stats, "links": stats, "title": e.title, "row": "stats"},
            parameters
            | {"key": params, "links": params if parameters["links"] else "", "title": _learned(e), "row": "params"},
            {"key": cube, "links": stats, "title": e.title, "row": "cube", "scale": "cube", "box": bricks},
        ]
    return frame("compare", plotly, theme) | {
        "axes": list(explanations[0].axes),
        "grid": grid_of(drawing),
        "sharings": sharings,
        "layers": [{"name": e.title} for e in explanations],
        "panels": panels,
        "values": None,
        "at": None if at is None else list(at),
        "editable": False,
    }


def _learned(e: Explanation) -> str:
    """The layer and what it learns. The layer is named because on a narrow page the panels are below each other."""
    if e.norm.params is None:
        return _("{layer}: no gamma, no beta", layer=e.title)
    return _("{layer}: gamma and beta", layer=e.title) if e.norm.bias else _("{layer}: gamma", layer=e.title)
