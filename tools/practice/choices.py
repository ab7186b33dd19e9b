"""Exercises whose answer is chosen: code, and train or eval."""

from __future__ import annotations

from collections.abc import Iterator

import einops
from torch import Tensor

from normviz.layers.norm import Norm
from normviz.lessons.practice import measured
from normviz.lessons.practice.case import Case
from normviz.lessons.practice.exercise import Exercise
from tools.practice.rows import exercise, mistaken_statistics

CLOSE = 1e-9


def code(level: int, case: Case) -> Iterator[Exercise]:
    """Which call of torch computes the means; on other shapes than tables also which pattern of einops."""
    if not case.norm.center:
        return
    mistaken = [(key, norm) for key, norm in mistaken_statistics(case) if key != "group_size"]
    right = means_of_groups(case)
    if not is_same(run_pattern(case, case.norm), right):
        raise ValueError(f"{case}: {case.norm.stats} does not give the means that torch uses.")
    wrong = [(key, norm) for key, norm in mistaken if not is_same(run_pattern(case, norm), right)]
    if level > 1:
        yield exercise("code", "einops", level, case, case.norm.stats, [(key, norm.stats) for key, norm in wrong])
    answer = call(case, case.norm)
    if answer:
        if not is_same(run_call(case, answer), right):
            raise ValueError(f"{case}: {answer} does not give the means that torch uses.")
        yield exercise("code", "torch", level, case, answer, [(key, call(case, norm)) for key, norm in wrong])


def means_of_groups(case: Case) -> Tensor:
    """The mean of each measured group, sorted."""
    x = measured.noise(case.shape)
    means = [x[tuple(zip(*sorted(group), strict=True))].mean() for group in measured.groups(case.text, case.shape)]
    return x.new_tensor(sorted(map(float, means)))


def run_pattern(case: Case, norm: Norm) -> Tensor:
    found: Tensor = einops.reduce(measured.noise(case.shape), norm.stats, "mean", **norm.split_sizes)
    return found.flatten().sort().values


def run_call(case: Case, text: str) -> Tensor:
    found: Tensor = eval(text, {"x": measured.noise(case.shape)})
    return found.flatten().sort().values


def is_same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and bool((one - other).abs().max() < CLOSE)


def call(case: Case, norm: Norm) -> str | None:
    """The mean over the reduced axes by their numbers; None if an axis is split or nothing is reduced."""
    if norm.split_sizes or not norm.pattern.reduced:
        return None
    dims = [case.axes.index(name) for name in norm.pattern.reduced]
    return f"x.mean(dim={dims[0]})" if len(dims) == 1 else f"x.mean(dim=({', '.join(map(str, dims))}))"


def mode(level: int, case: Case) -> Iterator[Exercise]:
    """Train or eval: the statistics that are used, and what happens to the running ones."""
    for text in (case.text, f"{case.text}.eval()"):
        moded = Case(text, case.shape, case.layout)
        used, buffers = measured.uses(text, case.shape), measured.buffers_after(text, case.shape)
        mistakes, changes = WRONG_USES[_sort(case)], WRONG_BUFFERS[_sort(case)]
        yield exercise("mode", "uses", level, moded, used, mistakes["train" if moded.layer.training else "eval"])
        yield exercise("mode", "buffers", level, moded, buffers, changes[buffers])


def _sort(case: Case) -> str:
    """Whether the layer has running statistics, could have them, or never has."""
    if "track_running_stats" not in case.layer.given:
        return "never"
    if case.layer.kind.per_instance:
        return "tracking instances" if case.layer.tracks else "never"
    return "tracking" if case.layer.tracks else "not tracking"


WRONG_USES = {
    "tracking": {
        "train": [("train_uses_running", "running"), ("ignores_batch", "example")],
        "eval": [("eval_uses_batch", "batch"), ("ignores_batch", "example")],
    },
    "not tracking": {
        "train": [("always_running", "running"), ("ignores_batch", "example")],
        "eval": [("always_running", "running"), ("ignores_batch", "example")],
    },
    "tracking instances": {
        "train": [("train_uses_running", "running"), ("needs_batch", "batch")],
        "eval": [("instance_stays", "example"), ("needs_batch", "batch")],
    },
    "never": {
        "train": [("per_example_runs", "running"), ("needs_batch", "batch")],
        "eval": [("per_example_runs", "running"), ("needs_batch", "batch")],
    },
}
TRACKING = {
    "change": [("train_keeps", "stay"), ("always_none", "none")],
    "stay": [("eval_updates", "change"), ("always_none", "none")],
}
WRONG_BUFFERS = {
    "tracking": TRACKING,
    "tracking instances": TRACKING,
    "not tracking": {"none": [("always_running", "change"), ("always_running", "stay")]},
    "never": {"none": [("per_example_runs", "change"), ("per_example_stores", "stay")]},
}
