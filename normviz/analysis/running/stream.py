"""BatchNorm over a stream of batches: the statistics of each batch, the running statistics, and the true ones.

The stream is one feature, drawn from a normal distribution whose mean may drift. torch.nn.BatchNorm1d(1) processes it in
float64 and in train mode, and its buffers are recorded after every step.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor, nn

from normviz.analysis.checks import SEEDS, Array, frozen_array, read_integer, read_number, read_numbers
from normviz.analysis.running.momentum import moving_average
from normviz.layers import arguments, layer, torch_errors
from normviz.texts.errors import NormvizError

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
