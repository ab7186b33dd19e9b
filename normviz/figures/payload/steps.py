"""The data of the forward pass in steps: every step's values, the formula in tokens, and the loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from normviz.analysis.explanation import Explanation
from normviz.analysis.steps import steps, whole_formula
from normviz.code.generate import code
from normviz.figures.panels import Panel, value_panel
from normviz.figures.payload.linked import frame, grid_of, panel_of, parameters_of, statistics_of, values_of
from normviz.scene.grid import Grid


def step_panels(e: Explanation, drawing: Grid) -> list[tuple[Panel, str]]:
    """Every step's values, and why it is taken."""
    panels = []
    for one in steps(e):
        links = one.links if e.norm.params is not None else "stats"
        values = one.values.float().expand(e.shape) if one.values.shape != e.shape else one.values
        panels.append((value_panel(one.key, one.title, one.formula, values, links, drawing, strips=False), one.why))
    return panels


def steps_payload(
    e: Explanation,
    drawing: Grid,
    *,
    step: int = 0,
    at: tuple[int, ...] | None = None,
    plotly: str = "",
    theme: str | None = None,
) -> dict[str, Any]:
    """The data of ``e``'s steps; ``step`` is the one that shows first."""
    panels = [panel_of(panel) | {"why": why} for panel, why in step_panels(e, drawing)]
    sizes = e.norm.axis_sizes(e.shape)
    return frame("steps", plotly, theme) | {
        "layer": e.title,
        "axes": list(e.axes),
        "grid": grid_of(drawing),
        "stats": statistics_of(e, drawing),
        "params": parameters_of(e, drawing),
        "panels": panels,
        "values": values_of(e, drawing),
        "formula": [{"text": text, "steps": list(lit)} for text, lit in whole_formula(e)],
        "loops": {
            "code": code(e, "loops"),
            "runs": [{"name": name, "size": sizes[name]} for name in e.norm.pattern.reduced],
        },
        "step": int(np.clip(step, 0, len(panels) - 1)),
        "at": None if at is None else list(at),
        "editable": False,
    }
