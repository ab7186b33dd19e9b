"""What a setting may be, and arrays that nobody can change."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from normviz.analysis.forward import as_tensor
from normviz.layers.errors import NormvizError, echo

Array = NDArray[np.float64]
Kind = TypeVar("Kind", bound=np.generic)

SEEDS = range(2**31)
MOST_ELEMENTS = 2**20
LARGEST_VALUE = 1e12


def read_integer(name: str, value: Any, allowed: range) -> int:
    """``value`` as an int. Raises NormvizError unless it is a whole number of ``allowed``.

    >>> read_integer("steps", 20, range(1, 501))
    20
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) not in allowed:
        raise NormvizError(f"{name}={echo(value)} must be a whole number from {allowed[0]:,} to {allowed[-1]:,}.")
    return int(value)


def read_number(name: str, value: Any, low: float, high: float) -> float:
    """``value`` as a float. Raises NormvizError unless it is a number from ``low`` to ``high``."""
    try:
        found = float(value) if isinstance(value, Real) and not isinstance(value, bool) else nan
    except OverflowError:
        found = nan
    if not low <= found <= high:
        raise NormvizError(f"{name}={echo(value)} must be a number from {low:g} to {high:g}.")
    return found


def read_numbers(name: str, values: Any, most: int, largest: float = LARGEST_VALUE) -> Array:
    """``values`` as an array of float64, copied. Raises NormvizError unless they are 1 to ``most`` numbers within ``largest``."""
    try:
        given = values.detach().cpu().double().numpy() if isinstance(values, Tensor) else values
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise NormvizError(f"{name}={echo(values)} must be numbers.") from None
    if not 1 <= array.size <= most:
        raise NormvizError(f"{name} has {array.size:,} numbers; give 1 to {most:,}.")
    if not (np.abs(array) <= largest).all():
        raise NormvizError(f"{name} holds NaN or a number beyond {largest:g}; give numbers within it.")
    return array


def read_tensor(x: Any, what: str) -> Tensor:
    """x as a tensor on the CPU that is small enough to compute with at once. Raises NormvizError where it is none."""
    found = as_tensor(x).cpu()
    if not 1 <= found.numel() <= MOST_ELEMENTS:
        raise NormvizError(f"{what} takes an x of 1 to {MOST_ELEMENTS:,} elements, and this one has {found.numel():,}.")
    return found


def read_float64(x: Tensor) -> Tensor:
    """x in float64. Raises NormvizError where it holds NaN or numbers whose squares may overflow."""
    if not bool((x.abs() <= LARGEST_VALUE).all()):
        raise NormvizError(f"x holds NaN or a number beyond {LARGEST_VALUE:g}; give numbers within it.")
    return x.double()


def frozen_array(values: Tensor | Array | Sequence[float]) -> Array:
    """The values as a read-only array of float64."""
    found = values.detach().double().numpy() if isinstance(values, Tensor) else values
    return read_only(np.array(found, dtype=np.float64))


def read_only(array: NDArray[Kind]) -> NDArray[Kind]:
    """The same array, which can no longer be written to."""
    array.setflags(write=False)
    return array
