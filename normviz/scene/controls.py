"""Controls: how a reader changes a view, as data for whatever draws them. A setting with a widget is a control with one input.

The shape, the layout and the layer of the scene are changed by several controls each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeVar

from normviz.analysis.on_demand import MOST_HELD
from normviz.analysis.sentences import axes_in_words
from normviz.layers import arguments, axes, catalogue, pasted
from normviz.layers.forms import Tensor
from normviz.layers.layer import Layer
from normviz.scene import edits
from normviz.scene import scene as scenes
from normviz.scene.edits import Reading, repair, with_fields
from normviz.scene.options import DATA_LABELS, PARAMETER_LABELS
from normviz.scene.setting import (
    Choice,
    Number,
    Segments,
    Setting,
    Several,
    Slider,
    TextField,
    Toggle,
    Widget,
    plain_signs,
)
from normviz.texts.errors import NormvizError
from normviz.texts.messages import N_, _, join_sentences, ngettext
from normviz.texts.searching import named


class Changeable(Protocol):
    """What controls use of a view."""

    @property
    def scene(self) -> scenes.Scene: ...
    @property
    def settings(self) -> Any: ...
    def with_scene(self, reading: Reading) -> Any: ...
    def with_settings(self, problem: str | None = None, **values: Any) -> Any: ...
    def after_input(self, keys: tuple[str, ...], values: tuple[object, ...], changed: Any) -> Any: ...


V = TypeVar("V", bound=Changeable)
InFile = Literal["options", "nothing", "layouts", "layers", "argument", "switch", "sets"]


@dataclass(frozen=True)
class Input:
    """One input of a page.

    key       identifies it among the inputs of a page
    label     its label, as displayed
    value     its current value
    widget    what kind of input it is
    edit      a function from a view and a new value to the changed view
    together  the keys of the inputs whose values ``edit`` takes as one tuple
    in_file   what a file offers of it: all options, nothing, the layouts or the layers of the file, ready-made sets; or that it is an argument
              or a switch of a layer, which a file with layers of its own does not change
    axis      the axis whose size it is
    setting   the page's setting whose input it is
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
    in_file: InFile = "options"
    axis: str = ""
    setting: Setting | None = None

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
                if isinstance(widget, Number):  # Streamlit would raise an error
                    widget = Number(min(widget.low, value), max(widget.high, value))
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


def _page_input(setting: Setting, view: Changeable) -> Input:
    """The input of a page's setting. An option that it does not have changes nothing: inputs of two pages may have the same key."""
    value, widget = view.settings[setting.name], _translated(setting.widget)
    if setting.is_typed:
        value = setting.format(value)
    if isinstance(widget, Slider) and widget.typed:
        widget = widget.including(value)
    options = widget.options if isinstance(widget, Segments | Slider | Choice) else None

    def edit(view: Changeable, entered: Any) -> Any:
        if options is not None and entered not in options:
            return view.with_settings()
        try:
            if setting.is_typed or isinstance(setting.widget, Number):
                entered = setting.parse(str(entered).strip())
            return view.with_settings(**{setting.name: entered})
        except NormvizError as error:
            return view.with_settings(problem=str(error))

    help_text = _(setting.help) if setting.help else None
    return Input(setting.key, setting.input_label, value, widget, edit, setting.width, help_text, setting=setting)


def _translated(widget: Widget | None) -> Widget:
    """The widget with its labels in the reader's language."""
    assert widget is not None
    if isinstance(widget, Choice | Segments):
        return replace(widget, options={key: _(label) for key, label in widget.options.items()})
    if isinstance(widget, TextField) and widget.placeholder:
        return replace(widget, placeholder=_(widget.placeholder))
    return widget


def on_scene(edit: Callable[[scenes.Scene, Any], Reading]) -> Callable[[Any, Any], Any]:
    """An edit of a view from an edit of its scene; for an invalid value, only the error message changes."""

    def change(view: Changeable, value: object) -> Any:
        try:
            return view.with_scene(edit(view.scene, value))
        except NormvizError as error:
            return view.with_scene(Reading(view.scene, str(error)))

    return change


def on_argument(name: str) -> Callable[[Any, Any], Any]:
    """An edit of a view that changes an argument of its layer."""
    return on_scene(lambda scene, value: edits.with_arguments(scene, **{name: value}))


# The controls of the scene

LAYOUTS = ("ND", "NLC", "NCL", "LNC", "NCHW", "NHWC", "NCDHW", "D", "CL", "CHW", "CDHW")
FLAG_LABELS = {
    "affine": N_("affine: gamma, beta"),
    "elementwise_affine": "elementwise_affine",
    "bias": N_("bias: beta"),
    "zero_centered_gamma": N_("zero_centered_gamma: 1 + gamma"),
    "track_running_stats": "track_running_stats",
}
EPS_CHOICES = ("0.001", "1e-05", "1e-06", "1e-08", "1e-12")
MOST_SEGMENTS = 6  # more options are a list
EDITED = "edited"


def _including(options: Sequence[str], value: str) -> list[str]:
    return [*options, *([] if value in options else [value])]


# The tensor


def layout_axes(layout: str) -> str:
    return ", ".join(scenes.axes_of(layout)).upper()


def _layouts(view: Changeable) -> list[Input]:
    layout = view.scene.layout
    options = Choice({each: layout_axes(each) for each in _including(LAYOUTS, layout)})
    return [Input("layout", _("Tensor"), layout, options, on_scene(edits.with_layout), 148, in_file="layouts")]


def _sizes(view: Changeable) -> list[Input]:
    whole = Number(
        -scenes.LARGEST_INTEGER, scenes.LARGEST_INTEGER
    )  # a size below 1 gets an error message; the widget would clamp it silently

    def of_axis(axis: str, size: int) -> Input:
        edit, width = on_scene(lambda scene, value: edits.with_size(scene, axis, value)), 76 if size < 1000 else 120
        return Input(f"size_{axis}", axis.upper(), size, whole, edit, width, axis=axis)

    return list(map(of_axis, view.scene.axes, view.scene.shape))


# The layer


def _names(view: Changeable) -> list[Input]:
    """The names of layers as buttons."""
    now = family_of(view.scene)
    names = Segments({family: family_label(family) for family in _including(catalogue.families_with_button(), now)})
    return [Input("family", _("Layer"), now, names, on_scene(_with_family), in_file="layers")]


def _layer_as_code(view: Changeable) -> list[Input]:
    """A field with the layer as code: it takes any layer, or an error message of torch. Its list has the layers without a button."""
    scene = view.scene
    text = str(scene.layer) if isinstance(scene.layer, Layer) else repr(scene.layer)
    with_button = catalogue.families_with_button()
    others = {family: family_label(family) for family in families_for(scene) if family not in with_button}
    widget = Choice({text: text} | others, accept_new=True, dynamic_labels=True)
    help_text = _(
        "Write a layer, such as LayerNorm(96) or LayerNorm(96) on (8, 96, 56, 56); or an expression of torch, Keras or einops, such as "
        "F.layer_norm(x, x.shape[1:]) or x.mean((0, 2, 3)); or paste an error message of torch. It is read, never executed."
    )
    label = _("Layer as code, or an error of torch")
    return [Input("layer", label, text, widget, on_scene(with_typed), 260, help_text, in_file="nothing")]


def family_of(scene: scenes.Scene) -> str:
    return scene.layer.kind.family if isinstance(scene.layer, Layer) else scenes.PATTERN_FAMILY


def families_for(scene: scenes.Scene) -> list[str]:
    """The families in the list that have a layer for the tensor, and the reader's own pattern."""
    families = dict.fromkeys([*catalogue.families_with_button(), *catalogue.listed_families()])
    return [*(family for family in families if _takes(family, scene)), scenes.PATTERN_FAMILY]


def family_label(family: str) -> str:
    """How lists call the family."""
    if family == scenes.PATTERN_FAMILY:
        return _("Your own pattern")
    label = catalogue.FAMILIES[family][0].label
    return _(label) if label else family


def _with_family(scene: scenes.Scene, family: str) -> Reading:
    return Reading(scene) if family == family_of(scene) else edits.with_family(scene, family)


def _takes(family: str, scene: scenes.Scene) -> bool:
    kind = catalogue.kind_on(family, scene.axes)
    return kind is not None and kind.suits(scene.axes)


def with_typed(scene: scenes.Scene, text: str) -> Reading:
    """The view of what a reader has typed or pasted: a layer or an expression, also on a shape, or an error message of torch.

    Raises NormvizError if it is none of these.
    """
    text = plain_signs(text.strip())
    if not text or text in (str(scene.layer), repr(scene.layer)):
        return Reading(scene)
    if family := family_called(text):
        return edits.with_family(scene, family)
    if shape := pasted.sizes_alone(text):
        return edits.with_shape(scene, shape)
    found = pasted.read_pasted(text, Tensor(scene.shape, scene.axes))
    reading = edits.with_layer(scene, found.layer) if found.shape is None else repair(**fields_of(found))
    return replace(reading, note=found.note)


def fields_of(found: pasted.Pasted) -> dict[str, Any]:
    """The fields of a scene that shows what a text is about."""
    fields = {"layer": found.layer, "shape": found.shape, "layout": found.layout or None}
    return {name: value for name, value in fields.items() if value is not None}


def family_called(text: str) -> str | None:
    """The family with this name, or that people call so in the reader's language."""
    if text in (*catalogue.FAMILIES, scenes.PATTERN_FAMILY):
        return text
    name = named(text)
    if absent := next((each for each in catalogue.ABSENT if text == each or name == each.lower()), None):
        raise arguments.layer_not_in_torch(absent)
    return next((family for family in catalogue.FAMILIES if family.lower() == name), None)


def _arguments(view: Changeable) -> list[Input]:
    """The argument that decides the pattern."""
    scene, layer = view.scene, view.scene.layer
    given = layer.given if isinstance(layer, Layer) else {}
    if "normalized_shape" in given:
        chosen, rank = list(given["normalized_shape"]), len(scene.shape)
        depths = [depth for depth in range(rank, 0, -1) if depth < rank or rank <= 2 or depth == len(chosen)]
        options = {depth: ", ".join(scene.axes[rank - depth :]).upper() for depth in depths}
        key, label, value = "depth", f"normalized_shape = {chosen}", len(chosen)  # the number of last axes
        edit = on_scene(lambda scene, depth: edits.with_arguments(scene, normalized_shape=list(scene.shape[-depth:])))
    elif "num_groups" in given:
        options = {groups: str(groups) for groups in axes.divisors(given["num_channels"])}
        key, label, value, edit = "num_groups", "num_groups", given["num_groups"], on_argument("num_groups")
    elif "dim" in given:
        options = {axis: f"{axis} ({name.upper()})" for axis, name in enumerate(scene.axes)}
        key, label, value, edit = "dim", "dim", given["dim"] % len(options), on_argument("dim")
    else:
        return []
    is_short = len(options) <= MOST_SEGMENTS
    widget: Widget = Segments(options) if is_short else Choice(options)
    return [Input(key, label, value, widget, edit, None if is_short else 140, in_file="argument")]


def _pattern(view: Changeable) -> list[Input]:
    if isinstance(view.scene.layer, Layer):
        return []
    norm = view.scene.shape_description.norm
    keys = ("own_stats", "own_params")
    edit = on_scene(lambda scene, texts: edits.with_pattern_text(scene, *texts))
    return [
        Input(
            keys[0], _("Statistics: kept axes right of the arrow"), edits.pattern_text(norm), TextField(200), edit, 330,
            _("To split an axis, give a size: n (g k) h w -> n g; g=2"), together=keys,
        ),
        Input(
            keys[1], _("Parameters: the axes of gamma, or none"), "none" if norm.params is None else norm.params, TextField(100), edit, 330,
            together=keys,
        ),
    ]  # fmt: skip


# Under "More"


def _data(view: Changeable) -> list[Input]:
    edited = view.scene.values is not None
    options = {key: _(label) for key, label in DATA_LABELS.items()}
    if view.scene.own and view.scene.own.has_x(view.scene.shape):
        options = {scenes.OWN: _("your own x"), **options}
    if edited:
        options = {EDITED: _("edited by hand"), **options}
    value = EDITED if edited else view.scene.shown_data
    limit = ngettext(
        "Above {n:,} element, values are computed for what is drawn and for the selected group.",
        "Above {n:,} elements, values are computed for what is drawn and for the selected group.",
        MOST_HELD,
    )
    help_text = join_sentences([axes_in_words(map(scenes.axes_of, LAYOUTS)), limit])
    return [Input("data", _(scenes.DATA_SETTING.label), value, Choice(options), on_scene(_with_data), help=help_text)]


def _with_data(scene: scenes.Scene, name: str) -> Reading:
    if name == EDITED:
        return Reading(scene)
    return with_fields(scene, data=name if name == scenes.OWN else scenes.DATA_SETTING.parse(name), values=None)


def _seed(view: Changeable) -> list[Input]:
    if not scenes.SEED.applies(view):
        return []
    edit = on_scene(lambda scene, value: with_fields(scene, seed=scenes.SEED.parse(str(value))))
    return [Input(scenes.SEED.name, scenes.SEED.input_label, view.scene.seed, _translated(scenes.SEED.widget), edit)]


def _params(view: Changeable) -> list[Input]:
    if not scenes.PARAMS.applies(view):
        return []
    options = {key: _(label) for key, label in PARAMETER_LABELS.items()}
    if view.scene.shape_description.norm.zero_centered_gamma:
        options["init"] = _("0 and 0")
    if view.scene.own and view.scene.own.has_values(view.scene.layer, view.scene.shape):
        options = {scenes.OWN: _("your module's own"), **options}
    if view.scene.scaled:
        options = {EDITED: _("one for all elements"), **options}
    value = EDITED if view.scene.scaled else view.scene.shown_params
    return [Input("params", scenes.PARAMS.input_label, value, Choice(options), on_scene(_with_params))]


def _with_params(scene: scenes.Scene, name: str) -> Reading:
    if name == EDITED:
        return Reading(scene)
    return with_fields(scene, params=name if name == scenes.OWN else scenes.PARAMS.parse(name), gamma=None, beta=None)


def _eps(view: Changeable) -> list[Input]:
    layer = view.scene.layer
    if not isinstance(layer, Layer):
        return []
    value, may_be_none = repr(layer.given["eps"]), layer.kind.eps_may_be_none
    options = _including(["None", *EPS_CHOICES] if may_be_none else EPS_CHOICES, value)
    help_text = _("Added to the variance inside the square root. None: the machine epsilon.") if may_be_none else None
    widget = Choice({option: option for option in options}, accept_new=True)
    return [Input("eps", "eps", value, widget, on_scene(edits.with_eps), help=help_text)]


def _flag(name: str) -> Control:
    def inputs(view: Changeable) -> list[Input]:
        layer = view.scene.layer
        if not isinstance(layer, Layer) or name not in layer.given:
            return []
        # No layer of torch has zero_centered_gamma: a reader writes it.
        if name == "zero_centered_gamma" and not layer.zero_centered_gamma:
            return []
        label, disabled = _(FLAG_LABELS[name]), name == "bias" and not layer.affine
        kind: InFile = "switch" if name in FILE_SWITCHES else "options"
        return [Input(name, label, layer.given[name], Toggle(), on_argument(name), disabled=disabled, in_file=kind)]

    return Control(name, name, inputs)


def _mode(view: Changeable) -> list[Input]:
    layer = view.scene.layer
    if not isinstance(layer, Layer) or "track_running_stats" not in layer.given:
        return []
    options = Segments({True: "train()", False: "eval()"})
    return [Input("training", _("Mode"), layer.training, options, on_argument("training"), in_file="switch")]


TENSOR = Control("tensor", N_("Tensor"), _layouts)
SIZES = Control("sizes", N_("Sizes"), _sizes)
NAMES = Control("layer", N_("Layer"), _names)
LAYER = Control("layer", N_("Layer"), _layer_as_code)
ARGUMENTS = Control("arguments", "normalized_shape, num_groups, dim", _arguments)
PATTERN = Control("pattern", N_("Your own pattern"), _pattern)
EPS = Control("eps", "eps", _eps)
MODE = Control("mode", N_("Mode"), _mode)
SEED = Control(scenes.SEED.name, scenes.SEED.label, _seed)
MORE_ABOUT_X = (
    Control("data", scenes.DATA_SETTING.label, _data),
    SEED,
    Control(scenes.PARAMS.hidden_by, scenes.PARAMS.label, _params),
)
MORE_ABOUT_LAYER = (EPS, *map(_flag, FLAG_LABELS), MODE)
SCENE_CONTROLS = (TENSOR, SIZES, NAMES, LAYER, ARGUMENTS, PATTERN, *MORE_ABOUT_X, *MORE_ABOUT_LAYER)


# The controls of the layer whose options a file has, by key.
FILE_ARGUMENTS = ("depth", "num_groups", "dim")
FILE_LAYER = ("family", *FILE_ARGUMENTS)
FILE_SWITCHES = ("affine", "elementwise_affine", "bias", "track_running_stats", "training")
FILE_CHOICES = (FILE_LAYER, (*FILE_LAYER, *FILE_SWITCHES))
