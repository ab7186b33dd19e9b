"""Momentum: the two conventions, the two forms of the update, and half-lives.

torch multiplies the *new* value by momentum; Keras, TensorFlow and Flax multiply the *old* one (see
``torch.nn.BatchNorm1d``, ``keras.layers.BatchNormalization``, ``flax.nnx.BatchNorm``):

    torch   running = (1 - momentum) * running + momentum * new
    keras   running = momentum * running + (1 - momentum) * new
"""

from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from math import inf, log, log1p

import numpy as np

from normviz.analysis.checks import LARGEST_VALUE, Array, frozen_array, read_number, read_numbers
from normviz.layers.arguments import read_momentum
from normviz.texts.errors import NormvizError, echo, listed

DTYPES = ("float64", "float32")
VALUES = range(1, 10_001)


def other_momentum(momentum: float) -> float:
    """torch's momentum in the convention of Keras, TensorFlow and Flax, or the other way round: ``1 - momentum``, in decimal.

    Raises NormvizError unless momentum is a number from 0 to 1: torch's None has no equivalent.

    >>> other_momentum(0.1), other_momentum(0.9)
    (0.9, 0.1)
    """
    if momentum is None:
        raise NormvizError("momentum=None, a cumulative average, exists only in torch; give a number from 0 to 1.")
    return float(1 - Decimal(repr(read_number("momentum", momentum, 0, 1))))


def moving_average(values: object, momentum: float | None, start: float = 0.0) -> Array:
    """torch's moving average of ``values`` (steps,) after each step: ``(1 - momentum) * average + momentum * value``.

    momentum  the weight of the new value, 0 to 1; None: ``1 / t`` at step t, the mean of all values so far
    start     the average before the first step

    Raises NormvizError for another momentum, and unless there are 1 to 10,000 values of at most 1e12.
    Source: ``torch.nn.BatchNorm1d``.

    >>> moving_average([4, 0, 8], 0.5).tolist(), moving_average([4, 0, 8], None).tolist()
    ([2.0, 1.0, 4.5], [4.0, 2.0, 4.0])
    """
    weight, history = read_momentum("momentum", momentum), []
    average = read_number("start", start, -LARGEST_VALUE, LARGEST_VALUE)
    for t, value in enumerate(_series(values), 1):
        new = 1 / t if weight is None else weight
        average = (1 - new) * average + new * value
        history.append(average)
    return frozen_array(history)


@dataclass(frozen=True, eq=False)
class TwoForms:
    """The moving average after each step, by both forms of its update, and their largest difference.

    weighted  ``average * momentum + value * (1 - momentum)``, (steps,)
    stepped   ``average -= (average - value) * (1 - momentum)``, (steps,)
    """

    weighted: Array
    stepped: Array
    largest_difference: float


def two_forms(values: object, momentum: float, dtype: str = "float64") -> TwoForms:
    """Both common forms of the moving average on the same values, from 0 on: equal except for rounding.

    values    (steps,)
    momentum  the weight of the *old* value, as in Keras; ``other_momentum`` converts torch's
    dtype     "float64" or "float32"

    Raises NormvizError for a momentum outside 0 to 1, another dtype, and unless values are 1 to 10,000 numbers.

    >>> two_forms([4, 0, 8], 0.75).stepped.tolist()
    [1.0, 0.75, 2.5625]
    """
    if dtype not in DTYPES:
        raise NormvizError("dtype={dtype} must be {names}.", dtype=echo(dtype), names=listed(DTYPES))
    real = np.dtype(dtype).type
    old = real(read_number("momentum", momentum, 0, 1))
    new, start, series = real(1) - old, real(0), _series(values).astype(real)
    weighted = accumulate(series, lambda average, value: average * old + value * new, initial=start)
    stepped = accumulate(series, lambda average, value: average - (average - value) * new, initial=start)
    one, other = (frozen_array(list(averages)[1:]) for averages in (weighted, stepped))
    return TwoForms(one, other, float(np.abs(one - other).max()))


def half_life(momentum: float | None) -> float:
    """The number of steps in which the weight of an old value halves, for a momentum of torch: ``ln(1/2) / ln(1 - momentum)``.

    0 if a step replaces everything; infinite if nothing is forgotten, and for None, which gives all values the same weight.
    Raises NormvizError for another momentum.

    >>> round(half_life(0.1), 2), half_life(0.5)
    (6.58, 1.0)
    """
    momentum = read_momentum("momentum", momentum)
    if not momentum:
        return inf
    return 0.0 if momentum == 1 else log(1 / 2) / log1p(-momentum)


def _series(values: object) -> Array:
    series = read_numbers("values", values, VALUES[-1])
    if series.ndim != 1:
        raise NormvizError(
            "values has the shape {shape}; give one number for each step, as in [4, 0, 8].", shape=series.shape
        )
    return series
