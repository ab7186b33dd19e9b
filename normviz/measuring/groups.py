"""Which elements of a tensor share their statistics, found by moving one input at a time.

An input moves every output of its group, through the mean and the variance. The groups are a partition of the elements; an ``Axis`` says
for one axis of x which of its indices can be in the same group.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import prod

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from normviz.layers.axes import divisors
from normviz.measuring import probe
from normviz.measuring.probe import Function

__tracebackhide__ = True  # pytest shows the frame of the caller

Index = tuple[int, ...]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Axis:
    """What the elements of a group have in common along one axis.

    parts  the sizes of the parts into which the axis is split; a whole axis has one
    kept   for each part, whether it is the same for all elements of a group
    """

    parts: tuple[int, ...]
    kept: tuple[bool, ...]

    @property
    def is_reduced(self) -> bool:
        """Whether a group has more than one index of the axis."""
        return any(size > 1 and not kept for size, kept in zip(self.parts, self.kept, strict=True))

    @property
    def classes(self) -> NDArray[np.int64]:
        """A number for each index, from 0: two indices can be in one group if their numbers are equal."""
        positions = np.unravel_index(np.arange(prod(self.parts)), self.parts)
        number = np.zeros(prod(self.parts), dtype=np.int64)
        for position, size, kept in zip(positions, self.parts, self.kept, strict=True):
            number = number * size + position if kept else number
        return number


@lru_cache(maxsize=64)
def candidates(size: int) -> tuple[Axis, ...]:
    """Every way in which an axis can be part of a group, the simplest first: whole, split in two, split in three parts.

    Of three parts, either the middle one is kept, or the two others.
    """
    found = [Axis((size,), (True,)), Axis((size,), (False,))]
    proper = [part for part in divisors(size) if 1 < part < size]
    for outer in proper:
        found += [Axis((outer, size // outer), kept) for kept in ((True, False), (False, True))]
    for outer, middle in product(proper, proper):
        if size % (outer * middle) == 0 and outer * middle < size:
            parts = outer, middle, size // (outer * middle)
            found += [Axis(parts, kept) for kept in ((False, True, False), (True, False, True))]
    return tuple(found)


def number(axes: Sequence[Axis]) -> NDArray[np.int64]:
    """The number of each element's group, from 0."""
    numbers = np.zeros((), dtype=np.int64)
    for axis in axes:
        classes = axis.classes
        numbers = np.add.outer(numbers * (int(classes.max()) + 1), classes)
    return numbers


def from_ids(ids: NDArray[np.int64]) -> tuple[Axis, ...] | None:
    """The partition into elements with equal ids, which count from 0; None if it cannot be described axis by axis."""
    axes: list[Axis] = []
    generator = np.random.Generator(np.random.PCG64(1))
    for axis in range(ids.ndim):
        slices = np.moveaxis(ids, axis, 0).reshape(ids.shape[axis], -1)
        weights = generator.integers(1, 2**62, slices.shape[1])
        # Equal slices have equal sums, modulo 2^64.
        together = np.unique(slices @ weights, return_inverse=True)[1].reshape(-1)
        found = next((one for one in candidates(len(together)) if same_partition(one.classes, together)), None)
        if found is None:
            return None
        axes.append(found)
    return tuple(axes) if same_partition(number(axes), ids) else None


def same_partition(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    """Whether two numberings of the same elements make the same groups.

    >>> same_partition(np.array([0, 0, 1]), np.array([7, 7, 3]))
    True
    """
    return refines(one, other) and refines(other, one)


def refines(fine: NDArray[np.int64], coarse: NDArray[np.int64]) -> bool:
    """Whether elements with the same ``fine`` number have the same ``coarse`` number. The fine numbers count from 0."""
    table = np.zeros(int(fine.max()) + 1, dtype=np.int64)
    table[fine.reshape(-1)] = coarse.reshape(-1)
    return bool(np.array_equal(table[fine], coarse))


# A large tensor is measured on a smaller one: most functions take it, and a normalization does the same there.

SHORTEST = 3  # the size of a first axis that is cut; the next ones are longer, because equal sizes could hide a confusion of axes


def smaller_shape(function: Function, shape: Index, allowed: Callable[[Index], bool]) -> Index:
    """The shape with short axes, where the function takes them and they are allowed; the shape itself if it is not large."""
    if prod(shape) <= probe.LARGE:
        return shape
    for axis, size in enumerate(shape):
        cut = (*shape[:axis], min(size, SHORTEST + axis), *shape[axis + 1 :])
        if cut != shape and allowed(cut) and function.takes(cut):
            shape = cut
    return shape


def is_alike(function: Function, shape: Index, smaller: Index, axes: tuple[Axis, ...] | None) -> bool:
    """Whether one input reaches the same axes in both shapes, and no axis that was cut is split into groups."""
    cut = [one != other for one, other in zip(shape, smaller, strict=True)]
    if axes is None or any(is_cut and len(axis.parts) > 1 for is_cut, axis in zip(cut, axes, strict=True)):
        return False
    whole = measure_reach(function, shape, function.dtype, few=0).axes
    return whole is not None and [axis.kept for axis in whole] == [axis.kept for axis in axes]


# The outputs that change if one input changes.


@dataclass(frozen=True)
class Reach:
    """The outputs that change if one input changes.

    shape    of x
    changed  for each input that was moved, the outputs that changed, as a mask of the shape of x
    """

    shape: Index
    changed: Mapping[Index, Mask]

    @property
    def is_sampled(self) -> bool:
        """Whether only some inputs were moved."""
        return len(self.changed) < prod(self.shape)

    @property
    def is_elementwise(self) -> bool:
        """Whether no output depends on another element."""
        return all(mask.sum() == mask[index] for index, mask in self.changed.items())

    @property
    def is_empty(self) -> bool:
        """Whether no output depends on x."""
        return not any(mask.any() for mask in self.changed.values())

    @cached_property
    def ids(self) -> NDArray[np.int64] | None:
        """The number of each element's group; None if the groups are no partition of the elements."""
        if self.axes is not None:
            return number(self.axes)
        if self.is_sampled:
            return None
        ids = np.full(self.shape, -1, dtype=np.int64)
        for index, mask in self.groups:
            if ids[index] < 0:
                if (ids[mask] >= 0).any():
                    return None
                ids[mask] = ids.max() + 1
            elif not np.array_equal(mask, ids == ids[index]):
                return None
        return ids

    @cached_property
    def axes(self) -> tuple[Axis, ...] | None:
        """The groups, axis by axis; None if they are no partition, or none that a pattern describes."""
        axes = tuple(found for axis in range(len(self.shape)) if (found := self._axis(axis)) is not None)
        if len(axes) < len(self.shape):
            return None
        ids = number(axes)
        return axes if all(np.array_equal(ids == ids[index], mask) for index, mask in self.groups) else None

    @cached_property
    def groups(self) -> list[tuple[Index, Mask]]:
        """Each moved input and its group: the outputs that changed and its own, which does not change in a group of one element."""
        groups = []
        for index, changed in self.changed.items():
            mask = changed.copy()
            mask[index] = True
            groups.append((index, mask))
        return groups

    def _axis(self, axis: int) -> Axis | None:
        """The simplest split of an axis that explains which indices changed together."""
        others = tuple(i for i in range(len(self.shape)) if i != axis)
        together: dict[int, Mask] = {}
        for index, mask in self.groups:
            indices: Mask = np.asarray(mask.any(axis=others))
            if not np.array_equal(together.setdefault(index[axis], indices), indices):
                return None
        for candidate in candidates(self.shape[axis]):
            classes = candidate.classes
            if all(np.array_equal(classes == classes[i], indices) for i, indices in together.items()):
                return candidate
        return None

    @property
    def reduced(self) -> tuple[int, ...]:
        """The axes along which an input reaches another output."""
        masks = list(self.changed.values())
        return tuple(
            axis
            for axis in range(len(self.shape))
            if any(mask.any(axis=tuple(i for i in range(mask.ndim) if i != axis)).sum() > 1 for mask in masks)
        )


def measure_reach(
    function: Callable[[Tensor], Tensor],
    shape: Index,
    dtype: torch.dtype,
    most: int = probe.MOST_INPUTS,
    few: int = probe.SMALL_SAMPLE,
) -> Reach:
    """Move one input at a time, up and down, and see which outputs change.

    Above ``most`` elements, only some inputs are moved: the first one, the last one and a sample; of a large x, a sample of ``few``.
    """
    x, distance = probe.generic(shape, dtype), probe.distance(shape, dtype)
    before = function(x)
    allowed = probe.tolerance(dtype, before) * before.abs().clamp(min=1)
    changed: dict[Index, Mask] = {}
    for index in probe.indices(shape, most, few):
        masks = []
        for move in (distance, -distance):
            moved = x.clone()
            moved[index] += move
            after = function(moved)
            masks.append(((after - before).abs() > allowed) | (after.isnan() != before.isnan()))
        changed[index] = (masks[0] | masks[1]).cpu().numpy()
    return Reach(shape, changed)
