"""How a tensor of any rank is drawn in two dimensions: as facets of rows and columns, and which of its slices are drawn.

(N, D) is one facet, rows N, columns D. (N, L, C) is N facets of L x C. (N, C, H, W) is a grid of facets, rows N, columns
C, each H x W, whatever the order of those letters in the layout.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil, prod, sqrt

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from normviz.layers.axes import example_axis

# The lines of cells and gaps of a tensor that is drawn whole: on a laptop, its cells are at least 7 pixels wide and high.
MOST_COLUMNS, MOST_ROWS = 40, 32
# The same for a schematic, in which a few slices of each long axis are drawn: there is room for numbers in the cells.
SCHEMATIC_COLUMNS, SCHEMATIC_ROWS = 19, 17
MOST_SLICES = 6  # drawn slices of an axis that is not drawn whole
MOST_OF_A_MATRIX = 128  # rows or columns, in ``pixels``


@dataclass(frozen=True)
class Roles:
    """Which axes are facets, rows and columns, by their positions.

    facets  the axes that number the facets, outermost first
    row     the axis of the rows of a facet; None for a vector
    col     the axis of its columns
    """

    facets: tuple[int, ...]
    row: int | None
    col: int

    def arranged(self, extent: tuple[int, ...]) -> FacetLayout:
        """How the facets are arranged. Facets that one axis numbers fill a rectangle; otherwise each index of the first axis has its own band."""
        facets, count = self.facets, prod(extent[axis] for axis in self.facets)
        rows, columns = 1 if self.row is None else extent[self.row], extent[self.col]
        most = max(1, (MOST_COLUMNS + 1) // (columns + 1))
        if facets and count == extent[facets[0]]:
            wide = round(sqrt(1.6 * count * (rows + 1) / columns))  # the grid is wider than high
            return FacetLayout(count, count, max(1, min(count, most, wide)))
        together = count // extent[facets[0]] if facets else 1
        return FacetLayout(count, together, ceil(together / ceil(together / most)))


def roles(axes: tuple[str, ...]) -> Roles:
    """The roles of the axes wherever a tensor is drawn: rows and columns are h and w if x has both, else the last two, not counting n.

    >>> roles(("n", "h", "w", "c"))
    Roles(facets=(0, 3), row=1, col=2)
    """
    if "h" in axes and "w" in axes:
        inner = [axes.index("h"), axes.index("w")]
    else:
        example = example_axis(axes) if len(axes) > 2 else None
        inner = [i for i in range(len(axes)) if i != example][-2:]
    row = inner[0] if len(inner) == 2 else None
    return Roles(tuple(i for i in range(len(axes)) if i not in inner), row, inner[-1])


@dataclass(frozen=True)
class Grid(Roles):
    """Where each drawn element of x is; ``indices`` are the drawn indices of each axis, in increasing order."""

    shape: tuple[int, ...]
    axes: tuple[str, ...]
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
        return tuple(i for i, drawn in enumerate(self.indices) if len(drawn) < self.shape[i])

    @cached_property
    def is_whole(self) -> bool:
        """Whether every element is drawn."""
        return not self.partial

    def shows(self, index: tuple[int, ...]) -> bool:
        """Whether the element is drawn."""
        return all(i in drawn for i, drawn in zip(index, self.indices, strict=True))

    def place(self, index: tuple[int, ...]) -> tuple[int, ...]:
        """The position of a drawn element among the drawn indices of each axis."""
        return tuple(drawn.index(i) for i, drawn in zip(index, self.indices, strict=True))

    def take(self, values: Tensor) -> Tensor:
        """The drawn part of a tensor that broadcasts over x."""
        if self.is_whole:
            return values
        parts = zip(self.indices, values.shape, self.shape, strict=True)
        return values[np.ix_(*(drawn if size == whole else (0,) for drawn, size, whole in parts))]

    @cached_property
    def layout(self) -> FacetLayout:
        return self.arranged(self.extent)

    def gaps(self, axis: int) -> list[int]:
        """The positions before which slices of an axis are left out."""
        drawn = self.indices[axis]
        return [i for i in range(1, len(drawn)) if drawn[i] > drawn[i - 1] + 1]

    def flatten(self, values: NDArray[np.generic]) -> NDArray[np.float32]:
        """The drawn values as a drawing: a line of NaN between facets, and where slices are left out."""
        extent, found = self.extent, self.layout
        order = (*self.facets, *(() if self.row is None else (self.row,)), self.col)
        cells = values.transpose(order).reshape(found.facets, -1, extent[self.col]).astype(np.float32)
        cells = np.insert(cells, self.gaps(self.col), np.nan, axis=2)
        cells = cells if self.row is None else np.insert(cells, self.gaps(self.row), np.nan, axis=1)
        rows, columns = cells.shape[1:]
        drawn = np.full((found.bands, found.lines * found.across, rows + 1, columns + 1), np.nan, np.float32)
        drawn[:, : found.together, :rows, :columns] = cells.reshape(found.bands, found.together, rows, columns)
        lines = drawn.reshape(found.down, found.across, rows + 1, columns + 1).transpose(0, 2, 1, 3)
        return lines.reshape(found.down * (rows + 1), found.across * (columns + 1))[:-1, :-1]


@dataclass(frozen=True)
class FacetLayout:
    """How facets are arranged: in bands of ``together`` facets that belong side by side, each band in as many lines as it needs."""

    facets: int
    together: int
    across: int

    @property
    def bands(self) -> int:
        return self.facets // self.together

    @property
    def lines(self) -> int:
        """The lines of a band."""
        return ceil(self.together / self.across)

    @property
    def down(self) -> int:
        return self.bands * self.lines


def grid(shape: tuple[int, ...], axes: tuple[str, ...], start: tuple[int, ...] = ()) -> Grid:
    """How an x is drawn: the role of each axis, by its letter, and its drawn indices.

    A tensor whose cells would be too small is drawn as a schematic: of a long axis the first slices, from ``start``, and the last.

    >>> grid((2, 64, 4, 4), ("n", "c", "h", "w")).indices
    ((0, 1), (0, 1, 2, 63), (0, 1, 2, 3), (0, 1, 2, 3))
    """
    return _grid(shape, axes, start)


@lru_cache(maxsize=1024)
def _grid(shape: tuple[int, ...], axes: tuple[str, ...], start: tuple[int, ...]) -> Grid:
    found = roles(axes)
    extent = _extent(shape, found)
    first = start if len(start) == len(shape) else (0,) * len(shape)
    indices = tuple(map(_slices, shape, extent, first))
    return Grid(found.facets, found.row, found.col, shape, axes, indices)


def pixels(shape: tuple[int, int], axes: tuple[str, ...]) -> Grid:
    """How a matrix is drawn whose structure matters more than its numbers: the first rows and columns, as small as they must be."""
    indices = tuple(tuple(range(min(size, MOST_OF_A_MATRIX))) for size in shape)
    return Grid((), 0, 1, shape, axes, indices)


def start_with(at: tuple[int, ...], shape: tuple[int, ...], axes: tuple[str, ...]) -> tuple[int, ...]:
    """The start of a drawing that shows the element ``at``."""
    drawing = grid(shape, axes, ())
    wanted = tuple(
        0 if i in drawn else i - i % max(1, len(drawn) - 1) for i, drawn in zip(at, drawing.indices, strict=True)
    )
    return grid(shape, axes, wanted).start


def _slices(size: int, count: int, start: int) -> tuple[int, ...]:
    """``count`` indices of an axis: a run from ``start``, and the last one."""
    first = max(0, min(start, size - count))
    return (*range(first, first + count - 1), first if count == 1 else size - 1)


def _extent(shape: tuple[int, ...], found: Roles) -> tuple[int, ...]:
    """The whole shape if its cells are large enough; else a few slices of each long axis, starting with the innermost axes."""
    if _fits(shape, found, shape, (MOST_COLUMNS, MOST_ROWS)):
        return shape
    order = [axis for axis in (found.col, found.row, *reversed(found.facets)) if axis is not None]
    tried = [(axis, min(shape[axis], most)) for most in range(2, MOST_SLICES + 1) for axis in order]
    tried += [(axis, shape[axis]) for axis in sorted(order, key=lambda axis: shape[axis])]
    extent = (1,) * len(shape)
    for axis, length in tried:
        longer = (*extent[:axis], length, *extent[axis + 1 :])
        if length > extent[axis] and _fits(shape, found, longer, (SCHEMATIC_COLUMNS, SCHEMATIC_ROWS)):
            extent = longer
    return extent


def _fits(shape: tuple[int, ...], found: Roles, extent: tuple[int, ...], most: tuple[int, int]) -> bool:
    """Whether the drawing has at most ``most`` columns and rows of cells and gaps."""
    if prod(extent) > prod(most):
        return False
    layout = found.arranged(extent)
    inside = (found.col, found.row)
    columns, rows = (1 if axis is None else extent[axis] + (extent[axis] < shape[axis]) for axis in inside)
    return layout.across * (columns + 1) - 1 <= most[0] and layout.down * (rows + 1) - 1 <= most[1]
