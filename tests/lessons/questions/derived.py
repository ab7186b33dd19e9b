"""Facts in the answers from the four documents, derived a second time with torch alone."""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt

import torch
from torch import Tensor, nn


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


def _q1() -> dict[str, float]:
    x = noise(2, 4, 3, 4)
    return {"difference": largest(normalized(x, 3), normalized(x, 1))}


def _q4() -> dict[str, float]:
    x = noise(2, 4, 6)
    later = torch.cat([x[:, :3], x[:, 3:] + 3 * x[:, :1]], 1)
    return {"leak": largest(normalized(x, (1, 2))[:, 0], normalized(later, (1, 2))[:, 0])}


def _s3f() -> dict[str, float]:
    x = noise(4, 4)
    deviations = x - x.mean(1)
    return {"silent": largest(deviations / (deviations.square().mean(1) + 1e-12).sqrt(), normalized(x, 1, 1e-12))}


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
        "skewed": float(normalized(noise(64, 1).square().double(), 0, 0).pow(3).mean()),
        "still": float(normalized(noise(64, 1).square().double(), 0, 0).pow(3).mean()),
        "low": float(deviations.min()),
        "high": float(deviations.max()),
        "small": float(gammas.min()),
        "large": float(gammas.max()),
    }


def _s2a() -> dict[str, float]:
    """The start is 3 / 2 standard deviations off, and 0.9^t of that is left after t steps."""
    steps, keras = (next(t for t in range(200) if 1.5 * kept**t <= 0.25) for kept in (0.9, 0.99))
    return {"steps": steps, "keras": keras}


def _s2b() -> dict[str, float]:
    lengths = torch.randint(1, 31, (32,), generator=torch.Generator().manual_seed(0))
    return {"last": int((lengths == lengths.max()).sum())}


def _q27() -> dict[str, float]:
    x = torch.round(noise(26, 2) * torch.tensor([1.0, 2.0]) + torch.tensor([0.0, 10.0]), decimals=2).double()
    halves = x.split(13)
    alone = largest(torch.cat([normalized(half, 0) for half in halves]), normalized(x, 0))
    averaged = torch.stack([half.var(0, correction=0) for half in halves]).mean(0)
    return {"apart": alone, "accumulated": alone, "naive": largest(averaged, x.var(0, correction=0))}


def _s2f() -> dict[str, float]:
    x = noise(2, 3, 4, 4)
    other = torch.stack([x[0], 3 * x[1] + 1])
    whole = nn.LayerNorm([2, 3, 4, 4])
    return {"moved": largest(whole(x)[0], whole(other)[0])}


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


def _around(distance: float, seed: int = 0) -> Tensor:
    noise = torch.randn(256, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return (distance + noise).float()


def _q24() -> dict[str, float]:
    def one_pass(x: Tensor) -> float:
        return float((x**2).mean() - x.mean() ** 2)

    draws = [_around(1e6, seed) for seed in range(16)]
    x, variances = draws[0], [one_pass(draw) for draw in draws]
    y = nn.LayerNorm(256, eps=1e-6, elementwise_affine=False)(x).double()
    clamped = [draw - draw.mean() for draw, variance in zip(draws, variances, strict=True) if variance <= 0]
    return {
        "var": variances[0],
        "exact": float(x.double().var(correction=0)),
        "negative": sum(variance < 0 for variance in variances),
        "flax": max(float(centered.double().square().mean().sqrt()) for centered in clamped) / sqrt(1e-6),
        "own": float(((x.max() - x.min()).double() / (y.max() - y.min())) ** 2) - 1e-6,
    }


def _q22() -> dict[str, float]:
    drawn = torch.randn(256, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 1e-3
    var = float(drawn.var(correction=0))
    return {
        f"{name}_size": sqrt(var / (var + eps)) for name, eps in (("keras", 1e-3), ("torch", 1e-5), ("bert", 1e-12))
    }


def _s3i() -> dict[str, float]:
    x = noise(4, 6)
    other = torch.cat([x[:1], 3 * x[1:] + 1])
    return {"batch": largest(normalized(x, 0)[0], normalized(other, 0)[0])}


def _s3j() -> dict[str, float]:
    x = noise(4, 3, 2, 2)
    sequence, centered = noise(3, 3), (noise(3, 3) - torch.arange(3)) / sqrt(1 + 1e-5)
    by_channels = (sequence - torch.arange(3)[:, None]) / sqrt(1 + 1e-5)
    return {
        "train_gap": largest(normalized(x, (0, 2, 3))[0], normalized(x[:1], (0, 2, 3))[0]),
        "silent": largest(centered, by_channels),
    }


DERIVED: dict[str, Callable[[], dict[str, float]]] = {
    "q11": lambda: {"life": log(0.5) / log(0.9)},
    "q12": lambda: {"train": 3 / sqrt(9 + 1e-5), "eval": 3 / sqrt(12 + 1e-5)},
    "q22": _q22,
    "q24": _q24,
    "q27": _q27,
    "q1": _q1,
    "q4": _q4,
    "s0h": _s0h,
    "s1a": lambda: {"column": furthest(normalized(noise(4, 6).double(), 1).mean(0))},
    "s1b": lambda: {"gap": largest(trained(nn.LayerNorm(6))(noise(4, 6)), trained(nn.BatchNorm1d(6))(noise(4, 6)))},
    "s1c": _s1c,
    "s1e": _s1e,
    "s1f": _s1f,
    "s2a": _s2a,
    "s2b": _s2b,
    "s2e": lambda: {"place": furthest(normalized(noise(4, 3, 2, 2), (0, 2, 3)).mean(0))},
    "s2f": _s2f,
    "s2g": lambda: {"var": 1e-4, "small": 1e-4 / 1.1e-4, "large_var": 100, "large": 100 / (100 + 1e-5)},
    "s2l": _s2l,
    "s2m": _s2m,
    "s3": lambda: {"gap": largest(normalized(noise(4, 3, 5), 0), normalized(noise(4, 3, 5), (0, 1)))},
    "s3d": lambda: {"gap": largest(normalized(noise(3, 5, 2, 4), 0, 1e-12), normalized(noise(3, 5, 2, 4), (0, 1, 2)))},
    "s3e": lambda: {
        "gap": largest(normalized(noise(4, 3, 5).double(), 2, 1e-12), normalized(noise(4, 3, 5).double(), 2))
    },
    "s3f": _s3f,
    "s3i": _s3i,
    "s3j": _s3j,
    "s3k": lambda: {"eval_gap": 5 / sqrt(1 + 1e-5)},
}
