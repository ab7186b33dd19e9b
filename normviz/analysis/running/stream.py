"""BatchNorm over a stream of batches: the statistics of each batch, the running statistics, and the true ones; and both conventions of momentum.

The stream is one feature, drawn from a normal distribution whose mean may drift. torch.nn.BatchNorm1d(1) processes it in
float64 and in train mode, and its buffers are recorded after every step.
"""

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import accumulate
from math import inf, log, log1p

import numpy as np
import torch
from torch import Tensor, nn

from normviz.analysis.checks import LARGEST_VALUE, SEEDS, Array, frozen_array, read_integer, read_number, read_numbers
from normviz.layers import arguments, layer, torch_errors
from normviz.texts.errors import NormvizError, echo, listed

BATCH_SIZES = range(1, 1025)  # torch refuses 1; a page that offers it shows torch's error
STEPS = range(1, 501)
LARGEST_DRIFT = 10.0
TRUE_MEAN, TRUE_VAR = 3.0, 4.0  # not 0 and 1, the initial values of torch's buffers
START_MEAN, START_VAR = 0.0, 1.0


@dataclass(frozen=True)
class Stream:
    """Batches of one feature, one for each step; step t = 0, 1, ... draws from a normal distribution of mean ``3 + drift * t``
    and variance 4.

    batch_size  values in a batch, 1 to 1024; torch refuses a batch of 1
    momentum    the weight of the new value, 0 to 1; None for a cumulative average
    drift       change of the true mean in each step, in x's unit, -10 to 10
    steps       1 to 500
    seed        0 to 2^31 - 1

    Raises NormvizError for other values.
    """

    batch_size: int = 8
    momentum: float | None = 0.1
    drift: float = 0.0
    steps: int = 60
    seed: int = 0

    def __post_init__(self) -> None:
        read = {
            "batch_size": read_integer("batch_size", self.batch_size, BATCH_SIZES),
            "momentum": arguments.read_momentum("momentum", self.momentum),
            "drift": read_number("drift", self.drift, -LARGEST_DRIFT, LARGEST_DRIFT),
            "steps": read_integer("steps", self.steps, STEPS),
            "seed": read_integer("seed", self.seed, SEEDS),
        }
        torch_errors.check(ONE_FEATURE, (self.batch_size, 1))
        for name, value in read.items():
            object.__setattr__(self, name, value)

    @property
    def true_mean(self) -> Array:
        """The mean of the distribution at each step, (steps,)."""
        return frozen_array(TRUE_MEAN + self.drift * torch.arange(self.steps, dtype=torch.float64))

    def batches(self) -> Tensor:
        """The values of the stream, (steps, batch_size), float64."""
        generator = torch.Generator().manual_seed(self.seed)
        noise = torch.randn(self.steps, self.batch_size, generator=generator, dtype=torch.float64)
        return torch.tensor(self.true_mean)[:, None] + TRUE_VAR**0.5 * noise


ONE_FEATURE = layer.Layer.make("BatchNorm1d", 1)


@dataclass(frozen=True, eq=False)
class History:
    """The statistics of each batch and the running statistics after it; all (steps,), float64.

    batch_mean, batch_var   mean and biased variance of the batch, used by the layer in train mode
    batch_var_unbiased      divided by m - 1; torch updates running_var with it
    running_mean            torch's buffer
    running_var             torch's buffer, updated with the unbiased variance
    running_var_biased      as in Keras and Flax, updated with the biased variance
    """

    batch_mean: Array
    batch_var: Array
    batch_var_unbiased: Array
    running_mean: Array
    running_var: Array
    running_var_biased: Array


@dataclass(frozen=True, eq=False)
class Run(History):
    """A history with the true statistics of each step; all (steps,).

    true_mean, true_var  of the distribution
    expected_mean        the mean of running_mean over all draws: the same moving average of the true means
    """

    true_mean: Array
    true_var: Array
    expected_mean: Array


@torch.no_grad()
def follow(batches: object, momentum: float | None = 0.1) -> History:
    """Pass batches of one feature, one after another, to ``torch.nn.BatchNorm1d(1, momentum=momentum)`` in train mode.

        running_mean = (1 - momentum) * running_mean + momentum * mean
        running_var  = (1 - momentum) * running_var  + momentum * var * m / (m - 1)

    batches   (steps, m): 1 to 500 steps of 2 to 1024 values
    momentum  the weight of the new value, 0 to 1; None gives all steps the same weight

    Raises NormvizError for other shapes and numbers, with torch's error for m = 1.
    Source: Ioffe & Szegedy 2015, sec. 3.1; ``torch.nn.BatchNorm1d``.

    >>> history = follow([[0, 4], [4, 8], [1, 3]], momentum=0.5)
    >>> history.running_mean.tolist(), history.running_var.tolist(), history.running_var_biased.tolist()
    ([1.0, 3.5, 2.75], [4.5, 6.25, 4.125], [2.5, 3.25, 2.125])
    """
    momentum = arguments.read_momentum("momentum", momentum)
    x = torch.from_numpy(read_numbers("batches", batches, STEPS[-1] * BATCH_SIZES[-1]))
    if x.ndim != 2:
        raise NormvizError("batches has the shape {shape}; give (steps, batch_size).", shape=tuple(x.shape))
    read_integer("steps", x.shape[0], STEPS)
    read_integer("batch_size", x.shape[1], BATCH_SIZES)
    torch_errors.check(ONE_FEATURE, (x.shape[1], 1))
    module = nn.BatchNorm1d(1, momentum=momentum, affine=False, dtype=torch.float64)
    buffers, running = dict(module.named_buffers()), []
    for batch in x:
        module(batch[:, None])
        running.append((buffers["running_mean"].item(), buffers["running_var"].item()))
    means, variances = zip(*running, strict=True)
    batch_var, batch_mean = torch.var_mean(x, dim=1, correction=0)
    biased = frozen_array(batch_var)
    return History(
        batch_mean=frozen_array(batch_mean),
        batch_var=biased,
        batch_var_unbiased=frozen_array(x.var(dim=1, correction=1)),
        running_mean=frozen_array(means),
        running_var=frozen_array(variances),
        running_var_biased=moving_average(biased, momentum, START_VAR),
    )


@lru_cache(maxsize=64)
def run(stream: Stream) -> Run:
    """BatchNorm on ``stream``: batch statistics, running statistics and true statistics of every step.

    >>> float(run(Stream(batch_size=4, steps=200)).expected_mean[-1].round(6))
    3.0
    """
    true_mean = stream.true_mean
    return Run(
        **vars(follow(stream.batches(), stream.momentum)),
        true_mean=true_mean,
        true_var=frozen_array([TRUE_VAR] * stream.steps),
        expected_mean=moving_average(true_mean, stream.momentum, START_MEAN),
    )


TOLERANCES = (1e-3, 1.0)


@dataclass(frozen=True)
class Settling:
    """The number of steps after which running_mean stays within ``tolerance`` of the true mean; None if it does not.

    mean_steps           in this run
    expected_mean_steps  of the expected running mean
    """

    tolerance: float
    mean_steps: int | None
    expected_mean_steps: int | None


def settle(stream: Stream, tolerance: float = 0.25) -> Settling:
    """The number of steps after which BatchNorm's running mean is close to the true mean.

    Without drift its expected error starts at 3 / 2 standard deviations, and ``(1 - momentum)**t`` of it remains after t steps;
    the error from the noise of the batches does not decrease.

    tolerance  0.001 to 1, in standard deviations

    Raises NormvizError for another tolerance.

    >>> settle(Stream(batch_size=64, momentum=0.1)).expected_mean_steps
    18
    """
    tolerance, outcome = read_number("tolerance", tolerance, *TOLERANCES), run(stream)
    errors = (
        np.abs(mean - outcome.true_mean) / TRUE_VAR**0.5 for mean in (outcome.running_mean, outcome.expected_mean)
    )
    return Settling(tolerance, *(settled(error, tolerance) for error in errors))


def settled(error: Array, tolerance: float) -> int | None:
    """The number of steps after which ``error`` (steps,) stays within ``tolerance`` to the end; None if it does not.

    >>> settled(np.array([3.0, 0.5, 2.0, 1.0, 0.5]), 1.0)
    4
    """
    outside = np.flatnonzero(~(error <= tolerance))
    steps = int(outside[-1]) + 2 if len(outside) else 1
    return steps if steps <= len(error) else None


# Momentum: the two conventions, the two forms of the update, and half-lives.
#
# torch multiplies the *new* value by momentum; Keras, TensorFlow and Flax multiply the *old* one (see
# ``torch.nn.BatchNorm1d``, ``keras.layers.BatchNormalization``, ``flax.nnx.BatchNorm``):
#
#     torch   running = (1 - momentum) * running + momentum * new
#     keras   running = momentum * running + (1 - momentum) * new


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
    weight, history = arguments.read_momentum("momentum", momentum), []
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
    momentum = arguments.read_momentum("momentum", momentum)
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
