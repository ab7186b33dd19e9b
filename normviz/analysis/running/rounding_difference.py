"""Differences between two computations of the same numbers, and bounds of their rounding errors.

To first order, the rounding error of a mean of n numbers up to M is at most n u M, with u half of float64's eps. That of the
variance, whose deviations have the size of std, is at most n u (3 M std + var), plus the square of the mean's error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from normviz.analysis.checks import Array

EPS = float(np.finfo(np.float64).eps)
EXTRA_ROUNDINGS = 5  # roundings besides those of the sum


@dataclass(frozen=True)
class RoundingDifference:
    """The difference between two computations of the same numbers, and whether rounding explains it.

    largest    the largest difference
    tolerance  the largest difference that rounding in float64 can explain
    agrees     whether every difference is within the tolerance of its element
    """

    largest: float
    tolerance: float
    agrees: bool

    @classmethod
    def between(cls, one: Array, other: Array, tolerance: Array) -> RoundingDifference:
        """The difference between two arrays; ``tolerance`` broadcasts to them."""
        difference = np.abs(one - other)
        return cls(float(difference.max()), float(tolerance.max()), bool((difference <= tolerance).all()))


def rounding_errors(batch: Tensor, var: Array, shards: int) -> tuple[Array, Array]:
    """Bounds of the differences between two computations of the mean, and of the variance, of each channel of a batch (N, C, ...); (C,) each.

    Twice the error of one computation, because the errors of two can have opposite signs.
    """
    values = batch.transpose(0, 1).flatten(1)
    unit = 2 * (values.shape[1] + shards + EXTRA_ROUNDINGS) * EPS / 2
    largest = values.abs().amax(dim=1).numpy()
    mean = unit * largest
    return mean, unit * (3 * largest * np.sqrt(var) + var) + mean**2


def output_rounding_error(output: Array, mean: Array, std: Array, errors: tuple[Array, Array]) -> Array:
    """A bound of the difference between two outputs (x - mean) / std, from the errors of mean and variance.

    The mean's error is divided by std; half the relative error of the variance multiplies the output.
    """
    along_channels = (1, -1) + (1,) * (output.ndim - 2)
    from_mean = (errors[0] / std + 8 * EPS * (np.abs(mean) / std)).reshape(along_channels)
    from_std = (errors[1] / std**2 / 2 + 16 * EPS).reshape(along_channels)
    return from_mean + (np.abs(output) + 1) * from_std
