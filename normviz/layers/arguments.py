"""Reading one argument of a layer's call: what is legal, and the sentence where it is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, nan
from numbers import Integral, Real
from typing import Any

from normviz.layers.axes import MAX_RANK
from normviz.layers.errors import NormvizError, echo

LARGEST = 2**40


def _whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _number(value: object) -> float:
    """The value as a float; NaN, which lies in no range, where it is no number."""
    try:
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else nan
    except OverflowError:
        return inf


def _size(name: str, value: Any) -> int:
    if not (_whole(value) and 1 <= value <= LARGEST):
        most = f"from 1 to {LARGEST:,}" if _whole(value) and value > LARGEST else "of at least 1"
        raise NormvizError(f"{name}={echo(value)} must be a whole number {most}.")
    return int(value)


def _shape(name: str, value: Any) -> tuple[int, ...]:
    sizes = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not 1 <= len(sizes) <= MAX_RANK or not all(_whole(size) and 1 <= size <= LARGEST for size in sizes):
        raise NormvizError(
            f"{name}={echo(value)} must be a size or a list of the last sizes of x, each at least 1, as in [3, 4, 4]."
        )
    return tuple(int(size) for size in sizes)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise NormvizError(f"{name}={echo(value)} must be True or False.")
    return value


def _eps(name: str, value: Any) -> float:
    if not abs(_number(value)) < inf:
        raise NormvizError(f"{name}={echo(value)} must be a finite number, such as 1e-5.")
    return float(value)


def _eps_or_none(name: str, value: Any) -> float | None:
    return None if value is None else _eps(name, value)


def _momentum(name: str, value: Any) -> float | None:
    if value is not None and not 0 <= _number(value) <= 1:
        raise NormvizError(f"{name}={echo(value)} must be a number from 0 to 1, or None for a cumulative average.")
    return None if value is None else float(value)


def _axis(name: str, value: Any) -> int:
    if not (_whole(value) and abs(value) <= MAX_RANK):
        raise NormvizError(f"{name}={echo(value)} must be the number of an axis, such as 0 or -1.")
    return int(value)


READERS: Mapping[str, Callable[[str, Any], Any]] = {
    "size": _size,
    "shape": _shape,
    "flag": _flag,
    "eps": _eps,
    "eps or None": _eps_or_none,
    "momentum": _momentum,
    "axis": _axis,
}
