"""Edits of a scene. Each returns a ``Reading``: the new scene, or the nearest valid one and the reason.

``repair`` makes a scene of fields that may be invalid. An edit that changes a size also refits the layer.
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from math import isnan
from typing import Any

from normviz.layers import fit
from normviz.layers.arguments import LARGEST_SIZE
from normviz.layers.axes import LETTER, MAX_TEXT, Pattern, example_shape, layout_text, parse_layout
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.sharing import check_index
from normviz.scene import scene as scenes
from normviz.scene.grid import grid, start_with
from normviz.scene.setting import plain_signs, read_number
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import _, ngettext

Fields = Mapping[str, Any]
NO_SIZES = "a pattern has no sizes to fit."  # no reader sees it: another repair is tried


@dataclass(frozen=True)
class Reading:
    """A valid scene, and the first error in the requested fields, if any.

    substitute  whether the scene has another layer or another x than requested
    remedies    what torch accepts instead of the layer that it refuses
    note        what a pasted text does not say, or what the message of torch in it means
    """

    scene: scenes.Scene
    problem: str | None = None
    substitute: bool = False
    remedies: tuple[fit.Remedy, ...] = ()
    note: str = ""


def repair(**wanted: object) -> Reading:
    """The scene with these fields; if they are not valid, the nearest valid scene and the reason.

    >>> repair(shape=(2, 3), at=(5, 5)).scene.at
    (1, 2)
    """
    try:
        return Reading(_scene(wanted))
    except NormvizError as error:
        problem = str(error)
    scene = _nearest(wanted)
    asked = {name: wanted[name] for name in ("layer", "shape") if name in wanted}
    substitute = any(getattr(scene, name) != value for name, value in asked.items())
    return Reading(scene, problem, substitute, _remedies(wanted))


def _nearest(wanted: Fields) -> scenes.Scene:
    # The bits of ``number`` choose the repairs: all combinations of repairs that change less are tried first.
    for number in range(1, 2 ** len(REPAIRS)):
        try:
            fields = wanted
            for place in reversed(range(len(REPAIRS))):  # the repair that changes most first
                if number >> place & 1:
                    fields = REPAIRS[place](fields)
            return _scene(fields)
        except NormvizError:
            continue
    return _scene({})


def _remedies(wanted: Fields) -> tuple[fit.Remedy, ...]:
    """The remedies for the layer that a view can show; empty if torch does not refuse it."""
    layer = wanted.get("layer")
    if not isinstance(layer, Layer):
        return ()
    try:
        shape, axes = _tensor(wanted)
    except NormvizError:
        return ()
    return tuple(remedy for remedy in fit.remedies(layer, shape, axes) if _can_be_shown(remedy))


def _can_be_shown(remedy: fit.Remedy) -> bool:
    try:
        _scene(remedy_fields(remedy))
    except NormvizError:
        return False
    return True


def remedy_fields(remedy: fit.Remedy) -> dict[str, Any]:
    """The fields of a scene that shows the remedy."""
    return {"layer": remedy.layer, "shape": remedy.shape, "layout": remedy.layout}


def with_fields(scene: scenes.Scene, dropped: Collection[str] = (), /, **changed: object) -> Reading:
    """The scene with these fields changed, and without the ``dropped`` ones: they follow from the others."""
    dropped = {*dropped, "chosen", "gamma", "beta"} if "layer" in changed else dropped  # they belong to the layer
    kept = [field.name for field in fields(scene) if field.name not in dropped]
    return repair(**{name: getattr(scene, name) for name in kept} | changed)


def _drop(name: str) -> Callable[[Fields], Fields]:
    def drop(wanted: Fields) -> Fields:
        if name not in wanted:
            raise NormvizError(f"there is no {name} to drop.")
        return {other: value for other, value in wanted.items() if other != name}

    return drop


def _move_at(wanted: Fields) -> Fields:
    """Move the selected element into the tensor."""
    (shape, _axes), at = _tensor(wanted), wanted.get("at")
    if at is None or len(at) != len(shape):
        return _drop("at")(wanted)
    return {**wanted, "at": tuple(min(max(i, 0), size - 1) for i, size in zip(at, shape, strict=True))}


def _move_slices(wanted: Fields) -> Fields:
    """Move the first drawn slices into the tensor."""
    shape, axes = _tensor(wanted)
    return {**wanted, "start": grid(shape, axes, wanted.get("start", ())).start}


def _refit_layer(wanted: Fields) -> Fields:
    """Refit the layer to the tensor."""
    (shape, axes), layer = _tensor(wanted), _torch_layer(wanted)
    return {**wanted, "layer": fit.refit(layer, shape, axes)}


def _take_first_remedy(wanted: Fields) -> Fields:
    """Show what was probably meant: the first remedy; if there is none, the layer refitted to the tensor."""
    (shape, axes), layer = _tensor(wanted), _torch_layer(wanted)
    first = next(iter(fit.remedies(layer, shape, axes)), None)
    return _refit_layer(wanted) if first is None else {**wanted, **remedy_fields(first)}


def _torch_layer(wanted: Fields) -> Layer:
    layer = wanted.get("layer")
    if not isinstance(layer, Layer):
        raise NormvizError(NO_SIZES)
    return layer


def _widen_axis(wanted: Fields) -> Fields:
    """Enlarge one axis of size 1 to 2, the first that gives every mean more than one value; if none does, enlarge all."""
    shape, _axes = _tensor(wanted)
    for axis in (axis for axis, size in enumerate(shape) if size == 1):
        wider = {**wanted, "shape": (*shape[:axis], 2, *shape[axis + 1 :])}
        try:
            _scene(_refit_layer({name: wider[name] for name in wider if name in ("shape", "layout", "layer")}))
        except NormvizError:
            continue
        return wider
    return {**wanted, "shape": tuple(max(2, size) for size in shape)}


REPAIRS = (
    _move_at,
    _move_slices,
    _drop("values"),
    _take_first_remedy,
    _drop("layout"),
    _widen_axis,
    _drop("layer"),
    _drop("shape"),
)


def _scene(wanted: Fields) -> scenes.Scene:
    shape, axes = _tensor(wanted)
    given = {name: value for name, value in wanted.items() if name not in ("shape", "layout")}
    if "layer" not in given:
        given["layer"] = fit.layer_for(scenes.DEFAULT_FAMILY, shape, axes)
    if "start" not in given:
        at = given.get("at")  # it is drawn, if it can be
        given["start"] = start_with(at, shape, axes) if at is not None and len(at) == len(shape) else ()
    if "at" not in given:
        given["at"] = scenes.default_at(shape, axes, given["start"])
    return scenes.Scene(shape, layout_text(axes), **given)


def _tensor(wanted: Fields) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The shape and its axes; without a layout, the axes that the layer expects; without a shape, an example for the layer."""
    layer, layout = wanted.get("layer"), wanted.get("layout")
    shape = wanted["shape"] if "shape" in wanted else _example(layer, layout)
    scenes.check_rank(shape)
    if isinstance(layer, Norm):
        layer.axis_sizes(shape)
        if long := [name for name in layer.axes if not LETTER.fullmatch(name.upper())]:
            raise NormvizError(
                "a view names each axis by one letter, as in 'n c h w -> n'; {name} has more.", name=echo(long[0])
            )
        layout = layout_text(layer.axes) if layout is None else layout
    elif layout is None:
        kind = layer.kind if layer else fit.kind_for(scenes.DEFAULT_FAMILY, tuple("x" * len(shape)))
        layout = kind.layout(len(shape))
    return shape, parse_layout(layout, len(shape))


def _example(layer: Layer | Norm | None, layout: str | None) -> tuple[int, ...]:
    """The shape of an example for the layer, with these axes; with the default axes, if the layer does not take it with these."""
    if layer is None:
        return scenes.DEFAULT_SHAPE if layout is None else example_shape(scenes.axes_of(layout))
    if isinstance(layer, Norm):
        return fit.example_for(layer, layer.axes)
    for axes in (None if layout is None else scenes.axes_of(layout), None):
        with suppress(NormvizError):
            return fit.example_for(layer, axes)
    return scenes.DEFAULT_SHAPE  # no tensor helps: another argument is wrong


# Edits

NO_PARAMETERS = ("none", "-")


def with_layout(scene: scenes.Scene, layout: str) -> Reading:
    """Change the layout; an axis that remains keeps its size, unless it has the default size of the old layout."""
    try:
        axes = scenes.axes_of(layout)
    except NormvizError as error:
        return Reading(scene, str(error))
    sizes = zip(scene.axes, scene.shape, example_shape(scene.axes), strict=True)
    return with_tensor(scene, example_shape(axes, {axis: size for axis, size, usual in sizes if size != usual}), layout)


def with_shape(scene: scenes.Scene, shape: tuple[int, ...]) -> Reading:
    """Change the shape; a tensor of another rank gets the default layout of its rank."""
    same = len(shape) == len(scene.shape)
    return with_tensor(scene, shape, scene.layout if same else repair(shape=shape).scene.layout)


def with_size(scene: scenes.Scene, axis: str, size: int) -> Reading:
    """Change the size of one axis."""
    if not 1 <= size <= LARGEST_SIZE:
        rule = _(
            "{axis}={size} must be a whole number from 1 to {most:,}.",
            axis=axis.upper(),
            size=echo(size),
            most=LARGEST_SIZE,
        )
        return Reading(scene, rule)
    shape = tuple(size if name == axis else old for name, old in zip(scene.axes, scene.shape, strict=True))
    return with_tensor(scene, shape, scene.layout)


def with_family(scene: scenes.Scene, family: str) -> Reading:
    """Change to the layer of this family with its default arguments; for ``PATTERN_FAMILY``, to the pattern of the current layer."""
    if family == scenes.PATTERN_FAMILY:
        return with_fields(scene, layer=scene.shape_description.norm, layout=None)
    try:
        fit.suitable_kind(family, scene.axes)
        layer = fit.default_layer(family, scene.shape, scene.axes)
    except NormvizError as error:
        return Reading(scene, str(error))
    return with_fields(scene, layer=layer)


def with_layer(scene: scenes.Scene, layer: Layer | Norm) -> Reading:
    """Change to this layer. If it does not take the tensor, the reading has the nearest layer that does, and the remedies."""
    if isinstance(layer, Norm):
        return with_fields(scene, () if layer.axes == scene.axes else ("start", "at"), layer=layer, layout=None)
    return with_fields(scene, layer=layer)


def with_arguments(scene: scenes.Scene, **arguments: object) -> Reading:
    """Change arguments of the layer, or its mode (``training``). A pattern has neither and is not changed."""
    if not isinstance(scene.layer, Layer):
        return Reading(scene)
    if scene.layer.zero_centered_gamma and arguments.get("elementwise_affine") is False:
        arguments["zero_centered_gamma"] = False
    try:
        return with_fields(scene, layer=scene.layer.with_(**arguments))
    except NormvizError as error:
        return Reading(scene, str(error))


def with_pattern_text(scene: scenes.Scene, text: str, params: str) -> Reading:
    """Change to a pattern that the reader typed.

    text    the statistics, and the sizes of split axes after a semicolon: ``n (g k) h w -> n g; g=2``
    params  the axes of gamma, or "none"
    """
    if len(text) > MAX_TEXT:
        message = ngettext(
            "{text} has {n:,} character; write at most {most}, as in 'n (g k) h w -> n g; g=2'.",
            "{text} has {n:,} characters; write at most {most}, as in 'n (g k) h w -> n g; g=2'.",
            len(text),
            text=echo(text),
            most=MAX_TEXT,
        )
        return Reading(scene, message)
    stats, _semicolon, given = plain_signs(text).partition(";")
    try:
        sizes = {
            name.strip(): int(size) for name, size in (pair.split("=") for pair in given.split(",") if pair.strip())
        }
    except ValueError:
        message = _(
            "{text} is not a list of sizes; write them as in 'n (g k) h w -> n g; g=2'.", text=echo(given.strip())
        )
        return Reading(scene, message)
    params = params.strip()
    return with_pattern(scene, stats, None if params.lower() in NO_PARAMETERS else params, sizes)


def pattern_text(norm: Norm) -> str:
    """The statistics pattern as ``with_pattern_text`` reads it."""
    sizes = ", ".join(f"{name}={size}" for name, size in norm.split_sizes.items())
    return f"{norm.stats}; {sizes}" if sizes else norm.stats


def with_pattern(
    scene: scenes.Scene, stats: str, params: str | None, sizes: Mapping[str, int] | None = None
) -> Reading:
    """Change to a Norm with these patterns. The statistics pattern must name as many axes as x has."""
    old = scene.layer if isinstance(scene.layer, Norm) else Norm("n -> n", "")
    try:
        names = Pattern.parse(stats).names
        known = {name: size for name, size in (sizes or {}).items() if name in names}
        bias = old.bias or old.params is None
        adds_1 = old.zero_centered_gamma and params is not None
        norm = replace(old, stats=stats, params=params, bias=bias, sizes=known, zero_centered_gamma=adds_1)
        norm.axis_sizes(scene.shape)
    except NormvizError as error:
        return Reading(scene, str(error))
    reading = with_fields(scene, () if norm.axes == scene.axes else ("start",), layer=norm, layout=None)
    return reading if reading.problem is None else Reading(scene, reading.problem)


def with_value(scene: scenes.Scene, index: tuple[int, ...], value: float) -> Reading:
    """Change the value of one element of x, and select it. Where x is then the example again, its values need not be written."""
    if not scene.editable:
        message = ngettext(
            "only tensors of up to {n} element can be edited; make the tensor smaller.",
            "only tensors of up to {n} elements can be edited; make the tensor smaller.",
            scenes.MOST_EDITABLE,
        )
        return Reading(scene, message)
    x = scene.description.x
    assert x is not None  # an editable tensor is small enough to compute with
    old = tuple(map(float, x.flatten().tolist())) if scene.values is None else scene.values
    try:
        flat = 0
        for i, size in zip(check_index(index, scene.shape), scene.shape, strict=True):
            flat = flat * size + i
        edited = replace(scene, values=(*old[:flat], value, *old[flat + 1 :]), at=index)
    except NormvizError as error:
        return Reading(scene, str(error))
    example = replace(edited, values=None)
    now, before = edited.description.x, example.description.x
    return Reading(example if now is not None and before is not None and now.equal(before) else edited)


def with_scale(scene: scenes.Scene, gamma: float | None, beta: float | None) -> Reading:
    """Use one gamma and one beta for all elements; None: the layer's own."""
    reading = with_fields(scene, gamma=gamma, beta=beta)
    return reading if reading.problem is None else Reading(scene, reading.problem)


def with_tensor(scene: scenes.Scene, shape: tuple[int, ...], layout: str) -> Reading:
    """Change the shape and the layout. The layer keeps its idea: it follows from the layer that the reader chose last.

    If that has no form on the new tensor, LayerNorm is shown until the tensor has a form for it again.
    """
    if (shape, layout) == (scene.shape, scene.layout):
        return Reading(scene)
    axes = parse_layout(layout, len(shape))
    chosen, before = scene.chosen or (scene.layer, scene.axes)
    problem: str | None = None
    layer: Layer | Norm
    try:
        if isinstance(chosen, Layer):
            layer, problem = fit.carried(chosen, before, shape, axes)
        else:
            layer = _reorder(chosen, shape, axes)
    except NormvizError as error:
        layer = fit.layer_for(scenes.DEFAULT_FAMILY, shape, axes)
        problem = _("{reason} Until then, {layer} is shown.", reason=error, layer=layer)
    if layout == scene.layout and _name(layer) == _name(scene.layer):  # it was said when the layer changed
        problem = None
    at, dropped = scene.at, ["start"]  # the selected element is kept if possible, and drawn
    if at is not None and layout == scene.layout:
        at = tuple(min(i, size - 1) for i, size in zip(at, shape, strict=True))
    elif at is not None:
        dropped.append("at")
    changed = {"shape": shape, "layout": layout, "layer": layer, "values": None, "chosen": (chosen, before)}
    reading = with_fields(scene, dropped, **changed | ({} if "at" in dropped else {"at": at}))
    return replace(reading, problem=problem or reading.problem)


def _name(layer: Layer | Norm) -> str:
    return layer.name if isinstance(layer, Layer) else scenes.PATTERN_FAMILY


def _reorder(norm: Norm, shape: tuple[int, ...], axes: tuple[str, ...]) -> Norm:
    """The same pattern with its axes in the order of ``axes``."""
    if set(axes) != set(norm.axes):
        raise NormvizError(
            "the pattern {pattern} does not have the axes of {layout}; write one with these axes.",
            pattern=repr(norm.stats),
            layout=layout_text(axes),
        )
    parts = dict(zip(norm.axes, norm.pattern.left, strict=True))
    reordered = replace(norm, stats=str(replace(norm.pattern, left=tuple(parts[axis] for axis in axes))))
    reordered.axis_sizes(shape)
    return reordered


def with_eps(scene: scenes.Scene, text: str) -> Reading:
    """Change eps to the text that the reader typed."""
    try:
        eps = None if text == "None" else read_number(text, "eps")
    except NormvizError as error:
        return Reading(scene, str(error))
    if eps is not None and isnan(eps):
        return Reading(scene, _("eps={text} is not a number; write one such as 1e-5.", text=echo(text)))
    return with_arguments(scene, eps=eps)


def with_start(scene: scenes.Scene, start: tuple[int, ...]) -> Reading:
    """Draw other slices of a large tensor; the selected element keeps its place in the drawing."""
    before, after = scene.grid, grid(scene.shape, scene.axes, start)
    at = scene.at
    if at is not None and before.shows(at):
        at = tuple(drawn[i] for drawn, i in zip(after.indices, before.place(at), strict=True))
    return with_fields(scene, start=after.start, at=at)


def with_selected(scene: scenes.Scene, at: tuple[int, ...] | None) -> Reading:
    """Select another element, or none."""
    reading = with_fields(scene, at=at)
    return reading if reading.problem is None else Reading(scene, reading.problem)
