"""Step by step: the forward pass from x to output, one step at a time, with the numbers of one element."""

from __future__ import annotations

from collections.abc import Iterator

from normviz.analysis.explanation import Explanation
from normviz.analysis.sentences import sentence
from normviz.figures.payload.steps import steps_payload
from normviz.layers.messages import _
from normviz.lessons.explore import At
from normviz.lessons.parts.code_tabs import course_pair
from normviz.lessons.parts.part import Details, Note, Panels, Part, Sentence, part_or_note
from normviz.scene.grid import Grid
from normviz.scene.settings import whole
from normviz.scene.view import View

LAST_STEP = 6  # no layer has more than seven
FIELDS = (whole("step", 0, LAST_STEP, 1),)


def view_parts(view: View) -> Iterator[Part]:
    scene = view.scene
    if scene.computable:
        yield from parts(scene.explanation, scene.grid, scene.at, view.settings["step"])
    else:
        yield Sentence(sentence(scene.sharing))
        yield Note(_("This tensor is too large to compute values here; make it smaller to see the steps."))
        yield _course_code()


def parts(e: Explanation, drawing: Grid, at: At, step: int = 1) -> Iterator[Part]:
    """The sentence, the steps starting at ``step``, and the code of a course with the same steps."""
    yield Sentence(sentence(e))
    yield part_or_note(lambda: Panels(steps_payload(e, drawing, step=step, at=at), ("select", "step")))
    yield _course_code()


def _course_code() -> Part:
    title = _("As CS231n writes it: {signature}", signature="layernorm_forward(x, gamma, beta, ln_param) -> out, cache")
    return Details(title, course_pair())
