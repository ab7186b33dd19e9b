"""The facts of the questions from the four documents, derived a second time: counts by hand, the rest with torch alone."""

from __future__ import annotations

from collections.abc import Callable
from math import log, nan, sqrt

import pytest
import torch
from torch import Tensor, nn

from normviz.lessons.questions.registry import QUESTIONS
from tests.lessons.questions.statements.measure import facts

# Counts and shapes, computed by hand.
BY_HAND = {
    "s0": {"statistics": 2, "elements": 3 * 4 * 4, "gammas": 48, "right": "elements"},
    "s0a": {"whole": 48, "means": 2, "planes": 2 * 3, "plane": 4 * 4, "rows": 2 * 3 * 4, "row": 4, "right": "whole"},
    "s0b": {"gammas": 48, "few": 2, "many": 4, "shape": (3, 4, 4), "peers": 3, "right": 48},
    "s0c": {"gammas": 4 * 5, "cells": 3 * 4 * 5, "means": 2 * 3, "right": 20},
    "s0d": {"peers": 2 * 3 - 1, "right": "place"},
    "s0e": {"gammas": 3, "elements": 2 * 4 * 4, "right": "channel"},
    "s0f": {"gammas": 3, "planes": 2 * 3, "none": 0, "right": 3},
    "s0g": {"layer_gammas": 4 * 3 * 3, "layer_elements": 36, "batch_gammas": 4, "batch_elements": 2 * 3 * 3, "group_gammas": 4,
            "group_elements": 2 * 3 * 3, "instance_gammas": 4, "instance_elements": 9, "right": "trailing"},
    "s0h": {"first": 2, "second": 6, "right": "planes"},
    "s1": {"gamma": (6,), "means": 4, "features": 6, "right": "columns"},
    "s1a": {"means": 4, "features": 6, "columns": 6, "right": "rows"},
    "s1b": {"shape": (6,), "right": "shape"},
    "s1c": {"layer": 0, "right": "batch"},
    "s1d": {"layer": 0, "batch": 6 + 6 + 1, "mean": 6, "var": 6, "right": 0},
    "s1e": {"right": "before"},
    "s1f": {"right": "learned"},
    "s1g": {"summed": 4, "right": 4},
    "s1h": {"var": 0, "bare": nan, "with_eps": 0, "right": "beta"},
    "s2": {"one": 1, "two": 2, "six": 2 * 3, "deep": 2 * 3 * 4, "gamma": (5,), "right": "every"},
    "s2a": {"mean": 3, "var": 4, "start_mean": 0, "start_var": 1, "right": "tens"},
    "s2b": {"first": 32, "length": 30, "right": "few"},
    "s2c": {"factor": 4, "small": 4, "large": 64, "values": 2 * 16 * 16, "right": 4},
    "s2d": {"examples": 26, "size": 13, "right": "batch"},
    "s2e": {"means": 3, "elements": 4 * 2 * 2, "right": "channel"},
    "s2f": {"means": 2, "elements": 48, "one": 1, "still": 0, "right": "example"},
    "s2g": {"eps": 1e-5, "right": "below"},
    "s2h": {"means": 5 * 2, "features": 4, "gamma": (4,), "right": 10},
    "s2i": {"last": 5, "channels": 4, "right": "refuses"},
    "s2j": {"gammas": 48, "channels": 3, "means": 2, "right": "layer"},
    "s2k": {"axes": 2, "last": 1, "more": 3, "right": "before"},
    "s2l": {"gap": 0, "none": 0, "some": 4 + 4, "means": 3, "right": "same"},
    "s2m": {"noticed": 0, "wrong": 5, "caught": 5, "right": 0},
    "s2n": {"right": "useless"},
    "s2o": {"squares": (1 + 9) / 2, "squared": 2 * 2, "var": 1, "right": 5},
    "s2p": {"means": 2 * 3, "shape": (2, 3, 1, 1), "elements": 2 * 4, "right": 6},
    "s2q": {"kinds": 4, "gap": 0, "right": "every"},
    "s2r": {"words": "Expected more than 1 value per channel when training, got input size torch.Size([1, 6])",
            "buffers": 13, "none": 0, "right": "layer"},
    "s3": {"loops": 3 * 5, "examples": 4, "features": 5, "values": 4 * 3, "right": 15},
    "s3a": {"batch": 3, "layer": 2, "pixels": 2 * 4 * 4, "right": "none"},
    "s3b": {"channels": 8, "colors": 3, "features": 5, "right": 8},
    "s3c": {"calls": 4 * 3, "features": 5, "right": 12},
    "s3d": {"means": 5 * 2 * 4, "examples": 3, "channels": 4, "values": 3 * 5 * 2, "right": "cell"},
    "s3e": {"means": 4 * 3, "features": 5, "right": "same"},
    "s3f": {"u": (2, 3, 1), "x_norm": (2, 3, 4), "flat": (2, 3), "all": 24, "means": 6, "right": "x"},
    "s3g": {"elements": 3 * 2, "first": 2 * 4, "last": 3 * 2, "right": "last"},
    "s3h": {"kept": 0, "right": "infinite"},
    "s3i": {"layer": 0, "evaluated": 0, "right": "batch"},
    "s3j": {"words": "expected 4D input", "eval_gap": 0, "right": "single"},
    "s3k": {"train_gap": 0, "changed": 3, "kept": 0, "right": "eval"},
    "s3l": {"steps": 60, "momentum": 0.9, "right": "same"},
    "s3m": {"first": 2, "second": 1, "updates": 2 * 64, "elements": 8 * 64 * 14 * 14, "right": 1},
    "s3n": {"low": 0.1, "high": 0.9, "right": "old"},
    "s3o": {"keras": 0.99, "converted": 0.01, "torch": 0.1, "in_keras": 0.9, "right": 0.01},
    "s3p": {"m": 4, "right": "unbiased"},
    "s3q": {"layer": 1, "batch": 6, "tokens": 6, "right": 1},
}  # fmt: skip

# Rounding errors: at most this much.
ROUNDING = {
    "s1g": {"gap": 1e-13},
    "s2d": {"sync": 1e-13},
    "s2r": {"gap": 1e-6},
    "s3": {"twin": 1e-12},
    "s3c": {"gap": 1e-5},
    "s3d": {"three": 1e-5},
    "s3e": {"equal": 1e-12},
    "s3l": {"single": 1e-5, "double": 1e-14},
}

# Random samples: within a sixth of the expected value.
DRAWN = {
    "s2b": {"first_error": 2 / sqrt(32), "last_error": 2 / sqrt(2)},
    "s2c": {"small_spread": 2 / sqrt(4), "large_spread": 2 / sqrt(64)},
}


def noise(*shape: int) -> Tensor:
    return torch.round(torch.randn(shape, generator=torch.Generator().manual_seed(1)), decimals=2)


def largest(one: Tensor, other: Tensor) -> float:
    return float((one - other).detach().abs().max())


def trained(module: nn.Module) -> nn.Module:
    """The module with the app's "random" gamma and beta."""
    generator = torch.Generator().manual_seed(2)
    shape = module.weight.shape
    gamma, beta = (torch.round(torch.randn(shape, generator=generator), decimals=2) for _ in range(2))
    module.weight.data, module.bias.data = 1 + gamma / 2, beta
    return module


def normalized(x: Tensor, dims: int | tuple[int, ...], eps: float = 1e-5) -> Tensor:
    return (x - x.mean(dims, keepdim=True)) / (x.var(dims, correction=0, keepdim=True) + eps).sqrt()


def furthest(values: Tensor) -> float:
    return max(values.flatten().tolist(), key=abs)


def _s0h() -> dict[str, float]:
    x = noise(2, 3, 4, 4).double()
    scaled = torch.cat([4 * x[:, :1], x[:, 1:]], 1)
    return {
        "moved": largest(normalized(x, (1, 2, 3)), normalized(scaled, (1, 2, 3))),
        "still": largest(normalized(x, (2, 3)), normalized(scaled, (2, 3))),
    }


def _s1c() -> dict[str, float]:
    x, generator = noise(4, 6), torch.Generator().manual_seed(0)
    std, mean = torch.std_mean(x.double(), 0, correction=0)
    module = nn.BatchNorm1d(6)
    for _ in range(20):
        module((mean + std * torch.randn(4, 6, generator=generator, dtype=torch.float64)).float())
    evaluated = module.eval()(x)
    return {"batch": largest(evaluated, module.train()(x))}


def _s1e() -> dict[str, float]:
    x = noise(4, 6)
    before, after = normalized(x.double(), 1), trained(nn.LayerNorm(6))(x).double()
    means, variances = after.mean(1), after.var(1, correction=0)
    return {
        "off": float((before.var(1, correction=0) - 1).abs().max()),
        "low": float(means.min()),
        "high": float(means.max()),
        "least": float(variances.min()),
        "most": float(variances.max()),
    }


def _s1f() -> dict[str, float]:
    module = trained(nn.BatchNorm1d(3))
    deviations, gammas = module(noise(6, 3)).std(0, correction=0), module.weight.abs()
    return {
        "low": float(deviations.min()),
        "high": float(deviations.max()),
        "small": float(gammas.min()),
        "large": float(gammas.max()),
    }


def _s1h() -> dict[str, float]:
    row = torch.tensor([[1.0, 2.0, 3.0, 8.0]], dtype=torch.float64)
    return {"change": largest(normalized(row, 1), normalized(row, 1, 0))}


def _s2a() -> dict[str, float]:
    """The start is 3 / 2 standard deviations off, and 0.9^t of that is left after t steps."""
    return {"steps": next(t for t in range(100) if 1.5 * 0.9**t <= 0.25)}


def _s2b() -> dict[str, float]:
    lengths = torch.randint(1, 31, (32,), generator=torch.Generator().manual_seed(0))
    return {"last": int((lengths == lengths.max()).sum())}


def _s2d() -> dict[str, float]:
    x = torch.round(noise(26, 2) * torch.tensor([1.0, 2.0]) + torch.tensor([0.0, 10.0]), decimals=2).double()
    halves = x.split(13)
    whole = normalized(x, 0)
    alone = torch.cat([normalized(half, 0) for half in halves])
    averaged = torch.stack([half.var(0, correction=0) for half in halves]).mean(0)
    return {"gap": largest(alone, whole), "naive": largest(averaged, x.var(0, correction=0))}


def _s2f() -> dict[str, float]:
    x = noise(2, 3, 4, 4)
    other = torch.stack([x[0], 3 * x[1] + 1])
    whole = nn.LayerNorm([2, 3, 4, 4])
    return {"moved": largest(whole(x)[0], whole(other)[0])}


def _s2i() -> dict[str, float]:
    x = noise(2, 4, 4)
    return {"gap": largest(normalized(x, 2), normalized(x, 1))}


def _s2l() -> dict[str, float]:
    x = noise(3, 4)
    return {"trained": largest(trained(nn.LayerNorm(4))(x), nn.LayerNorm(4, elementwise_affine=False)(x))}


def _s2m() -> dict[str, float]:
    x = noise(2, 3, 2, 4)
    wrong = [
        normalized(x, 3),
        normalized(x, (1, 2, 3)),
        normalized(x, (0, 2, 3)),
        x / x.square().mean((2, 3), keepdim=True).sqrt(),
        normalized(x, (2, 3), 1.0),
    ]
    return {"least": min(largest(one, normalized(x, (2, 3))) for one in wrong)}


def _around(distance: float) -> Tensor:
    noise = torch.randn(256, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return (distance + noise).float()


def _s2n() -> dict[str, float]:
    def one_pass(x: Tensor) -> float:
        return float((x**2).mean() - x.mean() ** 2)

    distances = [10**power for power in range(8)]
    exact = {d: float(_around(d).double().var(correction=0)) for d in distances}
    far = next(d for d in distances if abs(one_pass(_around(d)) - exact[d]) > exact[d])
    worst = min(distances, key=lambda d: one_pass(_around(d)))
    x = _around(far)
    return {
        "far": far,
        "exact": exact[far],
        "one_pass": one_pass(x),
        "two_passes": float(((x - x.mean()) ** 2).mean()),
        "worst_distance": worst,
        "worst": one_pass(_around(worst)),
    }


def _s3h() -> dict[str, float]:
    drawn = torch.randn(256, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 1e-4
    var = float(drawn.float().double().var(correction=0))
    half = nn.LayerNorm(256, eps=1e-12, elementwise_affine=False)(drawn.half()).double()
    return {
        "own": float(half.square().mean().sqrt()),
        "var": var,
        "tiny": sqrt(var / (var + 1e-12)),
        "default": sqrt(var / (var + 1e-5)),
    }


def _s3i() -> dict[str, float]:
    x = noise(4, 6)
    other = torch.cat([x[:1], 3 * x[1:] + 1])
    return {"batch": largest(normalized(x, 0)[0], normalized(other, 0)[0])}


def _s3j() -> dict[str, float]:
    x = noise(4, 3, 2, 2)
    return {"train_gap": largest(normalized(x, (0, 2, 3))[0], normalized(x[:1], (0, 2, 3))[0])}


def _s3p() -> dict[str, float]:
    stream = 3 + 2 * torch.randn(60, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return {
        "biased": float(stream[0].var(correction=0)),
        "kept": float(stream[0].var(correction=1)),
        "ratio": 4 / 3,
    }


DERIVED: dict[str, Callable[[], dict[str, float]]] = {
    "s0h": _s0h,
    "s1a": lambda: {"column": furthest(normalized(noise(4, 6).double(), 1).mean(0))},
    "s1b": lambda: {"gap": largest(trained(nn.LayerNorm(6))(noise(4, 6)), trained(nn.BatchNorm1d(6))(noise(4, 6)))},
    "s1c": _s1c,
    "s1e": _s1e,
    "s1f": _s1f,
    "s1h": _s1h,
    "s2a": _s2a,
    "s2b": _s2b,
    "s2d": _s2d,
    "s2e": lambda: {"place": furthest(normalized(noise(4, 3, 2, 2), (0, 2, 3)).mean(0))},
    "s2f": _s2f,
    "s2g": lambda: {"var": 1e-4, "small": 1e-4 / 1.1e-4, "large_var": 100, "large": 100 / (100 + 1e-5)},
    "s2i": _s2i,
    "s2l": _s2l,
    "s2m": _s2m,
    "s2n": _s2n,
    "s3": lambda: {"gap": largest(normalized(noise(4, 3, 5), 0), normalized(noise(4, 3, 5), (0, 1)))},
    "s3d": lambda: {"gap": largest(normalized(noise(3, 5, 2, 4), 0, 1e-12), normalized(noise(3, 5, 2, 4), (0, 1, 2)))},
    "s3e": lambda: {
        "gap": largest(normalized(noise(4, 3, 5).double(), 2, 1e-12), normalized(noise(4, 3, 5).double(), 2))
    },
    "s3h": _s3h,
    "s3i": _s3i,
    "s3j": _s3j,
    "s3k": lambda: {"eval_gap": 5 / sqrt(1 + 1e-5)},
    "s3n": lambda: {
        "old_low": log(0.5) / log(0.1),
        "old_high": log(0.5) / log(0.9),
        "new_low": log(0.5) / log(0.9),
        "new_high": log(0.5) / log(0.1),
    },
    "s3o": lambda: {"left": 1 - 0.99},
    "s3p": _s3p,
}

KEYS = [key for key in QUESTIONS if key.startswith("s")]


@pytest.mark.parametrize("key", KEYS)
@torch.no_grad()
def test_every_fact_is_derived_a_second_time(key):
    derived, found = DERIVED[key]() if key in DERIVED else {}, facts(key)
    by_hand, rounding, drawn = (table.get(key, {}) for table in (BY_HAND, ROUNDING, DRAWN))
    assert sorted([*by_hand, *rounding, *drawn, *derived]) == sorted(found)
    assert [name for name, value in by_hand.items() if not equal(found[name], value)] == []
    assert {name: found[name] for name in derived} == pytest.approx(derived, rel=1e-3)
    assert all(0 <= found[name] <= most for name, most in rounding.items())
    assert {name: found[name] for name in drawn} == pytest.approx(drawn, rel=1 / 6)


def equal(one: object, other: object) -> bool:
    """Equal values of one type; NaN equals NaN, and floats may differ in their last digits."""
    if isinstance(one, float):
        return one == pytest.approx(other, rel=1e-12, abs=0, nan_ok=True)
    return one == other and isinstance(one, type(other))


def test_a_convolution_makes_the_channels_of_question_s3b():
    y = nn.Conv2d(3, 8, 3)(torch.zeros(2, 3, 6, 6))
    assert y.shape == (2, 8, 4, 4)
    assert nn.BatchNorm2d(8)(y).shape == y.shape
