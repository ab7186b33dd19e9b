"""What runs again after a change of a control: the fragments that the change affects, instead of the whole script.

Controls that have not changed are not sent again: sending them is most of the work of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from normviz.lessons.page.controls import MORE, InputRow, input_rows
from normviz.scene.controls.control import Input
from normviz.ui.state import ADDRESS, current_view, is_changed, remember_sent

CONTROLS, MORE_CONTROLS, PARTS, MORE_PARTS = "controls", "more_controls", "parts", "more_parts"  # keys of fragments
DRAWN = "normviz.drawn"
UNSEEN = {"value": None, "edit": None}  # fields of an input that do not change how it looks


@dataclass(frozen=True)
class Drawn:
    """The controls that the browser shows.

    page    their page
    script  Streamlit's name for it
    look    a hash of everything that the server has sent about them, except their values
    """

    page: str
    script: str
    look: int


def remember_controls(page: str, rows: Sequence[InputRow]) -> None:
    """Call when the controls of the page have been drawn."""
    st.session_state[DRAWN] = Drawn(page, _script(), _look(rows))


def forget_controls() -> None:
    """Call before the controls are drawn. Until all of them are drawn, the browser may still show old ones."""
    st.session_state.pop(DRAWN, None)


def redraw() -> None:
    """Call last in a callback: run what its change affects."""
    if not is_changed():
        return
    drawn: Drawn | None = st.session_state.get(DRAWN)
    if drawn is None or not _is_shown(drawn):
        st.rerun()
    rows = input_rows(drawn.page, current_view())
    inputs = [one for row in rows for one in row.all_inputs]
    if drawn.look != _look(rows) or not all(map(_shows_its_value, inputs)):
        st.rerun([CONTROLS, PARTS, MORE_PARTS])
    remember_sent({one.key: one.value for one in inputs})
    opened = [MORE_CONTROLS] if st.session_state.get(MORE) else []  # the message with this change may have opened it
    st.rerun([*opened, PARTS, MORE_PARTS])


def _is_shown(drawn: Drawn) -> bool:
    """Whether the browser shows the page that was drawn last, at the address that this session has read or written last.

    Otherwise the browser has sent another page or address together with the change, or does not know its address yet.
    """
    return (
        st.context.url is not None
        and drawn.script == _script()
        and st.session_state.get(ADDRESS) == st.query_params.to_dict()
    )


def _script() -> str:
    context = get_script_run_ctx()
    return context.page_script_hash if context else ""


def _look(rows: Sequence[InputRow]) -> int:
    return hash(repr([(row.key, row.gap, row.reset, [vars(one) | UNSEEN for one in row.all_inputs]) for row in rows]))


def _shows_its_value(shown: Input) -> bool:
    """Whether the control shows the value of the view. A control behind More that has never been drawn has no value."""
    return shown.key not in st.session_state or st.session_state[shown.key] == shown.value
