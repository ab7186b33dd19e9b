"""The data of the forward pass in steps: the values of each step, the formula in tokens, and the loops."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from normviz.analysis.description import Description
from normviz.analysis.steps import Step, steps, whole_formula
from normviz.code.generate import code
from normviz.figures.payload.linked import layer_data, linked_data, values_data
from normviz.figures.payload.moments import moments_data
from normviz.figures.payload.panels import Panel, PanelValues, sharing_panels, value_panel
from normviz.scene.grid import Grid


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
