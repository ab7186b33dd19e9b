"""The nearest layer that fits: what a reader means who changes a size and keeps the layer."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from normviz.layers.axes import divisors, layout_text
from normviz.layers.catalogue import FAMILIES, Kind
from normviz.layers.errors import NormvizError, echo, listed
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.sharing import counts
from normviz.layers.torch_errors import check


def fitted(layer: Layer, shape: tuple[int, ...], axes: tuple[str, ...]) -> Layer:
    """The layer of the same family that takes an x of ``shape``, with sizes read from it and all else kept.

    LayerNorm keeps how many trailing axes it normalizes, GroupNorm the nearest number of groups that divides.
    Raises NormvizError where no layer of the family takes that rank.

    >>> str(fitted(Layer.make("LayerNorm", [3, 4, 4]), (2, 5, 6, 6), ("n", "c", "h", "w")))
    'LayerNorm([5, 6, 6])'
    """
    kind = kind_for(layer.kind.family, axes)
    sizes = {name: value for name, value in layer.given.items() if name not in _sized(kind)}
    return Layer.make(kind.name, training=layer.training, **sizes, **_sizes(kind, layer, shape))


def of_family(family: str, shape: tuple[int, ...], axes: tuple[str, ...]) -> Layer:
    """The family's layer on ``shape`` with its default arguments: all that can be reduced is, channels in two groups."""
    kind = kind_for(family, axes)
    return Layer.make(kind.name, **_sizes(kind, None, shape))


def kind_for(family: str, axes: tuple[str, ...]) -> Kind:
    """The kind of the family that takes x's rank, preferring the one that means these axes."""
    rank, layout = len(axes), layout_text(axes)
    if family not in FAMILIES:
        raise NormvizError(f"{echo(family)} is no family of layers; choose {listed(FAMILIES)}.")
    able = [kind for kind in FAMILIES[family] if kind.takes_rank(rank)]
    if not able:
        lows, highs = zip(*(kind.ranks for kind in FAMILIES[family]), strict=True)
        takes = f"{min(lows)} or more" if None in highs else listed(range(min(lows), max(highs) + 1))
        raise NormvizError(f"{family} takes an x of rank {takes}, and this one has rank {rank}, {layout}.")
    return next((kind for kind in able if kind.layout(rank) == layout), able[0])


def _sized(kind: Kind) -> set[str]:
    return {argument.name for argument in kind.arguments if argument.takes in ("size", "shape", "axis")}


def _sizes(kind: Kind, layer: Layer | None, shape: tuple[int, ...]) -> dict[str, Any]:
    """The arguments that x's shape decides."""
    given = dict(layer.given) if layer else {}
    channel = kind.channel(len(shape))
    sizes: dict[str, Any] = {}
    for name in sorted(_sized(kind)):
        if name == "normalized_shape":
            depth = min(len(given.get(name, shape[1:] or shape)), len(shape))
            sizes[name] = list(shape[len(shape) - depth :])
        elif name == "num_groups":
            wanted = given.get(name, 2)
            sizes[name] = min(divisors(shape[1]), key=lambda d: (abs(d - wanted), d))
        elif name == "dim":
            dim = given.get(name, 0)
            sizes[name] = dim if -len(shape) <= dim < len(shape) else -1
        elif channel is not None:
            sizes[name] = shape[channel]
    return sizes


@lru_cache(maxsize=1024)
def torch_layer(norm: Norm, shape: tuple[int, ...]) -> Layer | None:
    """The torch layer that does on ``shape`` what ``norm`` does; None where torch has none.

    >>> str(torch_layer(Norm("a b -> a", "b"), (2, 5)))
    'LayerNorm([5])'
    """
    return next((layer for layer in _candidates(norm, shape) if _alike(norm, layer, shape)), None)


def _alike(norm: Norm, layer: Layer, shape: tuple[int, ...]) -> bool:
    """Do both split x into the same groups, with gammas of the same shape in the same places? Asked of parts, at any size."""
    try:
        check(layer, shape)
        other = layer.norm(norm.axes)
    except NormvizError:
        return False
    facts = [(one.center, one.eps, one.bias, one.running, counts(one, shape).gamma_shape) for one in (norm, other)]
    return (
        facts[0] == facts[1]
        and _grouping(norm, shape) == _grouping(other, shape)
        and _places(norm, shape) == _places(other, shape)
    )


Part = tuple[int, int]  # how long, and how far apart its elements are


def _grouping(norm: Norm, shape: tuple[int, ...]) -> list[list[Part]]:
    """How each axis falls into groups: its parts, a step of 1 for the kept ones. Equal for partings that are alike."""
    sizes = norm.axis_sizes(shape)
    merged = []
    for axis in norm.pattern.left:
        parts: list[Part] = []
        for name in axis:
            kept = int(name in norm.pattern.right)
            if parts and parts[-1][1] == kept and sizes[name] > 1:
                parts[-1] = parts[-1][0] * sizes[name], kept
            elif sizes[name] > 1:
                parts.append((sizes[name], kept))
        merged.append(parts)
    return merged


def _places(norm: Norm, shape: tuple[int, ...]) -> list[list[Part]]:
    """Where each axis of x lands in gamma, flat: its parts and their steps there, those in one row merged."""
    sizes, steps, step = norm.axis_sizes(shape), dict[str, int](), 1
    for name in reversed(norm.gamma_axes):
        steps[name], step = step, step * sizes[name]
    merged = []
    for whole, axis in zip(norm.axes, norm.pattern.left, strict=True):
        parts: list[Part] = []
        for name in (whole,) if whole in steps else axis:
            if parts and parts[-1][1] == steps.get(name, 0) * sizes[name] and sizes[name] > 1:
                parts[-1] = parts[-1][0] * sizes[name], steps.get(name, 0)
            elif sizes[name] > 1:
                parts.append((sizes[name], steps.get(name, 0)))
        merged.append(parts)
    return merged


def _candidates(norm: Norm, shape: tuple[int, ...]) -> list[Layer]:
    rank, affine, eps = len(shape), norm.params is not None, norm.eps
    layers: list[Layer] = []
    trailing = "LayerNorm" if norm.center else "RMSNorm"
    bias = {"bias": norm.bias} if norm.center and affine else {}
    for depth in range(1, rank + 1) if not norm.running and (eps is not None or not norm.center) else ():
        tail = list(shape[rank - depth :])
        layers.append(Layer.make(trailing, tail, eps=eps, elementwise_affine=affine, **bias))
    if not norm.center or eps is None:
        return layers
    tracks = {"track_running_stats": True, "training": False} if norm.running else {}
    for family in ("BatchNorm", "InstanceNorm"):
        for kind in FAMILIES[family]:
            channel = kind.channel(rank)
            if kind.takes_rank(rank) and channel is not None:
                layers.append(Layer.make(kind.name, shape[channel], eps=eps, affine=affine, **bias, **tracks))
    groups = counts(norm, shape).statistics // shape[0]  # GroupNorm has so many in each example
    if rank > 1 and not norm.running and 1 <= groups <= shape[1]:
        layers.append(Layer.make("GroupNorm", groups, shape[1], eps=eps, affine=affine, **bias))
    return layers
