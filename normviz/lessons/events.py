"""Events: what a reader does with a control or on a figure. ``after`` gives the view after an event."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from normviz.lessons.page import Page, entered
from normviz.scene import edits
from normviz.scene.controls import Input
from normviz.scene.setting import read_settings
from normviz.scene.view import View

Event = Mapping[str, Any]


def after(page: Page, view: View, event: Event) -> View:
    """The view after an event; an event that is not valid changes nothing.

    ``{"name": "select", "at": (1, 2, 0, 3)}``. The other names are in EVENTS. A browser sends events as JSON.
    """
    try:
        return EVENTS[event["name"]](page, view, event)
    except (KeyError, IndexError, TypeError, ValueError, OverflowError):
        return view


def entering(shown: Input, value: Any) -> Event:
    """The event that a reader enters ``value`` in this input."""
    return {"name": "input", "input": shown, "value": value}


def _input(page: Page, view: View, event: Event) -> View:
    """A value of an input; from a browser, the key of the input, and the value as the control bar sends it."""
    if "input" in event:
        given: Input = event["input"]
        return given.changed(view, event["value"])
    shown = {one.key: one for row in page.input_rows(view) for one in row.all_inputs}[event["key"]]
    return shown.changed(view, entered(shown, event["value"]))


def _select(page: Page, view: View, event: Event) -> View:
    return view.with_scene(edits.with_selected(view.scene, _index(event["at"]) if event["at"] is not None else None))


def _move(page: Page, view: View, event: Event) -> View:
    """Other slices of a large tensor are drawn."""
    return view.with_scene(edits.with_start(view.scene, _index(event["start"])))


def _edit(page: Page, view: View, event: Event) -> View:
    """Another value of one element of x."""
    if type(event["value"]) not in (int, float):
        raise TypeError
    return view.with_scene(edits.with_value(view.scene, _index(event["at"]), float(event["value"])))


def _step(page: Page, view: View, event: Event) -> View:
    setting = page.setting("step")
    if setting is None or type(event["step"]) is not int:
        return view
    return view.with_settings(**read_settings([setting], {"step": str(event["step"])})[0])


def _reset(page: Page, view: View, event: Event) -> View:
    """The view with which the page opens; what is hidden stays hidden."""
    return replace(page.view({}), display=replace(view.display, like=None))


def _index(given: Any) -> tuple[int, ...]:
    if not isinstance(given, list | tuple) or any(type(i) is not int for i in given):
        raise TypeError
    return tuple(given)


EVENTS: Mapping[str, Callable[[Page, View, Event], View]] = {
    "input": _input,
    "select": _select,
    "move": _move,
    "edit": _edit,
    "step": _step,
    "reset": _reset,
}
