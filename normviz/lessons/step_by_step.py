"""Step by step: the forward pass from x to output, one step at a time, with the numbers of one element."""

from __future__ import annotations

from collections.abc import Iterator

from normviz.analysis.explanation import Explanation
from normviz.analysis.sentences import sentence
from normviz.figures.payload.steps import step_panels, steps_payload
from normviz.lessons.explore import At
from normviz.lessons.parts.code_tabs import course_pair
from normviz.lessons.parts.part import Details, Note, Panels, Part, Sentence, part_or_note
from normviz.scene.grid import Grid
from normviz.scene.settings import whole
from normviz.scene.view import View

LAST_STEP = 6  # no layer has more than seven
FIELDS = (whole("step", 0, LAST_STEP, 1),)
TOO_LARGE = "This tensor is too large to compute values here; make it smaller to see the steps."
COURSE = "As CS231n writes it: layernorm_forward(x, gamma, beta, ln_param) -> out, cache"


def view_parts(view: View) -> Iterator[Part]:
    scene = view.scene
    if scene.computable:
        yield from parts(scene.explanation, scene.grid, scene.at, view.settings["step"])
    else:
        yield Sentence(sentence(scene.sharing))
        yield Note(TOO_LARGE)
        yield Details(COURSE, course_pair())


def parts(e: Explanation, drawing: Grid, at: At, step: int = 1) -> Iterator[Part]:
    """The sentence, the steps - ``step`` shows first - and the code of a course that takes the same ones."""
    yield Sentence(sentence(e))
    yield part_or_note(
        lambda: Panels(
            steps_payload(e, drawing, step=step, at=at),
            ("select", "step"),
            lambda: [panel for panel, _ in step_panels(e, drawing)],
            drawing,
        )
    )
    yield Details(COURSE, course_pair())
