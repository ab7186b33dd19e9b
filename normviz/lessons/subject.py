"""The subject of a page: a layer on a tensor, and how the tensor is drawn."""

from __future__ import annotations

from dataclasses import dataclass

from normviz.analysis.description import Description
from normviz.scene.grid import Grid
from normviz.scene.scene import Scene

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
