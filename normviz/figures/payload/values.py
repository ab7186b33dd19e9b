"""The data of several values of one tensor side by side, linked: two outputs and their difference, a Jacobian's terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from normviz.analysis.explanation import Explanation
from normviz.figures.panels import value_panel
from normviz.figures.payload.linked import frame, grid_of, panel_of, parameters_of, statistics_of
from normviz.scene.grid import Grid

if TYPE_CHECKING:
    from torch import Tensor


class Shown(NamedTuple):
    """One panel: a key, its title and caption, values of x's shape, whose peers it outlines ("stats", "params" or ""), and
    from which size on a value has the full colour (None: the largest)."""

    key: str
    title: str
    caption: str
    values: Tensor
    links: str = "stats"
    most: float | None = None


def values_payload(
    e: Explanation,
    drawing: Grid,
    shown: Sequence[Shown],
    *,
    name: str = "x",
    at: tuple[int, ...] | None = None,
    plotly: str = "",
    theme: str | None = None,
) -> dict[str, Any]:
    """The data of ``shown``, all of x's shape, linked by the sharing of ``e``."""
    return frame("values", plotly, theme) | {
        "name": name,
        "layer": e.title if name == "x" else "",
        "axes": list(e.axes),
        "grid": grid_of(drawing),
        "stats": statistics_of(e, drawing),
        "params": parameters_of(e, drawing),
        "panels": [panel_of(value_panel(drawing=drawing, strips=False, **one._asdict())) for one in shown],
        "values": None,
        "at": None if at is None else list(at),
        "editable": False,
    }
