"""How values travel to the browser, as JSON. What it gets is a payload: a frozen dataclass whose fields are the keys of an object.

``tools/payload_types.py`` writes the TypeScript interfaces of the payloads from the same annotations.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache, partial
from math import isfinite, isnan
from typing import Any, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from normviz.scene.grid import Grid

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Default = TypeVar("Default")
LEFT_OUT = "left out"
PLAIN = frozenset({str, int, bool, type(None)})  # the types of most of the data


class Payload:
    """The base of what the browser gets."""


class JsonObject(dict[str, "Json"]):
    """A payload that is JSON already."""


def left_out(default: Default) -> Default:
    """A field that the browser does not get where it has its default."""
    return field(default=default, metadata={LEFT_OUT: True})


@dataclass(frozen=True)
class GridData(Payload):
    """How the tensor is drawn: facets of rows and columns, at the drawn ``indices`` of each axis.

    across  the number of facets side by side
    """

    shape: tuple[int, ...]
    facets: tuple[int, ...]
    row: int | None
    col: int
    indices: tuple[tuple[int, ...], ...]
    across: int

    @classmethod
    def of(cls, drawing: Grid) -> GridData:
        facets, row, col = drawing.facets, drawing.row, drawing.col
        return cls(drawing.shape, facets, row, col, drawing.indices, drawing.layout.across)


@overload
def sent(value: Payload) -> dict[str, Json]: ...
@overload
def sent(value: object) -> Json: ...
def sent(value: object) -> Json:
    """The value as JSON: an array as its shape and its numbers, infinity as a text, and NaN as null.

    Raises TypeError for a value of another kind.

    >>> sent([GridData((2, 3), (), 0, 1, ((0, 1), (0, 1, 2)), 1), float("inf")])
    [{'shape': [2, 3], 'facets': [], 'row': 0, 'col': 1, 'indices': [[0, 1], [0, 1, 2]], 'across': 1}, 'Infinity']
    """
    kind: type = type(value)
    return value if kind in PLAIN else _writer(kind)(value)  # type: ignore[return-value]


@cache
def _writer(kind: type) -> Callable[[Any], Json]:
    """What writes the values of a type."""
    if issubclass(kind, str | int | JsonObject):
        return lambda value: value
    if issubclass(kind, list | tuple):
        return lambda value: [one if type(one) in PLAIN else sent(one) for one in value]
    if issubclass(kind, Grid):
        return lambda value: sent(GridData.of(value))
    if is_dataclass(kind):
        return partial(_object, _keys_of(kind))
    if issubclass(kind, Mapping):
        return lambda value: {name: one if type(one) in PLAIN else sent(one) for name, one in value.items()}
    if issubclass(kind, np.ndarray):
        return _packed
    if issubclass(kind, float):
        return _number
    raise TypeError(f"{kind.__name__} has no form in JSON")


def _number(value: float) -> Json:
    return value if isfinite(value) else None if isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _object(keys: list[tuple[str, object]], value: object) -> dict[str, Json]:
    written: dict[str, Json] = {}
    for name, default in keys:
        held = getattr(value, name)
        if not (held is default or (type(held) is type(default) and held == default)):
            written[name] = held if type(held) in PLAIN else sent(held)
    return written


def _keys_of(kind: type) -> list[tuple[str, object]]:
    """Each field of a dataclass, and the value that is left out."""
    return [(one.name, one.default if LEFT_OUT in one.metadata else MISSING) for one in fields(kind)]


def _packed(array: NDArray[np.float32]) -> dict[str, Json]:
    """Its shape, and its numbers as little-endian float32 in base64."""
    little_endian = np.ascontiguousarray(array, dtype="<f4")
    return {"shape": list(little_endian.shape), "data": b64encode(little_endian.tobytes()).decode("ascii")}
