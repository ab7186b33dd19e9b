"""The sampling error of batch statistics: in small batches, and at the late time steps of sequences."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from normviz.analysis.checks import SEEDS, Array, frozen_array, read_integer, read_only
from normviz.analysis.running.stream import BATCH_SIZES, ONE_FEATURE, TRUE_MEAN, TRUE_VAR
from normviz.analysis.running.torch_module import attempt
from normviz.layers.torch_errors import check
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import ngettext

DRAWS = range(10, 501)
MOST_SIZES = 12
DEFAULT_SIZES = (2, 4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True)
class SmallBatches:
    """Batches of several sizes, many of each size; each value is drawn from a normal distribution of mean 3 and variance 4.

    batch_sizes  1 to 12 sizes of 1 to 1024; torch refuses a batch of 1
    draws        batches of each size, 10 to 500
    seed         0 to 2^31 - 1

    Raises NormvizError for other values.
    """

    batch_sizes: Sequence[int] = DEFAULT_SIZES
    draws: int = 300
    seed: int = 0

    def __post_init__(self) -> None:
        given = self.batch_sizes if isinstance(self.batch_sizes, list | tuple | range) else ()
        if not 1 <= len(given) <= MOST_SIZES:
            raise NormvizError(
                ngettext(
                    "batch_sizes={sizes} must be 1 to {n} size, as in [2, 8, 32].",
                    "batch_sizes={sizes} must be 1 to {n} sizes, as in [2, 8, 32].",
                    MOST_SIZES,
                    sizes=echo(self.batch_sizes),
                )
            )
        sizes = tuple(read_integer("batch_size", size, BATCH_SIZES) for size in given)
        for size in sizes:
            check(ONE_FEATURE, (size, 1))
        object.__setattr__(self, "batch_sizes", sizes)
        object.__setattr__(self, "draws", read_integer("draws", self.draws, DRAWS))
        object.__setattr__(self, "seed", read_integer("seed", self.seed, SEEDS))


@dataclass(frozen=True, eq=False)
class Spread:
    """How much the means of batches from one distribution differ; every array is (sizes,).

    batch_size         m
    mean_spread        standard deviation of the batch means over all draws
    expected_spread    sigma / sqrt(m)
    """

    batch_size: NDArray[np.int64]
    mean_spread: Array
    expected_spread: Array


@lru_cache(maxsize=32)
@torch.no_grad()
def spread(small: SmallBatches) -> Spread:
    """The spread of the batch mean at each batch size, and the expected spread ``sigma / sqrt(m)``.

    Each draw is one channel of ``torch.nn.BatchNorm1d(draws, momentum=1)``, so its running_mean is the
    mean of the batch.

    >>> found = spread(SmallBatches([4, 100]))
    >>> found.expected_spread.tolist(), found.mean_spread.round(1).tolist()
    ([1.0, 0.2], [1.0, 0.2])
    """
    generator = torch.Generator().manual_seed(small.seed)
    spreads = []
    for m in small.batch_sizes:
        module = nn.BatchNorm1d(small.draws, momentum=1.0, affine=False, dtype=torch.float64)
        noise = torch.randn(m, small.draws, generator=generator, dtype=torch.float64)
        module(TRUE_MEAN + TRUE_VAR**0.5 * noise)
        spreads.append(dict(module.named_buffers())["running_mean"].std(correction=0).item())
    size = read_only(np.array(small.batch_sizes))
    expected = frozen_array((TRUE_VAR / size) ** 0.5)
    return Spread(batch_size=size, mean_spread=frozen_array(spreads), expected_spread=expected)


COUNTS = range(2, 257)
LONGEST = range(1, 101)
DRAWS_OF_SEQUENCES = 100


@dataclass(frozen=True)
class Sequences:
    """A batch of sequences of different lengths; each value is drawn from a normal distribution of mean 3 and variance 4.

    count    number of sequences, 2 to 256
    longest  the lengths are drawn uniformly from 1 to ``longest``, which is 1 to 100
    seed     0 to 2^31 - 1

    Raises NormvizError for other values.
    """

    count: int = 32
    longest: int = 30
    seed: int = 0

    def __post_init__(self) -> None:
        for name, allowed in (("count", COUNTS), ("longest", LONGEST), ("seed", SEEDS)):
            object.__setattr__(self, name, read_integer(name, getattr(self, name), allowed))

    def lengths(self) -> Tensor:
        """The length of each sequence, (count,)."""
        return torch.randint(1, self.longest + 1, (self.count,), generator=torch.Generator().manual_seed(self.seed))

    def values(self) -> Tensor:
        """100 draws of all values, (100, count, T), float64; ignore the values beyond the end of a sequence."""
        generator = torch.Generator().manual_seed(self.seed + 1)
        shape = DRAWS_OF_SEQUENCES, self.count, int(self.lengths().max())
        return torch.randn(shape, generator=generator, dtype=torch.float64).mul_(TRUE_VAR**0.5).add_(TRUE_MEAN)


@dataclass(frozen=True, eq=False)
class PerTimeStep:
    """The statistics of every time step; T is the length of the longest sequence.

    left            number of sequences that have a step t, (T,)
    standard_error  expected error of the mean: sigma / sqrt(left), (T,)
    rms_error       root mean square error of the mean over 100 draws of the values, (T,)
    refused         where torch's BatchNorm refuses: only one sequence is left, (T,)
    refusal         torch's error message there, or ""
    """

    left: NDArray[np.int64]
    standard_error: Array
    rms_error: Array
    refused: NDArray[np.bool_]
    refusal: str


@lru_cache(maxsize=64)
@torch.no_grad()
def per_time_step(sequences: Sequences) -> PerTimeStep:
    """One BatchNorm for each time step of a recurrent net: its number of examples, and the error of its mean.

    The mean of step t is over the sequences that have a step t, as torch's BatchNorm1d computes it.
    Source: Ba, Kiros & Hinton 2016, sec. 1 and 3.1.

    >>> time_steps = per_time_step(Sequences(count=4, longest=3, seed=1))
    >>> time_steps.left.tolist(), time_steps.refused.tolist()
    ([4, 3, 2], [False, False, False])
    """
    lengths, draws = sequences.lengths(), sequences.values()
    alive = torch.arange(draws.shape[2]) < lengths[:, None]
    left = alive.sum(dim=0)
    module = nn.BatchNorm1d(1, affine=False, dtype=torch.float64)
    refusals = [attempt(module, draws[0, alive[:, t], t, None]).refusal for t in range(len(left))]
    mean = (draws * alive).sum(dim=1) / left
    return PerTimeStep(
        left=read_only(left.numpy()),
        standard_error=frozen_array((TRUE_VAR / left).sqrt()),
        rms_error=frozen_array((mean - TRUE_MEAN).square().mean(dim=0).sqrt()),
        refused=read_only(np.array([bool(words) for words in refusals])),
        refusal=next((words for words in refusals if words), ""),
    )
