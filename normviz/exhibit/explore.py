"""Explore: one layer on one tensor. Who shares what, how many parameters that makes, and with which numbers."""

from __future__ import annotations

from collections.abc import Iterator

from normviz.exhibit.code import code_parts
from normviz.exhibit.parts import Note, Panels, Part, Sentence, refusable
from normviz.explanation import Explanation
from normviz.figures import sharing_panels, value_panels
from normviz.grid import Grid
from normviz.linked.payload import payload
from normviz.view import View
from normviz.wording import sentence

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
    return refusable(
        lambda: Panels(
            payload(e, drawing, at=at, editable=editable),
            ("select", "edit"),
            lambda: (*sharing_panels(e, drawing), *(value_panels(e, drawing) if e.x is not None else ())),
            drawing,
        )
    )
