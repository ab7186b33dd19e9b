"""Makes the exercises of a case: torch's answers, and the wrong answers of the confusions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from math import prod

from normviz.layers.naming import torch_layer
from normviz.layers.norm import Norm
from normviz.layers.sharing import counts
from normviz.lessons.practice import measured
from normviz.lessons.practice.case import Answer, Case, group_box
from normviz.lessons.practice.confusions import Wrong, distinct, mistaken_gammas, mistaken_sets, mistaken_statistics
from normviz.lessons.practice.exercise import Exercise
from normviz.lessons.random import Random

MOST_MARKED = 96  # elements of a shape whose elements a reader marks
MOST_NUMBERED = 48  # elements of a pattern
AFFINE = re.compile(r", (elementwise_)?affine=(True|False)")
ONE_SIZE = re.compile(r"\(\[(\d+)\]")


def plain(layer: str) -> str:
    """The layer's text without what does not change its statistics."""
    return ONE_SIZE.sub(r"(\1", AFFINE.sub("", layer))


def count_of_gammas(norm: Norm, shape: tuple[int, ...]) -> int:
    gamma = counts(norm, shape).gamma_shape
    return 0 if gamma is None else prod(gamma)


def counting(level: int, case: Case) -> Iterator[Exercise]:
    """How many means, elements in each, gammas and parameters."""
    groups = measured.groups(case.text, case.shape)
    sizes = {len(group) for group in groups}
    means, (elements,) = len(groups), sizes
    squares = "" if case.norm.center else "squares"
    mistaken = [(key, counts(norm, case.shape)) for key, norm in mistaken_statistics(case)]
    wrong: list[tuple[str, Answer | None]] = [("means_for_elements", elements)]
    wrong_means = [(key, found.statistics) for key, found in mistaken if key != "exchanged"]
    yield exercise("means", squares, level, case, means, [*wrong_means, *wrong])
    wrong_elements = [(key, found.elements_per_statistic) for key, found in mistaken if key != "exchanged"]
    yield exercise(
        "elements_per_mean", squares, level, case, elements, [*wrong_elements, ("elements_for_means", means)]
    )
    yield from counting_parameters(level, case)


def counting_parameters(level: int, case: Case) -> Iterator[Exercise]:
    gammas, learned = measured.gammas(case.text), measured.parameters(case.text)
    mistaken = [(key, count_of_gammas(norm, case.shape)) for key, norm in mistaken_gammas(case)]
    none: list[tuple[str, int]] = [("no_gamma", 0)] if gammas else []
    yield exercise("gammas", "", level, case, gammas, [*mistaken, *none])
    special: list[tuple[str, Answer | None]] = [("only_gammas", gammas)] if case.norm.center and gammas else []
    if not case.norm.center:
        special.append(("rms_bias", 2 * gammas))
    if case.layer.tracks and gammas:
        special.append(("buffers_counted", 2 * learned))
    factor = 2 if case.norm.center else 1
    yield exercise(
        "parameters", "", level, case, learned, [*special, *((key, factor * count) for key, count in mistaken)]
    )


def exercise(
    kind: str, variant: str, level: int, case: Case, answer: Answer, wrong: Wrong,
    at: tuple[int, ...] = (), values: tuple[float, ...] = (),
) -> Exercise:  # fmt: skip
    return Exercise(kind, variant, level, case, at, values, answer, distinct(answer, wrong))


def places(case: Case, number: int) -> list[tuple[int, ...]]:
    """Some elements of x, neither the first nor the last where there are others."""
    everything = list(product(*map(range, case.shape)))
    inner = everything[1:-1] or everything
    return sorted(Random(f"{case.text} {case.shape} {case.layout}").shuffled(inner)[:number])


def marking(level: int, case: Case) -> Iterator[Exercise]:
    """Who shares a mean or a gamma, and what moves."""
    if prod(case.shape) > MOST_MARKED:
        return
    rank, squares = len(case.shape), "" if case.norm.center else "squares"
    for at in places(case, 2):
        answer = measured.box_of(measured.group(case.text, case.shape, at), rank)
        yield exercise("peers", squares, level, case, answer, mistaken_sets("peers", case, at), at)
    for at in places(case, 3)[2:] if measured.gammas(case.text) else ():
        answer = measured.box_of(measured.gamma_peers(case.text, case.shape, at), rank)
        yield exercise("parameter_peers", "", level, case, answer, mistaken_sets("parameter_peers", case, at), at)
    yield from moving(level, case)


def moving(level: int, case: Case) -> Iterator[Exercise]:
    """What moves, in train mode and, with running statistics, in eval mode."""
    rank = len(case.shape)
    modes = [case, Case(f"{case.text}.eval()", case.shape, case.layout)] if case.layer.tracks else [case]
    for mode in modes:
        at = places(case, 1)[0]
        size = len(measured.group(mode.text, case.shape, at))
        if not mode.layer.running and size == (2 if case.norm.center else 1):  # the output is about a sign: 1 or -1
            continue
        answer = measured.box_of(measured.moved(mode.text, case.shape, at), rank)
        wrong: list[tuple[str, Answer | None]] = [
            (key, group_box(norm, case.shape, at)) for key, norm in mistaken_statistics(case)
        ]
        if mode.layer.running:
            wrong = [("eval_uses_batch", group_box(case.norm, case.shape, at)), *wrong]
        elif case.layer.tracks:
            wrong = [("train_uses_running", tuple((i,) for i in at)), *wrong]
        yield exercise("moves", "train" if mode.layer.training else "eval", level, mode, answer, wrong, at)


def pattern(level: int, case: Case) -> Iterator[Exercise]:
    """Which layer made the pattern; the others make other patterns."""
    if prod(case.shape) > MOST_NUMBERED or not case.norm.center or case.text != plain(case.text):
        return
    wrong: list[tuple[str, Answer | None]] = []
    for key, norm in mistaken_statistics(case):
        found = (torch_layer(one, case.shape) for one in _with_gammas(case, norm))
        layer = next((layer for layer in found if layer and layer.kind.in_torch), None)
        if layer and set(measured.groups(str(layer), case.shape)) != set(measured.groups(case.text, case.shape)):
            wrong.append((key, plain(str(layer))))
    if len(distinct(case.text, wrong)) > 1 or (level == 1 and wrong):
        yield exercise("pattern", "", level, case, case.text, wrong)


def _with_gammas(case: Case, norm: Norm) -> Iterator[Norm]:
    """The statistics with the gammas that some layer of torch has with them."""
    for params in ([case.channel], norm.pattern.reduced, None):
        try:
            yield Norm(norm.stats, None if params is None else " ".join(params), sizes=norm.sizes)
        except ValueError:
            continue
