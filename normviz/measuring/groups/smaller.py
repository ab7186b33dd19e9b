"""A smaller shape for a function of a large tensor: most functions take one, and a normalization does the same there, in less time."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from normviz.layers.errors import NormvizError
from normviz.measuring.groups.partition import Axis, Index
from normviz.measuring.groups.reach import measure_reach
from normviz.measuring.inputs import probes
from normviz.measuring.inputs.calling import Function

SHORTEST = 3  # the size of a first axis that is cut; the next ones are longer, because equal sizes could hide a confusion of axes


def smaller_shape(function: Function, shape: Index, allowed: Callable[[Index], bool]) -> Index:
    """The shape with short axes, where the function takes them and they are allowed; the shape itself if it is not large."""
    if prod(shape) <= probes.LARGE:
        return shape
    for axis, size in enumerate(shape):
        cut = (*shape[:axis], min(size, SHORTEST + axis), *shape[axis + 1 :])
        if cut != shape and allowed(cut) and _takes(function, cut):
            shape = cut
    return shape


def is_alike(function: Function, shape: Index, smaller: Index, axes: tuple[Axis, ...] | None) -> bool:
    """Whether one input reaches the same axes in both shapes, and no axis that was cut is split into groups."""
    cut = [one != other for one, other in zip(shape, smaller, strict=True)]
    if axes is None or any(is_cut and len(axis.parts) > 1 for is_cut, axis in zip(cut, axes, strict=True)):
        return False
    whole = measure_reach(function, shape, function.dtype, few=0).axes()
    return whole is not None and [axis.kept for axis in whole] == [axis.kept for axis in axes]


def _takes(function: Function, shape: Index) -> bool:
    try:
        function(probes.generic(shape, function.dtype))
    except NormvizError:
        return False
    return True
