"""An attack on ``nv.check``: hundreds of wrong and right implementations, each made by changes of right code. ``python -m bench.mutations``.

A right implementation is put together from parts, as people write them: for each layer, several ways to compute the statistics, the root and the
output. A mutation changes one part, and says what a true reason is: a pattern of sentences. Wrong implementations have one or two mutations.
``contradictions`` compares each with torch, without normviz. Then the table counts

- wrong passes: a wrong implementation that ``nv.check`` accepts
- false accusations: a right one that it refuses
- false reasons: a sentence that is true of none of the mutations
- hidden reasons: a mutation of which no sentence tells, beside another that is told
- told later: likewise, but of gradients, modes or sizes, which are tried once the output is right
- no reason: a wrong one of which ``nv.check`` says only by how much its output differs, and what holds
- not as intended: torch does not contradict a wrong one, for example because its mutation changes nothing, or the code raises an error
"""

from __future__ import annotations

import argparse
import random
import re
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, product

import torch

from tests.measuring.mutations import Implementation, contradictions

# The parts of right code


@dataclass(frozen=True)
class Place:
    """A layer on an x of a shape, and how code for it reshapes x and its parameters.

    pre, post  before and after the statistics: ``u`` of ``x``, and back
    axes       the axes of the statistics
    count      how many elements share a statistic
    weight     gamma as it is multiplied; beta likewise
    other      axes that a mistake may take instead
    center     whether the layer subtracts the mean
    """

    name: str
    like: str
    shape: tuple[int, ...]
    axes: str
    count: str
    weight: str = "weight"
    pre: str = "x"
    post: str = "y"
    other: str = "0"
    center: bool = True

    @property
    def bias(self) -> str:
        return self.weight.replace("weight", "bias")


CHANNELS = "weight.view(1, -1, 1, 1)"
PLACES = [
    Place("LayerNorm", "LayerNorm(10)", (4, 10), "-1", "u.shape[-1]"),
    Place("LayerNorm of tokens", "LayerNorm(12)", (2, 5, 12), "-1", "u.shape[-1]", other="1"),
    Place("LayerNorm over two axes", "LayerNorm([4, 5])", (3, 4, 5), "(1, 2)", "u[0].numel()", other="(0, 2)"),
    Place("BatchNorm1d", "BatchNorm1d(5)", (8, 5), "0", "len(u)", other="1"),
    Place("BatchNorm2d", "BatchNorm2d(3)", (4, 3, 5, 6), "(0, 2, 3)", "u[:, 0].numel()", CHANNELS, other="(2, 3)"),
    Place(
        "BatchNorm3d", "BatchNorm3d(3)", (2, 3, 2, 3, 4), "(0, 2, 3, 4)", "u[:, 0].numel()",
        "weight.view(1, -1, 1, 1, 1)", other="(2, 3, 4)",
    ),
    Place("InstanceNorm2d", "InstanceNorm2d(3, affine=True)", (2, 3, 5, 6), "(2, 3)", "u[0, 0].numel()", CHANNELS, other="(0, 2, 3)"),
    Place(
        "GroupNorm", "GroupNorm(2, 6)", (3, 6, 4, 5), "-1", "u.shape[-1]", CHANNELS, "x.reshape(len(x), 2, -1)",
        "y.reshape(x.shape)", other="(1, 2)",
    ),
    Place("RMSNorm", "RMSNorm(12, eps=1e-5)", (4, 12), "-1", "u.shape[-1]", center=False),
    Place("RMSNorm of tokens", "RMSNorm(9, eps=1e-5)", (2, 5, 9), "-1", "u.shape[-1]", other="1", center=False),
]  # fmt: skip

STATISTICS = {
    "sums": ("u.sum({axes}, keepdim=True) / m", "(d * d).sum({axes}, keepdim=True) / m"),
    "means": ("u.mean({axes}, keepdim=True)", "d.pow(2).mean({axes}, keepdim=True)"),
    "var": ("u.mean({axes}, keepdim=True)", "torch.var(u, {axes}, correction=0, keepdim=True)"),
    "fast": ("u.mean({axes}, keepdim=True)", "(u * u).mean({axes}, keepdim=True) - mu * mu"),
    "std": ("u.mean({axes}, keepdim=True)", "u.std({axes}, unbiased=False, keepdim=True) ** 2"),
}
SQUARES = {
    "sums": ("", "(u * u).sum({axes}, keepdim=True) / m"),
    "means": ("", "u.pow(2).mean({axes}, keepdim=True)"),
    "norm": ("", "(u.norm(dim={axes}, keepdim=True) / m ** 0.5) ** 2"),
}
ROOTS = ("torch.sqrt(var + eps)", "(var + eps) ** 0.5")
QUOTIENTS = ("{d} / root", "{d} * (1 / root)", "{d} * root.reciprocal()")
USES = ("y * {weight} + {bias}", "torch.addcmul({bias}, {weight}, y)")
WEIGHTS = ("y * {weight}", "{weight} * y")


@dataclass(frozen=True)
class Code:
    """An implementation in parts; ``parts`` by name."""

    place: Place
    parts: Mapping[str, str]
    names: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """The function."""
        place, part = self.place, self.parts
        lines = [
            f"eps = {part['eps']}",
            *([part["first"]] if part["first"] else []),
            f"u = {part['pre']}",
            f"m = {place.count}",
            *([f"mu = {part['mean']}", "d = u - mu"] if place.center else []),
            f"var = {part['var']}",
            f"root = {part['root']}",
            f"y = {part['quotient']}",
            f"y = {place.post}",
            f"return {part['use']}",
        ]
        arguments = "x, weight, bias" if place.center else "x, weight"
        return f"def fn({arguments}):\n" + "".join(f"    {line}\n" for line in lines)

    def implementation(self) -> Implementation:
        """What is checked."""
        place = self.place
        learned = "weight bias" if place.center else "weight"
        name = f"{place.name}, {', '.join(self.names)}"
        return Implementation(name, self.source, place.like, place.shape, learned, passed=True)

    def with_part(self, name: str, value: str, mutation: str) -> Code:
        """With another part."""
        return replace(self, parts={**self.parts, name: value}, names=(*self.names, mutation))


def right_codes() -> Iterator[Code]:
    """Every combination, in a fixed order."""
    for place in PLACES:
        ways = STATISTICS if place.center else SQUARES
        uses = USES if place.center else WEIGHTS
        for (way, (mean, var)), root, quotient, use in product(ways.items(), ROOTS, QUOTIENTS, uses):
            parts = {
                "first": "", "eps": "1e-5", "pre": place.pre, "root": root,
                "mean": mean.format(axes=place.axes), "var": var.format(axes=place.axes),
                "quotient": quotient.format(d="d" if place.center else "u"),
                "use": use.format(weight=place.weight, bias=place.bias),
            }  # fmt: skip
            yield Code(place, parts, (way,))


# Mutations


@dataclass(frozen=True)
class Mutation:
    """A change of one part.

    old    what is replaced in the part; "" for the whole part, which ``new`` may name as {part}
    told   a regular expression: what a true sentence says of it
    where  which layers have it: "center" (with a mean), "last" (with a mean, over the last axis), "square" (without a mean), or "" for all
    """

    part: str
    old: str
    new: str
    told: str
    where: str = ""

    def applied(self, code: Code) -> Code | None:
        """The code with this mutation; None where it cannot be made."""
        place, value = code.place, code.parts[self.part]
        is_of = {
            "": True,
            "center": place.center,
            "last": place.center and place.axes == "-1",
            "square": not place.center,
        }
        words = vars(place) | {"part": value, "bias": place.bias}
        old, new = self.old.format(**words), self.new.format(**words)
        changed = value.replace(old, new) if old else new
        return (
            code.with_part(self.part, changed, f"{self.part}: {new}")
            if is_of[self.where] and changed != value
            else None
        )


OUTSIDE = "outside the root|not inside the root"
MAXIMUM = "maximum of the denominator"
UNBIASED = r"by m - 1"
ANOTHER = "divides by another number"
ROOTLESS = "root is forgotten"
SQUARE = "not by the standard deviation|square is forgotten|mean of x.2"
SINGLE = [
    # eps
    *(Mutation("eps", "", value, rf"eps is {told}, not 1e-05") for value, told in (
        ("1e-6", "1e-06"), ("1e-3", "0.001"), ("1e-8", "1e-08"), ("1e-12", "1e-12|eps is 0"), ("0.0", "0"), ("5e-5", "5e-05"), ("1e-4", "0.0001"),
        ("0.1", "0.1"), ("1e-5 ** 2", "1e-10"), ("torch.finfo(x.dtype).eps", "1.19209e-07"), ("0.5", "0.5"), ("-1e-5", "-1e-05"),
    )),
    Mutation("root", "var + eps", "var + eps / m", r"eps is \S+, not 1e-05"),
    Mutation("root", "var + eps", "var + eps * m", r"eps is \S+, not 1e-05"),
    Mutation("root", "var + eps", "var + eps + eps", r"eps is \S+, not 1e-05"),
    Mutation("root", "var + eps", "var * (1 + eps)", r"multiplies eps by what|eps is 0"),
    Mutation("root", "", "var.sqrt() + eps", OUTSIDE),
    Mutation("root", "", "(var ** 0.5 + eps)", OUTSIDE),
    Mutation("root", "", "var.sqrt().clamp(min=eps)", MAXIMUM),
    Mutation("root", "", "torch.sqrt(var.clamp(min=eps))", MAXIMUM),
    Mutation("root", "", "torch.maximum(var.sqrt(), torch.tensor(eps, dtype=u.dtype))", MAXIMUM),
    Mutation("root", "var + eps", "var + eps * u.abs().amax({axes}, keepdim=True) ** 2", "grows with x"),
    Mutation("root", "var + eps", "var + eps * u.abs().max() ** 2", "grows with x"),
    # the root
    Mutation("root", "", "var + eps", ROOTLESS),
    Mutation("root", "", "var.sqrt().sqrt() + eps", ANOTHER + "|" + OUTSIDE),
    Mutation("root", "", "1 / ({part})", "multiplies by the (standard|root)|a product"),
    Mutation("root", "", "{part} + 1", ANOTHER + "|outside|eps is 1,"),
    Mutation("root", "", "(var + eps).log1p()", ANOTHER),
    Mutation("root", "", "2 * {part}", r"(multiplies by|factor).*0\.5|divides the sum of squares by"),
    Mutation("root", "", "{part} / 3", r"multiplies by (3|\S*3\*)|3\*|divides the sum of squares by"),
    # the divisor
    Mutation("var", "/ m", "/ (m - 1)", UNBIASED),
    Mutation("var", "correction=0", "correction=1", UNBIASED),
    Mutation("var", ", correction=0", "", UNBIASED),
    Mutation("var", "unbiased=False", "unbiased=True", UNBIASED),
    Mutation("var", "/ m", "/ (m + 1)", r"sum of squares by \d+|by m \+ 1"),
    Mutation("var", "/ m", "/ (m - 2)", r"sum of squares by \d+"),
    Mutation("var", "", "({part}) * m", "does not divide the sum of squares"),
    Mutation("var", " / m", "", "does not divide the sum of squares"),
    Mutation("var", "", "({part}) * m / x.shape[0]", r"sum of squares by|multiplies by"),
    Mutation("var", "", "({part}) * 4", r"sum of squares by|multiplies by"),
    # what is averaged
    Mutation("var", "", "d.abs().mean({axes}, keepdim=True)", "squares?: the square|square is forgotten", "center"),
    Mutation("var", "", "d.abs().mean({axes}, keepdim=True) ** 2", ANOTHER, "center"),
    Mutation("var", "", "u.abs().mean({axes}, keepdim=True) ** 2", ANOTHER, "square"),
    Mutation("var", "", "u.pow(2).mean({axes}, keepdim=True)", SQUARE, "center"),
    Mutation("var", "", "u.var({axes}, keepdim=True, correction=0)", "standard deviation, not by the root", "square"),
    Mutation("var", "", "({part}).sqrt()", ROOTLESS + "|" + ANOTHER),
    Mutation("var", "", "d.abs().amax({axes}, keepdim=True) ** 2", ANOTHER, "center"),
    Mutation("var", "", "(u.amax({axes}, keepdim=True) - u.amin({axes}, keepdim=True)) ** 2", ANOTHER),
    Mutation("var", "", "(d ** 4).mean({axes}, keepdim=True)", ANOTHER, "center"),
    Mutation("var", "", "{part} + mu ** 2", SQUARE + "|" + ANOTHER, "center"),
    # axes
    Mutation("var", "{axes}, ", "{other}, ", "is over|averages over|works over"),
    Mutation("mean", "{axes}, ", "{other}, ", "is over|averages over|works over", "center"),
    # what is subtracted
    Mutation("quotient", "d ", "u ", "does not subtract the mean", "center"),
    Mutation("quotient", "d ", "(u + mu) ", "adds the mean", "center"),
    Mutation("quotient", "d ", "(u - 2 * mu) ", "twice the mean", "center"),
    Mutation("quotient", "d ", "(u - 0.9 * mu) ", r"0\.9 times the mean", "center"),
    Mutation("quotient", "d ", "(mu - u) ", r"-gamma", "center"),
    Mutation("quotient", "d ", "(u - u.mean()) ", "mean is over", "center"),
    Mutation("quotient", "u ", "(u - u.mean({axes}, keepdim=True)) ", "subtracts the mean, and it should not", "square"),
    Mutation("mean", "", "u.amax({axes}, keepdim=True)", "subtracts the maximum", "center"),
    Mutation("mean", "", "({part}) * m", "subtracts the sum", "center"),
    Mutation("mean", "", "({part}) / 2", "half the mean", "center"),
    Mutation("mean", "", "u.abs().mean({axes}, keepdim=True)", "absolute values", "center"),
    Mutation("mean", "", "0 * ({part})", "does not subtract the mean|" + SQUARE, "center"),
    # what is left out, and padding
    Mutation("var", "", "d[..., :-1].pow(2).mean(-1, keepdim=True)", "variance leaves out the last", "last"),
    Mutation("var", "", "d[..., :-2].pow(2).sum(-1, keepdim=True) / m", "variance leaves out the last 2", "last"),
    Mutation("var", "", "u[..., :-1].var(-1, correction=0, keepdim=True)", "leaves? out the last|" + ANOTHER, "last"),
    Mutation("var", "", "u[..., :-1].pow(2).mean(-1, keepdim=True)", "leave out the last", "square"),
    Mutation("var", "", "u[..., 1:].pow(2).mean(-1, keepdim=True)", "leave out the first", "square"),
    Mutation("mean", "", "u[..., :-1].mean(-1, keepdim=True)", "(mean|statistics) leaves? out the last", "last"),
    Mutation("mean", "", "u[..., 2:].sum(-1, keepdim=True) / m", "mean leaves out|differs|another number", "last"),
    Mutation("var", "", "F.pad(d, (0, 3), value=0.0).pow(2).mean(-1, keepdim=True)", r"by \d+, not by m", "last"),
    Mutation("var", "", "({part}) + mu ** 2 * 4 / m", "4 zeros of padding", "last"),
    Mutation("first", "", "x = x.half().float()", "rounds to float16"),
    Mutation("first", "", "x = x.bfloat16().to(x.dtype)", "rounds to bfloat16"),
    Mutation("var", "", "({part}).half().to(u.dtype)", "rounds to float16"),
    Mutation("var", "", "({part}).bfloat16().to(u.dtype)", "rounds to bfloat16"),
    Mutation("mean", "", "({part}).half().to(u.dtype)", "rounds to float16", "center"),
    Mutation("quotient", "", "({part}).half().to(u.dtype)", "rounds to float16"),
    Mutation("root", "", "({part}).half().to(u.dtype)", "rounds to float16"),
    Mutation("use", "", "({part}).bfloat16().to(x.dtype)", "rounds to bfloat16"),
    Mutation("use", "", "({part}).half()", "output is float16, not"),
    Mutation("use", "", "({part}).double()", "output is float64, not"),
    # gamma and beta
    Mutation("use", "{weight}", "(1 + {weight})", r"1 \+ gamma"),
    Mutation("use", "{weight}", "{weight} ** 2", r"gamma\^2"),
    Mutation("use", "{weight}", "{weight}.abs()", "absolute value of gamma"),
    Mutation("use", "{weight}", "(-{weight})", "-gamma"),
    Mutation("use", "{weight}", "{weight}.exp()", r"exp\(gamma\)"),
    Mutation("use", "{weight}", "{weight}.sigmoid()", "gamma, but not as one factor"),
    Mutation("use", "{weight}", "{weight}.tanh()", "gamma, but not as one factor"),
    Mutation("use", "{weight}", "2 * {weight}", r"2\*gamma|divides the sum of squares by"),
    Mutation("use", "{weight}", "torch.ones_like({weight})", "does not use gamma"),
    Mutation("use", "{weight}", "{weight}.flip(0).flip(-1)", "gamma, but not as one factor|gamma in another order"),
    Mutation("use", "{bias}", "-{bias}", "subtracts beta", "center"),
    Mutation("use", "{bias}", "torch.zeros_like({bias})", "does not use beta", "center"),
    Mutation("use", "{bias}", "{bias} * {weight}", "adds beta before", "center"),
    Mutation("use", "{bias}", "2 * {bias}", r"2\*beta", "center"),
    Mutation("use", "{bias}", "{bias}.abs()", "absolute value of beta", "center"),
    Mutation("use", "{bias}", "({bias} + 1)", "adds 1, which", "center"),
    Mutation("use", "{bias}", "({bias} + 1e-3)", r"adds 0\.001, which", "center"),
    Mutation("use", "", "({part}) * 1.5", r"1\.5|divides the sum of squares by"),
    Mutation("use", "", "-({part})", r"-gamma|subtracts beta|-1"),
    Mutation("use", "", "({part}).relu()", "negative outputs"),
    Mutation("use", "", "({part}).clamp(-1, 1)", "clips its output"),
    Mutation("use", "", "torch.tanh({part})", "applies tanh"),
    Mutation("use", "", "({part}) + x", "adds x to its output"),
    Mutation("use", "y", "y.clamp(-1.5, 1.5)", "clips the normalized"),
    # gradients
    Mutation("mean", "", "({part}).detach()", "mean as a constant|not its gradient|of its output: ", "center"),
    Mutation("var", "", "({part}).detach()", "(variance|mean of x.2) as a constant|not its gradient|of its output: "),
    Mutation("root", "", "({part}).detach()", "(variance|mean of x.2) as a constant|not its gradient|of its output: "),
    Mutation("use", "{weight}", "{weight}.detach()", "(not its gradient|of its output): .*dgamma"),
    Mutation("use", "{bias}", "{bias}.detach()", "(not its gradient|of its output): .*dbeta", "center"),
    Mutation("first", "", "x = x.detach()", "gradient"),
    # memory, sizes, calls
    Mutation("first", "", "x = x.mul_(2) / 2", "writes into x"),
    Mutation("first", "", "x = x if x.shape[0] < 50 else x.roll(1, 0)", "It is right on"),
]  # fmt: skip
SAME = [
    Mutation("use", "", "({part}).contiguous()", ""),
    Mutation("use", "", "0.5 * ({part}) + ({part}) / 2", ""),
    Mutation("first", "", "x = x.clone()", ""),
    Mutation("first", "", "x = x.contiguous(memory_format=torch.contiguous_format)", ""),
    Mutation("pre", "", "({part}) - x.mean()", "", "center"),
    Mutation("var", "", "({part}).clamp(min=0)", ""),
    Mutation("var", "", "torch.relu({part})", ""),
    Mutation("root", "", "torch.exp(0.5 * torch.log(var + eps))", ""),
    Mutation("root", "", "torch.hypot(var.clamp(min=1e-38).sqrt(), torch.full_like(var, eps ** 0.5))", ""),
    Mutation("root", "", "torch.rsqrt(var + eps).reciprocal()", ""),
    Mutation("root", "var + eps", "eps + var.double()).to(u.dtype", ""),
    Mutation("mean", "", "u.double().mean({axes}, keepdim=True).to(u.dtype)", "", "center"),
    Mutation("mean", "", "u.amin({axes}, keepdim=True) + (u - u.amin({axes}, keepdim=True)).mean({axes}, keepdim=True)", "", "center"),
    Mutation("quotient", "", "torch.where(root > 0, {part}, 0)", ""),
    Mutation("use", "{weight}", "({weight} * 1.0)", ""),
]  # fmt: skip


# Whole sources: modules with running statistics, gradients by hand, loops, blocks


@dataclass(frozen=True)
class Whole:
    """A right implementation, and what makes it wrong: old text, new text, and what a true sentence says."""

    right: Implementation
    mistakes: Sequence[tuple[str, str, str]] = ()

    def wrong(self) -> Iterator[tuple[Implementation, tuple[str, ...]]]:
        """Each mistake alone, and some two together."""
        for old, new, told in self.mistakes:
            yield self.right.replaced(old, new), (told,)
        for (old, new, told), (old2, new2, told2) in combinations(self.mistakes, 2):
            one = self.right.replaced(old, new)
            if old2 in one.source and old not in old2 and old2 not in old and new not in new2:
                yield one.replaced(old2, new2), (told, told2)


GRADIENT = "not its gradient|of its output: |no gradient"
RUNNING_VAR, RUNNING_MEAN = "running_var", "running_mean"
WHOLES = [
    Whole(Implementation("a BatchNorm2d", """
class Layer(nn.Module):
    def __init__(self, size, eps=1e-5, momentum=0.1):
        super().__init__()
        self.eps, self.momentum = eps, momentum
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))
        self.register_buffer("running_mean", torch.zeros(size))
        self.register_buffer("running_var", torch.ones(size))

    def forward(self, x):
        if self.training:
            mean = x.mean((0, 2, 3))
            var = x.var((0, 2, 3), unbiased=False)
            m = x.numel() / x.shape[1]
            with torch.no_grad():
                self.running_mean = (1 - self.momentum) * self.running_mean + self.momentum * mean
                self.running_var = (1 - self.momentum) * self.running_var + self.momentum * var * m / (m - 1)
        else:
            mean, var = self.running_mean, self.running_var
        s = (1, -1, 1, 1)
        xhat = (x - mean.view(s)) / torch.sqrt(var.view(s) + self.eps)
        return xhat * self.weight.view(s) + self.bias.view(s)

fn = Layer(3)
""", "BatchNorm2d(3)", (4, 3, 5, 6), "weight bias"), [
        (" * m / (m - 1)", "", "running_var is updated with the biased"),
        ("momentum=0.1", "momentum=0.9", "exchanges momentum"),
        ("momentum=0.1", "momentum=0.01", "running_(mean|var) after two batches|momentum"),
        ("* m / (m - 1)", "* (m - 1) / m", RUNNING_VAR),
        ("self.momentum * mean", "self.momentum * mean * m", RUNNING_MEAN),
        ("self.running_mean = (1 - self.momentum) * self.running_mean + self.momentum * mean", "pass", "never updates running_mean"),
        ("self.running_mean + self.momentum * mean", "self.running_mean - self.momentum * mean", RUNNING_MEAN),
        ("momentum * var * m / (m - 1)", "momentum * (var * m / (m - 1)).sqrt()", RUNNING_VAR),
        ("(1 - self.momentum) * self.running_mean", "self.running_mean", RUNNING_MEAN),
        ("unbiased=False", "unbiased=True", UNBIASED + "|running_var"),
        ("mean, var = self.running_mean, self.running_var", "mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False)", "In eval mode"),
        ("mean, var = self.running_mean, self.running_var", "mean, var = self.running_mean, self.running_var ** 2", "In eval mode"),
        ("mean, var = self.running_mean, self.running_var", "mean, var = 0 * self.running_mean, self.running_var", "In eval mode"),
        ('"running_var", torch.ones', '"running_var", torch.zeros', "begins with 0"),
        ("+ self.eps)", "+ self.eps * (1 if self.training else 1000))", "In eval mode"),
        ("mean = x.mean((0, 2, 3))", "mean = x.mean((0, 2, 3)).detach()", GRADIENT),
        ("xhat * self.weight.view(s)", "xhat * (1 + self.weight.view(s))", r"1 \+ gamma"),
        ("eps=1e-5", "eps=1e-3", "eps is 0.001"),
    ]),
    Whole(Implementation("LayerNorm as an autograd.Function", """
class Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        mean = x.mean(-1, keepdim=True)
        rstd = (x.var(-1, unbiased=False, keepdim=True) + 1e-5).rsqrt()
        xhat = (x - mean) * rstd
        ctx.save_for_backward(xhat, rstd, weight)
        return xhat * weight + bias

    @staticmethod
    def backward(ctx, dy):
        xhat, rstd, weight = ctx.saved_tensors
        rows = tuple(range(dy.dim() - 1))
        dxhat = dy * weight
        c1 = dxhat.mean(-1, keepdim=True)
        c2 = (dxhat * xhat).mean(-1, keepdim=True)
        dx = (dxhat - c1 - xhat * c2) * rstd
        return dx, (dy * xhat).sum(rows), dy.sum(rows)

def fn(x, weight, bias):
    return Norm.apply(x, weight, bias)
""", "LayerNorm(10)", (8, 10), "weight bias", passed=True, tried=((7, 10),)), [
        ("dxhat - c1 - xhat * c2", "dxhat - xhat * c2", GRADIENT),
        ("dxhat - c1 - xhat * c2", "dxhat - c1", GRADIENT),
        ("dxhat - c1 - xhat * c2", "dxhat", GRADIENT),
        ("dxhat - c1 - xhat * c2", "dxhat - c1 + xhat * c2", GRADIENT),
        ("dxhat = dy * weight", "dxhat = dy", GRADIENT),
        ("* rstd\n        return dx", "\n        return dx", GRADIENT),
        ("(dy * xhat).sum(rows)", "(dy * xhat).mean(rows)", "dgamma"),
        ("dy.sum(rows)", "0 * dy.sum(rows)", "dbeta"),
        ("(dy * xhat).sum(rows)", "(dy * xhat)[: len(dy) // 4 * 4].sum(rows)", "dgamma"),
        ("return dx", "return -dx", "dx"),
        ("c2 = (dxhat * xhat)", "c2 = (dy * xhat)", "dx"),
        ("dy.sum(rows)", "None", "dbeta"),
        ("(dy * xhat).sum(rows)", "None", "dgamma"),
        ("(dy * xhat).sum(rows), dy.sum(rows)", "dy.sum(rows), (dy * xhat).sum(rows)", "dgamma and dbeta"),
        ("unbiased=False", "unbiased=True", UNBIASED),
        ("+ 1e-5", "+ 1e-6", "eps is 1e-06"),
    ]),
    Whole(Implementation("LayerNorm in blocks", """
def fn(x, weight, bias):
    size = x.shape[-1]
    rows = x.reshape(-1, size)
    block = 1 << (size - 1).bit_length()
    mask = torch.arange(block) < size
    padded = F.pad(rows, (0, block - size))
    mean = padded.sum(-1, keepdim=True) / size
    centered = torch.where(mask, padded - mean, 0.0)
    var = centered.square().sum(-1, keepdim=True) / size
    y = centered * torch.rsqrt(var + 1e-5)
    return (y[:, :size] * weight + bias).reshape(x.shape)
""", "LayerNorm(11)", (4, 11), "weight bias", passed=True), [
        ("torch.where(mask, padded - mean, 0.0)", "padded - mean", "zeros of padding"),
        ("padded.sum(-1, keepdim=True) / size", "padded.mean(-1, keepdim=True)", "times the mean"),
        ("centered.square().sum(-1, keepdim=True) / size", "centered.square().mean(-1, keepdim=True)", "by 16, not by m"),
        ("rsqrt(var + 1e-5)", "rsqrt(var + 1e-6)", "eps is 1e-06"),
        ("rsqrt(var + 1e-5)", "rsqrt(var)", "eps is 0"),
        ("var = centered.square()", "var = padded.square()", SQUARE),
        ("* weight + bias", "* (1 + weight) + bias", r"1 \+ gamma"),
        ("block = 1 << (size - 1).bit_length()", "block = 16", "It is right on"),
        ("/ size\n    y", "/ (size - 1)\n    y", UNBIASED),
    ]),
    Whole(Implementation("RMSNorm in chunks", """
def fn(x, weight):
    size = x.shape[-1]
    total = torch.zeros(x.shape[:-1], dtype=x.dtype)
    for start in range(0, size, 4):
        chunk = x[..., start : start + 4]
        total = total + chunk.square().sum(-1)
    scale = torch.rsqrt(total / size + 1e-5)
    return x * scale[..., None] * weight
""", "RMSNorm(11, eps=1e-5)", (2, 3, 11), "weight", passed=True), [
        ("range(0, size, 4)", "range(0, size - size % 4, 4)", "leave out the last"),
        ("range(0, size, 4)", "range(4, size, 4)", "leave out the first|" + ANOTHER),
        ("total / size", "total / (size // 4 * 4)", "by 8, not by m"),
        ("total / size", "total / (-(-size // 4) * 4)", "by 12, not by m"),
        ("chunk.square()", "chunk.abs()", "square is forgotten"),
        ("+ 1e-5", "+ 1e-6", "eps is 1e-06"),
        ("total / size + 1e-5", "(total + 1e-5) / size", "eps is"),
        ("torch.rsqrt(total / size + 1e-5)", "1 / (torch.sqrt(total / size) + 1e-5)", OUTSIDE),
        ("* weight", "* (1 + weight)", r"1 \+ gamma"),
        ("torch.rsqrt(", "1 / (", ROOTLESS),
        ("return x *", "return (x - x.mean(-1, keepdim=True)) *", "subtracts the mean, and it should not"),
        ("total = torch.zeros(x.shape[:-1], dtype=x.dtype)", "total = torch.zeros(x.shape[:-1], dtype=torch.float16)", "rounds to float16|precision"),
    ]),
    Whole(Implementation("Welford's LayerNorm", """
def fn(x, weight, bias):
    mean = torch.zeros_like(x[..., 0])
    squares = torch.zeros_like(mean)
    for k in range(x.shape[-1]):
        delta = x[..., k] - mean
        mean = mean + delta / (k + 1)
        squares = squares + delta * (x[..., k] - mean)
    var = squares / x.shape[-1]
    return (x - mean[..., None]) / torch.sqrt(var + 1e-5)[..., None] * weight + bias
""", "LayerNorm(7)", (5, 7), "weight bias", passed=True), [
        ("delta * (x[..., k] - mean)", "delta * delta", ANOTHER),
        ("range(x.shape[-1])", "range(x.shape[-1] - 1)", "leave out the last"),
        ("squares / x.shape[-1]", "squares / (x.shape[-1] - 1)", UNBIASED),
        ("squares / x.shape[-1]", "squares", "does not divide the sum of squares"),
        ("1e-5", "1e-3", "eps is 0.001"),
        ("* weight + bias", "+ bias", "does not use gamma"),
        ("* weight + bias", "* weight - bias", "subtracts beta"),
        ("(x - mean[..., None]) /", "x /", "does not subtract the mean"),
    ]),
    Whole(Implementation("GroupNorm, a loop over groups", """
def fn(x, weight, bias):
    channels, groups = x.shape[1], 3
    size = channels // groups
    parts = []
    for g in range(groups):
        part = x[:, g * size : (g + 1) * size]
        axes = tuple(range(1, x.dim()))
        mean = part.mean(axes, keepdim=True)
        var = (part - mean).square().mean(axes, keepdim=True)
        parts.append((part - mean) / torch.sqrt(var + 1e-5))
    shape = (1, channels, *[1] * (x.dim() - 2))
    return torch.cat(parts, 1) * weight.reshape(shape) + bias.reshape(shape)
""", "GroupNorm(3, 6)", (2, 6, 4, 5), "weight bias", passed=True), [
        ("groups = x.shape[1], 3", "groups = x.shape[1], 2", "averages over"),
        ("groups = x.shape[1], 3", "groups = x.shape[1], 6", "averages over"),
        ("range(1, x.dim())", "range(2, x.dim())", "averages over"),
        ("mean = part.mean(axes", "mean = part.mean(axes[1:]", "mean is over|averages over"),
        ("square().mean(axes", "square().mean(axes[:1]", "variance is over"),
        ("weight.reshape(shape)", "weight[:3].repeat_interleave(size).reshape(shape)", "one gamma|gamma, but not as one"),
        ("+ bias.reshape(shape)", "+ bias.reshape(shape) * weight.reshape(shape)", "adds beta before"),
        ("torch.sqrt(var + 1e-5)", "(torch.sqrt(var) + 1e-5)", OUTSIDE),
        ("1e-5", "1e-6", "eps is 1e-06"),
        ("(part - mean).square().mean(axes, keepdim=True)", "part.var(axes, keepdim=True)", UNBIASED),
    ]),
    Whole(Implementation("RMSNorm of a language model, bfloat16", """
class Layer(nn.Module):
    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size, dtype=torch.bfloat16))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        dtype = hidden_states.dtype
        hidden_states = hidden_states.to(torch.float32)
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        return self.weight * hidden_states.to(dtype)

fn = Layer(16)
""", "RMSNorm(16, eps=1e-6)", (2, 5, 16), "weight", dtype=torch.bfloat16), [
        ("mean(-1, keepdim=True)", "mean(1, keepdim=True)", "averages over"),
        ("mean(-1, keepdim=True)", "mean((1, 2), keepdim=True)", "averages over"),
        ("eps=1e-6", "eps=1e-2", r"eps is 0\.0"),
        ("return self.weight *", "return (1 + self.weight) *", r"1 \+ gamma"),
        ("hidden_states.to(dtype)", "hidden_states", "output is float32"),
        ("pow(2)", "abs()", "square is forgotten|differs"),
    ]),
    Whole(Implementation("NumPy, images", """
def fn(x, gamma, beta):
    n, c, h, w = x.shape
    flat = x.transpose(0, 2, 3, 1).reshape(-1, c)
    mu = flat.mean(axis=0)
    var = flat.var(axis=0)
    out = gamma * (flat - mu) / np.sqrt(var + 1e-5) + beta
    return out.reshape(n, h, w, c).transpose(0, 3, 1, 2)
""", "BatchNorm2d(3)", (2, 3, 4, 5), "gamma beta", passed=True, arrays="numpy", dtype=torch.float64), [
        ("flat.var(axis=0)", "flat.var(axis=0, ddof=1)", UNBIASED),
        ("flat.mean(axis=0)", "flat.mean()", "mean is over"),
        ("flat.var(axis=0)", "flat.var()", "variance is over"),
        ("np.sqrt(var + 1e-5)", "np.sqrt(var) + 1e-5", "divide|offset|adds|1e-05"),
        ("gamma * (flat - mu)", "gamma * flat - mu", "differs from|subtracts|adds"),
        ("+ beta", "+ gamma", "adds gamma"),
        ("x.transpose(0, 2, 3, 1).reshape(-1, c)", "x.reshape(-1, c)", "average|differs|work"),
        ("1e-5", "1e-8", "eps is 1e-08"),
    ]),
]  # fmt: skip


# The attack


@dataclass(frozen=True)
class Case:
    """One implementation; what a true sentence says of each of its mutations, or () if it is right; whether one is in the denominator."""

    implementation: Implementation
    told: tuple[str, ...] = ()
    is_denominator: bool = False


@dataclass(frozen=True)
class Verdict:
    """What ``nv.check`` says of a case: the kind is one of those above, "right" or "error"."""

    kind: str
    sentences: tuple[str, ...]


ALWAYS = (
    r"Its output differs from that of|It is not a normalization|on x, but not on other values|"
    r"do not form groups|groups that are not made"
)
DENOMINATOR = ("var", "root", "eps")  # parts of the denominator
LATER = "running_|In eval mode|gradient|dgamma|dbeta|dx|constant|It is right on|writes into x|momentum"  # trials after the output
EXPLAINS_NOTHING = r"Its output differs from that of|on x, but not on other values"


def cases(wrong: int, right: int, seed: int = 1) -> Iterator[Case]:
    """So many wrong and right cases, the same for a seed."""
    chance, codes = random.Random(seed), list(right_codes())
    yield from islice(_wrong_cases(wrong, codes, chance), wrong)
    yield from islice(_right_cases(right, codes, chance), right)


def _wrong_cases(number: int, codes: Sequence[Code], chance: random.Random) -> Iterable[Case]:
    """At most a half are mistakes of whole sources; each mutation is first in about as many of the others."""
    mutants = [(code, one) for code in chance.sample(codes, len(codes)) for one in chance.sample(SINGLE, 12)]
    wholes = [Case(one, told) for whole in WHOLES for one, told in whole.wrong()]
    single = [one for one in wholes if len(one.told) == 1]
    double = [one for one in wholes if len(one.told) == 2]
    chosen = (*single[: number // 3], *chance.sample(double, min(len(double), number // 6)))
    made = {one.implementation.source: one for one in chosen}
    uses: Counter[Mutation] = Counter()
    for code, mutation in mutants:
        if len(made) >= number:
            break
        changed = mutation.applied(code)
        if changed is None or uses[mutation] >= 1 + len(made) // len(SINGLE):
            continue
        applied = [mutation]
        if chance.random() < 0.6:
            applied.append(chance.choice([one for one in SINGLE if one.part != mutation.part]))
            changed = applied[1].applied(changed)
            if changed is None:
                continue
        uses[mutation] += 1
        is_denominator = any(one.part in DENOMINATOR for one in applied)
        told = tuple(one.told for one in applied)
        made.setdefault(changed.source, Case(changed.implementation(), told, is_denominator))
    return made.values()


def _right_cases(number: int, codes: Sequence[Code], chance: random.Random) -> Iterable[Case]:
    """The whole sources, and codes with up to two changes that change nothing."""
    made = {one.right.source: Case(one.right) for one in WHOLES}
    while len(made) < number:
        code = chance.choice(codes)
        for mutation in chance.sample(SAME, chance.randrange(3)):
            code = mutation.applied(code) or code
        made.setdefault(code.source, Case(code.implementation()))
    return made.values()


def is_as_intended(case: Case) -> bool:
    """Whether torch contradicts a wrong case and no right one; not if it raises."""
    try:
        return bool(contradictions(case.implementation)) == bool(case.told)
    except RuntimeError:
        return False


def judged(case: Case) -> Verdict:
    """Check one case, and compare the reasons with its mutations."""
    one = case.implementation
    try:
        found = one.check()
    except Exception:
        return Verdict("error", (traceback.format_exc(),))
    sentences = tuple(difference.sentence for difference in found.differences)
    if not case.told:
        return Verdict("right" if found.ok else "false accusation", sentences)
    if found.ok:
        return Verdict("wrong pass", found.notes)
    explained = [one for one in sentences if not re.search(EXPLAINS_NOTHING, one)]
    true = "|".join([*case.told, ALWAYS, *([ANOTHER] if case.is_denominator else [])])
    if any(not re.search(true, sentence) for sentence in sentences):
        return Verdict("false reason", sentences)
    if not explained:
        return Verdict("no reason", sentences)
    hidden = [told for told in case.told if not any(re.search(told, sentence) for sentence in sentences)]
    is_later = all(re.search(LATER, told) for told in hidden)
    return Verdict("right" if not hidden else "told later" if is_later else "hidden reason", sentences)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--wrong", type=int, default=200)
    parser.add_argument("--right", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a few of each")
    options = parser.parse_args(arguments)
    wrong, right = (12, 6) if options.quick else (options.wrong, options.right)
    torch.set_num_threads(1)
    start, counts = time.time(), Counter[tuple[str, str]]()
    for case in cases(wrong, right, options.seed):
        found = judged(case) if is_as_intended(case) else Verdict("not as intended", ())
        counts[("right", "1 mistake", "2 mistakes")[len(case.told)], found.kind] += 1
        if found.kind != "right":
            print(f"{found.kind}: {case.implementation.name}")
            for sentence in found.sentences:
                print(f"    {sentence}")
    kinds = sorted({kind for _group, kind in counts})
    print("\n| implementations | " + " | ".join(kinds) + " | of |")
    print("| --- |" + " --- |" * (len(kinds) + 1))
    for group in sorted({group for group, _kind in counts}):
        numbers = [counts[group, kind] for kind in kinds]
        print(f"| {group} | " + " | ".join(map(str, (*numbers, sum(numbers)))) + " |")
    print(f"\n{time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
