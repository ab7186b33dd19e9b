"""Where the parts of a still picture lie, in pixels and in units of cells."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from normviz.figures.panels import Panel
from normviz.scene.grid import Grid

GAP = 0.35  # of a cell, between facets
LETTER = 6.4  # pixels of a letter, at the size of labels
HIGH, MOST = 300.0, 48.0  # pixels: of a panel's cells, of one cell
STRIP_HIGH, STRIP_WIDE, LABEL_HIGH = 36.0, 92.0, 20.0
ABOVE = 22.0  # pixels for names over the columns


@dataclass(frozen=True)
class Laid:
    """One panel's cells.

    x, y            the edges of drawn lines, a cell one unit, gaps between facets included
    cell            a cell's width and height in pixels
    left, right     pixels for names and strips beside the cells
    below           pixels for them under the cells; ABOVE, over them
    strips          do its strips of means and variances fit?
    """

    x: list[float]
    y: list[float]
    cell: tuple[float, float]
    left: float
    right: float
    below: float
    strips: bool

    @property
    def width(self) -> float:
        return self.x[-1] * self.cell[0]

    @property
    def height(self) -> float:
        return self.y[-1] * self.cell[1]

    @property
    def gap(self) -> int:
        """The lines between cells, in pixels."""
        return 1 if min(self.cell) >= 6 else 0


def lay_out(panel: Panel, drawing: Grid, room: float) -> Laid:
    """The cells of a panel, as large as ``room`` pixels of width allow."""
    rows, columns = panel.z.shape
    inside = drawing.extent[drawing.col], 1 if drawing.row is None else drawing.extent[drawing.row]
    left, right = _row_names(drawing) * LETTER + 12, STRIP_WIDE if "row" in panel.strips else 6.0
    wide = room - left - right
    strips = _strips_fit(panel, drawing, wide)
    between = (LABEL_HIGH if len(drawing.facets) == 1 else 0) + (STRIP_HIGH if strips and drawing.facets else 0)
    x, y = edges(columns, inside[0], GAP), edges(rows, inside[1], GAP)
    full = wide / x[-1], HIGH / y[-1]
    high = max(1.0, min(full[1], MOST, max(full[0], 6.0)))
    cell = min(full[0], 1.5 * MOST, max(1.5 * high, 6.0)), high
    if min(cell) < 8:  # gaps that can be seen
        x = edges(columns, inside[0], max(GAP, 2.5 / cell[0]))
        cell = min(cell[0], wide / x[-1]), high
        y = edges(rows, inside[1], max(GAP, 2.5 / high))
    cell = cell[0] if cell[0] < 8 else float(int(cell[0])), high if high < 8 else float(int(high))
    if between:
        y = edges(rows, inside[1], max(GAP, between / cell[1]))
    below = (16 if drawing.facets else 4) + (STRIP_HIGH if strips and "row" not in panel.strips else 0)
    if "col" in panel.strips:
        below += STRIP_HIGH
    return Laid(x, y, cell, left, right, below, strips)


def edges(lines: int, inside: int, gap: float) -> list[float]:
    """The edges of drawn lines, a facet's ``inside`` lines one unit each, and a gap after each facet."""
    found = [0.0]
    for line in range(lines):
        found.append(found[-1] + (gap if line % (inside + 1) == inside else 1.0))
    return found


def _row_names(drawing: Grid) -> int:
    """The letters of the longest name beside the rows."""
    axis = drawing.facets[0] if len(drawing.facets) > 1 else None if drawing.facets else drawing.row
    if axis is None:
        return 3
    return max(4, len(f"{drawing.axes[axis]} = {drawing.start[axis] + drawing.extent[axis] - 1}"))


def _strips_fit(panel: Panel, drawing: Grid, wide: float) -> bool:
    return bool(panel.strips) and (not drawing.facets or wide / drawing.facet_columns >= 70)  # "mean −12.3"


def facets_down(drawing: Grid) -> int:
    return ceil(drawing.facet_count / drawing.facet_columns)
