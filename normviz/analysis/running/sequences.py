"""The second limit of BatchNorm: recurrent nets. Sequences end, and late time steps have few examples left."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from normviz.analysis.running.checks import SEEDS, Array, fixed, read_only, whole
from normviz.analysis.running.modes import attempt
from normviz.analysis.running.stream import TRUE_MEAN, TRUE_VAR

COUNTS = range(2, 257)
LONGEST = range(1, 101)
DRAWS = 100


@dataclass(frozen=True)
class Sequences:
    """A batch of sequences of unequal lengths; each value is drawn from a normal distribution of mean 3 and variance 4.

    count    sequences, 2 to 256
    longest  lengths are drawn evenly from 1 to this, which is 1 to 100
    seed     0 to 2^31 - 1

    Raises NormvizError for other values.
    """

    count: int = 32
    longest: int = 30
    seed: int = 0

    def __post_init__(self) -> None:
        for name, allowed in (("count", COUNTS), ("longest", LONGEST), ("seed", SEEDS)):
            object.__setattr__(self, name, whole(name, getattr(self, name), allowed))

    def lengths(self) -> Tensor:
        """How long each sequence is, (count,)."""
        return torch.randint(1, self.longest + 1, (self.count,), generator=torch.Generator().manual_seed(self.seed))

    def values(self) -> Tensor:
        """100 draws of all values, (100, count, T), float64; those beyond a sequence's end are not to be read."""
        generator = torch.Generator().manual_seed(self.seed + 1)
        shape = DRAWS, self.count, int(self.lengths().max())
        return torch.randn(shape, generator=generator, dtype=torch.float64).mul_(TRUE_VAR**0.5).add_(TRUE_MEAN)


@dataclass(frozen=True, eq=False)
class PerStep:
    """Statistics of every time step on its own, T of them; T is the length of the longest sequence.

    lengths         of the sequences, (count,)
    left            sequences that are not over yet at step t, (T,)
    mean, var       of those that are left, in the first draw; biased variance, (T,)
    true_mean       of the distribution
    standard_error  how far the mean of so many is off: sigma / sqrt(left), (T,)
    error           how far this mean is off, (T,)
    rms_error       root mean square of that over 100 draws of the values, (T,)
    refused         where torch's BatchNorm refuses: one sequence left, (T,)
    refusal         torch's own words there, or ""
    """

    lengths: NDArray[np.int64]
    left: NDArray[np.int64]
    mean: Array
    var: Array
    true_mean: float
    standard_error: Array
    error: Array
    rms_error: Array
    refused: NDArray[np.bool_]
    refusal: str


@lru_cache(maxsize=64)
@torch.no_grad()
def per_step(sequences: Sequences) -> PerStep:
    """Give every time step of a recurrent net a BatchNorm of its own: how many examples it has, and how noisy its mean is.

    Mean and variance of step t are those of ``torch.nn.BatchNorm1d(1)`` on the sequences that are left.
    Source: Ba, Kiros & Hinton 2016, sec. 1 and 3.1.

    >>> steps = per_step(Sequences(count=4, longest=3, seed=1))
    >>> steps.lengths.tolist(), steps.left.tolist(), steps.refused.tolist()
    ([2, 3, 1, 3], [4, 3, 2], [False, False, False])
    """
    lengths, draws = sequences.lengths(), sequences.values()
    alive = torch.arange(draws.shape[2]) < lengths[:, None]
    left = alive.sum(dim=0)
    module = nn.BatchNorm1d(1, affine=False, dtype=torch.float64)
    refusals = [attempt(module, draws[0, alive[:, t], t, None])[1] for t in range(len(left))]
    mean = (draws * alive).sum(dim=1) / left
    squares = ((draws[0] - mean[0]).square() * alive).sum(dim=0)
    return PerStep(
        lengths=read_only(lengths.numpy()),
        left=read_only(left.numpy()),
        mean=fixed(mean[0]),
        var=fixed(squares / left),
        true_mean=TRUE_MEAN,
        standard_error=fixed((TRUE_VAR / left).sqrt()),
        error=fixed((mean[0] - TRUE_MEAN).abs()),
        rms_error=fixed((mean - TRUE_MEAN).square().mean(dim=0).sqrt()),
        refused=read_only(np.array([bool(words) for words in refusals])),
        refusal=next((words for words in refusals if words), ""),
    )
