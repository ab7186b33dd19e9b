"""Every page: its heading and its controls as Streamlit widgets, and everything below them as one component.

The component is mounted twice: a click on an element changes only what is above the second one. A change of a control runs both, and the
controls only if they change too (``redraw``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from normviz.lessons.pages import PAGES, Page, page, parts_up_to_the_figure, up_to_the_figure
from normviz.lessons.parts.part import Part
from normviz.scene.view import View
from normviz.scene.visibility import Display
from normviz.ui.component import show_more, show_page
from normviz.ui.controls.heading import draw_heading
from normviz.ui.controls.redraw import MORE_PARTS, PARTS, forget_rows, remember_page, rows_of
from normviz.ui.controls.rows import draw_controls
from normviz.ui.language import localized
from normviz.ui.state import CONTROL, current, current_view, is_changed, latest


@dataclass
class Drawing:
    """What the two fragments of a page share.

    hideable  the names that ``hide=`` accepts
    page      the page of this run until both fragments have drawn it; then None, to save memory
    """

    name: str
    hideable: frozenset[str] = frozenset()
    page: Page | None = None

    def make(self, view: View) -> Page:
        """The page of this view."""
        self.page = page(self.name, view, rows_of(self.name, view))
        self.hideable = self.page.hideable
        return self.page


def show(name: str) -> None:
    """The page of the address."""
    drawing = Drawing(name)
    made = drawing.make(current(PAGES[name]))
    draw_heading(name, made.view)
    draw_controls(name, made.rows)
    _first(drawing)
    _rest(drawing)
    remember_page(name, made.rows)


@st.fragment(key=PARTS)
@localized
def _first(drawing: Drawing) -> None:
    """The page up to the figure, and Share. When an element is selected, only this runs."""
    by_control = is_changed(CONTROL)
    view = latest(PAGES[drawing.name])
    if drawing.page is None and not by_control and _is_complete(view):
        show_page(Page(drawing.name, view, (), parts_up_to_the_figure(drawing.name, view), drawing.hideable))
        return
    made = drawing.page if drawing.page and not by_control else drawing.make(view)
    show_page(replace(made, parts=_first_parts(made)))


@st.fragment(key=MORE_PARTS)
@localized
def _rest(drawing: Drawing) -> None:
    """The parts below the figure, and the end of the page."""
    made = drawing.page or drawing.make(current_view(PAGES[drawing.name]))
    drawing.page = None
    forget_rows()
    parts = made.parts[len(_first_parts(made)) :]
    if parts or not st.context.is_embedded:
        show_more(made, parts)


def _first_parts(made: Page) -> Sequence[Part]:
    return up_to_the_figure(made.parts) if _is_complete(made.view) else made.parts


def _is_complete(view: View) -> bool:
    """Whether nothing is hidden and the page is not embedded. Then the parts below the figure do not depend on the selected element."""
    return not st.context.is_embedded and view.display == Display()
