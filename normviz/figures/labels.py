"""The words of a still picture: names of axes and facets, numbers in cells, means and variances beside them."""

from __future__ import annotations

from html import escape
from math import ceil, isfinite, isnan
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from normviz.figures.ink import fill, ink_on
from normviz.figures.layout import LETTER, Laid, facets_down
from normviz.figures.palette import Theme, stops
from normviz.figures.panels import Panel
from normviz.scene.grid import Grid

Placed = list[tuple[float, float, str, str]]  # x, y, text, and where it stands from there
MOST_PRINTED = 1200
SMALLEST = 8.5  # pixels of a letter's height


def plain(text: str) -> str:
    """Text that Plotly shows as it is: it reads a little HTML.

    >>> plain("<b>n & c")
    '&lt;b&gt;n &amp; c'
    """
    return escape(text, quote=False)


def wrapped(text: str, pixels: float, letter: float) -> list[str]:
    """The text in lines of that width, ready for Plotly."""
    return [plain(line) for line in wrap(text, max(12, int(pixels / letter)))]


def short(value: float | None) -> str:
    """A number in as few digits as fit into a cell.

    >>> [short(number) for number in (0.126, -12.34, 123.4, 1e6, -0.001)]
    ['0.13', '−12.3', '123', '1e6', '0']
    """
    if value is None or isnan(value):
        return "nan"
    if not isfinite(value):
        return "inf" if value > 0 else "−inf"
    size = abs(value)
    if size >= 1e5:
        mantissa, _, power = f"{value:.0e}".partition("e")
        return f"{mantissa}e{int(power)}".replace("-", "−")
    text = f"{value:.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text.replace("-", "−")


def printed(panel: Panel, laid: Laid, colours: Theme, veiled: NDArray[np.bool_] | None = None) -> dict[str, Any] | None:
    """What stands in the cells - ids, or values - as one Plotly trace of text; None where it would not fit.

    veiled  which drawn cells lie under a veil
    """
    is_id = panel.scale != "values"
    if panel.scale == "none" or panel.z.size > MOST_PRINTED:
        return None
    wide, high = laid.cell
    digits = len(str(panel.groups - 1)) if is_id else 5
    size = min(12.0 if is_id else 11.0, 0.62 * high, (wide - 3) / (0.6 * digits))
    if size < SMALLEST:
        return None
    scale = stops(colours, panel.scale, panel.groups)
    cells = [(int(row), int(column)) for row, column in np.argwhere(~np.isnan(panel.z))]
    numbers = [float(panel.z[cell]) for cell in cells]
    inks = [
        colours.faint
        if veiled is not None and veiled[cell]
        else ink_on(fill(scale, (number - panel.low) / (panel.high - panel.low)), colours.ink)
        for cell, number in zip(cells, numbers, strict=True)
    ]
    return {
        "type": "scatter",
        "mode": "text",
        "x": [(laid.x[column] + laid.x[column + 1]) / 2 for _, column in cells],
        "y": [(laid.y[row] + laid.y[row + 1]) / 2 for row, _ in cells],
        "text": [str(int(number)) if is_id else short(number) for number in numbers],
        "textfont": {"size": size, "color": inks},
        "name": "numbers",
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _column_names(drawing: Grid, laid: Laid) -> Placed:
    """Above the columns: of facets, or of an index each."""
    if not drawing.facets:
        return [(x, -11 / laid.cell[1], name, "middle center") for x, name in _index_names(drawing, drawing.col, laid)]
    inside, across = drawing.extent[drawing.col], drawing.facet_columns
    names = [facet_label(drawing, number, len(drawing.facets) > 1) for number in range(across)]
    every = max(1, ceil((max(map(len, names)) * LETTER + 4) / (laid.width / across)))
    places = zip(_middles(laid.x, inside, across), names, strict=True)
    return [(x, -11 / laid.cell[1], name, "middle center") for x, name in list(places)[::every]]


def _row_names(drawing: Grid, laid: Laid) -> Placed:
    """Beside the rows: of the first facet axis, or of an index each."""
    left = -5 / laid.cell[0]
    if drawing.row is None or len(drawing.facets) == 1:
        return []
    if not drawing.facets:
        return [(left, y, name, "middle left") for y, name in _index_names(drawing, drawing.row, laid)]
    down, first = facets_down(drawing), drawing.facets[0]
    names = [f"{drawing.axes[first]} = {drawing.start[first] + i}" for i in range(down)]
    every = max(1, ceil(14 * down / laid.height))
    places = zip(_middles(laid.y, drawing.extent[drawing.row], down), names, strict=True)
    return [(left, y, name, "middle left") for y, name in list(places)[::every]]


def _index_names(drawing: Grid, axis: int, laid: Laid) -> list[tuple[float, str]]:
    """``d = 0``, ``d = 1``, ... along the columns or the rows, as many as fit."""
    names = [f"{drawing.axes[axis]} = {drawing.start[axis] + i}" for i in range(drawing.extent[axis])]
    across = axis == drawing.col
    lines, room = (laid.x, len(names[-1]) * LETTER + 6) if across else (laid.y, 14.0)
    every = max(1, ceil(room / laid.cell[0 if across else 1]))
    return list(zip(_middles(lines, 0, len(names)), names, strict=True))[::every]


def _middles(lines: list[float], inside: int, count: int) -> list[float]:
    """The middles of facets of ``inside`` lines; of single lines where it is 0."""
    step = inside + 1
    return [(lines[i * step] + lines[i * step + max(1, inside)]) / 2 for i in range(count)]


def facet_label(drawing: Grid, number: int, without_first: bool) -> str:
    """The indices of a facet: ``c = 1``; the first facet axis is left out where it labels the rows."""
    parts = []
    for axis in reversed(drawing.facets):
        number, index = divmod(number, drawing.extent[axis])
        parts.append(f"{drawing.axes[axis]} = {drawing.start[axis] + index}")
    return ", ".join(reversed(parts[:-1] if without_first else parts))


def words(panel: Panel, drawing: Grid, laid: Laid, colours: Theme) -> dict[str, Any]:
    """Everything that stands between and beside the cells, as one Plotly trace of text."""
    placed = [
        *_column_names(drawing, laid),
        *_row_names(drawing, laid),
        *_letters(drawing, laid),
        *_lower_facets(drawing, laid),
    ]
    names = len(placed)
    if laid.strips:
        placed += [*_facet_strips(panel, drawing, laid), *_row_strips(panel, laid), *_column_strips(panel, laid)]
    x, y, texts, positions = zip(*placed, strict=True)
    return {
        "type": "scatter",
        "mode": "text",
        "x": x,
        "y": y,
        "text": [plain(text) for text in texts],
        "textposition": positions,
        "textfont": {"size": 11.5, "color": [colours.muted] * names + [colours.text] * (len(placed) - names)},
        "cliponaxis": False,
        "name": "names",
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _letters(drawing: Grid, laid: Laid) -> Placed:
    """The axes within a facet."""
    if not drawing.facets:
        return []
    bottom = laid.y[-1] + (laid.below - 7) / laid.cell[1]
    right: Placed = [(0, bottom, f"{drawing.axes[drawing.col]} →", "middle right")]
    if drawing.row is None:
        return right
    facet = laid.cell[1] * drawing.extent[drawing.row]
    if len(drawing.facets) > 1 and facet < 40:  # the row's own name stands there
        return [(0, bottom, f"{right[0][2]}  {drawing.axes[drawing.row]} ↓", "middle right")]
    return [*right, (-4 / laid.cell[0], 8 / laid.cell[1], f"{drawing.axes[drawing.row]} ↓", "middle left")]


def _facet_places(drawing: Grid, laid: Laid) -> list[tuple[float, float, float]]:
    """The middle, the top and the bottom of every facet."""
    inside, across = drawing.extent[drawing.col], drawing.facet_columns
    rows = 1 if drawing.row is None else drawing.extent[drawing.row]
    middles = _middles(laid.x, inside, across)
    places = []
    for number in range(drawing.facet_count):
        top = number // across * (rows + 1)
        places.append((middles[number % across], laid.y[top], laid.y[top + rows]))
    return places


def _lower_facets(drawing: Grid, laid: Laid) -> Placed:
    """Names of the facets below the first row, where the rows have none."""
    if len(drawing.facets) != 1:
        return []
    return [
        (middle, top - 9 / laid.cell[1], facet_label(drawing, number, False), "middle center")
        for number, (middle, top, _) in enumerate(_facet_places(drawing, laid))
        if number >= drawing.facet_columns
    ]


def _facet_strips(panel: Panel, drawing: Grid, laid: Laid) -> Placed:
    strip = panel.strips.get("facet")
    if not strip:
        return []
    return [
        (middle, bottom + (10 + 13 * line) / laid.cell[1], f"{kind} {short(strip[kind][number])}", "middle center")
        for number, (middle, _, bottom) in enumerate(_facet_places(drawing, laid))
        for line, kind in enumerate(("mean", "var"))
    ]


def _row_strips(panel: Panel, laid: Laid) -> Placed:
    strip = panel.strips.get("row")
    if not strip:
        return []
    every = max(1, ceil(13 / laid.cell[1]))
    found: Placed = []
    for column, kind in enumerate(("mean", "var")):
        x = laid.x[-1] + (26 + 42 * column) / laid.cell[0]
        found.append((x, -10 / laid.cell[1], kind, "middle center"))
        found += [
            (x, row + 0.5, short(number), "middle center") for row, number in enumerate(strip[kind]) if row % every == 0
        ]
    return found


def _column_strips(panel: Panel, laid: Laid) -> Placed:
    strip = panel.strips.get("col")
    if not strip:
        return []
    longest = max(len(short(number)) for kind in ("mean", "var") for number in strip[kind])
    every = max(1, ceil((longest * 5.8 + 3) / laid.cell[0]))
    found: Placed = []
    for line, kind in enumerate(("mean", "var")):
        y = laid.y[-1] + (11 + 14 * line) / laid.cell[1]
        found.append((-4 / laid.cell[0], y, kind, "middle left"))
        found += [
            (column + 0.5, y, short(number), "middle center")
            for column, number in enumerate(strip[kind])
            if column % every == 0
        ]
    return found
