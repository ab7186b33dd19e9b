"""The data of several values of one tensor side by side: two outputs and their difference, the terms of a Jacobian."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from normviz.analysis.description import Description
from normviz.figures.payload.linked import layer_data, linked_data
from normviz.figures.payload.panels import PanelValues, value_panel
from normviz.scene.grid import Grid


def values_payload(
    e: Description, drawing: Grid, values: Iterable[PanelValues], *, name: str = "x", at: tuple[int, ...] | None = None
) -> dict[str, Any]:
    """A panel for each of ``values``, all of x's shape and linked by the sharing of ``e``; ``name`` is the tensor's name."""
    panels = [value_panel(each, drawing) for each in values]
    named = {"name": name, "layer": e.title if name == "x" else ""}
    return linked_data("values", drawing, panels, at) | layer_data(e) | named
