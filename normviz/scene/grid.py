"""How a tensor of any rank is drawn in two dimensions: as facets of rows and columns, and which window of it is drawn.

(N, D) is one facet, rows N, columns D. (N, L, C) is N facets of L x C. (N, C, H, W) is a grid of facets, rows N, columns
C, each H x W, whatever the order of those letters in the layout.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil, prod, sqrt
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from normviz.layers.axes import example_axis

Value = TypeVar("Value", bound=np.generic)

MOST_CELLS = 16_384
MOST_LINES = 600  # rows or columns: one pixel each on a small screen


@dataclass(frozen=True)
class Grid:
    """Where each drawn element of x is.

    facets    the positions of the axes that number the facets, outermost first
    row, col  the positions of the axes inside a facet; row is None for a vector
    indices   the drawn indices of each axis, in increasing order
    """

    shape: tuple[int, ...]
    axes: tuple[str, ...]
    facets: tuple[int, ...]
    row: int | None
    col: int
    indices: tuple[tuple[int, ...], ...]

    @property
    def extent(self) -> tuple[int, ...]:
        """The number of drawn indices of each axis."""
        return tuple(map(len, self.indices))

    @property
    def start(self) -> tuple[int, ...]:
        """The first drawn index of each axis."""
        return tuple(drawn[0] for drawn in self.indices)

    @property
    def partial(self) -> tuple[int, ...]:
        """The axes that are only partly drawn."""
        return tuple(
            i for i, (drawn, size) in enumerate(zip(self.indices, self.shape, strict=True)) if len(drawn) < size
        )

    def shows(self, index: tuple[int, ...]) -> bool:
        """Whether the element is drawn."""
        return all(i in drawn for i, drawn in zip(index, self.indices, strict=True))

    def place(self, index: tuple[int, ...]) -> tuple[int, ...]:
        """The position of a drawn element among the drawn indices of each axis."""
        return tuple(drawn.index(i) for i, drawn in zip(index, self.indices, strict=True))

    def take(self, values: NDArray[Value]) -> NDArray[Value]:
        """The drawn part of an array that broadcasts over x."""
        parts = zip(self.indices, values.shape, self.shape, strict=True)
        return values[np.ix_(*(drawn if size == whole else (0,) for drawn, size, whole in parts))]

    @cached_property
    def facet_columns(self) -> int:
        return _facet_columns(self.facets, self.row, self.col, self.extent)

    @property
    def facet_count(self) -> int:
        return prod(self.extent[axis] for axis in self.facets)

    def flatten(self, values: NDArray[np.generic]) -> NDArray[np.float32]:
        """The drawn values as a drawing: facets side by side, a line of NaN between them."""
        extent, across = self.extent, self.facet_columns
        rows, columns, count = 1 if self.row is None else extent[self.row], extent[self.col], self.facet_count
        down = ceil(count / across)
        order = (*self.facets, *(() if self.row is None else (self.row,)), self.col)
        drawn = np.full((down * across, rows + 1, columns + 1), np.nan, np.float32)
        drawn[:count, :rows, :columns] = values.transpose(order).reshape(count, rows, columns)
        lines = drawn.reshape(down, across, rows + 1, columns + 1).transpose(0, 2, 1, 3)
        return lines.reshape(down * (rows + 1), across * (columns + 1))[:-1, :-1]


def grid(shape: tuple[int, ...], axes: tuple[str, ...], start: tuple[int, ...] = ()) -> Grid:
    """How an x is drawn: the role of each axis, by its letter, and the largest window from ``start`` that can be drawn.

    >>> drawing = grid((2, 64, 56, 56), ("n", "c", "h", "w"))
    >>> drawing.extent
    (2, 2, 56, 56)
    """
    return _grid(shape, axes, start)


@lru_cache(maxsize=1024)
def _grid(shape: tuple[int, ...], axes: tuple[str, ...], start: tuple[int, ...]) -> Grid:
    row, col = _row_and_column(axes)
    facets = tuple(i for i in range(len(shape)) if i not in (row, col))
    extent = _extent(shape, facets, row, col)
    wanted = start if len(start) == len(shape) else (0,) * len(shape)
    first = (max(0, min(at, size - part)) for at, size, part in zip(wanted, shape, extent, strict=True))
    indices = tuple(tuple(range(at, at + part)) for at, part in zip(first, extent, strict=True))
    return Grid(shape, axes, facets, row, col, indices)


def start_with(at: tuple[int, ...], shape: tuple[int, ...], axes: tuple[str, ...]) -> tuple[int, ...]:
    """The start of a drawing that shows the element ``at``."""
    extent = grid(shape, axes).extent
    return grid(shape, axes, tuple(i - i % part for i, part in zip(at, extent, strict=True))).start


def _row_and_column(axes: tuple[str, ...]) -> tuple[int | None, int]:
    """The row and the column axis of a facet: h and w if x has both, else the last two, not counting n."""
    if "h" in axes and "w" in axes:
        return axes.index("h"), axes.index("w")
    inner = [i for i, axis in enumerate(axes) if i != example_axis(axes)] if len(axes) > 2 else list(range(len(axes)))
    return (inner[-2] if len(inner) > 1 else None), inner[-1]


def _facet_columns(facets: tuple[int, ...], row: int | None, col: int, extent: tuple[int, ...]) -> int:
    count = prod(extent[axis] for axis in facets)
    if len(facets) != 1:
        return max(1, count // (extent[facets[0]] if facets else 1))
    rows = 1 if row is None else extent[row]
    return min(count, max(1, round(sqrt(1.6 * count * (rows + 1) / extent[col]))))  # wider than high


def _fits(facets: tuple[int, ...], row: int | None, col: int, extent: tuple[int, ...]) -> bool:
    across = _facet_columns(facets, row, col, extent)
    down = ceil(prod(extent[axis] for axis in facets) / across)
    rows = 1 if row is None else extent[row]
    return prod(extent) <= MOST_CELLS and across * (extent[col] + 1) <= MOST_LINES and down * (rows + 1) <= MOST_LINES


def _extent(shape: tuple[int, ...], facets: tuple[int, ...], row: int | None, col: int) -> tuple[int, ...]:
    """The whole shape if it fits; else two of every axis, and then as much as fits, starting with the innermost axes."""
    if _fits(facets, row, col, shape):
        return shape
    extent = [1] * len(shape)
    order = [axis for axis in (col, row, *reversed(facets)) if axis is not None]
    for most in (2, 128, MOST_CELLS):
        for axis in order:
            low, high = extent[axis], max(extent[axis], min(shape[axis], most))
            while low < high:
                middle = (low + high + 1) // 2
                tried = tuple(middle if i == axis else length for i, length in enumerate(extent))
                low, high = (middle, high) if _fits(facets, row, col, tried) else (low, middle - 1)
            extent[axis] = low
    return tuple(extent)
