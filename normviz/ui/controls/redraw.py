"""What runs again after a change of a control: the fragments that the change affects, instead of the whole script.

Controls that have not changed are not sent again: sending them is most of the work of a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from normviz.lessons.page import Page
from normviz.lessons.rows import MORE, InputRow
from normviz.scene.control import Input
from normviz.scene.view import View
from normviz.ui.state import ADDRESS, current_view, is_changed, remember_sent

MORE_CONTROLS, PARTS, MORE_PARTS = "more_controls", "parts", "more_parts"  # keys of fragments
DRAWN, ROWS = "normviz.drawn", "normviz.rows"
UNSEEN = {"value": None, "edit": None}  # fields of an input that do not change how it looks


@dataclass(frozen=True)
class Drawn:
    """The controls that the browser shows.

    page    their page
    script  Streamlit's name for it
    frame   the keys of the rows, and what each row contains, as text
    looks   for each fragment of controls, a hash of everything that the server has sent about them, except their values;
            no entry if the browser may still show old ones
    """

    page: Page
    script: str
    frame: str
    looks: dict[str, int] = field(default_factory=dict)


def group_key(row: int, group: int) -> str:
    """The key of the fragment of a group of controls."""
    return f"controls_{row}_{group}"


def rows_of(page: Page, view: View) -> Sequence[InputRow]:
    """The rows of inputs of a view; computed once for a change."""
    known = st.session_state.get(ROWS)
    if known is None or known[:2] != (page, view):
        known = st.session_state[ROWS] = (page, view, page.input_rows(view))
    rows: Sequence[InputRow] = known[2]
    return rows


def forget_rows() -> None:
    """Call when the page has been drawn, to save memory."""
    st.session_state.pop(ROWS, None)


def begin_run() -> None:
    """Call before a run of the script changes the view. Until the page is drawn, the browser may show the controls of another view or page."""
    st.session_state.pop(DRAWN, None)


def remember_page(page: Page, rows: Sequence[InputRow]) -> None:
    """Call when the page has been drawn."""
    looks = {key: _look(inputs) for key, inputs in _fragments(rows).items()}
    st.session_state[DRAWN] = Drawn(page, script_name(), _frame(rows), looks)


def forget_look(key: str) -> None:
    """Call before the controls of a fragment are drawn."""
    if DRAWN in st.session_state:
        st.session_state[DRAWN].looks.pop(key, None)


def remember_look(key: str, inputs: Iterable[Input]) -> None:
    """Call when the controls of a fragment have been drawn."""
    if DRAWN in st.session_state:
        st.session_state[DRAWN].looks[key] = _look(inputs)


def redraw() -> None:
    """Call last in a callback: run what its change affects."""
    if not is_changed():
        return
    drawn: Drawn | None = st.session_state.get(DRAWN)
    if drawn is None or not _is_shown(drawn):
        st.rerun()
    rows = rows_of(drawn.page, current_view(drawn.page))
    if drawn.frame != _frame(rows):
        st.rerun()
    changed = []
    for key, inputs in _fragments(rows).items():
        if drawn.looks.get(key) == _look(inputs) and all(map(_shows_its_value, inputs)):
            remember_sent({one.key: one.value for one in inputs})
        else:
            changed.append(key)
    st.rerun([PARTS, *changed, MORE_PARTS])


def _is_shown(drawn: Drawn) -> bool:
    """Whether the browser shows the page that was drawn last, at the address that this session has read or written last.

    Otherwise the browser has sent another page or address together with the change, or does not know its address yet.
    """
    return (
        st.context.url is not None
        and drawn.script == script_name()
        and st.session_state.get(ADDRESS) == st.query_params.to_dict()
    )


def script_name() -> str:
    """Streamlit's name for the page of the address."""
    context = get_script_run_ctx()
    return context.page_script_hash if context else ""


def _fragments(rows: Sequence[InputRow]) -> dict[str, Sequence[Input]]:
    """The inputs that each fragment shows. Those behind More exist only while it is open."""
    found: dict[str, Sequence[Input]] = {
        group_key(number, place): group for number, row in enumerate(rows) for place, group in enumerate(row.groups)
    }
    behind = [one for row in rows for column in row.more for one in column]
    return found | ({MORE_CONTROLS: behind} if behind and st.session_state.get(MORE) else {})


def _frame(rows: Sequence[InputRow]) -> str:
    return repr([(row.key, row.gap, len(row.groups), any(row.more), row.reset) for row in rows])


def _look(inputs: Iterable[Input]) -> int:
    return hash(repr([vars(one) | UNSEEN for one in inputs]))


def _shows_its_value(shown: Input) -> bool:
    """Whether the control shows the value of the view. A control behind More that has never been drawn has no value."""
    return shown.key not in st.session_state or st.session_state[shown.key] == shown.value
