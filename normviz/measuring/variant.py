"""A variant of a layer: the layer with something otherwise, as a value that can be run.

``y = (x - center) / D * factor + offset``, where D follows from a mean of squares. A ``Variant`` says what each of these parts is. A ``Change``
is one part that is otherwise, with the ``Difference`` that tells it, and ``changes`` lists those that are usual mistakes. A reason is never more than
a list of changes: ``normviz.measuring.reasons`` runs the variant, and tells the changes only if the variant gives the function's output.

x has one axis more than the function's, in front: the number of the input.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import torch
from torch import Tensor

from normviz.layers.norm import Norm
from normviz.measuring.formula import BIASED, SUM, UNBIASED, Groups
from normviz.measuring.groups import Axis, number
from normviz.measuring.report import Difference, axes_of, divisor_difference, eps_difference, place_difference
from normviz.texts.messages import N_, _, ngettext


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

    @classmethod
    def of(cls, norm: Norm, groups: Groups) -> "Variant":
        """The layer itself."""
        return cls(groups, groups, *(("mean", "centered") if norm.center else ("none", "x")), eps=norm.eps or 0.0)

    def normalized(self, x: Tensor) -> Tensor | None:
        """The output before gamma and beta, of the shape of x; None where it is not defined."""
        x = self._rounded("x", x)
        if self.stored is not None:
            mean, variance = self.stored
            return (x if self.center == "none" else x - mean) / ROOTS[self.root](variance, self.eps)
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
        second = self._second(self._mean(self.around, squares, "variance"), used)
        if second is None:
            return None
        eps = self.eps * self._scale(x)
        root = self._rounded("root", ROOTS[self.root](self._rounded("variance", second), eps))
        return self._rounded("normalized", (x - center) / root)

    def _scale(self, x: Tensor) -> Tensor | float:
        """By what eps is multiplied."""
        if self.root == "scaled":
            largest = self.around.reduced(x.abs(), torch.amax)
            return 1.0 if largest is None else largest.square()
        return (
            x.abs().flatten(1).amax(1).square().reshape(-1, *(1,) * (x.dim() - 1))
            if self.root == "scaled by all"
            else 1.0
        )

    def _center(self, x: Tensor, mean: Tensor) -> Tensor | None:
        """What is subtracted; None if it is not defined."""
        if not isinstance(self.center, str):
            return self.center * mean
        center = CENTERS[self.center](x, mean, self.over)
        return _dropped(center, self.over) if self.dropped in ("mean", "both") else center

    def _second(self, squares: Tensor, mean: Tensor) -> Tensor | None:
        """The sum of squares over its divisor, from the mean of squares; None if it is not defined."""
        m = self.around.elements
        number = {BIASED: float(m), UNBIASED: m - 1.0, SUM: 1.0}.get(self.divisor)
        number = float(self.divisor) if number is None else number
        if self.divisor != BIASED and not (m and number):
            return None
        second = squares if self.divisor == BIASED else squares * m / number
        second = second + self.padding * mean.square() / m if self.padding else second
        return _dropped(second, self.around) if self.dropped in ("variance", "both") else second

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


STEPS = ("x", "mean", "deviations", "variance", "root", "normalized")
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

    def applied(self, variant: Variant) -> Variant:
        """The variant with this change."""
        return replace(variant, **self.fields)  # type: ignore[arg-type]


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
    others = [
        (name, Difference("center", _("another number"), words[1], _(text))) for name, text in OTHER_CENTERS.items()
    ]
    for name, difference in (("none", none), *others):
        for spread in ("centered", "around center"):
            yield Change("center", {"center": name, "spread": spread}, difference)


def _spreads(norm: Norm) -> Iterator[Change]:
    words = (_("the mean of x^2"), _("the variance"))
    if norm.center:
        text = _("It divides by the root of the mean of x^2, not by the standard deviation.")
        yield Change("spread", {"spread": "x"}, Difference("variance", *words, text))
        forgotten = _("It averages the deviations, not their squares: the square is forgotten.")
        own = _("deviations that are not squared")
    else:
        text = _("It divides by the standard deviation, not by the root of the mean of x^2.")
        yield Change("spread", {"spread": "centered"}, Difference("variance", words[1], words[0], text))
        forgotten = _("It averages the values, not their squares: the square is forgotten.")
        own = _("values that are not squared")
    difference = Difference("variance", own, _("the mean of squares"), forgotten)
    for spread in ("|centered|", "|x|", "sum of deviations", "values"):
        yield from (Change("spread", {"spread": spread, "root": root}, difference) for root in ("inside", "none"))


def _divisors(groups: Groups) -> Iterator[Change]:
    m = groups.elements
    others = [UNBIASED] if m > 1 else []
    others += [SUM] if m > 2 else []
    others += [str(number) for number in (m - 2, m + 1) if number > 1 and number != m]
    yield from (Change("divisor", {"divisor": one}, divisor_difference(one, m)) for one in others)


def _roots(norm: Norm) -> Iterator[Change]:
    for place, root in (
        ("outside", "outside"),
        ("maximum", "maximum"),
        ("maximum", "maximum inside"),
        ("scaled", "scaled"),
        ("scaled", "scaled by all"),
        *([("relative", "relative")] if (norm.eps or 0.0) > 1e-4 else []),  # else it is as if there were none
    ):
        yield Change("root", {"root": root}, place_difference(place, norm.center))
    yield Change("root", {"root": "none"}, no_root(norm.center))
    wanted = _("the standard deviation") if norm.center else _("the root of the mean of x^2")
    text = (
        _("It multiplies by the standard deviation instead of dividing by it.")
        if norm.center
        else _("It multiplies by the root of the mean of x^2 instead of dividing by it.")
    )
    yield Change("root", {"root": "product"}, Difference("variance", _("a product"), _("a quotient"), text))
    if norm.center:
        text = _("It subtracts the mean, and does not divide by the standard deviation.")
        yield Change("root", {"root": "nothing"}, Difference("variance", _("no division"), wanted, text))
        text = _("It multiplies by the variance instead of dividing by its root.")
        yield Change(
            "root", {"root": "product of squares"}, Difference("variance", _("a product"), _("a quotient"), text)
        )


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
            difference = Difference(
                "statistics", own, wanted, _("Its mean is over {own}, not over {wanted}.", own=own, wanted=wanted)
            )
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
