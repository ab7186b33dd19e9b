"""What the answers on numbers and rounding state."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from normviz.analysis.closed_form import upstream
from normviz.analysis.description import describe
from normviz.analysis.examples import from_values
from normviz.analysis.forward import largest_difference
from normviz.analysis.rounding import DTYPES, eps_table, no_eps, single_elements, sweep
from normviz.code.cs231n import Cache, layernorm_backward, layernorm_forward
from normviz.lessons.questions.facts import ROUNDING, module_of, normal, output, scene_of, skewness, view_of
from normviz.lessons.questions.topics.numbers import BERT_EPS, DISTANCE, DRAWS, FLAX_EPS, normalize_by_hand
from tests.lessons.questions.statements.measure import Statements, facts, nearly_equal, refuses, zero_mean


def s2g() -> Statements:
    x = from_values((0.01, -0.01, 0.01, -0.01, 10.0, -10.0, 10.0, -10.0), (2, 4)).double()
    y = output("LayerNorm(4)", x)
    trained = scene_of("shape=2,4&layer=LayerNorm(4)&params=random").description.trace.output
    return {
        "both means are 0": zero_mean(y, 1),
        "after a trained gamma the means are not 0": (trained.mean(1).abs() > 0.01).all(),
        "after a trained gamma the variances are not 1": ((trained.var(1, correction=0) - 1).abs() > 0.01).all(),
    }


def q36() -> Statements:
    x = normal(200, 17).double()
    y, far, f = output("LayerNorm(17)", x), torch.eye(17, dtype=torch.float64)[:1] * 1e3, facts("q36")
    return {
        "no output is larger than the root of n - 1": float(y.abs().max()) <= 16**0.5,
        "one far value reaches it": output("LayerNorm(17)", far).max() == pytest.approx(16**0.5, abs=1e-6),
        "many outputs of normal numbers are outside [-1, 1]": 0.2 < float((y.abs() > 1).double().mean()) < 0.4,
        "the skewness stays": f["after"] == pytest.approx(f["before"]),
        "in every row": all(
            skewness(one) == pytest.approx(skewness(other)) for one, other in zip(x[:9], y[:9], strict=True)
        ),
    }


def q22() -> Statements:
    x, module = from_values((5.0, 5.0, 5.0, 5.0), (1, 4)), module_of("LayerNorm(4)")
    channels = torch.full((2, 4, 4, 4), 2.0, dtype=torch.float16)
    module.get_parameter("bias").data.fill_(3)
    return {
        "float32 keeps 1e-12": {(o.dtype, o.eps): o.rounded for o in eps_table()}["float32", BERT_EPS] > 0,
        "with eps it is beta, for any beta": (module(x) == 3).all(),
        "in float16, torch's layers do not agree on a constant": {
            layer: bool(module_of(layer, torch.float16)(channels).isnan().any())
            for layer in ("LayerNorm([4, 4], eps=1e-12)", "BatchNorm2d(4, eps=1e-12)")
        }
        == {"LayerNorm([4, 4], eps=1e-12)": False, "BatchNorm2d(4, eps=1e-12)": True},
    }


def q13() -> Statements:
    x, f = from_values((0.0, 0.0, 6.0, 6.0), (1, 4)), facts("q13")
    layer = output("LayerNorm(4)", x)
    return {
        "with correction=0 both agree": nearly_equal(normalize_by_hand(x, 0), layer),
        "by hand the output is the root of (m - 1) / m times the layer's": f["hand"] / f["layer"]
        == pytest.approx((3 / 4) ** 0.5, abs=ROUNDING),
        "more elements, a smaller difference": 0 < f["many_gap"] < largest_difference(normalize_by_hand(x, 1), layer),
    }


def s2o() -> Statements:
    f = facts("s2o")
    far = torch.tensor([10_001.0, 10_003.0])
    return {
        "the figure shows the mean of the squares": float(view_of("s2o").description.trace.var) == f["squares"],
        "far from zero the variance is the same": float(far.double().var(correction=0)) == f["var"],
        "in float32 the difference is another number": float(far.square().mean() - far.mean() ** 2)
        == f["far"]
        != f["var"],
        "because both squares are rounded": bool((far.square().double() != far.double().square()).all()),
    }


def channels_last_errors(layer: str, x: Tensor) -> list[float]:
    """The largest error of the layer on x in contiguous and in channels_last memory."""
    exact = module_of(layer, torch.float64)(x.double())
    formats = (torch.contiguous_format, torch.channels_last)
    with torch.no_grad():
        return [largest_difference(module_of(layer)(x.contiguous(memory_format=each)), exact) for each in formats]


def q24() -> Statements:
    draws = [{e.method: e for e in sweep("float32", (DISTANCE,), seed=seed, eps=FLAX_EPS)} for seed in range(DRAWS)]
    negative = [draw for draw in draws if draw["one_pass"].negative]
    x = 1e4 + torch.randn(2, 8, 8, 8, generator=torch.Generator().manual_seed(0))
    others = ("LayerNorm([8, 8, 8])", "BatchNorm2d(8)", "InstanceNorm2d(8)", "RMSNorm([8, 8, 8])")
    return {
        "near zero the formula is right": sweep("float32", (1.0,))[0].error < 1e-6,
        "some variances are negative": negative,
        "their output is NaN": all(draw["one_pass"].is_nan for draw in negative),
        "Flax's default replaces a negative variance by 0": all(draw["flax"].var == 0 for draw in negative),
        "torch's own layer is within a few percent": max(draw["LayerNorm"].error for draw in draws) < 0.1,
        "two passes are right": all(draw["two_passes"].error < 0.1 for draw in draws),
        "GroupNorm is right on contiguous x, and useless on channels_last": channels_last_errors("GroupNorm(2, 8)", x)[
            0
        ]
        < 0.01
        < 100
        < channels_last_errors("GroupNorm(2, 8)", x)[1],
        "other layers are right on both": all(max(channels_last_errors(text, x)) < 0.01 for text in others),
    }


def q23() -> Statements:
    by_type = {name: no_eps(name) for name in DTYPES}
    return {
        "on numbers with mean zero and with the same eps they agree": facts("q23")["gap"] < ROUNDING,
        "RMSNorm has no beta": describe("RMSNorm(3)", (1, 3)).counts.beta_shape is None,
        "torch's own output shows this eps": all(abs(f.by_torch - f.sizes[f.used]) < 0.01 for f in by_type.values()),
        "each is the machine epsilon of a type": all(
            f.eps == torch.finfo(DTYPES[f.used]).eps for f in by_type.values()
        ),
    }


def q15() -> Statements:
    by_layer = {found.layer: found for found in single_elements()}
    return {
        "LayerNorm of one element gives beta for any x": by_layer["LayerNorm(1)"].from_beta == 0,
        "RMSNorm of one element gives two values": len(by_layer["RMSNorm(1)"].output.unique()) == 2,
        "RMSNorm keeps the sign of x and nothing else": by_layer["RMSNorm(1)"].from_sign == 0,
        "GroupNorm is near beta": facts("q15")["noise"] < 0.1,
        "BatchNorm refuses to train": refuses("BatchNorm1d(3)", normal(1, 3)),
    }


def s1g() -> Statements:
    dout = upstream((4, 6)).numpy()
    _, cache = layernorm_forward(normal(4, 6).double().numpy(), np.ones(6), np.zeros(6), {"eps": 1e-5})
    first_row = dout * (np.arange(4) == 0)[:, None]
    dx, dgamma, dbeta = layernorm_backward(dout, cache)
    return {
        "dgamma and dbeta have gamma's shape": dgamma.shape == dbeta.shape == (6,),
        "the cache holds xhat, sigma, gamma, and the axis of the means": Cache._fields
        == ("xhat", "sigma", "gamma", "axis"),
        "there is one sigma per row": cache.sigma.size == 4,
        "dx of a row does not depend on other rows": np.array_equal(layernorm_backward(first_row, cache)[0][0], dx[0]),
    }


def q46() -> Statements:
    x, powers = normal(64, 64, seed=3).bfloat16(), 2.0 ** torch.arange(-4, 4).repeat(8)
    normalized = x.float() * torch.rsqrt(x.float().square().mean(1, keepdim=True) + 1e-6)
    gamma = (1 + normal(64, seed=4) / 2).bfloat16()
    orders = [
        (normalized.bfloat16() * one.bfloat16(), (normalized * one).bfloat16()) for one in (gamma.float(), powers)
    ]
    return {
        "with other numbers some outputs differ, too": 0 < int((orders[0][0] != orders[0][1]).sum()) < x.numel(),
        "a gamma that is a power of two makes no difference": orders[1][0].equal(orders[1][1]),
        "rounding twice costs accuracy": facts("q46")["twice"] > facts("q46")["once"],
        "where outputs differ, they differ by one step": facts("q46")["steps"] == 1,
    }


def q48() -> Statements:
    f, norm = facts("q48"), torch.nn.BatchNorm1d(1)
    by_hand = (600 - 300) / f["var"] ** 0.5 + 0.5
    return {
        "the output before": f["before"] == pytest.approx(by_hand, abs=1e-6),
        "the variance is beyond float16": torch.tensor(float(f["var"])).half().item()
        == float(f["stored"])
        == float("inf"),
        "the mean and x are not": bool(torch.tensor([300.0, 600.0]).half().isfinite().all()),
        "a number divided by infinity is zero": 300 / float("inf") == 0,
        "half converts every floating buffer": {one.dtype for one in norm.half().buffers() if one.is_floating_point()}
        == {torch.float16},
    }
