"""The forward pass as steps, each with its values, its formula, and its part of the whole formula.

A layer has only the steps that it needs: RMSNorm subtracts nothing, and running statistics are not computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from torch import Tensor

from normviz.analysis import sentences
from normviz.analysis.description import Description
from normviz.analysis.excerpt import Excerpt, excerpt, moments
from normviz.texts.messages import _, format_number, join_sentences


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
