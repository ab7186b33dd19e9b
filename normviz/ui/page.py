"""What every page is: its controls, what was wrong with the wish, the sentence, and the rest of its parts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

import streamlit as st

from normviz.exhibit import PAGES
from normviz.exhibit.framed import framed, names
from normviz.exhibit.parts import Sentence, Text
from normviz.ui.asking import now_you_can_answer
from normviz.ui.render import show
from normviz.ui.share import share
from normviz.ui.state import current
from normviz.ui.text import notices, problem
from normviz.view import View


def page(name: str, controls: Callable[[View], None], notes: bool = True) -> None:
    """The page; ``notes``: say what is legal on the scene and seldom meant."""
    one = PAGES[name]
    view = current(one.fields)
    whole = list(one.parts(view))
    parts = framed(whole, view.frame)
    leading = list(takewhile(lambda part: isinstance(part, Sentence | Text), parts))
    with st.container():  # one element: what follows stays when a notice comes or goes
        controls(view)
        problem(one.problem(view))
        if notes:
            notices(view)
        show(leading)
    show(parts[len(leading) :])
    now_you_can_answer(name, view)
    share(name, view, one.fields, names(whole))
