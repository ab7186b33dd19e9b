"""The fourth limit of BatchNorm: several devices. Each sees its shard of the batch; SyncBatchNorm combines the statistics.

torch's SyncBatchNorm has no CPU kernels: the combination here is ours, compared with BatchNorm on the whole batch.
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
    read_tensor,
)
from normviz.analysis.running.torch_module import attempt
from normviz.layers.errors import NormvizError, echo
from normviz.layers.layer import Layer
from normviz.layers.torch_errors import check

DEVICES = range(1, 65)
EXAMPLES = range(1, MOST_ELEMENTS + 1)


def even_sizes(examples: int, devices: int) -> tuple[int, ...]:
    """The sizes of ``devices`` shards of ``examples`` examples, as equal as they can be, the larger ones first.

    Raises NormvizError unless there are 1 to 64 devices and an example for each.

    >>> even_sizes(10, 4)
    (3, 3, 2, 2)
    """
    examples, devices = read_integer("examples", examples, EXAMPLES), read_integer("devices", devices, DEVICES)
    if devices > examples:
        raise NormvizError(f"{examples} examples are too few for {devices} devices; give at most {examples} devices.")
    size, more = divmod(examples, devices)
    return tuple(size + (k < more) for k in range(devices))


def combine(counts: Any, means: Any, variances: Any) -> tuple[Array, Array]:
    """The mean and the biased variance of K shards together, from their counts, means and biased variances alone.

        n    = sum of n_k
        mean = sum of n_k * mean_k / n
        var  = sum of n_k * (var_k + (mean_k - mean)^2) / n

    counts            (K,): values in each shard
    means, variances  (K,), or (K, C) for C channels

    Raises NormvizError where the shapes do not fit.
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
            f"counts, means and variances have the shapes {n.shape}, {mean_k.shape} and {var_k.shape}; "
            "give (K,) counts and means and variances of (K,) or (K, C)."
        )
    if not ((n >= 1).all() and (n % 1 == 0).all() and (var_k >= 0).all()):
        raise NormvizError("counts must be whole numbers of at least 1, and variances 0 or more.")
    weight = (n / n.sum()).reshape(-1, *[1] * (mean_k.ndim - 1))
    mean = (weight * mean_k).sum(axis=0)
    var = (weight * (var_k + (mean_k - mean) ** 2)).sum(axis=0)
    return frozen_array(mean), frozen_array(var)


def read_sizes(sizes: Any, x: Tensor) -> tuple[int, ...]:
    """The sizes of the shards of x. Raises NormvizError unless they are whole numbers that add up to x's examples."""
    if not isinstance(sizes, list | tuple) or not 1 <= len(sizes) <= len(DEVICES):
        raise NormvizError(f"sizes={echo(sizes)} must be the examples of 1 to {len(DEVICES)} shards, as in [3, 3, 2].")
    if x.ndim < 2:
        raise NormvizError(
            f"x has the shape {tuple(x.shape)}; give (N, C) or (N, C, ...), so that it can be split by N."
        )
    found = tuple(read_integer("size of a shard", size, EXAMPLES) for size in sizes)
    if sum(found) != len(x):
        remedy = f", such as {list(even_sizes(len(x), min(len(found), len(x))))}"
        raise NormvizError(
            f"sizes={echo(found)} add up to {sum(found)} and x has {len(x)} examples; give sizes that add up to it{remedy}."
        )
    return found


EPS = (1e-12, 1.0)


@dataclass(frozen=True)
class Gap:
    """How far two ways to the same numbers are apart, and whether rounding alone explains it.

    largest    the largest difference
    tolerance  the most that rounding in float64 can explain, where it can explain most
    agrees     whether every difference is within its own tolerance
    """

    largest: float
    tolerance: float
    agrees: bool


@dataclass(frozen=True, eq=False)
class ShardStatistics:
    """The statistics of one batch of C channels, cut into K shards; variances are biased.

    sizes                   examples on each device, (K,)
    counts                  values a channel on each device: examples times positions, (K,)
    shard_mean, shard_var   of each device alone, (K, C)
    mean, var               of the shards combined by their counts, (C,)
    whole_mean, whole_var   of torch's BatchNorm on the whole batch, (C,)
    naive_var               the plain average of shard_var, (C,)
    within_var, between_var shard_var averaged by counts, and what that leaves out, the spread of shard_mean, (C,): var is
                            their sum
    mean_gap, var_gap       combined against whole
    naive_difference        largest difference of naive_var from whole_var
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
    """The same with the outputs, each of x's shape.

    shard_output      torch's BatchNorm on each shard alone; NaN where torch refuses
    sync_output       each shard with the combined statistics, as SyncBatchNorm gives
    whole_output      torch's BatchNorm on the whole batch
    output_gap        sync_output against whole_output
    shard_difference  largest difference of shard_output from whole_output; NaN where torch refuses every shard
    refusals          torch's own words for each shard alone, or "", (K,)
    """

    shard_output: Array
    sync_output: Array
    whole_output: Array
    output_gap: Gap
    shard_difference: float
    refusals: tuple[str, ...]


def shard_statistics(x: Any, sizes: Sequence[int]) -> ShardStatistics:
    """Cut a batch into shards, take each one's statistics, and combine them.

    x      (N, C) or (N, C, ...): two values a channel or more, 2^20 in all at most; computed in float64
    sizes  (K,): how many of the N examples each device gets, in order; they add up to N

    Raises NormvizError for other inputs, with torch's words where BatchNorm refuses the whole batch.
    Source: Chan, Golub & LeVeque 1979; ``torch.nn.SyncBatchNorm``.

    >>> parts = shard_statistics(torch.tensor([[0.0], [2.0], [4.0]]), (2, 1))
    >>> parts.shard_mean.tolist(), parts.shard_var.tolist(), parts.mean.tolist(), parts.var.round(4).tolist()
    ([[1.0], [4.0]], [[1.0], [0.0]], [2.0], [2.6667])
    >>> parts.var_gap.agrees, parts.naive_var.tolist()
    (True, [0.5])
    """
    batch, sizes = _read(x, sizes)
    return ShardStatistics(**_statistics(batch, sizes))


@torch.no_grad()
def shard(x: Any, sizes: Sequence[int], eps: float = 1e-5) -> Sharded:
    """The same with the outputs: BatchNorm on each shard alone, on all with the combined statistics, and on the whole batch.

    eps  added to the variance, 1e-12 to 1

    x, sizes, errors and sources as for ``shard_statistics``.

    >>> parts = shard(torch.tensor([[0.0], [2.0], [4.0], [6.0]]), (2, 2))
    >>> parts.shard_output.round(2).ravel().tolist(), parts.sync_output.round(2).ravel().tolist()
    ([-1.0, 1.0, -1.0, 1.0], [-1.34, -0.45, 0.45, 1.34])
    """
    eps = read_number("eps", eps, *EPS)
    batch, sizes = _read(x, sizes)
    found = _statistics(batch, sizes)
    combined = torch.tensor(found["mean"]), torch.tensor(found["var"])
    sync = torch.cat([F.batch_norm(part, *combined, training=False, eps=eps) for part in batch.split(sizes)])
    alone = [attempt(_batch_norm(batch, eps), part) for part in batch.split(sizes)]
    by_shard = torch.cat(
        [
            torch.full_like(part, torch.nan) if output is None else output
            for part, (output, _) in zip(batch.split(sizes), alone, strict=True)
        ]
    )
    whole = _batch_norm(batch, eps)(batch)
    apart = (by_shard - whole).abs()
    seen = apart[~apart.isnan()]
    return Sharded(
        **found,
        shard_output=frozen_array(by_shard.reshape(x.shape)),
        sync_output=frozen_array(sync.reshape(x.shape)),
        whole_output=frozen_array(whole.reshape(x.shape)),
        output_gap=_output_gap(sync, whole, batch, found, eps),
        shard_difference=float(seen.max()) if len(seen) else float("nan"),
        refusals=tuple(words for _, words in alone),
    )


def _read(x: Any, sizes: Any) -> tuple[Tensor, tuple[int, ...]]:
    """The batch as (N, C) or (N, C, positions), which BatchNorm1d takes, and the sizes of its shards."""
    batch = read_float64(read_tensor(x, "a sharded batch"))
    found = read_sizes(sizes, batch)
    batch = batch.flatten(2) if batch.ndim > 2 else batch
    check(Layer.make("BatchNorm1d", batch.shape[1]), tuple(batch.shape))
    return batch, found


def _statistics(batch: Tensor, sizes: tuple[int, ...]) -> dict[str, Any]:
    parts = [part.transpose(0, 1).flatten(1) for part in batch.split(sizes)]
    counts = read_only(np.array([part.shape[1] for part in parts]))
    own = [torch.var_mean(part, dim=1, correction=0) for part in parts]
    shard_var, shard_mean = (frozen_array(torch.stack(found)) for found in zip(*own, strict=True))
    mean, var = combine(counts, shard_mean, shard_var)
    whole_mean, whole_var = _whole(batch, int(counts.sum()))
    weight = counts[:, None] / counts.sum()
    mean_slack, var_slack = _slack(batch, var, int(counts.sum()) + len(sizes))
    naive_var = frozen_array(shard_var.mean(axis=0))
    return {
        "sizes": sizes,
        "counts": counts,
        "shard_mean": shard_mean,
        "shard_var": shard_var,
        "mean": mean,
        "var": var,
        "whole_mean": whole_mean,
        "whole_var": whole_var,
        "naive_var": naive_var,
        "within_var": frozen_array((weight * shard_var).sum(axis=0)),
        "between_var": frozen_array((weight * (shard_mean - mean) ** 2).sum(axis=0)),
        "mean_gap": _gap(mean, whole_mean, mean_slack),
        "var_gap": _gap(var, whole_var, var_slack),
        "naive_difference": float(np.abs(naive_var - whole_var).max()),
    }


def _batch_norm(batch: Tensor, eps: float) -> nn.BatchNorm1d:
    """A fresh BatchNorm whose buffers are, after one batch, the batch's own."""
    return nn.BatchNorm1d(batch.shape[1], eps=eps, momentum=1.0, affine=False, dtype=torch.float64)


@torch.no_grad()
def _whole(batch: Tensor, values: int) -> tuple[Array, Array]:
    """Mean and biased variance of the whole batch, read from torch's buffers."""
    module = _batch_norm(batch, 1e-5)
    module(batch)
    assert module.running_mean is not None
    assert module.running_var is not None
    return frozen_array(module.running_mean), frozen_array(module.running_var * ((values - 1) / values))


# To first order, a sum of n numbers up to M errs by n u M at most, u half of float64's eps; so the mean by n u M, and the
# variance, whose deviations are of the size of std, by n u (3 M std + var), and by the square of the mean's error.
# Two ways to the same number may err in two directions. A constant says how many more roundings there are.


def _slack(batch: Tensor, var: Array, additions: int) -> tuple[Array, Array]:
    """What rounding may do to each channel's mean and variance, (C,) each."""
    largest = batch.transpose(0, 1).flatten(1).abs().amax(dim=1).numpy()
    unit = 2 * (additions + 5) * np.finfo(np.float64).eps / 2
    mean = unit * largest
    return mean, unit * (3 * largest * np.sqrt(var) + var) + mean**2


def _output_gap(sync: Tensor, whole: Tensor, batch: Tensor, found: dict[str, Any], eps: float) -> Gap:
    """(x - mean) / std errs by the mean's error / std, and by half the variance's relative error of itself."""
    mean_slack, var_slack = _slack(batch, found["var"], int(found["counts"].sum()) + len(found["sizes"]))
    along = (1, -1) + (1,) * (batch.ndim - 2)
    std = np.sqrt(found["var"] + eps)
    roundings = 8 * np.finfo(np.float64).eps
    of_mean = (mean_slack / std + roundings * (np.abs(found["mean"]) / std)).reshape(along)
    of_std = (var_slack / std**2 / 2 + 2 * roundings).reshape(along)
    return _gap(sync.numpy(), whole.numpy(), of_mean + (np.abs(whole.numpy()) + 1) * of_std)


def _gap(one: Array, other: Array, slack: Array) -> Gap:
    apart = np.abs(one - other)
    return Gap(float(apart.max()), float(slack.max()), bool((apart <= slack).all()))
