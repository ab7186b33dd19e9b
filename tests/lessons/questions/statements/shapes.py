"""What the answers on axes and shapes state."""

from __future__ import annotations

import pytest

from normviz.analysis.description import describe
from normviz.lessons.questions.facts import count_gammas, module_of, normal, output
from tests.lessons.questions.statements.measure import Statements, facts, nearly_equal, refuses, zero_mean


def s2() -> Statements:
    shapes, module = ((5,), (2, 5), (2, 3, 5), (2, 3, 4, 5)), module_of("LayerNorm(5)")
    return {
        "one module accepts all shapes": all(module(normal(*shape)).shape == shape for shape in shapes),
        "S[0], ..., S[n] are the last n + 1 sizes": len(describe("LayerNorm(5)", (2, 5)).counts.gamma_shape) == 0 + 1,
        "gamma has the same shape in all": {describe("LayerNorm(5)", shape).counts.gamma_shape for shape in shapes}
        == {(5,)},
    }


def s2h() -> Statements:
    x = normal(5, 2, 4)
    return {
        "with the first two axes swapped the output is swapped": nearly_equal(
            output("LayerNorm(4)", x.transpose(0, 1)).transpose(0, 1), output("LayerNorm(4)", x)
        )
    }


def q1() -> Statements:
    x, sequences = normal(2, 4, 3, 4), normal(2, 4, 4)
    y = output("LayerNorm(4)", sequences)
    return {
        "on (N, C, L) with L = C the mean is over the positions too": zero_mean(y, 2) and not zero_mean(y, 1),
        "LayerNorm([4, 3, 4]) averages a whole image": describe("LayerNorm([4, 3, 4])", x).counts.statistics == 2,
        "a mean contains one channel": {i[1] for i in describe("LayerNorm(4)", x).peers((0, 1, 2, 3))} == {1},
        "with the channels moved last LayerNorm(4) normalizes each pixel": nearly_equal(
            output("LayerNorm(4)", x.movedim(1, -1)).movedim(-1, 1), output("ChannelsFirstLayerNorm(4, eps=1e-05)", x)
        ),
    }


def q2() -> Statements:
    x = normal(2, 256, 4, 4)
    return {
        "with the channels moved last it normalizes each pixel": nearly_equal(
            output("LayerNorm(256)", x.movedim(1, -1)).movedim(-1, 1),
            output("ChannelsFirstLayerNorm(256, eps=1e-05)", x),
        ),
        "reshaped, it does not": facts("q2")["reshape"] > 0.1,
        "over all sizes, it does not": facts("q2")["all"] > 0.1,
    }


def q20() -> Statements:
    x, at = normal(2, 4, 6), (0, 1, 4)
    peers = describe("BatchNorm1d(4)", x).peers(at)
    return {
        "torch raises an error at once": refuses("BatchNorm1d(6)", x),
        "BatchNorm1d(4) averages one step over all features": {a for i in peers for a in range(3) if i[a] != at[a]}
        == {0, 2},
        "if L and C are equal, torch raises no error": not refuses("BatchNorm1d(6)", normal(2, 6, 6)),
        "then the steps have mean 0, and the features do not": zero_mean(
            output("BatchNorm1d(6)", normal(2, 6, 6)), (0, 2)
        )
        and not zero_mean(output("BatchNorm1d(6)", normal(2, 6, 6)), (0, 1)),
        "transposed, each feature has a mean": nearly_equal(
            output("BatchNorm1d(6)", x.transpose(1, 2)).transpose(1, 2), output("Norm('n l c -> c', 'c')", x)
        ),
    }


def s2j() -> Statements:
    shape = (2, 3, 4, 4)
    layer, group = (describe(text, shape) for text in ("LayerNorm([3, 4, 4])", "GroupNorm(1, 3)"))
    return {
        "all three layers accept the first size": not any(
            refuses(text, normal(*shape)) for text in ("LayerNorm([3, 4, 4])", "BatchNorm2d(3)", "GroupNorm(1, 3)")
        ),
        "GroupNorm accepts the other size": not refuses("GroupNorm(1, 3)", normal(2, 3, 6, 6)),
        "GroupNorm has one gamma per channel too": count_gammas("GroupNorm(1, 3)", shape) == 3,
        "GroupNorm(1, C) has the same means": (layer.stat_ids == group.stat_ids).all(),
    }


def s3f() -> Statements:
    x = normal(2, 3, 4)
    u = x.mean(-1, keepdim=True)
    normalized = (x - u) / ((x - u).pow(2).mean(-1, keepdim=True) + 1e-12).sqrt()
    with pytest.raises(RuntimeError):
        x - x.mean(-1)
    return {
        "x_norm has the shape of x": normalized.shape == x.shape,
        "DimNorm computes the same": nearly_equal(output("DimNorm(4)", x), normalized),
    }


def s3b() -> Statements:
    return {
        "BatchNorm2d(3) refuses the convolution's output": refuses("BatchNorm2d(3)", normal(2, 8, 4, 4)),
        "BatchNorm2d(3) accepts the image": not refuses("BatchNorm2d(3)", normal(2, 3, 6, 6)),
        "a layer for text averages over the features": describe("LayerNorm(5)", (4, 3, 5)).norm.pattern.reduced
        == ("c",),
    }
