"""Several values of one tensor side by side, linked by the sharing of a layer."""

from __future__ import annotations

from collections.abc import Iterable

from normviz.analysis.explanation import Explanation
from normviz.figures.payload.values import Shown, values_payload
from normviz.lessons.parts.part import Panels, Part, part_or_note
from normviz.scene.grid import Grid, grid


def value_part(e: Explanation, drawing: Grid, shown: Iterable[Shown], at: tuple[int, ...] | None) -> Part:
    """The values of x's shape."""
    return part_or_note(lambda: Panels(values_payload(e, drawing, list(shown), at=at), ("select",)))


def grid_part(e: Explanation, shown: Shown, name: str) -> Part:
    """Values of a tensor that is not the scene's, such as a Jacobian; nothing in it is selected."""
    drawing = grid(e.shape, e.axes)
    return part_or_note(lambda: Panels(values_payload(e, drawing, [shown], name=name), ()))
