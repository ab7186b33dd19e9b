"""Which parameter each output is multiplied with or gets added, found by changing the values of the parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from normviz.measuring.inputs import probes
from normviz.measuring.numbers.formula import Formula

Values = Mapping[int, Tensor]
Measure = Callable[[Values], Formula | None]  # the formula of the function with other values of some tensors
Ids = NDArray[np.int64]


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
    measure: Measure, tensors: Mapping[int, Tensor], dtype: torch.dtype
) -> tuple[Learned | None, Learned | None]:
    """The parameters in the factors and in the offsets; None if there are none. ``tensors``: floating-point tensors that may be parameters."""
    if not tensors:
        return None, None
    settings = [generic_values(tensors, seed) for seed in (1, 2)]
    formulas = [measure(values) for values in settings]
    if formulas[0] is None or formulas[1] is None:
        return None, None
    pairs = [
        (settings[0][position].flatten().double(), settings[1][position].flatten().double()) for position in tensors
    ]
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
            ids = _nearest(quotient, (plus_one + first) / (plus_one + second), close)
            if ids is not None:
                constant = float((factors[0] / (plus_one + first[ids])).median())
                return Learned(ids.numpy(), constant, plus_one)
    return Learned(equal_ids(factors[0], dtype))


def _offset(offsets: tuple[Tensor, Tensor], pairs: list[tuple[Tensor, Tensor]], dtype: torch.dtype) -> Learned | None:
    close = 10 * probes.agreement(dtype)
    if torch.allclose(*offsets, rtol=close, atol=close):
        return None
    for first, _second in pairs:
        ids = _nearest(offsets[0], first, close)
        if ids is not None:
            return Learned(ids.numpy())
    return Learned(equal_ids(offsets[0], dtype))


def _nearest(values: Tensor, table: Tensor, close: float) -> Tensor | None:
    """For each value, the position of the number in the table that it is; None if some value is not in it."""
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
    steps = torch.cat([torch.zeros(1), (flat.diff() > close * max(float(flat.abs().max()), 1e-30)).double()]).cumsum(0)
    ids = torch.empty(len(flat), dtype=torch.int64)
    ids[order] = steps.long()
    return ids.reshape(values.shape).numpy()
