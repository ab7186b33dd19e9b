"""What an exercise is about: a layer on an x of some shape, and which elements share what."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from normviz.layers import sharing
from normviz.layers.axes import example_axis, parse_layout
from normviz.layers.catalogue import KINDS
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.texts.errors import listed
from normviz.texts.messages import _

Box = tuple[tuple[int, ...], ...]  # positions of a set of elements, axis by axis; empty: no element
# How toggles stand, axis by axis: 1: the mean is taken over the axis; 0: it is not; more: the number of groups with a mean each.
Toggles = tuple[int, ...]
Answer = float | str | Box


@dataclass(frozen=True)
class Case:
    """A layer of the catalogue on an x of ``shape``; ``layout`` names its axes."""

    text: str
    shape: tuple[int, ...]
    layout: str

    @cached_property
    def layer(self) -> Layer:
        layer = Layer.parse(self.text)
        assert isinstance(layer, Layer)
        return layer

    @cached_property
    def axes(self) -> tuple[str, ...]:
        return parse_layout(self.layout, len(self.shape))

    @cached_property
    def norm(self) -> Norm:
        return self.layer.norm(self.axes)

    @property
    def family(self) -> str:
        return family_of(self.text)

    @property
    def example(self) -> str:
        """The batch axis."""
        return self.axes[example_axis(self.axes) or 0]

    @property
    def channel(self) -> str:
        """The channel or feature axis."""
        return next((name for name in ("c", "d") if name in self.axes), self.axes[1])

    @property
    def axes_text(self) -> str:
        """The axes as a shape: "(N, C, H, W)"."""
        return f"({', '.join(name.upper() for name in self.axes)})"

    @property
    def group_numbers(self) -> list[int]:
        """The number of the statistics group of each element, in row-major order."""
        found: list[int] = sharing.ids(sharing.stat_tables(self.norm, self.shape)).flatten().tolist()
        return found

    @property
    def averaged(self) -> str:
        """The averaged axes in words: "N, H and W", "the channels of a group and L"."""
        return self.averaged_by(self.norm)

    def averaged_by(self, norm: Norm) -> str:
        """The axes that another norm averages on the same x, in words."""
        names = [name.upper() if name in self.axes else _("the channels of a group") for name in norm.pattern.reduced]
        return listed(names, "and") if names else _("nothing")

    def over(self, kept: Sequence[str]) -> Norm:
        """The statistics that keep these axes."""
        return Norm(f"{' '.join(self.axes)} -> {' '.join(kept)}")


def family_of(layer: str) -> str:
    """The family of a layer's text.

    >>> family_of("BatchNorm2d(3).eval()")
    'BatchNorm'
    """
    return KINDS[layer.partition("(")[0]].family


def group_box(norm: Norm, shape: tuple[int, ...], at: tuple[int, ...]) -> Box:
    """The statistics group of an element, itself among it."""
    return box_of(sharing.stat_tables(norm, shape), at)


def box_of(tables: Sequence[sharing.Ids], at: tuple[int, ...]) -> Box:
    """The elements with the same entries as an element, itself among them, in a table for each axis."""
    return tuple(
        tuple(position for position, entry in enumerate(table.tolist()) if entry == table[i])
        for table, i in zip(tables, at, strict=True)
    )


def members(box: Box, without: tuple[int, ...] | None = None) -> list[tuple[int, ...]]:
    """The sorted indices of a set.

    >>> members(((0, 1), (2,)), without=(1, 2))
    [(0, 2)]
    """
    return [index for index in product(*box) if index != without] if box else []


def place(index: Sequence[int], shape: Sequence[int]) -> int:
    """The position of an element in row-major order.

    >>> place((1, 2), (2, 3))
    5
    """
    return sum(i * prod(shape[axis + 1 :]) for axis, i in enumerate(index))
