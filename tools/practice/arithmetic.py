"""Exercises to compute by hand: small whole numbers whose mean, variance or output has at most two decimals."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod, sqrt

import torch
from torch import Tensor

from normviz.lessons.practice import measured
from normviz.lessons.practice.case import Answer, Case, group_box, members
from normviz.lessons.practice.exercise import TOLERANCE, Exercise
from normviz.lessons.random import Random
from tools.practice.rows import exercise, mistaken_statistics, places

LARGEST, TRIES = 9, 4000
MOST_NUMBERS = 12  # in x
LARGEST_GROUP = 6
EXACT = 1e-9


def value(level: int, case: Case) -> Iterator[Exercise]:
    """One mean, one variance and one output of the case, where x is small."""
    if prod(case.shape) > MOST_NUMBERS:
        return
    for at in places(case, 1):
        size = len(measured.group(case.text, case.shape, at))
        if not 2 <= size <= LARGEST_GROUP:
            continue
        for variant in ("mean", "variance", "normalized") if case.norm.center else ("rms",):
            found = _numbers(case, at, variant, size)
            if found is not None:
                yield _value(level, case, at, variant, found)


def _numbers(case: Case, at: tuple[int, ...], variant: str, size: int) -> Tensor | None:
    """A random x with a short answer that none of the wrong ones equals; None if none was found."""
    random = Random(f"{variant} {case.text} {case.shape} {at}")
    for _try in range(TRIES):
        x = torch.tensor([float(random.below(LARGEST + 1)) for _ in range(prod(case.shape))], dtype=torch.float64)
        x = x.reshape(case.shape)
        group = [float(x[index]) for index in members(group_box(case.norm, case.shape, at))]
        if len(set(group)) > 1 and (variant != "rms" or x[at]) and _is_short(_exact(group, float(x[at]), variant)):
            return x
    return None


def _exact(group: list[float], at: float, variant: str) -> float:
    """The answer without eps, by its definition."""
    mean, squares = sum(group) / len(group), sum(value * value for value in group) / len(group)
    variance = sum((value - mean) ** 2 for value in group) / len(group)
    return {
        "mean": mean,
        "variance": variance,
        "normalized": (at - mean) / sqrt(variance) if variance else 0.3333,
        "rms": at / sqrt(squares) if squares else 0.3333,
    }[variant]


def _is_short(number: float) -> bool:
    return abs(number * 100 - round(number * 100)) < EXACT


def answered(case: Case, x: Tensor, at: tuple[int, ...], variant: str) -> float:
    """The answer of torch, rounded to two decimals: eps changes less than that."""
    if variant in ("mean", "variance"):
        return round(measured.statistics_of(case.text, x, at)[variant == "variance"], 2)
    return round(measured.normalized(case.text, x, at), 2)


def _value(level: int, case: Case, at: tuple[int, ...], variant: str, x: Tensor) -> Exercise:
    answer, own = answered(case, x, at, variant), float(x[at])
    group = [float(x[index]) for index in members(group_box(case.norm, case.shape, at))]
    wrong: list[tuple[str, Answer | None]] = []
    mean, squares = sum(group) / len(group), sum(number * number for number in group) / len(group)
    if variant == "variance":
        wrong = [("unbiased", float(torch.tensor(group).var())), ("not_centered", squares)]
    elif variant == "normalized":
        wrong = [("not_centered", own / sqrt(squares)), ("unbiased", (own - mean) / float(torch.tensor(group).std()))]
    elif variant == "rms":
        deviation = sqrt(squares - mean * mean)
        wrong = [("centered", (own - mean) / deviation), ("squared_mean", own / mean if mean else None)]
    for key, norm in mistaken_statistics(case):
        other = [float(x[index]) for index in members(group_box(norm, case.shape, at))]
        if key != "exchanged" and len(set(other)) > 1:
            wrong.append((key, _exact(other, own, variant)))
    rounded = [(key, round(float(number), 2)) for key, number in wrong if isinstance(number, float)]
    values = tuple(x.flatten().tolist())
    return exercise("value", variant, level, case, answer, [(key, n) for key, n in rounded if abs(n - answer) > 2 * TOLERANCE], at, values)  # fmt: skip
