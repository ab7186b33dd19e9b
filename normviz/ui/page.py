"""Every page: its controls, messages, the parts of its view, Share, and the questions that the view answers."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

import streamlit as st

from normviz.lessons.pages import PAGES, up_to_the_figure
from normviz.lessons.parts.part import Part, Sentence, Text
from normviz.lessons.parts.visible import hideable_names, visible_parts
from normviz.lessons.questions.registry import questions_of_page
from normviz.scene.view import View
from normviz.scene.visibility import Display
from normviz.ui.controls.questions import now_you_can_answer
from normviz.ui.controls.rows import draw_controls
from normviz.ui.render import show
from normviz.ui.share.panel import share
from normviz.ui.state import current, latest
from normviz.ui.text import show_notes, show_problem


def page(name: str, notes: bool = True) -> None:
    """The page. ``notes``: show the notes about layers that are legal but rarely intended."""
    described = PAGES[name]
    view = current(described.settings)
    with st.container():
        draw_controls(name, view)
    parts = list(described.parts(view))
    names = hideable_names(parts) | ({"questions"} if questions_of_page(name) else set())
    visible = visible_parts(parts, view.display)
    first = up_to_the_figure(visible) if _is_complete(view) else visible
    rest = visible[len(first) :]
    _figure(name, notes, names, first)
    if _is_complete(view):
        show(rest)
        now_you_can_answer(name, view)


@st.fragment
def _figure(name: str, notes: bool, names: set[str], first: list[Part]) -> None:
    """The texts above the figure, the figure, and Share. When an element is selected, only this runs.

    names  the names that ``hide=`` accepts for the parts of the page
    first  the parts that the run of the page has made. The list is emptied, to save memory; a run of the fragment alone makes them again.
    """
    described = PAGES[name]
    view = latest(described.settings)
    parts = list(first) or _parts(described.parts(view), view)
    first.clear()
    leading = list(takewhile(lambda part: isinstance(part, Sentence | Text), parts))
    with st.container():  # one element, so that what follows keeps its place when a message comes or goes
        with st.container():
            show_problem(described.problem(view))
            if notes:
                show_notes(view)
        show(leading)
    show(parts[len(leading) :])
    if not _is_complete(view):
        now_you_can_answer(name, view)
    share(name, view, described.settings, names)


def _parts(parts: Iterable[Part], view: View) -> list[Part]:
    return up_to_the_figure(parts) if _is_complete(view) else visible_parts(parts, view.display)


def _is_complete(view: View) -> bool:
    """Whether nothing is hidden and the page is not embedded. Then the parts below the figure do not depend on the selected element."""
    return not st.context.is_embedded and view.display == Display()
