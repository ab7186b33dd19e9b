"""What a control does: from one scene to the next, with the layer refitted where a size changed.

Each change answers with a ``Reading``: where the wanted scene is not valid, the nearest that is, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from normviz.analysis.examples import example
from normviz.analysis.explanation import check_sizes
from normviz.layers.axes import MAX_TEXT, Pattern, layout_text, parse_layout
from normviz.layers.errors import NormvizError, echo
from normviz.layers.fit import default_layer, refit
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.sharing import check_index
from normviz.scene.query import READERS, Reading, nearest
from normviz.scene.scene import Scene

SIZES = {"n": 2, "c": 3, "h": 4, "w": 4, "l": 4, "d": 6}

CHOSEN = ("training", "num_groups", "dim", "normalized_shape")  # by buttons, of which one is pressed


def with_layout(scene: Scene, layout: str | None) -> Reading:
    """Other axes; an axis that stays keeps its size. None - a choice that was let go - changes nothing."""
    if layout is None:
        return with_fields(scene)
    try:
        axes = parse_layout(layout, sum(letter.isalpha() for letter in layout))
    except NormvizError as error:
        return Reading(scene, str(error))
    sizes = SIZES | {"d": 2 if len(axes) > 3 else 6} | dict(zip(scene.axes, scene.shape, strict=True))
    shape = tuple(sizes.get(axis, 2) for axis in axes)
    return _resized(scene, shape, layout)


def with_size(scene: Scene, axis: str, size: int) -> Reading:
    """Another size on one axis."""
    shape = tuple(size if name == axis else old for name, old in zip(scene.axes, scene.shape, strict=True))
    try:
        check_sizes(shape)
    except NormvizError as error:
        return Reading(scene, str(error))
    return _resized(scene, shape, scene.layout)


def with_family(scene: Scene, family: str) -> Reading:
    """The family's layer on the same tensor, with its default arguments; or what is shown as a pattern of the reader's own."""
    if family == "Norm":
        return with_fields(scene, layer=scene.sharing.norm, layout=None)
    try:
        layer = default_layer(family, scene.shape, scene.axes)
    except NormvizError as error:
        return Reading(scene, str(error))
    return with_fields(scene, layer=layer)


def with_arguments(scene: Scene, **arguments: Any) -> Reading:
    """Other arguments of the layer, or another mode (``training``). A choice that was let go, None, changes nothing."""
    if not isinstance(scene.layer, Layer) or None in [arguments.get(name, 0) for name in CHOSEN]:
        return with_fields(scene)
    try:
        return with_fields(scene, layer=scene.layer.with_(**arguments))
    except NormvizError as error:
        return Reading(scene, str(error))


def with_pattern_text(scene: Scene, text: str, params: str | None) -> Reading:
    """A pattern as a reader writes it, the sizes of split axes behind a semicolon: ``n (g k) h w -> n g; g=2``."""
    if len(text) > MAX_TEXT:
        return Reading(
            scene, f"{echo(text)} has {len(text):,} letters; write up to {MAX_TEXT}, as in 'n (g k) h w -> n g; g=2'."
        )
    stats, _, given = text.partition(";")
    try:
        sizes = {
            name.strip(): int(size) for name, size in (pair.split("=") for pair in given.split(",") if pair.strip())
        }
    except ValueError:
        return Reading(scene, f"{echo(given.strip())} gives no sizes; write them as in 'n (g k) h w -> n g; g=2'.")
    return with_pattern(scene, stats, params, sizes)


def pattern_text(norm: Norm) -> str:
    """The statistics pattern as ``with_pattern_text`` reads it."""
    sizes = ", ".join(f"{name}={size}" for name, size in norm.split_sizes.items())
    return f"{norm.stats}; {sizes}" if sizes else norm.stats


def with_pattern(scene: Scene, stats: str, params: str | None, sizes: Mapping[str, int] | None = None) -> Reading:
    """A pattern of the reader's own. Its axes must be as many as x's."""
    old = scene.layer if isinstance(scene.layer, Norm) else Norm("n -> n", "")
    try:
        names = Pattern.parse(stats).names
        known = {name: size for name, size in (sizes or {}).items() if name in names}
        bias = old.bias or old.params is None
        norm = replace(old, stats=stats, params=params, bias=bias, sizes=known)
        norm.axis_sizes(scene.shape)
    except NormvizError as error:
        return Reading(scene, str(error))
    now = _fields(scene) | {"layer": norm, "layout": None}
    if norm.axes != scene.axes:
        del now["start"]
    reading = nearest(**now)
    return reading if reading.problem is None else Reading(scene, reading.problem)


def edited(scene: Scene, index: tuple[int, ...], value: float) -> Reading:
    """One element of x changed."""
    if not scene.editable:
        return Reading(scene, "only tensors of up to 64 elements can be edited; make the tensor smaller.")
    if scene.values is None:
        old = tuple(example(scene.data, scene.shape, scene.axes, scene.seed).flatten().tolist())
    else:
        old = scene.values
    try:
        flat = 0
        for i, size in zip(check_index(index, scene.shape), scene.shape, strict=True):
            flat = flat * size + i
        return Reading(replace(scene, values=(*old[:flat], value, *old[flat + 1 :]), at=index))
    except NormvizError as error:
        return Reading(scene, str(error))


def with_fields(scene: Scene, **changed: Any) -> Reading:
    """The scene with these fields."""
    try:
        for name in ("data", "params"):
            _ = name in changed and READERS[name](changed[name])
    except NormvizError as error:
        return Reading(scene, str(error))
    return nearest(**_fields(scene) | changed)


def _fields(scene: Scene) -> dict[str, Any]:
    return {field.name: getattr(scene, field.name) for field in fields(scene)}


def _resized(scene: Scene, shape: tuple[int, ...], layout: str) -> Reading:
    layer = scene.layer
    axes = parse_layout(layout, len(shape))
    try:
        layer = _refitted(scene, layer, shape, axes) if isinstance(layer, Layer) else _rewritten(layer, shape, axes)
    except NormvizError as error:
        layer = default_layer("LayerNorm", shape, axes)
        reading = _moved(scene, shape, layout, layer)
        return Reading(reading.scene, str(error))
    return _moved(scene, shape, layout, layer)


def _refitted(scene: Scene, layer: Layer, shape: tuple[int, ...], axes: tuple[str, ...]) -> Layer:
    """The layer of the same family that fits; where the first axis was not normalized over, it is not now."""
    fit, trailing = refit(layer, shape, axes), layer.given.get("normalized_shape", scene.shape)
    if len(trailing) < len(scene.shape) and fit.given.get("normalized_shape") == shape and len(shape) > 1:
        return fit.with_(normalized_shape=list(shape[1:]))
    return fit


def _rewritten(norm: Norm, shape: tuple[int, ...], axes: tuple[str, ...]) -> Norm:
    """The same pattern on the same axes in another order."""
    if set(axes) != set(norm.axes):
        raise NormvizError(
            f"the pattern {norm.stats!r} is not written for {layout_text(axes)}; write one for its axes."
        )
    parts = dict(zip(norm.axes, norm.pattern.left, strict=True))
    written = replace(norm, stats=str(replace(norm.pattern, left=tuple(parts[axis] for axis in axes))))
    written.axis_sizes(shape)
    return written


def _moved(scene: Scene, shape: tuple[int, ...], layout: str, layer: Layer | Norm) -> Reading:
    """The selected element stays where it can, in a window that shows it; else the usual one is selected."""
    now = _fields(scene) | {"shape": shape, "layout": layout, "layer": layer, "values": None}
    del now["start"]
    if scene.at is not None and layout == scene.layout:
        now["at"] = tuple(min(i, size - 1) for i, size in zip(scene.at, shape, strict=True))
    elif scene.at is not None:
        del now["at"]
    return nearest(**now)


def with_eps(scene: Scene, text: str | None) -> Reading:
    """Another eps, as a reader writes it."""
    try:
        eps = None if text in (None, "None") else float(text or "")
    except ValueError:
        return Reading(scene, f"eps={echo(text)} is no number; write one such as 1e-5.")
    return with_arguments(scene, eps=eps)


def with_window(scene: Scene, axis: int, first: int) -> Reading:
    """Another part of the tensor drawn; the selected element moves with it."""
    first = max(0, min(first, scene.shape[axis] - scene.grid.extent[axis]))
    start = tuple(first if i == axis else at for i, at in enumerate(scene.grid.start))
    at = scene.at
    if at is not None:
        step = first - scene.grid.start[axis]
        at = tuple(min(max(i + step, 0), scene.shape[axis] - 1) if k == axis else i for k, i in enumerate(at))
    return with_fields(scene, start=start, at=at)


def selected(scene: Scene, at: tuple[int, ...] | None) -> Reading:
    """Another selected element, or none."""
    return with_fields(scene, at=at)


def on_tensor(scene: Scene, shape: tuple[int, ...], layout: str) -> Reading:
    """Another tensor, with the layer refitted to it."""
    return _resized(scene, shape, layout)


def with_seed(scene: Scene, seed: int) -> Reading:
    """Another draw of the example data."""
    try:
        return with_fields(scene, seed=READERS["seed"](str(seed)))
    except NormvizError as error:
        return Reading(scene, str(error))
