"""Draws inputs as Streamlit widgets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from normviz.lessons.events import entering
from normviz.lessons.page import Page
from normviz.scene.control import Input
from normviz.scene.setting import Choice, Number, Segments, Several, Slider, TextField, Toggle
from normviz.ui.controls.redraw import redraw, script_name
from normviz.ui.language import localized
from normviz.ui.logs import PAGE
from normviz.ui.state import change, come_back, sync_labels, sync_widget, widget_value


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
    DRAWN[type(shown.widget)](shown, options if shown.width is None else options | {"width": shown.width})


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


def _toggle(shown: Input, options: dict[str, Any]) -> None:
    st.toggle(shown.label, value=shown.value, disabled=shown.disabled, **options)


DRAWN: dict[type, Callable[[Input, dict[str, Any]], None]] = {
    Number: _number,
    TextField: _text,
    Choice: _choice,
    Segments: _segments,
    Several: _several,
    Slider: _slider,
    Toggle: _toggle,
}
