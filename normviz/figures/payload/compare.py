"""The data of a comparison: several layers on one tensor, a column a layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from normviz.analysis.explanation import Explanation
from normviz.figures import Cube, Panel, sharing_panels
from normviz.figures.cube import Box
from normviz.figures.payload.linked import frame, grid_of, panel_of, parameters_of, statistics_of
from normviz.scene.grid import Grid


def compare_panels(explanations: Sequence[Explanation], drawing: Grid) -> list[Panel]:
    """For each layer in turn its statistics and its parameters, titled by the layer and what it learns."""
    panels = []
    for number, e in enumerate(explanations):
        stats, params = sharing_panels(e, drawing)
        panels += [_placed(stats, e.title, "stats", number), _placed(params, _learned(e), "params", number)]
    return panels


def compare_cubes(explanations: Sequence[Explanation], drawing: Grid) -> list[Cube]:
    """For each layer the paper's picture of its statistics groups."""
    axes = explanations[0].axes
    box = Box.of(axes, drawing.extent)
    return [Cube(f"cube{i}", e.title, f"stats{i}", box, box.names(axes)) for i, e in enumerate(explanations)]


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
    made, cubes = compare_panels(explanations, drawing), compare_cubes(explanations, drawing)
    for number, (e, cube) in enumerate(zip(explanations, cubes, strict=True)):
        sharings |= {f"stats{number}": statistics_of(e, drawing), f"params{number}": parameters_of(e, drawing)}
        stats, params = made[2 * number : 2 * number + 2]
        panels += [panel_of(stats) | {"row": "stats"}, panel_of(params) | {"row": "params"}, _cube(cube)]
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
    """The layer's name too: where panels stand below each other, nothing else tells whose they are."""
    learned = "no gamma, no beta" if e.norm.params is None else "gamma and beta" if e.norm.bias else "gamma"
    return f"{e.title}: {learned}"


def _placed(panel: Panel, title: str, row: str, number: int) -> Panel:
    return replace(panel, title=title, key=f"{row}{number}", links=f"{row}{number}" if panel.links else "")


def _cube(cube: Cube) -> dict[str, Any]:
    box = asdict(cube.box) | {"drawn": cube.box.drawn, "names": cube.names}
    return {
        "key": cube.key,
        "title": cube.title,
        "row": "cube",
        "scale": "cube",
        "links": cube.links,
        "box": box,
    }
