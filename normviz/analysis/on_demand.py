"""Tensors of any size whose values are computed where they are needed, and noise that is a hash of the seed and of the index.

Integers of 64 bits are hashed axis by axis, and no number of an element is ever computed, so nothing overflows for 10^12 elements and more. The
hash is looked up in a table of normal numbers of two decimals, so the values are the same on every platform.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Places = tuple[NDArray[np.int64], ...]  # the indices along each axis, as arrays that broadcast: np.ix_(...)
Hash = NDArray[np.uint64]

MOST_HELD = 2**20  # elements of an example that is held in memory, and of an x that is computed whole for a figure


@dataclass(frozen=True, eq=False)
class OnDemand:
    """A tensor of ``shape``; ``at`` computes its values at some places. ``number`` is the value that all have, if that is known.

    >>> x = OnDemand.held(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    >>> x.at(np.ix_([1], [0, 1]))
    tensor([[3., 4.]])
    """

    shape: tuple[int, ...]
    at: Callable[[Places], Tensor]
    number: float | None = None

    @classmethod
    def held(cls, tensor: Tensor) -> OnDemand:
        """A tensor that is in memory."""
        return cls(tuple(tensor.shape), lambda at: tensor[at])

    @classmethod
    def constant(cls, shape: tuple[int, ...], value: float) -> OnDemand:
        return cls(shape, lambda at: torch.full(np.broadcast_shapes(*(each.shape for each in at)), value), value)

    def to(self, like: Tensor) -> OnDemand:
        """The same values in the dtype and on the device of another tensor."""
        return OnDemand(self.shape, lambda at: self.at(at).to(like))

    def whole(self) -> Tensor:
        """All values."""
        return self.at(np.ix_(*map(np.arange, self.shape)))


def float_positions(at: Places, shape: tuple[int, ...]) -> Tensor:
    """The positions in row-major order, as float32; exact up to 2^24."""
    found, stride = np.zeros((1,) * len(at)), 1.0
    for index, size in zip(reversed(at), reversed(shape), strict=True):
        found, stride = found + index * stride, stride * size
    return torch.from_numpy(found.astype(np.float32))


# The hash: the finalizer of SplitMix64 (Steele, Lea & Flood 2014), once for each axis. NumPy's integers wrap around.

STEP, FIRST, SECOND = (np.uint64(odd) for odd in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
BITS = 18  # of the hash that choose an entry of the table: the largest value is 4.62


def hashed_noise(seed: int, at: Places) -> Tensor:
    """Normal noise of two decimals: a hash of the seed and of the index of each place.

    >>> at = np.ix_([10**12], [0, 1, 2])
    >>> hashed_noise(0, at)
    tensor([[ 1.0500, -0.9700,  0.9900]])
    """
    places = (hashes(seed, at) >> np.uint64(64 - BITS)).view(np.int64)
    return torch.from_numpy(_normal_table().take(places))


def hashes(seed: int, at: Places) -> Hash:
    """A whole number of 64 bits for the seed and each place."""
    found = np.full((1,) * len(at), seed, np.uint64)
    for index in at:
        found = _mixed(found + (index.astype(np.uint64) + np.uint64(1)) * STEP)
    return found


def _mixed(value: Hash) -> Hash:
    value = (value ^ (value >> np.uint64(30))) * FIRST
    value = (value ^ (value >> np.uint64(27))) * SECOND
    return value ^ (value >> np.uint64(31))


@cache
def _normal_table() -> NDArray[np.float32]:
    """2^18 numbers of two decimals in increasing order, as often as a normal distribution has them."""
    hundredths = np.arange(-500, 501)
    below = [NormalDist().cdf((number + 0.5) / 100) for number in hundredths[:-1].tolist()]
    ends = np.array([0, *(round(share * 2**BITS) for share in below), 2**BITS])
    return np.repeat((hundredths / 100).astype(np.float32), np.diff(ends))
