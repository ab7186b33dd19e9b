"""Scene: the one state of a view, to and from a URL query that a teacher can write by hand.

``?shape=2,3,4,4&layer=LayerNorm([3,4,4])&data=normal&seed=0&at=1,2,0,3``

Nothing else decides what a page shows. ``normviz.scene.query`` reads queries.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from math import prod
from typing import Any
from urllib.parse import quote

import numpy as np

from normviz.analysis.examples import DATA, PARAMETERS
from normviz.analysis.explanation import Explanation
from normviz.layers.axes import layout_text, parse_layout
from normviz.layers.errors import NormvizError, echo, listed
from normviz.layers.fit import default_layer
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.scene.cache import described, explained
from normviz.scene.grid import Grid, grid

DEFAULT_SHAPE = (2, 3, 4, 4)
MOST_VALUES = 2**20  # elements that the app computes with
MOST_EDITABLE = 64
LARGEST_VALUE = 1e12  # float32 can square it
MOST_RANK = 12


@dataclass(frozen=True)
class Scene:
    """What a view shows.

    shape, layout, layer  the tensor, its axis letters, and the layer on it
    data, seed            the example values of x (``normviz.analysis.examples.DATA``)
    values                x's own values, row-major, for a tensor of up to 64 elements; they replace ``data``
    params                the values of gamma and beta: "init", "index" or "random"
    at                    the selected element, or None
    start                 where the drawn window begins, for a tensor that is not drawn whole

    Raises NormvizError unless the layer takes the tensor and everything fits.
    """

    shape: tuple[int, ...]
    layout: str
    layer: Layer | Norm
    data: str = "normal"
    seed: int = 0
    values: tuple[float, ...] | None = None
    params: str = "init"
    at: tuple[int, ...] | None = None
    start: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.shape) > MOST_RANK:
            raise NormvizError(f"a view shows up to {MOST_RANK} axes, and this x has {len(self.shape)}; give fewer.")
        _ = self.sharing
        if self.at is not None and (
            len(self.at) != len(self.shape) or any(not 0 <= i < n for i, n in zip(self.at, self.shape, strict=True))
        ):
            raise NormvizError(f"at={echo(self.at)} is no element of a tensor of shape {self.shape}.")
        if self.values is not None and (len(self.values) != prod(self.shape) or not self.editable):
            raise NormvizError(
                f"values has {len(self.values)} numbers and x {prod(self.shape)} elements; "
                f"give one for each element, for a tensor of up to {MOST_EDITABLE}."
            )
        if self.values is not None:
            if not all(abs(number) <= LARGEST_VALUE for number in self.values):
                raise NormvizError(f"values has a number that is not finite or above {LARGEST_VALUE:g}.")
            object.__setattr__(self, "values", tuple(map(shortest, self.values)))
        if self.data not in DATA or self.params not in PARAMETERS:
            raise NormvizError(f"data is {listed(DATA)}, and params {listed(PARAMETERS)}.")
        if self.start not in ((), self.grid.start):
            most = tuple(size - part for size, part in zip(self.shape, self.grid.extent, strict=True))
            raise NormvizError(
                f"from={echo(self.start)} begins no window of this tensor; it may be from {commas((0,) * len(most))} to {commas(most)}."
            )
        if not any(self.start):
            object.__setattr__(self, "start", ())

    @property
    def axes(self) -> tuple[str, ...]:
        return parse_layout(self.layout, len(self.shape))

    @property
    def editable(self) -> bool:
        """May single values be changed?"""
        return prod(self.shape) <= MOST_EDITABLE

    @property
    def computable(self) -> bool:
        """Is x small enough to compute with?"""
        return prod(self.shape) <= MOST_VALUES

    @cached_property
    def sharing(self) -> Explanation:
        """The layer on the shape: patterns and counts, of any size."""
        return described(self.layer, self.shape, self.layout)

    @property
    def explanation(self) -> Explanation:
        """The layer on the values; on the shape alone where x is too large to compute with. Shared by all who ask for the same."""
        if not self.computable:
            return self.sharing
        return explained(self.sharing, self.data, self.seed, self.values, self.params)

    @cached_property
    def grid(self) -> Grid:
        """How the tensor, or a window of it, is drawn."""
        return grid(self.shape, self.axes, self.start)

    def query(self) -> dict[str, str]:
        """The query that reads back as this scene; what is as usual is left out."""
        usual = _usual(self.shape, self.layout, self.start)
        written = {
            "shape": commas(self.shape),
            "layout": self.layout if self.layout != _usual_layout(self.layer, self.shape) else "",
            "layer": compact(self.layer),
        }
        written |= {
            QUERY_NAMES.get(field.name, field.name): _written(field.name, getattr(self, field.name))
            for field in fields(self)[3:]
            if field.name == "start" or getattr(self, field.name) != getattr(usual, field.name)
        }
        if self.at is not None and not self.start and not self.grid.shows(self.at):
            written["from"] = commas((0,) * len(self.shape))
        if written["shape"] == commas(DEFAULT_SHAPE) and self.layer == usual.layer and self.layout == usual.layout:
            del written["shape"], written["layer"]
        return {name: value for name, value in written.items() if value}

    def link(self) -> str:
        """The query as readable text: ``?shape=2,3,4,4&layer=LayerNorm([3,4,4])``."""
        pairs = "&".join(f"{name}={quote(value, safe=READABLE)}" for name, value in self.query().items())
        return f"?{pairs}" if pairs else "?"


QUERY_NAMES = {"start": "from"}
READABLE = ",()[]=.:'->_"  # what a query may carry as it is


def compact(layer: Layer | Norm) -> str:
    """The layer's text without the spaces between arguments: ``LayerNorm([3,4,4])``."""
    return str(layer).replace(", ", ",") if isinstance(layer, Layer) else repr(layer).replace(", ", ",")


def default_at(shape: tuple[int, ...], axes: tuple[str, ...], start: tuple[int, ...] = ()) -> tuple[int, ...]:
    """The element that is selected at first: the last one of the first drawn row, so that no two indices look alike."""
    drawing = grid(shape, axes, start)
    row = drawing.row if len(shape) > 2 else None
    return tuple(part.start if axis == row else part.stop - 1 for axis, part in enumerate(drawing.window))


def shortest(number: float) -> float:
    """The number of the fewest digits that is the same float32.

    >>> shortest(0.30000000000000004)
    0.3
    """
    return float(str(np.float32(number)))


def _usual(shape: tuple[int, ...], layout: str, start: tuple[int, ...]) -> Scene:
    axes = parse_layout(layout, len(shape))
    return Scene(shape, layout, default_layer("LayerNorm", shape, axes), at=default_at(shape, axes, start), start=start)


def _usual_layout(layer: Layer | Norm, shape: tuple[int, ...]) -> str:
    return layer.kind.layout(len(shape)) if isinstance(layer, Layer) else layout_text(layer.axes)


def commas(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))


def _written(name: str, value: Any) -> str:
    if value is None:
        return "none" if name == "at" else ""
    if name == "values":
        return ",".join(f"{number:.9g}".replace("e+", "e") for number in value)  # in a URL, "+" is a space
    return commas(value) if isinstance(value, tuple) else str(value)
