"""What a figure shows of a layer on an x of any size: the forward pass at the drawn elements, and in the group of the selected one.

The elements of a statistics group are a product of indices, one set for each axis, and so are those of all groups that the drawing meets. The layer on
these elements alone is a layer on a smaller tensor, with the same patterns and the same means and variances. So values cost as much as the groups
do, however large x is. Of a group that is too large for that, some elements are drawn as a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from math import prod

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from normviz.analysis import forward, sentences
from normviz.analysis.description import Description, no_values
from normviz.analysis.forward import Trace, Values
from normviz.analysis.on_demand import MOST_HELD, OnDemand, hashes
from normviz.texts.messages import _, format_number, join_sentences

Index = tuple[int, ...]
Indices = NDArray[np.int64]
Sources = Mapping[str, OnDemand]
MOST_OF_A_GROUP = 2**18  # elements of the selected group; of a larger one, a sample
MOST_AROUND = 2**19  # elements of all groups that are drawn; if they have more, only the selected group is computed
MOST_DOTS = 400  # values of a group that are drawn one by one
SHORT = 16  # elements of a group

Take = Callable[[Tensor], Tensor]

# The mean and the variance of each statistics group, before and after every step. ``normalized = (x - m) / s`` with one m and one s for
# each group, so the moments after a step follow from those before it. They are computed in float64 from these rules: a mean that is 0 in
# exact arithmetic is 0 here.


@dataclass(frozen=True)
class Moments:
    """The mean and the biased variance of each statistics group, float64, broadcastable to x."""

    mean: Tensor
    var: Tensor

    @property
    def mean_square(self) -> Tensor:
        return self.var + self.mean.square()

    def shifted(self, by: Tensor | float) -> Moments:
        return Moments(self.mean + by, self.var)

    def scaled(self, by: Tensor | float) -> Moments:
        return Moments(self.mean * by, self.var * by * by)

    def taken(self, take: Take) -> Moments:
        return Moments(take(self.mean), take(self.var))


def moments(e: Description, take: Take = lambda values: values, measured: Moments | None = None) -> dict[str, Moments]:
    """The moments of "x", "centered", "normalized" and, for a layer with gamma, "output".

    take      a part of each tensor; by default all of it
    measured  those of all of x, if they are known

    Raises NormvizError if only a shape was given.

    >>> from normviz import explain
    >>> import torch
    >>> found = moments(explain("LayerNorm(2, eps=12)", torch.tensor([[1.0, 5.0]])))
    >>> {key: (float(each.mean), float(each.var)) for key, each in found.items()}
    {'x': (3.0, 4.0), 'centered': (0.0, 4.0), 'normalized': (0.0, 0.25), 'output': (0.0, 0.25)}
    """
    norm = e.norm
    if e.x is None:
        raise no_values(e.shape)
    before = (measured or _measured(e, e.x)).taken(take)
    if norm.running:
        centered, divisor = before.shifted(-take(e.trace.mean).double()), take(e.trace.var).double()
    elif norm.center:
        centered, divisor = Moments(before.mean * 0, before.var), before.var
    else:
        centered, divisor = before, before.mean_square
    normalized = centered.scaled((divisor + forward.used_eps(norm, e.x)).rsqrt())
    found = {"x": before, "centered": centered, "normalized": normalized}
    return found if norm.params is None else found | {"output": _output_moments(e, normalized, take)}


def _measured(e: Description, values: Tensor) -> Moments:
    wide = values.double()
    mean = forward.group_statistic(e.norm, wide, _mean)
    return Moments(mean, forward.group_statistic(e.norm, (wide - mean).square_(), _mean))


def _mean(values: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The mean over the last axes."""
    size = prod(values.shape[axes[0] :])
    if size > SHORT:
        return values.mean(axes)
    flat = values.flatten(axes[0])
    return flat @ flat.new_ones(size) / size  # a reduction of torch takes several times as long


def _output_moments(e: Description, normalized: Moments, take: Take) -> Moments:
    """By the rule for one gamma and one beta, else measured."""
    held = e.layer_values()
    if any(value is not None and not bool((value == value.flatten()[0]).all()) for value in (held.gamma, held.beta)):
        return _measured(e, e.trace.output).taken(take)
    assert held.gamma is not None  # without gamma, "normalized" is the output
    scaled = normalized.scaled(forward.factor(e.norm, held.gamma.flatten()[0].double()))
    return scaled.shifted(0.0 if held.beta is None else held.beta.flatten()[0].double())


@dataclass(frozen=True, eq=False)
class GroupValues:
    """The values of one statistics group, or of some of its elements as a sample.

    number    the id of the group
    size      the number of its elements
    elements  the index of each value, if they are at most 400
    stages    "x", "normalized" and "output": the values in one dimension
    """

    number: int
    size: int
    elements: tuple[Index, ...]
    stages: dict[str, Tensor]

    @property
    def count(self) -> int:
        """The number of values."""
        return self.stages["x"].numel()


@dataclass(frozen=True, eq=False)
class Excerpt:
    """The forward pass at the drawn elements. Its tensors have the shape of the drawing, or broadcast to it.

    x, trace     the values, and every step
    gamma, beta  of the drawn elements
    moments      of the groups, by stage
    part         the layer on the elements from which the statistics are computed
    measured     the moments of all groups of the part's x
    group        the selected group; None if every element is drawn
    computed     the ids of the groups whose statistics are computed; None: of all. Elsewhere, numbers that follow from a group are NaN.
    """

    x: Tensor
    trace: Trace
    gamma: Tensor | None
    beta: Tensor | None
    moments: dict[str, Moments]
    part: Description
    measured: Moments
    group: GroupValues | None = None
    computed: tuple[int, ...] | None = None


def excerpt(e: Description, drawn: Sequence[Sequence[int]] | None = None, at: Sequence[int] | None = None) -> Excerpt:
    """The forward pass of ``e`` at the drawn indices of each axis, by default everywhere; and the group of the element ``at``.

    Raises NormvizError if only a shape was given.

    >>> from normviz import explain
    >>> import torch
    >>> found = excerpt(explain("LayerNorm(2, eps=0.0)", torch.tensor([[1.0, 3.0], [2.0, 6.0]])), [[1], [0, 1]])
    >>> found.x.tolist(), found.trace.mean.tolist(), found.trace.output.tolist()
    ([[2.0, 6.0]], [[4.0]], [[-1.0, 1.0]])
    """
    if drawn is None or not has_values(e) or (e.x is not None and tuple(map(len, drawn)) == e.shape):
        trace, held = e.trace, e.layer_values()
        assert e.x is not None  # the trace raises an error without x
        gamma, beta = (
            None if one is None else forward.broadcast(e.norm, e.shape, one) for one in (held.gamma, held.beta)
        )
        measured = _measured(e, e.x)
        return Excerpt(e.x, trace, gamma, beta, moments(e, measured=measured), e, measured)
    indices = [np.array(along, dtype=np.int64) for along in drawn]
    sources = _sources(e)
    group = _group(e, sources, [along[0] for along in drawn] if at is None else at)
    part = _around(e, sources, indices) or group
    return _at_drawn(e, sources, indices, part, None if at is None else _values_of(group))


def has_values(e: Description) -> bool:
    """Whether x has values, in memory or on demand."""
    return e.x is not None or bool(e.on_demand)


def _sources(e: Description) -> Sources:
    """x, gamma, beta, running_mean and running_var, in memory or on demand, as far as there are any."""
    held = e.layer_values().tensors | ({} if e.x is None else {"x": e.x})
    return {name: OnDemand.held(tensor) for name, tensor in held.items()} | dict(e.on_demand)


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """The layer on whole groups of a large x.

    layer    on their elements alone
    at       the index of the selected element among them
    take     takes the drawn elements from a tensor of the layer's shape
    sampled  whether they are samples of the groups, in which each drawn element is
    """

    layer: Description
    at: Index
    take: Take
    sampled: bool = False


def neighborhood(
    e: Description, drawn: Sequence[Sequence[int]], at: Sequence[int], most: int, samples: bool = False
) -> Neighborhood | None:
    """The layer on the groups that are drawn and on that of the element ``at``.

    If they have more elements than ``most``: None, or about as many as a sample.

    Raises NormvizError if only a shape was given.
    """
    if not has_values(e):
        raise no_values(e.shape)
    indices = [np.unique([*along, index]) for along, index in zip(drawn, at, strict=True)]
    part = _groups(e, _sources(e), indices, most, samples)
    if part is None:
        return None
    places = np.ix_(*(np.searchsorted(held, along) for held, along in zip(part.axes, drawn, strict=True)))
    own = (int(np.searchsorted(held, index)) for held, index in zip(part.axes, at, strict=True))
    sampled = part.layer.counts.elements_per_statistic < e.counts.elements_per_statistic
    return Neighborhood(part.layer, tuple(own), lambda values: values[places], sampled)


def sample_note(e: Description) -> str:
    """Says that the numbers of a group are estimated; "" if they are computed from all of its elements."""
    size = e.counts.elements_per_statistic
    if not has_values(e) or size <= MOST_OF_A_GROUP or _is_small(e):
        return ""
    count = prod(map(len, _sampled(e).values()))
    if e.norm.running:
        return _(
            "The distribution shows a sample of the elements of the group: **{count:,}** of **{size:,}**.",
            count=count,
            size=size,
        )
    return _(
        "The statistics are estimated from a sample of the elements of the group, **{count:,}** of **{size:,}**. They and the output are approximate.",
        count=count,
        size=size,
    )


# Some elements of x, which are a product of indices.


def _is_small(e: Description) -> bool:
    """Whether x is computed whole."""
    return e.x is not None and e.x.numel() <= MOST_HELD


@dataclass(frozen=True, eq=False)
class _Part:
    """The layer on some elements of x.

    layer  on these elements alone
    along  their indices along each name of the pattern
    axes   their indices along each axis of x
    group  the id of its only group; None: it has every group that is drawn
    size   the number of elements of a group of x
    """

    layer: Description
    along: Mapping[str, Indices]
    axes: Sequence[Indices]
    group: int | None
    size: int


def _part(e: Description, held: Sources, along: Mapping[str, Indices], group: int | None = None) -> _Part:
    """The layer on the elements with these indices along each name of the pattern."""
    norm, sizes = e.norm, e.norm.axis_sizes(e.shape)
    axes = [
        reduce(lambda index, name: np.add.outer(index * sizes[name], along[name]).ravel(), parts, np.zeros(1, np.int64))
        for parts in norm.pattern.left
    ]
    named = {**along, **dict(zip(norm.axes, axes, strict=True))}

    def taken(name: str, names: Sequence[str]) -> Tensor | None:
        source = held.get(name)
        return None if source is None else source.at(np.ix_(*(named[each] for each in names)))

    x, kept = taken("x", norm.axes), norm.pattern.right
    assert x is not None
    values = Values(
        taken("gamma", norm.gamma_axes),
        taken("beta", norm.gamma_axes),
        taken("running_mean", kept),
        taken("running_var", kept),
    )
    smaller = replace(norm, sizes={name: len(along[name]) for name in norm.split_sizes})
    layer = Description(smaller, tuple(x.shape), e.axes, x=x, values=values)
    return _Part(layer, along, axes, group, e.counts.elements_per_statistic)


def _around(e: Description, held: Sources, indices: Sequence[Indices]) -> _Part | None:
    """All groups that are drawn; of a small x, all of it. None if they have too many elements."""
    if _is_small(e):
        sizes = e.norm.axis_sizes(e.shape)
        along = {name: np.arange(sizes[name]) for name in e.norm.pattern.names}
        return _Part(e, along, [], None, e.counts.elements_per_statistic)
    return _groups(e, held, indices, MOST_AROUND)


def _groups(
    e: Description, held: Sources, indices: Sequence[Indices], most: int, samples: bool = False
) -> _Part | None:
    """All groups of the elements at these indices; if they have more elements than ``most``, None or a sample with these elements."""
    names, kept, sizes = e.norm.pattern.names, e.norm.pattern.right, e.norm.axis_sizes(e.shape)
    found = _along_names(e, indices)
    along = {name: np.unique(found[name]) for name in kept}
    groups = prod(map(len, along.values()))
    if groups * e.counts.elements_per_statistic <= most:
        return _part(e, held, {name: along[name] if name in kept else np.arange(sizes[name]) for name in names})
    if not samples:
        return None
    for name, some in _sampled(e, max(1, most // groups)).items():
        own = np.unique(found[name])
        along[name] = some if len(some) == sizes[name] else np.union1d(own, some[len(own) :])
    return _part(e, held, along)


def _group(e: Description, held: Sources, at: Sequence[int]) -> _Part:
    """The group of an element; if it is large, a sample of it."""
    sizes, kept = e.norm.axis_sizes(e.shape), e.norm.pattern.right
    own = _along_names(e, [np.array([index], dtype=np.int64) for index in at])
    along = _sampled(e) | {name: own[name] for name in kept}
    return _part(e, held, along, reduce(lambda group, name: group * sizes[name] + int(own[name][0]), kept, 0))


def _sampled(e: Description, most: int = MOST_OF_A_GROUP) -> dict[str, Indices]:
    """The indices along the reduced axes: all of them, or some if a group has more elements than ``most``."""
    sizes = e.norm.axis_sizes(e.shape)
    found: dict[str, Indices] = {}
    reduced = sorted(e.norm.pattern.reduced, key=sizes.__getitem__)
    for number, name in enumerate(reduced):
        count = min(sizes[name], int(most ** (1 / (len(reduced) - number)) + 1e-9))
        found[name], most = _some_of(sizes[name], count), most // count
    return found


def _some_of(size: int, count: int) -> Indices:
    """``count`` indices of an axis: one somewhere in each of as many stretches."""
    starts = np.arange(count + 1) * size // count
    offsets = hashes(count, (np.arange(count),)) % np.diff(starts).astype(np.uint64)
    return starts[:-1] + offsets.astype(np.int64)


def _along_names(e: Description, indices: Sequence[Indices]) -> dict[str, Indices]:
    """Indices along each axis of x as indices along each name of the pattern."""
    sizes = e.norm.axis_sizes(e.shape)
    found: dict[str, Indices] = {}
    for parts, index in zip(e.norm.pattern.left, indices, strict=True):
        found |= dict(zip(parts, np.unravel_index(index, [sizes[name] for name in parts]), strict=True))
    return found


# What a figure shows of them.


def _values_of(part: _Part) -> GroupValues:
    """The values of the only group of a part."""
    trace, x = part.layer.trace, part.layer.x
    assert x is not None
    assert part.group is not None
    elements = product(*(index.tolist() for index in part.axes)) if x.numel() <= MOST_DOTS else ()
    stages = {"x": x, "normalized": trace.normalized, "output": trace.output}
    flat = {stage: values.flatten() for stage, values in stages.items()}
    return GroupValues(part.group, part.size, tuple(elements), flat)


def _at_drawn(
    e: Description, held: Sources, indices: Sequence[Indices], part: _Part, group: GroupValues | None
) -> Excerpt:
    """The forward pass at the drawn elements, by the statistics of a part."""
    norm, take = e.norm, _taker(e, indices, part)
    assert part.layer.x is not None
    measured = _measured(part.layer, part.layer.x)
    found = moments(part.layer, take, measured)
    x, gamma, beta, *stored = (_source_at(e, held, name, indices) for name in ("x", *forward.ATTRIBUTES))
    assert x is not None
    wide = x.to(forward.computes_in(norm, x.dtype))
    if norm.running:  # known everywhere
        mean, var = forward.running_statistics(Values(None, None, *stored))
    elif part.layer is e:
        mean, var = take(e.trace.mean), take(e.trace.var)
    else:
        mean, var = found["x"].mean, found["x"].var if norm.center else found["x"].mean_square
    mean, var = (mean if norm.center else torch.zeros_like(mean)).to(wide), var.to(wide)
    centered = wide - mean if norm.center or norm.running else wide
    trace = forward.last_steps(norm, x, mean, var, centered, gamma, beta)
    computed = None if part.group is None else (part.group,)
    return Excerpt(x, trace, gamma, beta, found, part.layer, measured, group, computed)


def _taker(e: Description, indices: Sequence[Indices], part: _Part) -> Take:
    """What takes the numbers of the drawn elements from numbers of the groups of a part, as they broadcast; NaN in other groups."""
    names, rank = _along_names(e, indices), len(indices)
    places, is_known = [], []
    for axis, parts in enumerate(e.norm.pattern.left):
        place, known = np.zeros(len(indices[axis]), np.int64), np.ones(len(indices[axis]), bool)
        for name in parts:
            held = part.along[name]
            at = np.zeros(len(place), np.int64)
            if name in e.norm.pattern.right:
                at = np.minimum(np.searchsorted(held, names[name]), len(held) - 1)
                known &= held[at] == names[name]
            place = place * len(held) + at
        places.append(place)
        is_known.append(torch.from_numpy(known).reshape([-1 if other == axis else 1 for other in range(rank)]))
    unknown = [each for each in is_known if not bool(each.all())]

    def take(values: Tensor) -> Tensor:
        at = (place if size > 1 else np.zeros(1, np.int64) for place, size in zip(places, values.shape, strict=True))
        taken = values[np.ix_(*at)]
        for known in unknown:
            taken = torch.where(known.to(taken.device), taken, torch.nan)
        return taken

    return take


def _source_at(e: Description, held: Sources, name: str, indices: Sequence[Indices]) -> Tensor | None:
    """x, gamma, beta or a running statistic at the drawn elements, as it broadcasts to them."""
    source, norm, rank = held.get(name), e.norm, len(indices)
    if source is None:
        return None
    named = {**_along_names(e, indices), **dict(zip(norm.axes, indices, strict=True))}
    axis_of = {name: axis for axis, parts in enumerate(norm.pattern.left) for name in (norm.axes[axis], *parts)}
    axes = norm.axes if name == "x" else norm.pattern.right if name.startswith("running") else norm.gamma_axes
    at = tuple(named[each].reshape([-1 if axis == axis_of[each] else 1 for axis in range(rank)]) for each in axes)
    found = source.at(at)
    return found if at else found.reshape([1] * rank)


# The forward pass as steps, each with its values, its formula, and its part of the whole formula.
#
# A layer has only the steps that it needs: RMSNorm subtracts nothing, and running statistics are not computed.


@dataclass(frozen=True)
class Token:
    """A part of the whole formula.

    steps   the keys of the steps that it belongs to
    symbol  the part of ``text`` that stands for a number: "gamma" in " · gamma"
    number  the name of this number: "gamma"
    """

    text: str
    steps: tuple[str, ...]
    symbol: str = ""
    number: str = ""


@dataclass(frozen=True)
class Step:
    """One step of the forward pass.

    key      an identifier: "mean"
    title    "mean"
    formula  of this step alone
    values   broadcastable to x
    why      one sentence for a learner
    links    which groups a figure marks: elements that share statistics ("stats") or parameters ("params")
    """

    key: str
    title: str
    formula: str
    values: Tensor
    why: str
    links: str = "stats"


def steps(e: Description, shown: Excerpt | None = None) -> tuple[Step, ...]:
    """The steps of ``e``, in order. Raises NormvizError if only a shape was given.

    shown  the elements whose values the steps have; by default all

    >>> from normviz import explain
    >>> import torch
    >>> [step.key for step in steps(explain("RMSNorm(2)", torch.tensor([[3.0, 4.0]])))]
    ['x', 'squared', 'var', 'normalized', 'output']
    """
    shown = shown or excerpt(e)
    formula = f"{'(x − mean)' if _subtracts_mean(e) else 'x'} / √({_denominator(e)} + eps)"
    normalized = Step("normalized", _("normalized"), formula, shown.trace.normalized, _moments_after(e, shown))
    return (_input(e, shown), *_statistics(e, shown), normalized, *_output(e, shown))


def whole_formula(e: Description) -> tuple[Token, ...]:
    """``y = (x - mean) / sqrt(var + eps) * gamma + beta`` in tokens."""
    deviation, scaled, output = ("centered", "squared", "normalized", "output"), ("normalized", "output"), ("output",)
    numerator = [Token("x", ("x", "squared", *scaled), "x", "x")]
    if _subtracts_mean(e):
        numerator = [
            Token("(", deviation),
            Token("x", ("x", *deviation), "x", "x"),
            Token(" − ", deviation),
            Token("mean", ("mean", *deviation), "mean", "mean"),
            Token(")", deviation),
        ]
    tokens = [
        Token("y = ", output, "y", "output"),
        *numerator,
        Token(" / √(", scaled),
        Token(_denominator(e), ("var", *scaled), _denominator(e), "var"),
        Token(" + eps)", scaled, "eps", "eps"),
    ]
    if e.norm.params is not None:
        tokens.append(Token(f" · {sentences.factor_of_product(e.norm)}", output, "gamma", "gamma"))
    if e.norm.bias:
        tokens.append(Token(" + beta", output, "beta", "beta"))
    return tuple(tokens)


def _subtracts_mean(e: Description) -> bool:
    return e.norm.center or e.norm.running


def _denominator(e: Description) -> str:
    return "var" if _subtracts_mean(e) else _("mean of x²")


def _input(e: Description, shown: Excerpt) -> Step:
    if e.norm.running:
        shared = _("a running mean and a running variance")
    else:
        shared = _("a mean and a variance") if e.norm.center else _("a mean square")
    why = _(
        "The input; the color of a cell shows its value. Select an element: those that share {shared} with it keep their color.",
        shared=shared,
    )
    return Step("x", "x", _("the input"), shown.x, why)


def _statistics(e: Description, shown: Excerpt) -> tuple[Step, ...]:
    """The steps from x to the variance."""
    mean, var, centered = shown.trace.mean, shown.trace.var, shown.trace.centered
    squared = centered.square()
    if e.norm.running:
        stored = _("Stored in training; not computed from this input.")
        deviation = _("How far each element is from the running mean that it uses.")
        return (
            Step("mean", _("running mean"), "mean = running_mean", mean, stored),
            Step("centered", _("centered"), "x − mean", centered, deviation),
            Step("var", _("running variance"), "var = running_var", var, _("Stored in training, like the mean.")),
        )
    mean_of_squares = _("The mean of the squares over the group: divided by m, not by m − 1.")
    if e.norm.center:
        deviation = _("How far each element is from the mean of its group.")
        both_ways = _("Squared, so that deviations in both directions count.")
        return (
            Step("mean", _("mean"), "mean = (1/m) Σ x", mean, _("One number for all elements of a group.")),
            Step("centered", _("centered"), "x − mean", centered, deviation),
            Step("squared", _("squared"), "(x − mean)²", squared, both_ways),
            Step("var", _("variance"), "var = (1/m) Σ (x − mean)²", var, mean_of_squares),
        )
    alike = _("Squared, so that negative and positive values count alike.")
    return (
        Step("squared", _("squared"), "x²", squared, alike),
        Step("var", _("mean square"), "(1/m) Σ x²", var, mean_of_squares),
    )


def _moments_after(e: Description, shown: Excerpt) -> str:
    """The mean and the variance of the groups after normalization, in exact arithmetic."""
    found = moments(shown.part, measured=shown.measured)["normalized"]
    if e.norm.running:
        said = _(
            "With running statistics, the groups of this x get means of {means} and variances of {variances}, in general not 0 and 1.",
            means=_range(found.mean, 4),
            variances=_range(found.var, 4),
        )
    elif e.norm.center:
        said = _("Every group now has mean 0 and variance var / (var + eps): {variances}.", variances=_range(found.var))
    else:
        said = _(
            "The mean square of every group is now ms / (ms + eps): {squares}. No mean was subtracted, so the means are not 0 in general.",
            squares=_range(found.mean_square),
        )
    if shown.part.counts.statistics == e.counts.statistics:
        return said
    return join_sentences([said, _("The numbers are those of the groups that are computed here.")])


def _range(values: Tensor, digits: int = 6) -> str:
    """The smallest and the largest value, or the only one."""
    low, high = (format_number(float(end), digits) for end in values.aminmax())
    return low if low == high else _("{low} to {high}", low=low, high=high)


def _output(e: Description, shown: Excerpt) -> tuple[Step, ...]:
    if e.norm.params is None:
        return ()
    title = _("scaled and shifted") if e.norm.bias else _("scaled")
    why = join_sentences((_regrouping(e), _without_effect(e)))
    return (Step("output", title, sentences.scaling(e), shown.trace.output, why, links="params"),)


def _regrouping(e: Description) -> str:
    """How the groups that share a gamma differ from those that share a mean."""
    sizes, shared = e.norm.axis_sizes(e.shape), _("a gamma and a beta") if e.norm.bias else _("a gamma")
    statistics, parameters = (
        {name for name in names if sizes[name] > 1}
        for names in (e.norm.pattern.right, e.norm.pattern_names(e.norm.gamma_axes))
    )
    if statistics == parameters:
        return _("The groups stay the same: elements that were normalized together also share {shared}.", shared=shared)
    if statistics < parameters and prod(e.counts.gamma_shape or ()) == prod(e.shape):
        return _("Each group splits: every element has {shared} of its own.", shared=shared)
    if statistics < parameters:
        return _("Each group splits: only some of its elements share {shared}.", shared=shared)
    if parameters < statistics:
        return _("Groups merge: the elements of several groups share {shared}.", shared=shared)
    return _("The groups change: each now has the elements that share {shared}.", shared=shared)


def _without_effect(e: Description) -> str:
    """Says that gamma and beta change nothing, if they are as in a new layer; else empty."""
    if not _is_everywhere(e, "gamma", e.norm.new_gamma):
        return ""
    number = int(e.norm.new_gamma)
    if not e.norm.bias:
        return _("Every gamma is {number}, as in a new layer, so no value changes yet.", number=number)
    unchanged = _(
        "Every gamma is {number} and every beta is 0, as in a new layer, so no value changes yet.", number=number
    )
    return unchanged if _is_everywhere(e, "beta", 0.0) else ""


def _is_everywhere(e: Description, name: str, number: float) -> bool:
    """Whether each gamma or beta of the layer is this number, also where the figure does not need it."""
    if name in e.on_demand:
        return e.on_demand[name].number == number
    held = e.layer_values().tensors.get(name)
    return held is not None and bool((held == number).all())
