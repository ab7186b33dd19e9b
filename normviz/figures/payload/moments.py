"""The mean and the variance of each group at the stages of the forward pass, for the distribution of the selected group."""

from __future__ import annotations

from typing import Any

from normviz.analysis.description import Description
from normviz.analysis.moments import moments
from normviz.figures.payload.linked import as_array
from normviz.figures.payload.panels import pack
from normviz.scene.grid import Grid


def moments_data(e: Description, drawing: Grid) -> dict[str, dict[str, Any]] | None:
    """By stage ("x", "centered", "normalized", "output"): mean and variance as they broadcast over the drawn elements; None without values."""
    if e.x is None:
        return None
    return {
        stage: {name: pack(drawing.take(as_array(value))) for name, value in vars(each).items()}
        for stage, each in moments(e).items()
    }
