"""Read one argument of a layer: return it as its plain Python type, or raise NormvizError with the rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, nan
from numbers import Integral, Real
from typing import Any

from normviz.layers.axes import MAX_RANK
from normviz.layers.errors import NormvizError, echo
from normviz.layers.messages import _

LARGEST_SIZE = 2**40


def _is_int(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_size(value: Any) -> bool:
    return _is_int(value) and 1 <= value <= LARGEST_SIZE


def _as_float(value: object) -> float:
    """The value as a float; NaN, which is in no range, if it is not a number."""
    try:
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else nan
    except OverflowError:
        return inf


def _check(valid: bool, message: str, name: str, value: object) -> None:
    if not valid:
        raise NormvizError(message, name=name, value=echo(value), largest=LARGEST_SIZE)


def read_size(name: str, value: Any) -> int:
    too_large = _is_int(value) and value > LARGEST_SIZE
    _check(not too_large, _("{name}={value} must be a whole number from 1 to {largest:,}."), name, value)
    _check(_is_size(value), _("{name}={value} must be a whole number of at least 1."), name, value)
    return int(value)


def _read_shape(name: str, value: Any) -> tuple[int, ...]:
    sizes = tuple(value) if isinstance(value, list | tuple) else (value,)
    message = _("{name}={value} must be a size or a list of the last sizes of x, each at least 1, as in [3, 4, 4].")
    _check(1 <= len(sizes) <= MAX_RANK and all(map(_is_size, sizes)), message, name, value)
    return tuple(map(int, sizes))


def read_flag(name: str, value: Any) -> bool:
    _check(isinstance(value, bool), _("{name}={value} must be True or False."), name, value)
    return bool(value)


def read_eps(name: str, value: Any) -> float:
    _check(abs(_as_float(value)) < inf, _("{name}={value} must be a finite number, such as 1e-5."), name, value)
    return float(value) + 0.0  # -0.0 is written as 0.0, so that equal layers have the same text


def read_eps_or_none(name: str, value: Any) -> float | None:
    return None if value is None else read_eps(name, value)


def _read_momentum(name: str, value: Any) -> float | None:
    message = _("{name}={value} must be a number from 0 to 1, or None for a cumulative average.")
    _check(value is None or 0 <= _as_float(value) <= 1, message, name, value)
    return None if value is None else float(value) + 0.0


def _read_axis(name: str, value: Any) -> int:
    message = _("{name}={value} must be the number of an axis, such as 0 or -1.")
    _check(_is_int(value) and abs(value) <= MAX_RANK, message, name, value)
    return int(value)


READERS: Mapping[str, Callable[[str, Any], Any]] = {
    "size": read_size,
    "shape": _read_shape,
    "flag": read_flag,
    "eps": read_eps,
    "eps or None": read_eps_or_none,
    "momentum": _read_momentum,
    "axis": _read_axis,
}
