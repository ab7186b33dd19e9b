"""Gradients: move one input and see which outputs move; the closed form, term by term; what is summed into gamma and beta."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from normviz.analysis.explanation import Explanation
from normviz.figures.payload.values import Shown
from normviz.layers.errors import NormvizError
from normviz.lessons.gradients import derivatives
from normviz.lessons.parts.code_tabs import course_pair
from normviz.lessons.parts.part import Caption, Details, Note, Part, Sentence, Text, texts
from normviz.lessons.parts.table import Table
from normviz.lessons.parts.value_panels import grid_part, value_part
from normviz.scene.grid import Grid, grid
from normviz.scene.scene import default_at
from normviz.scene.settings import choice
from normviz.scene.view import View

TITLES = {
    "column": "Move one input",
    "matrix": "The whole Jacobian",
    "parameters": "gamma and beta",
    "backward": "Backward pass",
}
FIELDS = (choice("show", tuple(TITLES)), choice("input", tuple(derivatives.INPUTS)))
CAPTION = "rows are outputs, columns inputs, both numbered row by row; the diagonal is off the colour scale"
FORMULA = "`dx = (dxhat − mean(dxhat) − xhat · mean(dxhat · xhat)) / σ`, with `dxhat = dout · gamma`"
SUMS = "Means run over statistics groups, the sums of dgamma and dbeta over parameter groups. Largest differences from autograd:"


@dataclass(frozen=True)
class Case:
    """What is differentiated: a layer on x, how x is drawn, the element that moves, and the seed of dout."""

    e: Explanation
    drawing: Grid
    at: tuple[int, ...]
    seed: int = 0


def view_parts(view: View) -> Iterator[Part]:
    scene = view.scene
    try:
        e = derivatives.explained(scene.explanation, view.settings["input"])
        at = scene.at or default_at(scene.shape, scene.axes)
        made = parts(Case(e, scene.grid, at, scene.seed), view.settings["show"])
        yield from made
    except NormvizError as error:  # the wish is legal, and this layer or this tensor has no such figure
        yield Note(str(error))


def parts(case: Case, show: str) -> list[Part]:
    """The sentence and the figure of one of ``TITLES``. Raises NormvizError where the layer or the tensor has no such figure."""
    return list(EXPERIMENTS[show](case))


def _column(case: Case) -> Iterator[Part]:
    form, moved = derivatives.columns(case.e, case.at)
    yield Sentence(derivatives.column_sentence(case.e, case.at, form, moved))
    yield value_part(case.e, case.drawing, _shown(derivatives.column_panels(case.e, form)), case.at)
    yield from texts(derivatives.column_lines(case.e, form, moved))
    yield Caption(derivatives.TERMS)


def _matrix(case: Case) -> Iterator[Part]:
    own, found, difference = derivatives.matrix(case.e)
    yield Sentence(derivatives.matrix_sentence(case.e, found, difference))
    yield Caption(derivatives.JACOBIAN)
    drawn = grid(own.shape, own.axes).extent[0]
    caption = f"{CAPTION}; the first {drawn} of {len(found)} are drawn" if drawn < len(found) else CAPTION
    shown = Shown("jacobian", "d output i / d x j", caption, found, "", derivatives.off_diagonal(found))
    yield grid_part(own, shown, "J")


def _parameters(case: Case) -> Iterator[Part]:
    found, panels = derivatives.parameter_panels(case.e, case.at, case.seed)
    yield Sentence(derivatives.parameter_sentence(found))
    yield value_part(case.e, case.drawing, _shown(panels), case.at)


def _backward(case: Case) -> Iterator[Part]:
    yield Sentence(FORMULA)
    yield Text(SUMS, of="table")
    yield Table(derivatives.BACKWARD_COLUMNS, tuple(derivatives.backward_rows(case.e, case.seed)))
    yield Details("As the course CS231n writes it", course_pair())


def _shown(panels: Iterator[derivatives.Panel] | list[derivatives.Panel]) -> list[Shown]:
    return [Shown(*panel) for panel in panels]


EXPERIMENTS: dict[str, Callable[[Case], Iterator[Part]]] = {
    "column": _column,
    "matrix": _matrix,
    "parameters": _parameters,
    "backward": _backward,
}
