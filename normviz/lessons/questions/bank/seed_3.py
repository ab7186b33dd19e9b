"""Questions of the fourth document: its loops, and what ``Norm(num_features)`` does with ``dim``."""

from __future__ import annotations

from math import prod

from normviz.analysis.explanation import describe
from normviz.analysis.forward import largest_difference
from normviz.lessons.compare.ready_sets import LOOPS, READY_SETS, flattened_twin
from normviz.lessons.questions.documents import ARTICLE
from normviz.lessons.questions.facts import only, same
from normviz.lessons.questions.outputs import normal, output
from normviz.lessons.questions.question import Facts, Question
from normviz.lessons.questions.topics import SHAPES, SHARING

ASKED = (ARTICLE,)
TOKENS = N, L, C = (4, 3, 5)
PER_FEATURE = "Norm('n l c -> c', 'c')"


def _batch_loops() -> Facts:
    x = normal(*TOKENS)
    calls = sum(1 for i in range(L) for j in range(C) if x[:, i, j].numel() == N)
    loops, feature = describe(LOOPS, TOKENS).counts, describe("BatchNorm1d(5)", (N, C, L)).counts
    permuted = output("BatchNorm1d(5)", x.transpose(1, 2)).transpose(1, 2)
    return {
        "loops": loops.statistics,
        "examples": loops.elements_per_statistic,
        "features": feature.statistics,
        "values": feature.elements_per_statistic,
        "gap": largest_difference(output(LOOPS, x), permuted),
        "twin": flattened_twin(TOKENS),
        "right": loops.statistics,
        "holds": {
            "Norm is called so often": calls == loops.statistics,
            "on the examples alone": loops.elements_per_statistic == N,
            "BatchNorm1d is the pattern with one mean a feature": same(output(PER_FEATURE, x), permuted),
            "and gives something else": largest_difference(output(LOOPS, x), permuted) > 0.1,
            "on flattened x BatchNorm1d(15) does what the loops do": same(
                output(f"BatchNorm1d({L * C})", x.flatten(1)), output(LOOPS, x).flatten(1)
            ),
        },
    }


def _layer_loops() -> Facts:
    x = normal(*TOKENS)
    y = x.clone()
    calls = 0
    for i in range(N):
        for j in range(L):
            numbers = x[i, j]
            y[i, j] = (numbers - numbers.mean()) / (numbers.var(correction=0) + 1e-5).sqrt()
            calls += 1
    e = describe("LayerNorm(5)", TOKENS)
    return {
        "calls": calls,
        "features": e.counts.elements_per_statistic,
        "gap": largest_difference(y, output("LayerNorm(5)", x)),
        "right": calls,
        "holds": {
            "as many as torch's layer has means": calls == e.counts.statistics,
            "its pattern is n l c -> n l": e.norm.stats == "n l c -> n l",
            "the numbers are torch's": same(y, output("LayerNorm(5)", x)),
        },
    }


LAST = READY_SETS["dim-0"].shape  # N, H, W, C


def _dim_0() -> Facts:
    x, (dim_0, batch) = normal(*LAST), READY_SETS["dim-0"].layers
    first, second = (describe(text, LAST).counts for text in (dim_0, batch))
    torchs = output("BatchNorm2d(4)", x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
    three = (x - x.mean((0, 1, 2))) / (x.var((0, 1, 2), correction=0) + 1e-5).sqrt()
    return {
        "means": first.statistics,
        "examples": first.elements_per_statistic,
        "channels": second.statistics,
        "values": second.elements_per_statistic,
        "gap": largest_difference(output(dim_0, x), torchs),
        "three": largest_difference(three, torchs),
        "right": only(
            example=first.statistics == LAST[0],
            channel=first.statistics == LAST[3],
            cell=first.statistics == prod(LAST[1:]),
        ),
        "holds": {
            "one for every row, column and channel": x.mean(0).numel() == first.statistics,
            "BatchNorm2d gives something else": largest_difference(output(dim_0, x), torchs) > 0.1,
            "the pattern is torch's BatchNorm2d": same(output(batch, x), torchs),
            "dim=(0, 1, 2) gives BatchNorm2d": same(three, torchs),
        },
    }


def _dim_last() -> Facts:
    x, theirs = normal(*TOKENS).double(), "DimNorm(5, dim=-1)"
    e, torchs = describe(theirs, TOKENS), describe("LayerNorm(5)", TOKENS)
    gap = largest_difference(output(theirs, x), output("LayerNorm(5)", x))
    equal_eps = largest_difference(output(theirs, x), output("LayerNorm(5, eps=1e-12)", x))
    return {
        "gap": gap,
        "equal": equal_eps,
        "means": e.counts.statistics,
        "features": e.counts.elements_per_statistic,
        "right": only(same=gap < 1e-3, mean=gap >= 1e-3 and equal_eps >= 1e-3, variance=gap >= 1e-3 > equal_eps),
        "holds": {
            "who shares a mean": bool((e.stat_ids == torchs.stat_ids).all()),
            "and a gamma": bool((e.param_ids == torchs.param_ids).all()),  # type: ignore[union-attr]
            "with the same eps nothing is left": equal_eps < 1e-9,
            "eps is all that differs": (e.norm.eps, torchs.norm.eps) == (1e-12, 1e-5),
        },
    }


def _shapes() -> Facts:
    x = normal(2, 3, 4)
    u = x.mean(-1, keepdim=True)
    normalized = (x - u) / ((x - u).pow(2).mean(-1, keepdim=True) + 1e-12).sqrt()
    try:
        fits = (x - x.mean(-1)).shape == x.shape
    except RuntimeError:
        fits = False
    return {
        "u": tuple(u.shape),
        "x_norm": tuple(normalized.shape),
        "flat": tuple(x.mean(-1).shape),
        "all": normalized.numel(),
        "means": u.numel(),
        "right": only(
            both=normalized.shape == u.shape,
            x=normalized.shape == x.shape and tuple(u.shape) == (2, 3, 1),
            flat=normalized.shape == x.shape and tuple(u.shape) == (2, 3),
        ),
        "holds": {
            "x_norm has x's shape": normalized.shape == x.shape,
            "without keepdim the subtraction fails": not fits,
            "the layer of the catalogue does the same": same(output("DimNorm(4)", x), normalized),
        },
    }


def _along_the_last() -> Facts:
    shape, at = (3, 2, 4), (1, 1, 2)
    first, last = (describe(f"DimNorm(4, dim={dim})", shape) for dim in (0, -1))
    met = [set(e.parameter_peers(at)) | {at} for e in (first, last)]
    by_last = {i for i in _indices(shape) if i[-1] == at[-1]}
    by_first = {i for i in _indices(shape) if i[0] == at[0]}
    try:
        fits = (normal(2) * normal(*shape)).shape == shape
    except RuntimeError:
        fits = False
    return {
        "met": len(met[0]),
        "first": first.counts.statistics,
        "last": last.counts.statistics,
        "right": only(last=met == [by_last, by_last], dim=met == [by_first, by_last], none=met == [{at}, {at}]),
        "holds": {
            "the same elements both times": met[0] == met[1],
            "other means": bool((first.stat_ids != last.stat_ids).any()),
            "a gamma as long as the middle axis does not fit": not fits,
        },
    }


def _indices(shape: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    return [(i, j, k) for i in range(shape[0]) for j in range(shape[1]) for k in range(shape[2])]


QUESTIONS = (
    Question(
        "s3", SHARING, _batch_loops, "compare",
        f"shape=4,3,5&layout=NLC&layers={LOOPS};{PER_FEATURE}&at=2,1,3", ASKED,
    ),
    Question("s3c", SHARING, _layer_loops, "step_by_step", "shape=4,3,5&layer=LayerNorm(5)&at=2,1,3&step=1", ASKED),
    Question(
        "s3d", SHARING, _dim_0, "compare",
        f"shape=3,5,2,4&layout=NHWC&layers={';'.join(READY_SETS['dim-0'].layers)}&at=1,2,1,3", ASKED,
    ),
    Question(
        "s3e", SHARING, _dim_last, "compare",
        "shape=4,3,5&layout=NLC&layers=DimNorm(5,dim=-1);LayerNorm(5)&at=2,1,3", ASKED,
    ),
    Question("s3f", SHAPES, _shapes, "step_by_step", "shape=2,3,4&layer=DimNorm(4)&at=1,0,3&step=1", ASKED),
    Question(
        "s3g", SHARING, _along_the_last, "compare",
        "shape=3,2,4&params=index&layers=DimNorm(4,dim=0);DimNorm(4,dim=-1)&at=1,1,2", ASKED,
    ),
)  # fmt: skip
