"""Which outputs change if one input changes, and the partition of the elements that follows from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from normviz.measuring.groups.partition import Axis, Index, Mask, candidates, group, number
from normviz.measuring.inputs import probes


@dataclass(frozen=True)
class Reach:
    """The outputs that change if one input changes.

    shape    of x
    changed  for each input that was moved, the outputs that changed, as a mask of the shape of x
    """

    shape: Index
    changed: Mapping[Index, Mask]

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def is_sampled(self) -> bool:
        """Whether only some inputs were moved."""
        return len(self.changed) < self.elements

    @property
    def is_elementwise(self) -> bool:
        """Whether no output depends on another element."""
        return all(mask.sum() == mask[index] for index, mask in self.changed.items())

    @property
    def is_empty(self) -> bool:
        """Whether no output depends on x."""
        return not any(mask.any() for mask in self.changed.values())

    def ids(self) -> NDArray[np.int64] | None:
        """The number of each element's group; None if the groups are no partition of the elements."""
        axes = self.axes()
        if axes is not None:
            return number(axes)
        if self.is_sampled:
            return None
        ids = np.full(self.shape, -1, dtype=np.int64)
        for index, mask in self._groups():
            if ids[index] < 0:
                if (ids[mask] >= 0).any():
                    return None
                ids[mask] = ids.max() + 1
            elif not np.array_equal(mask, ids == ids[index]):
                return None
        return ids

    def axes(self) -> tuple[Axis, ...] | None:
        """The groups, axis by axis; None if they are no partition, or none that a pattern describes."""
        found = [self._axis(axis) for axis in range(len(self.shape))]
        if None in found:
            return None
        axes = tuple(axis for axis in found if axis is not None)
        return axes if all(np.array_equal(group(axes, index), mask) for index, mask in self._groups()) else None

    def _groups(self) -> list[tuple[Index, Mask]]:
        """The mask of each moved input, with the input itself; in a group of one element, its own output does not change."""
        groups = []
        for index, mask in self.changed.items():
            mask = mask.copy()
            mask[index] = True
            groups.append((index, mask))
        return groups

    def _axis(self, axis: int) -> Axis | None:
        """The simplest split of an axis that explains which indices changed together."""
        others = tuple(i for i in range(len(self.shape)) if i != axis)
        together: dict[int, Mask] = {}
        for index, mask in self._groups():
            indices: Mask = np.asarray(mask.any(axis=others))
            if not np.array_equal(together.setdefault(index[axis], indices), indices):
                return None
        for candidate in candidates(self.shape[axis]):
            classes = candidate.classes
            if all(np.array_equal(classes == classes[i], indices) for i, indices in together.items()):
                return candidate
        return None


def measure_reach(
    function: Callable[[Tensor], Tensor],
    shape: Index,
    dtype: torch.dtype,
    most: int = probes.MOST_INPUTS,
    few: int = probes.SMALL_SAMPLE,
) -> Reach:
    """Move one input at a time, up and down, and see which outputs change.

    Above ``most`` elements, only some inputs are moved: the first one, the last one and a sample; of a large x, a sample of ``few``.
    """
    x, distance = probes.generic(shape, dtype), probes.distance(shape, dtype)
    before = function(x)
    allowed = probes.tolerance(dtype, before) * before.abs().clamp(min=1)
    changed: dict[Index, Mask] = {}
    for index in probes.indices(shape, most, few):
        masks = []
        for move in (distance, -distance):
            moved = x.clone()
            moved[index] += move
            after = function(moved)
            masks.append(((after - before).abs() > allowed) | (after.isnan() != before.isnan()))
        changed[index] = (masks[0] | masks[1]).numpy()
    return Reach(shape, changed)
