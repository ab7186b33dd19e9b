"""The picture of the Group Normalization paper: examples, channels and all positions (H·W) as a box, one group filled.

Isometric. ``linked/cube.js`` draws the same for whichever element is pointed at; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import groupby
from math import prod, sqrt
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from normviz.figures.ink import mixed, seen_through
from normviz.figures.palette import Theme

MOST = (6, 10, 16)  # bricks along n, c, s
COS30, SIN30 = sqrt(3) / 2, 0.5
HIGH, LARGEST, SMALLEST = 250.0, 34.0, 4.0  # pixels: of a cube, of a brick's edge
BESIDE, AROUND = 90, 40  # pixels for names
CORNERS = {
    "top": ((0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)),
    "right": ((1, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1)),
    "left": ((0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)),
}  # of a brick: along c, s, n

Tables = Sequence[Sequence[int] | NDArray[np.int64]]
Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """Which axes of the drawn window stand for examples (n), channels (c) and positions (s), and how long each is.

    example, channel  an axis' number; None where x has none
    rest              the axes that make the positions, the last one the fastest
    whole, drawn      n, c and s: of the window, and as many of them as are drawn
    """

    example: int | None
    channel: int | None
    rest: tuple[int, ...]
    whole: tuple[int, int, int]

    @classmethod
    def of(cls, axes: Sequence[str], extent: Sequence[int]) -> Box:
        """
        >>> Box.of(("n", "c", "h", "w"), (2, 3, 4, 4))
        Box(example=0, channel=1, rest=(2, 3), whole=(2, 3, 16))
        """
        channel = next((axes.index(name) for name in ("c", "d") if name in axes), None)
        example = axes.index("n") if "n" in axes else 0 if axes[0] == "b" else None  # a batch may be called b
        rest = tuple(axis for axis in range(len(axes)) if axis not in (example, channel))
        n, c = (1 if axis is None else extent[axis] for axis in (example, channel))
        return cls(example, channel, rest, (n, c, prod(extent[axis] for axis in rest)))

    @property
    def drawn(self) -> tuple[int, int, int]:
        n, c, s = map(min, self.whole, MOST)
        return n, c, s

    def lay(self, elements: NDArray[np.int64]) -> NDArray[np.int64]:
        """What the window has for each element, as (n, c, s)."""
        order = [axis for axis in (self.example, self.channel) if axis is not None]
        return elements.transpose(*order, *self.rest).reshape(self.whole)

    def names(self, axes: Sequence[str]) -> tuple[str, str, str]:
        n, c = ("" if axis is None else axes[axis].upper() for axis in (self.example, self.channel))
        return n, c, "·".join(axes[axis].upper() for axis in self.rest)


@dataclass(frozen=True)
class Cube:
    """A cube among the panels of a still picture; ``names`` are those of n, c and s, ``links`` the sharing that it fills."""

    key: str
    title: str
    links: str
    box: Box
    names: tuple[str, str, str]
    pattern: ClassVar[str] = ""
    caption: ClassVar[str] = ""
    scale: ClassVar[str] = "cube"


class Face(NamedTuple):
    """One side of a brick: "top", "right" or "left"; ``here`` of the selected element."""

    depth: int
    kind: str
    here: bool
    brick: tuple[int, int, int]


@dataclass(frozen=True)
class Projected:
    """The box on the page, within ``room`` pixels: c to the lower right, n to the lower left, s down."""

    box: Box
    room: float
    below: ClassVar[float] = 0.0

    @property
    def flat(self) -> float:
        """Of a brick's edge, its height: positions are many."""
        return 0.5 if self.box.drawn[2] > 6 else 0.9

    @cached_property
    def unit(self) -> float:
        fits = (self.room - BESIDE) / self._across, (HIGH - AROUND) / self._down
        return max(SMALLEST, min(*fits, LARGEST))

    @property
    def height(self) -> float:
        return self._down * self.unit + AROUND

    @property
    def _across(self) -> float:
        n, c, _ = self.box.drawn
        return (n + c) * COS30

    @property
    def _down(self) -> float:
        n, c, s = self.box.drawn
        return (n + c) * SIN30 + s * self.flat

    def point(self, c: float, s: float, n: float) -> Point:
        left = (self.room - self._across * self.unit) / 2 + self.box.drawn[0] * COS30 * self.unit + 10
        return left + (c - n) * COS30 * self.unit, 6 + ((c + n) * SIN30 + s * self.flat) * self.unit

    def side(self, kind: str, brick: tuple[int, int, int] | None = None) -> list[Point]:
        """The corners of a side of the brick at n, c, s; of the whole box without one."""
        n, c, s = brick or (0, 0, 0)
        deep, wide, high = self.box.drawn if brick is None else (1, 1, 1)
        return [self.point(c + dc * wide, s + ds * high, n + dn * deep) for dc, ds, dn in CORNERS[kind]]

    def wires(self) -> Iterator[list[Point]]:
        """The edges of all bricks on the three sides that are seen."""
        n, c, s = self.box.drawn
        for i in range(c + 1):
            yield [self.point(i, 0, 0), self.point(i, 0, n), self.point(i, s, n)]
        for i in range(n + 1):
            yield [self.point(0, 0, i), self.point(c, 0, i), self.point(c, s, i)]
        for i in range(s + 1):
            yield [self.point(0, i, n), self.point(c, i, n), self.point(c, i, 0)]


def filled(box: Box, tables: Tables, at: tuple[int, ...]) -> list[Face]:
    """The sides that are seen of the bricks that share with the element at ``at``, from the farthest to the nearest.

    Bricks of the same n + c - s are equally far, and none of them hides another.
    """
    ids = reduce(np.add.outer, [np.asarray(table) for table in tables])
    place = np.argwhere(box.lay(np.arange(ids.size).reshape(ids.shape)) == np.ravel_multi_index(at, ids.shape))[0]
    first = [
        min(max(0, here - drawn + 1), whole - drawn)
        for here, drawn, whole in zip(place, box.drawn, box.whole, strict=True)
    ]
    window = tuple(slice(start, start + drawn) for start, drawn in zip(first, box.drawn, strict=True))
    same = np.pad(box.lay(ids)[window] == ids[at], 1)
    found = []
    for n, c, s in np.argwhere(same[1:-1, 1:-1, 1:-1]).tolist():
        hidden = {"top": same[n + 1, c + 1, s], "right": same[n + 1, c + 2, s + 1], "left": same[n + 2, c + 1, s + 1]}
        here = [n, c, s] == [int(i) - start for i, start in zip(place, first, strict=True)]
        found += [Face(n + c - s, kind, here, (n, c, s)) for kind in CORNERS if not hidden[kind]]
    return sorted(found)


def painted(
    on: Projected, faces: Sequence[Face], colours: Theme
) -> Iterator[tuple[list[list[Point]], Mapping[str, object]]]:
    """What is drawn, one after the other: lines through points, and how Plotly paints a shape of them."""
    for kind in CORNERS:
        yield [on.side(kind)], {"fillcolor": seen_through(colours.border, 0.25), "line": {"width": 0}}
    yield list(on.wires()), {"line": {"color": colours.border, "width": 1}}
    fills = {
        "top": mixed(colours.group, 0.7, "#ffffff"),
        "right": colours.group,
        "left": mixed(colours.group, 0.82, "#000000"),
    }
    for (_, kind, here), alike in groupby(faces, lambda face: face[:3]):
        fill = colours.accent if here else fills[kind]
        yield (
            [on.side(kind, face.brick) for face in alike],
            {"fillcolor": fill, "line": {"color": colours.card, "width": 0.7}},
        )


def labels(on: Projected, names: tuple[str, str, str]) -> Iterator[tuple[Point, str, str]]:
    """Where the names of n, c and s stand, each ending ("right") or beginning ("left") there."""
    n, c, s = on.box.drawn
    for name, corner, (right, down), anchor in zip(
        names,
        ((c, s, n / 2), (c / 2, s, n), (0, s / 2, n)),
        ((8, 12), (-8, 12), (-8, 0)),
        ("left", "right", "right"),
        strict=True,
    ):
        x, y = on.point(*corner)
        yield (x + right, y + down), anchor, name
