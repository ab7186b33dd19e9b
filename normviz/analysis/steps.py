"""The forward pass as steps, each with its values, its formula, and its part of the whole formula.

A layer has only the steps that it needs: RMSNorm subtracts nothing, and running statistics are not computed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from torch import Tensor

from normviz.analysis import description, forward, sentences
from normviz.texts.messages import _, format_number, join_sentences

# The mean and the variance of each statistics group, before and after every step. ``normalized = (x - m) / s`` with one m and one s for
# each group, so the moments after a step follow from those before it. They are computed in float64 from these rules: a mean that is 0 in
# exact arithmetic is 0 here.

Take = Callable[["Tensor"], "Tensor"]
SHORT = 16  # elements of a group


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


def moments(e: description.Description, take: Take = lambda values: values) -> dict[str, Moments]:
    """The moments of "x", "centered", "normalized" and, for a layer with gamma, "output".

    take  a part of each tensor; by default all of it

    Raises NormvizError if only a shape was given.

    >>> from normviz import explain
    >>> import torch
    >>> found = moments(explain("LayerNorm(2, eps=12)", torch.tensor([[1.0, 5.0]])))
    >>> {key: (float(each.mean), float(each.var)) for key, each in found.items()}
    {'x': (3.0, 4.0), 'centered': (0.0, 4.0), 'normalized': (0.0, 0.25), 'output': (0.0, 0.25)}
    """
    trace, norm = e.trace, e.norm
    assert e.x is not None  # the trace raises an error without x
    before = _measured(e, e.x, take)
    if norm.running:
        centered, divisor = before.shifted(-take(trace.mean).double()), take(trace.var).double()
    elif norm.center:
        centered, divisor = Moments(before.mean * 0, before.var), before.var
    else:
        centered, divisor = before, before.mean_square
    normalized = centered.scaled((divisor + trace.eps).rsqrt())
    found = {"x": before, "centered": centered, "normalized": normalized}
    return found if norm.params is None else found | {"output": _output_moments(e, normalized, take)}


def _measured(e: description.Description, values: Tensor, take: Take) -> Moments:
    wide = values.double()
    mean = forward.group_statistic(e.norm, wide, _mean)
    return Moments(take(mean), take(forward.group_statistic(e.norm, (wide - mean).square(), _mean)))


def _mean(values: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The mean over the last axes."""
    flat = values.flatten(axes[0])
    size = flat.shape[-1]
    if size > SHORT:
        return flat.mean(-1)
    return flat @ flat.new_ones(size) / size  # a reduction of torch takes several times as long


def _output_moments(e: description.Description, normalized: Moments, take: Take) -> Moments:
    """By the rule for one gamma and one beta, else measured."""
    held = e.layer_values()
    if any(value is not None and not bool((value == value.flatten()[0]).all()) for value in (held.gamma, held.beta)):
        return _measured(e, e.trace.output, take)
    assert held.gamma is not None  # without gamma, "normalized" is the output
    scaled = normalized.scaled(forward.factor(e.norm, held.gamma.flatten()[0].double()))
    return scaled.shifted(0.0 if held.beta is None else held.beta.flatten()[0].double())


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


def steps(e: description.Description) -> tuple[Step, ...]:
    """The steps of ``e``, in order. Raises NormvizError if only a shape was given.

    >>> from normviz import explain
    >>> import torch
    >>> [step.key for step in steps(explain("RMSNorm(2)", torch.tensor([[3.0, 4.0]])))]
    ['x', 'squared', 'var', 'normalized', 'output']
    """
    statistics = _statistics(e)  # computes the trace, which raises an error without x
    formula = f"{'(x − mean)' if _subtracts_mean(e) else 'x'} / √({_denominator(e)} + eps)"
    normalized = Step("normalized", _("normalized"), formula, e.trace.normalized, _moments_after(e))
    return (_input(e), *statistics, normalized, *_output(e))


def whole_formula(e: description.Description) -> tuple[Token, ...]:
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


def _subtracts_mean(e: description.Description) -> bool:
    return e.norm.center or e.norm.running


def _denominator(e: description.Description) -> str:
    return "var" if _subtracts_mean(e) else _("mean of x²")


def _input(e: description.Description) -> Step:
    assert e.x is not None
    if e.norm.running:
        shared = _("a running mean and a running variance")
    else:
        shared = _("a mean and a variance") if e.norm.center else _("a mean square")
    why = _(
        "The input; the color of a cell shows its value. Select an element: those that share {shared} with it keep their color.",
        shared=shared,
    )
    return Step("x", "x", _("the input"), e.x, why)


def _statistics(e: description.Description) -> tuple[Step, ...]:
    """The steps from x to the variance."""
    mean, var, centered, squared = e.trace.mean, e.trace.var, e.trace.centered, e.trace.centered.square()
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


def _moments_after(e: description.Description) -> str:
    """The mean and the variance of the groups after normalization, in exact arithmetic."""
    found = moments(e)["normalized"]
    if e.norm.running:
        return _(
            "With running statistics, the groups of this x get means of {means} and variances of {variances}, in general not 0 and 1.",
            means=_range(found.mean, 4),
            variances=_range(found.var, 4),
        )
    if e.norm.center:
        return _("Every group now has mean 0 and variance var / (var + eps): {variances}.", variances=_range(found.var))
    return _(
        "The mean square of every group is now ms / (ms + eps): {squares}. No mean was subtracted, so the means are not 0 in general.",
        squares=_range(found.mean_square),
    )


def _range(values: Tensor, digits: int = 6) -> str:
    """The smallest and the largest value, or the only one."""
    low, high = (format_number(float(end), digits) for end in values.aminmax())
    return low if low == high else _("{low} to {high}", low=low, high=high)


def _output(e: description.Description) -> tuple[Step, ...]:
    if e.norm.params is None:
        return ()
    title = _("scaled and shifted") if e.norm.bias else _("scaled")
    why = join_sentences((_regrouping(e), _without_effect(e)))
    return (Step("output", title, sentences.scaling(e), e.trace.output, why, links="params"),)


def _regrouping(e: description.Description) -> str:
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


def _without_effect(e: description.Description) -> str:
    """Says that gamma and beta change nothing, if they are as in a new layer; else empty."""
    held = e.layer_values()
    if held.gamma is None or not bool((forward.factor(e.norm, held.gamma) == 1).all()):
        return ""
    number = int(e.norm.new_gamma)
    if held.beta is None:
        return _("Every gamma is {number}, as in a new layer, so no value changes yet.", number=number)
    unchanged = _(
        "Every gamma is {number} and every beta is 0, as in a new layer, so no value changes yet.", number=number
    )
    return unchanged if bool((held.beta == 0).all()) else ""
