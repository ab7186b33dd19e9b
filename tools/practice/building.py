"""Exercises that are answered with toggles: torch computes which elements share a mean for every way in which they may stand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, product
from math import prod

from normviz.lessons.practice import measured
from normviz.lessons.practice.case import Case, Toggles
from normviz.lessons.practice.exercise import Exercise
from tools.practice.cases import Leveled, all_cases
from tools.practice.rows import MOST_MARKED, exercise, places, plain


def build_cases() -> list[Leveled]:
    """Each partition of each shape once, in train mode."""
    found: dict[object, Leveled] = {}
    for level, given in all_cases():
        case = Case(plain(given.text), given.shape, given.layout)
        if case.norm.center and prod(case.shape) <= MOST_MARKED:
            groups = measured.groups(case.text, case.shape)
            if 1 < len(groups) < prod(case.shape):
                found.setdefault((case.shape, case.layout, groups), Leveled(level, case))
    return list(found.values())


def build(level: int, case: Case) -> Iterator[Exercise]:
    """Make exactly these elements share a mean. Where the channels are in groups, their toggle counts groups."""
    (at,) = places(case, 1)
    target = measured.group(case.text, case.shape, at)
    for variant in ("", "groups"):
        asked = exercise("build", variant, level, case, (), [], at)
        positions: list[Toggles] = list(product(*asked.steps))
        accepted = tuple(each for each in positions if shared(each, case.shape, at) == target)
        start = tuple(min(steps) for steps in asked.steps)
        if accepted and start not in accepted:
            wrong = [(key, (each,)) for key, each in _wrong(case, accepted[0]) if each not in accepted]
            yield exercise("build", variant, level, case, accepted, wrong, at)
            return


def shared(toggles: Toggles, shape: tuple[int, ...], at: tuple[int, ...]) -> frozenset[tuple[int, ...]]:
    """The elements on which torch's mean at ``at`` depends."""
    x = measured.noise(shape).requires_grad_()
    parts = [(each or size, size // (each or size)) for each, size in zip(toggles, shape, strict=True)]
    split = x.reshape([*chain.from_iterable(parts)])
    means = split.mean(dim=tuple(range(1, split.dim(), 2)), keepdim=True).expand_as(split).reshape(shape)
    means[at].backward()
    assert x.grad is not None
    return frozenset(map(tuple, (x.grad != 0).nonzero().tolist()))


def _wrong(case: Case, right: Toggles) -> Iterator[tuple[str, Toggles]]:
    yield "example", tuple(int(axis != case.example) for axis in case.axes)
    yield "exchanged", tuple({0: 1, 1: 0}.get(each, each) for each in right)
    yield "whole_tensor", tuple(1 for _each in right)
    yield "each_element", tuple(0 for _each in right)
