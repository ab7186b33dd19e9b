"""Shared by the statements: the facts that the answer prints, errors of torch, equality up to rounding, and moments of an output."""

from __future__ import annotations

from torch import Tensor

from normviz.analysis.description import Description
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.torch_module import torch_refusal
from normviz.lessons.questions.facts import ROUNDING
from normviz.lessons.questions.page import QUESTIONS
from normviz.lessons.questions.question import Facts, facts_of

Statements = dict[str, bool]


def facts(key: str) -> Facts:
    return facts_of(QUESTIONS[key])


def refuses(layer: str, x: Tensor) -> bool:
    """Whether torch raises an error for the layer on x."""
    return torch_refusal(layer, x) != ""


def nearly_equal(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors are equal up to rounding."""
    return largest_difference(one, other) <= ROUNDING


def zero_mean(y: Tensor, axes: int | tuple[int, ...]) -> bool:
    return bool((y.mean(axes).abs() < 1e-5).all())


def unit_variance(y: Tensor, axes: int | tuple[int, ...]) -> bool:
    return bool(((y.var(axes, correction=0) - 1).abs() < 1e-3).all())


def all_pairs_differ(e: Description) -> bool:
    """Whether no two elements share both their statistics and their gamma."""
    pairs = set(zip(e.stat_ids.ravel().tolist(), e.param_ids.ravel().tolist(), strict=True))
    return len(pairs) == e.stat_ids.size
