"""Every page: its controls as Streamlit widgets, and everything below them as one component."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from normviz.lessons.page.pages import PAGES, Page, page, parts_up_to_the_figure, up_to_the_figure
from normviz.scene.visibility import Display
from normviz.ui.component import show_more, show_page
from normviz.ui.controls.rows import draw_controls
from normviz.ui.state import current, latest


def show(name: str) -> None:
    """The page of the address.

    The component is mounted twice if nothing is hidden: a click on an element changes only what is above the second one.
    """
    shown = page(name, current(PAGES[name].settings))
    draw_controls(shown)
    whole = not _is_complete(shown)
    first = shown.parts if whole else up_to_the_figure(shown.parts)
    _first([replace(shown, parts=first)], name, shown.hideable, whole)
    if not whole:
        show_more(shown, shown.parts[len(first) :])


@st.fragment
def _first(given: list[Page], name: str, hideable: frozenset[str], whole: bool) -> None:
    """The page up to the figure, and Share. When an element is selected, only this runs.

    given  the page that the run has made. The list is emptied, to save memory; a run of the fragment alone makes it again.
    """
    view = latest(PAGES[name].settings)
    if given:
        shown = given.pop()
    elif whole:
        shown = page(name, view)
    else:
        shown = Page(name, view, (), parts_up_to_the_figure(name, view), hideable)
    show_page(shown)


def _is_complete(shown: Page) -> bool:
    """Whether nothing is hidden and the page is not embedded. Then the parts below the figure do not depend on the selected element."""
    return not st.context.is_embedded and shown.view.display == Display()
