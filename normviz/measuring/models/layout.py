"""Where the elements of one tensor are in another one with the same elements: with its axes permuted, flattened or split.

A ``Layout`` is a pattern of einops without letters: the positions of the axes count, so that equal sizes confuse nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, permutations
from math import prod
from typing import Self

from torch import Tensor

Shape = tuple[int, ...]
LARGEST_RANK = 5  # with more axes, only their order is tried


@dataclass(frozen=True)
class Layout:
    """From one tensor to another: the axes are split into parts, the parts are permuted, and some of them are joined.

    parts   the sizes of the parts of each axis of the first tensor
    order   the parts, numbered from 0, in the order of the second tensor
    joined  how many parts each axis of the second tensor has

    >>> Layout(((2,), (3,), (4,), (5,)), (0, 2, 3, 1), (3, 1)).shape
    (40, 3)
    """

    parts: tuple[Shape, ...]
    order: tuple[int, ...]
    joined: tuple[int, ...]

    @property
    def shape(self) -> Shape:
        """The shape of the second tensor."""
        return self._shape([size for sizes in self.parts for size in sizes])

    def _shape(self, sizes: list[int]) -> Shape:
        ordered, found = iter([sizes[part] for part in self.order]), []
        for count in self.joined:
            found.append(prod(next(ordered) for _part in range(count)))
        return tuple(found)

    def sizes(self, shape: Shape) -> list[int]:
        """The sizes of the parts of a tensor of another shape: axes with one part may have another size."""
        return [
            size
            for own, sizes in zip(shape, self.parts, strict=True)
            for size in ((own,) if len(sizes) == 1 else sizes)
        ]

    def there(self, x: Tensor) -> Tensor:
        """The first tensor as the second."""
        sizes = self.sizes(tuple(x.shape))
        return x.reshape(sizes).permute(self.order).reshape(self._shape(sizes))

    def back(self, y: Tensor, shape: Shape) -> Tensor:
        """The second tensor as the first, which has this shape."""
        sizes = self.sizes(shape)
        moved = y.reshape([sizes[part] for part in self.order])
        return moved.permute([self.order.index(part) for part in range(len(sizes))]).reshape(shape)

    @property
    def inverted(self) -> Self:
        """From the second tensor to the first."""
        sizes = [size for sizes in self.parts for size in sizes]
        ordered = iter([sizes[part] for part in self.order])
        parts = tuple(tuple(next(ordered) for _part in range(count)) for count in self.joined)
        order = tuple(self.order.index(part) for part in range(len(sizes)))
        return type(self)(parts, order, tuple(map(len, self.parts)))

    @property
    def is_identity(self) -> bool:
        """Whether the two have the same axes."""
        return self.order == tuple(range(len(self.parts))) and set(self.joined) <= {1}

    @property
    def rank(self) -> tuple[bool, int]:
        """Smaller for a usual layout: the axes in their order, one axis moved from or to the end, or the first two exchanged."""
        order = list(self.order)
        crossings = sum(one > other for i, one in enumerate(order) for other in order[i + 1 :])
        return order not in _usual(len(order)), crossings


def _usual(n: int) -> list[list[int]]:
    whole = list(range(n))
    if n < 2:
        return [whole]
    return [whole, [0, *whole[2:], 1], [0, n - 1, *whole[1:-1]], [1, 0, *whole[2:]]]


def same(shape: Shape) -> Layout:
    """The layout that changes nothing."""
    return Layout(tuple((size,) for size in shape), tuple(range(len(shape))), (1,) * len(shape))


def layouts(one: Shape, other: Shape) -> list[Layout]:
    """Every layout by which a tensor of this shape may become one of the other shape, the usual ones first.

    >>> [(found.order, found.joined) for found in layouts((2, 3, 4), (8, 3))]
    [((0, 2, 1), (2, 1)), ((2, 0, 1), (2, 1))]
    """
    found = {
        **dict.fromkeys(_joined(one, other)),
        **dict.fromkeys(layout.inverted for layout in _joined(other, one)),
        **dict.fromkeys(_refined(one, other)),
    }
    return sorted(found, key=lambda layout: layout.rank)


def _joined(one: Shape, other: Shape) -> Iterator[Layout]:
    """Axes in any order, of which some are joined."""
    orders = permutations(range(len(one))) if len(one) <= LARGEST_RANK else iter([tuple(range(len(one)))])
    parts = tuple((size,) for size in one)
    for order in orders:
        for joined in _groupings([one[axis] for axis in order], list(other)):
            yield Layout(parts, order, joined)
            break


def _groupings(sizes: list[int], wanted: list[int]) -> Iterator[tuple[int, ...]]:
    """How many of these sizes, taken in order, give each of the wanted products."""
    if not wanted:
        if not sizes:
            yield ()
        return
    for count in range(1, len(sizes) - len(wanted) + 2):
        if prod(sizes[:count]) == wanted[0]:
            yield from ((count, *rest) for rest in _groupings(sizes[count:], wanted[1:]))


def _refined(one: Shape, other: Shape) -> Iterator[Layout]:
    """The same elements in the same order, with axes split and joined where that is possible axis by axis."""
    if prod(one) != prod(other) or not prod(one):
        return
    ends = [[prod(shape[i:]) for i in range(len(shape) + 1)] for shape in (one, other)]
    steps = sorted({*ends[0], *ends[1]}, reverse=True)
    if any(large % small for large, small in pairwise(steps)):
        return

    def split(bounds: list[int]) -> tuple[Shape, ...]:
        found = []
        for high, low in pairwise(bounds):
            inside = [step for step in steps if low <= step <= high]
            found.append(tuple(a // b for a, b in pairwise(inside)))
        return tuple(found)

    parts = split(ends[0])
    yield Layout(parts, tuple(range(sum(map(len, parts)))), tuple(map(len, split(ends[1]))))
