"""The views of a file as JSON: every long text, array or part once, however many views have it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from normviz.export.playable.views import Key, PlayableView
from normviz.lessons.page.control_data import input_data
from normviz.lessons.page.controls import InputRow
from normviz.lessons.page.pages import PAGES
from normviz.lessons.page.share import title
from normviz.lessons.parts.html import Body
from normviz.lessons.parts.visible import visible_parts
from normviz.scene.controls.control import Input
from normviz.scene.scene import FIELD_NAMES
from normviz.scene.settings.scene_settings import SCENE_SETTINGS
from normviz.scene.settings.widgets import Choice, Number, Segments, Several, Slider
from normviz.scene.view import View
from normviz.scene.visibility import NOT_PRESENTED, Display

VERSION = 2
LONG = 40  # characters of a value that is stored once
PRESENTED = Display(present=True)
SELECTED = ("at", "step")  # settings that a reader changes in the figure


def views_data(
    name: str, found: Mapping[Key, PlayableView], app: str, pages: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The views as the browser reads them. ``pages``: the addresses of pages beside the file, by their link in the app.

    version  of this format
    page     the name of the page
    app      the address of the app, or ""
    unpresented  the names of the panels that a projector does not show
    common   the settings that are the same in all views that have them, defaults too
    views    title, query (that of a link of the app), state (all settings that are not common), rows, parts and figures of each, and
             the numbers of the parts that a projector shows (``presented``); an input
             has the number of the view that each of its values leads to (``to``)
    pool     long values; a view has ``{"$": number}`` in their place
    """
    numbers = {key: number for number, key in enumerate(found)}
    states = [_state(name, one.page.view) for one in found.values()]
    common = {
        each: text
        for state in states
        for each, text in state.items()
        if all(other.get(each, text) == text for other in states)
    }
    pool = Pool()
    views = []
    for one, state in zip(found.values(), states, strict=True):
        body = Body(app=app or None, pages=pages or {})
        parts = body.keyed(one.page.parts)
        view = {
            "title": title(name, one.page.view),
            "query": {each: text for each, text in one.page.query.items() if each not in SELECTED},
            "state": {each: text for each, text in state.items() if each not in common},
            "rows": [_row(row, one, numbers) for row in one.rows if row.inputs or any(row.more)],
            "parts": parts,
            "presented": [n for n, part in enumerate(one.page.parts) if visible_parts([part], PRESENTED)],
            "figures": body.figures,
        }
        views.append({each: pool.pack(value) for each, value in view.items()})
    shared = {"version": VERSION, "page": name, "app": app, "unpresented": sorted(NOT_PRESENTED), "common": common}
    return shared | {"views": views, "pool": pool.values}


def _state(name: str, view: View) -> dict[str, str]:
    """The settings of the view as text, defaults too, without those that it does not use and those that a reader changes in the figure."""
    fields = {each: getattr(view.scene, FIELD_NAMES.get(each, each)) for each in SCENE_SETTINGS}
    values: dict[str, Any] = {**fields, **view.settings}
    state = {}
    for setting in (*SCENE_SETTINGS.values(), *PAGES[name].settings):
        value = values[setting.name]
        has_value = value not in (None, ()) or setting.or_none
        if has_value and setting.name not in (*SELECTED, "from") and setting.applies(view):
            state[setting.name] = setting.format(value)
    return state


def _row(row: InputRow, one: PlayableView, numbers: Mapping[Key, int]) -> dict[str, Any]:
    def inputs(found: Any) -> list[dict[str, Any]]:
        return [_input(shown, one.ways[shown.key], numbers) for shown in found]

    data = {"key": row.key, "inputs": inputs(row.inputs), "more": list(map(inputs, row.more)), "reset": row.reset}
    return data | {"note": row.note} if row.more and row.note else data


def _input(shown: Input, options: Mapping[Any, Key], numbers: Mapping[Key, int]) -> dict[str, Any]:
    """The input with the values that lead to a view, and the numbers of the views that they lead to."""
    data = input_data(shown) | {"to": [numbers[key] for key in options.values()]}
    if isinstance(shown.widget, Choice | Segments):
        labels = [shown.widget.options[value] for value in options]
        return data | {"value": list(options).index(shown.value), "options": labels}
    if isinstance(shown.widget, Several):  # each value as the bits of its options
        places = {option: 2**place for place, option in enumerate(shown.widget.options)}
        return data | {"values": [sum(map(places.__getitem__, value)) for value in options], "closed": True}
    if isinstance(shown.widget, Number | Slider):
        values = list(options)
        data |= {"values": values, "low": values[0], "high": values[-1]}
        return data | {"disabled": True} if len(values) < 2 else data
    return data


class Pool:
    """Long values, each stored once; a packed value has ``{"$": number}`` in their place. What a stored value refers to is stored before it."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[str, int] = {}

    def pack(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            value = {name: self.pack(one) for name, one in value.items()}
        elif isinstance(value, list | tuple):
            value = [self.pack(one) for one in value]
        text = json.dumps(value)
        if len(text) <= LONG:
            return value
        if text not in self._numbers:
            self._numbers[text] = len(self.values)
            self.values.append(value)
        return {"$": self._numbers[text]}
