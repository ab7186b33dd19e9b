"""Partitions of the elements of a tensor, axis by axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from normviz.layers.axes import divisors

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
    """Whole axes, then splits in two, then in three parts of which the middle or both others are kept."""
    found = [Axis((size,), (True,)), Axis((size,), (False,))]
    proper = [part for part in divisors(size) if 1 < part < size]
    for outer in proper:
        found += [Axis((outer, size // outer), kept) for kept in ((True, False), (False, True))]
    for outer, middle in product(proper, proper):
        if size % (outer * middle) == 0 and outer * middle < size:
            parts = outer, middle, size // (outer * middle)
            found += [Axis(parts, kept) for kept in ((False, True, False), (True, False, True))]
    return tuple(found)


def group(axes: Sequence[Axis], index: Index) -> Mask:
    """The elements in the group of ``index``, as a mask of the shape of x."""
    mask = np.ones((), dtype=np.bool_)
    for axis, i in zip(axes, index, strict=True):
        classes = axis.classes
        mask = np.logical_and.outer(mask, classes == classes[i])
    return mask


def number(axes: Sequence[Axis]) -> NDArray[np.int64]:
    """The number of each element's group, from 0."""
    numbers = np.zeros((), dtype=np.int64)
    for axis in axes:
        classes = axis.classes
        numbers = np.add.outer(numbers * (int(classes.max()) + 1), classes)
    return numbers


def single_elements(shape: Index) -> tuple[Axis, ...]:
    """The partition in which each element is a group."""
    return tuple(Axis((size,), (True,)) for size in shape)


def from_ids(ids: NDArray[np.int64]) -> tuple[Axis, ...] | None:
    """The partition into elements with equal ids, which count from 0; None if it is not one that is described axis by axis."""
    axes: list[Axis] = []
    generator = np.random.Generator(np.random.PCG64(1))
    for axis in range(ids.ndim):
        slices = np.moveaxis(ids, axis, 0).reshape(ids.shape[axis], -1)
        weights = generator.integers(1, 2**62, slices.shape[1])
        together = np.unique(slices @ weights, return_inverse=True)[1].reshape(
            -1
        )  # equal slices have equal sums, modulo 2^64
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
    """Whether elements with the same ``fine`` number, a small one, have the same ``coarse`` number."""
    table = np.zeros(int(fine.max()) + 1, dtype=np.int64)
    table[fine.reshape(-1)] = coarse.reshape(-1)
    return bool(np.array_equal(table[fine], coarse))
