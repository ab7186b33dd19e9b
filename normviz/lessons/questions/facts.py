"""What facts are made of: the view that a question opens, equality but for rounding, and the one option that is true."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from normviz.analysis.forward import largest_difference
from normviz.layers.errors import NormvizError
from normviz.layers.layer import Layer
from normviz.scene.query import read
from normviz.scene.scene import Scene

if TYPE_CHECKING:
    from torch import Tensor, nn

ROUNDING = 1e-5  # more than float32's, for outputs of the order of 1


def only(**options: bool) -> str:
    """The key of the one option that is true. Raises NormvizError unless exactly one is.

    >>> only(rows=False, columns=6 == 2 * 3)
    'columns'
    """
    true = [key for key, holds in options.items() if holds]
    if len(true) != 1:
        raise NormvizError(f"of the options {list(options)} one must be true, and these are: {true}.")
    return true[0]


def scene_of(query: str) -> Scene:
    """What a view of this query shows."""
    return read(dict(parse_qsl(query))).scene


def same(one: Tensor, other: Tensor) -> bool:
    """Are they equal but for rounding?"""
    return largest_difference(one, other) <= ROUNDING


def module_of(layer: str, dtype: object = None) -> nn.Module:
    """torch's own module of that text, fresh."""
    found = Layer.parse(layer)
    assert isinstance(found, Layer)
    return found.module(dtype)
