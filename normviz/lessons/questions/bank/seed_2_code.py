"""Questions of the third document's code: what its lines, its comments, its assertions and its test say."""

from __future__ import annotations

from inspect import signature
from math import isnan

from normviz.analysis.explanation import describe
from normviz.analysis.forward import largest_difference
from normviz.analysis.rounding.groups import DISTANCES, TORCH_LAYERS
from normviz.analysis.rounding.variance import Estimate, sweep
from normviz.layers.layer import Layer
from normviz.lessons.questions.documents import ANNOTATED
from normviz.lessons.questions.facts import module_of, only, same, scene_of
from normviz.lessons.questions.outputs import change, normal, output
from normviz.lessons.questions.question import Facts, Question
from normviz.lessons.questions.topics import CUSTOMS, NUMBERS, SHAPES, SHARING

ASKED = (ANNOTATED,)


def _last_index() -> Facts:
    sizes = describe("LayerNorm([2, 4])", (2, 3, 2, 4)).counts.gamma_shape or ()
    n, e = len(sizes), describe("LayerNorm([2, 4])", (2, 3, 2, 4))
    legal = [i for i in range(n + 2) if i < len(sizes)]
    return {
        "axes": n,
        "last": legal[-1],
        "more": len(range(0, n + 1)),
        "right": only(n=legal[-1] == n, before=legal[-1] == n - 1, after=legal[-1] == n + 1),
        "holds": {
            "S[n - 1] is x's last size": sizes[n - 1] == e.shape[-1],
            "the layer averages over n axes": len(e.norm.pattern.reduced) == n,
            "S[n] does not exist": n not in legal,
        },
    }


def _affine_switch() -> Facts:
    affine, bare, shape = "LayerNorm(4)", "LayerNorm(4, elementwise_affine=False)", (3, 4)
    x = normal(*shape)
    with_them, without = describe(affine, shape).counts, describe(bare, shape).counts
    fresh = largest_difference(output(affine, x), output(bare, x))
    trained = scene_of("shape=3,4&layer=LayerNorm(4)&params=random").explanation.trace.output
    return {
        "gap": fresh,
        "none": without.parameters,
        "some": with_them.parameters,
        "means": without.statistics,
        "trained": largest_difference(trained, output(bare, x)),
        "right": only(same=fresh == 0, scaled=fresh > 0),
        "holds": {
            "gamma starts as ones": bool((module_of(affine).get_parameter("weight") == 1).all()),
            "beta starts as zeros": bool((module_of(affine).get_parameter("bias") == 0).all()),
            "as many means in both": without.statistics == with_them.statistics,
            "the other has nothing to learn": list(module_of(bare).parameters()) == [],
            "trained, they differ": largest_difference(trained, output(bare, x)) > 0.1,
        },
    }


WRONG = ("LayerNorm(4)", "LayerNorm([3, 2, 4])", "BatchNorm2d(3)", "RMSNorm([2, 4])", "LayerNorm([2, 4], eps=1.0)")
ZEROS = f"shape=2,3,2,4&layer=LayerNorm([2,4])&values={','.join(['0'] * 48)}&at=1,2,0,3&step=5"


def _zeros() -> Facts:
    right, x = "LayerNorm([2, 4])", normal(2, 3, 2, 4)
    zeros = scene_of(ZEROS).explanation.x
    assert zeros is not None
    told = sum(largest_difference(output(text, zeros), output(right, zeros)) > 0 for text in WRONG)
    gaps = [largest_difference(output(text, x), output(right, x)) for text in WRONG]
    return {
        "told": told,
        "wrong": len(WRONG),
        "caught": sum(gap > 1e-3 for gap in gaps),
        "least": min(gaps),
        "right": told,
        "holds": {
            "the shapes agree too": all(output(text, zeros).shape == zeros.shape for text in WRONG),
            "even no layer at all passes": same(zeros, output(right, zeros)),
            "on random numbers each is found out": min(gaps) > 0.01,
        },
    }


def _one_pass_variance() -> Facts:
    found = sweep("float32", DISTANCES)

    def by(method: str) -> dict[float, Estimate]:
        return {e.distance: e for e in found if e.method == method}

    one, two, own = by("one_pass"), by("two_passes"), [by(name) for name in TORCH_LAYERS]
    far = next(d for d in DISTANCES if one[d].error > 1)
    worst = min(one.values(), key=lambda e: e.var)
    return {
        "far": int(far),
        "exact": one[far].exact,
        "one_pass": one[far].var,
        "two_passes": two[far].var,
        "worst_distance": int(worst.distance),
        "worst": int(worst.var),
        "right": only(close=one[1e4].error < 0.01, half=0.01 <= one[1e4].error < 1, useless=one[1e4].error >= 1),
        "holds": {
            "near zero it is right": one[1.0].error < 1e-3,
            "a variance below zero": worst.negative,
            "and NaN from its root": isnan(worst.output_size),
            "two passes stay right": all(e.error < 0.1 for e in two.values() if e.distance <= worst.distance),
            "torch's own layers give numbers there": not any(one[worst.distance].is_nan for one in own),
            "and right ones where one pass is useless": all(one[far].error < 0.01 for one in own),
        },
    }


SQUARES = "shape=1,2&layer=RMSNorm(2)&values=1,3&at=0,1&step=2"


def _squared_mean() -> Facts:
    e = scene_of(SQUARES).explanation
    x = e.x
    assert x is not None
    squares, mean = float(x.square().mean()), float(x.mean())
    var = float(x.var(correction=0))
    return {
        "squares": squares,
        "squared": mean**2,
        "var": var,
        "right": squares,
        "holds": {
            "the figure's mean square is that": float(e.trace.var) == squares,
            "they are not the same": squares != mean**2,
            "their difference is the variance": squares - mean**2 == var,
        },
    }


def _a_mean_each() -> Facts:
    e, x = describe("LayerNorm([2, 4])", (2, 3, 2, 4)), normal(2, 3, 2, 4)
    dims = [-(i + 1) for i in range(len((2, 4)))]
    mean = x.mean(dim=dims, keepdim=True)
    return {
        "means": mean.numel(),
        "shape": tuple(mean.shape),
        "elements": e.counts.elements_per_statistic,
        "right": mean.numel(),
        "holds": {
            "our count is torch's": mean.numel() == e.counts.statistics,
            "the averaged axes are the last, as many as normalized_shape has": sorted(dims) == [-2, -1],
            "they stay as one": tuple(mean.shape[2:]) == (1, 1),
            "subtracting spreads it over the group": (x - mean).shape == x.shape,
            "without keepdim it does not fit": not _fits(x, x.mean(dim=dims)),
        },
    }


def _fits(x: object, mean: object) -> bool:
    try:
        _ = x - mean  # type: ignore[operator]
    except RuntimeError:
        return False
    return True


def _tuples() -> Facts:
    texts = ("LayerNorm(4)", "LayerNorm([4])", "LayerNorm((4,))")
    x = normal(3, 4)
    gap = max(largest_difference(output(text, x), output(texts[0], x)) for text in texts)
    size = type(x.shape)
    kinds = {"int": 4, "list": [4], "tuple": (4,), "Size": size((4,))}
    theirs = {name: isinstance(given, int | list | size) for name, given in kinds.items()}
    module = type(module_of(texts[0]))
    ours = {name: module(given).normalized_shape == (4,) for name, given in kinds.items()}
    names = [name for name, _ in module_of(texts[0]).named_parameters()]
    return {
        "kinds": len(kinds),
        "gap": gap,
        "right": only(
            every=all(ours.values()),
            size=ours == {"int": False, "list": False, "tuple": False, "Size": True},
            numbers=ours == {"int": True, "list": True, "tuple": False, "Size": False},
        ),
        "holds": {
            "torch takes all, and keeps a tuple": all(ours.values()),
            "the annotated layer takes all but a tuple": theirs
            == {"int": True, "list": True, "tuple": False, "Size": True},
            "its arguments have torch's names": {"normalized_shape", "eps", "elementwise_affine"}
            <= set(signature(module).parameters),
            "and torch's first parameter is called weight": names == ["weight", "bias"],
            "eps is the same": Layer.parse(texts[0]).given["eps"] == 1e-5,  # type: ignore[union-attr]
            "so is one layer": all(change(text, x, x) == 0 for text in texts),
        },
    }


QUESTIONS = (
    Question("s2k", SHAPES, _last_index, "explore", "shape=2,3,2,4&layer=LayerNorm([2,4])&at=1,2,0,3", ASKED),
    Question(
        "s2l", SHARING, _affine_switch, "compare",
        "shape=3,4&params=random&layers=LayerNorm(4);LayerNorm(4,elementwise_affine=False)&at=1,2", ASKED,
    ),
    Question("s2m", NUMBERS, _zeros, "step_by_step", ZEROS, ASKED),
    Question("s2n", NUMBERS, _one_pass_variance, "numerics", "show=variance&dtype=float32&distance=10000", ASKED),
    Question("s2o", NUMBERS, _squared_mean, "step_by_step", SQUARES, ASKED),
    Question("s2p", SHAPES, _a_mean_each, "step_by_step", "shape=2,3,2,4&layer=LayerNorm([2,4])&at=1,2,0,3&step=1", ASKED),
    Question("s2q", CUSTOMS, _tuples, "explore", "shape=2,3,2,4&layer=LayerNorm((2,4))&params=index&at=1,2,0,3", ASKED),
)  # fmt: skip
