"""Find a layer for a tensor: the same family on another shape, or the torch layer that computes the same as a Norm."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from math import prod
from typing import Any

from normviz.layers.axes import divisors, example_shape, layout_text, parse_layout
from normviz.layers.catalogue import ABSENT, FAMILIES, KINDS, Kind, layer_not_in_torch
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.sharing import counts
from normviz.layers.torch_errors import allowed_ranks, check
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import _


def refit(layer: Layer, shape: tuple[int, ...], axes: tuple[str, ...], kind: Kind | None = None) -> Layer:
    """The layer with its size arguments changed to fit an x of ``shape``; of this kind, or of the family's kind for such an x.

    LayerNorm keeps its number of normalized axes. GroupNorm keeps its groups if the number of channels is the same; otherwise it takes
    the nearest number between 1 and the number of channels that divides it, if there is one.
    Raises NormvizError if no layer of the family takes that rank.

    >>> str(refit(Layer.make("LayerNorm", [3, 4, 4]), (2, 5, 6, 6), ("n", "c", "h", "w")))
    'LayerNorm([5, 6, 6])'
    """
    if kind is None or not kind.takes_rank(len(shape)):
        kind = kind_for(layer.kind.family, axes)
    others = {name: value for name, value in layer.given.items() if name not in _size_arguments(kind)}
    return Layer.make(kind.name, training=layer.training, **others, **_sizes(kind, layer.given, shape, axes))


# The same idea on a tensor with other axes

C_FIRST = "ChannelsFirstLayerNorm"


def carried(
    layer: Layer, before: tuple[str, ...], shape: tuple[int, ...], axes: tuple[str, ...]
) -> tuple[Layer, str | None]:
    """The layer with the same idea on an x with other axes; and a sentence, if it has no counterpart and another layer takes its place.

    BatchNorm, InstanceNorm and GroupNorm stay with the channels. LayerNorm and RMSNorm normalize the usual axes of the new x if they
    normalized the usual ones of the old; all but the first, if they did so; or the same letters. With the same axes, only sizes change.

    Raises NormvizError if the family has no layer for such an x, as InstanceNorm for (N, D).

    >>> nchw, nlc = ("n", "c", "h", "w"), ("n", "l", "c")
    >>> str(carried(Layer.make("LayerNorm", [4, 3, 5]), nchw, (2, 5, 4), nlc)[0])
    'LayerNorm([4])'
    >>> str(carried(Layer.make("BatchNorm2d", 4), nchw, (2, 5, 4), nlc)[0])
    'ChannelsLastBatchNorm(4)'
    """
    kind = layer.kind
    if before == axes:
        return refit(layer, shape, axes, kind), None
    if kind.channel_axis is None or kind.name == C_FIRST:
        return _carried_layer_norm(layer, before, shape, axes)
    if "dim" in layer.given:
        name, fit = before[layer.given["dim"]], refit(layer, shape, axes)
        if name in axes:
            return fit.with_(dim=axes.index(name)), None
        fit = fit.with_(dim=0)
        return fit, _no_counterpart(layer, before, fit, axes)
    return refit(layer, shape, axes, suitable_kind(kind.family, axes)), None


def layer_for(family: str, shape: tuple[int, ...], axes: tuple[str, ...]) -> Layer:
    """``default_layer`` if it suits an x with these axes; on (N, C, L) for LayerNorm, the layer that normalizes over C.

    Raises NormvizError if the family has no layer for such an x, as InstanceNorm for (N, D).
    """
    suitable_kind(family, axes)
    default = default_layer(family, shape, axes)
    return (family == "LayerNorm" and _over(default, _usual_axes(axes), shape, axes)) or default


def suitable_kind(family: str, axes: tuple[str, ...]) -> Kind:
    """``kind_for``; raises NormvizError if it does not suit an x with these axes."""
    kind = kind_for(family, axes)
    if kind.suits(axes):
        return kind
    reason = _("It needs examples on axis 0, and C on axis 1 or on the last axis.")
    if family == "InstanceNorm" and len(axes) == 2:
        reason = _("A channel of an example has only one value there, and its variance is 0.")
    raise NormvizError(
        _("{layer} has no form on ({axes}). {reason}"), layer=family, axes=", ".join(axes).upper(), reason=reason
    )


def _no_counterpart(layer: Layer, before: tuple[str, ...], new: Layer, axes: tuple[str, ...]) -> str:
    return _(
        "{layer} on ({before}) has no counterpart on ({axes}), so {new} is shown.",
        layer=layer, before=", ".join(before).upper(), new=new, axes=", ".join(axes).upper(),
    )  # fmt: skip


def _usual_axes(axes: tuple[str, ...]) -> tuple[str, ...]:
    """The axes that LayerNorm usually normalizes: D of (N, D), C of a sequence or where it is last, otherwise all but the batch."""
    if axes[0] == "c":
        return axes
    if len(axes) < 3 or axes[-1] == "c" or (axes[-1] == "d" and "c" not in axes):
        return axes[-1:]
    return ("c",) if len(axes) == 3 and axes[1] == "c" else axes[1:]


def _over(layer: Layer, names: tuple[str, ...], shape: tuple[int, ...], axes: tuple[str, ...]) -> Layer | None:
    """LayerNorm or RMSNorm, with the options of ``layer``, over these axes; None if there is none."""
    sizes = _size_arguments(layer.kind)
    changed = {one.name: layer.given[one.name] for one in layer.kind.arguments if one.name not in sizes}
    changed = {name: value for name, value in changed.items() if value != _default(layer.kind, name)}
    if names == axes[len(axes) - len(names) :]:
        name = "LayerNorm" if layer.name == C_FIRST else layer.name
        return Layer.make(name, shape[len(axes) - len(names) :], training=layer.training, **changed)
    can_be_first = layer.kind.center and set(changed) <= {"eps"}
    return (
        Layer.make(C_FIRST, shape[1], training=layer.training, **changed)
        if can_be_first and names == axes[1:2]
        else None
    )


def _default(kind: Kind, name: str) -> Any:
    return next(argument.default for argument in kind.arguments if argument.name == name)


def _carried_layer_norm(
    layer: Layer, before: tuple[str, ...], shape: tuple[int, ...], axes: tuple[str, ...]
) -> tuple[Layer, str | None]:
    depth = len(layer.given.get("normalized_shape", ()))
    names = before[len(before) - depth :] if depth else before[1:2]
    counterparts = (
        (names == _usual_axes(before), _usual_axes(axes)),
        (names == before[1:], axes[1:] or axes),
        (names == before, axes),
        (set(names) <= set(axes), names),
    )
    for applies, counterpart in counterparts:
        if applies and (found := _over(layer, counterpart, shape, axes)):
            return found, None
    found = _over(layer, _usual_axes(axes), shape, axes) or _over(layer, axes[1:], shape, axes)
    assert found is not None  # all but the first are last axes
    return found, _no_counterpart(layer, before, found, axes)


def example_for(layer: Layer | Norm, axes: tuple[str, ...] | None = None) -> tuple[int, ...]:
    """The shape of an example that the layer takes, with these axes or those that are usual for it.

    Raises NormvizError if the layer does not take an x with these axes.

    >>> example_for(Layer.make("LayerNorm", 96)), example_for(Layer.make("BatchNorm2d", 64))
    ((2, 5, 96), (2, 64, 3, 5))
    """
    if isinstance(layer, Norm):
        sizes = dict(zip(layer.axes, example_shape(layer.axes), strict=True))
        for axis, parts in layer.parts.items():
            if len(parts) > 1:
                sizes[axis] = prod(layer.split_sizes.get(part, 2) for part in parts)
        return tuple(sizes[axis] for axis in layer.axes)
    given, kind = layer.given, layer.kind
    trailing = given.get("normalized_shape", ())
    if axes is None:
        rank = 3 if len(trailing) == 1 or kind.channels_last else max(4, len(trailing) + 1)
        rank = rank if kind.takes_rank(rank) else kind.ranks[1] or rank
        axes = parse_layout(kind.layout(rank), rank)
    channels, channel = given.get("num_features", given.get("num_channels")), kind.channel(len(axes))
    known = dict(zip(reversed(axes), reversed(trailing), strict=False))
    if channel is not None:
        known = {axes[channel]: channels} if kind.takes_rank(len(axes)) else {}
    shape = example_shape(axes, known)
    check(layer, shape)
    return shape


@lru_cache(maxsize=1024)
def default_layer(family: str, shape: tuple[int, ...], axes: tuple[str, ...]) -> Layer:
    """The layer of the family with default arguments: LayerNorm over the usual axes, GroupNorm with as few groups as possible, but two.

    Raises NormvizError if no layer of the family takes that rank.

    >>> (
    ...     str(default_layer("GroupNorm", (2, 8, 5), ("n", "c", "l"))),
    ...     str(default_layer("GroupNorm", (2, 9, 5), ("n", "c", "l"))),
    ... )
    ('GroupNorm(2, 8)', 'GroupNorm(3, 9)')
    """
    kind = kind_for(family, axes)
    return Layer.make(kind.name, **_sizes(kind, {}, shape, axes))


def example_on(kind: Kind, shape: tuple[int, ...], layout: str | None = None) -> Layer:
    """A layer of this kind that takes an x of ``shape``. Raises NormvizError if there is none.

    >>> str(example_on(FAMILIES["GroupNorm"][0], (2, 6, 5)))
    'GroupNorm(2, 6)'
    """
    axes = parse_layout(kind.layout(len(shape)) if layout is None else layout, len(shape))
    layer = Layer.make(kind.name, **_sizes(kind, {}, shape, axes))
    check(layer, shape)
    return layer


def kind_for(family: str, axes: tuple[str, ...]) -> Kind:
    """The kind of the family that takes an x with these axes, preferably the one with this default layout, or one that suits them.

    Raises NormvizError for an unknown family, and if no layer of the family takes that rank.
    """
    rank, layout = len(axes), layout_text(axes)
    if family in ABSENT:
        raise layer_not_in_torch(family)
    if family not in FAMILIES:
        raise NormvizError(
            _("{family} is not a family of layers; choose {families}."), family=echo(family), families=listed(FAMILIES)
        )
    kinds = [kind for kind in FAMILIES[family] if kind.takes_rank(rank)]
    if not kinds:
        ranks = allowed_ranks(FAMILIES[family])
        raise NormvizError(
            _("{layer} takes an x of rank {ranks}, and this x has rank {rank}, layout {layout}."),
            layer=family,
            ranks=ranks,
            rank=rank,
            layout=layout,
        )
    preferred = (kind for kind in kinds if kind.suits(axes))
    return next((kind for kind in kinds if kind.layout(rank) == layout), next(preferred, kinds[0]))


def _groups(wanted: int | None, channels: int) -> int:
    """The number of groups nearest to ``wanted``, but between 1 and ``channels`` if possible; the fewest groups but one, if None is wanted."""
    found = divisors(channels)
    if wanted is None:
        return found[:2][-1]
    return min(found[1:-1] or found, key=lambda divisor: (abs(divisor - wanted), divisor))


def _size_arguments(kind: Kind) -> list[str]:
    return [argument.name for argument in kind.arguments if argument.takes in ("size", "shape", "axis")]


def _sizes(kind: Kind, given: Mapping[str, Any], shape: tuple[int, ...], axes: tuple[str, ...]) -> dict[str, Any]:
    """The arguments that depend on the shape of x."""
    channel = kind.channel(len(shape))
    sizes: dict[str, Any] = {}
    for name in _size_arguments(kind):
        if name == "normalized_shape":
            depth = len(given.get(name, ()))
            if not 1 <= depth <= len(shape):
                usual = _usual_axes(axes)
                depth = len(usual if usual == axes[len(axes) - len(usual) :] else axes[1:])
            sizes[name] = shape[len(shape) - depth :]
        elif name == "num_groups" and channel is not None:
            same = shape[channel] == given.get("num_channels")
            sizes[name] = given[name] if same else _groups(given.get(name), shape[channel])
        elif name == "dim":
            dim = given.get(name, 0)
            sizes[name] = dim if -len(shape) <= dim < len(shape) else -1
        elif channel is not None:
            sizes[name] = shape[channel]
    return sizes


@lru_cache(maxsize=1024)
def torch_layer(norm: Norm, shape: tuple[int, ...]) -> Layer | None:
    """The torch layer that computes the same as ``norm`` on an x of ``shape``; None if torch has none. It may multiply by 1 + gamma.

    >>> str(torch_layer(Norm("a b -> a", "b"), (2, 5)))
    'LayerNorm([5])'
    """
    return next((layer for layer in _candidates(norm, shape) if is_equivalent(layer, norm, shape)), None)


def is_equivalent(layer: Layer, norm: Norm, shape: tuple[int, ...]) -> bool:
    """Whether the layer computes the same as ``norm`` on an x of ``shape``. The time does not depend on the sizes."""
    try:
        check(layer, shape)
        other = layer.norm(norm.axes)
    except NormvizError:
        return False
    fields = [
        (one.center, one.eps, one.bias, one.running, one.zero_centered_gamma, counts(one, shape).gamma_shape)
        for one in (norm, other)
    ]
    return (
        fields[0] == fields[1]
        and _stat_parts(norm, shape) == _stat_parts(other, shape)
        and _gamma_parts(norm, shape) == _gamma_parts(other, shape)
    )


AxisPart = tuple[int, int]  # the size and the stride of one part of an axis


def _stat_parts(norm: Norm, shape: tuple[int, ...]) -> list[list[AxisPart]]:
    """The parts of each axis of x, with stride 1 for kept parts and 0 for reduced ones."""
    sizes = norm.axis_sizes(shape)
    return [
        _merge(
            ((sizes[name], int(name in norm.pattern.right)) for name in axis), lambda outer, size, inner: outer == inner
        )
        for axis in norm.pattern.left
    ]


def _gamma_parts(norm: Norm, shape: tuple[int, ...]) -> list[list[AxisPart]]:
    """The parts of each axis of x, with their stride in flattened gamma."""
    sizes, strides, step = norm.axis_sizes(shape), dict[str, int](), 1
    for name in reversed(norm.gamma_axes):
        strides[name], step = step, step * sizes[name]
    return [
        _merge(
            ((sizes[name], strides.get(name, 0)) for name in ((whole,) if whole in strides else axis)),
            lambda outer, size, inner: outer == size * inner,
        )
        for whole, axis in zip(norm.axes, norm.pattern.left, strict=True)
    ]


def _merge(parts: Iterable[AxisPart], can_merge: Callable[[int, int, int], bool]) -> list[AxisPart]:
    """Drop parts of size 1, and merge neighbors where ``can_merge(outer stride, inner size, inner stride)``."""
    merged: list[AxisPart] = []
    for size, stride in parts:
        if merged and size > 1 and can_merge(merged[-1][1], size, stride):
            merged[-1] = merged[-1][0] * size, stride
        elif size > 1:
            merged.append((size, stride))
    return merged


def _candidates(norm: Norm, shape: tuple[int, ...]) -> Iterator[Layer]:
    rank, affine, eps = len(shape), norm.params is not None, norm.eps
    bias = {"bias": norm.bias} if norm.center and affine else {}
    factor = {"zero_centered_gamma": norm.zero_centered_gamma}
    if not norm.running and (eps is not None or not norm.center):
        for depth in range(1, rank + 1):
            trailing = list(shape[rank - depth :])
            name = "LayerNorm" if norm.center else "RMSNorm"
            if name in KINDS:
                yield Layer.make(name, trailing, eps=eps, elementwise_affine=affine, **bias, **factor)
    if not norm.center or eps is None:
        return
    tracks = {"track_running_stats": True, "training": False} if norm.running else {}
    groups = counts(norm, shape).statistics // shape[0]  # the groups of each example
    kinds = (
        kind
        for family in ("BatchNorm", "InstanceNorm", "GroupNorm")
        for kind in FAMILIES[family]
        if kind.takes_rank(rank)
    )
    for kind in sorted(kinds, key=lambda kind: kind.channels_last):
        channel = kind.channel(rank)
        assert channel is not None
        given = {name: value for name, value in bias.items() if name not in kind.missing}
        if kind.family != "GroupNorm":
            yield Layer.make(kind.name, shape[channel], eps=eps, affine=affine, **given, **tracks)
        elif not norm.running and 1 <= groups <= shape[channel]:
            yield Layer.make(kind.name, groups, shape[channel], eps=eps, affine=affine, **given)
