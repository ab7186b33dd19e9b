"""The formula that a function computes: ``measure`` finds it, with its groups, its parameters and its eps.

``y = (x - mean) / sqrt(var + eps) * gamma + beta`` is odd in x except for beta, so beta is the mean of y(x) and y(-x). For large x, eps is
negligible, and (y - beta) is a factor times a known tensor; the factor is gamma, unless var is not the biased variance.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import permutations, product
from math import isclose, prod, sqrt
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from normviz.layers.axes import divisors
from normviz.measuring import probe
from normviz.measuring.probe import Function, Values, isolated

# Which elements of a tensor share their statistics: an input moves every output of its group, through the mean and the variance.


__tracebackhide__ = True  # pytest shows the frame of the caller

Index = tuple[int, ...]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Axis:
    """What the elements of a group have in common along one axis.

    parts  the sizes of the parts into which the axis is split; a whole axis has one
    kept   for each part, whether it is the same for all elements of a group
    """

    parts: tuple[int, ...]
    kept: tuple[bool, ...]

    @property
    def is_reduced(self) -> bool:
        """Whether a group has more than one index of the axis."""
        return any(size > 1 and not kept for size, kept in zip(self.parts, self.kept, strict=True))

    @property
    def classes(self) -> NDArray[np.int64]:
        """A number for each index, from 0: two indices can be in one group if their numbers are equal."""
        positions = np.unravel_index(np.arange(prod(self.parts)), self.parts)
        number = np.zeros(prod(self.parts), dtype=np.int64)
        for position, size, kept in zip(positions, self.parts, self.kept, strict=True):
            number = number * size + position if kept else number
        return number


@lru_cache(maxsize=64)
def candidates(size: int) -> tuple[Axis, ...]:
    """Every way in which an axis can be part of a group, the simplest first: whole, split in two, split in three parts.

    Of three parts, either the middle one is kept, or the two others.
    """
    found = [Axis((size,), (True,)), Axis((size,), (False,))]
    proper = [part for part in divisors(size) if 1 < part < size]
    for outer in proper:
        found += [Axis((outer, size // outer), kept) for kept in ((True, False), (False, True))]
    for outer, middle in product(proper, proper):
        if size % (outer * middle) == 0 and outer * middle < size:
            parts = outer, middle, size // (outer * middle)
            found += [Axis(parts, kept) for kept in ((False, True, False), (True, False, True))]
    return tuple(found)


def number(axes: Sequence[Axis]) -> NDArray[np.int64]:
    """The number of each element's group, from 0."""
    numbers = np.zeros((), dtype=np.int64)
    for axis in axes:
        classes = axis.classes
        numbers = np.add.outer(numbers * (int(classes.max()) + 1), classes)
    return numbers


def from_ids(ids: NDArray[np.int64]) -> tuple[Axis, ...] | None:
    """The partition into elements with equal ids, which count from 0; None if it cannot be described axis by axis."""
    axes: list[Axis] = []
    generator = np.random.Generator(np.random.PCG64(1))
    for axis in range(ids.ndim):
        slices = np.moveaxis(ids, axis, 0).reshape(ids.shape[axis], -1)
        weights = generator.integers(1, 2**62, slices.shape[1])
        # Equal slices have equal sums, modulo 2^64.
        together = np.unique(slices @ weights, return_inverse=True)[1].reshape(-1)
        found = next((one for one in candidates(len(together)) if same_partition(one.classes, together)), None)
        if found is None:
            return None
        axes.append(found)
    return tuple(axes) if same_partition(number(axes), ids) else None


def same_partition(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    """Whether two numberings of the same elements make the same groups.

    >>> same_partition(np.array([0, 0, 1]), np.array([7, 7, 3]))
    True
    """
    return refines(one, other) and refines(other, one)


def refines(fine: NDArray[np.int64], coarse: NDArray[np.int64]) -> bool:
    """Whether elements with the same ``fine`` number have the same ``coarse`` number. The fine numbers count from 0."""
    table = np.zeros(int(fine.max()) + 1, dtype=np.int64)
    table[fine.reshape(-1)] = coarse.reshape(-1)
    return bool(np.array_equal(table[fine], coarse))


# A large tensor is measured on a smaller one: most functions take it, and a normalization does the same there.

SHORTEST = 3  # the size of a first axis that is cut; the next ones are longer, because equal sizes could hide a confusion of axes


def smaller_shape(function: Function, shape: Index, allowed: Callable[[Index], bool]) -> Index:
    """The shape with short axes, where the function takes them and they are allowed; the shape itself if it is not large."""
    if prod(shape) <= probe.LARGE:
        return shape
    for axis, size in enumerate(shape):
        cut = (*shape[:axis], min(size, SHORTEST + axis), *shape[axis + 1 :])
        if cut != shape and allowed(cut) and function.takes(cut):
            shape = cut
    return shape


def is_alike(function: Function, shape: Index, smaller: Index, axes: tuple[Axis, ...] | None) -> bool:
    """Whether one input reaches the same axes in both shapes, and no axis that was cut is split into groups."""
    cut = [one != other for one, other in zip(shape, smaller, strict=True)]
    if axes is None or any(is_cut and len(axis.parts) > 1 for is_cut, axis in zip(cut, axes, strict=True)):
        return False
    whole = measure_reach(function, shape, function.dtype, few=0).axes
    return whole is not None and [axis.kept for axis in whole] == [axis.kept for axis in axes]


# The outputs that change if one input changes.


@dataclass(frozen=True)
class Reach:
    """The outputs that change if one input changes.

    shape    of x
    changed  for each input that was moved, the outputs that changed, as a mask of the shape of x
    """

    shape: Index
    changed: Mapping[Index, Mask]

    @property
    def is_sampled(self) -> bool:
        """Whether only some inputs were moved."""
        return len(self.changed) < prod(self.shape)

    @property
    def is_elementwise(self) -> bool:
        """Whether no output depends on another element."""
        return all(mask.sum() == mask[index] for index, mask in self.changed.items())

    @property
    def is_empty(self) -> bool:
        """Whether no output depends on x."""
        return not any(mask.any() for mask in self.changed.values())

    @cached_property
    def ids(self) -> NDArray[np.int64] | None:
        """The number of each element's group; None if the groups are no partition of the elements."""
        if self.axes is not None:
            return number(self.axes)
        if self.is_sampled:
            return None
        ids = np.full(self.shape, -1, dtype=np.int64)
        for index, mask in self.groups:
            if ids[index] < 0:
                if (ids[mask] >= 0).any():
                    return None
                ids[mask] = ids.max() + 1
            elif not np.array_equal(mask, ids == ids[index]):
                return None
        return ids

    @cached_property
    def axes(self) -> tuple[Axis, ...] | None:
        """The groups, axis by axis; None if they are no partition, or none that a pattern describes."""
        axes = tuple(found for axis in range(len(self.shape)) if (found := self._axis(axis)) is not None)
        if len(axes) < len(self.shape):
            return None
        ids = number(axes)
        return axes if all(np.array_equal(ids == ids[index], mask) for index, mask in self.groups) else None

    @cached_property
    def groups(self) -> list[tuple[Index, Mask]]:
        """Each moved input and its group: the outputs that changed and its own, which does not change in a group of one element."""
        groups = []
        for index, changed in self.changed.items():
            mask = changed.copy()
            mask[index] = True
            groups.append((index, mask))
        return groups

    def _axis(self, axis: int) -> Axis | None:
        """The simplest split of an axis that explains which indices changed together."""
        others = tuple(i for i in range(len(self.shape)) if i != axis)
        together: dict[int, Mask] = {}
        for index, mask in self.groups:
            indices: Mask = np.asarray(mask.any(axis=others))
            if not np.array_equal(together.setdefault(index[axis], indices), indices):
                return None
        for candidate in candidates(self.shape[axis]):
            classes = candidate.classes
            if all(np.array_equal(classes == classes[i], indices) for i, indices in together.items()):
                return candidate
        return None

    @property
    def reduced(self) -> tuple[int, ...]:
        """The axes along which an input reaches another output."""
        masks = list(self.changed.values())
        return tuple(
            axis
            for axis in range(len(self.shape))
            if any(mask.any(axis=tuple(i for i in range(mask.ndim) if i != axis)).sum() > 1 for mask in masks)
        )


def measure_reach(
    function: Callable[[Tensor], Tensor],
    shape: Index,
    dtype: torch.dtype,
    most: int = probe.MOST_INPUTS,
    few: int = probe.SMALL_SAMPLE,
) -> Reach:
    """Move one input at a time, up and down, and see which outputs change.

    Above ``most`` elements, only some inputs are moved: the first one, the last one and a sample; of a large x, a sample of ``few``.
    """
    x, distance = probe.generic(shape, dtype), probe.distance(shape, dtype)
    before = function(x)
    allowed = probe.tolerance(dtype, before) * before.abs().clamp(min=1)
    changed: dict[Index, Mask] = {}
    for index in probe.indices(shape, most, few):
        masks = []
        for move in (distance, -distance):
            moved = x.clone()
            moved[index] += move
            after = function(moved)
            masks.append(((after - before).abs() > allowed) | (after.isnan() != before.isnan()))
        changed[index] = (masks[0] | masks[1]).cpu().numpy()
    return Reach(shape, changed)


Ids = NDArray[np.int64]
Run = Callable[[Tensor], Tensor]
PROBES, FEW_PROBES = 5, 3
IN_DOUBLE: Mapping[str, Any] = {"dtype": torch.float64, "device": "cpu"}  # random values are the same on every device
LARGE = 2**16  # elements of an x that is measured with few probes
MOST = 0.6  # a formula must give this share of the outputs; any factor gives the output of one probe by chance
SMALL = 1e-3  # a smaller input does not tell its factor


class Groups:
    """The groups of a partition, from the number of each element's group."""

    def __init__(self, ids: Ids) -> None:
        self.shape = ids.shape
        self.ids = torch.as_tensor(np.array(ids))  # on the default device
        self.axes = from_ids(ids)
        self.counts = torch.bincount(self.ids.flatten())

    @cached_property
    def elements(self) -> int:
        """The number of elements in a group; 0 if the groups differ in size."""
        return int(self.counts[0]) if bool((self.counts == self.counts[0]).all()) else 0

    @cached_property
    def _parts(self) -> tuple[list[int], list[bool]]:
        """The sizes of the parts into which the axes are split, and which of them tell the groups apart."""
        axes = self.axes or ()
        return [part for axis in axes for part in axis.parts], [kept for axis in axes for kept in axis.kept]

    def mean(self, x: Tensor) -> Tensor:
        """The mean of each element's group, of the shape of x. x may have one more axis in front."""
        if self.axes is not None:  # much faster than sums over ids
            parts, kept = self._parts
            whole, over = x.reshape(-1, *parts), [i + 1 for i, one in enumerate(kept) if not one]
            return whole.mean(over, keepdim=True).expand_as(whole).reshape(x.shape) if over else x
        flat = x.reshape(-1, self.ids.numel())
        sums = torch.zeros(len(flat), len(self.counts), dtype=x.dtype).index_add_(1, self.ids.flatten(), flat)
        return (sums / self.counts)[:, self.ids.flatten()].reshape(x.shape)

    def reduced(self, x: Tensor, how: Callable[[Tensor, int], Tensor]) -> Tensor | None:
        """What ``how`` makes of each group along an axis, of the shape of x; None for groups that have no axes."""
        if self.axes is None:
            return None
        parts, kept = self._parts
        order = [0, *(i + 1 for i, one in enumerate(kept) if one), *(i + 1 for i, one in enumerate(kept) if not one)]
        whole = x.reshape(-1, *parts)
        if all(kept):
            return how(whole.unsqueeze(-1), -1).reshape(x.shape)
        found = how(whole.permute(order).flatten(1 + sum(kept)), -1)
        ones = [part if one else 1 for part, one in zip(parts, kept, strict=True)]
        return found.reshape(-1, *ones).expand(-1, *parts).reshape(x.shape)


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
    factor  for each element: gamma, or gamma times a constant if the variance is not the biased one
    offset  for each element: beta
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
    """The formula that gives the most outputs, and the share of them that it gives. Outputs that equal the offset do not count.

    inputs, outputs  of all probes, along the first axis. The factor of an element is the median over the probes, so that a single one does
                     not decide it; it is 1 where all inputs are 0.
    """
    ratios = torch.where(inputs.abs() > SMALL, (outputs - offset) / inputs, torch.nan)
    factor = ratios.nanmedian(0).values.nan_to_num(1.0)
    fits = (inputs * factor + offset - outputs).abs() <= allowed  # NaN fits nothing
    moved = (outputs - offset).abs() > allowed
    share = float(fits[moved].double().mean()) if moved.any() else float(fits.all())
    return Formula(kind, factor, offset, bool(fits.all())), share


# The parameters: changing their values shows which one each output is multiplied with, and which one it gets added.

Measure = Callable[[Values], Formula | None]  # the formula of the function with other values of some tensors
# Numbers from 1 to 2 that can be told apart. If a parameter has more elements, it is only compared along the axes of x.
DISTINCT = 10_000


@dataclass(frozen=True)
class Learned:
    """How the factors or the offsets of a formula follow from a parameter.

    ids       int64, the shape of x: elements with the same number use the same element of the parameter
    constant  factor = constant * parameter. It is 1, or a number that follows from the group's size; 0 if it is not one number
    zero_centered  whether 1 + the parameter is used instead of the parameter; None: something else that follows from it
    """

    ids: Ids
    constant: float = 1.0
    zero_centered: bool | None = False


def measure_learned(
    measure: Measure, tensors: Mapping[int, Tensor], dtype: torch.dtype, known: tuple[Values, Formula] | None = None
) -> tuple[Learned | None, Learned | None]:
    """The parameters in the factors and in the offsets; None if there are none.

    tensors  floating-point tensors that may be parameters
    known    generic values of all of them, and the formula with these
    """
    if not tensors:
        return None, None
    first, second = known[0] if known else generic_values(tensors, seed=1), generic_values(tensors, seed=2)
    one, other = known[1] if known else measure(first), measure(second)
    if one is None or other is None:
        return None, None
    pairs = [(first[position].double(), second[position].double()) for position in tensors]
    gamma = learned_factor((one.factor, other.factor), pairs, dtype)
    return gamma, learned_offset((one.offset, other.offset), pairs, dtype)


def generic_values(tensors: Mapping[int, Tensor], seed: int) -> dict[int, Tensor]:
    """Other values for some tensors, by position: from 1 to 2 and all different."""
    values = {}
    for position, tensor in tensors.items():
        generator = torch.Generator().manual_seed(probe.SEED + 10 * position + seed)
        values[position] = (1 + torch.rand(tensor.shape, generator=generator, **IN_DOUBLE)).to(tensor)
    return values


def learned_factor(
    factors: tuple[Tensor, Tensor],
    pairs: list[tuple[Tensor, Tensor]],
    dtype: torch.dtype,
    added: Sequence[int] = (0, 1),
) -> Learned | None:
    """The factors are a constant times p, or times 1 + p. The constant is not in the quotient of two measurements, which tells p."""
    close = 10 * probe.agreement(dtype)
    quotient = factors[0] / factors[1]
    if torch.allclose(*factors, rtol=close, atol=0):
        return None
    for (first, second), one in product(pairs, added):
        ids = _position(quotient, (one + first) / (one + second), close)
        if ids is not None:
            constants = factors[0] / (one + first.flatten()[ids])
            constant = float(constants.median())
            is_one = bool(((constants - constant).abs() <= 10 * close * abs(constant)).all())
            return Learned(ids.cpu().numpy(), constant if is_one else 0.0, zero_centered=bool(one))
    return Learned(equal_ids(factors[0], dtype), zero_centered=None)


def learned_offset(
    offsets: tuple[Tensor, Tensor], pairs: list[tuple[Tensor, Tensor]], dtype: torch.dtype
) -> Learned | None:
    """The offsets are a constant times p."""
    close = 10 * probe.agreement(dtype)
    return None if torch.allclose(*offsets, rtol=close, atol=close) else learned_factor(offsets, pairs, dtype, (0,))


def _position(values: Tensor, table: Tensor, close: float) -> Tensor | None:
    """For each value, its position in the flat table; None if some value is not in the table."""
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
    return ids.reshape(values.shape).cpu().numpy()


# eps and its place: how much eps shrinks the output for small x.

SMALLEST = {torch.float64: -22, torch.float32: -15}  # powers of ten: squares of smaller x may vanish
SEEN = 0.05  # eps must remove at least this share of the output, and leave at least as much
ELEMENTS = 500  # at most this many outputs are examined
SPREAD = 0.02  # largest relative spread of the estimates: a wrong formula gives another eps for each group


@dataclass(frozen=True)
class Eps:
    """The value of eps and its place: "inside" the root, "outside", "maximum" (of the denominator and eps), or "" for elsewhere."""

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

    constant  by which the denominator of ``kind`` is divided
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
        """The output for x times a power of ten over the output without eps, for some elements, and their denominators."""
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
        if abs(float(left.median()) - 1) > SEEN:
            moderate.append(power)
    if not moderate:
        return Eps(0.0, "inside")
    measured = [rest(power / 2) for power in range(2 * moderate[-1] - 1, 2 * moderate[0] + 2)]
    left, denominator = (torch.cat(parts) for parts in zip(*measured, strict=True))
    seen = (left > SEEN) & ((left - 1).abs() > SEEN) & left.isfinite()
    left, denominator = left[seen], denominator[seen]
    estimates = {
        "inside": (1 / left.square() - 1) * denominator.square(),
        "outside": (1 / left - 1) * denominator,
        "maximum": denominator / left,
    }
    for place, values in estimates.items():
        middle = float(values.median())
        if (middle > 0 or place == "inside") and float((values / middle - 1).abs().quantile(0.9)) < SPREAD:
            return Eps(_rounded(middle), place)
    return Eps(0.0, "")


def _rounded(value: float) -> float:
    """The value with two digits if it is as close to that as it can be measured, else with six."""
    short = float(f"{value:.1e}")
    return short if abs(value / short - 1) < 1e-3 else float(f"{value:.5e}")


# Everything that is measured of a function.

BIASED, UNBIASED, SUM = "m", "m - 1", "1"  # what the sum of squares is divided by; another number as text
LEARNED = ("weight", "bias", "gamma", "beta")  # names of parameters, which are buffers in a frozen layer
OUTLIER, SHIFT = 50.0, 100.0
MOST_PARAMETERS = 2**20


@dataclass(frozen=True)
class Measurement:
    """What a function does to a tensor.

    reach    which outputs change if one input changes
    dtype    in which it was measured
    ids      the number of each element's group; with stored statistics, of its statistics. None if there are no groups, or if they are unknown
    formula  its formula; None if it is no normalization over these groups
    divisor  by what the sum of squares is divided: "m", "m - 1", "1" or another number
    eps      None if it has no influence or cannot be measured
    gamma    the parameter that each output is multiplied with; None if no parameter is
    beta     the parameter that is added to each output; None if no parameter is
    running  whether it uses stored statistics
    agrees   whether the formula gives the outputs for x, and for x with an outlier or a shift
    instead  the shape of x, if x is so large that a smaller tensor was measured instead; else None
    affine   whether each output is a*x + b, and neither number follows from x or from stored statistics
    is_identity  whether each output is x
    """

    reach: Reach
    dtype: torch.dtype
    ids: Ids | None
    formula: Formula | None = None
    divisor: str = BIASED
    eps: Eps | None = None
    gamma: Learned | None = None
    beta: Learned | None = None
    running: bool = False
    agrees: bool = True
    instead: Index | None = None
    affine: bool = False
    is_identity: bool = False

    @property
    def shape(self) -> Index:
        """The shape of the x with which it was measured."""
        return self.reach.shape

    @property
    def is_sampled(self) -> bool:
        """Whether only some elements were moved, of many, or without a formula that gives all outputs."""
        is_explained = self.formula is not None and self.formula.exact
        return self.reach.is_sampled and (prod(self.shape) > probe.MOST_INPUTS or not is_explained)

    @cached_property
    def elements(self) -> int:
        """The number of elements in a group; 0 if the groups are unknown or differ in size."""
        return 0 if self.ids is None else Groups(self.ids).elements

    @cached_property
    def gammas(self) -> Tensor:
        """The gamma of each element, of the shape of x."""
        return self._formula.factor / constant_of(self.divisor, self.elements)

    @cached_property
    def factors(self) -> Ids:
        """A number for each element: elements with the same number have the same factor."""
        return equal_ids(self._formula.factor, self.dtype)

    @cached_property
    def offsets(self) -> Ids:
        """A number for each element: elements with the same number have the same offset."""
        return equal_ids(self._formula.offset, self.dtype)

    @property
    def has_gamma(self) -> bool:
        """Whether some gamma is not 1. With stored statistics it cannot be told: the factor has the statistics too."""
        return not self.running and not bool(torch.isclose(self.gammas, torch.ones_like(self.gammas), rtol=1e-3).all())

    @property
    def has_beta(self) -> bool:
        """Whether there is a beta that is not 0, or that is a parameter."""
        largest_factor, largest = (float(one.abs().max()) for one in (self._formula.factor, self._formula.offset))
        return self.beta is not None or (not self.running and largest > 1e-3 * max(1.0, largest_factor))

    @cached_property
    def param_ids(self) -> Ids | None:
        """The number of each element's gamma and beta, from 0; None if it has neither: gamma is 1 and beta is 0 everywhere."""
        learned = self.gamma or self.beta
        if learned is not None:
            return learned.ids
        if self.running:
            return None
        if self.has_beta:
            pairs = np.stack([self.factors.ravel(), self.offsets.ravel()])
            return np.unique(pairs, axis=1, return_inverse=True)[1].reshape(self.shape)
        return self.factors if self.has_gamma else None

    @property
    def _formula(self) -> Formula:
        assert self.formula is not None, "only a normalization has gamma and beta"
        return self.formula


def measure(
    fn: Callable[..., object],
    x: Tensor,
    kind: str = probe.TENSORS,
    params: Mapping[str, object] | None = None,
    allowed: Callable[[Index], bool] = bool,
    most_inputs: int = probe.MOST_INPUTS,
    whole: bool = False,
) -> Measurement:
    """Measure ``fn`` on tensors of the dtype of x, of its shape or of another one that is allowed. Nothing is changed.

    If x has more elements than ``most_inputs``, only some of them are moved. For a large x, a smaller tensor is measured, unless ``whole``.

    Raises NormvizError if fn cannot be measured: it raises, is random, or returns no tensor like x.
    """
    with isolated(fn, x, kind, params or {}) as function:
        return measure_function(function, x, allowed, most_inputs, whole)


def measure_function(
    function: Function,
    x: Tensor,
    allowed: Callable[[Index], bool] = bool,
    most_inputs: int = probe.MOST_INPUTS,
    whole: bool = False,
) -> Measurement:
    """``measure`` of a function that is isolated already."""
    shape = _shape(function, tuple(x.shape), allowed)
    smaller = shape if whole else smaller_shape(function, shape, allowed)
    if smaller != shape:
        function.choose_dtype(probe.generic(smaller, x.dtype))
        found = _measured(function, smaller, x, most_inputs)
        function.choose_dtype(x)
        if is_alike(function, shape, smaller, found.reach.axes):
            return replace(found, instead=shape)
    return _measured(function, shape, x, most_inputs)


def _measured(function: Function, shape: Index, x: Tensor, most_inputs: int) -> Measurement:
    # Other values of the parameters: a gamma of 0, with which some layers begin, would hide what they compute.
    generic: Values = generic_values(arrays_of(function), seed=3)
    generic = generic if function.takes(shape, generic) else {}
    run = partial(function, values=generic)
    # A sample tells groups that are made of axes: the formula then has to give all outputs. Otherwise all inputs are moved.
    for most in sorted({min(most_inputs, probe.FEW_INPUTS), most_inputs}):
        reach = measure_reach(run, shape, function.dtype, most)
        found = _explained(function, generic, reach, x if shape == x.shape else None)
        if not reach.is_sampled or (found.formula is not None and found.formula.exact):
            break
    return found


def _explained(function: Function, generic: Values, reach: Reach, x: Tensor | None) -> Measurement:
    """What the outputs that changed together tell of the function."""
    if reach.is_elementwise:
        return _elementwise(function, reach)
    if reach.ids is None:
        return Measurement(reach, function.dtype, None)
    return _normalization(function, generic, reach, reach.ids, x)


def _shape(function: Function, shape: Index, allowed: Callable[[Index], bool]) -> Index:
    """The shape, with 2 instead of each 1 if the function takes it: whether an axis of size 1 is averaged cannot be seen."""
    wider = tuple(max(2, size) for size in shape)
    return wider if wider != shape and allowed(wider) and function.takes(wider) else shape


def _normalization(function: Function, generic: Values, reach: Reach, ids: Ids, x: Tensor | None) -> Measurement:
    groups, dtype = Groups(ids), function.dtype

    def formula_with(values: Values) -> Formula | None:
        return measure_formula(partial(function, values=values), dtype, groups)

    formula = formula_with(generic)
    own = formula_with({}) if generic else formula  # without parameters, both are the same
    if formula is None or own is None or formula.kind is None:
        return Measurement(reach, dtype, ids)
    known = (generic, formula) if generic else None
    gamma, beta = measure_learned(formula_with, arrays_of(function), dtype, known)
    divisor = _divisor(gamma, own.factor, groups.elements, dtype)
    constant = constant_of(divisor, groups.elements)
    run = partial(function, values=generic)
    eps = measure_eps(run, formula, formula.kind, groups, constant, dtype)
    agrees = _agreement(run, dtype, formula, groups, constant, eps)
    if eps is not None and not eps.place and not agrees(probe.generic(reach.shape, dtype, seed=7)):
        return Measurement(reach, dtype, ids)  # a function such as tanh resembles a normalization for large x only
    exact = formula.exact and not (eps and not eps.place) and all(map(agrees, _others(reach.shape, dtype, x)))
    formula = replace(own, kind=formula.kind)
    return Measurement(reach, dtype, ids, formula, divisor, eps, gamma, beta, agrees=exact)


def _divisor(gamma: Learned | None, factor: Tensor, elements: int, dtype: torch.dtype) -> str:
    """The divisor of the sum of squares, inferred from the factor without gamma."""
    constant = float(factor.median()) if gamma is None else gamma.constant
    close = probe.agreement(dtype)
    if elements < 2 or (gamma is None and not bool(((factor / constant - 1).abs() < close).all())):
        return BIASED
    for divisor in (UNBIASED, SUM):
        value = constant_of(divisor, elements)
        if isclose(constant, value, rel_tol=min(0.1 * (1 - value), 10 * close)):
            return divisor
    return BIASED


def constant_of(divisor: str, elements: int) -> float:
    """The output with this divisor over the output with m, for groups of so many elements."""
    m = max(elements, 1)
    number = {BIASED: m, UNBIASED: max(m - 1, 1)}.get(divisor) or float(divisor)
    return sqrt(number / m)


def _others(shape: Index, dtype: torch.dtype, x: Tensor | None) -> list[Tensor]:
    """Inputs on which a function may do something else: with a shift, with an outlier, and x."""
    usual = probe.generic(shape, dtype, seed=7)
    outlier = usual.clone()
    outlier.view(-1)[0] = OUTLIER
    return [usual, usual + SHIFT, outlier, *([] if x is None else [x.detach().to(dtype)])]


def _agreement(
    run: Run, dtype: torch.dtype, formula: Formula, groups: Groups, constant: float, eps: Eps | None
) -> Callable[[Tensor], bool]:
    """Whether the formula reproduces the output for an input, wherever the formula is finite."""
    kind = formula.kind
    assert kind is not None

    def agrees(given: Tensor) -> bool:
        numerator, square = kind.terms(given.double(), groups)
        denominator = square.sqrt() / constant
        one = torch.where(denominator == 0, 0.0, numerator / denominator)  # of groups of one element
        normalized = one if eps is None else numerator / eps.applied(denominator)
        expected = normalized * formula.factor / constant + formula.offset
        size = max(1.0, float(expected.abs().nan_to_num().max()))
        known = expected.isfinite()
        return bool(((run(given).double() - expected).abs()[known] <= 10 * probe.agreement(dtype) * size).all())

    return agrees


def parameters_of(function: Function) -> dict[int, Tensor]:
    """The floating-point tensors that may be gamma or beta, by position: all but buffers."""
    stored = stored_of(function)
    return {
        position: value
        for position, value in enumerate(function.values)
        if position not in stored | function.fixed
        and value.is_floating_point()
        and 0 < value.numel() <= MOST_PARAMETERS
    }


def arrays_of(function: Function) -> dict[int, Tensor]:
    """The same without numbers, which are constants for the formula."""
    return {i: value for i, value in parameters_of(function).items() if id(function.tensors[i]) not in function.numbers}


def _elementwise(function: Function, reach: Reach) -> Measurement:
    """A function of each element alone: stored statistics, groups of one element, or no normalization."""
    shape, dtype = reach.shape, function.dtype
    single = np.arange(prod(shape)).reshape(shape)
    affine = measure_affine(function, shape, dtype)
    if reach.is_empty and min(shape) > 1:
        return Measurement(reach, dtype, single)
    if affine is None or bool((affine.factor == 0).all()):
        return _normalization(function, {}, reach, single, None)

    def affine_with(values: Values) -> Formula | None:
        return measure_affine(partial(function, values=values), shape, dtype)

    stored = stored_of(function)
    values = {i: _spread(function.values[i]).to(dtype) for i in stored}
    other, twice = affine_with(values), affine_with({i: 2 * value for i, value in values.items()})
    gamma, beta = measure_learned(affine_with, arrays_of(function), dtype)
    used = function.has_arrays or other is None or twice is None or _has_statistics(other, twice)
    if not used and not _has_fresh_statistics(affine, gamma, beta):
        is_identity = bool((affine.factor == 1).all() and (affine.offset == 0).all())
        return Measurement(reach, dtype, single, affine=True, is_identity=is_identity)
    same = affine_with({i: torch.ones_like(value) for i, value in values.items()}) if stored else None
    changes = affine.factor if same is None or other is None else other.factor / same.factor
    ids = equal_ids(changes, dtype)
    known = None if np.ptp(ids) == 0 else ids
    return Measurement(reach, dtype, known, affine, BIASED, _stored_eps(function), gamma, beta, running=True)


def _spread(tensor: Tensor) -> Tensor:
    """Positive numbers of its shape that are not near each other: equal ones would be taken for one statistic."""
    order = torch.randperm(tensor.numel(), generator=torch.Generator().manual_seed(probe.SEED), device="cpu")
    return (1 + 9 * order.double() / max(1, tensor.numel())).reshape(tensor.shape).to(tensor.device)


def _has_fresh_statistics(formula: Formula, gamma: Learned | None, beta: Learned | None) -> bool:
    """Whether it is x / sqrt(1 + eps), as with a stored mean of 0 and variance of 1, which the function may make in each call."""
    factor = formula.factor if gamma is None else torch.tensor(gamma.constant)
    is_just_below_one = bool(((factor > 0.99) & (factor < 1 - 3e-7)).all())
    return is_just_below_one and (beta is not None or bool((formula.offset == 0).all()))


def _has_statistics(one: Formula, twice: Formula) -> bool:
    """Whether stored numbers are used as statistics, from the formulas with some positive values and with twice these values.

    Of statistics, some are divided by, or subtracted. Others, such as a mask, are constants.
    """
    is_divided_by = twice.factor.abs() < one.factor.abs()
    is_subtracted = (twice.offset - one.offset) * one.factor < 0
    return bool((is_divided_by | is_subtracted).any())


def stored_of(function: Function) -> set[int]:
    """The positions of floating-point tensors that are no parameters: constants of the function, buffers except gamma and beta, and what has
    the name of a running statistic.
    """
    named = {position for position, name in function.names.items() if name in probe.STATISTICS}
    buffers = {
        id(buffer)
        for module in function.modules
        for name, buffer in module.named_buffers(recurse=False)
        if name not in LEARNED
    }
    return {
        position
        for position, tensor in enumerate(function.tensors)
        if (id(tensor) in buffers | function.constants or position in named)
        and function.values[position].is_floating_point()
    }


def _stored_eps(function: Function) -> Eps | None:
    """The attribute ``eps``, or ``epsilon`` as in Keras, of the module that has the running variance."""
    for module in function.modules:
        eps = getattr(module, "eps", getattr(module, "epsilon", None))
        if isinstance(eps, float) and (hasattr(module, "moving_variance") or list(module.buffers(recurse=False))):
            return Eps(eps, "inside")
    return None
