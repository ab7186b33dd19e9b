"""Explore: one layer on one tensor. Which elements share statistics and parameters, how many parameters there are, and the values."""

from __future__ import annotations

from collections.abc import Iterator

from normviz.analysis.explanation import Explanation
from normviz.analysis.sentences import sentence
from normviz.figures.payload.linked import payload
from normviz.layers.messages import _
from normviz.lessons.parts.code_tabs import code_parts
from normviz.lessons.parts.part import Note, Panels, Part, Sentence, part_or_note
from normviz.scene.grid import Grid
from normviz.scene.view import View

At = tuple[int, ...] | None


def view_parts(view: View) -> Iterator[Part]:
    scene = view.scene
    return parts(scene.explanation, scene.grid, scene.at, editable=scene.editable, too_large=not scene.computable)


def parts(e: Explanation, drawing: Grid, at: At, *, editable: bool = False, too_large: bool = False) -> Iterator[Part]:
    """The sentence, the linked panels, and the code."""
    yield Sentence(sentence(e))
    yield panels(e, drawing, at, editable=editable)
    if too_large:
        yield Note(_("This tensor is too large to compute values here. The patterns, counts and code still apply."))
    yield from code_parts(e)


def panels(e: Explanation, drawing: Grid, at: At, *, editable: bool = False) -> Part:
    """Both sharing panels and the values, linked; a Note if there are more groups than can be numbered."""
    return part_or_note(lambda: Panels(payload(e, drawing, at=at, editable=editable), ("select", "edit")))
