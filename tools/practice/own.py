"""Answers of normviz itself, to be compared with those of torch."""

from __future__ import annotations

from itertools import product

import torch

from normviz.analysis.description import describe
from normviz.lessons.practice import measured
from normviz.lessons.practice.case import Answer, Box, Toggles, members, place
from normviz.lessons.practice.exercise import Exercise
from tools.practice.choices import call


def own_answer(exercise: Exercise) -> object:
    """What normviz's patterns and forward pass give, in the form of ``torch_answer``."""
    case, at = exercise.case, exercise.at
    e = describe(case.layer, case.shape, layout=case.layout)
    match exercise.kind:
        case "means":
            return e.counts.statistics
        case "elements_per_mean":
            return e.counts.elements_per_statistic
        case "gammas":
            return 0 if e.counts.gamma_shape is None else int(torch.Size(e.counts.gamma_shape).numel())
        case "parameters":
            return e.counts.parameters
        case "peers":
            return e.peers(at)
        case "parameter_peers":
            return e.parameter_peers(at)
        case "moves":
            if case.layer.running:
                return [at]
            return sorted([at, *e.peers(at)]) if e.counts.elements_per_statistic > 1 else []
        case "pattern":
            return _partition(exercise, case.group_numbers)
        case "code":
            return str(case.norm.stats if exercise.variant == "einops" else call(case, case.norm))
        case "value":
            return _value(exercise)
        case "build":
            return _accepted(exercise)
        case _:
            return _mode(exercise)


def torch_answer(exercise: Exercise) -> object:
    """The answer of the bank; for a pattern, the groups that torch makes."""
    if exercise.kind == "pattern":
        return set(measured.groups(exercise.case.text, exercise.case.shape))
    answer: Answer = exercise.answer
    if exercise.kind == "build":
        return answer
    return exercise.elements(answer) if isinstance(answer, tuple) else answer


def _partition(exercise: Exercise, numbers: list[int]) -> set[frozenset[tuple[int, ...]]]:
    groups: dict[int, set[tuple[int, ...]]] = {}
    shape = exercise.case.shape
    for index in torch.ones(shape).nonzero().tolist():
        groups.setdefault(numbers[place(index, shape)], set()).add(tuple(index))
    return {frozenset(group) for group in groups.values()}


def _accepted(exercise: Exercise) -> object:
    """How toggles stand in every right answer: the groups that they make are those of the pattern."""
    case, target = exercise.case, set(exercise.target)

    def box(toggles: Toggles) -> Box:
        sizes = [size // (each or size) for each, size in zip(toggles, case.shape, strict=True)]
        return tuple(
            tuple(range(i // size * size, (i // size + 1) * size)) for i, size in zip(exercise.at, sizes, strict=True)
        )

    return tuple(each for each in product(*exercise.steps) if set(members(box(each))) == target)


def _value(exercise: Exercise) -> float:
    case, at = exercise.case, exercise.at
    x = torch.tensor(exercise.values, dtype=torch.float64).reshape(case.shape)
    trace = describe(case.layer, x, layout=case.layout).trace
    found = {"mean": trace.mean, "variance": trace.var}.get(exercise.variant, trace.output)
    return round(float(found.expand(case.shape)[at]), 2)


def _mode(exercise: Exercise) -> str:
    layer = exercise.case.layer
    if exercise.variant == "buffers":
        return "none" if not layer.tracks else "change" if layer.training else "stay"
    norm = exercise.case.norm
    return "running" if norm.running else "example" if exercise.case.example in norm.pattern.right else "batch"
