"""Which elements share: group ids and exact counts, from a pattern and the sizes of its axes.

The group id of x[i, j, ...] is a sum of one number per axis. So one short table per axis gives the ids of a tensor of any size, and
counts are products that need no array.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import prod
from operator import index as as_int

import numpy as np
from numpy.typing import NDArray

from normviz.layers.norm import Norm
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import ngettext

Ids = NDArray[np.int64]
LIMIT = 2**26
MOST_IDS = 2**53  # larger ids are not exact in JavaScript


@dataclass(frozen=True)
class Counts:
    """Exact counts, for any shape.

    statistics              groups of elements, each with one mean and one variance (RMSNorm: one mean square)
    elements_per_statistic  elements of x in each group
    gamma_shape, beta_shape None if there is no gamma, no beta
    parameters              elements of gamma and beta together
    buffers                 elements of running_mean, running_var and num_batches_tracked
    """

    statistics: int
    elements_per_statistic: int
    gamma_shape: tuple[int, ...] | None
    beta_shape: tuple[int, ...] | None
    parameters: int
    buffers: int


def counts(norm: Norm, shape: tuple[int, ...], buffers: int = 0) -> Counts:
    """The counts of ``norm`` for an x of ``shape``. Raises NormvizError if the shape does not fit.

    >>> counts(Norm("n c h w -> n", "c h w"), (2, 3, 4, 4)).parameters
    96
    """
    sizes = norm.axis_sizes(shape)
    gamma = None if norm.params is None else tuple(sizes[name] for name in norm.gamma_axes)
    beta = gamma if norm.bias else None
    return Counts(
        statistics=prod(sizes[name] for name in norm.pattern.right),
        elements_per_statistic=prod(sizes[name] for name in norm.pattern.reduced),
        gamma_shape=gamma,
        beta_shape=beta,
        parameters=sum(prod(part) for part in (gamma, beta) if part is not None),
        buffers=buffers,
    )


def stat_tables(norm: Norm, shape: tuple[int, ...]) -> tuple[Ids, ...]:
    """One table for each axis of x: the statistics id of an element is the sum of its entries.

    Raises NormvizError if the shape does not fit, or has an axis or a number of groups that is too large.
    """
    return _tables(norm, shape, norm.pattern.right)


def param_tables(norm: Norm, shape: tuple[int, ...]) -> tuple[Ids, ...] | None:
    """Like ``stat_tables``, for the ids of gamma and beta; None if there is no gamma. Raises NormvizError as ``stat_tables`` does."""
    return None if norm.params is None else _tables(norm, shape, norm.gamma_axes)


def _tables(norm: Norm, shape: tuple[int, ...], kept: Sequence[str]) -> tuple[Ids, ...]:
    """Groups are numbered from 0 in row-major order of the ``kept`` axes."""
    check_limit([max(shape)])
    sizes = norm.axis_sizes(shape)
    stride: dict[str, int] = {}
    step = 1
    for name in reversed(kept):
        stride[name], step = step, step * sizes[name]
    check_groups(step)
    return tuple(
        _axis_table(axis, whole, size, sizes, stride)
        for axis, whole, size in zip(norm.pattern.left, norm.axes, shape, strict=True)
    )


def _axis_table(
    axis: tuple[str, ...], whole: str, size: int, sizes: Mapping[str, int], stride: Mapping[str, int]
) -> Ids:
    position = np.arange(size, dtype=np.int64)
    table = position * stride.get(whole, 0)
    if len(axis) > 1:
        parts = np.unravel_index(position, [sizes[name] for name in axis])
        table = table + sum(part * stride.get(name, 0) for name, part in zip(axis, parts, strict=True))
    table.setflags(write=False)
    return table


def ids(tables: Sequence[Ids]) -> Ids:
    """The id of every element, as a read-only int64 array of the shape of x.

    Raises NormvizError above 2^26 elements.
    """
    check_limit([len(table) for table in tables])
    summed: Ids = reduce(np.add.outer, tables)
    summed.setflags(write=False)
    return summed


def peers(tables: Sequence[Ids], index: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The other indices with the same id as ``index``, in row-major order.

    Raises NormvizError if there are more than 2^26.
    """
    choices = [np.flatnonzero(table == table[i]).tolist() for table, i in zip(tables, index, strict=True)]
    check_limit([len(choice) for choice in choices])
    return [other for other in product(*choices) if other != index]


def check_groups(groups: int) -> None:
    """Raise NormvizError if the ids of so many groups are not exact in JavaScript."""
    if groups > MOST_IDS:
        raise NormvizError(
            ngettext(
                "{n:,} group is too many to number (at most {most:,}); counts and patterns work for any shape.",
                "{n:,} groups are too many to number (at most {most:,}); counts and patterns work for any shape.",
                groups,
                most=MOST_IDS,
            )
        )


def check_limit(shape: Sequence[int]) -> None:
    """Raise NormvizError if an array of ``shape`` would have more than 2^26 elements."""
    if prod(shape) > LIMIT:
        raise NormvizError(
            ngettext(
                "this needs an array of {n:,} element, more than {most:,}; counts and patterns work for any shape.",
                "this needs an array of {n:,} elements, more than {most:,}; counts and patterns work for any shape.",
                prod(shape),
                most=LIMIT,
            )
        )


def check_index(index: Sequence[int], shape: tuple[int, ...]) -> tuple[int, ...]:
    """``index`` as a tuple of ints within ``shape``; negative ones count from the end. Raises NormvizError if it is outside."""
    try:
        found = tuple(as_int(i) for i in index)
    except TypeError:
        found = ()
    if len(found) != len(shape) or any(not -size <= i < size for i, size in zip(found, shape, strict=False)):
        raise NormvizError(
            "index {index} is not an element of a tensor of shape {shape}; give one whole number for each axis, less than its size.",
            index=echo(index),
            shape=shape,
        )
    return tuple(i % size for i, size in zip(found, shape, strict=True))
