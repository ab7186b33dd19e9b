"""Several values of one tensor side by side, linked by the sharing of a layer."""

from __future__ import annotations

from collections.abc import Iterable

from normviz.analysis.description import Description
from normviz.figures.payload.panels import PanelValues
from normviz.figures.payload.values import values_payload
from normviz.lessons.parts.part import Panels, Part, part_or_note
from normviz.lessons.subject import Subject
from normviz.scene.grid import Grid


def value_part(subject: Subject, values: Iterable[PanelValues], of_element: bool = False) -> Part:
    """Linked heatmaps of values of x's shape, or a Note with the error.

    of_element  whether the values are those of the selected element: selecting another one needs a server
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
