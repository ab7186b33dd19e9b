"""A Norm by the numbers of x's axes, which is how Keras and Flax are told about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from normviz.analysis.explanation import Explanation

Axes = tuple[int, ...]


@dataclass(frozen=True)
class Placement:
    """Where the statistics and the parameters of an explained Norm stand.

    reduced   axes whose elements share a mean and a variance
    kept      axes along which every element has its own
    groups    (axis, number) of the one axis that is split into groups of neighbours, each with its own; else None
    gamma     axes of gamma and beta; None where there is none
    plain     whether this is all: no other split, and gamma stands on whole axes, in x's order

    >>> from normviz import explain
    >>> p = Placement.of(explain("GroupNorm(2, 6)", (2, 6, 4, 4)))
    >>> p.kept, p.groups, p.reduced, p.gamma
    ((0,), (1, 2), (2, 3), (1,))
    """

    e: Explanation
    reduced: Axes
    kept: Axes
    groups: tuple[int, int] | None
    gamma: Axes | None
    plain: bool

    @classmethod
    def of(cls, e: Explanation) -> Placement:
        norm, sizes = e.norm, e.norm.axis_sizes(e.shape)
        own = [[name in norm.pattern.right for name in axis] for axis in norm.pattern.left]
        split = [i for i, parts in enumerate(own) if any(parts) and not all(parts)]
        groups = [
            (i, prod(sizes[name] for name in norm.pattern.left[i] if name in norm.pattern.right))
            for i in split
            if own[i] == sorted(own[i], reverse=True)
        ]
        gamma = [norm.axes.index(name) for name in norm.gamma_axes if name in norm.axes]
        return cls(
            e,
            reduced=tuple(i for i, parts in enumerate(own) if not any(parts)),
            kept=tuple(i for i, parts in enumerate(own) if all(parts)),
            groups=groups[0] if groups else None,
            gamma=None if norm.params is None else tuple(gamma),
            plain=len(split) == len(groups) <= 1 and len(gamma) == len(norm.gamma_axes) and gamma == sorted(gamma),
        )

    @property
    def fresh(self) -> bool:
        """Are the statistics this x's, about its mean?"""
        return self.e.norm.center and not self.e.norm.running

    @property
    def rms(self) -> bool:
        """Are they this x's mean squares, with no beta?"""
        return not (self.e.norm.center or self.e.norm.running or self.e.norm.bias)

    @property
    def per_channel(self) -> bool:
        """Is one axis kept, gamma on it? Not axis 0, the batch, except by running statistics."""
        alone = len(self.kept) == 1 and self.groups is None and (self.kept[0] > 0 or self.e.norm.running)
        return self.e.norm.center and alone and self.gamma in (None, self.kept)

    @property
    def per_instance(self) -> bool:
        """Are axis 0 and the channels kept: the axis of gamma or, without gamma, the one called c?"""
        if not self.fresh or self.groups or not self.reduced or len(self.kept) != 2 or self.kept[0] != 0:
            return False
        return self.gamma == self.kept[1:] or (self.gamma is None and self.e.norm.axes[self.kept[1]] == "c")

    @property
    def per_group(self) -> tuple[int, int] | None:
        """(axis, number of groups) where axis 0 is kept and another falls into groups, gamma on it; else None."""
        found = self.groups if self.kept == (0,) else None
        if self.groups is None and self.gamma and self.kept in ((0,), (0, *self.gamma)):
            axis = self.gamma[0]
            found = axis, self.e.shape[axis] if axis in self.kept else 1
        return found if found and found[0] > 0 and self.gamma in (None, found[:1]) and self.fresh else None

    @property
    def momentum(self) -> float | None:
        """The weight of the old running value, 1 - torch's; None for torch's cumulative average."""
        new = self.e.layer.given.get("momentum", 0.1) if self.e.layer else 0.1
        return None if new is None else round(1 - new, 12)

    def sizes(self, axes: Axes) -> tuple[int, ...]:
        return tuple(self.e.shape[i] for i in axes)

    def last(self, axes: Axes) -> bool:
        """Are they the last axes of x?"""
        rank = len(self.e.shape)
        return axes == tuple(range(rank - len(axes), rank))

    def text(self, axes: Axes, several: Callable[[Axes], object] = tuple) -> str:
        """Axes as an argument: one as its number, the last as -1, several as a tuple or a list."""
        if len(axes) != 1:
            return str(several(axes))
        return "-1" if self.last(axes) else str(axes[0])
