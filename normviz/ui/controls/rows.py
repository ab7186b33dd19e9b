"""The controls above a page: rows, the popover More, and "Back to the start"."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager

import streamlit as st

from normviz.layers.layer import Layer
from normviz.layers.messages import _
from normviz.lessons.page.controls import MORE, InputRow, Spacing, input_rows
from normviz.lessons.page.pages import Page
from normviz.scene.controls.control import Input
from normviz.scene.controls.scene_controls import EPS, MODE
from normviz.ui.controls.widgets import draw
from normviz.ui.state import current_view, rerun_if_changed, reset


def draw_controls(page: Page) -> None:
    """The controls of the page. Each shows the view's value, and its callback changes the view."""
    with st.container():  # one element, so that what follows keeps its place
        for row in page.rows:
            _draw_row(row, page.name)


def _draw_row(row: InputRow, page: str) -> None:
    if not row.key:
        _draw(row.inputs)
    elif row.inputs or row.reset:
        with _side_by_side(row.key, row.gap):
            if row.more:
                with _side_by_side("choices", row.gap):
                    _draw(row.inputs)
                _more(page, row.key)  # always the second child: the browser finds it by its place
            else:
                _draw(row.inputs)
            if row.reset:
                label = _("Back to the start")
                st.button(label, icon=":material/restart_alt:", key="reset", help=label, on_click=reset)


def _side_by_side(key: str, gap: Spacing) -> AbstractContextManager[object]:
    aligned = key in ("controls", "choices", "experiment")
    return st.container(horizontal=True, vertical_alignment="bottom" if aligned else "top", gap=gap, key=key)


def _draw(inputs: Iterable[Input]) -> None:
    for shown in inputs:
        draw(shown)


@st.fragment
def _more(page: str, key: str) -> None:
    """The popover of a row, with a column of controls for x and one for the layer.

    Its controls exist only while it is open. Opening or closing it reruns only this fragment: this is not taken for a change,
    and does not undo a change that has not reached the server yet.
    """
    rerun_if_changed()
    with (
        st.popover(_("More"), icon=":material/tune:", key=MORE, on_change="rerun") as popover,
        st.container(key="more_body"),
    ):
        if popover.open:
            view = current_view()
            columns = next(row for row in input_rows(page, view) if row.key == key).more
            for place, inputs in zip(st.columns(len(columns), gap="medium"), columns, strict=True):
                with place:
                    for shown in inputs:
                        draw(shown, only_changes=True)  # a control that disappears may report its value once more
                    keys = {shown.key for shown in inputs}
                    if EPS.name in keys and isinstance(view.scene.layer, Layer) and not MODE.inputs(view):
                        st.caption(_("train() and eval() do the same for this layer."))
