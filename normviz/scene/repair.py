"""Make a valid scene from fields that may be invalid: the nearest valid scene, and the first error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from normviz.layers.axes import LETTER, layout_text, parse_layout
from normviz.layers.fit import default_layer, kind_for, refit
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.substitutes import Remedy, remedies
from normviz.scene.grid import grid, start_with
from normviz.scene.scene import DEFAULT_FAMILY, DEFAULT_SHAPE, Scene, default_at
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import _

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Reading:
    """A valid scene, and the first error in the requested fields, if any.

    substitute  whether the scene has another layer or another x than requested
    remedies    what torch accepts instead of the layer that it refuses
    """

    scene: Scene
    problem: str | None = None
    substitute: bool = False
    remedies: tuple[Remedy, ...] = ()


def repair(**wanted: Any) -> Reading:
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


def _nearest(wanted: Fields) -> Scene:
    # The bits of ``number`` choose the repairs: all combinations of repairs that change less are tried first.
    for number in range(1, 2 ** len(REPAIRS)):
        try:
            return _scene(_repaired(wanted, number))
        except NormvizError:
            continue
    return _scene({})


def _remedies(wanted: Fields) -> tuple[Remedy, ...]:
    """The remedies for the layer that a view can show; empty if torch does not refuse it."""
    layer = wanted.get("layer")
    if not isinstance(layer, Layer):
        return ()
    try:
        shape, axes = _tensor(wanted)
    except NormvizError:
        return ()
    return tuple(remedy for remedy in remedies(layer, shape, axes) if _can_be_shown(remedy))


def _can_be_shown(remedy: Remedy) -> bool:
    try:
        _scene(remedy_fields(remedy))
    except NormvizError:
        return False
    return True


def remedy_fields(remedy: Remedy) -> dict[str, Any]:
    """The fields of a scene that shows the remedy."""
    return {"layer": remedy.layer, "shape": remedy.shape, "layout": remedy.layout}


def with_fields(scene: Scene, **changed: Any) -> Reading:
    """The scene with these fields changed."""
    return repair(**scene_fields(scene) | changed)


def scene_fields(scene: Scene) -> dict[str, Any]:
    return {field.name: getattr(scene, field.name) for field in fields(scene)}


def _repaired(wanted: Fields, number: int) -> Fields:
    """The fields after the repairs that the bits of ``number`` choose, the one that changes most first."""
    for place in reversed(range(len(REPAIRS))):
        if number >> place & 1:
            wanted = REPAIRS[place](wanted)
    return wanted


def _drop(name: str) -> Callable[[Fields], Fields]:
    def drop(wanted: Fields) -> Fields:
        if name not in wanted:
            raise NormvizError(f"there is no {name} to drop.")
        return {other: value for other, value in wanted.items() if other != name}

    return drop


def _move_slices(wanted: Fields) -> Fields:
    """Move the first drawn slices into the tensor."""
    shape, axes = _tensor(wanted)
    return {**wanted, "start": grid(shape, axes, wanted.get("start", ())).start}


def _refit_layer(wanted: Fields) -> Fields:
    """Refit the layer to the tensor."""
    (shape, axes), layer = _tensor(wanted), _torch_layer(wanted)
    return {**wanted, "layer": refit(layer, shape, axes)}


def _take_first_remedy(wanted: Fields) -> Fields:
    """Show what was probably meant: the first remedy; if there is none, the layer refitted to the tensor."""
    (shape, axes), layer = _tensor(wanted), _torch_layer(wanted)
    first = next(iter(remedies(layer, shape, axes)), None)
    return _refit_layer(wanted) if first is None else {**wanted, **remedy_fields(first)}


def _torch_layer(wanted: Fields) -> Layer:
    layer = wanted.get("layer")
    if not isinstance(layer, Layer):
        raise NormvizError("a pattern has no sizes to fit.")
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
    _drop("at"),
    _move_slices,
    _drop("values"),
    _take_first_remedy,
    _drop("layout"),
    _widen_axis,
    _drop("layer"),
    _drop("shape"),
)


def _scene(wanted: Fields) -> Scene:
    shape, axes = _tensor(wanted)
    given = {name: value for name, value in wanted.items() if name not in ("shape", "layout")}
    if "layer" not in given:
        given["layer"] = default_layer(DEFAULT_FAMILY, shape, axes)
    if "start" not in given:
        given["start"] = _start_with(given.get("at"), shape, axes)
    if "at" not in given:
        given["at"] = default_at(shape, axes, given["start"])
    return Scene(shape, layout_text(axes), **given)


def _tensor(wanted: Fields) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The shape and its axes; without a layout, the axes that the layer expects."""
    layer, shape = wanted.get("layer"), wanted.get("shape", DEFAULT_SHAPE)
    layout = wanted.get("layout")
    if isinstance(layer, Norm):
        _check_letters(layer, shape)
        layout = layout_text(layer.axes) if layout is None else layout
    elif layout is None:
        kind = layer.kind if layer else kind_for(DEFAULT_FAMILY, tuple("x" * len(shape)))
        layout = kind.layout(len(shape))
    return shape, parse_layout(layout, len(shape))


def _check_letters(norm: Norm, shape: tuple[int, ...]) -> None:
    norm.axis_sizes(shape)
    for name in norm.axes:
        if not LETTER.fullmatch(name.upper()):
            raise NormvizError(
                _("a view names each axis by one letter, as in 'n c h w -> n'; {name} has more.", name=echo(name))
            )


def _start_with(at: tuple[int, ...] | None, shape: tuple[int, ...], axes: tuple[str, ...]) -> tuple[int, ...]:
    """The first slices of a drawing that shows the element ``at``."""
    if at is None or len(at) != len(shape):
        return ()
    return start_with(at, shape, axes)
