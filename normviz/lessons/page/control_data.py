"""Rows of inputs as JSON, for the control bar of a file or a notebook; and back, what a reader has entered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from normviz.lessons.page.controls import InputRow
from normviz.scene.controls.control import Input
from normviz.scene.settings.widgets import Choice, Number, Segments, Several, Slider, TextField, Toggle
from normviz.scene.view import View


def rows_data(rows: Sequence[InputRow]) -> list[dict[str, Any]]:
    """The rows as the control bar draws them. An option is known by its number in the list."""
    return [
        {
            "key": row.key,
            "inputs": list(map(input_data, row.inputs)),
            "more": [list(map(input_data, column)) for column in row.more],
            "note": row.note,
            "reset": row.reset,
        }
        for row in rows
    ]


def input_data(shown: Input) -> dict[str, Any]:
    widget = shown.widget
    data = {"key": shown.key, "label": shown.label, "kind": type(widget).__name__.lower(), "value": shown.value}
    if shown.help:
        data["help"] = shown.help
    if shown.disabled:
        data["disabled"] = True
    if isinstance(widget, Choice | Segments):
        keys = list(widget.options)
        data |= {"value": keys.index(shown.value), "options": list(widget.options.values())}
    elif isinstance(widget, Several):
        data |= {"options": list(widget.options), "most": widget.most}
    elif isinstance(widget, Number | Slider):
        data |= {"low": widget.low, "high": widget.high}
        if isinstance(widget, Slider):
            data |= {"step": widget.step, "labels": list(widget.labels)}
    elif isinstance(widget, TextField):
        data |= {"most": widget.max_chars, "placeholder": widget.placeholder}
    else:
        assert isinstance(widget, Toggle)
    if shown.together:
        data["together"] = list(shown.together)
    return data


def entered(shown: Input, value: Any) -> Any:
    """The value of an input from what the control bar sends: the option of its number, else the value itself."""
    return list(shown.widget.options)[value] if isinstance(shown.widget, Choice | Segments) else value


def after_input(rows: Sequence[InputRow], view: View, key: str, value: Any) -> View:
    """The view after a reader has entered ``value`` in the input ``key`` of the control bar. An unknown key changes nothing."""
    for row in rows:
        for shown in row.all_inputs:
            if shown.key == key:
                return shown.changed(view, entered(shown, value))
    return view
