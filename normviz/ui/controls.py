"""The controls above a page as Streamlit widgets: rows, the popover More, and "Back to the start".

A change of a control runs only the fragments that it affects, and controls that have not changed are not sent again: sending them is
most of the work of a run.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from normviz.lessons.events import entering
from normviz.lessons.page import MORE, InputRow, Page
from normviz.scene.controls import Input
from normviz.scene.setting import Choice, Number, Segments, Several, Slider, TextField, Toggle
from normviz.scene.view import View
from normviz.texts.messages import _
from normviz.ui.language import localized
from normviz.ui.logs import PAGE
from normviz.ui.state import (
    ADDRESS,
    change,
    come_back,
    current_view,
    is_changed,
    remember_sent,
    sync_labels,
    sync_widget,
    widget_value,
)

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
        # A control behind More that has never been drawn has no value.
        shown = all(st.session_state.get(one.key, one.value) == one.value for one in inputs)
        if shown and drawn.looks.get(key) == _look(inputs):
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


# Inputs as Streamlit widgets


def draw(page: Page, shown: Input, only_changes: bool = False) -> None:
    """Draw the input. ``only_changes``: ignore a callback that leaves the view as it is."""

    name, script = st.session_state[PAGE], script_name()

    @localized
    def apply() -> None:
        if script == script_name():
            come_back(name, page)
        keys = shown.together
        value = tuple(map(widget_value, keys)) if keys else widget_value(shown.key)
        change(entering(shown, value), page, only_changes=only_changes)
        redraw()

    if isinstance(shown.widget, Choice) and shown.widget.dynamic_labels:
        sync_labels(shown.key, list(shown.widget.options.values()), shown.value)
    options = {"key": sync_widget(shown.key, shown.value), "on_change": apply, "help": shown.help}
    DRAW[type(shown.widget)](shown, options if shown.width is None else options | {"width": shown.width})


# The value is also the default: a browser that redraws a widget starts with the default, and would report a different value as the
# reader's choice.


def _number(shown: Input, options: dict[str, Any]) -> None:
    widget = shown.widget
    assert isinstance(widget, Number)
    st.number_input(shown.label, min_value=widget.low, max_value=widget.high, value=shown.value, step=1, **options)


def _text(shown: Input, options: dict[str, Any]) -> None:
    widget = shown.widget
    assert isinstance(widget, TextField)
    st.text_input(
        shown.label, shown.value, max_chars=widget.max_chars, placeholder=widget.placeholder or None, **options
    )


def _choice(shown: Input, options: dict[str, Any]) -> None:
    widget = shown.widget
    assert isinstance(widget, Choice)
    keys = list(widget.options)
    st.selectbox(
        shown.label,
        keys,
        keys.index(shown.value),
        format_func=lambda key: widget.options.get(key, key),  # a typed option is its own label
        accept_new_options=widget.accept_new,
        **options,
    )


def _segments(shown: Input, options: dict[str, Any]) -> None:
    widget = shown.widget
    assert isinstance(widget, Segments)
    st.segmented_control(
        shown.label,
        list(widget.options),
        format_func=widget.options.__getitem__,
        default=shown.value,
        required=True,
        wrap=True,
        **options,
    )


def _several(shown: Input, options: dict[str, Any]) -> None:
    widget = shown.widget
    assert isinstance(widget, Several)
    # Enter adds what is typed: with another filter, or with "Select 4 matches", it would add options that only resemble it.
    typing: dict[str, Any] = {"accept_new_options": True, "filter_mode": "prefix", "select_all": False}
    st.multiselect(shown.label, widget.options, shown.value, max_selections=widget.most, **typing, **options)


def _slider(shown: Input, options: dict[str, Any]) -> None:
    widget = shown.widget
    assert isinstance(widget, Slider)
    st.select_slider(shown.label, list(widget.options), shown.value, format_func=widget.options.__getitem__, **options)


DRAW: dict[type, Callable[[Input, dict[str, Any]], object]] = {
    Number: _number,
    TextField: _text,
    Choice: _choice,
    Segments: _segments,
    Several: _several,
    Slider: _slider,
    Toggle: lambda shown, options: st.toggle(shown.label, value=shown.value, disabled=shown.disabled, **options),
}


# Rows, the popover More, and "Back to the start"


def draw_controls(page: Page, rows: Sequence[InputRow]) -> None:
    """The controls of the page. Each shows the view's value, and its callback changes the view."""
    for number, row in enumerate(rows):
        aligned = "bottom" if row.key in ("controls", "experiment") else "top"
        line: dict[str, Any] = {"horizontal": True, "vertical_alignment": aligned, "gap": row.gap}
        with st.container(key=row.key, **line) if row.key else nullcontext():
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
