"""Momentum: the two conventions, the two forms of the update, and half-lives.

torch multiplies the *new* value by momentum; Keras, TensorFlow and Flax multiply the *old* one (see
``torch.nn.BatchNorm1d``, ``keras.layers.BatchNormalization``, ``flax.nnx.BatchNorm``):

    torch   running = (1 - momentum) * running + momentum * new
    keras   running = momentum * running + (1 - momentum) * new
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import inf, log, log1p
from typing import Any

import numpy as np

from normviz.analysis.checks import LARGEST_VALUE, Array, frozen_array, read_integer, read_number, read_numbers
from normviz.layers.arguments import READERS
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import _

WEIGHTED_VALUE: Mapping[str, str] = {"torch": "new", "keras": "old", "flax": "old"}  # what momentum multiplies
DTYPES = ("float64", "float32")
VALUES = range(1, 10_001)
MOMENTA = (0.01, 0.1, 0.5, 0.9, 0.99)


def read_momentum(value: Any) -> float | None:
    """A momentum of torch: 0 to 1, or None. Raises NormvizError for anything else."""
    momentum: float | None = READERS["momentum"]("momentum", value)
    return momentum


def to_keras(momentum: float) -> float:
    """Keras's, TensorFlow's and Flax's momentum for torch's: ``1 - momentum``, in decimal, so that 0.9 gives 0.1.

    Raises NormvizError unless momentum is a number from 0 to 1: torch's None has no equivalent.

    >>> to_keras(0.1), to_torch(0.9)
    (0.9, 0.1)
    """
    return _complement(momentum)


def to_torch(momentum: float) -> float:
    """torch's momentum for that of Keras, TensorFlow or Flax: ``1 - momentum``; the inverse of ``to_keras``."""
    return _complement(momentum)


def _complement(momentum: Any) -> float:
    if momentum is None:
        raise NormvizError(_("momentum=None, a cumulative average, exists only in torch; give a number from 0 to 1."))
    return float(1 - Decimal(repr(read_number("momentum", momentum, 0, 1))))


def moving_average(values: Any, momentum: float | None, start: float = 0.0) -> Array:
    """torch's moving average of ``values`` (steps,) after each step: ``(1 - momentum) * average + momentum * value``.

    momentum  the weight of the new value, 0 to 1; None: ``1 / t`` at step t, the mean of all values so far
    start     the average before the first step

    Raises NormvizError for another momentum, and unless there are 1 to 10,000 values of at most 1e12.
    Source: ``torch.nn.BatchNorm1d``.

    >>> moving_average([4, 0, 8], 0.5).tolist(), moving_average([4, 0, 8], None).tolist()
    ([2.0, 1.0, 4.5], [4.0, 2.0, 4.0])
    """
    weight, average, history = read_momentum(momentum), read_number("start", start, -LARGEST_VALUE, LARGEST_VALUE), []
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


def two_forms(values: Any, momentum: float, start: float = 0.0, dtype: str = "float64") -> TwoForms:
    """Both common forms of the moving average on the same values: equal except for rounding.

    values    (steps,)
    momentum  the weight of the *old* value, as in Keras; ``to_keras`` converts torch's
    start     the average before the first step
    dtype     "float64" or "float32"

    Raises NormvizError for a momentum outside 0 to 1, another dtype, and unless values are 1 to 10,000 numbers.

    >>> two_forms([4, 0, 8], 0.75).stepped.tolist()
    [1.0, 0.75, 2.5625]
    """
    if dtype not in DTYPES:
        raise NormvizError(_("dtype={dtype} must be {names}.", dtype=echo(dtype), names=listed(DTYPES)))
    real = np.dtype(dtype).type
    old = real(read_number("momentum", momentum, 0, 1))
    new = real(1) - old
    weighted = stepped = real(read_number("start", start, -LARGEST_VALUE, LARGEST_VALUE))
    by_weights, by_steps = [], []
    for value in _series(values).astype(real):
        weighted = weighted * old + value * new
        stepped = stepped - (stepped - value) * new
        by_weights.append(float(weighted))
        by_steps.append(float(stepped))
    one, other = frozen_array(by_weights), frozen_array(by_steps)
    return TwoForms(one, other, float(np.abs(one - other).max()))


def half_life(momentum: float | None, framework: str = "torch") -> float:
    """The number of steps in which the weight of an old value halves: ``ln(1/2) / ln(weight of the old)``.

    0 if a step replaces everything; infinite if nothing is forgotten, and for None, which gives all values the same weight.
    Raises NormvizError for another momentum or framework.

    >>> round(half_life(0.1), 2), round(half_life(0.9, "keras"), 2), half_life(0.5)
    (6.58, 6.58, 1.0)
    """
    weighs_new = _weighted_value(framework) == "new"
    momentum = _momentum_of(momentum, weighs_new)
    if momentum is None:
        return inf
    forgotten, kept = (momentum, 1 - momentum) if weighs_new else (1 - momentum, momentum)
    if forgotten in (0, 1):
        return 0.0 if forgotten else inf
    return log(1 / 2) / (log1p(-momentum) if weighs_new else log(kept))


def weights(momentum: float | None, steps: int, framework: str = "torch") -> Array:
    """The weight of each of the last ``steps`` values, the newest first: ``new * old**k`` for a value k steps old, (steps,).

    The rest, ``old**steps``, is the weight of the start. None: ``1 / steps`` each.
    Raises NormvizError for another momentum or framework, and unless steps is 1 to 10,000.

    >>> weights(0.5, 3).tolist()
    [0.5, 0.25, 0.125]
    """
    steps, weighs_new = read_integer("steps", steps, VALUES), _weighted_value(framework) == "new"
    momentum = _momentum_of(momentum, weighs_new)
    if momentum is None:
        return frozen_array(np.full(steps, 1 / steps))
    new, old = (momentum, 1 - momentum) if weighs_new else (1 - momentum, momentum)
    return frozen_array(new * np.power(old, np.arange(steps, dtype=np.float64)))


def lower_forgets_sooner(framework: str, momenta: Sequence[float] = MOMENTA) -> bool:
    """Whether "a lower value of momentum means that older values are forgotten sooner", by the half-lives of ``momenta``.

    Raises NormvizError for an unknown framework and for a momentum outside 0 to 1.

    >>> lower_forgets_sooner("keras"), lower_forgets_sooner("torch")
    (True, False)
    """
    lives = [half_life(momentum, framework) for momentum in sorted(momenta)]
    return lives == sorted(lives)


def _series(values: Any) -> Array:
    series = read_numbers("values", values, VALUES[-1])
    if series.ndim != 1:
        raise NormvizError(
            _("values has the shape {shape}; give one number for each step, as in [4, 0, 8].", shape=series.shape)
        )
    return series


def _weighted_value(framework: Any) -> str:
    if framework not in tuple(WEIGHTED_VALUE):
        raise NormvizError(
            _("framework={framework} must be {names}.", framework=echo(framework), names=listed(WEIGHTED_VALUE))
        )
    return WEIGHTED_VALUE[framework]


def _momentum_of(momentum: Any, weighs_new: bool) -> float | None:
    """The momentum, checked. None is valid only in torch's convention, where momentum multiplies the new value."""
    return read_momentum(momentum) if weighs_new else read_number("momentum", momentum, 0, 1)
