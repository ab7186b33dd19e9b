"""The forward pass as steps: what each makes, its formula, and which part of the whole formula it is.

A layer has the steps that it needs: RMSNorm subtracts nothing, and running statistics are read and not computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from normviz.analysis.explanation import Explanation

if TYPE_CHECKING:
    from torch import Tensor

Token = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Step:
    """One step.

    key, title  "mean", "mean of each group"
    formula     of this step alone
    values      broadcastable to x
    links       whose peers it shows: "stats" or "params"
    why         one sentence in a learner's words
    """

    key: str
    title: str
    formula: str
    values: Tensor
    links: str
    why: str


def steps(e: Explanation) -> tuple[Step, ...]:
    """The steps of ``e``, in order. Raises NormvizError where only a shape was given.

    >>> from normviz import explain
    >>> import torch
    >>> [step.key for step in steps(explain("RMSNorm(2)", torch.tensor([[3.0, 4.0]])))]
    ['x', 'squared', 'var', 'normalized', 'output']
    """
    made = [_input(e), *_mean(e), *_variance(e), _normalized(e)]
    return (*made, _output(e)) if e.norm.params is not None else tuple(made)


def whole_formula(e: Explanation) -> tuple[Token, ...]:
    """``y = (x - mean) / sqrt(var + eps) * gamma + beta`` in tokens, each with the steps that light it."""
    norm, deviation = e.norm, ("centered", "squared", "normalized", "output")
    above: list[Token] = [("x", ("x", "squared", "normalized", "output"))]
    if norm.center or norm.running:
        above = [
            ("(", deviation),
            ("x", ("x", *deviation)),
            (" − ", deviation),
            ("mean", ("mean", *deviation)),
            (")", deviation),
        ]
    below = "var" if norm.center or norm.running else "mean of x²"
    scaled = ("normalized", "output")
    tokens: list[Token] = [
        ("y = ", ("output",)),
        *above,
        (" / √(", scaled),
        (below, ("var", *scaled)),
        (" + eps)", scaled),
    ]
    if norm.params is not None:
        tokens += [(" · gamma", ("output",))]
    if norm.bias:
        tokens += [(" + beta", ("output",))]
    return tuple(tokens)


def _input(e: Explanation) -> Step:
    _ = e.trace
    assert e.x is not None
    return Step(
        "x", "x", "the input", e.x, "stats", "The input. Elements of one colour group share a mean and a variance."
    )


def _mean(e: Explanation) -> list[Step]:
    if not (e.norm.center or e.norm.running):
        return []
    if e.norm.running:
        first = Step(
            "mean",
            "running mean",
            "mean = running_mean",
            e.trace.mean,
            "stats",
            "Stored in training; this input does not enter.",
        )
    else:
        first = Step(
            "mean",
            "mean",
            "mean = (1/m) Σ x",
            e.trace.mean,
            "stats",
            "One number a group, the same for all its elements.",
        )
    centered = Step(
        "centered", "centred", "x − mean", e.trace.centered, "stats", "How far each element is from its group's mean."
    )
    return [first, centered]


def _variance(e: Explanation) -> list[Step]:
    if e.norm.running:
        return [
            Step(
                "var",
                "running variance",
                "var = running_var",
                e.trace.var,
                "stats",
                "Stored in training, as the mean was.",
            )
        ]
    centred = e.norm.center
    squared = Step(
        "squared",
        "squared",
        "(x − mean)²" if centred else "x²",
        e.trace.centered.square(),
        "stats",
        "Squares, so that both directions count.",
    )
    var = Step(
        "var",
        "variance" if centred else "mean square",
        "var = (1/m) Σ (x − mean)²" if centred else "(1/m) Σ x²",
        e.trace.var,
        "stats",
        "Their mean over the group: divided by m, not by m − 1.",
    )
    return [squared, var]


def _normalized(e: Explanation) -> Step:
    above = "(x − mean)" if e.norm.center or e.norm.running else "x"
    below = "var" if e.norm.center or e.norm.running else "mean of x²"
    why = "Every group now has mean 0 and variance 1, but for eps." if e.norm.center else "Divided by the group's size."
    if e.norm.running:
        why = "Mean 0 and variance 1 only where the input is like the training data."
    return Step("normalized", "normalized", f"{above} / √({below} + eps)", e.trace.normalized, "stats", why)


def _output(e: Explanation) -> Step:
    shift = " + beta" if e.norm.bias else ""
    return Step(
        "output",
        "scaled and shifted" if e.norm.bias else "scaled",
        f"normalized · gamma{shift}",
        e.trace.output,
        "params",
        "Now other elements go together: those that share a gamma" + (" and a beta." if e.norm.bias else "."),
    )
