"""The forward pass as steps, each with its values, its formula, and its part of the whole formula.

A layer has only the steps that it needs: RMSNorm subtracts nothing, and running statistics are not computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from normviz.analysis.description import Description
from normviz.layers.messages import _

if TYPE_CHECKING:
    from torch import Tensor

Token = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Step:
    """One step of the forward pass.

    key      an identifier: "mean"
    title    "mean"
    formula  of this step alone
    values   broadcastable to x
    why      one sentence for a learner
    links    which groups a figure marks: those of the statistics ("stats") or of the parameters ("params")
    """

    key: str
    title: str
    formula: str
    values: Tensor
    why: str
    links: str = "stats"


def steps(e: Description) -> tuple[Step, ...]:
    """The steps of ``e``, in order. Raises NormvizError if only a shape was given.

    >>> from normviz import explain
    >>> import torch
    >>> [step.key for step in steps(explain("RMSNorm(2)", torch.tensor([[3.0, 4.0]])))]
    ['x', 'squared', 'var', 'normalized', 'output']
    """
    statistics = (
        _running_statistics(e) if e.norm.running else _mean_and_variance(e) if e.norm.center else _mean_square(e)
    )
    return (_input(e), *statistics, _normalized(e), *_output(e))


def whole_formula(e: Description) -> tuple[Token, ...]:
    """``y = (x - mean) / sqrt(var + eps) * gamma + beta`` in tokens, each with the keys of the steps that it belongs to."""
    deviation, scaled = ("centered", "squared", "normalized", "output"), ("normalized", "output")
    numerator: list[Token] = [("x", ("x", "squared", *scaled))]
    if _subtracts_mean(e):
        numerator = [
            ("(", deviation),
            ("x", ("x", *deviation)),
            (" − ", deviation),
            ("mean", ("mean", *deviation)),
            (")", deviation),
        ]
    tokens: list[Token] = [
        ("y = ", ("output",)),
        *numerator,
        (" / √(", scaled),
        (_denominator(e), ("var", *scaled)),
        (" + eps)", scaled),
    ]
    if e.norm.params is not None:
        tokens.append((" · gamma", ("output",)))
    if e.norm.bias:
        tokens.append((" + beta", ("output",)))
    return tuple(tokens)


def _subtracts_mean(e: Description) -> bool:
    return e.norm.center or e.norm.running


def _denominator(e: Description) -> str:
    return "var" if _subtracts_mean(e) else _("mean of x²")


def _input(e: Description) -> Step:
    assert e.x is not None  # the trace, which steps() computes first, raises an error without x
    why = _("The input. Elements with the same color share a mean and a variance.")
    return Step("x", "x", _("the input"), e.x, why)


def _mean_and_variance(e: Description) -> tuple[Step, ...]:
    trace = e.trace
    return (
        Step("mean", _("mean"), "mean = (1/m) Σ x", trace.mean, _("One number for all elements of a group.")),
        _deviation(e),
        _squared(e, "(x − mean)²"),
        Step("var", _("variance"), "var = (1/m) Σ (x − mean)²", trace.var, _mean_of_squares()),
    )


def _mean_square(e: Description) -> tuple[Step, ...]:
    return (_squared(e, "x²"), Step("var", _("mean square"), "(1/m) Σ x²", e.trace.var, _mean_of_squares()))


def _running_statistics(e: Description) -> tuple[Step, ...]:
    mean, var = e.trace.mean, e.trace.var
    return (
        Step(
            "mean",
            _("running mean"),
            "mean = running_mean",
            mean,
            _("Stored in training; not computed from this input."),
        ),
        _deviation(e),
        Step("var", _("running variance"), "var = running_var", var, _("Stored in training, like the mean.")),
    )


def _deviation(e: Description) -> Step:
    why = _("The distance of each element from the mean of its group.")
    return Step("centered", _("centered"), "x − mean", e.trace.centered, why)


def _squared(e: Description, formula: str) -> Step:
    why = _("Squared, so that deviations in both directions count.")
    return Step("squared", _("squared"), formula, e.trace.centered.square(), why)


def _mean_of_squares() -> str:
    return _("The mean of the squares over the group: divided by m, not by m − 1.")


def _normalized(e: Description) -> Step:
    if e.norm.running:
        why = _("Mean 0 and variance 1 only if the input is like the training data.")
    elif e.norm.center:
        why = _("Every group now has mean 0 and variance 1, except for eps.")
    else:
        why = _("Divided by the root mean square of the group.")
    numerator = "(x − mean)" if _subtracts_mean(e) else "x"
    formula = f"{numerator} / √({_denominator(e)} + eps)"
    return Step("normalized", _("normalized"), formula, e.trace.normalized, why)


def _output(e: Description) -> tuple[Step, ...]:
    if e.norm.params is None:
        return ()
    if e.norm.bias:
        title, formula = _("scaled and shifted"), "normalized · gamma + beta"
        why = _("Now the groups are different: elements that share a gamma and a beta.")
    else:
        title, formula = _("scaled"), "normalized · gamma"
        why = _("Now the groups are different: elements that share a gamma.")
    return (Step("output", title, formula, e.trace.output, why, links="params"),)
