"""A layer that fits a tensor: the same layer, the same idea or a layer of the family, on an x of another shape."""

from collections.abc import Mapping
from functools import lru_cache
from math import prod
from typing import Any

from normviz.layers.arguments import layer_not_in_torch
from normviz.layers.axes import divisors, example_shape, layout_text, parse_layout
from normviz.layers.catalogue import ABSENT, FAMILIES, Argument, Kind, kind_on
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
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
    options = {option.name: layer.given[option.name] for option in kind.options}
    return Layer.make(kind.name, training=layer.training, **options, **_sizes(kind, layer.given, shape, axes))


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


@lru_cache(maxsize=1024)
def suitable_kind(family: str, axes: tuple[str, ...]) -> Kind:
    """``kind_for``; raises NormvizError if it does not suit an x with these axes."""
    kind = kind_for(family, axes)
    if kind.suits(axes):
        return kind
    reason = _("It needs examples on axis 0, and C on axis 1 or on the last axis.")
    if family == "InstanceNorm" and len(axes) == 2:
        reason = _("A channel of an example has only one value there, and its variance is 0.")
    raise NormvizError(
        "{layer} has no form on ({axes}). {reason}", layer=family, axes=", ".join(axes).upper(), reason=reason
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
    changes = layer.changes
    if names == axes[len(axes) - len(names) :]:
        name = "LayerNorm" if layer.name == C_FIRST else layer.name
        return Layer.make(name, shape[len(axes) - len(names) :], training=layer.training, **changes)
    if names == axes[1:2] and layer.kind.center and set(changes) <= {"eps"}:
        return Layer.make(C_FIRST, shape[1], training=layer.training, **changes)
    return None


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


@lru_cache(maxsize=1024)
def kind_for(family: str, axes: tuple[str, ...]) -> Kind:
    """``kind_on``. Raises NormvizError for an unknown family, and if no layer of the family takes that rank."""
    if family in ABSENT:
        raise layer_not_in_torch(family)
    if family not in FAMILIES:
        raise NormvizError(
            "{family} is not a family of layers; choose {families}.", family=echo(family), families=listed(FAMILIES)
        )
    kind = kind_on(family, axes)
    if kind is None:
        raise NormvizError(
            "{layer} takes an x of rank {ranks}, and this x has rank {rank}, layout {layout}.",
            layer=family,
            ranks=allowed_ranks(FAMILIES[family]),
            rank=len(axes),
            layout=layout_text(axes),
        )
    return kind


def _groups(wanted: int | None, channels: int) -> int:
    """The number of groups nearest to ``wanted``, but between 1 and ``channels`` if possible; the fewest groups but one, if None is wanted."""
    found = divisors(channels)
    if wanted is None:
        return found[:2][-1]
    return min(found[1:-1] or found, key=lambda divisor: (abs(divisor - wanted), divisor))


def _sizes(kind: Kind, given: Mapping[str, Any], shape: tuple[int, ...], axes: tuple[str, ...]) -> dict[str, Any]:
    """The arguments that depend on the shape of x; the ``given`` ones, where they fit."""
    channel = kind.channel(len(shape))
    channels = shape[channel] if channel is not None and channel < len(shape) else 1  # 1: refused by ``check``

    def size(argument: Argument) -> Any:
        wanted = given.get(argument.name)
        if argument.takes == "shape":
            return shape[len(shape) - _depth(len(wanted or ()), axes) :]
        if argument.takes == "axis":
            return (wanted or 0) if -len(shape) <= (wanted or 0) < len(shape) else -1
        if argument.takes == "groups":
            return wanted if channels == given.get("num_channels") else _groups(wanted, channels)
        return channels

    return {argument.name: size(argument) for argument in kind.sizes}


def _depth(wanted: int, axes: tuple[str, ...]) -> int:
    """The number of last axes that are normalized: as many as ``wanted``, if x has them, or the usual ones."""
    if 1 <= wanted <= len(axes):
        return wanted
    usual = _usual_axes(axes)
    return len(usual if usual == axes[len(axes) - len(usual) :] else axes[1:])
