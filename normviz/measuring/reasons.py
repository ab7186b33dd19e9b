"""Why an output is wrong: the smallest list of changes of the layer that gives the function's output.

``reasons`` calls the function with several x, and with two values of its parameters: the ``Evidence``. A variant of the layer without gamma and
beta explains it if, element by element, the same factor and offset make its values the function's outputs for every x: those of some x determine the
two, and the others confirm them. Then factor and offset are compared with gamma and beta. Variants with one change are tried first, then with two,
and more; so no change is told that the outputs do not need. Where nothing gives the outputs, there is no reason. Some elements of the outputs
refute most of the thousands of variants, many at once; variants that differ in divisor, root and eps share the rest.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations, compress, product
from math import copysign, inf, isclose, isfinite

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from normviz.analysis.forward import broadcast, dtype_name, factor
from normviz.layers.norm import Norm
from normviz.measuring import probe
from normviz.measuring.formula import (
    BIASED,
    SUM,
    UNBIASED,
    Axis,
    Groups,
    Ids,
    Learned,
    Measurement,
    arrays_of,
    equal_ids,
    from_ids,
    generic_values,
    learned_factor,
    learned_offset,
    number,
    parameters_of,
    refines,
    same_partition,
)
from normviz.measuring.report import (
    CLOSE,
    Difference,
    axes_of,
    constant_factor,
    constant_offset,
    constant_value,
    divisor_difference,
    eps_difference,
    from_x_instead,
    groups_difference,
    multiple,
    other_factor,
    other_pattern,
    place_difference,
    replaced,
    rounds,
    spread_difference,
    unexpected,
)
from normviz.measuring.verdict import (
    Error,
    GammaBeta,
    LayerComparison,
    Role,
    other_statistics,
    reference_of,
    signed_values,
    some_roles,
)
from normviz.texts.messages import N_, _, join_sentences, ngettext

# A variant of a layer: the layer with something otherwise, as a value that can be run. x has one axis more than the function's, in front.


@dataclass(frozen=True, eq=False)
class Variant:
    """A layer's ``(x - center) / D``.

    over     the groups of the mean
    around   the groups of the mean of squares
    center   what is subtracted: a name in ``CENTERS``, or how many times the mean is
    spread   what is averaged for D: a name in ``SPREADS``
    divisor  of the sum of squares
    root     how D follows from the mean of squares: a name in ``ROOTS``
    eps      its value
    dropped  which statistics have lost their axes of size 1: "mean", "variance", "both" or ""
    padding  how many zeros take part in the sum of squares beside the elements of a group
    tail     how many elements at the end of each group are left out of the statistics; at its start, if negative
    left_out_of  which statistics leave them out: "mean", "variance" or "both"
    whole    which sums without the tail are divided by the size of the whole group, likewise; or ""
    rounds   the step that is rounded to a dtype of 16 bits, one of ``STEPS``, and the dtype
    stored   the stored mean and variance, instead of those of x
    of_x     which of these are those of x nevertheless: "mean" or "variance"; or ""
    """

    over: Groups
    around: Groups
    center: str | float
    spread: str
    divisor: str = BIASED
    root: str = "inside"
    eps: float = 0.0
    dropped: str = ""
    padding: int = 0
    tail: int = 0
    left_out_of: str = "both"
    whole: str = ""
    rounds: tuple[str, torch.dtype] | None = None
    stored: tuple[Tensor, Tensor] | None = field(default=None, repr=False)
    of_x: str = ""

    @classmethod
    def of(cls, norm: Norm, groups: Groups) -> "Variant":
        """The layer itself."""
        return cls(groups, groups, *(("mean", "centered") if norm.center else ("none", "x")), eps=norm.eps or 0.0)

    def changed(self, changes: Iterable["Change"]) -> "Variant":
        """The variant with these changes. There are thousands: ``dataclasses.replace`` takes ten times as long."""
        changed = object.__new__(Variant)
        vars(changed).update(vars(self))
        for one in changes:
            vars(changed).update(one.fields)
        return changed

    def normalized(self, x: Tensor) -> Tensor | None:
        """The output before gamma and beta, of the shape of x; None where it is not defined."""
        if self.stored is not None and not self.of_x:
            mean, variance = self.stored
            return (x if self.center == "none" else x - mean) / ROOTS[self.root](variance, self.eps)
        return self.at(lambda value: value, x, {})

    def parts(self, x: Tensor) -> "Parts | None":
        """What does not depend on divisor, root and eps. ``x`` is rounded already."""
        if self.tail and (self.over.axes is None or self.around.axes is None):
            return None  # only along axes is there a last element
        mean = self._rounded("mean", self._mean(self.over, x, "mean"))
        center = self._center(x, mean)
        if center is None:
            return None
        is_same = self.over is self.around and self.left_out_of != "mean"
        used = mean if is_same else self._mean(self.around, x, "mean of the variance")
        squares = SPREADS[self.spread](x, {"mean": used, "center": center, "first": mean})
        if self.rounds is not None and self.rounds[0] == "deviations":
            squares = (x.to(self.rounds[1]) - used.to(self.rounds[1])).double().square()
        second = self._without_axes(self._mean(self.around, squares, "variance"))
        zeros = self._without_axes(self.padding * used.square() / self.around.elements) if self.padding else None
        return None if second is None else Parts(x - center, second, zeros)

    def _without_axes(self, statistic: Tensor) -> Tensor | None:
        return _dropped(statistic, self.around) if self.dropped in ("variance", "both") else statistic

    @property
    def divides_by_a_constant(self) -> bool:
        """Whether the sum below the root is 0 for every x, so that only eps is left of the denominator."""
        return self.spread == "sum of deviations" and self.center == "mean" and self.over is self.around

    def key(self) -> tuple[object, ...]:
        """Variants with the same key have the same ``parts``."""
        groups = self.over, self.around, self.dropped, self.tail, self.left_out_of, self.whole
        rounds = self.rounds if self.rounds is not None and self.rounds[0] in STEPS[:3] else None
        return (*groups, self.center, self.spread, self.padding, rounds)

    def at(self, columns: Callable[[Tensor], Tensor], x: Tensor, known: "Known") -> Tensor | None:
        """Some columns of ``normalized``, from the parts that are ``known``, or are from now on."""
        x, key = self._rounded("x", x), self.key()
        if key not in known:
            whole = self.parts(x)
            known[key] = None if whole is None else whole.at(columns)
        parts, scale = known[key], self._scale(x)
        second = None if parts is None else self._second(parts)
        if parts is None or second is None:
            return None
        deviation = parts.deviation
        if self.stored is not None and self.of_x == "mean":
            second = columns(self.stored[1].expand_as(x))
        elif self.stored is not None:
            deviation = columns(x - self.stored[0])
        scale = scale if isinstance(scale, float) else columns(scale.expand_as(x))
        root = self._rounded("root", ROOTS[self.root](self._rounded("variance", second), self.eps * scale))
        if self.rounds is not None and self.rounds[0] == "reciprocal":
            return deviation * self._rounded("reciprocal", 1 / root)
        return self._rounded("normalized", deviation / root)

    def _scale(self, x: Tensor) -> Tensor | float:
        """By what eps is multiplied."""
        if self.root == "scaled":
            largest = self.around.reduced(x.abs(), torch.amax)
            return 1.0 if largest is None else largest.square()
        return _largest(x).square() if self.root == "scaled by all" else 1.0

    def _center(self, x: Tensor, mean: Tensor) -> Tensor | None:
        """What is subtracted; None if it is not defined."""
        if not isinstance(self.center, str):
            return self.center * mean
        center = CENTERS[self.center](x, mean, self.over)
        return _dropped(center, self.over) if self.dropped in ("mean", "both") else center

    def _second(self, parts: "Parts") -> Tensor | None:
        """The sum of squares over its divisor, from the mean of squares; None if it is not defined."""
        m = self.around.elements
        number = {BIASED: float(m), UNBIASED: m - 1.0, SUM: 1.0}.get(self.divisor)
        number = float(self.divisor) if number is None else number
        if self.divisor != BIASED and not (m and number):
            return None
        second = parts.squares if self.divisor == BIASED else parts.squares * m / number
        return second if parts.zeros is None else second + parts.zeros

    def _mean(self, groups: Groups, x: Tensor, statistic: str) -> Tensor:
        if not self.tail or self.left_out_of not in ("both", statistic):
            return groups.mean(x)
        left = groups.elements - abs(self.tail)
        kept = slice(0, left) if self.tail > 0 else slice(-self.tail, None)
        mean = groups.reduced(x, lambda rows, axis: rows[..., kept].mean(axis))
        assert mean is not None, "of groups with axes"
        return mean * (left / groups.elements) if self.whole in ("both", statistic) else mean

    def _rounded(self, step: str, value: Tensor) -> Tensor:
        return value.to(self.rounds[1]).double() if self.rounds is not None and self.rounds[0] == step else value


@dataclass(frozen=True, eq=False)
class Parts:
    """x - center, the mean of squares, and what zeros of padding add to the variance."""

    deviation: Tensor
    squares: Tensor
    zeros: Tensor | None

    def at(self, columns: Callable[[Tensor], Tensor]) -> "Parts":
        """Some columns of them."""
        zeros = None if self.zeros is None else columns(self.zeros.expand_as(self.deviation))
        return Parts(columns(self.deviation), columns(self.squares.expand_as(self.deviation)), zeros)


Known = dict[tuple[object, ...], Parts | None]  # parts by the keys of their variants
STEPS = ("x", "mean", "deviations", "variance", "root", "reciprocal", "normalized")
Center = Callable[[Tensor, Tensor, Groups], Tensor | None]
# What is subtracted, from x, its mean and the groups.
CENTERS: dict[str, Center] = {
    "mean": lambda x, mean, groups: mean,
    "none": lambda x, mean, groups: torch.zeros_like(x),
    "-mean": lambda x, mean, groups: -mean,
    "2*mean": lambda x, mean, groups: 2 * mean,
    "mean/2": lambda x, mean, groups: mean / 2,
    "sum": lambda x, mean, groups: mean * groups.elements,
    "abs": lambda x, mean, groups: groups.mean(x.abs()),
    "variance": lambda x, mean, groups: groups.mean((x - mean).square()),
    "variance, m - 1": lambda x, mean, groups: groups.mean((x - mean).square()) * groups.elements / max(groups.elements - 1, 1),
    "deviation": lambda x, mean, groups: groups.mean((x - mean).square()).sqrt(),
    "root": lambda x, mean, groups: groups.mean(x.square()).sqrt(),
    "median": lambda x, mean, groups: groups.reduced(x, lambda rows, axis: rows.median(axis).values),
    "maximum": lambda x, mean, groups: groups.reduced(x, torch.amax),
    "minimum": lambda x, mean, groups: groups.reduced(x, torch.amin),
    "first": lambda x, mean, groups: groups.reduced(x, lambda rows, axis: rows[..., 0]),
}  # fmt: skip
OTHER_CENTERS = {
    "-mean": N_("It adds the mean instead of subtracting it."),
    "2*mean": N_("It subtracts twice the mean."),
    "mean/2": N_("It subtracts half the mean."),
    "sum": N_("It subtracts the sum, not the mean."),
    "abs": N_("It subtracts the mean of the absolute values, not the mean."),
    "variance": N_("It subtracts the variance, not the mean."),
    "variance, m - 1": N_("It subtracts the variance, not the mean."),
    "deviation": N_("It subtracts the standard deviation, not the mean."),
    "root": N_("It subtracts the root of the mean of x^2, not the mean."),
    "median": N_("It subtracts the median, not the mean."),
    "maximum": N_("It subtracts the maximum, not the mean."),
    "minimum": N_("It subtracts the minimum, not the mean."),
    "first": N_("It subtracts the first element of each group, not the mean."),
}
# What is averaged. "mean" is the mean of the groups of the variance, "first" that of the numerator, "center" what is subtracted.
SPREADS: dict[str, Callable[[Tensor, Mapping[str, Tensor]], Tensor]] = {
    "centered": lambda x, of: (x - of["mean"]).square(),
    "x": lambda x, of: x.square(),
    "around center": lambda x, of: (x - of["center"]).square(),
    "around first": lambda x, of: (x - of["first"]).square(),
    "|centered|": lambda x, of: (x - of["mean"]).abs(),
    "|x|": lambda x, of: x.abs(),
    "sum of deviations": lambda x, of: x - of["center"],
    "values": lambda x, of: x,
}
Root = Callable[[Tensor, float | Tensor], Tensor]
ROOTS: dict[str, Root] = {
    "inside": lambda second, eps: (second + eps).sqrt(),
    "outside": lambda second, eps: second.sqrt() + eps,
    "maximum": lambda second, eps: second.sqrt().clamp(min=eps),
    "maximum inside": lambda second, eps: second.clamp(min=eps).sqrt(),
    "scaled": lambda second, eps: (second + eps).sqrt(),
    "scaled by all": lambda second, eps: (second + eps).sqrt(),
    "relative": lambda second, eps: (second * (1 + eps)).sqrt(),
    "twice": lambda second, eps: (second * (1 + eps) + eps * eps).sqrt(),
    "none": lambda second, eps: second + eps,
    "product": lambda second, eps: (second + eps).rsqrt(),
    "product of squares": lambda second, eps: 1 / (second + eps),
    "nothing": lambda second, eps: torch.ones_like(second),
}


def _dropped(statistic: Tensor | None, groups: Groups) -> Tensor | None:
    """A statistic without its axes of size 1, aligned with the last axes of x; None if the sizes do not allow it."""
    if statistic is None or groups.axes is None or any(len(axis.parts) > 1 for axis in groups.axes):
        return None
    kept = [size for axis, size in zip(groups.axes, groups.shape, strict=True) if not axis.is_reduced]
    first = [slice(0, 1) if axis.is_reduced else slice(None) for axis in groups.axes]
    flat = statistic[(slice(None), *first)].reshape(len(statistic), *(1,) * (len(groups.shape) - len(kept)), *kept)
    try:
        return flat.expand(len(statistic), *groups.shape)
    except RuntimeError:
        return None


@dataclass(frozen=True, eq=False)
class Change:
    """One part of a layer that is otherwise.

    part        which one: two changes of one part exclude each other
    fields      of the Variant
    difference  that tells it
    """

    part: str
    fields: Mapping[str, object]
    difference: Difference


def changes(norm: Norm, groups: Groups, axes: tuple[str, ...], eps: Iterable[tuple[float, float]]) -> Iterator[Change]:
    """Every usual mistake in the normalization itself, the commonest first.

    groups  of the layer
    axes    their names
    eps     values that may be its eps, and how they are told
    """
    yield from _centers(norm)
    yield from _spreads(norm)
    yield from _divisors(groups)
    wanted = norm.eps or 0.0
    yield from (Change("eps", {"eps": one}, eps_difference(told, wanted)) for one, told in eps)
    yield from _roots(norm)
    yield from _keepdim(groups)
    yield from _counted(norm, groups)
    yield from _other_axes(norm, groups, axes)


def _centers(norm: Norm) -> Iterator[Change]:
    words = (_("no mean is subtracted"), _("the mean is subtracted"))
    if not norm.center:
        difference = Difference("center", words[1], words[0], _("It subtracts the mean, and it should not."))
        yield from (Change("center", {"center": "mean", "spread": spread}, difference) for spread in ("centered", "x"))
        return
    none = Difference("center", words[0], words[1], _("It does not subtract the mean."))
    told = {name: Difference("center", _("another number"), words[1], _(text)) for name, text in OTHER_CENTERS.items()}
    for (name, difference), spread in product({"none": none, **told}.items(), ("centered", "around center")):
        yield Change("center", {"center": name, "spread": spread}, difference)


def _spreads(norm: Norm) -> Iterator[Change]:
    yield Change("spread", {"spread": "x" if norm.center else "centered"}, spread_difference(not norm.center))
    if norm.center:
        forgotten = _("It averages the deviations, not their squares: the square is forgotten.")
        own = _("deviations that are not squared")
    else:
        wanted = _("the root of the mean of x^2")
        text = _("It divides by the sum of |x|, not by the root of the mean of x^2: the square is forgotten.")
        difference = Difference("variance", _("the sum of |x|"), wanted, text)
        yield Change("spread", {"spread": "|x|", "root": "none", "divisor": SUM}, difference)
        text = _("It divides by the mean of |x|, not by the root of the mean of x^2: the square is forgotten.")
        difference = Difference("variance", _("the mean of |x|"), wanted, text)
        yield Change("spread", {"spread": "|x|", "root": "none"}, difference)
        forgotten = _("It averages the values, not their squares: the square is forgotten.")
        own = _("values that are not squared")
    difference = Difference("variance", own, _("the mean of squares"), forgotten)
    for spread, root in product(("|centered|", "|x|", "sum of deviations", "values"), ("inside", "none")):
        yield Change("spread", {"spread": spread, "root": root}, difference)


def _divisors(groups: Groups) -> Iterator[Change]:
    m = groups.elements
    others = [UNBIASED] if m > 1 else []
    others += [SUM] if m > 2 else []
    others += [str(number) for number in (m - 2, m + 1) if number > 1 and number != m]
    yield from (Change("divisor", {"divisor": one}, divisor_difference(one, m)) for one in others)


def _roots(norm: Norm) -> Iterator[Change]:
    relative = ["relative"] if (norm.eps or 0.0) > 1e-4 else []  # else it is as if there were none
    for root in ("outside", "maximum", "maximum inside", "scaled", "scaled by all", *relative):
        yield Change("root", {"root": root}, place_difference(root.split()[0], norm.center))
    yield Change("root", {"root": "none"}, no_root(norm.center))
    twice = _("It normalizes twice: its output is that of the normalized x, normalized again.")
    words = _("two normalizations"), _("one normalization")
    yield Change("root", {"root": "twice"}, Difference("variance", *words, twice))
    for eps in (1e-3, 1e-5, 1e-6, 1e-8):  # else it is as if one normalization had the square of it
        if eps != norm.eps:
            told = _("It normalizes twice, with an eps of {eps:g}, not {wanted:g}.", eps=eps, wanted=norm.eps or 0.0)
            yield Change("root", {"root": "twice", "eps": eps}, Difference("variance", *words, told))
    text = (
        _("It multiplies by the standard deviation instead of dividing by it.")
        if norm.center
        else _("It multiplies by the root of the mean of x^2 instead of dividing by it.")
    )
    yield Change("root", {"root": "product"}, Difference("variance", _("a product"), _("a quotient"), text))
    if norm.center:
        text = _("It subtracts the mean, and does not divide by the standard deviation.")
        none = Difference("variance", _("no division"), _("the standard deviation"), text)
        yield Change("root", {"root": "nothing"}, none)
        text = _("It multiplies by the variance instead of dividing by its root.")
        difference = Difference("variance", _("a product"), _("a quotient"), text)
        yield Change("root", {"root": "product of squares"}, difference)


def no_root(center: bool) -> Difference:
    """The root is forgotten."""
    if center:
        words = _("the variance"), _("the root of the variance")
        return Difference("variance", *words, _("It divides by the variance, not by its root: the root is forgotten."))
    words = _("the mean of x^2"), _("the root of the mean of x^2")
    return Difference("variance", *words, _("It divides by the mean of x^2, not by its root: the root is forgotten."))


def _keepdim(groups: Groups) -> Iterator[Change]:
    if groups.axes is None or not any(axis.is_reduced for axis in groups.axes):
        return
    sentence = _(
        "Its statistics have no axis of size 1 where they average, so they are combined with the wrong elements of x: "
        "keepdim=True is forgotten (keepdims=True in NumPy)."
    )
    difference = Difference("statistics", _("statistics without keepdim"), _("statistics of each group"), sentence)
    for dropped in ("both", "mean", "variance"):
        yield Change("groups", {"dropped": dropped}, difference)
        if dropped != "variance":
            yield Change("groups", {"dropped": dropped, "spread": "around center"}, difference)


MOST_LEFT_OUT, FEW_LEFT_OUT = 8, 3


def _counted(norm: Norm, groups: Groups) -> Iterator[Change]:
    """Zeros of padding in the sum of squares; elements at the end that are left out of the statistics."""
    m = groups.elements
    if groups.axes is None or m < 2:
        return
    if norm.center:
        for k in sorted({*range(1, MOST_LEFT_OUT), *(block - m for block in _blocks(m))}):
            yield Change("counted", {"padding": k}, padding_difference(k))
    last = m - 2 ** (m.bit_length() - 1)
    few = sorted({*range(1, min(FEW_LEFT_OUT + 1, m - 1)), *([last] if last else [])})
    for k in sorted({*range(1, min(MOST_LEFT_OUT, m - 1)), *few}):
        for whole in ("", "both"):
            yield Change("counted", {"tail": k, "whole": whole}, tail_difference(k))
    for k in few:
        yield Change("counted", {"tail": k, "whole": "variance"}, tail_difference(k))
        for whole in ("", "both"):
            yield Change("counted", {"tail": -k, "whole": whole}, tail_difference(-k))
        for statistic in ("variance", "mean") if norm.center else ():
            for whole in ("", statistic):
                for spread in ("centered", "around first") if statistic == "mean" else ("centered",):
                    fields = {"tail": k, "left_out_of": statistic, "whole": whole, "spread": spread}
                    yield Change("counted", fields, tail_difference(k, statistic))


def _blocks(m: int) -> Iterator[int]:
    """Powers of two, and multiples of usual blocks, above m."""
    for block in (1 << (m - 1).bit_length(), *(-(-m // size) * size for size in (16, 32, 64, 128, 256, 512, 1024))):
        if m < block <= 16 * m:
            yield block


def padding_difference(k: int) -> Difference:
    """Zeros that enter the variance."""
    words = ngettext("the variance with {n} zero of padding", "the variance with {n} zeros of padding", k)
    sentence = ngettext(
        "Its variance counts {n} zero of padding in each group, with the square of the mean: leave it out of the sum of squares.",
        "Its variance counts {n} zeros of padding in each group, each with the square of the mean: leave them out of the sum of squares.",
        k,
    )
    return Difference("variance", words, _("the variance"), sentence)


def tail_difference(k: int, statistic: str = "both") -> Difference:
    """Elements at the end of a group, or at its start if k is negative, that the statistics leave out."""
    if k < 0:
        words = ngettext("all but the first element of a group", "all but the first {n} elements of a group", -k)
        sentence = ngettext(
            "Its statistics leave out the first element of each group.",
            "Its statistics leave out the first {n} elements of each group.",
            -k,
        )
        return Difference("statistics", words, _("all elements of a group"), sentence)
    words = ngettext("all but the last element of a group", "all but the last {n} elements of a group", k)
    if statistic == "mean":
        sentence = ngettext(
            "Its mean leaves out the last element of each group.",
            "Its mean leaves out the last {n} elements of each group.",
            k,
        )
    elif statistic == "variance":
        sentence = ngettext(
            "Its variance leaves out the last element of each group.",
            "Its variance leaves out the last {n} elements of each group.",
            k,
        )
    else:
        sentence = ngettext(
            "Its statistics leave out the last element of each group.",
            "Its statistics leave out the last {n} elements of each group.",
            k,
        )
    return Difference("statistics", words, _("all elements of a group"), sentence)


MOST_SUBSETS = 40


def _other_axes(norm: Norm, groups: Groups, axes: tuple[str, ...]) -> Iterator[Change]:
    """One of the two statistics over other axes, or both."""
    wanted = axes_of(groups.axes, axes)
    for other in list(_with_other_axes(groups))[:MOST_SUBSETS]:
        own = axes_of(other.axes, axes)
        if norm.center:
            text = _("Its mean is over {own}, not over {wanted}.", own=own, wanted=wanted)
            difference = Difference("statistics", own, wanted, text)
            for spread in ("centered", "around first"):
                yield Change("groups", {"over": other, "spread": spread}, difference)
        text = (
            _("Its variance is over {own}, not over {wanted}.", own=own, wanted=wanted)
            if norm.center
            else _("Its mean of x^2 is over {own}, not over {wanted}.", own=own, wanted=wanted)
        )
        difference = Difference("statistics", own, wanted, text)
        for spread in ("centered", "around first") if norm.center else ("x",):
            yield Change("groups", {"around": other, "spread": spread}, difference)


def _with_other_axes(groups: Groups) -> Iterator[Groups]:
    """Groups over every other choice of whole axes."""
    long = [axis for axis, size in enumerate(groups.shape) if size > 1]
    own = None
    if groups.axes is not None and all(len(axis.parts) == 1 for axis in groups.axes):
        own = {axis for axis in long if groups.axes[axis].is_reduced}
    for count in range(1, len(long) + 1):
        for reduced in combinations(long, count):
            if set(reduced) != own:
                parts = [Axis((size,), (axis not in reduced,)) for axis, size in enumerate(groups.shape)]
                yield Groups(np.ascontiguousarray(number(parts)))


__tracebackhide__ = True  # pytest shows the frame of the caller

HELD_OUT = 2  # x that only confirm
FEW = 64  # elements, which refute most variants of a large x
MOST_CHANGES = 4
COARSE = 1e-3  # relative: in 16 bits
ROUNDING = 1e-12  # relative: in float64
MOST_ELEMENTS = 2**11  # of an x for which many changes together are tried
MOST_VARIANTS = 20_000  # that are tried with the same number of changes; the tests reach 7,315
AT_ONCE = 64  # variants that are compared together with the outputs
USUAL_EPS = (0.0, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 5e-5, 1e-4, 1e-3, 1e-2, 0.1)


@dataclass(frozen=True, eq=False)
class Draw:
    """The outputs for all x with some values of the function's tensors, and these values in float64."""

    outputs: Tensor
    tensors: Mapping[int, Tensor]
    stored: tuple[Tensor, Tensor] | None = None

    @cached_property
    def target(self) -> "Target":
        return Target.of(self.outputs)

    @cached_property
    def target_of_each(self) -> "Target":
        return Target.of(self.outputs, each=True)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a function does: its outputs for several x, of which the last ones only confirm, with two values of its parameters.

    close  the relative error that may be rounding
    after  a function that was applied to the outputs, which are here as they were before it, and what they are after it
    known  parts of variants for some elements of x
    """

    x: Tensor
    draws: tuple[Draw, ...]
    close: float
    after: tuple[Callable[[Tensor], Tensor], tuple[Tensor, ...]] | None = None
    known: Known = field(default_factory=dict)


def evidence_of(compared: LayerComparison, eps: Iterable[float]) -> Evidence | None:
    """Call the function. None if its outputs are not finite. ``eps``: at which x is so small that this eps counts."""
    function, norm, shape = compared.function, compared.reference.norm, compared.expected.shape
    dtype = function.dtype
    plain = [probe.generic(shape, torch.float64, seed) for seed in (31, 32, 33, 34, 35)]
    given = compared.x.double() if tuple(compared.x.shape) == shape else compared.alike(shape, 36)
    smallest = 1e-14 if dtype.itemsize >= 4 else 1e-9  # squares of smaller ones may vanish
    scales = {scale for one in eps for scale in (3 * one**0.5, 0.3 * one**0.5, one, 0.1 * one) if smallest < scale < 1}
    small = [scale * (plain[3] - 0.5) for scale in sorted(scales) if not norm.running]
    far = [] if compared.is_far else [given.nan_to_num()]
    inputs = torch.stack([plain[0], -plain[0], 3 * plain[1] + 1, *small, *far, plain[2], 0.5 * plain[4]]).to(dtype)
    learned, frozen = parameters_of(function), compared
    if not norm.running and {*function.names.values()} >= {*probe.STATISTICS}:
        expected = replace(compared.expected, norm=replace(norm, running=True))
        frozen = LayerComparison(function, expected, reference_of(function, expected), compared.x)
    for make in (signed_values, generic_values):  # not every use of gamma allows negative values: its root does not
        draws = []
        for seed in (6, 7):
            values = make(learned, seed) | _statistics(frozen, seed)
            if not function.takes(shape, values):
                values = {}
            outputs = torch.stack([function(x, values).double() for x in inputs])
            stored = None if frozen.reference.stats is None else _stored(frozen, values)
            draws.append(Draw(outputs, probe.floats(function.with_values(values)), stored))
            if not values:
                draws += [] if learned else draws  # without parameters, a second draw is the same
                break
        if all(bool(one.outputs[0].isfinite().all()) for one in draws):
            break
    if not all(float(one.outputs.isfinite().double().mean()) > 0.6 for one in draws):
        return None
    return Evidence(inputs.double(), tuple(draws), _rounding(dtype, draws[0].outputs))


def _statistics(compared: LayerComparison, seed: int) -> dict[int, Tensor]:
    """Other stored statistics: the variance from 1e-11 to 1, so that eps counts."""
    found = other_statistics(compared.function, compared.reference, seed)
    if found and compared.reference.stats is not None:
        position = compared.reference.stats[1]
        value = found[position]
        spread = torch.linspace(10.6, 0, value.numel() + 1, dtype=torch.float64).roll(seed)[: value.numel()]
        found[position] = (10.0**-spread).reshape(value.shape).to(value.dtype)
    return found


def _stored(compared: LayerComparison, values: Mapping[int, Tensor]) -> tuple[Tensor, Tensor]:
    mean, root = compared.stored(values)
    return mean, root.square() - (compared.reference.norm.eps or 0.0)


def _rounding(dtype: torch.dtype, outputs: Tensor) -> float:
    if dtype == torch.float64:
        in_single = torch.equal(outputs.nan_to_num(), outputs.float().double().nan_to_num())
        return 3e-5 if in_single else 4e-6
    return 5e-5 if dtype == torch.float32 else 3e-2


Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fit:
    """By what the values of a variant are multiplied, and what is added, of each element; NaN where a factor has no influence.

    error  the largest one that is left, relative to the outputs
    """

    factor: Tensor
    offset: Tensor
    error: float = 0.0


def fit(values: Tensor | None, target: "Target", close: float) -> Fit | None:
    """The factor and the offset that make the values the outputs; None if there are none."""
    if values is None:
        return None
    with np.errstate(all="ignore"):
        found = _fit(values.detach().cpu().numpy(), target, close)
    home = values.device
    return found and replace(found, factor=found.factor.to(home), offset=found.offset.to(home))


def _fit(values: Array, target: "Target", close: float) -> Fit | None:
    if not (np.isfinite(values) | target.unknown).all():
        return None
    if target.few is not None and _fit(_every(target.step, values), target.few, close) is None:
        return None
    moves, slope, offset, error = _line(values, target)
    largest = float(error.max())
    if not largest <= close:
        return None
    factor, added = np.where(moves, slope, np.nan), np.where(target.enough, offset, np.nan)
    return Fit(torch.from_numpy(factor), torch.from_numpy(added), largest)


def _line(values: Array, target: "Target") -> tuple[NDArray[np.bool_], Array, Array, Array]:
    """Whether an element has several values, its factor and offset, and the relative errors."""
    values = np.where(target.unknown, 0.0, values)
    middle = (target.share * values[:-HELD_OUT]).sum(0)
    distance = values[:-HELD_OUT] - middle
    square = (target.share * distance * distance).sum(0)
    moves = square > 1e-20 * (1e-30 + middle * middle)
    slope = np.where(moves, (target.pull * distance).sum(0) / np.maximum(square, 1e-300), 0.0)
    offset = target.average - slope * middle
    error = np.where(target.unknown, 0.0, np.abs(slope * values + offset - target.outputs))
    return moves, slope, offset, error / target.size


def _every(step: int, values: Array) -> Array:
    """Every ``step``-th element of each x."""
    return values.reshape(len(values), -1)[:, ::step]


@dataclass(frozen=True, eq=False)
class Target:
    """Outputs for several x, with all that a fit needs of them, as arrays: there are thousands of variants, and small tensors are slower.

    outputs  0 where they are unknown
    enough   where an element has at least two outputs: a line through one point says nothing
    size     of the outputs; errors are relative to this size
    share    the weight of each x in the mean of an element
    average  the mean of an element
    pull     the distance from the mean, times the weight
    few      the target for every ``step``-th element of a large x, which refutes most variants
    """

    outputs: Array
    unknown: NDArray[np.bool_]
    enough: NDArray[np.bool_]
    size: Array
    share: Array
    average: Array
    pull: Array
    step: int
    few: "Target | None"

    @classmethod
    def of(cls, outputs: Tensor, each: bool = False) -> "Target":
        """``each``: errors are relative to each element, not to the largest one for an x."""
        size = outputs.nan_to_num(0, 0, 0).abs().amax(0, keepdim=True).clamp(min=1e-12) if each else _sizes(outputs)
        return cls._of(outputs.cpu().numpy(), size.cpu().numpy())

    @cached_property
    def of_many(self) -> "Target":
        """The target of several variants at once; x is their first axis, and the variants are the second one."""
        names = ("outputs", "unknown", "size", "share", "pull")
        return replace(self, average=self.average[None], **{name: getattr(self, name)[:, None] for name in names})

    @classmethod
    def _of(cls, outputs: Array, size: Array) -> "Target":
        known = np.isfinite(outputs)
        enough = known[:-HELD_OUT].sum(0) > 1
        known = known & enough
        outputs = np.where(known, outputs, 0.0)
        weight = np.where(known, size**-2, 0.0)[:-HELD_OUT]
        share = weight / np.maximum(weight.sum(0), 1e-30)
        average = (share * outputs[:-HELD_OUT]).sum(0)
        pull = share * (outputs[:-HELD_OUT] - average)
        step = outputs[0].size // FEW
        few = cls._of(_every(step, outputs), _every(step, size)) if step > 1 else None
        return cls(outputs, ~known, enough, size, share, average, pull, step, few)


def _sizes(outputs: Tensor) -> Tensor:
    """The largest output for each x."""
    return _largest(outputs.nan_to_num(0, 0, 0)).clamp(min=1e-12)


def _largest(values: Tensor) -> Tensor:
    """The largest absolute value for each x."""
    return values.abs().flatten(1).amax(1).reshape(-1, *(1,) * (values.dim() - 1))


# The smallest list


@dataclass(frozen=True, eq=False)
class Reasons:
    """Differences that give the function's output.

    measured  whether one of them is that it has the groups that were measured
    uses      how many of them are about the use of gamma, beta or a constant; more where a simpler list may say the same
    error     by how much the outputs differ from those of the function, relative to them
    """

    differences: tuple[Difference, ...]
    measured: bool = False
    uses: float = 0
    error: float = 0.0

    def is_better(self, other: "Reasons") -> bool:
        """Whether it is a shorter list, or gives the outputs much better."""
        own, others = (len(self.differences), self.uses), (len(other.differences), other.uses)
        return own < others or (own == others and max(self.error, ROUNDING) < 0.1 * other.error)


def reasons(compared: LayerComparison, found: Measurement, given: Error) -> Reasons | None:
    """The smallest list of differences that gives the function's output; None if no list does.

    found  the measured candidates
    given  the error on the given x
    """
    norm, expected = compared.reference.norm, compared.expected
    own_eps = found.eps.value if found.eps is not None and found.eps.place else 0.0
    evidence = evidence_of(compared, {norm.eps or 1e-5, abs(own_eps)} - {0.0})
    if evidence is None:
        return None
    first: tuple[Difference, ...] = ()
    if norm.running and not found.running and not found.affine:
        norm, first = replace(norm, running=False), (from_x_instead(),)
    groups = Groups(expected.stat_ids)
    base = replace(Variant.of(norm, groups), stored=evidence.draws[0].stored if norm.running else None)
    usual = _measured(compared, found, base, norm)
    ratio = _share_of_mean(compared, evidence, groups) if norm.center and not norm.running else None
    if ratio is not None:
        difference = _share(ratio, groups.elements, tuple(compared.x.shape) == expected.shape)
        spreads = "centered", "around center"
        usual += [Change("center", {"center": ratio, "spread": one}, difference) for one in spreads]
    eps_values = _eps_values(norm.eps or 0.0, own_eps, groups.elements, compared.x.dtype)
    first_of: dict[object, Change] = {}
    for one in (*usual, *changes(norm, groups, expected.axes, eps_values), *_rounded_steps(compared)):
        first_of.setdefault((one.part, frozenset(one.fields.items())), one)
    every = [*first_of.values()]
    if norm.running:
        every = [one for one in every if one.part in ("root", "eps") or one.fields.get("center") == "none"]
    common = [one for one in every if one in usual or _is_common(one, own_eps)]
    for difference, others in _left_alone(evidence, base):
        rest = _smallest(compared, others, base, every, common, most=1)
        if rest is not None and not any(one.sentence in map(_, UNKNOWN) for one in rest.differences):
            return replace(rest, differences=(*first, difference, *rest.differences))
    best = _smallest(compared, evidence, base, every, common)
    if best is not None:
        told = tuple(_unused(compared, one) for one in _with_error(best.differences, given, compared.x.dtype))
        return replace(best, differences=first + told) if first or told else None
    if (mixed := _mixed(compared, evidence, base, common)) is not None:
        return mixed
    if text := half_sums(compared):
        own, wanted = _("sums in {dtype}", dtype="float16"), _("the precision of torch")
        return Reasons((Difference("precision", own, wanted, text),))
    special = _special(compared, evidence, base, given)
    if special is not None or found.reach.is_elementwise:
        return special
    return _before_another_function(compared, evidence, base, every, common)


def _unused(compared: LayerComparison, told: Difference) -> Difference:
    """The difference; of a use of gamma or beta that has no name, that there is none if other values give the same output."""
    roles = {_(OTHER_GAMMA): (compared.best.gamma, UNUSED), _(OTHER_BETA): (compared.best.beta, UNUSED_BETA)}
    role, sentence = roles.get(told.sentence, (None, ""))
    learned, x = parameters_of(compared.function), probe.generic(compared.expected.shape, compared.function.dtype, 37)
    if role is None or role.position not in learned:
        return told
    others = signed_values({role.position: learned[role.position]}, seed=9)
    same = torch.equal(compared.function(x, {}).nan_to_num(), compared.function(x, others).nan_to_num())
    return replace(told, sentence=_(sentence)) if same else told


ONE_OF_X = {
    "mean": N_("It subtracts the mean of x, as in training mode, not the stored one."),
    "variance": N_("It divides by the standard deviation of x, as in training mode, not by the stored one."),
}
ONE_STORED = {
    "mean": N_("It divides by the stored standard deviation, as in eval mode, not by that of x."),
    "variance": N_("It subtracts the stored mean, as in eval mode, not that of x."),
}


def _mixed(compared: LayerComparison, evidence: Evidence, base: Variant, common: Sequence[Change]) -> Reasons | None:
    """One stored statistic beside one of x."""
    if base.stored is not None or evidence.draws[0].stored is None:
        return None
    words = _("the statistics of x"), _("stored statistics")
    own, wanted, texts = (*words, ONE_OF_X) if compared.reference.norm.running else (*words[::-1], ONE_STORED)
    for of_x, text in texts.items():
        mixed = replace(base, stored=evidence.draws[0].stored, of_x=of_x)
        without = {"center", "counted", *(("spread", "divisor") if of_x == "mean" else ())}  # stored ones have none
        same = [one for one in common if one.part not in without and one.fields.get("root") != "nothing"]
        if (rest := _smallest(compared, evidence, mixed, same, same, most=1)) is not None:
            return replace(rest, differences=(Difference("training", own, wanted, _(text)), *rest.differences))
    return None


def _left_alone(evidence: Evidence, base: Variant) -> Iterator[tuple[Difference, Evidence]]:
    """Outputs that are always 0, or always x, where those of the layer are not; and the evidence without them."""
    outputs, right = torch.stack([draw.outputs for draw in evidence.draws]), base.normalized(evidence.x)
    if right is None:
        return
    for is_x, value in enumerate((torch.zeros_like(evidence.x), evidence.x)):
        same = (outputs == value).all(0).all(0) & (right != value).any(0)
        n = int(same.sum())
        if 0 < n < same.numel():
            at = same.nonzero()[0].tolist()
            text = (
                ngettext(
                    "It returns {n} element of x as it is: that at {at}.",
                    "It returns {n:,} elements of x as they are: the first is at {at}.",
                    n,
                    at=at,
                )
                if is_x
                else ngettext(
                    "{n} of its outputs is 0 for every x: that at {at}.",
                    "{n:,} of its outputs are 0 for every x: the first is at {at}.",
                    n,
                    at=at,
                )
            )
            draws = [replace(one, outputs=torch.where(same, torch.nan, one.outputs)) for one in evidence.draws]
            difference = Difference("values", _("outputs that are not computed"), _("those of the formula"), text)
            yield difference, replace(evidence, draws=tuple(draws))


def _rounded_steps(compared: LayerComparison) -> Iterator[Change]:
    """A step in 16 bits."""
    if min(compared.function.dtype.itemsize, compared.x.dtype.itemsize) < 4:
        return
    for step, dtype in product(STEPS, (torch.float16, torch.bfloat16)):
        yield Change("rounds", {"rounds": (step, dtype)}, rounds(None, dtype, compared.x.dtype))


def _with_error(told: tuple[Difference, ...], given: Error, wanted: torch.dtype) -> tuple[Difference, ...]:
    """The differences; of a rounding alone, its error."""
    for dtype in (torch.float16, torch.bfloat16):
        if told == (rounds(None, dtype, wanted),) and not given.ok and isfinite(given.largest):
            return (rounds(given, dtype, wanted),)
    return told


def _eps_values(wanted: float, own: float, m: int, dtype: torch.dtype) -> Iterator[tuple[float, float]]:
    """Values that may be eps, and how they are told: the machine epsilon of float64 is that of the dtype of x, where nothing else is said."""
    machine = torch.finfo(torch.float64).eps
    in_float = torch.finfo(torch.promote_types(dtype, torch.float32)).eps
    of_group = [float(f"{one:.6g}") for one in (wanted / m, wanted * m)] if m else []
    for one in (own, 0.0, wanted**2, wanted**0.5, -wanted, 2 * wanted, *of_group, *USUAL_EPS, machine, in_float):
        if abs(one - wanted) > 1e-3 * wanted:
            yield one, in_float if isclose(one, machine, rel_tol=1e-2) else one


def _is_common(one: Change, own_eps: float) -> bool:
    """Whether it is often made together with another. ``own_eps``: that was measured, or 0."""
    values = {one.fields.get(name) for name in ("divisor", "root", "eps")}
    eps = {own_eps, 0.0, 1e-12, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3}
    return bool(values & {UNBIASED, SUM, "outside", "maximum", "maximum inside", "twice", "none", "product", *eps})


def _share_of_mean(compared: LayerComparison, evidence: Evidence, groups: Groups) -> float | None:
    """How many times the mean is subtracted, if the rest of the numerator and the use of gamma and beta are right; None if it is once."""
    x, found = evidence.x, []
    mean = groups.mean(x)
    for draw in evidence.draws:
        for roles in compared.started[:1]:
            gamma, beta = affine(compared.reference.norm, compared.expected.shape, roles.values(draw.tensors))
            output = (draw.outputs - beta) / gamma
            average = groups.mean(output)
            slope = groups.mean(output * (x - mean)) / groups.mean((x - mean).square())
            found.append(1 - average / (slope * mean))
    if not found:
        return None
    ratio = float(torch.stack(found).nan_to_num().median())
    has_name = any(abs(ratio - named) < 1e-5 for named in (1, 0, 2, 0.5, -1, groups.elements))
    return None if has_name else float(f"{ratio:.6g}")


def _share(ratio: float, m: int, is_given_size: bool) -> Difference:
    """So many times the mean; on another size, where it once was right, the sum over a fixed number."""
    divisor = m / ratio
    if not is_given_size and 1 < divisor < 1e4 and isclose(divisor, round(divisor), rel_tol=1e-5):
        text = _("For the mean, it divides the sum by {divisor}, not by m = {m}, the size of a group.", divisor=round(divisor), m=m)  # fmt: skip
        return Difference("center", str(round(divisor)), BIASED, text)
    text = _("It subtracts {ratio:.4g} times the mean.", ratio=ratio)
    return Difference("center", _("another number"), _("the mean is subtracted"), text)


def _measured(compared: LayerComparison, found: Measurement, base: Variant, norm: Norm) -> list[Change]:
    """What was measured and is not that of the layer."""
    own: list[Change] = []
    groups = base.over
    if found.ids is not None and not found.running and not same_partition(found.ids, groups.ids.cpu().numpy()):
        groups = Groups(found.ids)
        difference = groups_difference(found, compared.expected)
        own.append(Change("groups", {"over": groups, "around": groups}, difference))
        m = base.over.elements
        if m and groups.elements != m:  # the number of the expected groups is kept
            own.append(Change("divisor", {"divisor": str(m)}, divisor_difference(str(m), groups.elements)))
    if found.formula is None:
        return own
    if found.divisor != BIASED:
        own.append(Change("divisor", {"divisor": found.divisor}, divisor_difference(found.divisor, groups.elements)))
    constant = found.gamma.constant if found.gamma is not None else float(found.formula.factor.median())
    if found.gamma is None and constant_value(found.formula.factor) is None:
        constant = 0.0
    if constant and groups.elements > 1 and found.divisor == BIASED and norm.eps and not norm.running:
        divisor = groups.elements * constant**2
        for number in (f"{divisor:.4g}", f"{round(divisor)}"):
            if round(divisor) == groups.elements - 1:
                break  # that is tried by its name
            if abs(float(number) / divisor - 1) < 1e-3 and float(number) > 0 and round(divisor) != groups.elements:
                own.append(Change("divisor", {"divisor": number}, divisor_difference(number, groups.elements)))
                break
    if found.eps is not None and found.eps.place not in ("inside", ""):
        own.append(Change("root", {"root": found.eps.place}, place_difference(found.eps.place, norm.center)))
    return own


def _smallest(
    compared: LayerComparison,
    evidence: Evidence,
    base: Variant,
    every: Sequence[Change],
    common: Sequence[Change],
    most: int = MOST_CHANGES,
) -> Reasons | None:
    best: Reasons | None = None
    others: set[tuple[Difference, ...]] = set()
    small, is_coarse = evidence.x[0].numel() <= MOST_ELEMENTS, evidence.close > COARSE
    for count in range(most + 1):
        if best is not None and (len(best.differences), best.uses) <= (count, 0):
            break
        lists = [
            chosen
            for chosen in _choices(every, common, count, small)
            if len({one.part for one in chosen}) == count and not _is_a_factor(chosen)
        ]
        if best is not None and best.measured and not is_coarse:  # with other groups, no output is the same
            lists = [chosen for chosen in lists if any(map(_is_measured, chosen))]
        for chosen, variant in _possible(evidence, base, lists[:MOST_VARIANTS]):
            use = _use(compared, evidence, variant)
            if use is None:
                continue
            if variant.eps not in (base.eps, *USUAL_EPS) and any(
                one.sentence == _(OTHER_GAMMA) for one in use.differences
            ):
                continue  # another divisor and this factor would give the same
            factors = [one.sentence for one in use.differences if one.what in ("gamma", "factor")]
            has_other_factor = any(one not in map(_, FACTORS) for one in factors)
            if has_other_factor and variant.divides_by_a_constant:  # any constant would do, or no division
                continue
            told = (*sorted((one.difference for one in chosen), key=_order), *use.differences)
            # A sum that is not divided by m is an eps that is divided by m, with another factor: the one that has a name is meant.
            uses = len(use.differences) + 0.25 * bool(factors and variant.divisor == SUM) + 0.5 * has_other_factor
            found = Reasons(told, any(map(_is_measured, chosen)), uses, use.error)
            if best is None or found.is_better(best):
                best, others = found, set()
            if len(told) == len(best.differences):
                others.add(told)
    return None if is_coarse and len(others) > 1 else best  # in 16 bits, other variants are as near


def _is_measured(change: Change) -> bool:
    return "over" in change.fields and "around" in change.fields


def _possible(
    evidence: Evidence, base: Variant, lists: Sequence[tuple[Change, ...]]
) -> Iterator[tuple[tuple[Change, ...], Variant]]:
    """The lists of changes, with their variants, that some elements of the outputs do not refute."""
    whole = evidence.draws[0].target
    target = (whole.few or whole).of_many

    def columns(value: Tensor) -> Tensor:
        return value if whole.few is None else value.flatten(1)[:, :: whole.step]

    for start in range(0, len(lists), AT_ONCE):
        several = [(chosen, base.changed(chosen)) for chosen in lists[start : start + AT_ONCE]]
        if base.stored is None or base.of_x:
            found = [variant.at(columns, evidence.x, evidence.known) for _chosen, variant in several]
            several = [one for one, value in zip(several, found, strict=True) if value is not None]
            if not several:
                continue
            # Each is copied by itself: from another device, nothing large is copied at a time.
            values = [value.detach().cpu().numpy() for value in found if value is not None]
            with np.errstate(all="ignore"):
                error = _line(np.stack(values, 1), target)[-1]
            near = error.max(axis=(0, *range(2, error.ndim))) <= 1.01 * evidence.close
            several = list(compress(several, near.tolist()))
        yield from several


def _is_a_factor(chosen: Sequence[Change]) -> bool:
    """Whether another divisor is the same as a factor: without an eps. Or whether there are two divisors."""
    if sum("divisor" in one.fields for one in chosen) > 1:
        return True
    if not any(one.fields.get("eps") == 0.0 for one in chosen):
        return False
    fields = {name: value for one in chosen for name, value in one.fields.items()}
    return fields.get("eps") == 0.0 and fields.get("divisor", SUM) not in (UNBIASED, SUM)


def _choices(
    every: Sequence[Change], common: Sequence[Change], count: int, small: bool
) -> Iterable[tuple[Change, ...]]:
    """So many changes together: of two, one may be unusual if x is small; of more, all are common."""
    if count == 2 and small:
        usual = set(map(id, common))
        return (pair for pair in combinations(every, 2) if usual & set(map(id, pair)))
    return combinations(every if count < 2 else common, count) if small or count < 3 else ()


ORDER = ("statistics", "center", "variance", "eps_placement", "eps", "precision")


def _order(difference: Difference) -> int:
    return ORDER.index(difference.what)


def _use(compared: LayerComparison, evidence: Evidence, variant: Variant) -> Reasons | None:
    """What differs in the use of gamma and beta, if the variant explains the outputs; else None."""
    fits: list[Fit] = []
    norm = compared.reference.norm
    values = variant.normalized(evidence.x)
    for which, draw in enumerate(evidence.draws):
        if variant.stored is not None:
            values = replace(variant, stored=draw.stored).normalized(evidence.x)
        found = fit(values, draw.target if variant.stored is None else draw.target_of_each, evidence.close)
        if found is None:
            return None
        if evidence.after is not None and values is not None:
            function, outputs = evidence.after
            after = function(found.factor * values + found.offset)
            if not _same(torch.where(after.isnan(), outputs[which], after), outputs[which], evidence.close):
                return None
        fits.append(found)
    told = used(compared, evidence, fits)
    # With stored statistics, any denominator gives some factor; in 16 bits, rounding is one.
    is_free = variant.stored is not None or norm.running or evidence.close > COARSE
    is_free |= variant.root == "nothing" and draw.stored is not None
    if is_free and any(one.sentence in map(_, UNKNOWN) for one in told):
        return None
    return Reasons(tuple(told), error=max(one.error for one in fits))


# How gamma and beta are used. ``g`` and ``b`` are gamma and beta of each element.

UNUSED, UNUSED_BETA = N_("It does not use gamma."), N_("It does not use beta.")
FACTORS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    N_("It multiplies by beta, not by gamma."): lambda g, b: b,
    UNUSED: lambda g, b: torch.ones_like(g),
    N_("It divides by gamma instead of multiplying by it."): lambda g, b: 1 / g,
    N_("It multiplies by -gamma, not by gamma."): lambda g, b: -g,
    N_("It multiplies by gamma^2, not by gamma."): lambda g, b: g * g,
    N_("It multiplies by exp(gamma), not by gamma."): lambda g, b: g.exp(),
    N_("It multiplies by the absolute value of gamma."): lambda g, b: g.abs(),
    N_("It multiplies by 1 + gamma, not by gamma."): lambda g, b: 1 + g,
    N_("It multiplies by 1 - gamma, not by gamma."): lambda g, b: 1 - g,
    N_("It multiplies by gamma - 1, not by gamma."): lambda g, b: g - 1,
    N_("It multiplies by gamma + beta, not by gamma."): lambda g, b: g + b,
    N_("It multiplies by gamma and by beta."): lambda g, b: g * b,
}
OFFSETS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    N_("It adds gamma, not beta."): lambda g, b: g,
    UNUSED_BETA: lambda g, b: torch.zeros_like(b),
    N_("It subtracts beta instead of adding it."): lambda g, b: -b,
    N_("It adds beta before it multiplies by gamma; add it afterwards."): lambda g, b: g * b,
    N_("It divides beta by gamma."): lambda g, b: b / g,
    N_("It adds beta^2, not beta."): lambda g, b: b * b,
    N_("It adds the absolute value of beta."): lambda g, b: b.abs(),
    N_("It adds exp(beta), not beta."): lambda g, b: b.exp(),
    N_("It adds gamma + beta, not beta."): lambda g, b: g + b,
    N_("It adds beta - gamma, not beta."): lambda g, b: b - g,
}
OTHER_GAMMA = N_("It uses gamma, but not as one factor.")
OTHER_BETA = N_("It uses beta, but not as one added term.")
GAMMA_ORDER, BETA_ORDER = N_("It uses gamma in another order."), N_("It uses beta in another order.")
NO_PARAMETERS = (
    N_("It multiplies by numbers that are no parameter of it."),
    N_("It adds numbers that are no parameter of it."),
)
UNKNOWN = (OTHER_GAMMA, OTHER_BETA, *NO_PARAMETERS)
EXCHANGED = N_("It multiplies by beta and adds gamma: exchange them.")


def used(compared: LayerComparison, evidence: Evidence, fits: Sequence[Fit]) -> list[Difference]:
    """What differs in the use of gamma and beta, or in constants.

    If the roles of its tensors are not told by their names, the choice that explains most counts.
    """
    function, expected, norm = compared.function, compared.expected, compared.reference.norm
    factors, offsets = [one.factor.nan_to_num(1.0) for one in fits], [one.offset for one in fits]
    draws = evidence.draws
    dtype = function.dtype
    close = CLOSE if dtype != torch.float64 else CLOSE / 10
    close = 2 * evidence.close if evidence.close > COARSE else close
    choices = [
        (list(_differences([_of_draw(norm, one, *pair) for pair in zip(fits, draws, strict=True)], one, norm, close)), one)
        for one in compared.started or some_roles(function, expected)
    ]  # fmt: skip
    told, roles = min(choices, key=lambda choice: len(choice[0]))
    is_partial = bool(offsets[0].isnan().any())  # of outputs that are not known
    if len(draws) < 2 or not told or function.numbers or is_partial:
        return told
    pairs = {i: (draws[0].tensors[i], draws[1].tensors[i]) for i in arrays_of(function)}

    def of(role: Role | None) -> list[tuple[Tensor, Tensor]]:
        """Its values; those of all tensors where its tensor is not known."""
        return [pairs[role.position]] if role is not None and role.position in pairs else [*pairs.values()]

    gamma = learned_factor((factors[0], factors[1]), of(roles.gamma), dtype)
    beta = learned_offset((offsets[0], offsets[1]), of(roles.beta), dtype)
    if draws[0].stored is not None and norm.running:  # other statistics are in both
        gamma, beta = None if gamma is None or gamma.zero_centered is None else gamma, None
    found = [one for each in told for one in _of_parameters(each, compared, fits, gamma, beta)]
    patterns = [one for one in found if one.what == "parameters"]
    same = len(patterns) == 2 and patterns[0].found == patterns[1].found  # gamma and beta alike
    return [one for one in found if not (same and one is patterns[1])]


def _of_parameters(
    told: Difference, compared: LayerComparison, fits: Sequence[Fit], gamma: Learned | None, beta: Learned | None
) -> Iterator[Difference]:
    """The difference, or that the gamma or beta which was found has another pattern, or that the layer has none."""
    expected, norm, ids = compared.expected, compared.reference.norm, compared.expected.param_ids
    if told.what in ("gamma", "factor") and gamma is not None:
        if ids is None:
            yield unexpected("gamma", expected)
            return
        # A function of gamma, such as one that clips it, gives some elements the same factor.
        is_of_gamma = gamma.zero_centered is None and from_ids(gamma.ids) is None and refines(ids, gamma.ids)
        other = not is_of_gamma and not same_partition(gamma.ids, ids)
        if other:
            yield other_pattern(N_("It has one gamma {own}; {layer} has one {wanted}."), gamma, expected)
        is_in_place = np.array_equal(gamma.ids, ids)  # and is multiplied by other numbers
        if told.sentence == _(OTHER_GAMMA) and gamma.zero_centered is not None and not other and not is_in_place:
            yield replace(told, sentence=_(GAMMA_ORDER))
        elif gamma.zero_centered != (not norm.zero_centered_gamma):
            yield from [] if other else [told]
            return
        own = multiple(float(f"{gamma.constant or 1.0:.3g}"), "1 + gamma" if gamma.zero_centered else "gamma")
        if own != norm.factor:
            yield other_factor(own, norm.factor)
        if not gamma.constant:
            yield constant_factor(None)
    elif told.what in ("beta", "offset"):
        offset = fits[0].offset
        # A constant for each element that has a gamma of its own is meant as a beta.
        is_meant = ids is not None and constant_value(offset) is None and refines(ids, equal_ids(offset, torch.float64))
        if not norm.bias and (beta is not None or is_meant):
            yield unexpected("beta", expected)
        elif beta is not None and ids is not None and not same_partition(beta.ids, ids):
            yield other_pattern(N_("It has one beta {own}; {layer} has one {wanted}."), beta, expected)
        else:
            in_other_order = told.sentence == _(OTHER_BETA) and beta is not None and beta.zero_centered is not None
            yield replace(told, sentence=_(BETA_ORDER)) if in_other_order else told
            if in_other_order and beta is not None and (constant := float(f"{beta.constant:.3g}")) != 1:
                yield _multiple_of_beta(constant) if constant else told
    else:
        yield told


def affine(norm: Norm, shape: tuple[int, ...], given: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
    """What each element is multiplied by, gamma or 1 + gamma, and its beta."""
    gamma, beta = torch.ones((), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    if "gamma" in given:
        gamma = broadcast(norm, shape, factor(norm, given["gamma"].double()))
    return gamma, broadcast(norm, shape, given["beta"].double()) if "beta" in given else beta


@dataclass(frozen=True)
class Use:
    """The factor and the offset of each element, and what they should be. ``gamma`` is 1 + gamma where the layer multiplies by that."""

    factor: Tensor
    offset: Tensor
    gamma: Tensor
    beta: Tensor


def _of_draw(norm: Norm, roles: GammaBeta, fit: Fit, draw: Draw) -> Use:
    shape = tuple(fit.factor.shape)
    gamma, beta = (one.expand(shape) for one in affine(norm, shape, roles.values(draw.tensors)))
    return Use(fit.factor, fit.offset, gamma, beta)


def _differences(uses: list[Use], roles: GammaBeta, norm: Norm, close: float = CLOSE) -> Iterator[Difference]:
    """What differs with each of several values of gamma and beta. ``close``: of the factor to gamma."""
    has_gamma, has_beta = roles.gamma is not None, roles.beta is not None
    if has_gamma and has_beta and all(_is(one.factor, one.beta) and _is(one.offset, one.gamma) for one in uses):
        sentence = _(EXCHANGED)
        yield Difference("gamma", "beta", "gamma", sentence)
        yield Difference("beta", "gamma", "beta", sentence)
        return
    right_factor = all(_is(one.factor, one.gamma, close) for one in uses)
    if not right_factor:
        yield from _wrong_factor(uses, has_gamma, has_beta, norm)
    if all(_is(one.offset, one.beta, close if close > COARSE else min(close, CLOSE)) for one in uses):
        return
    yield _wrong_offset(uses, has_gamma, has_beta)


def _is(one: Tensor, other: Tensor, close: float = CLOSE) -> bool:
    scale = max(1.0, float(other.abs().max()))
    return bool((((one - other).abs() <= close * scale) | one.isnan()).all())


def _number(values: Iterable[Tensor]) -> float | None:
    """The number that all values of all draws are, or None: it is a property of the function then, not of the values of its parameters."""
    first, *others = (constant_value(one) for one in values)
    return first if others and set(others) == {first} else None


def _wrong_factor(uses: list[Use], has_gamma: bool, has_beta: bool, norm: Norm) -> list[Difference]:
    if not has_gamma:
        return [constant_factor(_number(one.factor for one in uses))]
    name = norm.factor
    possible = [
        (message, use)
        for message, use in FACTORS.items()
        if (message == UNUSED if norm.zero_centered_gamma else has_beta or "beta" not in message)
    ]
    for message, use in possible:
        if all(_is(one.factor, use(one.gamma, one.beta)) for one in uses):
            return [Difference("gamma", _("another factor"), name, _(message))]
    number = _number(one.factor / one.gamma for one in uses)
    stored = _number(one.factor / (one.gamma - 1) for one in uses) if norm.zero_centered_gamma else None
    if stored is not None:
        return [other_factor(multiple(stored, "gamma"), name)]
    if number is not None:
        of_product = f"({name})" if norm.zero_centered_gamma else name
        sentence = _("It multiplies by {n:g}*{name}, not by {name}.", n=number, name=of_product)
        return [Difference("gamma", _("another factor"), name, sentence)]
    for message, use in possible:
        number = _number(one.factor / use(one.gamma, one.beta) for one in uses)
        if number is not None:
            both = join_sentences([_(message), constant_factor(number).sentence])
            return [Difference("gamma", _("another factor"), name, both)]
    return [Difference("gamma", _("another factor"), name, _(OTHER_GAMMA))]


def _wrong_offset(uses: list[Use], has_gamma: bool, has_beta: bool) -> Difference:
    if not has_beta and has_gamma and all(_is(one.offset, one.gamma) for one in uses):
        return Difference("beta", "gamma", "beta", _("It adds gamma, not beta."))
    if not has_beta:
        return constant_offset(_number(one.offset for one in uses))
    for message, use in OFFSETS.items():
        possible = has_gamma or "gamma" not in message
        if possible and all(_is(one.offset, use(one.gamma, one.beta)) for one in uses):
            return Difference("beta", _("another offset"), "beta", _(message))
    number = _number(one.offset - one.beta for one in uses)
    if number is not None:
        return constant_offset(number)
    number = _number(one.offset / one.beta for one in uses)
    if number is not None:
        return _multiple_of_beta(number)
    return Difference("beta", _("another offset"), "beta", _(OTHER_BETA))


def _multiple_of_beta(number: float) -> Difference:
    is_opposite = number == -1
    text = _("It subtracts beta instead of adding it.") if is_opposite else _("It adds {n:g}*beta, not beta.", n=number)
    return Difference("beta", _("another offset"), "beta", text)


# What the form of the formula does not have: gamma or beta before the normalization, another function after it, rounding.


@dataclass(frozen=True)
class After:
    """A function of the output.

    inverse    what was before; NaN where that cannot be told. None if nowhere
    is_likely  whether it may have given outputs with this minimum and this maximum, and such shares of them equal to each of the two
    """

    message: str
    apply: Callable[[Tensor], Tensor]
    inverse: Callable[[Tensor], Tensor] | None = None
    is_likely: Callable[[float, float, float, float], bool] = lambda low, high, lowest, highest: True


SOME, MOST_CUT = 0.02, 0.7  # of the outputs
CLIPS_OUTPUT = N_("It clips its output to the range from {low:.4g} to {high:.4g}.")
AFTER = [
    After(
        N_("It replaces negative outputs with 0, as ReLU does."),
        torch.relu,
        lambda y: torch.where(y > 0, y, torch.nan),
        lambda low, high, lowest, highest: low == 0 and SOME < lowest < MOST_CUT,
    ),
    After(N_("It takes the absolute value of its output."), torch.abs),
    After(
        N_("It applies tanh to its output."),
        torch.tanh,
        lambda y: torch.where(y.abs() < 0.999, y, torch.nan).atanh(),
        lambda low, high, lowest, highest: -1 <= low < 0 and high <= 1,
    ),
    After(
        N_("It applies the sigmoid to its output."),
        torch.sigmoid,
        lambda y: torch.where((y - 0.5).abs() < 0.499, y, torch.nan).logit(),
        lambda low, high, lowest, highest: low >= 0 and high <= 1,
    ),
    After(N_("It applies GELU to its output."), F.gelu),
    After(N_("It applies SiLU to its output."), F.silu),
    After(
        N_("It applies a leaky ReLU to its output."),
        partial(F.leaky_relu, negative_slope=0.01),
        lambda y: torch.where(y < 0, 100 * y, y),
        lambda low, high, lowest, highest: 0 < -low < 0.1 * high,
    ),
    After(N_("It rounds its output to whole numbers."), torch.round),
]


def _special(compared: LayerComparison, evidence: Evidence, base: Variant, error: Error) -> Reasons | None:
    norm, shape = compared.reference.norm, compared.expected.shape
    for roles in compared.started or [GammaBeta()]:
        given = [affine(norm, shape, roles.values(draw.tensors)) for draw in evidence.draws]
        for difference in _of_roles(compared, evidence, base, roles, given, error):
            return Reasons((difference,))
    return None


Affine = tuple[Tensor, Tensor]


def _of_roles(
    compared: LayerComparison,
    evidence: Evidence,
    base: Variant,
    roles: GammaBeta,
    given: Sequence[Affine],
    error: Error,
) -> Iterator[Difference]:
    """Each difference that gives the output alone, with this choice of gamma and beta."""

    norm = compared.reference.norm

    def gives(make: Callable[[Variant, Affine], Tensor | None], close: float = evidence.close) -> bool:
        for draw, pair in zip(evidence.draws, given, strict=True):
            own = base if base.stored is None else replace(base, stored=draw.stored)
            values = make(own, pair)
            if values is None or not _same(values, draw.outputs, close):
                return False
        return True

    def right(own: Variant, pair: Affine) -> Tensor:
        values = own.normalized(evidence.x)
        assert values is not None, "the layer itself is defined"
        return values * pair[0] + pair[1]

    words = _("before the normalization"), _("after the normalization")
    if roles.gamma is not None and gives(lambda own, pair: _times(own.normalized(evidence.x * pair[0]), 1.0, pair[1])):
        yield Difference("gamma", *words, _("It multiplies x by gamma before it normalizes; multiply afterwards."))
    if roles.beta is not None and gives(lambda own, pair: _times(own.normalized(evidence.x + pair[1]), pair[0])):
        yield Difference("beta", *words, _("It adds beta to x before it normalizes; add it afterwards."))
    if gives(lambda own, pair: _times(own.normalized(right(own, pair)), *pair)):
        yield replaced(_("It applies the whole layer twice: its output is that of its own output."))
    for one in AFTER:
        if gives(lambda own, pair, one=one: one.apply(right(own, pair))):  # type: ignore[misc]
            yield replaced(_(one.message))
    for low, high in _ranges([one.outputs for one in evidence.draws]):
        if gives(lambda own, pair, low=low, high=high: right(own, pair).clamp(low, high)):  # type: ignore[misc]
            yield replaced(_(CLIPS_OUTPUT, low=low, high=high))
            break
    inside = [(one.outputs - beta) / gamma for one, (gamma, beta) in zip(evidence.draws, given, strict=True)]
    for low, high in _ranges(inside):
        clip = partial(torch.clamp, min=low, max=high)
        if gives(lambda own, pair, clip=clip: _times(_then(own.normalized(evidence.x), clip), *pair)):  # type: ignore[misc]
            text = _("It clips the normalized x to the range from {low:.4g} to {high:.4g}.", low=low, high=high)
            yield replaced(text)
            break
    if gives(lambda own, pair: _times(_then(own.normalized(evidence.x), torch.abs), *pair)):
        yield replaced(_("It takes the absolute value of the normalized x."))
    if base.stored is None:
        low, high = _limits_of_x(compared, roles, base.over)
        if gives(lambda own, pair: _times(own.normalized(evidence.x.clamp(low, high)), *pair)):
            text = _("It clips x to the range from {low:.4g} to {high:.4g} before it normalizes.", low=low, high=high)
            yield replaced(text)
        yield from _rounded_output(compared, evidence, gives, given, error)
        if _divides_by_another_number(base, evidence.x, inside, evidence.close):
            yield another_denominator(norm)
    elif _subtracts_stored_mean(evidence, given):
        yield another_denominator(norm)


def _ranges(values: Sequence[Tensor]) -> tuple[tuple[float, float], ...]:
    """The ranges that values may be clipped to, the widest first: the least and the greatest one need not be limits."""
    low, high = (float(one) for one in torch.stack(tuple(values)).nan_to_num().aminmax())
    return (-inf, high), (low, inf), (low, high)


def _limits_of_x(compared: LayerComparison, roles: GammaBeta, groups: Groups) -> list[float]:
    """To what a very small and a very large element of x are clipped, by the line through two other elements of the group."""
    function, shape = compared.function, compared.expected.shape
    gamma, beta = affine(compared.reference.norm, shape, roles.values(probe.floats(dict(enumerate(function.values)))))
    limits, moved = [], probe.distance(shape, function.dtype)
    for limit in (-moved, moved):
        x = probe.generic(shape, function.dtype, 71) / 10
        x[(0,) * x.dim()] = limit
        own, outputs = x.double().flatten(), ((function(x, {}).double() - beta) / gamma).flatten()
        others = (groups.ids == groups.ids.flatten()[0]).flatten().nonzero().flatten()[1:]
        if len(others) < 2:
            return [-inf, inf]
        low, high = others[own[others].argsort()][-2:]  # likely not clipped, even where negative ones are
        slope = (outputs[high] - outputs[low]) / (own[high] - own[low])
        clipped = float(own[low] + (outputs[0] - outputs[low]) / slope)
        limits.append(float(f"{clipped:.6g}") if abs(clipped) < 0.99 * moved else copysign(inf, limit))
    return limits


def _clips(low: float, high: float) -> After:
    def is_likely(least: float, _greatest: float, lowest: float, highest: float) -> bool:
        return least != 0 and SOME < lowest * (low > -inf) + highest * (high < inf) < MOST_CUT

    return After(
        _(CLIPS_OUTPUT, low=low, high=high),
        lambda y: y.clamp(low, high),
        lambda y: torch.where((y > low) & (y < high), y, torch.nan),
        is_likely,
    )


def _before_another_function(
    compared: LayerComparison, evidence: Evidence, base: Variant, every: Sequence[Change], common: Sequence[Change]
) -> Reasons | None:
    """Differences of the layer whose output goes through another function, such as ReLU."""
    outputs = tuple(draw.outputs for draw in evidence.draws)
    known = torch.stack(outputs)[torch.stack(outputs).isfinite()]
    low, high = (float(one) for one in known.aminmax())
    lowest, highest = (float((known == one).double().mean()) for one in (low, high))
    residual = After(N_("It adds x to its output."), lambda y: y + evidence.x, lambda y: y - evidence.x)
    clips = [_clips(*one) for one in _ranges(outputs)]
    for one in (*AFTER, *clips, *([residual] if evidence.x[0].numel() <= MOST_ELEMENTS else [])):
        if one.inverse is not None and base.stored is None and one.is_likely(low, high, lowest, highest):
            before = [replace(draw, outputs=one.inverse(draw.outputs)) for draw in evidence.draws]
            undone = replace(evidence, draws=tuple(before), after=(one.apply, outputs))
            best = _smallest(compared, undone, base, every, common, most=1)
            if best is not None and not any(told.sentence in map(_, UNKNOWN) for told in best.differences):
                return replace(best, differences=(*best.differences, replaced(_(one.message))))
    return None


def _then(values: Tensor | None, function: Callable[[Tensor], Tensor]) -> Tensor | None:
    return None if values is None else function(values)


def _times(values: Tensor | None, factor: Tensor | float, offset: Tensor | float = 0.0) -> Tensor | None:
    return None if values is None else values * factor + offset


def _same(values: Tensor, outputs: Tensor, close: float) -> bool:
    known, size = outputs.isfinite(), _sizes(outputs)
    return bool(torch.where(known, (values - outputs).abs() <= close * size, True).all())


def _rounded_output(
    compared: LayerComparison, evidence: Evidence, gives: Callable[..., bool], given: Sequence[Affine], error: Error
) -> Iterator[Difference]:
    """An output in 16 bits: the layer gives it to within a unit in the last place of the dtype."""
    if min(compared.function.dtype.itemsize, compared.x.dtype.itemsize) < 4:
        return
    outputs = [draw.outputs for draw in evidence.draws]
    inside = [
        ((one - beta) / gamma, (one.abs() + beta.abs()) / gamma.abs())
        for one, (gamma, beta) in zip(outputs, given, strict=True)
    ]
    for dtype in (torch.bfloat16, torch.float16):  # a number of the first is usually one of the second
        on_grid = any(
            all(_is_on_grid(*one, dtype, evidence.close) for one in several)
            for several in (inside, [(one, one) for one in outputs])
        )
        close = 8 * torch.finfo(dtype).eps
        if on_grid and gives(lambda own, pair: _times(own.normalized(evidence.x), *pair), close=close):
            yield rounds(error, dtype, compared.x.dtype)
            return


def _is_on_grid(values: Tensor, terms: Tensor, dtype: torch.dtype, close: float) -> bool:
    """Whether nearly all values are numbers of the dtype. ``terms``: the size of what they are a difference of, in float32.

    A value that the rounding of its terms may have moved off the grid says nothing.
    """
    allowed = min(close, 0.02 * torch.finfo(dtype).eps) * values.abs()
    near = (values.to(dtype).double() - values).abs() <= allowed
    return float(near[values.isfinite() & (torch.finfo(torch.float32).eps * terms <= allowed)].double().mean()) > 0.97


def _divides_by_another_number(base: Variant, x: Tensor, normalized: Sequence[Tensor], close: float) -> bool:
    """Whether the numerator is right, and in each group it is divided by one number that is not always the same multiple of the right one."""
    groups = base.over
    if groups.elements < 3:
        return False  # each output is then a multiple of the numerator
    numerator = x - groups.mean(x) if base.center == "mean" else x
    right = base.normalized(x)
    for output in normalized:
        if not bool(output.isfinite().all()):
            return False
        factor = groups.mean(output * numerator) / groups.mean(numerator.square())
        if not _same(factor * numerator, output, close) or right is None or _same(right, output, close):
            return False
    return True


def _subtracts_stored_mean(evidence: Evidence, given: Sequence[Affine]) -> bool:
    """Whether a function with stored statistics subtracts the mean and divides by a positive number of each group, whatever gamma is."""
    for draw, (gamma, beta) in zip(evidence.draws, given, strict=True):
        own = fit(evidence.x, draw.target, evidence.close)
        if own is None or draw.stored is None or not bool((own.factor / gamma > 0).all()):
            return False
        if not _same((beta - own.factor * draw.stored[0])[None], own.offset[None], 10 * evidence.close):
            return False
    return True


def another_denominator(norm: Norm) -> Difference:
    """The numerator is right, and no usual denominator is."""
    if norm.center:
        wanted = _("the standard deviation")
        text = _("It subtracts the mean, but it divides by another number than the standard deviation.")
    else:
        wanted = _("the root of the mean of x^2")
        text = _("It divides by another number than the root of the mean of x^2.")
    return Difference("variance", _("another denominator"), wanted, text)


def just_updated(compared: LayerComparison) -> Difference | None:
    """The output in train mode is that of running statistics as they are after the call; None if it is not.

    It is for a function whose output depends on other elements, or is another one in the next call: one that updates nothing differs otherwise.
    """
    axes, eps, function = compared.expected.axes, compared.reference.norm.eps or 0.0, compared.function
    channel = axes.index("c") if "c" in axes else 1
    x = probe.generic(compared.expected.shape, torch.float64, 17).to(function.dtype)
    values = signed_values(parameters_of(function), seed=7)
    output, tensors = function(x, values).double(), probe.floats(function.with_values(values))
    for module in function.modules:
        own = {probe.meaning(name): buffer for name, buffer in module.named_buffers(recurse=False)}
        mean, var = map(own.get, probe.STATISTICS)
        if isinstance(mean, Tensor) and isinstance(var, Tensor) and mean.numel() == var.numel() == x.shape[channel]:
            shape = [size if axis == channel else 1 for axis, size in enumerate(x.shape)]
            mean, var = (one.detach().double().reshape(shape) for one in (mean, var))
            normalized = (x.double() - mean) / (var + eps).sqrt()
            pairs = [affine(compared.reference.norm, tuple(x.shape), one.values(tensors)) for one in compared.started]
            if any(_same((normalized * gamma + beta)[None], output[None], 1e-4) for gamma, beta in pairs):
                text = _(
                    "In train mode it uses its running statistics, which it has just updated, instead of those of x."
                )
                return Difference("training", _("running statistics"), _("the statistics of x"), text)
            return None
    return None


def fast_variance(compared: LayerComparison, error: Error) -> str:
    """Whether the output for x is imprecise because the variance is E[x^2] - E[x]^2, as a sentence: it gives nearly the same output; else ""."""
    function, x, norm = compared.function, compared.x, compared.reference.norm
    shape, dtype = tuple(x.shape), torch.promote_types(x.dtype, torch.float32)
    if not norm.center or norm.running or shape != compared.expected.shape:
        return ""
    output, groups, y = function(x).double(), Groups(compared.expected.stat_ids), x.to(dtype)
    gamma, beta = affine(norm, shape, compared.best.values(dict(enumerate(function.values))))
    for how in (torch.mean, lambda rows, axis: rows.sum(axis) / rows.shape[axis]):
        mean, square = groups.reduced(y, how), groups.reduced(y * y, how)
        if mean is not None and square is not None:
            for variance in (square - mean * mean, (square - mean * mean).clamp(min=0)):
                fast = ((y - mean) / (variance + (norm.eps or 0.0)).sqrt()).double() * gamma + beta
                if bool(((fast - output).abs().nan_to_num() < 0.1 * error.largest).all()):
                    return _("It computes the variance as E[x^2] - E[x]^2 in {dtype}.", dtype=dtype_name(dtype))
    return ""


SQUARES_IN_HALF = (
    N_(
        "It sums squares in float16, whose largest number is 65504: its output is nearly that of {layer} where the sum in each "
        "group is {inside:.0f}, and not where it is {outside:.0f}. Convert x to float32 first."
    ),
    N_(
        "It squares in float16, whose largest number is 65504: its output is nearly that of {layer} where the largest square is "
        "{inside:.0f}, and not where it is {outside:.0f}. Convert x to float32 first."
    ),
)


def half_sums(compared: LayerComparison) -> str:
    """Whether the output is another one just where squares, or their sums, are too large for float16, as a sentence; else ""."""
    norm, function, groups = compared.reference.norm, compared.function, Groups(compared.expected.stat_ids)
    values = Variant.of(norm, groups).normalized(probe.generic(compared.expected.shape, torch.float64, 61)[None])
    if norm.running or groups.elements < 2 or values is None:
        return ""
    for message, size in zip(SQUARES_IN_HALF, (groups.elements, float(values.square().max())), strict=True):
        near, limits = [], [share * torch.finfo(torch.float16).max for share in (0.8, 1.25)]
        for limit in limits:
            x = (values[0] * (limit / size) ** 0.5).to(function.dtype)
            near.append(compared.near_enough(function(x), compared.exact(x, {})))
        if near == [True, False]:
            return _(message, layer=compared.expected.title, inside=limits[0], outside=limits[1])
    return ""


def made_from_condition(compared: LayerComparison) -> GammaBeta | None:
    """gamma and beta of a function that makes them from a condition, if they have the expected pattern; else None.

    What multiplies and what is added count, whoever makes them.
    """
    function, norm, expected = compared.function, compared.reference.norm, compared.expected
    per_row = expected.axes[0] in norm.gamma_axes
    if norm.params is None or norm.running or not (per_row or not any(one.count for one in compared.started)):
        return None
    if all(name in probe.KNOWN_NAMES for name in function.given_params):
        return None  # there is no condition
    ids, counts, learned = expected.param_ids, expected.counts, parameters_of(function)
    if ids is None or counts.gamma_shape is None:
        return None
    variant = Variant.of(norm, Groups(expected.stat_ids))
    others = signed_values(learned, seed=8)
    made: list[Role] = []
    for values in (others, {}) if function.takes(expected.shape, others) else ({},):
        found = _factor_and_offset(compared, variant, values)
        if found is None or not _has_pattern(found.factor.nan_to_num(1.0), found.offset, ids):
            return None
        factors, shape = found.factor.nan_to_num(1.0) - int(norm.zero_centered_gamma), counts.gamma_shape
        tables = [_table(one, ids).reshape(shape) for one in (factors, found.offset)]
        made = [Role(-1, None, shape, is_number=True, value=one) for one in tables]
    function.fixed |= set(parameters_of(function))  # another value would make another gamma
    return GammaBeta(made[0], made[1] if norm.bias else None)


def _factor_and_offset(compared: LayerComparison, variant: Variant, values: Mapping[int, Tensor]) -> Fit | None:
    function, shape = compared.function, compared.expected.shape
    inputs = torch.stack([probe.generic(shape, function.dtype, seed) for seed in (51, 52, 53, 54, 55)])
    outputs = torch.stack([function(x, values).double() for x in inputs])
    return fit(variant.normalized(inputs.double()), Target.of(outputs), _rounding(function.dtype, outputs))


def _table(values: Tensor, ids: Ids) -> Tensor:
    """The value of each number in ids."""
    places = torch.as_tensor(np.array(ids)).flatten()
    table = torch.zeros(int(places.max()) + 1, dtype=torch.float64)
    table[places] = values.flatten()
    return table


def _has_pattern(factor: Tensor, offset: Tensor, ids: Ids) -> bool:
    """Whether both have one value for each number in ids, and the factor has other ones for more than half of the numbers in the first row.

    With a pattern of fewer axes it would have at most half as many; some of many numbers are near each other by chance.
    """
    whole = torch.as_tensor(np.array(ids))
    if not all(_is(_table(one, ids)[whole], one) for one in (factor, offset)):
        return False
    first = torch.unique(whole[0])
    table = _table(factor, ids)[first]
    return 2 * len(torch.unique((table / (1e-5 * table.abs().max())).round())) > len(first)
