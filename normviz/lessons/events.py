"""Events: what a reader does with a control or on a figure. ``after`` gives the view after an event."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from normviz.lessons.page import Page, entered
from normviz.scene import controls, edits, toggles
from normviz.scene.setting import read_settings
from normviz.scene.view import View

Event = Mapping[str, Any]


def after(page: Page, view: View, event: Event) -> View:
    """The view after an event; an event that is not valid changes nothing.

    ``{"name": "select", "at": (1, 2, 0, 3)}``. The other names are in EVENTS. A browser sends events as JSON.
    """
    try:
        return page.after_tensor(view, EVENTS[event["name"]](page, view, event))
    except (KeyError, IndexError, TypeError, ValueError, OverflowError):
        return view


def entering(field: controls.Input, value: Any) -> Event:
    """The event that a reader enters ``value`` in this input."""
    return {"name": "input", "input": field, "value": value}


def _input(page: Page, view: View, event: Event) -> View:
    """A value of an input; from a browser, the key of the input, and the value as the control bar sends it."""
    if "input" in event:
        given: controls.Input = event["input"]
        return given.changed(view, event["value"])
    field = {one.key: one for row in page.input_rows(view) for one in row.all_inputs}[event["key"]]
    return field.changed(view, entered(field, event["value"]))


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


def _toggle(page: Page, view: View, event: Event) -> View:
    """A press of a toggle in the title of a panel: an axis of the mean, or of gamma; ``by``: fewer or more groups."""
    by = event.get("by", 1)
    if event["row"] not in (toggles.MEAN, toggles.GAMMA) or type(event["axis"]) is not str or by not in (-1, 1):
        raise TypeError
    return view.with_scene(toggles.with_toggle(view.scene, event["row"], event["axis"], by))


def _scale(page: Page, view: View, event: Event) -> View:
    """One gamma and one beta for all elements, or None: the layer's own."""
    given = [None if event[name] is None else float(event[name]) for name in ("gamma", "beta")]
    return view.with_scene(edits.with_scale(view.scene, *given))


def _step(page: Page, view: View, event: Event) -> View:
    return _with_setting(page, view, "step", int, event["step"])


def _cards(page: Page, view: View, event: Event) -> View:
    """Other cards of a comparison."""
    return _with_setting(page, view, "cards", str, event["cards"])


def _train(page: Page, view: View, event: Event) -> View:
    """Other trained networks: their layer and the size of their batches."""
    for name in ("norm", "batch"):
        view = _with_setting(page, view, name, str, event[name])
    return view


def _with_setting(page: Page, view: View, name: str, kind: type, value: Any) -> View:
    """A setting that a reader changes in the figure; a page without it ignores the event."""
    setting = page.setting(name)
    if setting is None or type(value) is not kind:
        return view
    return view.with_settings(**read_settings([setting], {name: str(value)})[0])


def _present(page: Page, view: View, event: Event) -> View:
    """For a projector, or not any more."""
    if type(event["present"]) is not bool:
        raise TypeError
    return replace(view, display=replace(view.display, present=event["present"]))


def _reset(page: Page, view: View, event: Event) -> View:
    """The view with which the page opens; what is hidden stays hidden."""
    display = replace(view.display, like=None)
    return replace(page.view(display.query()), display=display)


def _index(given: Any) -> tuple[int, ...]:
    if not isinstance(given, list | tuple) or any(type(i) is not int for i in given):
        raise TypeError
    return tuple(given)


EVENTS: Mapping[str, Callable[[Page, View, Event], View]] = {
    "input": _input,
    "select": _select,
    "move": _move,
    "edit": _edit,
    "scale": _scale,
    "step": _step,
    "toggle": _toggle,
    "present": _present,
    "cards": _cards,
    "train": _train,
    "reset": _reset,
}
