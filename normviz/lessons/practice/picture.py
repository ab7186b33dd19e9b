"""The elements of x as an SVG picture: cells with the framed element, numbers, or a marked set."""

from __future__ import annotations

from html import escape
from itertools import product
from math import prod

from normviz.figures.palette import FONT, THEMES
from normviz.lessons.practice.case import place
from normviz.lessons.practice.exercise import Exercise

MOST_CELLS = 96  # with more cells, each axis is drawn as its first index, a gap and its last
MOST_ALONG = 3  # indices of an axis without a gap
CELL, GAP, LABEL, EDGE = 30, 14, 18, 10
LETTERS = 34  # the width of "n = 0, "
LIGHT = THEMES["light"]
COLORS = (*LIGHT.few, *LIGHT.more)
Index = tuple[int, ...]
Drawn = list[list[int | None]]


def svg(exercise: Exercise, answered: bool = False) -> str:
    """The picture of an exercise; ``answered``: with its answer marked."""
    drawn = _drawn(exercise.case.shape)
    shape = tuple(map(len, drawn))
    marked = set(exercise.elements(exercise.answer)) if answered and isinstance(exercise.answer, tuple) else set()
    cells = "".join(_cell(exercise, drawn, spot, marked) for spot in product(*map(range, shape)))
    names = "".join(_facet_label(exercise, drawn, spot) for spot in product(*map(range, shape[:-2])))
    right, bottom = _corner(shape, tuple(size - 1 for size in shape))
    right = max(right, right - (shape[-1] - 1) * CELL + len(shape[:-2]) * LETTERS - CELL)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right + CELL + EDGE}" height="{bottom + CELL + EDGE}" '
        f'font-family="{escape(FONT)}" font-size="13"><title>{escape(spoken(exercise))}</title>'
        f'<rect width="100%" height="100%" fill="{LIGHT.background}"/>{names}{cells}{_frame(exercise)}</svg>'
    )


def _drawn(shape: tuple[int, ...]) -> Drawn:
    """The indices that are drawn along each axis; None is a gap.

    >>> _drawn((2, 3)), _drawn((2, 100))
    ([[0, 1], [0, 1, 2]], [[0, 1], [0, None, 99]])
    """
    is_whole = prod(shape) <= MOST_CELLS
    return [list(range(size)) if is_whole or size <= MOST_ALONG else [0, None, size - 1] for size in shape]


def spoken(exercise: Exercise) -> str:
    """What the picture shows, for readers who do not see it: the shape, or the numbers of a pattern."""
    case = exercise.case
    shape = f"{case.axes_text} = {case.shape}"
    numbers = exercise.numbers
    return f"{shape}: {numbers}" if numbers else shape


def _corner(shape: tuple[int, ...], index: Index) -> tuple[int, int]:
    """The left upper corner of a cell. The last two axes are rows and columns of a facet, the first axes rows and columns of facets."""
    rows, columns = (1, *shape)[-2:]
    row, column = (0, *index)[-2:]
    outer, sizes = index[:-2], shape[:-2]
    facet_row, facet_column = (outer[0], outer[1:]) if len(outer) > 1 else (0, outer)
    across = place(facet_column, sizes[len(sizes) - len(facet_column) :])
    width = max(columns * CELL, len(sizes) * LETTERS)  # a facet is as wide as its label
    left = EDGE + across * (width + GAP) + column * CELL
    top = EDGE + (facet_row + 1) * LABEL * bool(sizes) + facet_row * (rows * CELL + GAP) + row * CELL
    return left, top


def _facet_label(exercise: Exercise, drawn: Drawn, spot: Index) -> str:
    facet = [indices[i] for indices, i in zip(drawn, spot, strict=False)]
    if not facet or None in facet:
        return ""
    left, top = _corner(tuple(map(len, drawn)), (*spot, 0, 0))
    words = ", ".join(f"{name} = {i}" for name, i in zip(exercise.case.axes, facet, strict=False))
    return f'<text x="{left}" y="{top - 5}" font-size="11" fill="{LIGHT.muted}">{words}</text>'


def _cell(exercise: Exercise, drawn: Drawn, spot: Index, marked: set[Index]) -> str:
    """A cell, or the sign of a gap."""
    left, top = _corner(tuple(map(len, drawn)), spot)
    index = tuple(i for indices, at in zip(drawn, spot, strict=True) if (i := indices[at]) is not None)
    if len(index) < len(spot):
        return _sign(left, top, [indices[at] is None for indices, at in zip(drawn, spot, strict=True)], spot)
    position = place(index, exercise.case.shape)
    fill, words = COLORS[0] if index in marked else LIGHT.none, ""
    if exercise.kind == "pattern":
        number = exercise.case.group_numbers[position]
        fill, words = COLORS[number % len(COLORS)], str(number)
    elif exercise.values:
        words = f"{exercise.values[position]:g}"
    text = (
        f'<text x="{left + CELL // 2}" y="{top + CELL // 2 + 5}" text-anchor="middle" fill="{LIGHT.ink[0]}">{words}</text>'
        if words
        else ""
    )
    return f'<rect x="{left}" y="{top}" width="{CELL}" height="{CELL}" fill="{fill}" stroke="{LIGHT.background}" stroke-width="2"/>{text}'


def _sign(left: int, top: int, gaps: list[bool], spot: Index) -> str:
    """Three points in a row or a column of cells; one sign for a facet, and one for a row of facets."""
    outer, row, column = gaps[:-2], *([False, *gaps][-2:])
    below = len(outer) > 1 and outer[0]
    if any(spot[1:] if below else spot[-2:]) if any(outer) else row and column:
        return ""
    sign = "⋮" if below or (row and not any(outer)) else "…"
    return f'<text x="{left + CELL // 2}" y="{top + CELL // 2 + 5}" text-anchor="middle" fill="{LIGHT.muted}">{sign}</text>'


def _frame(exercise: Exercise) -> str:
    if not exercise.at:
        return ""
    left, top = _corner(exercise.case.shape, exercise.at)
    return (
        f'<rect x="{left + 1}" y="{top + 1}" width="{CELL - 2}" height="{CELL - 2}" fill="none" stroke="{LIGHT.accent}" '
        'stroke-width="3"/>'
    )
