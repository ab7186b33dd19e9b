"""A small look-alike of a layer on a large tensor: the same kind of layer with the same pattern, on few elements."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from normviz.layers.errors import NormvizError
from normviz.layers.fit import refit
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm

SMALL = {"n": 2, "b": 2, "c": 4, "l": 4, "d": 4}  # size of the axis with this name
OTHER, PART = 3, 2  # size of any other axis; size of a part of a split axis
MOST_AXES = 5  # with more axes, every axis has size 2

LayerOnShape = tuple[Layer | Norm, tuple[int, ...]]


def lookalike(layer: Layer | Norm, shape: tuple[int, ...], axes: tuple[str, ...]) -> LayerOnShape:
    """The layer and the shape of the look-alike. An axis that is small already keeps its size.

    >>> layer, shape = lookalike(Layer.make("GroupNorm", 32, 128), (8, 128, 56, 56), ("n", "c", "h", "w"))
    >>> str(layer), shape
    ('GroupNorm(2, 4)', (2, 4, 3, 3))
    """
    if isinstance(layer, Norm):
        return _small_norm(layer, shape)
    small = tuple(min(size, _size(axis, axes)) for axis, size in zip(axes, shape, strict=True))
    found = refit(layer, small, axes)
    if "num_groups" in found.given:
        found = found.with_(num_groups=_groups(layer.given["num_groups"], shape[1], small[1]))
    return found, small


def _size(axis: str, axes: tuple[str, ...]) -> int:
    return SMALL.get(axis, OTHER) if len(axes) <= MOST_AXES else PART


def _groups(groups: int, channels: int, small: int) -> int:
    """A single group stays one; groups of one channel keep one channel each, as does an odd number of channels; otherwise two groups."""
    if groups == channels or small % PART:
        return small if groups > 1 else 1
    return min(groups, PART)


def _small_norm(norm: Norm, shape: tuple[int, ...]) -> tuple[Norm, tuple[int, ...]]:
    sizes = norm.axis_sizes(shape)
    for parts in norm.pattern.left:
        for name in parts:
            sizes[name] = min(sizes[name], PART if len(parts) > 1 else _size(name, norm.axes))
    small = tuple(prod(sizes[name] for name in parts) for parts in norm.pattern.left)
    return replace(norm, sizes={name: sizes[name] for name in norm.split_sizes}), small


def is_lookalike(of: LayerOnShape, layer: Layer | Norm, shape: tuple[int, ...], axes: tuple[str, ...]) -> bool:
    """Whether the layer on the shape is the look-alike of ``of``."""
    try:
        return len(of[1]) == len(axes) and lookalike(*of, axes) == (layer, shape)
    except NormvizError:
        return False
