"""The controls above a page as Streamlit widgets: rows, the popover More, and "Back to the start".

A change of a control runs only the fragments that it affects, and controls that have not changed are not sent again: sending them is
most of the work of a run.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from normviz.lessons.events import entering
from normviz.lessons.page import MORE, InputRow, Page
from normviz.scene.controls import Input
from normviz.scene.setting import Choice, Number, Segments, Several, Slider, TextField, Toggle
from normviz.scene.view import View
from normviz.texts.messages import _
from normviz.ui import state
from normviz.ui.session import Drawn, Session, at_link, in_session

MORE_CONTROLS, PARTS, MORE_PARTS = "more_controls", "parts", "more_parts"  # keys of fragments
UNSEEN = {"value": None, "edit": None}  # fields of an input that do not change how it looks


def rows_of(known: Session, page: Page, view: View) -> Sequence[InputRow]:
    """The rows of inputs of a view; computed once for a change."""
    if known.rows is None or known.rows[:2] != (page, view):
        known.rows = page, view, page.app_rows(view)
    return known.rows[2]


def remember_page(known: Session, page: Page, rows: Sequence[InputRow]) -> None:
    """Call when the page has been drawn."""
    looks = {key: _look(inputs) for key, inputs in _fragments(rows).items()}
    known.drawn = Drawn(page, script_name(), _frame(rows), looks)


def redraw(known: Session) -> None:
    """Call last in a callback: run what its change affects."""
    if not known.changed:
        return
    drawn = known.drawn
    if drawn is None or not _is_shown(known, drawn):
        st.rerun()
    rows = rows_of(known, drawn.page, state.current_view(known, drawn.page))
    if drawn.frame != _frame(rows):
        st.rerun()
    changed = []
    for key, inputs in _fragments(rows).items():
        # A control behind More that has never been drawn has no value.
        shows = all(st.session_state.get(one.key, one.value) == one.value for one in inputs)
        if shows and drawn.looks.get(key) == _look(inputs):
            state.remember_sent(known, {one.key: one.value for one in inputs})
        else:
            changed.append(key)
    st.rerun([PARTS, *changed, MORE_PARTS])


def _is_shown(known: Session, drawn: Drawn) -> bool:
    """Whether the browser shows the page that was drawn last, at the address that this session has read or written last.

    Otherwise the browser has sent another page or address together with the change, or does not know its address yet.
    """
    return st.context.url is not None and drawn.script == script_name() and known.address == st.query_params.to_dict()


def script_name() -> str:
    """Streamlit's name for the page of the address."""
    return getattr(get_script_run_ctx(), "page_script_hash", "")


def _fragments(rows: Sequence[InputRow]) -> dict[str, Sequence[Input]]:
    """The inputs that each fragment shows. Those behind More exist only while it is open."""
    found: dict[str, Sequence[Input]] = {
        f"controls_{number}_{place}": group for number, row in enumerate(rows) for place, group in enumerate(row.groups)
    }
    behind = [one for row in rows for column in row.more for one in column]
    return found | ({MORE_CONTROLS: behind} if behind and st.session_state.get(MORE) else {})


def _frame(rows: Sequence[InputRow]) -> str:
    return repr([(row.key, row.gap, len(row.groups), any(row.more), row.reset) for row in rows])


def _look(inputs: Iterable[Input]) -> int:
    return hash(repr([vars(one) | UNSEEN for one in inputs]))


@contextmanager
def _drawing(known: Session, key: str, inputs: Iterable[Input]) -> Iterator[None]:
    """While the controls of a fragment are being drawn, the browser may show old ones."""
    if known.drawn:
        known.drawn.looks.pop(key, None)
    yield
    if known.drawn:
        known.drawn.looks[key] = _look(inputs)


# Inputs as Streamlit widgets


def draw(known: Session, page: Page, field: Input, only_changes: bool = False) -> None:
    """Draw the input. ``only_changes``: ignore a callback that leaves the view as it is."""
    if isinstance(field.widget, Choice) and field.widget.dynamic_labels:
        state.sync_labels(known, field.key, list(field.widget.options.values()), field.value)
    callback = {"on_change": _apply, "args": (page, field, only_changes, known.name, script_name())}
    options = {"key": state.sync_widget(known, field.key, field.value), "help": field.help} | callback
    _widget(field, options if field.width is None else options | {"width": field.width})


@at_link
def _apply(known: Session, page: Page, field: Input, only_changes: bool, name: str | None, script: str) -> None:
    """The callback of an input, drawn on the page that the session and Streamlit call ``name`` and ``script``."""
    if script == script_name():
        state.come_back(known, name, page)
    state.note_message(known)
    if state.is_late(known, field.key):
        return
    keys = field.together
    value = tuple(state.widget_value(known, key) for key in keys) if keys else state.widget_value(known, field.key)
    state.change(known, entering(field, value), page, only_changes=only_changes)
    redraw(known)


def _widget(field: Input, options: dict[str, Any]) -> None:
    """The input as a widget of its kind.

    The value is also the default: a browser that redraws a widget starts with the default, and would report a different value as the
    reader's choice.
    """
    label, value = field.label, field.value
    match field.widget:
        case Number(low, high):
            st.number_input(label, min_value=low, max_value=high, value=value, step=1, **options)
        case TextField(most, placeholder):
            st.text_input(label, value, max_chars=most, placeholder=placeholder or None, **options)
        case Choice(labels, accept_new):
            options |= {"format_func": lambda key: labels.get(key, key)}  # a typed option is its own label
            st.selectbox(label, list(labels), list(labels).index(value), accept_new_options=accept_new, **options)
        case Segments(labels):
            options |= {"format_func": labels.__getitem__, "required": True, "wrap": True}
            st.segmented_control(label, list(labels), default=value, **options)
        case Several(known, most):
            # Enter adds what is typed: with another filter, or with "Select 4 matches", it would add options that only resemble it.
            options |= {"accept_new_options": True, "filter_mode": "prefix", "select_all": False}
            st.multiselect(label, known, value, max_selections=most, **options)
        case Slider(labels):
            st.select_slider(label, list(labels), value, format_func=labels.__getitem__, **options)
        case Toggle():
            st.toggle(label, value=value, disabled=field.disabled, **options)


# Rows, the popover More, and "Back to the start"


def draw_controls(page: Page, rows: Sequence[InputRow]) -> None:
    """The controls of the page. Each shows the view's value, and its callback changes the view."""
    for number, row in enumerate(rows):
        beside = partial(st.container, horizontal=True, vertical_alignment="bottom", gap=row.gap, key=row.key)
        with beside() if row.key else nullcontext():
            for place, inputs in enumerate(row.groups):
                key = f"controls_{number}_{place}"
                st.fragment(_draw_group, key=key)(page, key, number, place, [inputs])
            if row.more:
                _more(page, number)  # always in the same place among the groups: the browser finds it by its place
            if row.reset and not row.more:
                _draw_reset(page)


@in_session
def _draw_group(known: Session, page: Page, key: str, row: int, place: int, given: list[Sequence[Input]]) -> None:
    """A group of controls.

    given  the inputs that the run of the page has made. The list is emptied, to save memory; a run of the fragment alone makes them again.
    """
    inputs = given.pop() if given else rows_of(known, page, state.current_view(known, page))[row].groups[place]
    with _drawing(known, key, inputs):
        for field in inputs:
            draw(known, page, field)


@st.fragment
@in_session
def _draw_reset(_known: Session, page: Page) -> None:
    """In a fragment, because the browser is not told about the run of its callback then."""
    _reset_button(page)


def _reset_button(page: Page) -> None:
    label = _("Back to the start")
    st.button(label, icon=":material/restart_alt:", key="reset", help=label, on_click=_reset, args=(page,))


@at_link
def _reset(known: Session, page: Page) -> None:
    state.note_message(known)
    state.change(known, {"name": "reset"}, page)
    redraw(known)


@st.fragment(key=MORE_CONTROLS)
@in_session
def _more(known: Session, page: Page, row: int) -> None:
    """The popover of a row, with a column of controls for x and one for the layer.

    Its controls exist only while it is open. Opening or closing it reruns only this fragment: this is not taken for a change,
    and does not undo a change that has not reached the server yet.
    """
    with (
        st.popover(_("More"), icon=":material/tune:", key=MORE, on_change="rerun") as popover,
        st.container(key="more_body"),
    ):
        if popover.open:
            shown_row = rows_of(known, page, state.current_view(known, page))[row]
            with _drawing(known, MORE_CONTROLS, [field for inputs in shown_row.more for field in inputs]):
                for place, inputs in zip(st.columns(len(shown_row.more), gap="medium"), shown_row.more, strict=True):
                    with place:
                        for field in inputs:
                            # A control that disappears may report its value once more.
                            draw(known, page, field, only_changes=True)
                        if shown_row.note and inputs is shown_row.more[-1]:
                            st.caption(shown_row.note)
            if shown_row.reset:
                _reset_button(page)
