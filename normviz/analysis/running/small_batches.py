"""The third limit of BatchNorm: small batches. The smaller the batch, the more its mean and variance are chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from normviz.analysis.running.checks import SEEDS, Array, fixed, read_only, whole
from normviz.analysis.running.stream import BATCH_SIZES, TRUE_MEAN, TRUE_VAR
from normviz.layers.errors import NormvizError, echo
from normviz.layers.layer import Layer
from normviz.layers.torch_errors import check

DRAWS = range(10, 501)
MOST_SIZES = 12
USUAL_SIZES = (2, 4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True)
class SmallBatches:
    """Batches of several sizes, many of each; each value is drawn from a normal distribution of mean 3 and variance 4.

    batch_sizes  1 to 12 sizes of 1 to 1024; a batch of 1 is refused as torch refuses it
    draws        batches of each size, 10 to 500
    seed         0 to 2^31 - 1

    Raises NormvizError for other values.
    """

    batch_sizes: Sequence[int] = USUAL_SIZES
    draws: int = 300
    seed: int = 0

    def __post_init__(self) -> None:
        given = self.batch_sizes if isinstance(self.batch_sizes, list | tuple | range) else ()
        if not 1 <= len(given) <= MOST_SIZES:
            raise NormvizError(
                f"batch_sizes={echo(self.batch_sizes)} must be 1 to {MOST_SIZES} sizes, as in [2, 8, 32]."
            )
        sizes = tuple(whole("batch_size", size, BATCH_SIZES) for size in given)
        for size in sizes:
            check(Layer.make("BatchNorm1d", 1), (size, 1))
        object.__setattr__(self, "batch_sizes", sizes)
        object.__setattr__(self, "draws", whole("draws", self.draws, DRAWS))
        object.__setattr__(self, "seed", whole("seed", self.seed, SEEDS))


@dataclass(frozen=True, eq=False)
class Spread:
    """How far batches of one distribution differ; every array is (sizes,).

    batch_size         m
    mean_spread        standard deviation of the batch means over all draws
    expected_spread    sigma / sqrt(m)
    average_var        average of the batches' biased variances
    expected_var       (m - 1) / m * sigma^2: what the biased variance is on average
    average_unbiased   average of the unbiased variances
    true_var           sigma^2
    """

    batch_size: NDArray[np.int64]
    mean_spread: Array
    expected_spread: Array
    average_var: Array
    expected_var: Array
    average_unbiased: Array
    true_var: float


@lru_cache(maxsize=32)
@torch.no_grad()
def spread(small: SmallBatches) -> Spread:
    """The spread of the batch mean against the batch size, with the line ``sigma / sqrt(m)`` that it follows.

    Each draw is one channel of a ``torch.nn.BatchNorm1d(draws, momentum=1)``, whose buffers are then the batch's own mean
    and unbiased variance.

    >>> found = spread(SmallBatches([4, 100]))
    >>> found.expected_spread.tolist(), found.mean_spread.round(1).tolist()
    ([1.0, 0.2], [1.0, 0.2])
    """
    generator = torch.Generator().manual_seed(small.seed)
    rows = []
    for m in small.batch_sizes:
        module = nn.BatchNorm1d(small.draws, momentum=1.0, affine=False, dtype=torch.float64)
        noise = torch.randn(m, small.draws, generator=generator, dtype=torch.float64)
        module(TRUE_MEAN + TRUE_VAR**0.5 * noise)
        assert module.running_mean is not None
        assert module.running_var is not None
        unbiased = module.running_var.mean().item()
        rows.append((module.running_mean.std(correction=0).item(), unbiased * (m - 1) / m, unbiased))
    mean_spread, average_var, average_unbiased = zip(*rows, strict=True)
    size = read_only(np.array(small.batch_sizes))
    return Spread(
        batch_size=size,
        mean_spread=fixed(mean_spread),
        expected_spread=fixed((TRUE_VAR / size) ** 0.5),
        average_var=fixed(average_var),
        expected_var=fixed(TRUE_VAR * (size - 1) / size),
        average_unbiased=fixed(average_unbiased),
        true_var=TRUE_VAR,
    )
