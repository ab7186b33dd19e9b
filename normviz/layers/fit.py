"""Find a layer for a tensor: the same family on another shape, or the torch layer that computes the same as a Norm."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from normviz.layers.axes import divisors, layout_text
from normviz.layers.catalogue import FAMILIES, Kind
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.sharing import counts
from normviz.layers.torch_errors import allowed_ranks, check
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import _


def refit(layer: Layer, shape: tuple[int, ...], axes: tuple[str, ...]) -> Layer:
    """The layer with its size arguments changed to fit an x of ``shape``.

    LayerNorm keeps its number of normalized axes. GroupNorm takes the nearest number of groups that divides the channels.
    Raises NormvizError if no layer of the family takes that rank.

    >>> str(refit(Layer.make("LayerNorm", [3, 4, 4]), (2, 5, 6, 6), ("n", "c", "h", "w")))
    'LayerNorm([5, 6, 6])'
    """
    kind = kind_for(layer.kind.family, axes)
    others = {name: value for name, value in layer.given.items() if name not in _size_arguments(kind)}
    return Layer.make(kind.name, training=layer.training, **others, **_sizes(kind, layer.given, shape))


@lru_cache(maxsize=1024)
def default_layer(family: str, shape: tuple[int, ...], axes: tuple[str, ...]) -> Layer:
    """The layer of the family with default arguments: LayerNorm over all axes but the first, GroupNorm with as few groups as possible, but two.

    Raises NormvizError if no layer of the family takes that rank.

    >>> (
    ...     str(default_layer("GroupNorm", (2, 8, 5), ("n", "c", "l"))),
    ...     str(default_layer("GroupNorm", (2, 9, 5), ("n", "c", "l"))),
    ... )
    ('GroupNorm(2, 8)', 'GroupNorm(3, 9)')
    """
    kind = kind_for(family, axes)
    return Layer.make(kind.name, **_sizes(kind, {}, shape))


def kind_for(family: str, axes: tuple[str, ...]) -> Kind:
    """The kind of the family that takes an x with these axes, preferably the one with this default layout.

    Raises NormvizError for an unknown family, and if no layer of the family takes that rank.
    """
    rank, layout = len(axes), layout_text(axes)
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
    return next((kind for kind in kinds if kind.layout(rank) == layout), kinds[0])


def _default_groups(channels: int) -> int:
    """The fewest groups with which GroupNorm differs from LayerNorm over all axes but the first: the smallest divisor above 1."""
    return divisors(channels)[:2][-1]


def _size_arguments(kind: Kind) -> list[str]:
    return [argument.name for argument in kind.arguments if argument.takes in ("size", "shape", "axis")]


def _sizes(kind: Kind, given: Mapping[str, Any], shape: tuple[int, ...]) -> dict[str, Any]:
    """The arguments that depend on the shape of x."""
    channel = kind.channel(len(shape))
    sizes: dict[str, Any] = {}
    for name in _size_arguments(kind):
        if name == "normalized_shape":
            depth = min(len(given.get(name, shape[1:] or shape)), len(shape))
            sizes[name] = list(shape[len(shape) - depth :])
        elif name == "num_groups":
            wanted = given.get(name) or _default_groups(shape[1])
            sizes[name] = min(divisors(shape[1]), key=lambda divisor: (abs(divisor - wanted), divisor))
        elif name == "dim":
            dim = given.get(name, 0)
            sizes[name] = dim if -len(shape) <= dim < len(shape) else -1
        elif channel is not None:
            sizes[name] = shape[channel]
    return sizes


@lru_cache(maxsize=1024)
def torch_layer(norm: Norm, shape: tuple[int, ...]) -> Layer | None:
    """The torch layer that computes the same as ``norm`` on an x of ``shape``; None if torch has none.

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
    fields = [(one.center, one.eps, one.bias, one.running, counts(one, shape).gamma_shape) for one in (norm, other)]
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
    if not norm.running and (eps is not None or not norm.center):
        for depth in range(1, rank + 1):
            trailing = list(shape[rank - depth :])
            name = "LayerNorm" if norm.center else "RMSNorm"
            yield Layer.make(name, trailing, eps=eps, elementwise_affine=affine, **bias)
    if not norm.center or eps is None:
        return
    tracks = {"track_running_stats": True, "training": False} if norm.running else {}
    for kind in (*FAMILIES["BatchNorm"], *FAMILIES["InstanceNorm"]):
        channel = kind.channel(rank)
        if kind.takes_rank(rank) and channel is not None:
            yield Layer.make(kind.name, shape[channel], eps=eps, affine=affine, **bias, **tracks)
    groups = counts(norm, shape).statistics // shape[0]  # the groups of each example
    if rank > 1 and not norm.running and 1 <= groups <= shape[1]:
        yield Layer.make("GroupNorm", groups, shape[1], eps=eps, affine=affine, **bias)
