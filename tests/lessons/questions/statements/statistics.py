"""What the answers on shared means and variances state."""

from __future__ import annotations

import numpy as np

from normviz.analysis.description import describe
from normviz.code.cs231n import layernorm_forward
from normviz.lessons.questions.facts import normal, output, output_change, scene_of
from tests.lessons.questions.statements.measure import (
    Statements,
    facts,
    nearly_equal,
    refuses,
    unit_variance,
    zero_mean,
)

IMAGE = "LayerNorm([3, 4, 4])"


def s1a() -> Statements:
    x = normal(4, 6).double()
    y = output("LayerNorm(6)", x)
    out, _ = layernorm_forward(x.numpy(), np.ones(6), np.zeros(6), {"eps": 1e-5})
    return {
        "each row has mean 0": zero_mean(y, 1),
        "each row has variance 1, up to eps": unit_variance(y, 1),
        "the columns do not have mean 0": not zero_mean(y, 0),
        "BatchNorm's columns have mean 0": zero_mean(output("BatchNorm1d(6)", x), 0),
        "layernorm_forward gives the same": np.allclose(out, y.numpy(), atol=1e-9),
    }


def s0a() -> Statements:
    y = output(IMAGE, normal(2, 3, 4, 4))
    return {
        "torch's output has mean 0 over each example": zero_mean(y, (1, 2, 3)),
        "torch's output does not have mean 0 over a plane": (y.mean((2, 3)).abs() > 1e-2).all(),
    }


def s2e() -> Statements:
    y = output("BatchNorm2d(3)", normal(4, 3, 2, 2))
    return {
        "each channel has variance 1": unit_variance(y, (0, 2, 3)),
        "a single position does not have mean 0": not zero_mean(y, 0),
        "on (N, D) each feature has mean 0": zero_mean(output("BatchNorm1d(6)", normal(4, 6)), 0),
    }


def s2f() -> Statements:
    e = describe(IMAGE, (2, 3, 4, 4))
    return {"all peers are in the same example": all(i[0] == 1 for i in e.peers((1, 2, 0, 3)))}


def q4() -> Statements:
    x = normal(2, 4, 6)
    changed = x.clone()
    changed[0, 1] += 1
    return {
        "no other token is in a token's mean": all(
            i[:2] == (0, 1) for i in describe("LayerNorm(6)", (2, 4, 6)).peers((0, 1, 4))
        ),
        "under BatchNorm1d a token changes those of the other sequence": (
            output_change("BatchNorm1d(6)", x.transpose(1, 2), changed.transpose(1, 2), 1) > 0.01
        ),
        "a shorter sequence gives the same, and needs no other gammas": nearly_equal(
            output("LayerNorm(6)", x[:, :2]), output("LayerNorm(6)", x)[:, :2]
        ),
    }


def q3() -> Statements:
    at, x, larger = (1, 1, 2, 1), normal(2, 3, 4, 4), normal(2, 3, 5, 5)
    pixel = "ChannelsFirstLayerNorm(3)"
    return {
        "no other pixel is in a pixel's mean": all(
            (i[0], *i[2:]) == (at[0], *at[2:]) for i in describe(pixel, x).peers(at)
        ),
        "it is LayerNorm(3) on x with the channels moved last": nearly_equal(
            output("LayerNorm(3, eps=1e-06)", x.movedim(1, -1)).movedim(-1, 1), output(pixel, x)
        ),
        "it accepts images of any size": output(pixel, larger).shape == larger.shape,
        "LayerNorm([3, 4, 4]) does not": refuses(IMAGE, larger),
    }


def q8() -> Statements:
    e = describe("GroupNorm(2, 6)", (2, 6, 3, 3))
    return {
        "the channels of a group are neighbors": {c for _, c, _, _ in e.peers((0, 0, 0, 0))} == {0, 1, 2},
        "the legal numbers are the divisors of the number of channels": facts("q8")["legal"]
        == ", ".join(str(k) for k in range(1, 7) if 6 % k == 0),
    }


def s3a() -> Statements:
    same_means = [describe(text, (2, 2, 3)) for text in ("GroupNorm(1, 2)", "LayerNorm([2, 3])")]
    return {
        "BatchNorm1d(5) accepts a sequence as (N, C, L)": not refuses("BatchNorm1d(5)", normal(2, 5, 4)),
        "as (N, L, C) it does not": refuses("BatchNorm1d(5)", normal(2, 4, 5)),
        "LayerNorm([3, 4, 4]) accepts images": not refuses(IMAGE, normal(2, 3, 4, 4)),
        "layers with the same means differ in their gammas": (same_means[0].stat_ids == same_means[1].stat_ids).all()
        and same_means[0].counts.gamma_shape != same_means[1].counts.gamma_shape,
    }


def s1f() -> Statements:
    e = scene_of("shape=6,3&layer=BatchNorm1d(3)&params=random").description
    values, y = e.layer_values(), e.trace.output.double()
    return {
        "before gamma each column has mean 0": zero_mean(e.trace.normalized.double(), 0),
        "before gamma each column has variance 1": unit_variance(e.trace.normalized.double(), 0),
        "after gamma a column's mean is its beta": (y.mean(0) - values.beta).abs().max() < 1e-4,
        "after gamma a column's standard deviation is its gamma": (
            (y.std(0, correction=0) - values.gamma.abs()).abs().max() < 1e-3
        ),
        "torch's own layer gives this output": (e.agreement or 0.0) < 1e-5,
    }


def s1e() -> Statements:
    e = scene_of("shape=4,6&layer=LayerNorm(6)&params=random").description
    before = output("LayerNorm(6)", e.x.double())
    return {
        "before gamma each row has mean 0": zero_mean(before, 1),
        "before gamma each row has variance 1": unit_variance(before, 1),
        "a factor or a shift of a whole row changes nothing": nearly_equal(
            output("LayerNorm(6, eps=0)", 3 * e.x.double() + 2), output("LayerNorm(6, eps=0)", e.x.double())
        ),
        "rows are large in different columns": len(set(e.x.argmax(1).tolist())) > 1,
        "every row uses the same gammas": (e.param_ids == e.param_ids[0]).all(),
        "torch's own layer gives this output": (e.agreement or 0.0) < 1e-5,
    }
