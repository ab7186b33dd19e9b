"""The controls of each page, row by row, as data, without a user interface."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from normviz.analysis.comparison import MOST, suggestions
from normviz.layers.layer import Layer
from normviz.lessons.compare import READY_SETS, fit_layers, layers_of, ready_set
from normviz.scene import edits
from normviz.scene.control import Control, Input, page_control
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
from normviz.scene.page_settings import PAGE_SETTINGS
from normviz.scene.setting import Choice, Number, Segments, Several, Slider, TextField, Toggle
from normviz.scene.view import View, read
from normviz.scene.visibility import CONTROLS
from normviz.texts.messages import _

OWN_SET = ""
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
    groups: Sequence[Sequence[Control]]
    gap: Spacing = "small"
    more: Sequence[Sequence[Control]] = ()
    note: Callable[[View], str] = lambda _view: ""
    reset: bool = False

    def of(self, view: View) -> InputRow:
        """The inputs of the row in a view."""
        names = {"reset"} if self.reset else set()
        hides = view.display.hides

        def inputs(controls: Iterable[Control]) -> list[Input]:
            found: list[Input] = []
            for control in controls:
                made = control.inputs(view)
                names.update({control.name} if made else ())
                found += () if hides(control.name) else [one.showing(view.refused) for one in made]
            return found

        own, more = ([inputs(each) for each in place] for place in (self.groups, self.more))
        names |= {MORE} if any(more) else set()
        shown = more if any(more) and not hides(MORE) else []
        note = self.note(view) if shown else ""
        return InputRow(self.key, self.gap, own, shown, note, self.reset and not hides("reset"), frozenset(names))


def _ready_sets(view: View) -> list[Input]:
    shown = ready_set(view.scene, layers_of(view)[0])
    options = {OWN_SET: _("your own")} | {key: ready.title for key, ready in READY_SETS.items()}
    return [
        Input("set", _("Ready-made sets"), shown.key if shown else OWN_SET, Choice(options), _with_ready_set, width=270)
    ]


def _with_ready_set(view: View, key: str) -> View:
    if key not in READY_SETS:
        return view
    ready = READY_SETS[key]
    return view.with_scene(edits.with_tensor(view.scene, ready.shape, ready.layout)).with_settings(layers=ready.layers)


def _layers(view: View) -> list[Input]:
    layers = layers_of(view)[0]
    options = dict.fromkeys([*layers, *suggestions(view.scene.shape, view.scene.layout)])
    label = _("Layers (2 to {most}; type your own, such as Norm('n c h w -> n h w', 'c'))", most=MOST)
    return [Input("layers", label, list(layers), Several(tuple(options), MOST), _with_layers)]


def _with_layers(view: View, texts: Sequence[str]) -> View:
    """If no layer is chosen, the default layers are used, also after the tensor has changed."""
    layers, problem = fit_layers(texts, view.scene) if texts else ((), None)
    return view.with_settings(problem=problem, layers=layers)


def _with_both_modes(control: Control) -> Control:
    """The control of the experiment. On the layer that pages open with, train() and eval() are equal: then it chooses BatchNorm, too."""

    def edit(shown: Input) -> Callable[[View, str], View]:
        def change(view: View, chosen: str) -> View:
            changed: View = shown.edit(view, chosen)
            opens_with = chosen == "modes" != shown.value and view.scene == read({}).scene
            return changed.with_scene(edits.with_family(view.scene, "BatchNorm")) if opens_with else changed

        return change

    return replace(control, inputs=lambda view: [replace(one, edit=edit(one)) for one in control.inputs(view)])


def _why_no_mode(view: View) -> str:
    if view.display.hides(EPS.name) or not isinstance(view.scene.layer, Layer) or MODE.inputs(view):
        return ""
    return _("train() and eval() do the same for this layer.")


def input_rows(page: str, view: View) -> list[InputRow]:
    """The rows of inputs above a view of a page."""
    return [row.of(view) for row in rows(page, view)]


def rows(page: str, view: View) -> Sequence[ControlRow]:
    """The rows of controls above a page."""
    own = [page_control(setting) for setting in PAGE_SETTINGS[page] if setting.widget is not None]
    if page in ("start", "questions", "practice"):
        return ()
    if page == "compare":
        sets = Control("set", CONTROLS["set"], _ready_sets)
        layers = Control("layers", CONTROLS["layers"], _layers)
        return (ControlRow("controls", ((TENSOR, SIZES), (sets,)), "xsmall", reset=True), ControlRow("", ((layers,),)))
    if page == "models":
        return (ControlRow("controls", (own,), "medium"),)
    if page == "gradients":
        return (ControlRow("experiment", (own,)), *SCENE_ROWS)
    if page == "train_and_eval":
        own = [_with_both_modes(own[0]), *own[1:]]
    if page == "train_and_eval" and view.settings["show"] == "modes":
        return (ControlRow("", (own[:1],)), *SCENE_ROWS)
    if page in ("train_and_eval", "numerics"):
        return (
            ControlRow("", (own[:1],)),
            ControlRow("controls", (own[1:],), "small" if page == "train_and_eval" else "medium"),
        )
    return SCENE_ROWS


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


# Rows of inputs as JSON, for the control bar of a file or a notebook; and back, what a reader has entered.


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
