"""Explore: one layer on one tensor. Who shares what, how many parameters that makes, and with which numbers."""

from __future__ import annotations

from collections.abc import Iterator

from normviz.analysis.explanation import Explanation
from normviz.analysis.sentences import sentence
from normviz.figures import sharing_panels, value_panels
from normviz.figures.payload.linked import payload
from normviz.lessons.parts.code_tabs import code_parts
from normviz.lessons.parts.part import Note, Panels, Part, Sentence, part_or_note
from normviz.scene.grid import Grid
from normviz.scene.view import View

TOO_LARGE = "This tensor is too large to compute values here. Patterns, counts and code still hold."
At = tuple[int, ...] | None


def view_parts(view: View) -> Iterator[Part]:
    scene = view.scene
    made = parts(scene.explanation, scene.grid, scene.at, editable=scene.editable)
    yield next(made)
    yield next(made)
    if not scene.computable:
        yield Note(TOO_LARGE)
    yield from made


def parts(e: Explanation, drawing: Grid, at: At, *, editable: bool = False) -> Iterator[Part]:
    """The sentence, the linked panels, and the code."""
    yield Sentence(sentence(e))
    yield panels(e, drawing, at, editable=editable)
    yield from code_parts(e)


def panels(e: Explanation, drawing: Grid, at: At, *, editable: bool = False) -> Part:
    """Both sharing panels and the values, linked; a Note where there are more groups than can be numbered."""
    return part_or_note(
        lambda: Panels(
            payload(e, drawing, at=at, editable=editable),
            ("select", "edit"),
            lambda: (*sharing_panels(e, drawing), *(value_panels(e, drawing) if e.x is not None else ())),
            drawing,
        )
    )
