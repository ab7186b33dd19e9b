"""What usual tests of a normalization let through: ``python -m bench.tests``.

Three rules, written anew from what their sources do, and ``nv.check``, on twenty wrong norms and ten right ones. ``table`` is the table of
docs/how-it-measures.md and README, which ``make made`` writes; a test makes it again and compares. ``--names`` lists what each rule accepts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import normviz as nv

# Norms: a forward pass with the weight, the bias and the running statistics of a module


class Own(nn.Module):
    """A module of somebody's own, which should be a layer of torch.nn."""

    def __init__(self, size: int, run: Callable[[Own, Tensor], Tensor]) -> None:
        super().__init__()
        self.weight, self.bias, self.run = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size)), run
        self.running_mean: Tensor
        self.running_var: Tensor
        self.register_buffer("running_mean", torch.zeros(size))
        self.register_buffer("running_var", torch.ones(size))

    def forward(self, x: Tensor) -> Tensor:
        return self.run(self, x)


class Scaled(nn.Module):
    """Likewise, without a bias."""

    def __init__(self, size: int, run: Callable[[Scaled, Tensor], Tensor]) -> None:
        super().__init__()
        self.weight, self.run = nn.Parameter(torch.ones(size)), run

    def forward(self, x: Tensor) -> Tensor:
        return self.run(self, x)


@dataclass(frozen=True)
class Norm:
    """One norm: its name, the layer that it should be, and how it is made."""

    name: str
    like: str
    shape: tuple[int, ...]
    make: Callable[[], nn.Module]


def batch_norm(
    name: str,
    use: Callable[[Own, Tensor], Tensor] = lambda own, y: y * _channel(own.weight) + _channel(own.bias),
    eps: float = 1e-5,
    correction: int = 0,
    tracks: bool = True,
    evaluates: bool = True,
    detach: Callable[[Tensor], Tensor] = lambda statistic: statistic,
) -> Norm:
    """A BatchNorm2d by hand."""

    def run(own: Own, x: Tensor) -> Tensor:
        mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3), correction=correction)
        if own.training and tracks:
            with torch.no_grad():
                own.running_mean.lerp_(mean, 0.1)
                own.running_var.lerp_(x.var((0, 2, 3)), 0.1)
        elif not own.training and evaluates:
            mean, var = own.running_mean, own.running_var
        return use(own, (x - detach(_channel(mean))) / detach(_channel(var + eps).sqrt()))

    return Norm(name, "BatchNorm2d(6)", (4, 6, 8, 8), lambda: Own(6, run))


def _channel(value: Tensor) -> Tensor:
    return value.view(1, -1, 1, 1)


def rms_norm(name: str, scale: Callable[[Tensor], Tensor]) -> Norm:
    """An RMSNorm by hand. ``scale``: 1 over the root of the mean square."""
    return Norm(name, "RMSNorm(32, eps=1e-5)", (4, 8, 32), lambda: Scaled(32, lambda own, x: x * scale(x) * own.weight))


def layer_norm(name: str, run: Callable[[Tensor], Tensor]) -> Norm:
    """A LayerNorm by hand."""
    return Norm(name, "LayerNorm(32)", (4, 8, 32), lambda: Own(32, lambda own, x: run(x) * own.weight + own.bias))


def _square(x: Tensor) -> Tensor:
    return x.square().mean(-1, keepdim=True)


def _centered(x: Tensor) -> Tensor:
    return x - x.mean(-1, keepdim=True)


def _deviation(x: Tensor, correction: int = 0, eps: float = 1e-5) -> Tensor:
    return (x.var(-1, keepdim=True, correction=correction) + eps).sqrt()


WRONG = [
    batch_norm("gamma and beta are ignored", lambda own, y: y),
    batch_norm("beta is subtracted", lambda own, y: y * _channel(own.weight) - _channel(own.bias)),
    batch_norm("it divides by gamma", lambda own, y: y / _channel(own.weight) + _channel(own.bias)),
    batch_norm("gamma in reverse order", lambda own, y: y * _channel(own.weight.flip(0)) + _channel(own.bias)),
    batch_norm("the variance is divided by m - 1", correction=1),
    batch_norm("eps is 1e-6", eps=1e-6),
    batch_norm("running statistics are never updated", tracks=False),
    batch_norm("eval mode uses the batch", evaluates=False),
    batch_norm("the statistics are detached", detach=Tensor.detach),
    batch_norm("no gradient", lambda own, y: (y * _channel(own.weight) + _channel(own.bias)).detach()),
    rms_norm("eps outside the root", lambda x: 1 / (_square(x).sqrt() + 1e-5)),
    rms_norm("no eps", lambda x: _square(x).rsqrt()),
    rms_norm("eps is 1e-8", lambda x: (_square(x) + 1e-8).rsqrt()),
    rms_norm("the mean square is detached", lambda x: (_square(x) + 1e-5).rsqrt().detach()),
    rms_norm("the standard deviation", lambda x: 1 / _deviation(x)),
    rms_norm("over the sequence", lambda x: (x.square().mean(1, keepdim=True) + 1e-5).rsqrt()),
    layer_norm("m - 1", lambda x: _centered(x) / _deviation(x, 1)),
    layer_norm("eps is 1e-12", lambda x: _centered(x) / _deviation(x, eps=1e-12)),
    layer_norm("the mean is detached", lambda x: (x - x.mean(-1, keepdim=True).detach()) / _deviation(x)),
    layer_norm("the variance of the first 16 features", lambda x: _centered(x) / _deviation(x[..., :16])),
]
RIGHT = [
    batch_norm("by hand"),
    Norm("torch's", "BatchNorm2d(6)", (4, 6, 8, 8), lambda: nn.BatchNorm2d(6)),
    rms_norm("by hand", lambda x: (_square(x) + 1e-5).rsqrt()),
    rms_norm("as a norm", lambda x: (x.norm(dim=-1, keepdim=True).square() / 32 + 1e-5).rsqrt()),
    Norm("torch's", "RMSNorm(32, eps=1e-5)", (4, 8, 32), lambda: nn.RMSNorm(32, eps=1e-5)),
    layer_norm("by hand", lambda x: _centered(x) / _deviation(x)),
    layer_norm("E[x^2] - E[x]^2", lambda x: _centered(x) * (_square(x) - x.mean(-1, keepdim=True) ** 2 + 1e-5).rsqrt()),
    layer_norm("F.layer_norm", lambda x: F.layer_norm(x, (32,))),
    Norm("torch's", "LayerNorm(32)", (4, 8, 32), lambda: nn.LayerNorm(32)),
    Norm("torch's", "GroupNorm(2, 6)", (4, 6, 8, 8), lambda: nn.GroupNorm(2, 6)),
]


# The rules


def _reference(norm: Norm) -> nn.Module:
    layer: nn.Module = eval(norm.like, vars(nn))
    return layer


def five_uniform(norm: Norm) -> bool:
    """As KernelBench (github.com/ScalingIntelligence/KernelBench, src/kernelbench/eval.py and the x of KernelBench/level1).

    Five random x in [0, 1), gamma 1, beta 0, train mode, no gradient, allclose with 1e-4.
    """
    own, reference = norm.make(), _reference(norm)
    with torch.no_grad():
        several = [torch.rand(norm.shape, generator=torch.Generator().manual_seed(seed)) for seed in range(5)]
        return all(torch.allclose(own(x), reference(x), atol=1e-4, rtol=1e-4) for x in several)


def one_snapshot(norm: Norm) -> bool:
    """As an assignment of Stanford's CS336 (github.com/stanford-cs336/assignment1-basics, tests/test_model.py and tests/conftest.py).

    Weights and one x that are stored, rtol 1e-4 and atol 1e-6, forward.
    """
    own, reference = norm.make(), _reference(norm)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for mine, right in zip(own.parameters(), reference.parameters(), strict=True):
            right.copy_(1 + 0.5 * torch.randn(right.shape, generator=generator))
            mine.copy_(right)
        x = torch.randn(norm.shape, generator=generator)
        return torch.allclose(own(x), reference(x), rtol=1e-4, atol=1e-6)


def one_randn(norm: Norm) -> bool:
    """``torch.testing.assert_close`` (docs.pytorch.org/docs/stable/testing.html) on one ``torch.randn``: gamma 1, beta 0, train mode, forward."""
    x = torch.randn(norm.shape, generator=torch.Generator().manual_seed(0))
    try:
        torch.testing.assert_close(norm.make()(x), _reference(norm)(x))
    except AssertionError:
        return False
    return True


def check(norm: Norm) -> bool:
    """``nv.check``."""
    x = torch.randn(norm.shape, generator=torch.Generator().manual_seed(0))
    return nv.check(norm.make(), x, norm.like, backward=True).ok


RULES: dict[str, Callable[[Norm], bool]] = {
    "five x in [0, 1), gamma 1, beta 0, allclose 1e-4, forward (as KernelBench)": five_uniform,
    "one stored x and weights, rtol 1e-4, forward (as in public courses)": one_snapshot,
    "`torch.testing.assert_close` on one `randn`": one_randn,
    "`nv.check`": check,
}


def accepted(rule: Callable[[Norm], bool]) -> tuple[list[Norm], list[Norm]]:
    """The wrong and the right norms that a rule accepts."""
    return [one for one in WRONG if rule(one)], [one for one in RIGHT if rule(one)]


@cache
def table() -> str:
    """The table of the documentation."""
    lines = [
        f"| test | of {len(WRONG)} wrong norms it accepts | of {len(RIGHT)} right norms it refuses |",
        "| --- | --- | --- |",
    ]
    for name, rule in RULES.items():
        wrong, right = accepted(rule)
        lines.append(f"| {name} | {len(wrong)} | {len(RIGHT) - len(right)} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--names", action="store_true", help="name the wrong norms that each rule accepts")
    options = parser.parse_args(arguments)
    print(table())
    for name, rule in RULES.items() if options.names else ():
        print(f"{name}:", *[f"    {one.like}: {one.name}" for one in accepted(rule)[0]], sep="\n")


if __name__ == "__main__":
    main()
