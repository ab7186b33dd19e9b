"""Controls and their inputs. Most settings have one control with one input."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from normviz.scene.repair import Reading, with_fields
from normviz.scene.scene import Scene
from normviz.scene.setting import Choice, Segments, Setting, Several, Slider, TextField, Widget
from normviz.texts.errors import NormvizError
from normviz.texts.messages import _


class Changeable(Protocol):
    """What controls use of a view."""

    @property
    def scene(self) -> Scene: ...
    @property
    def settings(self) -> Any: ...
    def with_scene(self, reading: Reading) -> Any: ...
    def with_settings(self, problem: str | None = None, **values: Any) -> Any: ...
    def after_input(self, keys: tuple[str, ...], values: tuple[Any, ...], changed: Any) -> Any: ...


V = TypeVar("V", bound=Changeable)


@dataclass(frozen=True)
class Input:
    """One input of a page.

    key       identifies it among the inputs of a page
    label     its label, as displayed
    value     its current value
    widget    what kind of input it is
    edit      a function from a view and a new value to the changed view
    together  the keys of the inputs whose values ``edit`` takes as one tuple
    """

    key: str
    label: str
    value: Any
    widget: Widget
    edit: Callable[[Any, Any], Any]
    width: int | None = None
    help: str | None = None
    disabled: bool = False
    together: tuple[str, ...] = ()

    def changed(self, view: V, value: Any) -> V:
        """The view after the reader has entered ``value``; None, for a deselected choice, changes nothing."""
        if value is None:
            unchanged: V = view.with_settings()
            return unchanged
        keys, values = (self.together, tuple(value)) if self.together else ((self.key,), (value,))
        changed: V = view.after_input(keys, values, self.edit(view, value))
        return changed

    def showing(self, refused: Iterable[Any]) -> Input:
        """The input with an invalid entry of the reader, if there is one."""
        for one in refused:
            if self.key in one.keys:
                value, widget = one.values[one.keys.index(self.key)], self.widget
                if isinstance(widget, Choice) and value not in widget.options:
                    widget = replace(widget, options={**widget.options, value: str(value)})
                if isinstance(widget, Several):
                    widget = replace(widget, options=tuple(dict.fromkeys([*widget.options, *value])))
                return replace(self, value=value, widget=widget)
        return self


@dataclass(frozen=True)
class Control:
    """One or more inputs with a name. A page's setting with a widget is a control, too (``inputs_of``).

    hidden_by  its name in ``hide=``
    label      its label in the list of controls that can be hidden, as a message
    inputs     a function from a view to the inputs; empty if the control does not apply
    """

    hidden_by: str
    label: str
    inputs: Callable[[Any], Sequence[Input]]


def inputs_of(one: Control | Setting, view: Any) -> Sequence[Input]:
    """The inputs of a control, or of a page's setting, in a view."""
    if isinstance(one, Control):
        return one.inputs(view)
    return [_page_input(one, view)] if one.applies(view) else []


def scene_control(setting: Setting) -> Control:
    """The control of a setting of the scene."""

    def change(scene: Scene, value: Any) -> Reading:
        return with_fields(scene, **{setting.name: setting.parse(str(value))})

    def inputs(view: Changeable) -> list[Input]:
        if not setting.applies(view):
            return []
        value, widget = getattr(view.scene, setting.name), _translated(setting.widget)
        return [Input(setting.name, setting.input_label, value, widget, on_scene(change))]

    return Control(setting.name, setting.label, inputs)


def _page_input(setting: Setting, view: Changeable) -> Input:
    """The input of a page's setting. An option that it does not have changes nothing: inputs of two pages may have the same key."""
    value, widget = view.settings[setting.name], _translated(setting.widget)
    is_typed = isinstance(widget, TextField) or (isinstance(widget, Slider) and widget.typed)
    if is_typed:
        value = setting.format(value)
    if is_typed and isinstance(widget, Slider):
        widget = widget.including(value)
    options = widget.options if isinstance(widget, Segments | Slider | Choice) else None

    def edit(view: Changeable, entered: Any) -> Any:
        if options is not None and entered not in options:
            return view.with_settings()
        try:
            return view.with_settings(**{setting.name: setting.parse(entered.strip()) if is_typed else entered})
        except NormvizError as error:
            return view.with_settings(problem=str(error))

    key = f"set_{setting.name}" if isinstance(widget, TextField | Slider) else setting.name
    return Input(
        key, setting.input_label, value, widget, edit, setting.width, _(setting.help) if setting.help else None
    )


def _translated(widget: Widget | None) -> Widget:
    """The widget with its labels in the reader's language."""
    assert widget is not None
    if isinstance(widget, Choice | Segments):
        return replace(widget, options={key: _(label) for key, label in widget.options.items()})
    if isinstance(widget, TextField) and widget.placeholder:
        return replace(widget, placeholder=_(widget.placeholder))
    return widget


def on_scene(edit: Callable[[Scene, Any], Reading]) -> Callable[[Any, Any], Any]:
    """An edit of a view from an edit of its scene; for an invalid value, only the error message changes."""

    def change(view: Changeable, value: Any) -> Any:
        try:
            return view.with_scene(edit(view.scene, value))
        except NormvizError as error:
            return view.with_scene(Reading(view.scene, str(error)))

    return change


def on_axis(edit: Callable[[Scene, Any, int], Reading], axis: Any) -> Callable[[Any, Any], Any]:
    return on_scene(lambda scene, value: edit(scene, axis, value))
