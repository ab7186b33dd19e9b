"""The controls above a page: rows, the popover More, and "Back to the start"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager

import streamlit as st

from normviz.layers.layer import Layer
from normviz.layers.messages import _
from normviz.lessons.page.controls import MORE, InputRow, Spacing, input_rows
from normviz.scene.controls.control import Input
from normviz.scene.controls.scene_controls import EPS, MODE
from normviz.ui.controls.widgets import draw
from normviz.ui.redraw import CONTROLS, MORE_CONTROLS, forget_controls, redraw, remember_controls
from normviz.ui.state import current_view, reset


@st.fragment(key=CONTROLS)
def draw_controls(page: str, given: list[Sequence[InputRow]]) -> None:
    """The controls of the page. Each shows the view's value, and its callback changes the view.

    given  the rows that the run has made. The list is emptied, to save memory; a run of the fragment alone makes them again.
    """
    alone = not given
    rows = input_rows(page, current_view()) if alone else given.pop()
    forget_controls()
    for row in rows:
        _draw_row(row, page)
    if alone:
        remember_controls(page, rows)


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
                st.button(label, icon=":material/restart_alt:", key="reset", help=label, on_click=_reset)


def _side_by_side(key: str, gap: Spacing) -> AbstractContextManager[object]:
    aligned = key in ("controls", "choices", "experiment")
    return st.container(horizontal=True, vertical_alignment="bottom" if aligned else "top", gap=gap, key=key)


def _draw(inputs: Iterable[Input]) -> None:
    for shown in inputs:
        draw(shown)


def _reset() -> None:
    reset()
    redraw()


@st.fragment(key=MORE_CONTROLS)
def _more(page: str, key: str) -> None:
    """The popover of a row, with a column of controls for x and one for the layer.

    Its controls exist only while it is open. Opening or closing it reruns only this fragment: this is not taken for a change,
    and does not undo a change that has not reached the server yet.
    """
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
