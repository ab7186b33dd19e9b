"""What a function computes and how it differs from the layer that it should be, in sentences.

``differences`` and ``without_like`` find each ``Difference``, ``text`` writes all of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite, prod

import numpy as np
import torch
from torch import Tensor

from normviz.analysis.description import Description
from normviz.analysis.forward import dtype_name
from normviz.layers.norm import Norm
from normviz.measuring.formula import (
    BIASED,
    SUM,
    UNBIASED,
    Axis,
    Ids,
    Index,
    Learned,
    Measurement,
    constant_of,
    from_ids,
    same_partition,
)
from normviz.texts.errors import listed
from normviz.texts.messages import N_, _, join_sentences, ngettext


@dataclass(frozen=True)
class DifferenceKind:
    """A kind of difference.

    meaning   for the documentation
    remedy    what to change, as a message; "" where the difference does not tell
    of_square  the remedy for a layer that subtracts no mean, if that remedy differs
    """

    meaning: str
    remedy: str = ""
    of_square: str = ""


_ROOT = (
    N_("Divide by sqrt(var + eps), where var is the mean of (x - mean)^2 over {axes}."),
    N_("Divide by the root of the mean of x^2 plus eps, with the mean over {axes}."),
)
KINDS = {  # of differences: the documentation and the schema of the JSON have the same
    "statistics": DifferenceKind(
        "other elements share a mean or a variance",
        N_("Take the mean and the variance of all elements over {axes}."),
        N_("Take the mean of x^2 of all elements over {axes}."),
    ),
    "parameters": DifferenceKind("other elements share a gamma or a beta", N_("Use one gamma or beta {expected}.")),
    "center": DifferenceKind(
        "a mean is not subtracted, or one is that should not be, or another number",
        N_("Subtract the mean."),
        N_("Do not subtract the mean."),
    ),
    "variance": DifferenceKind("what x is divided by is made in another way", *_ROOT),
    "eps": DifferenceKind("another eps", N_("Use {expected} as eps.")),
    "eps_placement": DifferenceKind("eps stands in another place", *_ROOT),
    "gamma": DifferenceKind(
        "gamma is used in another way", N_("Multiply the normalized x by {gamma}, and by nothing else.")
    ),
    "beta": DifferenceKind("beta is used in another way", N_("At the end add beta, and nothing else.")),
    "factor": DifferenceKind("a factor that is no parameter", N_("Leave out this factor.")),
    "offset": DifferenceKind("an added number that is no parameter", N_("Leave out this added number.")),
    "training": DifferenceKind("another output in train or in eval mode"),
    "running": DifferenceKind("other running statistics, or another use of them"),
    "backward": DifferenceKind("another gradient"),
    "dtype": DifferenceKind("the output has another dtype", N_("Convert the output to {expected}.")),
    "precision": DifferenceKind(
        "larger rounding errors", N_("Compute each step in the dtype of x or a more precise one.")
    ),
    "strides": DifferenceKind(
        "another output where x is not contiguous", N_("Read x with its strides, or begin with x.contiguous().")
    ),
    "sizes": DifferenceKind("another output for other sizes of x"),
    "repeat": DifferenceKind("another output if it is called again", N_("Keep nothing from one call to the next.")),
    "in_place": DifferenceKind(
        "it writes into x, or returns the memory of x", N_("Write into a new tensor, and return that.")
    ),
    "residual": DifferenceKind(
        "another output with a residual", N_("Normalize x + residual, and return the sum as the second output, if any.")
    ),
    "batch": DifferenceKind("another output for a row in another batch"),
    "not_normalization": DifferenceKind("the function is no normalization"),
    "values": DifferenceKind("other values, for a reason that is not known"),
}
TRIED = ("dtype", "strides", "repeat", "in_place", "residual")  # their remedies follow from what was tried


@dataclass(frozen=True)
class Error:
    """How far an output is from the reference where it differs most.

    largest  the largest difference; NaN where only one of the two is a number
    at       its index
    ok       whether rounding explains all differences
    """

    largest: float
    at: Index
    ok: bool


@dataclass(frozen=True)
class Difference:
    """One difference.

    what      its kind: one of [this table](how-it-measures.md#kinds-of-differences)
    found     what the function does
    expected  what it should do
    sentence  both in a sentence
    remedy    what to change, in a sentence; "" where the difference does not tell. All remedies together give the layer
    """

    what: str
    found: str
    expected: str
    sentence: str
    remedy: str = ""

    def __post_init__(self) -> None:
        assert self.what in KINDS, f"KINDS has no {self.what}"


def with_remedy(one: Difference, expected: Description) -> Difference:
    """The difference with its remedy. Without the difference, the function is this layer."""
    norm, what = expected.norm, one.what
    if what == "gamma" and norm.params is None:
        what = "factor"
    if what == "beta" and (norm.params is None or not norm.bias):
        what = "offset"
    kind = KINDS[what]
    message = kind.remedy if norm.center else kind.of_square or kind.remedy
    if not message or (norm.running and one.what in ("variance", "eps_placement", "statistics")):
        return one
    text = _(
        message,
        axes=axes_text(norm, expected.axes, expected.shape),
        expected=one.expected,
        gamma="1 + gamma" if norm.zero_centered_gamma else "gamma",
    )
    return replace(one, remedy=text)


def groups_difference(found: Measurement, expected: Description) -> Difference:
    """Other groups than the expected ones."""
    own, wanted = groups_text(found, expected.axes), axes_text(expected.norm, expected.axes, expected.shape)
    sentence = _(
        "Your function {own}; {layer} {wanted}.", own=_works(found, own), wanted=_averages(wanted), layer=expected.title
    )
    return Difference("statistics", own, wanted, sentence)


def unexplained(found: Measurement, expected: Description, shown: Difference) -> Iterator[Difference]:
    """What was measured of a function whose output nothing explains. ``shown``: by how much it differs."""
    ids = expected.stat_ids
    if found.ids is None and found.dtype.itemsize < 4:
        yield shown  # in 16 bits, groups may be hidden by rounding
        return
    if found.ids is None:
        is_expected = all(np.array_equal(ids == ids[index], mask) for index, mask in found.reach.changed.items())
    else:
        is_expected = same_partition(found.ids, ids)
    if not is_expected:
        yield groups_difference(found, expected)
    is_shared = is_expected and found.elements > 1 and not found.running
    holds = _("Its groups are those of {layer}.", layer=expected.title) if is_shared else ""
    other = not_normalization(found)
    if found.formula is None:
        yield replace(other, sentence=join_sentences([other.sentence, holds, shown.sentence]))
    else:
        yield also(shown, holds)


def without_like(found: Measurement, norm: Norm | None) -> Iterator[Difference]:
    """Why no Norm computes the same."""
    if norm is not None or (found.running and found.ids is None):
        return
    if found.formula is None:
        yield not_normalization(found)
        return
    kind = found.formula.kind
    other = [] if found.divisor == BIASED else [divisor_difference(found.divisor, found.elements)]
    if found.eps is not None and found.eps.place != "inside":
        other.append(place_difference(found.eps.place, kind is None or kind.center))
    if kind is not None and kind.center != kind.spread:
        other.append(spread_difference(kind.spread))
    if found.ids is not None and from_ids(found.ids) is None:
        other.append(
            Difference(
                "statistics",
                _("groups that are not made of whole or split axes"),
                _("groups that a pattern describes"),
                _("Its groups are not made of whole or split axes of x, so no pattern describes them."),
            )
        )
    yield from other or [replaced(_("For some x, its output is not that of the formula."))]


def not_normalization(found: Measurement) -> Difference:
    sentence = _("It is not a normalization: no mean and variance, and no mean of squares, gives its output.")
    if found.is_identity:
        sentence = _("It returns x unchanged.")
    elif found.affine:
        sentence = _("It uses no statistics: each output is a*x + b.")
    return Difference("not_normalization", _("another function"), _("a normalization"), sentence)


def spread_difference(spread: bool) -> Difference:
    """The variance instead of the mean of x^2 if ``spread``, else the other way round."""
    words = (_("the mean of x^2"), _("the variance"))
    sentences = (
        _("It divides by the root of the mean of x^2, not by the standard deviation."),
        _("It divides by the standard deviation, not by the root of the mean of x^2."),
    )
    return Difference("variance", words[spread], words[not spread], sentences[spread])


def divisor_difference(divisor: str, m: int) -> Difference:
    """Another number by which the sum of squares is divided."""
    if divisor == SUM:
        sentence = _("It does not divide the sum of squares by m, the size of a group.")
    elif divisor == UNBIASED:
        sentence = _("It divides the sum of squares by m - 1, not m, the size of a group.")
    else:
        sentence = _(
            "It divides the sum of squares by {divisor}, not by m = {m}, the size of a group.", divisor=divisor, m=m
        )
    return Difference("variance", divisor, BIASED, sentence)


def place_difference(place: str, center: bool) -> Difference:
    """eps in another place: "outside", "maximum", "scaled", or "" for elsewhere. ``center``: whether the layer has a variance."""
    if place == "outside":
        words = _("outside the root")
        sentence = (
            _("It adds eps to the standard deviation, outside the root, not to the variance.")
            if center
            else _("It adds eps to the root of the mean of x^2, not inside the root.")
        )
    elif place == "maximum":
        words = _("as the smallest denominator")
        sentence = (
            _("It takes the maximum of the denominator and eps instead of adding eps to the variance.")
            if center
            else _("It takes the maximum of the denominator and eps instead of adding eps to the mean of x^2.")
        )
    elif place == "scaled":
        words = _("multiplied by the square of the largest |x|")
        sentence = _("Its eps grows with x: it is multiplied by the square of the largest |x|.")
    elif place == "relative":
        words = _("multiplied by the variance") if center else _("multiplied by the mean of x^2")
        sentence = _("It multiplies eps by what it should be added to.")
    else:
        words = _("elsewhere")
        sentence = _("Its output for small x is not that of an eps inside or outside the root.")
    return Difference("eps_placement", words, _("inside the root"), sentence)


def eps_difference(own: float, wanted: float) -> Difference:
    """Another eps."""
    return Difference(
        "eps", f"{own:g}", f"{wanted:g}", _("Its eps is {own:g}, not {wanted:g}.", own=own, wanted=wanted)
    )


def axes_of(groups: Sequence[Axis] | None, names: Sequence[str]) -> str:
    """The axes along which elements share something."""
    if groups is None:
        return _("groups that are not made of whole axes")
    return _listed_axes([_axis_text(name, axis) for name, axis in zip(names, groups, strict=True) if axis.is_reduced])


def other_pattern(message: str, learned: Learned, expected: Description) -> Difference:
    """A gamma or beta for other elements."""
    own = pattern_text(learned.ids, expected.axes)
    wanted = each_text([name.upper() for name in expected.norm.gamma_axes])
    return Difference("parameters", own, wanted, _(message, own=own, wanted=wanted, layer=expected.title))


def unexpected(name: str, expected: Description) -> Difference:
    """A gamma or beta of a layer that has none."""
    if name == "gamma":
        sentence = _("It multiplies by a gamma, and {layer} has none.", layer=expected.title)
        return Difference("gamma", "gamma", _("no gamma"), sentence)
    return Difference("beta", "beta", _("no beta"), _("It adds a beta, and {layer} has none.", layer=expected.title))


def multiple(number: float, factor: str) -> str:
    """The product of a number and gamma, or 1 + gamma.

    >>> multiple(2, "1 + gamma"), multiple(-1, "gamma"), multiple(1, "1 + gamma")
    ('2*(1 + gamma)', '-gamma', '1 + gamma')
    """
    if number == 1:
        return factor
    sign = "-" if number == -1 else f"{number:g}*"
    return f"{sign}({factor})" if " " in factor else f"{sign}{factor}"


def other_factor(own: str, wanted: str) -> Difference:
    return Difference("gamma", own, wanted, _("It multiplies by {own}, not by {wanted}.", own=own, wanted=wanted))


CLOSE = 2e-4  # relative


def constant_value(values: Tensor) -> float | None:
    """The number that all values are, or None."""
    middle = float(values.nanmedian())
    same = bool((((values - middle).abs() <= CLOSE * max(1e-3, abs(middle))) | values.isnan()).all())
    if not same:
        return None
    short = float(f"{middle:.3g}")
    return float(f"{middle:.6g}") if short in (0.0, 1.0) else short


def constant_factor(value: float | None) -> Difference:
    """A factor that no parameter explains; None: another one for each element."""
    if value is None:
        return Difference(
            "factor", _("another factor"), "1", _("It multiplies by numbers that are no parameter of it.")
        )
    return Difference("factor", f"{value:g}", "1", _("It multiplies by {n:g}, which is no parameter.", n=value))


def constant_offset(value: float | None) -> Difference:
    """An offset that no parameter explains; None: another one for each element."""
    if value is None:
        return Difference("offset", _("another offset"), "0", _("It adds numbers that are no parameter of it."))
    return Difference("offset", f"{value:g}", "0", _("It adds {n:g}, which is no parameter.", n=value))


# Differences of a function whose formula is right


def stored_instead() -> Difference:
    """Stored statistics where those of x should be used."""
    text = _("It uses stored statistics, as in eval mode, instead of those of x.")
    return Difference("training", _("stored statistics"), _("the statistics of x"), text)


def from_x_instead() -> Difference:
    """Statistics of x where stored ones should be used."""
    text = _("It computes the statistics of x, as in training mode, instead of using stored ones.")
    return Difference("training", _("the statistics of x"), _("stored statistics"), text)


def differs_by(error: Error, own: float, wanted: float, layer: str) -> Difference:
    """Another output, without a known reason."""
    if error.ok:
        text = _("Its output is that of {layer} on x, but not on other values.", layer=layer)
    else:
        text = _(
            "Its output differs from that of {layer} by up to {largest:.3g}: at {at} it is {own:.4g}, and it must be {wanted:.4g}.",
            layer=layer,
            largest=error.largest,
            at=list(error.at),
            own=own,
            wanted=wanted,
        )
    return replaced(text)


def replaced(sentence: str) -> Difference:
    """Other values than those of the formula, for this reason."""
    return Difference("values", _("other values"), _("those of the formula"), sentence)


def imprecise(error: Error, dtype: torch.dtype, only_near: bool = False, cause: str = "") -> Difference:
    """Right in float64, or near zero, and wrong on x in its dtype. ``cause``: why, or ""."""
    name = dtype_name(dtype)
    right = _("It is right for x near zero.") if only_near else _("It is right in float64.")
    if isfinite(error.largest):
        wrong = _(
            "In {dtype}, its largest error on x is {largest:.3g}, at {at}.",
            dtype=name,
            largest=error.largest,
            at=list(error.at),
        )
    else:
        wrong = _("In {dtype}, its output is not finite at {at}.", dtype=name, at=list(error.at))
    return Difference(
        "precision",
        _("rounding errors in {dtype}", dtype=name),
        _("the precision of torch"),
        join_sentences([right, wrong, cause]),
    )


def rounds(error: Error | None, dtype: torch.dtype, wanted: torch.dtype) -> Difference:
    """Rounding errors of a half-precision dtype in one that is more precise. ``error``: of this alone; None beside other differences."""
    names = [dtype_name(one) for one in (dtype, wanted)]
    if error is None:
        sentence = _("It rounds to {dtype} on the way. Compute in {wanted}.", dtype=names[0], wanted=names[1])
    else:
        sentence = _(
            "It rounds to {dtype} on the way: its largest error is {largest:.3g}, at {at}. Compute in {wanted}.",
            dtype=names[0],
            wanted=names[1],
            largest=error.largest,
            at=list(error.at),
        )
    return Difference(
        "precision", _("rounding errors in {dtype}", dtype=names[0]), _("the precision of torch"), sentence
    )


def vanishing_eps(dtype: torch.dtype) -> Difference:
    """eps is 0 in half precision."""
    name = dtype_name(dtype)
    sentence = _(
        "Its output is not finite where all elements of a group are equal: in {dtype}, its eps is too small to count. Compute in float32.",
        dtype=name,
    )
    return Difference("precision", _("an eps of 0 in {dtype}", dtype=name), _("a finite output"), sentence)


def other_dtype(own: torch.dtype, wanted: torch.dtype) -> Difference:
    """Another dtype of the output."""
    found, expected = map(dtype_name, (own, wanted))
    return Difference("dtype", found, expected, _("Its output is {own}, not {wanted}.", own=found, wanted=expected))


def other_size(right: tuple[int, ...], wrong: tuple[int, ...], error: Error) -> Difference:
    """Another output on another size."""
    sentence = _(
        "It is right on {right}, but not on {wrong}: there its output differs by up to {largest:.3g}.",
        right=right,
        wrong=wrong,
        largest=error.largest,
    )
    return Difference("sizes", _("another output on {shape}", shape=wrong), _("the output of the layer"), sentence)


def also(difference: Difference, sentence: str) -> Difference:
    """The difference with one more sentence."""
    return replace(difference, sentence=join_sentences([difference.sentence, sentence]))


EXTREME = {
    "far": N_("For an x much farther from zero, its output differs from that of {layer} by up to {largest:.3g}."),
    "large": N_("For a much larger x, its output differs from that of {layer} by up to {largest:.3g}."),
    "small": N_("For a much smaller x, its output differs from that of {layer} by up to {largest:.3g}."),
}


def extreme_note(name: str, largest: float, layer: str) -> str:
    """A difference that shows only for x unlike the given one."""
    return _(EXTREME[name], layer=layer, largest=largest)


def text(
    found: Measurement | None,
    expected: Description | None,
    differs: Sequence[Difference],
    axes: Sequence[str],
    similar: str,
) -> str:
    """What the function does, then each difference. ``similar`` names a layer with the same groups and parameters, or is empty."""
    sentences = []
    if expected is None and found is not None:
        sentences = [_groups(found, axes, similar)]
        gamma = found.gamma
        if gamma is not None and gamma.zero_centered and gamma.constant and not similar and not found.running:
            number = float(f"{gamma.constant / constant_of(found.divisor, found.elements):.3g}")
            sentences.append(_("It multiplies by {factor}.", factor=multiple(number, "1 + gamma")))
    elif expected is not None and not differs:
        sentences = [_same(expected)]
    for one in differs:
        if (
            one.what == "statistics" and expected is not None and found is not None
        ):  # then the function: the next sentence begins with "It"
            over = _("{layer} {averages}.", layer=expected.title, averages=_averages(one.expected))
            sentences += [over, _groups(found, axes, similar)]
        else:
            sentences.append(one.sentence)
    if found is None:
        return join_sentences(dict.fromkeys(sentences))
    if found.instead is not None:
        sentences.append(
            ngettext(
                "x has {n:,} element, so a smaller x of shape {shape} was measured. In x of shape {whole}, a change of one input reaches outputs along the same axes.",
                "x has {n:,} elements, so a smaller x of shape {shape} was measured. In x of shape {whole}, a change of one input reaches outputs along the same axes.",
                prod(found.instead),
                shape=found.shape,
                whole=found.instead,
            )
        )
    elif found.is_sampled:
        moved = len(found.reach.changed)
        sentences.append(
            ngettext(
                "x has {n:,} element; only {moved} of them were changed to see which outputs depend on them.",
                "x has {n:,} elements; only {moved} of them were changed to see which outputs depend on them.",
                prod(found.shape),
                moved=moved,
            )
        )
    return join_sentences(dict.fromkeys(sentences))


def _same(expected: Description) -> str:
    if expected.norm.running:
        return _("Your function does what {layer} does: it uses stored statistics.", layer=expected.title)
    over = axes_text(expected.norm, expected.axes, expected.shape)
    return _("Your function does what {layer} does: it {averages}.", layer=expected.title, averages=_averages(over))


def _groups(found: Measurement, axes: Sequence[str], layer: str) -> str:
    if found.running and layer:
        return _("Your function uses stored statistics (like {layer}).", layer=layer)
    if found.running:
        return _("Your function uses stored statistics.")
    if found.affine:
        return _("Your function is no normalization.")
    if found.ids is None:
        return _("In your function, the elements do not form groups that share their statistics.")
    averages = _works(found, groups_text(found, axes))
    if layer:
        return _("Your function {averages} (like {layer}).", averages=averages, layer=layer)
    return _("Your function {averages}.", averages=averages)


def _works(found: Measurement, axes: str) -> str:
    """The verb with the axes: a function that is no normalization, such as softmax, takes elements together and need not average them."""
    return _averages(axes) if found.formula is not None or axes == _("no axis") else _("works over {axes}", axes=axes)


def _averages(axes: str) -> str:
    """The verb with the axes; in Spanish, Portuguese and Chinese, "no axis" denies the verb."""
    return _("averages over no axis") if axes == _("no axis") else _("averages over {axes}", axes=axes)


# The axes over which something is averaged, in words.


def axes_text(norm: Norm, axes: Sequence[str], shape: tuple[int, ...]) -> str:
    """The axes that a Norm averages over: ``"N and L"``.

    >>> axes_text(Norm("n l c -> c", "c"), ("n", "l", "c"), (3, 4, 5))
    'N and L'
    """
    sizes, kept = norm.axis_sizes(shape), norm.pattern.right
    several = {
        name: Axis(tuple(sizes[part] for part in parts), tuple(part in kept for part in parts))
        for name, parts in zip(axes, norm.pattern.left, strict=True)
    }
    reduced = {name: axis for name, axis in several.items() if axis.is_reduced or not any(axis.kept)}
    return _listed_axes([_axis_text(name, axis) for name, axis in reduced.items()])


def groups_text(found: Measurement, axes: Sequence[str]) -> str:
    """The axes that a function averages over, as far as they can be described."""
    groups = None if found.ids is None else from_ids(found.ids)
    if groups is None:
        return _("groups that are not made of whole axes")
    reduced = [_axis_text(name, axis) for name, axis in zip(axes, groups, strict=True) if axis.is_reduced]
    return _listed_axes(reduced)


def _listed_axes(texts: Sequence[str]) -> str:
    """Whole axes first: "H, W and groups of 2 neighbors along C"."""
    ordered = sorted(texts, key=lambda text: " " in text)
    return listed(ordered, "and") if ordered else _("no axis")


def pattern_text(ids: Ids, names: Sequence[str]) -> str:
    """Which elements have a gamma in common: "for each index of C"."""
    axes = from_ids(ids)
    if axes is None:
        return _("for each of several groups that are not made of whole axes")
    shared = [(name, axis) for name, axis in zip(names, axes, strict=True) if any(axis.kept) and axis.parts != (1,)]
    texts = [_axis_text(name, axis) for name, axis in shared]
    if len(shared) == 1 and len(shared[0][1].parts) > 1:
        return _("for {indices}", indices=texts[0])
    return each_text(texts)


def each_text(names: Sequence[str]) -> str:
    """What there is one gamma for, along these axes.

    >>> each_text(["C", "H"])
    'for each position in (C, H)'
    """
    if not names:
        return _("for all elements")
    if len(names) == 1:
        return _("for each index of {axis}", axis=names[0])
    return _("for each position in ({axes})", axes=", ".join(names))


def _axis_text(name: str, axis: Axis) -> str:
    """A whole axis, or what is averaged or shared of it: "groups of 2 neighbors along C", "indices of C that are 3 apart"."""
    if len({kept for size, kept in zip(axis.parts, axis.kept, strict=True) if size > 1}) < 2:
        return name.upper()
    if axis.kept == (True, False):
        return ngettext(
            "groups of {n} neighbor along {axis}",
            "groups of {n} neighbors along {axis}",
            axis.parts[1],
            axis=name.upper(),
        )
    if axis.kept == (False, True):
        return _("indices of {axis} that are {step} apart", step=axis.parts[1], axis=name.upper())
    return _("parts of {axis}", axis=name.upper())
