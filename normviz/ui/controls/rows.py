"""The controls above a page: rows, the popover More, and "Back to the start"."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import streamlit as st

from normviz.lessons.page import Page
from normviz.lessons.rows import MORE, InputRow, Spacing
from normviz.scene.control import Input
from normviz.texts.messages import _
from normviz.ui.controls.redraw import MORE_CONTROLS, forget_look, group_key, redraw, remember_look, rows_of
from normviz.ui.controls.widgets import draw
from normviz.ui.language import localized
from normviz.ui.state import change, current_view


def draw_controls(page: Page, rows: Sequence[InputRow]) -> None:
    """The controls of the page. Each shows the view's value, and its callback changes the view."""
    for number, row in enumerate(rows):
        with _side_by_side(row.key, row.gap) if row.key else nullcontext():
            for place, inputs in enumerate(row.groups):
                key = group_key(number, place)
                st.fragment(_draw_group, key=key)(page, key, number, place, [inputs])
            if row.more:
                _more(page, number)  # always in the same place among the groups: the browser finds it by its place
            if row.reset:
                _draw_reset(page)


@localized
def _draw_group(page: Page, key: str, row: int, place: int, given: list[Sequence[Input]]) -> None:
    """A group of controls.

    given  the inputs that the run of the page has made. The list is emptied, to save memory; a run of the fragment alone makes them again.
    """
    inputs = given.pop() if given else rows_of(page, current_view(page))[row].groups[place]
    forget_look(key)
    for shown in inputs:
        draw(page, shown)
    remember_look(key, inputs)


def _side_by_side(key: str, gap: Spacing) -> AbstractContextManager[object]:
    aligned = key in ("controls", "experiment")
    return st.container(horizontal=True, vertical_alignment="bottom" if aligned else "top", gap=gap, key=key)


@st.fragment
@localized
def _draw_reset(page: Page) -> None:
    """In a fragment, because the browser is not told about the run of its callback then."""
    label = _("Back to the start")
    st.button(label, icon=":material/restart_alt:", key="reset", help=label, on_click=_reset, args=(page,))


@localized
def _reset(page: Page) -> None:
    change({"name": "reset"}, page)
    redraw()


@st.fragment(key=MORE_CONTROLS)
@localized
def _more(page: Page, row: int) -> None:
    """The popover of a row, with a column of controls for x and one for the layer.

    Its controls exist only while it is open. Opening or closing it reruns only this fragment: this is not taken for a change,
    and does not undo a change that has not reached the server yet.
    """
    with (
        st.popover(_("More"), icon=":material/tune:", key=MORE, on_change="rerun") as popover,
        st.container(key="more_body"),
    ):
        if popover.open:
            shown_row = rows_of(page, current_view(page))[row]
            columns = shown_row.more
            forget_look(MORE_CONTROLS)
            for place, inputs in zip(st.columns(len(columns), gap="medium"), columns, strict=True):
                with place:
                    for shown in inputs:
                        draw(page, shown, only_changes=True)  # a control that disappears may report its value once more
                    if shown_row.note and inputs is columns[-1]:
                        st.caption(shown_row.note)
            remember_look(MORE_CONTROLS, [shown for inputs in columns for shown in inputs])
