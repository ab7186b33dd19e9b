"""Checks of arguments, and read-only arrays."""

from collections.abc import Sequence
from math import nan
from numbers import Integral, Real
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from normviz.analysis.forward import as_tensor
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import ngettext

Array = NDArray[np.float64]
Scalar = TypeVar("Scalar", bound=np.generic)

SEEDS = range(2**31)
MOST_ELEMENTS = 2**20  # elements of the largest tensor that is computed
LARGEST_VALUE = 1e12  # float32 can square it


def read_integer(name: str, value: object, allowed: range) -> int:
    """``value`` as an int. Raises NormvizError unless it is an integer in ``allowed``.

    >>> read_integer("steps", 20, range(1, 501))
    20
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) not in allowed:
        raise NormvizError(
            "{name}={value} must be a whole number from {low:,} to {high:,}.",
            name=name,
            value=echo(value),
            low=allowed[0],
            high=allowed[-1],
        )
    return int(value)


def read_number(name: str, value: object, low: float, high: float) -> float:
    """``value`` as a float. Raises NormvizError unless it is a number from ``low`` to ``high``."""
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else nan
    except OverflowError:
        number = nan
    if not low <= number <= high:
        raise NormvizError(
            "{name}={value} must be a number from {low:g} to {high:g}.",
            name=name,
            value=echo(value),
            low=low,
            high=high,
        )
    return number


def read_numbers(name: str, values: object, most: int, largest: float = LARGEST_VALUE) -> Array:
    """A float64 copy of ``values``. Raises NormvizError unless they are 1 to ``most`` numbers from -``largest`` to ``largest``."""
    try:
        values = values.detach().cpu().double().numpy() if isinstance(values, Tensor) else values
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise NormvizError("{name}={values} must be numbers.", name=name, values=echo(values)) from None
    check_count(name, array.size, most)
    _check_size(name, bool((np.abs(array) <= largest).all()), largest)
    return array


def check_count(name: str, count: int, most: int) -> None:
    """Raise NormvizError unless ``name`` has 1 to ``most`` numbers."""
    if not 1 <= count <= most:
        raise NormvizError(
            ngettext(
                "{name} has {n:,} number; give 1 to {most:,} numbers.",
                "{name} has {n:,} numbers; give 1 to {most:,} numbers.",
                count,
                name=name,
                most=most,
            )
        )


def read_tensor(x: object, function: str) -> Tensor:
    """x as a tensor on the CPU. Raises NormvizError unless it is a tensor of at most 2^20 elements."""
    tensor = as_tensor(x).cpu()
    if not 1 <= tensor.numel() <= MOST_ELEMENTS:
        raise NormvizError(
            ngettext(
                "{function} takes an x of 1 to {n:,} element, and this x has {elements:,}.",
                "{function} takes an x of 1 to {n:,} elements, and this x has {elements:,}.",
                MOST_ELEMENTS,
                function=function,
                elements=tensor.numel(),
            )
        )
    return tensor


def read_float64(x: object, function: str) -> Tensor:
    """``read_tensor`` in float64. Raises NormvizError for NaN and for numbers whose squares may overflow."""
    tensor = read_tensor(x, function)
    _check_size("x", bool((tensor.abs() <= LARGEST_VALUE).all()), LARGEST_VALUE)
    return tensor.double()


def _check_size(name: str, small: bool, largest: float) -> None:
    if not small:
        raise NormvizError(
            "{name} contains NaN or a number outside ±{largest:g}; give numbers from -{largest:g} to {largest:g}.",
            name=name,
            largest=largest,
        )


def frozen_array(values: Tensor | Array | Sequence[float]) -> Array:
    """The values as a read-only array of float64."""
    array = values.detach().double().numpy() if isinstance(values, Tensor) else values
    return read_only(np.array(array, dtype=np.float64))


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """The same array, made read-only."""
    array.setflags(write=False)
    return array
