"""Parts of a batch: their sizes, and the statistics of all from the statistics of each."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from normviz.analysis.running.checks import LARGEST_VALUE, MOST_ELEMENTS, Array, fixed, numbers, whole
from normviz.layers.errors import NormvizError, echo

DEVICES = range(1, 65)
EXAMPLES = range(1, MOST_ELEMENTS + 1)


def even_sizes(examples: int, devices: int) -> tuple[int, ...]:
    """The sizes of ``devices`` shards of ``examples`` examples, as equal as they can be, the larger ones first.

    Raises NormvizError unless there are 1 to 64 devices and an example for each.

    >>> even_sizes(10, 4)
    (3, 3, 2, 2)
    """
    examples, devices = whole("examples", examples, EXAMPLES), whole("devices", devices, DEVICES)
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
    n = numbers("counts", counts, DEVICES[-1])
    mean_k = numbers("means", means, MOST_ELEMENTS)
    var_k = numbers("variances", variances, MOST_ELEMENTS, LARGEST_VALUE**2)
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
    return fixed(mean), fixed(var)


def read_sizes(sizes: Any, x: Tensor) -> tuple[int, ...]:
    """The sizes of the shards of x. Raises NormvizError unless they are whole numbers that add up to x's examples."""
    if not isinstance(sizes, list | tuple) or not 1 <= len(sizes) <= len(DEVICES):
        raise NormvizError(f"sizes={echo(sizes)} must be the examples of 1 to {len(DEVICES)} shards, as in [3, 3, 2].")
    if x.ndim < 2:
        raise NormvizError(
            f"x has the shape {tuple(x.shape)}; give (N, C) or (N, C, ...), so that it can be split by N."
        )
    found = tuple(whole("size of a shard", size, EXAMPLES) for size in sizes)
    if sum(found) != len(x):
        remedy = f", such as {list(even_sizes(len(x), min(len(found), len(x))))}"
        raise NormvizError(
            f"sizes={echo(found)} add up to {sum(found)} and x has {len(x)} examples; give sizes that add up to it{remedy}."
        )
    return found
