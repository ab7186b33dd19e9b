"""Which parameter each output is multiplied with or gets added, found by changing the values of the parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from normviz.measuring.inputs import probes
from normviz.measuring.numbers.formula import Formula

Values = Mapping[int, Tensor]
Measure = Callable[[Values], Formula | None]  # the formula of the function with other values of some tensors
Ids = NDArray[np.int64]
# Numbers from 1 to 2 that can be told apart; with more values, only the order along axes of x is tried.
DISTINCT = 10_000


@dataclass(frozen=True)
class Learned:
    """What the factors or the offsets of a formula have to do with the function's parameters.

    ids       int64, the shape of x: elements with the same number use the same parameter
    constant  what the factor is beside the parameter: 1, or a number that follows from the group's size
    plus_one  whether 1 + the parameter is used
    """

    ids: Ids
    constant: float = 1.0
    plus_one: bool = False


def measure_learned(
    measure: Measure,
    tensors: Mapping[int, Tensor],
    dtype: torch.dtype,
    known: tuple[Values, Formula] | None = None,
) -> tuple[Learned | None, Learned | None]:
    """The parameters in the factors and in the offsets; None if there are none.

    tensors  floating-point tensors that may be parameters
    known    generic values of all of them, and the formula with these
    """
    if not tensors:
        return None, None
    settings = [known[0] if known else generic_values(tensors, seed=1), generic_values(tensors, seed=2)]
    formulas = [known[1] if known else measure(settings[0]), measure(settings[1])]
    if formulas[0] is None or formulas[1] is None:
        return None, None
    pairs = [(settings[0][position].double(), settings[1][position].double()) for position in tensors]
    factors = formulas[0].factor, formulas[1].factor
    offsets = formulas[0].offset, formulas[1].offset
    return _factor(factors, pairs, dtype), _offset(offsets, pairs, dtype)


def generic_values(tensors: Mapping[int, Tensor], seed: int) -> dict[int, Tensor]:
    """Other values for some tensors, by position: from 1 to 2 and all different."""
    return {position: _positive(tensor, 10 * position + seed) for position, tensor in tensors.items()}


def _positive(tensor: Tensor, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(probes.SEED + seed)
    return (1 + torch.rand(tensor.shape, generator=generator, dtype=torch.float64)).to(tensor.dtype)


def _factor(factors: tuple[Tensor, Tensor], pairs: list[tuple[Tensor, Tensor]], dtype: torch.dtype) -> Learned | None:
    """The factors are a constant times p, or times 1 + p: the quotient of two measurements tells which p, without the constant."""
    close = 10 * probes.agreement(dtype)
    quotient = factors[0] / factors[1]
    if torch.allclose(*factors, rtol=close, atol=0):
        return None
    for first, second in pairs:
        for plus_one in (False, True):
            ids = _position(quotient, (plus_one + first) / (plus_one + second), close)
            if ids is not None:
                constant = float((factors[0] / (plus_one + first.flatten()[ids])).median())
                return Learned(ids.numpy(), constant, plus_one)
    return Learned(equal_ids(factors[0], dtype))


def _offset(offsets: tuple[Tensor, Tensor], pairs: list[tuple[Tensor, Tensor]], dtype: torch.dtype) -> Learned | None:
    close = 10 * probes.agreement(dtype)
    if torch.allclose(*offsets, rtol=close, atol=close):
        return None
    for first, _second in pairs:
        ids = _position(offsets[0], first, close)
        if ids is not None:
            return Learned(ids.numpy())
    return Learned(equal_ids(offsets[0], dtype))


def _position(values: Tensor, table: Tensor, close: float) -> Tensor | None:
    """For each value, the position in the flat table of the number that it is; None if some value is not in it."""
    if table.numel() <= DISTINCT:
        return _nearest(values, table.flatten(), close)
    numbers, places = table.squeeze(), torch.arange(table.numel()).reshape(table.squeeze().shape)
    for axes in permutations(range(values.ndim), numbers.ndim):
        if numbers.shape == tuple(values.shape[i] for i in axes):
            order = sorted(range(len(axes)), key=axes.__getitem__)
            shape = [size if i in axes else 1 for i, size in enumerate(values.shape)]
            expected, ids = (one.permute(order).reshape(shape) for one in (numbers, places))
            if bool(((values - expected).abs() <= close * expected.abs()).all()):
                return ids.expand(values.shape)
    return None


def _nearest(values: Tensor, table: Tensor, close: float) -> Tensor | None:
    order = table.argsort()
    ordered = table[order]
    right = torch.searchsorted(ordered, values.contiguous()).clamp(max=len(table) - 1)
    left = (right - 1).clamp(min=0)
    nearer = torch.where((values - ordered[left]).abs() < (values - ordered[right]).abs(), left, right)
    if bool(((values - ordered[nearer]).abs() > close * values.abs()).any()):
        return None
    return order[nearer]


def equal_ids(values: Tensor, dtype: torch.dtype) -> Ids:
    """The same number for values that are equal up to rounding."""
    close = 10 * probes.agreement(dtype)
    flat, order = values.flatten().sort()
    ranks = torch.cat([torch.zeros(1), (flat.diff() > close * max(float(flat.abs().max()), 1e-30)).double()]).cumsum(0)
    ids = torch.empty(len(flat), dtype=torch.int64)
    ids[order] = ranks.long()
    return ids.reshape(values.shape).numpy()
