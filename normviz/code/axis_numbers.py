"""A Norm in terms of axis numbers, as Keras and Flax describe it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from normviz.analysis.description import Description

Axes = tuple[int, ...]


@dataclass(frozen=True)
class AxisNumbers:
    """The axes of the statistics and of the parameters of an explained Norm.

    reduced   axes whose elements share a mean and a variance
    kept      axes along which each position has its own mean and variance
    groups    (axis, number of groups) of the axis that is split into groups of consecutive indices, or None
    gamma     axes of gamma and beta; None if there is no gamma
    complete  whether this describes the Norm: no other split, and gamma has whole axes, in the order of x

    >>> from normviz import explain
    >>> a = AxisNumbers.of(explain("GroupNorm(2, 6)", (2, 6, 4, 4)))
    >>> a.kept, a.groups, a.reduced, a.gamma
    ((0,), (1, 2), (2, 3), (1,))
    """

    e: Description
    reduced: Axes
    kept: Axes
    groups: tuple[int, int] | None
    gamma: Axes | None
    complete: bool

    @classmethod
    def of(cls, e: Description) -> AxisNumbers:
        norm, sizes = e.norm, e.norm.axis_sizes(e.shape)
        kept_parts = [[name in norm.pattern.right for name in axis] for axis in norm.pattern.left]
        split = [i for i, kept in enumerate(kept_parts) if any(kept) and not all(kept)]
        groups = [
            (i, prod(sizes[name] for name in norm.pattern.left[i] if name in norm.pattern.right))
            for i in split
            if kept_parts[i] == sorted(kept_parts[i], reverse=True)
        ]
        gamma = [norm.axes.index(name) for name in norm.gamma_axes if name in norm.axes]
        return cls(
            e,
            reduced=tuple(i for i, kept in enumerate(kept_parts) if not any(kept)),
            kept=tuple(i for i, kept in enumerate(kept_parts) if all(kept)),
            groups=groups[0] if groups else None,
            gamma=None if norm.params is None else tuple(gamma),
            complete=len(split) == len(groups) <= 1 and len(gamma) == len(norm.gamma_axes) and gamma == sorted(gamma),
        )

    @property
    def centered(self) -> bool:
        """Whether the mean and the variance are those of x."""
        return self.e.norm.center and not self.e.norm.running

    @property
    def rms(self) -> bool:
        """Whether the Norm divides by the root mean square of x and has no beta."""
        return not (self.e.norm.center or self.e.norm.running or self.e.norm.bias)

    @property
    def per_channel(self) -> bool:
        """Whether one axis is kept and gamma is on it; axis 0, the batch, only with running statistics."""
        one_kept = len(self.kept) == 1 and self.groups is None and (self.kept[0] > 0 or self.e.norm.running)
        return self.e.norm.center and one_kept and self.gamma in (None, self.kept)

    @property
    def per_instance(self) -> bool:
        """Whether axis 0 and the channels are kept: the axis of gamma or, without gamma, the axis c."""
        if not self.centered or self.groups or not self.reduced or len(self.kept) != 2 or self.kept[0] != 0:
            return False
        return self.gamma == self.kept[1:] or (self.gamma is None and self.e.norm.axes[self.kept[1]] == "c")

    @property
    def per_group(self) -> tuple[int, int] | None:
        """(axis, number of groups) if axis 0 is kept and another axis has groups and gamma; else None."""
        found = self.groups if self.kept == (0,) else None
        if self.groups is None and self.gamma and self.kept in ((0,), (0, *self.gamma)):
            axis = self.gamma[0]
            found = axis, self.e.shape[axis] if axis in self.kept else 1
        return found if found and found[0] > 0 and self.gamma in (None, found[:1]) and self.centered else None

    @property
    def old_weight(self) -> float | None:
        """The momentum of Keras and Flax: the weight of the old running value, 1 - torch's momentum; None for momentum=None."""
        new = self.e.layer.given.get("momentum", 0.1) if self.e.layer else 0.1
        return None if new is None else round(1 - new, 12)

    def sizes(self, axes: Axes) -> tuple[int, ...]:
        return tuple(self.e.shape[i] for i in axes)

    def are_last(self, axes: Axes) -> bool:
        """Whether these are the last axes of x."""
        rank = len(self.e.shape)
        return axes == tuple(range(rank - len(axes), rank))

    def argument(self, axes: Axes, collection: Callable[[Axes], object] = tuple) -> str:
        """Axes as Python text: one axis as its number, the last as -1, several as a collection."""
        if len(axes) != 1:
            return str(collection(axes))
        return "-1" if self.are_last(axes) else str(axes[0])
