"""BatchNorm on several devices: each has a shard of the batch, and SyncBatchNorm combines their statistics.

torch's SyncBatchNorm does not run on the CPU, so this combination is compared with BatchNorm on the whole batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from normviz.analysis.checks import MOST_ELEMENTS, Array, frozen_array, read_float64, read_integer, read_only
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.torch_module import attempt, torch_layer_of
from normviz.layers.layer import Layer
from normviz.layers.torch_errors import check
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import ngettext

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
