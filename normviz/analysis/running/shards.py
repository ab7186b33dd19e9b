"""BatchNorm on several devices: each has a shard of the batch, and SyncBatchNorm combines their statistics.

torch's SyncBatchNorm does not run on the CPU, so this combination is compared with BatchNorm on the whole batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from normviz.analysis.checks import (
    LARGEST_VALUE,
    MOST_ELEMENTS,
    Array,
    frozen_array,
    read_float64,
    read_integer,
    read_number,
    read_numbers,
    read_only,
)
from normviz.analysis.running.gaps import Gap, output_rounding_error, rounding_errors
from normviz.analysis.running.torch_module import attempt
from normviz.layers.errors import NormvizError, echo
from normviz.layers.layer import Layer
from normviz.layers.messages import _, ngettext
from normviz.layers.torch_errors import check

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


def combine(counts: Any, means: Any, variances: Any) -> tuple[Array, Array]:
    """The mean and the biased variance of K shards together, from their counts, means and biased variances.

        n    = sum of n_k
        mean = sum of n_k * mean_k / n
        var  = sum of n_k * (var_k + (mean_k - mean)^2) / n

    counts            (K,): number of values in each shard
    means, variances  (K,), or (K, C) for C channels

    Raises NormvizError if the shapes do not match.
    Source: Chan, Golub & LeVeque 1979, for K parts at once; ``torch.nn.SyncBatchNorm``.

    >>> mean, var = combine([2, 1], [1, 4], [1, 0])  # of (0, 2) and (4,)
    >>> mean.tolist(), var.round(4).tolist()
    (2.0, 2.6667)
    """
    n = read_numbers("counts", counts, DEVICES[-1])
    mean_k = read_numbers("means", means, MOST_ELEMENTS)
    var_k = read_numbers("variances", variances, MOST_ELEMENTS, LARGEST_VALUE**2)
    if n.ndim != 1 or mean_k.shape != var_k.shape or mean_k.ndim not in (1, 2) or len(mean_k) != len(n):
        raise NormvizError(
            _(
                "counts, means and variances have the shapes {counts}, {means} and {variances}; "
                "give counts of (K,), and means and variances of (K,) or (K, C).",
                counts=n.shape,
                means=mean_k.shape,
                variances=var_k.shape,
            )
        )
    if not ((n >= 1).all() and (n % 1 == 0).all() and (var_k >= 0).all()):
        raise NormvizError(_("counts must be whole numbers of at least 1, and variances must be 0 or more."))
    weight = (n / n.sum()).reshape(-1, *[1] * (mean_k.ndim - 1))
    mean = (weight * mean_k).sum(axis=0)
    var = (weight * (var_k + (mean_k - mean) ** 2)).sum(axis=0)
    return frozen_array(mean), frozen_array(var)


def read_sizes(sizes: Any, x: Tensor) -> tuple[int, ...]:
    """``sizes`` as a tuple. Raises NormvizError unless they are integers that add up to the number of examples of x."""
    if not isinstance(sizes, list | tuple) or not 1 <= len(sizes) <= len(DEVICES):
        raise NormvizError(
            _(
                "sizes={sizes} must be the numbers of examples in 1 to {most} shards, as in [3, 3, 2].",
                sizes=echo(sizes),
                most=len(DEVICES),
            )
        )
    if x.ndim < 2:
        raise NormvizError(
            _(
                "x has the shape {shape}; give (N, C) or (N, C, ...), so that it can be split along N.",
                shape=tuple(x.shape),
            )
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


EPS = (1e-12, 1.0)


@dataclass(frozen=True, eq=False)
class ShardStatistics:
    """The statistics of one batch of C channels, split into K shards; variances are biased.

    sizes                   examples on each device, (K,)
    counts                  values in each channel on each device: examples times positions, (K,)
    shard_mean, shard_var   of each device alone, (K, C)
    mean, var               of the shards combined, weighted by their counts, (C,)
    whole_mean, whole_var   of torch's BatchNorm on the whole batch, (C,)
    naive_var               the plain average of shard_var, (C,)
    within_var, between_var weighted average of shard_var, and weighted variance of shard_mean, (C,); var is their sum
    mean_gap, var_gap       difference between combined and whole
    naive_difference        largest difference between naive_var and whole_var
    """

    sizes: tuple[int, ...]
    counts: NDArray[np.int64]
    shard_mean: Array
    shard_var: Array
    mean: Array
    var: Array
    whole_mean: Array
    whole_var: Array
    naive_var: Array
    within_var: Array
    between_var: Array
    mean_gap: Gap
    var_gap: Gap
    naive_difference: float


@dataclass(frozen=True, eq=False)
class Sharded(ShardStatistics):
    """The shard statistics with the outputs, each of x's shape.

    shard_output      torch's BatchNorm on each shard alone; NaN if torch refuses it
    sync_output       each shard with the combined statistics, as in SyncBatchNorm
    whole_output      torch's BatchNorm on the whole batch
    output_gap        difference between sync_output and whole_output
    shard_difference  largest difference between shard_output and whole_output; NaN if torch refuses every shard
    refusals          torch's error message for each shard alone, or "", (K,)
    """

    shard_output: Array
    sync_output: Array
    whole_output: Array
    output_gap: Gap
    shard_difference: float
    refusals: tuple[str, ...]


def shard_statistics(x: Any, sizes: Sequence[int]) -> ShardStatistics:
    """Split a batch into shards, compute the statistics of each shard, and combine them.

    x      (N, C) or (N, C, ...): at least two values in each channel, at most 2^20 in all; computed in float64
    sizes  (K,): the number of examples on each device, in order; they add up to N

    Raises NormvizError for other inputs, with torch's words if BatchNorm refuses the whole batch.
    Source: Chan, Golub & LeVeque 1979; ``torch.nn.SyncBatchNorm``.

    >>> parts = shard_statistics(torch.tensor([[0.0], [2.0], [4.0]]), (2, 1))
    >>> parts.shard_mean.tolist(), parts.shard_var.tolist(), parts.mean.tolist(), parts.var.round(4).tolist()
    ([[1.0], [4.0]], [[1.0], [0.0]], [2.0], [2.6667])
    >>> parts.var_gap.agrees, parts.naive_var.tolist()
    (True, [0.5])
    """
    batch, sizes = _read(x, sizes)
    return _statistics(batch, sizes)


@torch.no_grad()
def shard(x: Any, sizes: Sequence[int], eps: float = 1e-5) -> Sharded:
    """``shard_statistics`` with outputs: BatchNorm on each shard alone, with the combined statistics, and on the whole batch.

    eps  added to the variance, 1e-12 to 1

    x, sizes, errors and sources are those of ``shard_statistics``.

    >>> parts = shard(torch.tensor([[0.0], [2.0], [4.0], [6.0]]), (2, 2))
    >>> parts.shard_output.round(2).ravel().tolist(), parts.sync_output.round(2).ravel().tolist()
    ([-1.0, 1.0, -1.0, 1.0], [-1.34, -0.45, 0.45, 1.34])
    """
    eps = read_number("eps", eps, *EPS)
    batch, sizes = _read(x, sizes)
    found = _statistics(batch, sizes)
    combined = torch.tensor(found.mean), torch.tensor(found.var)
    sync = torch.cat([F.batch_norm(part, *combined, training=False, eps=eps) for part in batch.split(sizes)])
    alone = [attempt(_batch_norm(batch, eps), part) for part in batch.split(sizes)]
    by_shard = torch.cat(
        [
            torch.full_like(part, torch.nan) if output is None else output
            for part, (output, refusal) in zip(batch.split(sizes), alone, strict=True)
        ]
    )
    whole = _batch_norm(batch, eps)(batch)
    differences = (by_shard - whole).abs()
    seen = differences[~differences.isnan()]
    return Sharded(
        **vars(found),
        shard_output=frozen_array(by_shard.reshape(x.shape)),
        sync_output=frozen_array(sync.reshape(x.shape)),
        whole_output=frozen_array(whole.reshape(x.shape)),
        output_gap=_output_gap(sync, whole, batch, found, eps),
        shard_difference=float(seen.max()) if len(seen) else float("nan"),
        refusals=tuple(refusal for output, refusal in alone),
    )


def _read(x: Any, sizes: Any) -> tuple[Tensor, tuple[int, ...]]:
    """The batch as (N, C) or (N, C, positions), which BatchNorm1d takes, and the sizes of its shards."""
    batch = read_float64(x, "shard")
    found = read_sizes(sizes, batch)
    batch = batch.flatten(2) if batch.ndim > 2 else batch
    check(Layer.make("BatchNorm1d", batch.shape[1]), tuple(batch.shape))
    return batch, found


def _statistics(batch: Tensor, sizes: tuple[int, ...]) -> ShardStatistics:
    parts = [part.transpose(0, 1).flatten(1) for part in batch.split(sizes)]
    counts = read_only(np.array([part.shape[1] for part in parts]))
    own = [torch.var_mean(part, dim=1, correction=0) for part in parts]
    shard_var, shard_mean = (frozen_array(torch.stack(stats)) for stats in zip(*own, strict=True))
    mean, var = combine(counts, shard_mean, shard_var)
    whole_mean, whole_var = _whole(batch, int(counts.sum()))
    weight = counts[:, None] / counts.sum()
    errors = rounding_errors(batch, var, len(sizes))
    naive_var = frozen_array(shard_var.mean(axis=0))
    return ShardStatistics(
        sizes=sizes,
        counts=counts,
        shard_mean=shard_mean,
        shard_var=shard_var,
        mean=mean,
        var=var,
        whole_mean=whole_mean,
        whole_var=whole_var,
        naive_var=naive_var,
        within_var=frozen_array((weight * shard_var).sum(axis=0)),
        between_var=frozen_array((weight * (shard_mean - mean) ** 2).sum(axis=0)),
        mean_gap=Gap.between(mean, whole_mean, errors[0]),
        var_gap=Gap.between(var, whole_var, errors[1]),
        naive_difference=float(np.abs(naive_var - whole_var).max()),
    )


def _batch_norm(batch: Tensor, eps: float) -> nn.BatchNorm1d:
    """A new BatchNorm whose buffers are the statistics of the last batch."""
    return nn.BatchNorm1d(batch.shape[1], eps=eps, momentum=1.0, affine=False, dtype=torch.float64)


@torch.no_grad()
def _whole(batch: Tensor, values: int) -> tuple[Array, Array]:
    """Mean and biased variance of the whole batch, read from torch's buffers (C,)."""
    module = _batch_norm(batch, 1e-5)
    module(batch)
    assert module.running_mean is not None
    assert module.running_var is not None
    return frozen_array(module.running_mean), frozen_array(module.running_var * ((values - 1) / values))


def _output_gap(sync: Tensor, whole: Tensor, batch: Tensor, found: ShardStatistics, eps: float) -> Gap:
    errors = rounding_errors(batch, found.var, len(found.sizes))
    error = output_rounding_error(whole.numpy(), found.mean, np.sqrt(found.var + eps), errors)
    return Gap.between(sync.numpy(), whole.numpy(), error)
