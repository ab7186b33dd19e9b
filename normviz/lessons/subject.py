"""The subject of a page: a layer on a tensor, and how the tensor is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any

from normviz.analysis.description import Description
from normviz.analysis.examples import example
from normviz.figures.payload import PanelValues, values_payload
from normviz.lessons.parts.part import Panels, Part, part_or_note
from normviz.scene.edits import repair
from normviz.scene.grid import Grid
from normviz.scene.scene import Scene
from normviz.scene.scene_settings import MOST_EDITABLE
from normviz.texts.errors import NormvizError

Index = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Subject:
    """A layer on a tensor.

    e           the layer on x
    drawing     the position of each element in the heatmaps
    at          the selected element, or None
    seed        of random numbers other than x, such as the gradient of the output
    editable    whether the reader can edit values of x
    computable  whether x is small enough to compute with
    """

    e: Description
    drawing: Grid
    at: Index | None
    seed: int = 0
    editable: bool = False
    computable: bool = True


def subject_of(scene: Scene) -> Subject:
    return Subject(scene.description, scene.grid, scene.at, scene.seed, scene.editable, scene.computable)


def scene_of(subject: Subject) -> Scene | None:
    """The layer on the shape, with the values of a small x; None if no link can express it."""
    e = subject.e
    scene: dict[str, Any] = {"shape": e.shape, "layout": e.layout, "layer": e.layer or e.norm, "at": subject.at}
    try:
        if e.x is not None and prod(e.shape) <= MOST_EDITABLE:
            values = tuple(map(float, e.x.flatten().tolist()))
            if values != tuple(example("normal", e.shape, e.axes, 0).flatten().tolist()):
                scene["values"] = values
        reading = repair(**scene)
    except NormvizError:
        return None
    return None if reading.problem else reading.scene


# Several values of one tensor side by side, linked by the sharing of a layer.


def value_part(subject: Subject, values: Iterable[PanelValues], of_element: bool = False) -> Part:
    """Linked heatmaps of values of x's shape, or a Note with the error.

    of_element  whether the values belong to the selected element, so that selecting another one needs a server
    """

    def panels() -> Panels:
        data = values_payload(subject.e, subject.drawing, list(values), at=subject.at)
        return Panels(data | {"ofElement": True} if of_element else data, ("select",))

    return part_or_note(panels)


def matrix_part(e: Description, drawing: Grid, values: PanelValues, name: str) -> Part:
    """A heatmap of another tensor than x, such as a Jacobian, with square cells; its elements cannot be selected."""

    def panels() -> Panels:
        return Panels(values_payload(e, drawing, [values], name=name) | {"square": True}, ())

    return part_or_note(panels)
