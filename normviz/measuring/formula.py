"""The formula of a normalization over known groups: what is subtracted, what divides, and the factor and the offset of each element.

``y = (x - mean) / sqrt(var + eps) * gamma + beta`` is odd in x but for beta, so beta is the mean of y(x) and y(-x). For large x, eps does
not count, and (y - beta) is a factor times a known tensor; the factor is gamma, unless var is not the biased variance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from normviz.measuring import probe
from normviz.measuring.groups import from_ids

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
    inputs = [probe.generic(groups.shape, dtype, seed) * probe.large(dtype) for seed in range(count)]
    outputs, mirrored = (torch.stack([run(sign * x).double() for x in inputs]) for sign in (1, -1))
    offset = ((outputs + mirrored) / 2).median(0).values
    allowed = probe.agreement(dtype) * max(1.0, float(outputs.abs().nan_to_num().max()))
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
    inputs = torch.stack([probe.generic(shape, dtype, seed) for seed in range(PROBES)])
    offset = run(torch.zeros(shape, dtype=dtype)).double()
    outputs = torch.stack([run(x).double() for x in inputs])
    allowed = probe.agreement(dtype) * max(1.0, float(outputs.abs().nan_to_num().max()))
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


# Which parameter each output is multiplied with or gets added, found by changing the values of the parameters.


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
    generator = torch.Generator().manual_seed(probe.SEED + seed)
    return (1 + torch.rand(tensor.shape, generator=generator, dtype=torch.float64)).to(tensor.dtype)


def _factor(factors: tuple[Tensor, Tensor], pairs: list[tuple[Tensor, Tensor]], dtype: torch.dtype) -> Learned | None:
    """The factors are a constant times p, or times 1 + p: the quotient of two measurements tells which p, without the constant."""
    close = 10 * probe.agreement(dtype)
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
    close = 10 * probe.agreement(dtype)
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
    close = 10 * probe.agreement(dtype)
    flat, order = values.flatten().sort()
    ranks = torch.cat([torch.zeros(1), (flat.diff() > close * max(float(flat.abs().max()), 1e-30)).double()]).cumsum(0)
    ids = torch.empty(len(flat), dtype=torch.int64)
    ids[order] = ranks.long()
    return ids.reshape(values.shape).numpy()


# Measures eps and its place, from how much it shrinks the output for small x.


SMALLEST = {torch.float64: -22, torch.float32: -15}  # powers of ten: squares of smaller x may vanish
SEEN = 0.05  # eps must remove at least this share of the output, and leave at least as much
ELEMENTS = 500  # at most this many outputs are examined
SPREAD = 0.02  # largest relative spread of the estimates: a wrong formula gives another eps for each group


@dataclass(frozen=True)
class Eps:
    """value: eps. place: "inside" the root, "outside", or "maximum" of the denominator and eps; "" if it is elsewhere."""

    value: float
    place: str

    def applied(self, denominator: Tensor) -> Tensor:
        """The denominator with eps."""
        if self.place == "inside":
            return (denominator.square() + self.value).sqrt()
        return denominator + self.value if self.place == "outside" else denominator.clamp(min=self.value)


def measure_eps(
    run: Run, formula: Formula, kind: Quotient, groups: Groups, constant: float, dtype: torch.dtype
) -> Eps | None:
    """eps of the function; None if x has no influence, as in groups of one element.

    constant  the factor without gamma: the denominator is that of ``kind``, divided by it
    """
    x = probe.generic(groups.shape, dtype)

    def without_eps(small: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The positions of some elements, their outputs without eps and offset, and their denominators."""
        expected = (kind.normalized(small.double(), groups) * formula.factor).flatten()
        chosen = (expected.abs() > 0.1 * formula.factor.abs().flatten()).nonzero().flatten()[:ELEMENTS]
        denominator = kind.terms(small.double(), groups)[1].sqrt() / constant
        return chosen, expected[chosen], denominator.flatten()[chosen]

    whole = without_eps(x)

    def rest(power: float) -> tuple[Tensor, Tensor]:
        """What eps leaves of the output of x times a power of ten, for some elements, and their denominators."""
        small, scale = x * 10.0**power, 10.0**power
        chosen, expected, denominator = whole
        if dtype not in SMALLEST:  # float16 rounds small numbers
            (chosen, expected, denominator), scale = without_eps(small), 1.0
        output = run(small).flatten()[chosen].double() - formula.offset.flatten()[chosen]
        return output / expected, denominator * scale

    moderate: list[int] = []
    for power in range(5, SMALLEST.get(dtype, -3), -1):
        left = rest(power)[0]
        if not len(left):
            return None
        if not left.isfinite().all() or float(left.median()) <= SEEN:
            break
        if float(left.median()) < 1 - SEEN:
            moderate.append(power)
    if not moderate:
        return Eps(0.0, "inside")
    measured = [rest(power / 2) for power in range(2 * moderate[-1] - 1, 2 * moderate[0] + 2)]
    left, denominator = (torch.cat(parts) for parts in zip(*measured, strict=True))
    seen = (left > SEEN) & (left < 1 - SEEN)
    left, denominator = left[seen], denominator[seen]
    estimates = {
        "inside": (1 / left.square() - 1) * denominator.square(),
        "outside": (1 / left - 1) * denominator,
        "maximum": denominator / left,
    }
    for place, values in estimates.items():
        middle = float(values.median())
        if middle > 0 and float((values / middle - 1).abs().quantile(0.9)) < SPREAD:
            return Eps(_rounded(middle), place)
    return Eps(0.0, "")


def _rounded(value: float) -> float:
    """The value with two digits if it is as close to that as it can be measured, else with six."""
    short = float(f"{value:.1e}")
    return short if abs(value / short - 1) < 1e-3 else float(f"{value:.5e}")
