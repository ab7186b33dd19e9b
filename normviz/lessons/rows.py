"""Rows of controls above a page, as data without a user interface; and the JSON of their inputs, for the control bar of a file or a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from normviz.layers.layer import Layer
from normviz.scene.control import Control, Input, inputs_of
from normviz.scene.controls import (
    ARGUMENTS,
    EPS,
    LAYER,
    MODE,
    MORE_ABOUT_LAYER,
    MORE_ABOUT_X,
    PASTE,
    PATTERN,
    SIZES,
    TENSOR,
)
from normviz.scene.setting import Choice, Number, Segments, Setting, Several, Slider, TextField
from normviz.scene.view import View
from normviz.texts.messages import _

MORE = "more"
Spacing = Literal["xsmall", "small", "medium"]


@dataclass(frozen=True)
class InputRow:
    """The inputs of a row that a view shows: those that apply and are not hidden; otherwise like ControlRow.

    note   a line below the last column behind the button More, or ""
    names  of the row's controls in ``hide=``, hidden ones too
    """

    key: str
    gap: Spacing
    groups: Sequence[Sequence[Input]]
    more: Sequence[Sequence[Input]]
    note: str
    reset: bool
    names: frozenset[str]

    @property
    def inputs(self) -> list[Input]:
        """Its inputs without those behind the button More."""
        return [shown for group in self.groups for shown in group]

    @property
    def all_inputs(self) -> list[Input]:
        """Its inputs, and those behind the button More."""
        return [*self.inputs, *(shown for column in self.more for shown in column)]


@dataclass(frozen=True)
class ControlRow:
    """Controls side by side.

    key     identifies the row in the page's styles
    groups  controls that mostly change together: the app draws a group again if one of them changes
    gap     the space between the controls
    more    columns of controls behind the button More
    note    a function from a view to the line below the last of these columns
    reset   whether the row ends with the button "Back to the start"
    """

    key: str
    groups: Sequence[Sequence[Control | Setting]]
    gap: Spacing = "small"
    more: Sequence[Sequence[Control]] = ()
    note: Callable[[View], str] = lambda _view: ""
    reset: bool = False

    def of(self, view: View) -> InputRow:
        """The inputs of the row in a view."""
        names = {"reset"} if self.reset else set()
        hides = view.display.hides

        def inputs(controls: Iterable[Control | Setting]) -> list[Input]:
            found: list[Input] = []
            for control in controls:
                made = inputs_of(control, view)
                names.update({control.hidden_by} if made else ())
                found += () if hides(control.hidden_by) else [one.showing(view.refused) for one in made]
            return found

        own, more = ([inputs(each) for each in place] for place in (self.groups, self.more))
        names |= {MORE} if any(more) else set()
        shown = more if any(more) and not hides(MORE) else []
        note = self.note(view) if shown else ""
        return InputRow(self.key, self.gap, own, shown, note, self.reset and not hides("reset"), frozenset(names))


def _why_no_mode(view: View) -> str:
    if view.display.hides(EPS.hidden_by) or not isinstance(view.scene.layer, Layer) or MODE.inputs(view):
        return ""
    return _("train() and eval() do the same for this layer.")


SCENE_ROWS = (
    ControlRow(
        "controls",
        ((TENSOR, SIZES), (LAYER, ARGUMENTS)),
        "xsmall",
        more=(MORE_ABOUT_X, (*MORE_ABOUT_LAYER, PASTE)),
        note=_why_no_mode,
        reset=True,
    ),
    ControlRow("pattern", ((PATTERN,),)),
)


def rows_data(rows: Sequence[InputRow]) -> list[dict[str, Any]]:
    """The rows as the control bar draws them."""
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
    """An input as JSON. An option is known by its number in the list."""
    widget = shown.widget
    data = {"key": shown.key, "label": shown.label, "kind": type(widget).__name__.lower(), "value": shown.value}
    if shown.help:
        data["help"] = shown.help
    if shown.disabled:
        data["disabled"] = True
    if isinstance(widget, Choice | Segments | Slider):
        keys = list(widget.options)
        data |= {"value": keys.index(shown.value), "options": list(widget.options.values())}
    elif isinstance(widget, Several):
        data |= {"options": list(widget.options), "most": widget.most}
    elif isinstance(widget, Number):
        data |= {"low": widget.low, "high": widget.high}
    elif isinstance(widget, TextField):
        data |= {"most": widget.max_chars, "placeholder": widget.placeholder}
    if shown.together:
        data["together"] = list(shown.together)
    return data


def entered(shown: Input, value: Any) -> Any:
    """The value of an input from what the control bar sends: the option of its number, else the value itself."""
    if isinstance(shown.widget, Choice | Segments | Slider):
        return list(shown.widget.options)[value]
    return tuple(value) if isinstance(value, list) else value
