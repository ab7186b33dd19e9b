"""Explore: one layer on one tensor. Which elements share statistics and parameters, how many parameters there are, and the values."""

from collections.abc import Iterator

from normviz.analysis.description import Description
from normviz.analysis.sentences import sentence
from normviz.figures.payload import view_payload
from normviz.lessons.alternatives import views_of_one_layer
from normviz.lessons.page import Page
from normviz.lessons.parts.containers import code_parts
from normviz.lessons.parts.links import Link
from normviz.lessons.parts.part import LayerNote, Note, Panels, Part, Sentence, part_or_note
from normviz.scene.controls import FILE_CHOICES
from normviz.scene.scene import Scene, compact
from normviz.scene.view import View
from normviz.texts.messages import N_, _


def view_parts(view: View) -> Iterator[Part]:
    return parts(view.scene.description, view.scene)


def greeting(view: View) -> tuple[Link, ...]:
    """Until a reader chooses something: a link to Start here, which the browser removes for those who were there."""
    is_chosen = not set(view.scene.query()) <= {"at"}
    return () if is_chosen else (Link(_("New here, or coming from BatchNorm? Start here"), "start"),)


def parts(e: Description, scene: Scene) -> Iterator[Part]:
    """The sentence, the linked panels, and the code. ``e`` is the layer of the scene, on its x or on a shape alone."""
    yield from map(LayerNote, e.notes)
    yield Sentence(sentence(e))
    yield part_or_note(
        lambda: Panels(view_payload(e, scene.grid, at=scene.at, editable=scene.editable), ("select", "edit"))
    )
    if not scene.computable:
        yield Note(_("This tensor is too large to compute values here. The patterns, counts and code still apply."))
    yield from code_parts(e)


PAGE = Page(
    "explore",
    N_("Explore"),
    N_("Which elements of a tensor share a mean and a variance, and which share gamma and beta."),
    view_parts,
    other_views=views_of_one_layer,
    call=lambda view: f'nv.explain("{compact(view.scene.layer)}", x)',
    has_two_panels=True,
    greeting=greeting,
    file_choices=FILE_CHOICES,
)
