"""What a mean over few values costs: sampling errors of small batches and late time steps, and batches split over several devices."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import nan

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from normviz.analysis.checks import MOST_ELEMENTS, SEEDS, Array, frozen_array, read_float64, read_integer, read_only
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.stream import BATCH_SIZES, ONE_FEATURE, TRUE_MEAN, TRUE_VAR
from normviz.analysis.running.torch_module import attempt, torch_layer_of
from normviz.layers.layer import Layer
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


# BatchNorm on several devices: each has a shard of the batch, and SyncBatchNorm combines their statistics.
#
# torch's SyncBatchNorm does not run on the CPU, so this combination is compared with BatchNorm on the whole batch.


DEVICES = range(1, 65)
EXAMPLES = range(1, MOST_ELEMENTS + 1)


def even_sizes(examples: int, devices: int) -> tuple[int, ...]:
    """The sizes of ``devices`` shards of ``examples`` examples, as equal as possible, the larger ones first.

    Raises NormvizError unless there are 1 to 64 devices and at least one example for each.

    >>> even_sizes(10, 4)
    (3, 3, 2, 2)
    """
    examples, devices = read_integer("examples", examples, EXAMPLES), read_integer("devices", devices, DEVICES)
    if devices > examples:
        raise NormvizError(
            ngettext(
                "{n} example is too few for {devices} devices; give one device.",
                "{n} examples are too few for {devices} devices; give at most {n} devices.",
                examples,
                devices=devices,
            )
        )
    size, more = divmod(examples, devices)
    return tuple(size + (k < more) for k in range(devices))


def combine(counts: NDArray[np.int64], means: Array, variances: Array) -> tuple[Array, Array]:
    """The mean and the biased variance of K shards together, from their counts, means and biased variances.

        n    = sum of n_k
        mean = sum of n_k * mean_k / n
        var  = sum of n_k * (var_k + (mean_k - mean)^2) / n

    counts            (K,): number of values in each shard
    means, variances  (K, C)

    Source: Chan, Golub & LeVeque 1979, for K parts at once; ``torch.nn.SyncBatchNorm``.

    >>> # The shards are (0, 2) and (4,):
    >>> mean, var = combine(np.array([2, 1]), np.array([[1.0], [4.0]]), np.array([[1.0], [0.0]]))
    >>> mean.tolist(), var.round(4).tolist()
    ([2.0], [2.6667])
    """
    weight = (counts / counts.sum())[:, None]
    mean = (weight * means).sum(axis=0)
    var = (weight * (variances + (means - mean) ** 2)).sum(axis=0)
    return frozen_array(mean), frozen_array(var)


def read_sizes(sizes: object, x: Tensor) -> tuple[int, ...]:
    """``sizes`` as a tuple. Raises NormvizError unless they are integers that add up to the number of examples of x."""
    if not isinstance(sizes, list | tuple) or not 1 <= len(sizes) <= len(DEVICES):
        raise NormvizError(
            ngettext(
                "sizes={sizes} must be the numbers of examples in 1 to {n} shard, as in [3, 3, 2].",
                "sizes={sizes} must be the numbers of examples in 1 to {n} shards, as in [3, 3, 2].",
                len(DEVICES),
                sizes=echo(sizes),
            )
        )
    if x.ndim < 2:
        raise NormvizError(
            "x has the shape {shape}; give (N, C) or (N, C, ...), so that it can be split along N.",
            shape=tuple(x.shape),
        )
    found = tuple(read_integer("size of a shard", size, EXAMPLES) for size in sizes)
    if sum(found) != len(x):
        raise NormvizError(
            ngettext(
                "sizes={sizes} add up to {sum} and x has {n} example; give sizes that add up to it, such as {remedy}.",
                "sizes={sizes} add up to {sum} and x has {n} examples; give sizes that add up to it, such as {remedy}.",
                len(x),
                sizes=echo(found),
                sum=sum(found),
                remedy=list(even_sizes(len(x), min(len(found), len(x)))),
            )
        )
    return found


EPS = 1e-5  # of BatchNorm


@dataclass(frozen=True, eq=False)
class Sharded:
    """One batch of C channels, split into K shards; variances are biased, outputs have x's shape.

    sizes                   examples on each device, (K,)
    counts                  values in each channel on each device: examples times positions, (K,)
    shard_mean, shard_var   of each device alone, (K, C)
    mean, var               of the shards combined, weighted by their counts, (C,)
    whole_mean, whole_var   of torch's BatchNorm on the whole batch, (C,)
    mean_difference         largest difference between mean and whole_mean
    var_difference          largest difference between var and whole_var
    naive_difference        largest difference between the plain average of shard_var and whole_var
    output_difference       largest difference from the outputs of torch's BatchNorm on the whole batch, with the combined statistics
                            as in SyncBatchNorm
    shard_difference        the same with torch's BatchNorm on each shard alone; shards that torch refuses are left out, and it is
                            NaN if torch refuses all
    """

    sizes: tuple[int, ...]
    counts: NDArray[np.int64]
    shard_mean: Array
    shard_var: Array
    mean: Array
    var: Array
    whole_mean: Array
    whole_var: Array
    mean_difference: float
    var_difference: float
    naive_difference: float
    output_difference: float
    shard_difference: float


@torch.no_grad()
def shard(x: object, sizes: Sequence[int]) -> Sharded:
    """Split a batch into shards; normalize each shard alone, with the combined statistics, and the whole batch.

    x      (N, C) or (N, C, ...): at least two values in each channel, at most 2^20 in all; computed in float64
    sizes  (K,): the number of examples on each device, in order, N in all

    Raises NormvizError for other inputs, with torch's words if BatchNorm refuses the whole batch.
    Source: Chan, Golub & LeVeque 1979; ``torch.nn.SyncBatchNorm``.

    >>> parts = shard(torch.tensor([[0.0], [2.0], [4.0], [6.0]]), (2, 2))
    >>> parts.shard_mean.tolist(), parts.shard_var.tolist(), parts.mean.tolist(), parts.var.tolist()
    ([[1.0], [5.0]], [[1.0], [1.0]], [3.0], [5.0])
    >>> parts.output_difference < 1e-15, round(parts.shard_difference, 2)
    (True, 1.45)
    """
    batch = read_float64(x, "shard")
    sizes = read_sizes(sizes, batch)
    batch = batch.flatten(2) if batch.ndim > 2 else batch  # as BatchNorm1d takes it
    check(Layer.make("BatchNorm1d", batch.shape[1]), tuple(batch.shape))
    parts = [part.transpose(0, 1).flatten(1) for part in batch.split(sizes)]  # (C, values of the shard)
    counts = read_only(np.array([part.shape[1] for part in parts]))
    statistics = zip(*(torch.var_mean(part, dim=1, correction=0) for part in parts), strict=True)
    shard_var, shard_mean = (frozen_array(torch.stack(values)) for values in statistics)
    mean, var = combine(counts, shard_mean, shard_var)
    module, m = _batch_norm(batch), int(counts.sum())
    whole, buffers = module(batch), dict(module.named_buffers())
    whole_mean = frozen_array(buffers["running_mean"])
    whole_var = frozen_array(buffers["running_var"] * ((m - 1) / m))  # torch's is unbiased
    together = F.batch_norm(batch, torch.tensor(mean), torch.tensor(var), training=False, eps=EPS)
    alone = [attempt(_batch_norm(part), part).output for part in batch.split(sizes)]
    pairs = zip(alone, whole.split(sizes), strict=True)
    return Sharded(
        sizes=sizes,
        counts=counts,
        shard_mean=shard_mean,
        shard_var=shard_var,
        mean=mean,
        var=var,
        whole_mean=whole_mean,
        whole_var=whole_var,
        mean_difference=float(np.abs(mean - whole_mean).max()),
        var_difference=float(np.abs(var - whole_var).max()),
        naive_difference=float(np.abs(shard_var.mean(axis=0) - whole_var).max()),
        output_difference=float((together - whole).abs().max()),
        shard_difference=max((float((one - here).abs().max()) for one, here in pairs if one is not None), default=nan),
    )


def _batch_norm(batch: Tensor) -> nn.BatchNorm1d:
    """A new BatchNorm whose buffers are the statistics of the last batch."""
    return nn.BatchNorm1d(batch.shape[1], eps=EPS, momentum=1.0, affine=False, dtype=torch.float64)


# Gradient accumulation does not enlarge the batch: each micro-batch is normalized on its own.


@torch.no_grad()
def accumulation_difference(layer: str | Layer, x: object, sizes: Sequence[int]) -> float:
    """The largest difference between the outputs of a whole batch and of its micro-batches, in train mode.

    layer  a layer of torch.nn, as text or as a ``Layer``
    x      (N, ...), at most 2^20 elements; computed in float64
    sizes  (K,): the number of examples in each micro-batch, in order, N in all

    Raises NormvizError for other inputs, with torch's error message if the layer refuses the batch or a micro-batch.

    >>> x = torch.tensor([[0.0], [2.0], [4.0], [6.0]])
    >>> [round(accumulation_difference(layer, x, (2, 2)), 2) for layer in ("BatchNorm1d(1)", "LayerNorm(1)")]
    [1.45, 0.0]
    """
    found, batch = torch_layer_of(layer).with_(training=True), read_float64(x, "accumulation_difference")
    sizes = read_sizes(sizes, batch)
    for examples in (len(batch), *sizes):
        check(found, (examples, *batch.shape[1:]))
    module = found.module(torch.float64)
    return largest_difference(module(batch), torch.cat([module(part) for part in batch.split(sizes)]))
