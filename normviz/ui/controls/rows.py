"""The controls above a page: rows, the popover More, and "Back to the start"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager

import streamlit as st

from normviz.layers.layer import Layer
from normviz.layers.messages import _
from normviz.lessons.controls import Gap, Row, rows
from normviz.scene.controls.control import Control, Input
from normviz.scene.controls.scene_controls import EPS, MODE
from normviz.scene.view import View
from normviz.ui.controls.widgets import draw
from normviz.ui.state import current_view, is_visible, rerun_if_changed, reset

MORE = "more"


def draw_controls(page: str, view: View) -> None:
    """The controls of the page. Each shows the view's value, and its callback changes the view."""
    for row in rows(page, view):
        _draw_row(row, view)


def _draw_row(row: Row, view: View) -> None:
    inputs = _visible_inputs(row.controls, view)
    if not row.key:
        _draw(inputs)
    elif inputs or row.reset:
        with _side_by_side(row.key, row.gap):
            if row.more:
                with _side_by_side("choices", row.gap):
                    _draw(inputs)
                if is_visible(MORE) and _visible_inputs([control for column in row.more for control in column], view):
                    _more(row.more)  # always the second child: the browser finds it by its place
            else:
                _draw(inputs)
            if row.reset and is_visible("reset"):
                label = _("Back to the start")
                st.button(label, icon=":material/restart_alt:", key="reset", help=label, on_click=reset)


def _side_by_side(key: str, gap: Gap) -> AbstractContextManager[object]:
    aligned = key in ("controls", "choices", "experiment")
    return st.container(horizontal=True, vertical_alignment="bottom" if aligned else "top", gap=gap, key=key)


def _visible_inputs(controls: Iterable[Control], view: View) -> list[Input]:
    """The inputs of the controls that apply to the view and are not hidden."""
    return [
        shown
        for control in controls
        if (inputs := control.inputs(view)) and is_visible(control.name)
        for shown in inputs
    ]


def _draw(inputs: Iterable[Input]) -> None:
    for shown in inputs:
        draw(shown)


@st.fragment
def _more(columns: Sequence[Sequence[Control]]) -> None:
    """The popover, with a column of controls for x and one for the layer.

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
            for place, controls in zip(st.columns(len(columns), gap="medium"), columns, strict=True):
                with place:
                    for shown in _visible_inputs(controls, view):
                        draw(shown, only_changes=True)  # a control that disappears may report its value once more
                    if (
                        MODE in controls
                        and isinstance(view.scene.layer, Layer)
                        and not MODE.inputs(view)
                        and is_visible(EPS.name)
                    ):
                        st.caption(_("train() and eval() do the same for this layer."))
