"""The formula of a normalization over known groups: what is subtracted, what divides, and the factor and the offset of each element.

``y = (x - mean) / sqrt(var + eps) * gamma + beta`` is odd in x but for beta, so beta is the mean of y(x) and y(-x). For large x, eps does
not count, and (y - beta) is a factor times a known tensor; the factor is gamma, unless var is not the biased variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from normviz.measuring.groups.partition import from_ids
from normviz.measuring.inputs import probes

Run = Callable[[Tensor], Tensor]
PROBES, FEW_PROBES = 5, 3
LARGE = 2**16  # elements of an x that is measured with few probes
MOST = 0.6  # the share of the outputs that a formula must give; by chance, each factor gives one of the probes
SMALL = 1e-3  # a smaller input does not tell its factor


class Groups:
    """The groups of a partition: ``ids`` numbers them for each element of x, and each has ``elements`` elements."""

    def __init__(self, ids: NDArray[np.int64]) -> None:
        self.shape = ids.shape
        self.ids = torch.from_numpy(ids)
        self.axes = from_ids(ids)
        self.counts = torch.bincount(self.ids.flatten())

    @property
    def elements(self) -> int:
        """The number of elements in a group; 0 if the groups differ in size."""
        return int(self.counts[0]) if bool((self.counts == self.counts[0]).all()) else 0

    def mean(self, x: Tensor) -> Tensor:
        """The mean of each element's group, of the shape of x."""
        if self.axes is not None:  # much faster than sums over ids
            parts = [part for axis in self.axes for part in axis.parts]
            reduced = [i for i, kept in enumerate(kept for axis in self.axes for kept in axis.kept) if not kept]
            means = x.reshape(parts).mean(reduced, keepdim=True) if reduced else x.reshape(parts)
            return means.expand(parts).reshape(self.shape)
        sums = torch.zeros(len(self.counts), dtype=torch.float64).index_add_(0, self.ids.flatten(), x.flatten())
        return (sums / self.counts)[self.ids]


@dataclass(frozen=True)
class Quotient:
    """What the numerator and the denominator are.

    center  whether the mean is subtracted
    spread  whether the deviations from the mean are squared for the denominator; if False, x itself is
    """

    center: bool
    spread: bool

    def terms(self, x: Tensor, groups: Groups) -> tuple[Tensor, Tensor]:
        """The numerator, and the square of the denominator without eps: a mean of squares."""
        centered = x - groups.mean(x)
        return centered if self.center else x, groups.mean((centered if self.spread else x).square())

    def normalized(self, x: Tensor, groups: Groups) -> Tensor:
        """The numerator over the denominator without eps; 0 in a group of zeros."""
        numerator, square = self.terms(x, groups)
        return torch.where(square > 0, numerator / square.sqrt(), 0.0)


QUOTIENTS = [Quotient(True, True), Quotient(False, False), Quotient(False, True), Quotient(True, False)]


@dataclass(frozen=True)
class Formula:
    """The formula without eps: ``kind.normalized(x) * factor + offset``.

    kind    the numerator and the denominator; None for a function of each element alone, ``x * factor + offset``
    factor  of each element: gamma, times a constant if the variance is not the biased one
    offset  of each element: beta
    exact   whether it gives all outputs that were measured; if not, it gives most of them, as if some were clipped
    """

    kind: Quotient | None
    factor: Tensor
    offset: Tensor
    exact: bool = True


def measure_formula(run: Run, dtype: torch.dtype, groups: Groups) -> Formula | None:
    """The formula of a normalization over these groups, or None if the function is none."""
    count = PROBES if groups.ids.numel() <= LARGE else FEW_PROBES
    inputs = [probes.generic(groups.shape, dtype, seed) * probes.large(dtype) for seed in range(count)]
    outputs, mirrored = (torch.stack([run(sign * x).double() for x in inputs]) for sign in (1, -1))
    offset = ((outputs + mirrored) / 2).median(0).values
    allowed = probes.agreement(dtype) * max(1.0, float(outputs.abs().nan_to_num().max()))
    best, most = None, MOST
    for kind in QUOTIENTS:
        normalized = torch.stack([kind.normalized(x.double(), groups) for x in inputs])
        formula, share = _fit(kind, normalized, outputs, offset, allowed)
        if share > most:
            best, most = formula, share
        if share == 1:
            break
    return best


def measure_affine(run: Run, shape: tuple[int, ...], dtype: torch.dtype) -> Formula | None:
    """The formula of a function that multiplies each element by a factor and adds an offset, or None if it does something else."""
    inputs = torch.stack([probes.generic(shape, dtype, seed) for seed in range(PROBES)])
    offset = run(torch.zeros(shape, dtype=dtype)).double()
    outputs = torch.stack([run(x).double() for x in inputs])
    allowed = probes.agreement(dtype) * max(1.0, float(outputs.abs().nan_to_num().max()))
    formula, _share = _fit(None, inputs.double(), outputs, offset, allowed)
    return formula if formula.exact else None


def _fit(
    kind: Quotient | None, inputs: Tensor, outputs: Tensor, offset: Tensor, allowed: float
) -> tuple[Formula, float]:
    """The factor of each element that gives most of the outputs, 1 where all inputs are 0, and the share of the outputs other than the offset that it gives.

    inputs, outputs  of all probes, along the first axis. A factor is the median over them, so a single probe does not decide it.
    """
    ratios = torch.where(inputs.abs() > SMALL, (outputs - offset) / inputs, torch.nan)
    factor = ratios.nanmedian(0).values.nan_to_num(1.0)
    fits = (inputs * factor + offset - outputs).abs() <= allowed  # NaN fits nothing
    moved = (outputs - offset).abs() > allowed
    share = float(fits[moved].double().mean()) if moved.any() else float(fits.all())
    return Formula(kind, factor, offset, bool(fits.all())), share
