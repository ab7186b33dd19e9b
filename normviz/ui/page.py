"""What every page is: its controls, what was wrong with the wish, the sentence, and the rest of its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import takewhile

import streamlit as st

from normviz.lessons.pages import PAGES
from normviz.lessons.parts.part import Panels, Part, Sentence, Text
from normviz.lessons.parts.visible import hideable_names, visible_parts
from normviz.lessons.questions.registry import of_page
from normviz.scene.view import View
from normviz.scene.visibility import Frame
from normviz.ui.controls.questions import now_you_can_answer
from normviz.ui.render import show
from normviz.ui.share.panel import share
from normviz.ui.state import current, latest
from normviz.ui.text import notices, problem


def page(name: str, controls: Callable[[View], None], notes: bool = True) -> None:
    """The page; ``notes``: say what is legal on the scene and seldom meant."""
    one = PAGES[name]
    view = current(one.fields)
    with st.container():
        controls(view)
    whole = list(one.parts(view))
    parts = visible_parts(whole, view.frame)
    near = len(_near(parts)) if _plain(view) else len(parts)
    there = hideable_names(whole) | ({"questions"} if of_page(name) else set())
    _figure(name, notes, there, [parts[:near]])
    if _plain(view):
        show(parts[near:])
        now_you_can_answer(name, view)


@st.fragment
def _figure(name: str, notes: bool, there: set[str], made: list[list[Part]]) -> None:
    """What the selected element decides: the texts above the figure, the figure, and Share. A click on an element runs this alone.

    there   the names of what the page shows beside its controls
    made    the parts, in a run of the page; empty in a run of the fragment's own
    """
    one = PAGES[name]
    view = latest(one.fields)
    plain = _plain(view)
    parts = made.pop() if made else _near(one.parts(view)) if plain else visible_parts(one.parts(view), view.frame)
    leading = list(takewhile(lambda part: isinstance(part, Sentence | Text), parts))
    with st.container():  # the first is one element: what follows stays when a notice comes or goes
        with st.container():
            problem(one.problem(view))
            if notes:
                notices(view)
        show(leading)
    show(parts[len(leading) :])
    if not plain:
        now_you_can_answer(name, view)
    share(name, view, one.fields, there)


def _plain(view: View) -> bool:
    """Is the page shown whole? Then what stands below the figure is no affair of a click."""
    return not st.context.is_embedded and view.frame == Frame()


def _near(parts: Iterable[Part]) -> list[Part]:
    """The parts up to the first linked view; all where there is none. What follows is not even made."""
    found = []
    for part in parts:
        found.append(part)
        if isinstance(part, Panels):
            break
    return found
