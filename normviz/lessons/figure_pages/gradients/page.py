"""Gradients: move one input and see which outputs move; the closed form term by term; the sums in the gradients of gamma and beta."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from normviz.figures.payload.panels import PanelValues
from normviz.layers.errors import NormvizError
from normviz.layers.messages import _, ngettext
from normviz.lessons.figure_pages.gradients import derivatives, from_dout
from normviz.lessons.figure_pages.value_panels import matrix_part, value_part
from normviz.lessons.parts.code_tabs import course_pair
from normviz.lessons.parts.containers import Details
from normviz.lessons.parts.part import Caption, Note, Part, Sentence, Text, layer_notes, texts
from normviz.lessons.subject import Index, Subject, subject_of
from normviz.scene.grid import pixels
from normviz.scene.scene import default_at
from normviz.scene.view import View


def view_parts(view: View) -> list[Part]:
    try:
        return [*layer_notes(view.scene.shape_description.notes), *parts(subject_of(view.scene), view.settings)]
    except NormvizError as error:  # this layer or this tensor has no such figure
        return [Note(str(error))]


def parts(subject: Subject, settings: Mapping[str, Any]) -> list[Part]:
    """The sentence and the figure of ``settings["show"]``.

    Raises NormvizError if the layer or the tensor has no such figure.
    """
    e = derivatives.on_input(subject.e, settings["input"])
    at = subject.at or default_at(e.shape, e.axes)
    return list(EXPERIMENTS[settings["show"]](replace(subject, e=e, at=at), at))


def _column(subject: Subject, at: Index) -> Iterator[Part]:
    e = subject.e
    form, moved = derivatives.column(e, at)
    yield Sentence(derivatives.column_sentence(e, at, form))
    yield value_part(subject, derivatives.column_panels(form), of_element=True)
    yield from texts(derivatives.column_texts(e, form, moved))
    yield Caption(derivatives.symbols(e))


def _matrix(subject: Subject, at: Index) -> Iterator[Part]:
    matrix = derivatives.matrix(subject.e)
    count = len(matrix.values)
    yield Sentence(derivatives.matrix_sentence(matrix))
    drawing = pixels((count, count), matrix.e.axes)
    drawn = drawing.extent[0]
    captions = [
        _("the diagonal is off the color scale"),
        *(
            [
                ngettext(
                    "the first of {count} is drawn",
                    "the first {n} of {count} are drawn",
                    drawn,
                    count=count,
                )
            ]
            if drawn < count
            else []
        ),
    ]
    values = PanelValues(
        "jacobian", _("d output i / d x j"), "; ".join(captions), matrix.values, "", matrix.off_diagonal
    )
    yield matrix_part(matrix.e, drawing, values, "J")
    yield Text(derivatives.jacobian_reading())
    yield Caption(derivatives.jacobian_caption())


def _parameters(subject: Subject, at: Index) -> Iterator[Part]:
    found, panels = from_dout.parameter_panels(subject.e, at, subject.seed)
    yield Sentence(from_dout.parameter_sentence(found))
    yield value_part(subject, panels, of_element=True)


def _backward(subject: Subject, at: Index) -> Iterator[Part]:
    found = from_dout.backward_pass(subject.e, subject.seed)
    yield Sentence(from_dout.backward_sentence(found, at))
    yield value_part(subject, from_dout.backward_panels(found), of_element=True)
    yield from texts(from_dout.backward_texts(subject.e, found))
    yield Details(_("As the course CS231n writes it"), course_pair())


EXPERIMENTS: dict[str, Callable[[Subject, Index], Iterator[Part]]] = {
    "column": _column,
    "matrix": _matrix,
    "parameters": _parameters,
    "backward": _backward,
}
