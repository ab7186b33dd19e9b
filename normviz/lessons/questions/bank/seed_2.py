"""Questions of the third document: what LayerNorm normalizes, in which inputs."""

from __future__ import annotations

from math import prod

from normviz.analysis.explanation import describe
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.torch_module import torch_words
from normviz.lessons.questions.documents import ANNOTATED
from normviz.lessons.questions.facts import module_of, only, same, scene_of
from normviz.lessons.questions.outputs import change, gammas, normal, output
from normviz.lessons.questions.question import Facts, Question
from normviz.lessons.questions.topics import SHAPES, SHARING

ASKED = (ANNOTATED,)
ALL = "LayerNorm([3, 4, 4])"


def _leading_axes() -> Facts:
    shapes = (5,), (2, 5), (2, 3, 5), (2, 3, 4, 5)
    one, two, six, deep = (describe("LayerNorm(5)", shape).counts for shape in shapes)
    taken = [torch_words("LayerNorm(5)", normal(*shape)) == "" for shape in shapes]
    module = module_of("LayerNorm(5)")
    return {
        "one": one.statistics,
        "two": two.statistics,
        "six": six.statistics,
        "deep": deep.statistics,
        "gamma": deep.gamma_shape,
        "right": only(
            every=all(taken), batch=taken == [False, True, False, False], some=taken == [False, True, True, True]
        ),
        "holds": {
            "one module takes them all": all(module(normal(*shape)).shape == shape for shape in shapes),
            "gamma is the same in all": len({counts.gamma_shape for counts in (one, two, six, deep)}) == 1,
            "each place in front has a mean of its own": [c.statistics for c in (one, two, six, deep)]
            == [prod(shape[:-1]) for shape in shapes],
        },
    }


def _each_element() -> Facts:
    shape = (4, 3, 2, 2)
    x = normal(*shape)
    y, counts = output("BatchNorm2d(3)", x), describe("BatchNorm2d(3)", shape).counts
    zero = {
        "place": bool((y.mean(0).abs() < 1e-5).all()),
        "channel": bool((y.mean((0, 2, 3)).abs() < 1e-5).all()),
        "example": bool((y.mean((1, 2, 3)).abs() < 1e-5).all()),
    }
    return {
        "means": counts.statistics,
        "elements": counts.elements_per_statistic,
        "place": max(y.mean(0).flatten().tolist(), key=abs),
        "right": only(**zero),
        "holds": {
            "of (N, D) each feature is normalized": bool(
                (output("BatchNorm1d(6)", normal(4, 6)).mean(0).abs() < 1e-5).all()
            ),
            "and each channel's variance is 1": bool(((y.var((0, 2, 3), correction=0) - 1).abs() < 1e-3).all()),
            "a single place has another mean": not zero["place"],
        },
    }


def _each_batch() -> Facts:
    shape, whole = (2, 3, 4, 4), "LayerNorm([2, 3, 4, 4])"
    e, x = describe(ALL, shape), normal(2, 3, 4, 4)
    other = x.clone()
    other[1] = 3 * x[1] + 1
    means = e.counts.statistics
    return {
        "means": means,
        "elements": e.counts.elements_per_statistic,
        "one": describe(whole, shape).counts.statistics,
        "still": change(ALL, x, other, 0),
        "moved": change(whole, x, other, 0),
        "right": only(batch=means == 1, example=means == shape[0], channel=means == shape[1], plane=means == 6),
        "holds": {
            "the peers are all of the same example": all(i[0] == 1 for i in e.peers((1, 2, 0, 3))),
            "the other example changes nothing": change(ALL, x, other, 0) == 0,
            "with N in normalized_shape it would": change(whole, x, other, 0) > 0.1,
        },
    }


TWO_SPREADS = "shape=2,4&layer=LayerNorm(4)&values=0.01,-0.01,0.01,-0.01,10,-10,10,-10&at=0,2&step=5"


def _exactly_one() -> Facts:
    e = scene_of(TWO_SPREADS).explanation
    assert e.x is not None
    x = e.x.double()
    y, var = output("LayerNorm(4)", x), x.var(1, correction=0)
    small, large = y.var(1, correction=0).tolist()
    trained = scene_of("shape=2,4&layer=LayerNorm(4)&params=random").explanation.trace.output
    return {
        "eps": e.norm.eps,
        "var": float(var[0]),
        "small": small,
        "large_var": float(var[1]),
        "large": large,
        "right": only(one=abs(small - 1) < 1e-3, below=small < 0.999, above=small > 1.001),
        "holds": {
            "var / (var + eps)": bool(((y.var(1, correction=0) - var / (var + 1e-5)).abs() < 1e-9).all()),
            "the large one is 1 to three digits": abs(large - 1) < 5e-4,
            "both means are 0": bool((y.mean(1).abs() < 1e-9).all()),
            "after a trained gamma and beta neither holds": bool((trained.mean(1).abs() > 0.01).all())
            and bool(((trained.var(1, correction=0) - 1).abs() > 0.01).all()),
        },
    }


def _sequence_first() -> Facts:
    shape = (5, 2, 4)
    e, x = describe("LayerNorm(4)", shape), normal(*shape)
    return {
        "means": e.counts.statistics,
        "features": e.counts.elements_per_statistic,
        "gamma": e.counts.gamma_shape,
        "right": e.counts.statistics,
        "holds": {
            "for each step of each sequence": e.counts.statistics == shape[0] * shape[1],
            "with the first two axes swapped the same numbers": same(
                output("LayerNorm(4)", x.transpose(0, 1)).transpose(0, 1), output("LayerNorm(4)", x)
            ),
        },
    }


def _channels_in_the_middle() -> Facts:
    equal, unequal = normal(2, 4, 4), normal(2, 4, 5)
    normalized_shape = (4,)
    passes = [tuple(x.shape[-len(normalized_shape) :]) == normalized_shape for x in (unequal, equal)]
    over_channels = output("ChannelsFirstLayerNorm(4, eps=1e-05)", equal)
    meant = output("LayerNorm(4)", equal.transpose(1, 2)).transpose(1, 2)
    y = output("LayerNorm(4)", equal)
    words = torch_words("LayerNorm(4)", unequal)
    return {
        "last": unequal.shape[-1],
        "channels": unequal.shape[1],
        "gap": largest_difference(y, meant),
        "right": only(
            refuses=words != "",
            channels=words == "" and same(output("LayerNorm(4)", unequal), meant),
            length=words == "" and not same(output("LayerNorm(4)", unequal), meant),
        ),
        "holds": {
            "the check stops five positions": not passes[0],
            "and lets four pass": passes[1] and torch_words("LayerNorm(4)", equal) == "",
            "the mean is then over the positions": bool((y.mean(2).abs() < 1e-5).all()),
            "and not over the channels": bool((y.mean(1).abs() > 1e-2).any()) and largest_difference(y, meant) > 0.1,
            "permuting is the channels-first layer": same(over_channels, meant),
        },
    }


def _another_size() -> Facts:
    small, large = (2, 3, 4, 4), (2, 3, 6, 6)
    texts = {"layer": ALL, "batch": "BatchNorm2d(3)", "group": "GroupNorm(1, 3)"}
    refused = [key for key, text in texts.items() if torch_words(text, normal(*large)) != ""]
    layer, group = (describe(texts[key], small) for key in ("layer", "group"))
    return {
        "gammas": gammas(ALL, small),
        "channels": gammas("BatchNorm2d(3)", small),
        "means": layer.counts.statistics,
        "right": only(
            layer=refused == ["layer"], batch=refused == ["batch"], both=refused == ["layer", "batch"], none=not refused
        ),
        "holds": {
            "all three take the first size": all(torch_words(text, normal(*small)) == "" for text in texts.values()),
            "GroupNorm has a gamma a channel too": gammas("GroupNorm(1, 3)", small) == gammas("BatchNorm2d(3)", small),
            "GroupNorm(1, C) has the same means": bool((layer.stat_ids == group.stat_ids).all()),
        },
    }


QUESTIONS = (
    Question("s2", SHAPES, _leading_axes, "explore", "shape=2,3,4,5&layer=LayerNorm(5)&at=1,2,0,3", ASKED),
    Question("s2e", SHARING, _each_element, "explore", "shape=4,3,2,2&layer=BatchNorm2d(3)&at=0,1,0,1", ASKED),
    Question(
        "s2f", SHARING, _each_batch, "compare",
        "shape=2,3,4,4&layers=LayerNorm([3,4,4]);LayerNorm([2,3,4,4])&at=1,2,0,3", ASKED,
    ),
    Question("s2g", SHARING, _exactly_one, "step_by_step", TWO_SPREADS, ASKED),
    Question(
        "s2h", SHAPES, _sequence_first, "explore", "shape=5,2,4&layout=LNC&layer=LayerNorm(4)&at=3,1,2", ASKED,
    ),
    Question(
        "s2i", SHAPES, _channels_in_the_middle, "explore",
        "shape=2,4,4&layout=NCL&layer=LayerNorm(4)&at=1,2,3", ASKED,
    ),
    Question(
        "s2j", SHAPES, _another_size, "compare",
        "shape=2,3,4,4&params=index&layers=LayerNorm([3,4,4]);GroupNorm(1,3);BatchNorm2d(3)&at=0,1,0,3", ASKED,
    ),
)  # fmt: skip
