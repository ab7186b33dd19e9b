"""Exercises as the questions of a quiz, with a picture of x: a number, or one of several options. What is marked on a figure becomes a choice."""

from dataclasses import dataclass
from html import escape
from itertools import product
from math import prod

from normviz.figures.palette import FONT, THEMES
from normviz.lessons.practice.case import place
from normviz.lessons.practice.exercise import Exercise
from normviz.lessons.practice.settings import MARK, NUMBER
from normviz.parts.html import bare, block, line
from normviz.scene.grid import Roles, roles
from normviz.texts.messages import _

# The elements of x as an SVG picture: cells with the framed element, numbers, or a marked set.


MOST_CELLS = 96  # with more cells, each axis is drawn as its first index, a gap and its last
MOST_ALONG = 3  # indices of an axis without a gap
CELL, GAP, LABEL, EDGE = 30, 14, 18, 10
LETTERS = 34  # the width of "n = 0, "
LIGHT = THEMES["light"]


@dataclass(frozen=True)
class Look:
    """Colors of a picture.

    groups      the cells of each group of a pattern; numbers are readable on each
    grid, line  the color and the width of the line between cells
    """

    background: str
    empty: str
    marked: str
    groups: tuple[str, ...]
    grid: str
    line: int
    ink: str
    muted: str
    accent: str


COLORED = Look(
    LIGHT.background, LIGHT.none, LIGHT.few[0], LIGHT.few, LIGHT.background, 2, LIGHT.ink[0], LIGHT.muted, LIGHT.accent
)
PRINTED = Look("#fff", "#fff", "#bbb", ("#fff",), "#000", 1, "#000", "#000", "#000")  # black and white
Index = tuple[int, ...]
Drawn = list[list[int | None]]


def svg(exercise: Exercise, answered: bool = False, look: Look = COLORED) -> str:
    """The picture of an exercise; "" if it has no tensor. ``answered``: with its answer marked."""
    if not exercise.case.shape:
        return ""
    drawn, axes = _drawn(exercise.case.shape), roles(exercise.case.axes)
    shape = tuple(map(len, drawn))
    is_set = answered and exercise.about.form == MARK
    marked = set(exercise.elements(exercise.answer) if is_set else exercise.target)
    spots = list(product(*map(range, shape)))
    cells = "".join(_cell(exercise, drawn, axes, spot, marked, look) for spot in spots)
    names = "".join(_facet_label(exercise, drawn, axes, spot, look) for spot in spots if _is_first_of_facet(spot, axes))
    frame = ""
    if exercise.at:
        left, top = _corner(axes, exercise.case.shape, exercise.at)
        place_and_size = f'x="{left + 1}" y="{top + 1}" width="{CELL - 2}" height="{CELL - 2}"'
        frame = f'<rect {place_and_size} fill="none" stroke="{look.accent}" stroke-width="3"/>'
    right, bottom = _corner(axes, shape, tuple(size - 1 for size in shape))
    right = max(right, right - (shape[axes.col] - 1) * CELL + len(axes.facets) * LETTERS - CELL)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right + CELL + EDGE}" height="{bottom + CELL + EDGE}" '
        f'font-family="{escape(FONT)}" font-size="13"><title>{escape(spoken(exercise))}</title>'
        f'<rect width="100%" height="100%" fill="{look.background}"/>{names}{cells}{frame}</svg>'
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
    if not case.shape:
        return ""
    shape = f"{case.axes_text} = {case.shape}"
    numbers = exercise.numbers
    return f"{shape}: {numbers}" if numbers else shape


def _along(spot: Index, axis: int | None) -> int:
    return 0 if axis is None else spot[axis]


def _is_first_of_facet(spot: Index, axes: Roles) -> bool:
    return not spot[axes.col] and not _along(spot, axes.row)


def _corner(axes: Roles, shape: Index, spot: Index) -> tuple[int, int]:
    """The left upper corner of a cell. The first axis of facets has a row of facets for each index; a single one has one row."""
    across, down = axes.facets, 0
    if len(across) > 1:
        down, across = spot[across[0]], across[1:]
    facet = place([spot[axis] for axis in across], [shape[axis] for axis in across])
    rows = 1 if axes.row is None else shape[axes.row]
    width = max(shape[axes.col] * CELL, len(axes.facets) * LETTERS)  # a facet is as wide as its label
    left = EDGE + facet * (width + GAP) + spot[axes.col] * CELL
    above = (down + 1) * LABEL * bool(axes.facets)
    return left, EDGE + above + down * (rows * CELL + GAP) + _along(spot, axes.row) * CELL


def _facet_label(exercise: Exercise, drawn: Drawn, axes: Roles, spot: Index, look: Look) -> str:
    facet = [drawn[axis][spot[axis]] for axis in axes.facets]
    if not facet or None in facet:
        return ""
    left, top = _corner(axes, tuple(map(len, drawn)), spot)
    words = ", ".join(f"{exercise.case.axes[axis]} = {i}" for axis, i in zip(axes.facets, facet, strict=True))
    return f'<text x="{left}" y="{top - 5}" font-size="11" fill="{look.muted}">{words}</text>'


def _cell(exercise: Exercise, drawn: Drawn, axes: Roles, spot: Index, marked: set[Index], look: Look) -> str:
    """A cell, or the sign of a gap."""
    left, top = _corner(axes, tuple(map(len, drawn)), spot)
    index = tuple(i for indices, at in zip(drawn, spot, strict=True) if (i := indices[at]) is not None)
    if len(index) < len(spot):
        return _text(left, top, _sign(drawn, axes, spot), look.muted)
    position = place(index, exercise.case.shape)
    fill, words = look.marked if index in marked else look.empty, ""
    if exercise.about.is_numbered:
        number = exercise.case.group_numbers[position]
        fill, words = look.groups[number % len(look.groups)], str(number)
    elif exercise.values:
        words = f"{exercise.values[position]:g}"
    cell = f'<rect x="{left}" y="{top}" width="{CELL}" height="{CELL}" fill="{fill}" stroke="{look.grid}" stroke-width="{look.line}"/>'
    return cell + _text(left, top, words, look.ink)


def _text(left: int, top: int, words: str, color: str) -> str:
    """A text in the middle of a cell; nothing for no words."""
    middle = f'x="{left + CELL // 2}" y="{top + CELL // 2 + 5}" text-anchor="middle"'
    return f'<text {middle} fill="{color}">{words}</text>' if words else ""


def _sign(drawn: Drawn, axes: Roles, spot: Index) -> str:
    """Three points in a row or a column of cells; one sign for a facet, and one for a row of facets; "" at its other cells."""
    gaps = [indices[at] is None for indices, at in zip(drawn, spot, strict=True)]
    outer = [gaps[axis] for axis in axes.facets]
    if len(outer) > 1 and outer[0]:
        others = [at for axis, at in enumerate(spot) if axis != axes.facets[0]]
        return "" if any(others) else "⋮"
    if any(outer):
        return "…" if _is_first_of_facet(spot, axes) else ""
    in_row = axes.row is not None and gaps[axes.row]
    if in_row and gaps[axes.col]:
        return ""
    return "⋮" if in_row else "…"


@dataclass(frozen=True)
class Option:
    """An option of a choice, and the feedback for it."""

    text: str
    feedback: str
    right: bool


@dataclass(frozen=True)
class Item:
    """One question of a quiz.

    picture            SVG of x; of a large x, each axis without its middle
    solution           SVG with the answer marked; "" if the answer is not a set
    spoken             what the picture shows, as text
    options            of a choice; empty if the answer is a number
    number, tolerance  the answer, if it is a number
    mistakes           wrong numbers, with their feedback
    link               the address of the view that settles it; "" if there is none
    is_rich            whether its texts are Markdown
    """

    id: str
    prompt: str
    picture: str
    solution: str
    spoken: str
    options: tuple[Option, ...]
    number: float
    tolerance: float
    mistakes: tuple[tuple[float, str], ...]
    explanation: str
    link: str
    is_rich: bool = False

    def block(self, text: str) -> str:
        """One of its texts as HTML: a paragraph, or several."""
        return block(text) if self.is_rich else f"<p>{escape(text)}</p>"

    def line(self, text: str) -> str:
        """One of its texts as HTML within a line."""
        return line(text) if self.is_rich else escape(text)

    def plain(self, text: str) -> str:
        """One of its texts without marks, on one line."""
        return " ".join(bare(text).split()) if self.is_rich else text

    @property
    def answer(self) -> str:
        """The right answer as text."""
        return next((option.text for option in self.options if option.right), digits(self.number))


def digits(number: float) -> str:
    """A number as a quiz writes it, with all its digits.

    >>> digits(48.0), digits(0.71), digits(1234567.0)
    ('48', '0.71', '1234567')
    """
    return f"{number:.15g}"


def item(exercise: Exercise, app: str = "", look: Look = COLORED) -> Item:
    """The exercise as a question; ``app`` is the address of the app that its link opens."""
    is_number = exercise.about.form == NUMBER
    options = [
        Option(exercise.text_of(value), exercise.feedback(confusion) if confusion else _("Right."), not confusion)
        for confusion, value in exercise.choices
    ]
    mistakes = [
        (float(value), exercise.feedback(key)) for key, value in exercise.wrong if not isinstance(value, str | tuple)
    ]
    assert not is_number or not isinstance(exercise.answer, str | tuple)
    return Item(
        exercise.id,
        exercise.prompt_of_choice,
        svg(exercise, look=look),
        svg(exercise, answered=True, look=look) if exercise.about.form == MARK else "",
        spoken(exercise),
        () if is_number else tuple(options),
        float(exercise.answer) if is_number else 0.0,  # type: ignore[arg-type]
        exercise.tolerance,
        tuple(mistakes) if is_number else (),
        exercise.explanation,
        f"{app.rstrip('/')}{exercise.link}" if app and exercise.link else "",
        exercise.is_rich,
    )
