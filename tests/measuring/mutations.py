"""Right implementations of normalization layers as source text, and wrong ones, each made by one replacement in a right one.

``contradictions`` compares an implementation with torch itself, without normviz: it proves that a right one is right and a wrong one wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import einops
import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import normviz as nv
from normviz.api.check import Check, check


class RowNorm(nn.Module):
    """Normalizes rows of any size."""

    def forward(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[-1:])


NAMES = {
    "RowNorm": RowNorm,
    "torch": torch,
    "nn": nn,
    "F": F,
    "np": np,
    "einops": einops,
    "partial": partial,
    "nv": nv,
    "Tensor": Tensor,
}


@dataclass(frozen=True)
class Implementation:
    """The source of a function or module ``fn`` that should be the layer ``like`` on an x of ``shape``.

    parameters  the names of gamma and beta: of arguments if they are ``passed``, otherwise of attributes of the module or of variables
    layer       the layer of torch; ``like`` if it is empty
    x           the values of x, from ``randn`` of its shape; only these are compared if they are given
    shapes      other shapes on which it should be the layer
    tried       other shapes that only the proof uses
    others      further arguments
    """

    name: str
    source: str
    like: str
    shape: tuple[int, ...]
    parameters: str = ""
    passed: bool = False
    layer: str = ""
    x: str = ""
    dtype: torch.dtype = torch.float32
    arrays: str = ""
    layout: str | None = None
    shapes: tuple[tuple[int, ...], ...] = ()
    tried: tuple[tuple[int, ...], ...] = ()
    others: dict[str, Any] = field(default_factory=dict)
    differs: frozenset[str] = frozenset()

    def made(self) -> tuple[Callable[..., Any], dict[str, Tensor]]:
        """The function, and its gamma and beta with random values."""
        names = dict(NAMES)
        exec(self.source, names)
        fn, learned = names["fn"], self.parameters.split()
        values: dict[str, Tensor] = {}
        for number, name in enumerate(learned):
            if self.passed:
                shape = list(self.reference().parameters())[number].shape
                values[name] = torch.empty(shape, dtype=self.dtype)
            else:
                values[name] = getattr(fn, name) if hasattr(fn, name) else names[name]
            value = 0.5 + torch.rand(values[name].numel(), generator=torch.Generator().manual_seed(number))
            value[1:2] *= -1
            values[name].data.copy_(value.reshape(values[name].shape))
        return fn, values

    def replaced(self, old: str, new: str) -> Implementation:
        """With another text in the source, which is told in the name."""
        assert old in self.source, (self.name, old)
        name = f"{self.name}: {' '.join(old.split())} -> {' '.join(new.split())}"
        return replace(self, name=name, source=self.source.replace(old, new))

    def reference(self) -> nn.Module:
        """The layer of torch in float64."""
        return eval(self.layer or self.like, dict(vars(nn)) | NAMES).double()

    def given(self, scale: float = 1.0, shape: tuple[int, ...] = (), seed: int = 3) -> Tensor:
        """x, or another one like it."""
        randn = scale * torch.randn(shape or self.shape, generator=torch.Generator().manual_seed(seed))
        return eval(self.x, {"randn": randn}).to(self.dtype) if self.x else randn.to(self.dtype)

    def arguments(self, values: dict[str, Tensor]) -> dict[str, Any]:
        """What is passed to the function besides x."""
        passed = {name: self.converted(value) for name, value in values.items()} if self.passed else {}
        return passed | self.others

    def converted(self, tensor: Tensor) -> Any:
        """A tensor as the function takes it."""
        if not self.arrays:
            return tensor
        return tensor.numpy() if self.arrays == "numpy" else __import__("jax.numpy").numpy.asarray(tensor.numpy())

    def check(self, **changes: Any) -> Check:
        """Judge it."""
        fn, values = self.made()
        like = eval(self.like, NAMES) if self.like.startswith("nv.") else self.like
        given = {"like": like, "layout": self.layout, "shapes": self.shapes} | changes
        return check(fn, self.converted(self.given()), params=self.arguments(values), **given)


# The proof


def contradictions(one: Implementation) -> set[str]:
    """In what an implementation differs from torch: "output", "in place", "dtype", "gradient", "running", "eval"."""
    inputs = [one.given()]
    if not one.x:
        inputs += [one.given(0.003), one.given(seed=4)]
        inputs += [one.given(shape=shape) for shape in (*one.shapes, *one.tried)]
    found = {what for x in inputs for what in _on(one, x)}
    fn, values = one.made()
    if isinstance(fn, nn.Module) and not found:
        found |= set(_modes(one, fn, _reference(one, values)))
    return found


def _reference(one: Implementation, values: dict[str, Tensor]) -> Callable[[Tensor], Tensor]:
    layer = one.reference()
    if values:
        for (name, own), value in zip(list(layer.named_parameters()), values.values(), strict=False):
            setattr(layer, name, nn.Parameter(value.detach().double().reshape(own.shape)))
    return layer


def _channels_second(one: Implementation, layer: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    last = one.layout in ("NLC", "NHWC") and not isinstance(layer, nn.LayerNorm | nn.RMSNorm)
    return layer(x.movedim(-1, 1)).movedim(1, -1) if last else layer(x)


def _on(one: Implementation, x: Tensor) -> Iterator[str]:
    fn, values = one.made()
    if any(
        value.numel() != own.numel() for value, own in zip(values.values(), one.reference().parameters(), strict=False)
    ):
        yield "parameters"
        return
    for value in values.values():
        value.requires_grad_(not one.arrays)
    own = one.converted(x.clone()) if one.arrays else x.clone().requires_grad_() * 1
    output = fn(own, **one.arguments(values))
    if not np.array_equal(
        np.asarray(own.detach().float() if isinstance(own, Tensor) else own),
        x.float() if isinstance(own, Tensor) else x,
        equal_nan=True,
    ):
        yield "in place"
    output = output[0] if isinstance(output, tuple) else output
    output = output if isinstance(output, Tensor) else torch.tensor(np.asarray(output))
    if output.dtype != x.dtype:
        yield "dtype"
    layer = _reference(one, values)
    exact = _channels_second(one, layer, x.double())
    rounded = _channels_second(one, layer.to(x.dtype), x)
    if not _close(output, exact, x.dtype, 5 * float((rounded - exact).abs().max().detach())):
        yield "output"
    elif output.requires_grad:
        yield from _gradients(one, x)


def _close(output: Tensor, exact: Tensor, dtype: torch.dtype, own: float) -> bool:
    tolerance = {
        torch.float64: (1e-7, 1e-7),
        torch.float32: (1.3e-6, 1e-5),
        torch.float16: (1e-3, 1e-5),
        torch.bfloat16: (1.6e-2, 1e-5),
    }
    relative, absolute = tolerance[dtype]
    try:
        torch.testing.assert_close(
            output.detach().double(), exact.detach(), rtol=relative, atol=absolute + own, equal_nan=True
        )
    except AssertionError:
        return False
    return True


def _gradients(one: Implementation, x: Tensor) -> Iterator[str]:
    fn, values = one.made()
    layer = _reference(one, values)
    own, wide = x.clone().requires_grad_(), x.double().requires_grad_()
    tensors = [own, *values.values()]
    for tensor in tensors:
        tensor.requires_grad_()
    dout = torch.randn(x.shape, generator=torch.Generator().manual_seed(9))
    output, wanted = fn(own + 0, **one.arguments(values)), _channels_second(one, layer, wide)
    output = output[0] if isinstance(output, tuple) else output
    try:
        found = torch.autograd.grad(output, tensors, dout.to(output.dtype), allow_unused=True, materialize_grads=True)
    except RuntimeError:  # an output that was changed in place
        return
    exact = torch.autograd.grad(wanted, [wide, *list(layer.parameters())[: len(values)]], dout.double())
    for gradient, right in zip(found, exact, strict=True):
        scale, wanted = float(right.abs().max()), right.to(x.dtype).double()
        limit = 5e-2 if x.dtype.itemsize < 4 else 1e-4
        if float((gradient.double().reshape(right.shape) - wanted).abs().max()) > limit * scale:
            yield "gradient"


def _modes(one: Implementation, fn: nn.Module, layer: Any) -> Iterator[str]:
    """A module on two batches in train mode, and then in eval mode."""
    own = 1e-2 if one.dtype.itemsize < 4 else 1e-5
    for training in (True, True, False):
        x = one.given(seed=20 + training)
        with torch.no_grad():
            output, wanted = fn.train(training)(x), _channels_second(one, layer.train(training), x.double())
        if not _close(output, wanted, x.dtype, own):
            yield "output" if training else "eval"
        for name in ("running_mean", "running_var"):
            kept, right = getattr(fn, name, None), getattr(layer, name, None)
            if kept is not None and right is not None and not _close(kept, right, x.dtype, own):
                yield "running"


# Right sources, and the replacements that make them wrong

Replacement = tuple[str, str, str]  # what is replaced, by what, and what differs then


def mutated(right: Implementation, replacements: Iterable[Replacement], **changes: Any) -> list[Implementation]:
    """The wrong implementations of a right one."""
    return [
        replace(right.replaced(old, new), differs=frozenset(differs.split()), **changes)
        for old, new, differs in replacements
    ]


LAYER_NORM = Implementation("layer norm", """
def fn(x, gamma, beta):
    mean = x.mean(-1, keepdim=True)
    var = (x - mean).square().mean(-1, keepdim=True)
    xhat = (x - mean) / (var + 1e-5).sqrt()
    return xhat * gamma + beta
""", "LayerNorm(6)", (4, 6), "gamma beta", passed=True)  # fmt: skip
USE = "xhat * gamma + beta"
ROOT = "(var + 1e-5).sqrt()"
WRONG = mutated(LAYER_NORM, [
    (USE, "xhat * beta + gamma", "gamma beta"),
    (USE, "xhat * gamma - beta", "beta"),
    (USE, "beta - xhat * gamma", "gamma"),
    (USE, "xhat / gamma + beta", "gamma"),
    (USE, "xhat * gamma ** 2 + beta", "gamma"),
    (USE, "xhat * gamma.abs() + beta", "gamma"),
    (USE, "xhat * gamma.exp() + beta", "gamma"),
    (USE, "xhat * (1 + gamma) + beta", "gamma"),
    (USE, "xhat * (1 - gamma) + beta", "gamma"),
    (USE, "xhat * (gamma + beta) + beta", "gamma"),
    (USE, "xhat * gamma * beta + beta", "gamma"),
    (USE, "xhat * gamma.sqrt() + beta", "gamma"),
    (USE, "xhat * gamma.mean() + beta", "parameters"),
    (USE, "xhat * gamma.flip(0) + beta", "gamma"),
    (USE, "xhat * gamma.tanh() + beta", "gamma"),
    (USE, "2 * xhat * gamma + beta", "gamma"),
    (USE, "xhat + beta", "gamma"),
    (USE, "xhat * gamma", "beta"),
    (USE, "xhat", "gamma beta"),
    (USE, "xhat * gamma + gamma", "beta"),
    (USE, "xhat * beta + beta", "gamma"),
    (USE, "(xhat + beta) * gamma", "beta"),
    (USE, "xhat * gamma + beta / gamma", "beta"),
    (USE, "xhat * gamma + beta ** 2", "beta"),
    (USE, "xhat * gamma + beta.abs()", "beta"),
    (USE, "xhat * gamma + beta.exp()", "beta"),
    (USE, "xhat * gamma + beta.mean()", "parameters"),
    (USE, "xhat * gamma + beta.flip(0)", "beta"),
    (USE, "xhat * gamma + 2 * beta", "beta"),
    (USE, "xhat * gamma + beta + 1", "offset"),
    (USE, "xhat * gamma + beta + 0.001", "offset"),
    (USE, "xhat + gamma * beta", "gamma beta"),
    ("mean = x", "x = x * gamma; gamma = 1; mean = x", "gamma"),
    ("mean = x", "x = x + beta; beta = 0; mean = x", "beta"),
    (USE, "(xhat * gamma + beta).clamp(min=0)", "values"),
    (USE, "xhat.clamp(-1, 1) * gamma + beta", "values"),
    (ROOT, "(var + 1e-3).sqrt()", "eps"),
    (ROOT, "(var + 1e-6).sqrt()", "eps"),
    (ROOT, "(var + 1e-12).sqrt()", "eps"),
    (ROOT, "(var + 1e-5 ** 2).sqrt()", "eps"),
    (ROOT, "var.sqrt()", "eps"),
    (ROOT, "(var - 1e-5).sqrt()", "eps"),
    (ROOT, "var.sqrt() + 1e-5", "eps"),
    (ROOT, "(var.sqrt() + 1e-5)", "eps_placement"),
    (ROOT, "var.clamp(min=1e-5).sqrt()", "eps_placement"),
    (ROOT, "(var + 1e-5)", "variance"),
    (ROOT, "var", "variance eps"),
    (ROOT, "(var + 1e-5) ** 2", "variance"),
    (ROOT, "(var + 1e-5) ** 0.25", "variance"),
    ("/ (var", "* (var", "variance"),
    ("(x - mean) / (", "x / (", "center"),
    ("(x - mean) / (", "(x + mean) / (", "center"),
    ("(x - mean) / (", "(mean - x) / (", "gamma"),
    ("(x - mean) / (", "(x - 2 * mean) / (", "center"),
    ("(x - mean) / (", "(x - mean).abs() / (", "values"),
    ("(x - mean) / " + ROOT, "x - mean", "variance"),
    ("(x - mean).square()", "(x - mean).abs()", "variance"),
    ("(x - mean).square()", "(x - mean)", "variance"),
    ("(x - mean).square()", "x.square()", "variance"),
    ("(x - mean).square()", "((x - mean) ** 4)", "variance"),
    ("(x - mean).square()", "(x + mean).square()", "variance"),
    ("mean = x.mean(", "mean = x.sum(", "center"),
    ("mean = x.mean(", "mean = x.abs().mean(", "center"),
    ("mean = x.mean(", "mean = x.var(", "center"),
    ("mean = x.mean(-1, keepdim=True)", "mean = x.var(-1, keepdim=True, correction=0)", "center"),
    ("mean = x.mean(-1, keepdim=True)", "mean = x.median(-1, keepdim=True).values", "center"),
    ("mean = x.mean(-1, keepdim=True)", "mean = 0", "center"),
    ("mean = x.mean(-1, keepdim=True)", "mean = x[:, :1]", "center"),
    ("mean = x.mean(-1,", "mean = x.mean(0,", "statistics"),
    ("mean = x.mean(-1,", "mean = x.mean((0, 1),", "statistics"),
    ("square().mean(-1,", "square().mean(0,", "statistics"),
    ("square().mean(-1,", "square().mean((0, 1),", "statistics"),
    ("mean(-1,", "mean(0,", "statistics"),
    ("mean(-1,", "mean((0, 1),", "statistics"),
    ("square().mean(-1, keepdim=True)", "square().sum(-1, keepdim=True)", "variance"),
    ("square().mean(-1, keepdim=True)", "square().sum(-1, keepdim=True) / 5", "variance"),
    ("square().mean(-1, keepdim=True)", "square().sum(-1, keepdim=True) / 7", "variance"),
    ("square().mean(-1, keepdim=True)", "square().sum(-1, keepdim=True) / 4", "variance"),
    ("square().mean(-1, keepdim=True)", "square().amax(-1, keepdim=True)", "variance"),
    (USE, "(xhat * gamma + beta).half()", "dtype"),
    (USE, "(xhat * gamma + beta).double()", "dtype"),
    (USE, "(xhat * gamma + beta).half().float()", "precision"),
    (USE, "xhat.bfloat16() * gamma + beta", "precision"),
    ("mean = x", "x = x.half().float(); mean = x", "precision"),
    ("mean = x", "x = x.detach(); mean = x", "backward"),
    ("mean = x.mean(-1, keepdim=True)", "mean = x.mean(-1, keepdim=True).detach()", "backward"),
    ("/ " + ROOT, "/ " + ROOT + ".detach()", "backward"),
    (ROOT, "(var.detach() + 1e-5).sqrt()", "backward"),
    (USE, "xhat * gamma.detach() + beta", "backward"),
    (USE, "xhat * gamma + beta.detach()", "backward"),
    (USE, "xhat.detach() * gamma + beta", "backward"),
])  # fmt: skip

SQUARE = Implementation("a square x", """
def fn(x):
    mean = x.mean(1, keepdim=True)
    var = x.var(1, correction=0, keepdim=True)
    return (x - mean) / (var + 1e-5).sqrt()
""", "LayerNorm(5)", (5, 5))  # fmt: skip
WRONG += mutated(SQUARE, [
    ("mean(1, keepdim=True)", "mean(1)", "statistics"),
    ("correction=0, keepdim=True", "correction=0", "statistics"),
    (", keepdim=True", "", "statistics"),
    ("mean(1,", "mean(0,", "statistics"),
    ("var(1,", "var(0,", "statistics"),
    ("(1,", "(0,", "statistics"),
    ("correction=0", "correction=1", "variance"),
    ("correction=0", "correction=2", "variance"),
    ("return ", "return 1.5 * ", "factor"),
    ("return ", "return -", "factor"),
    ("return ", "return 0.999 * ", "factor"),
    ("return ", "return 0.25 + ", "offset"),
    ("return ", "return torch.arange(1., 6.) * ", "factor"),
    ("return ", "return torch.arange(5.) + ", "offset"),
    ("return ", "return 1 + 2 * ", "factor offset"),
    ("return (x - mean) / (var + 1e-5).sqrt()", "return ((x - mean) / (var + 1e-5).sqrt()).T", "statistics not_normalization"),
    ("return (x - mean) / (var + 1e-5).sqrt()", "return ((x - mean) / (var + 1e-5).sqrt()).flip(1)", "not_normalization"),
])  # fmt: skip

IMAGE_ROWS = Implementation("two axes", """
def fn(x, weight, bias):
    mean = x.mean((1, 2), keepdim=True)
    var = x.var((1, 2), keepdim=True, unbiased=False)
    return weight * (x - mean) * torch.rsqrt(var + 1e-5) + bias
""", "LayerNorm([4, 5])", (3, 4, 5), "weight bias", passed=True)  # fmt: skip
WRONG += mutated(IMAGE_ROWS, [
    ("(1, 2)", "(0, 2)", "statistics"),
    ("(1, 2)", "(0, 1)", "statistics"),
    ("(1, 2)", "(0, 1, 2)", "statistics"),
    ("(1, 2)", "2", "statistics"),
    ("(1, 2)", "1", "statistics"),
    ("mean((1, 2)", "mean((2,)", "statistics"),
    ("var((1, 2)", "var((2,)", "statistics"),
    ("var((1, 2)", "var((0, 1, 2)", "statistics"),
    ("unbiased=False", "unbiased=True", "variance"),
    ("torch.rsqrt", "torch.sqrt", "variance"),
    ("torch.rsqrt(var + 1e-5)", "torch.reciprocal(var + 1e-5)", "variance"),
    ("weight *", "weight[0] *", "parameters"),
    ("+ bias", "+ bias[0]", "parameters"),
    ("weight * (x - mean)", "bias * (x - mean)", "gamma"),
    ("+ bias", "- bias", "beta"),
])  # fmt: skip

MODULE = Implementation("a module", """
class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        var = x.var(-1, correction=0, keepdim=True)
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias

fn = Layer(5)
""", "LayerNorm(5)", (3, 4, 5), "weight bias")  # fmt: skip
WRONG += mutated(MODULE, [
    (" + self.bias", "", "beta"),
    ("self.weight * ", "", "gamma"),
    ("+ self.bias", "- self.bias", "beta"),
    ("+ self.bias", "+ self.weight", "beta"),
    ("return self.weight", "return self.weight ** 2", "gamma"),
    ("return self.weight", "return -self.weight", "gamma"),
    ("return self.weight", "return self.weight.exp()", "gamma"),
    ("return self.weight", "return (1 + self.weight)", "gamma"),
    ("return self.weight", "return self.bias", "gamma"),
    ("correction=0", "correction=1", "variance"),
    ("mean(-1,", "mean(1,", "statistics"),
    ("-1,", "1,", "statistics"),
    ("torch.sqrt(var + 1e-5)", "(torch.sqrt(var) + 1e-5)", "eps_placement"),
    ("torch.sqrt(var + 1e-5)", "(var + 1e-5)", "variance"),
    ("1e-5", "1e-6", "eps"),
    ("mean = x.mean(-1, keepdim=True)", "mean = x.mean(-1, keepdim=True) if self.training else 0", "training"),
    ("self.weight * ", "(self.weight if self.training else 1) * ", "training"),
    ("mean = x.", "if not self.training: return x\n        mean = x.", "training"),
    ("keepdim=True)\n        var", "keepdim=True).detach()\n        var", "backward"),
    ("self.weight * ", "self.weight.detach() * ", "backward"),
    ("+ self.bias", "+ self.bias.data", "backward"),
    ("mean = x.mean", "mean = torch.no_grad()(x.mean)", "backward"),
    ("torch.ones(size)", "torch.ones(4, 1)", "parameters"),
    ("torch.ones(size)", "torch.ones(1)", "parameters"),
    ("+ self.bias", "+ self.bias + 1", "offset"),
])  # fmt: skip

UNNAMED = Implementation(
    "names that tell nothing",
    """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.b = nn.Parameter(torch.zeros(6))
        self.a = nn.Parameter(torch.ones(6))

    def forward(self, x):
        return self.a * F.layer_norm(x, (6,)) + self.b

fn = Layer()
""",
    "LayerNorm(6)",
    (4, 6),
    "a b",
)
WRONG += mutated(UNNAMED, [
    ("self.a * F.layer_norm(x, (6,)) + self.b", "self.a * F.layer_norm(x, (6,))", "beta"),
    ("self.a * F.layer_norm(x, (6,)) + self.b", "F.layer_norm(x, (6,)) + self.b", "gamma"),
    ("self.a * F.layer_norm(x, (6,)) + self.b", "F.layer_norm(x, (6,))", "gamma beta"),
    ("+ self.b", "- self.b", "beta"),
    ("self.a *", "self.a ** 2 *", "gamma"),
])  # fmt: skip

NUMPY = Implementation("NumPy", """
def fn(x, gamma, beta, ln_param):
    eps = ln_param.get("eps", 1e-5)
    mu = x.mean(axis=1, keepdims=True)
    xc = x - mu
    var = np.mean(xc ** 2, axis=1, keepdims=True)
    ivar = 1 / np.sqrt(var + eps)
    xhat = xc * ivar
    out = gamma * xhat + beta
    return out, (xhat, ivar, gamma)
""", "LayerNorm(6)", (4, 6), "gamma beta", passed=True, arrays="numpy", dtype=torch.float64, others={"ln_param": {}})  # fmt: skip
WRONG += mutated(NUMPY, [
    ("gamma * xhat + beta", "beta * xhat + gamma", "gamma beta"),
    ("gamma * xhat + beta", "gamma * (xhat + beta)", "beta"),
    ("gamma * xhat + beta", "gamma * xhat", "beta"),
    ("gamma * xhat + beta", "gamma ** 2 * xhat + beta", "gamma"),
    ("gamma * xhat + beta", "gamma * xc + beta", "variance"),
    ("gamma * xhat + beta", "gamma * x * ivar + beta", "center"),
    ("axis=1", "axis=0", "statistics"),
    ("xc ** 2, axis=1", "xc ** 2, axis=0", "statistics"),
    ("axis=1", "axis=None", "statistics"),
    ("np.mean(xc ** 2, axis=1, keepdims=True)", "x.var(axis=1, ddof=1, keepdims=True)", "variance"),
    ("np.mean(xc ** 2, axis=1, keepdims=True)", "x.std(axis=1, keepdims=True)", "variance"),
    ("np.sqrt(var + eps)", "(var + eps)", "variance"),
    ("np.sqrt(var + eps)", "(np.sqrt(var) + eps)", "eps_placement"),
    ("np.sqrt(var + eps)", "np.sqrt(np.maximum(var, eps))", "eps_placement"),
    ('ln_param.get("eps", 1e-5)', "1e-8", "eps"),
    ("np.mean(xc ** 2", "np.mean(xc", "variance"),
    ("np.mean(xc ** 2", "np.mean(x ** 2", "variance"),
    ("np.mean(xc", "np.sum(xc", "variance"),
    ("out, (", "out.astype(np.float32), (", "dtype"),
])  # fmt: skip
WRONG += mutated(replace(NUMPY, shape=(6, 6)), [
    ("mu = x.mean(axis=1, keepdims=True)", "mu = x.mean(axis=1)", "statistics"),
    ("xc ** 2, axis=1, keepdims=True", "xc ** 2, axis=1", "statistics"),
    (", keepdims=True", "", "statistics"),
    ("mu = x.mean(axis=1", "mu = x.mean(axis=0", "statistics"),
    ("gamma * xhat", "gamma[:, None] * xhat", "parameters"),
    ("+ beta", "+ beta[:, None]", "parameters"),
])  # fmt: skip

NUMPY_BATCH = Implementation("NumPy, columns", """
def fn(x, gamma, beta):
    mu = np.mean(x, axis=0)
    var = np.var(x, axis=0)
    return gamma * (x - mu) / np.sqrt(var + 1e-5) + beta
""", "BatchNorm1d(5)", (7, 5), "gamma beta", passed=True, arrays="numpy", dtype=torch.float64)  # fmt: skip
WRONG += mutated(NUMPY_BATCH, [
    ("axis=0", "axis=1, keepdims=True", "statistics"),
    ("np.var(x, axis=0)", "np.var(x, axis=0, ddof=1)", "variance"),
    ("np.var(x, axis=0)", "np.var(x)", "statistics"),
    ("np.mean(x, axis=0)", "np.mean(x)", "statistics"),
    ("np.var(x, axis=0)", "np.std(x, axis=0)", "variance"),
    ("- mu)", ")", "center"),
])  # fmt: skip

BATCH_NORM = Implementation("batch norm", """
def fn(x, weight, bias):
    mean = x.mean((0, 2), keepdim=True)
    var = x.var((0, 2), unbiased=False, keepdim=True)
    xhat = (x - mean) / torch.sqrt(var + 1e-5)
    return xhat * weight.view(1, -1, 1) + bias.view(1, -1, 1)
""", "BatchNorm1d(4)", (3, 4, 5), "weight bias", passed=True)  # fmt: skip
WRONG += mutated(BATCH_NORM, [
    ("(0, 2)", "(0,)", "statistics"),
    ("(0, 2)", "(2,)", "statistics"),
    ("(0, 2)", "(1, 2)", "statistics"),
    ("(0, 2)", "(0, 1)", "statistics"),
    ("(0, 2)", "(0, 1, 2)", "statistics"),
    ("mean((0, 2)", "mean((0,)", "statistics"),
    ("var((0, 2)", "var((0,)", "statistics"),
    ("unbiased=False", "unbiased=True", "variance"),
    ("1e-5", "1e-3", "eps"),
    ("xhat * weight.view(1, -1, 1) + bias", "xhat * bias.view(1, -1, 1) + weight", "gamma beta"),
    ("weight.view(1, -1, 1) + bias", "weight.view(1, -1, 1) - bias", "beta"),
    ("return ", "return 3 + ", "offset"),
])  # fmt: skip
WRONG += mutated(replace(BATCH_NORM, name="batch norm, a square x", shape=(3, 4, 4)), [
    ("(0, 2)", "(0, 1)", "statistics"),
    ("weight.view(1, -1, 1)", "weight", "parameters"),
    ("view(1, -1, 1)", "view(1, 1, -1)", "parameters"),
])  # fmt: skip
FUNCTIONAL = Implementation("F.batch_norm", """
def fn(x, weight, bias):
    return F.batch_norm(x, None, None, weight, bias, True, 0.1, 1e-5)
""", "BatchNorm1d(4)", (3, 4, 5), "weight bias", passed=True)  # fmt: skip
WRONG += mutated(FUNCTIONAL, [
    ("weight, bias, True", "bias, weight, True", "gamma beta"),
    ("weight, bias, True", "None, None, True", "gamma beta"),
    ("weight, bias, True", "weight, None, True", "beta"),
    ("None, None, weight, bias, True", "torch.zeros(4), torch.ones(4), weight, bias, False", "training"),
    ("1e-5", "1e-4", "eps"),
])  # fmt: skip

MORE = Implementation("more parameters", "fn = nn.BatchNorm1d(4)", "BatchNorm1d(4)", (3, 4, 5))
WRONG += [
    replace(MORE, name=f"{source} for {like}", source=f"fn = nn.{source}", like=like, shape=shape, parameters="weight" if "RMS" in source else "weight bias", differs=frozenset(differs.split()))
    for source, like, shape, differs in (
        ("LayerNorm(5)", "LayerNorm(5, elementwise_affine=False)", (3, 4, 5), "gamma beta"),
        ("LayerNorm(5)", "LayerNorm(5, bias=False)", (3, 4, 5), "beta"),
        ("RMSNorm(5, eps=1e-6)", "RMSNorm(5, eps=1e-6, elementwise_affine=False)", (3, 4, 5), "gamma"),
        ("BatchNorm1d(4)", "BatchNorm1d(4, affine=False)", (3, 4, 5), "gamma beta"),
        ("LayerNorm(5)", "InstanceNorm1d(4)", (3, 4, 5), "gamma beta"),
        ("BatchNorm1d(4, momentum=0.9)", "BatchNorm1d(4)", (3, 4, 5), "running"),
        ("BatchNorm1d(4, track_running_stats=False)", "BatchNorm1d(4)", (3, 4, 5), "running"),
        ("BatchNorm1d(4)", "BatchNorm1d(4, track_running_stats=False)", (3, 4, 5), "training"),
        ("BatchNorm1d(4, eps=1e-3)", "BatchNorm1d(4)", (3, 4, 5), "eps"),
        ("GroupNorm(2, 4)", "GroupNorm(1, 4)", (3, 4, 5), "statistics"),
        ("BatchNorm2d(4)", "GroupNorm(2, 4)", (2, 4, 3, 3), "statistics"),
        ("InstanceNorm2d(4, affine=True)", "BatchNorm2d(4)", (2, 4, 3, 3), "statistics"),
        ("LayerNorm([3, 3])", "InstanceNorm2d(4, affine=True)", (2, 4, 3, 3), "parameters"),
    )
]  # fmt: skip

RUNNING = Implementation("running statistics", """
class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))
        self.register_buffer("running_mean", torch.zeros(size))
        self.register_buffer("running_var", torch.ones(size))

    def forward(self, x):
        if self.training:
            mean, var = x.mean(0), x.var(0, correction=0)
            unbiased = x.var(0, correction=1)
            with torch.no_grad():
                self.running_mean = (1 - 0.1) * self.running_mean + 0.1 * mean
                self.running_var = (1 - 0.1) * self.running_var + 0.1 * unbiased
        else:
            mean, var = self.running_mean, self.running_var
        return (x - mean) / torch.sqrt(var + 1e-5) * self.weight + self.bias

fn = Layer(3)
""", "BatchNorm1d(3)", (6, 3), "weight bias")  # fmt: skip
MEAN, VAR = "(1 - 0.1) * self.running_mean + 0.1 * mean", "(1 - 0.1) * self.running_var + 0.1 * unbiased"
OWN = "mean, var = self.running_mean, self.running_var"
UPDATES = [
    (MEAN, "self.running_mean", "running"),
    (VAR, "self.running_var", "running"),
    ("if self.training:", "if True:", "running"),
    (MEAN, "0.1 * self.running_mean + (1 - 0.1) * mean", "running"),
    (VAR, "0.1 * self.running_var + (1 - 0.1) * unbiased", "running"),
    ("(1 - 0.1)", "0.1", "running"),
    ("0.1 * unbiased", "0.1 * var", "running"),
    ("0.1 * unbiased", "0.1 * unbiased.sqrt()", "running"),
    (MEAN, "mean", "running"),
    (VAR, "unbiased", "running"),
    ("+ 0.1 * mean", "- 0.1 * mean", "running"),
    ("0.1 * mean", "0.2 * mean", "running"),
    ("0.1", "0.01", "running"),
    (OWN, "mean, var = x.mean(0), x.var(0, correction=0)", "running"),
    (OWN, "mean, var = self.running_mean, self.running_var.sqrt()", "running"),
    (OWN, "mean, var = self.running_mean, self.running_var ** 2", "running"),
    (OWN, "mean, var = self.running_mean, x.var(0, correction=0)", "running"),
    (OWN, "mean, var = x.mean(0), self.running_var", "running"),
    (OWN, "mean, var = 0, self.running_var", "running"),
    (OWN, "mean, var = self.running_mean, torch.ones(())", "running"),
    (OWN, "return x", "running"),
    (OWN, OWN + "\n            self.running_mean = 0.9 * self.running_mean", "running"),
]
WRONG += mutated(RUNNING, [
    *UPDATES,
    ("x.var(0, correction=0)", "x.var(0, correction=1)", "variance"),
    ("mean, var = x.mean(0)", "mean, var = x.mean()", "statistics"),
    ("* self.weight + self.bias", "+ self.bias", "gamma"),
    ("* self.weight + self.bias", "* self.weight", "beta"),
    ("x.mean(0), x", "x.mean(0).detach(), x", "backward"),
    ("1e-5", "1e-3", "eps"),
])  # fmt: skip
PLAIN = replace(
    RUNNING,
    name="statistics in attributes",
    source=RUNNING.source.replace('self.register_buffer("running_mean", torch.zeros(size))', "self.running_mean = torch.zeros(size)").replace('self.register_buffer("running_var", torch.ones(size))', "self.running_var = torch.ones(size)"),
)  # fmt: skip
MOVING = replace(RUNNING, name="moving statistics", source=RUNNING.source.replace("running_", "moving_"))
WRONG += mutated(PLAIN, [UPDATES[i] for i in (0, 3, 7)])
WRONG += mutated(MOVING, [
    (old.replace("running_", "moving_"), new.replace("running_", "moving_"), differs)
    for old, new, differs in (UPDATES[i] for i in (1, 4, 6, 13))
])  # fmt: skip
EVAL = replace(RUNNING, name="eval mode", like="BatchNorm1d(3).eval()", source=RUNNING.source + "fn.eval()\n")
WRONG += mutated(EVAL, [
    (OWN, "mean, var = x.mean(0), x.var(0, correction=0)", "training"),
    ("fn.eval()", "fn.train()", "training"),
    ("* self.weight + self.bias", "* self.bias + self.weight", "gamma beta"),
    ("* self.weight + self.bias", "* self.weight - self.bias", "beta"),
    ("* self.weight + self.bias", "* self.weight ** 2 + self.bias", "gamma"),
    ("torch.sqrt(var + 1e-5)", "(var + 1e-5)", "variance"),
    ("torch.sqrt(var + 1e-5)", "torch.sqrt(var + 1e-3)", "eps"),
    ("torch.sqrt(var + 1e-5)", "torch.sqrt(var)", "eps"),
    ("torch.sqrt(var + 1e-5)", "torch.square(var + 1e-5)", "variance"),
    ("torch.sqrt(var + 1e-5)", "1", "variance"),
    ("* self.weight + self.bias", "* self.weight + self.bias + 1", "offset"),
    ("* self.weight + self.bias", "* self.weight", "beta"),
])  # fmt: skip

INSTANCE = Implementation("instance norm", """
def fn(x):
    mean = x.mean(dim=(2, 3), keepdim=True)
    var = x.var(dim=(2, 3), keepdim=True, correction=0)
    return (x - mean) / (var + 1e-5).sqrt()
""", "InstanceNorm2d(3)", (2, 3, 4, 5))  # fmt: skip
WRONG += mutated(INSTANCE, [
    ("(2, 3)", "(1, 2, 3)", "statistics"),
    ("(2, 3)", "(0, 2, 3)", "statistics"),
    ("(2, 3)", "(2,)", "statistics"),
    ("(2, 3)", "(3,)", "statistics"),
    ("(2, 3)", "(1, 2)", "statistics"),
    ("mean(dim=(2, 3)", "mean(dim=(1, 2, 3)", "statistics"),
    ("correction=0", "correction=1", "variance"),
    ("x - mean", "x", "center"),
    (").sqrt()", ")", "variance"),
])  # fmt: skip

WRONG += mutated(replace(INSTANCE, tried=((2, 3, 4, 7),)), [
    ("x.var(dim=(2, 3), keepdim=True, correction=0)", "(x - mean).square().sum(dim=(2, 3), keepdim=True) / 20", "sizes variance"),
    ("x.mean(dim=(2, 3), keepdim=True)", "x.sum(dim=(2, 3), keepdim=True) / 20", "sizes center"),
])  # fmt: skip

GROUP = Implementation("group norm", """
def fn(x, weight, bias):
    n, c, h, w = x.shape
    g = x.reshape(n, 2, c // 2, h, w)
    mean = g.mean((2, 3, 4), keepdim=True)
    var = (g - mean).pow(2).mean((2, 3, 4), keepdim=True)
    xhat = ((g - mean) * torch.rsqrt(var + 1e-5)).reshape(n, c, h, w)
    return xhat * weight.reshape(1, c, 1, 1) + bias.reshape(1, c, 1, 1)
""", "GroupNorm(2, 6)", (2, 6, 3, 2), "weight bias", passed=True)  # fmt: skip
WRONG += mutated(GROUP, [
    ("x.reshape(n, 2, c // 2, h, w)", "x.reshape(n, 3, c // 3, h, w)", "statistics"),
    ("2, c // 2", "c // 2, 2", "statistics"),
    ("(2, 3, 4)", "(1, 2, 3, 4)", "statistics"),
    ("(2, 3, 4)", "(3, 4)", "statistics"),
    ("(2, 3, 4)", "(2,)", "statistics"),
    ("(2, 3, 4)", "(0, 2, 3, 4)", "statistics"),
    ("pow(2).mean((2, 3, 4), keepdim=True)", "pow(2).sum((2, 3, 4), keepdim=True) / 17", "variance"),
    ("pow(2).mean((2, 3, 4), keepdim=True)", "pow(2).sum((2, 3, 4), keepdim=True) / 6", "variance"),
    ("mean = g.mean((2, 3, 4)", "mean = g.mean((3, 4)", "statistics"),
    ("pow(2)", "pow(4)", "variance"),
    ("rsqrt(var + 1e-5)", "sqrt(var + 1e-5)", "variance"),
    ("weight.reshape(1, c, 1, 1) + bias", "bias.reshape(1, c, 1, 1) + weight", "gamma beta"),
    ("1e-5", "1e-6", "eps"),
])  # fmt: skip
INTERLEAVED = ("x.reshape(n, 2, c // 2, h, w)", "x.reshape(n, c // 2, 2, h, w).transpose(1, 2)", "statistics")
WRONG += [
    replace(one, source=one.source.replace(".reshape(n, c, h, w)", ".transpose(1, 2).reshape(n, c, h, w)"))
    for one in mutated(GROUP, [INTERLEAVED])
]

RMS = Implementation("RMSNorm", """
class RMSNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        wide = x.float()
        square = wide.pow(2).mean(-1, keepdim=True)
        return (self.weight * (wide * torch.rsqrt(square + 1e-6))).to(x.dtype)

fn = RMSNorm(6)
""", "RMSNorm(6, eps=1e-6)", (4, 6), "weight")  # fmt: skip
WRONG += mutated(RMS, [
    ("wide * torch", "(wide - wide.mean(-1, keepdim=True)) * torch", "center"),
    ("pow(2)", "abs()", "variance"),
    ("pow(2)", "pow(4)", "variance"),
    ("pow(2)", "sub(wide.mean(-1, keepdim=True)).pow(2)", "variance"),
    ("pow(2).mean", "pow(2).sum", "variance"),
    ("torch.rsqrt(square + 1e-6)", "(1 / (square + 1e-6))", "variance"),
    ("torch.rsqrt(square + 1e-6)", "(1 / (square.sqrt() + 1e-6))", "eps_placement"),
    ("1e-6", "1e-5", "eps"),
    ("(self.weight *", "((1 + self.weight) *", "gamma"),
    ("(self.weight *", "(self.weight ** 2 *", "gamma"),
    ("(self.weight *", "(", "gamma"),
    ("(self.weight * (", "(1 + self.weight * (", "offset"),
    ("mean(-1,", "mean(0,", "statistics"),
    ("mean(-1,", "mean((0, 1),", "statistics"),
    ("torch.rsqrt", "torch.no_grad()(torch.rsqrt)", "backward"),
    (".to(x.dtype)", ".half()", "dtype"),
])  # fmt: skip
HALF = replace(RMS, name="RMSNorm in float16", dtype=torch.float16, source=RMS.source + "fn.half()\n", x="300 * randn")
WRONG += mutated(HALF, [
    ("x.float()", "x", "precision"),
    (".to(x.dtype)", "", "dtype"),
    (".to(x.dtype)", ".bfloat16()", "dtype"),
])  # fmt: skip

HALF_LAYER = Implementation("LayerNorm in float16", """
def fn(x):
    wide = x.float()
    mean = wide.mean(-1, keepdim=True)
    var = (wide - mean).square().mean(-1, keepdim=True)
    return ((wide - mean) / torch.sqrt(var + 1e-12)).to(x.dtype)
""", "LayerNorm(6, eps=1e-12)", (4, 6), x="0 * randn + 1", dtype=torch.float16)  # fmt: skip
WRONG += mutated(HALF_LAYER, [("x.float()", "x", "precision")])
WRONG += mutated(replace(HALF_LAYER, name="large, in float16", x="300 * randn"), [("x.float()", "x", "precision")])

WRITES_INTO_X = [
    Implementation("in place", """
def fn(x):
    x -= x.mean(-1, keepdim=True)
    x /= (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return x
""", "LayerNorm(6)", (4, 6), differs=frozenset({"in_place"})),
    Implementation("in place in NumPy", """
def fn(x):
    x -= x.mean(-1, keepdims=True)
    x /= np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
    return x
""", "LayerNorm(6)", (4, 6), arrays="numpy", dtype=torch.float64, differs=frozenset({"in_place"})),
]  # fmt: skip
WRONG += WRITES_INTO_X

FAR = Implementation("far from zero", """
def fn(x):
    mean = x.mean(-1, keepdim=True)
    var = (x - mean).square().mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(var + 1e-5)
""", "LayerNorm(6)", (4, 6), x="randn + 3000")  # fmt: skip
WRONG += mutated(FAR, [
    ("(x - mean).square().mean(-1, keepdim=True)", "x.square().mean(-1, keepdim=True) - mean.square()", "precision"),
    ("(x - mean).square().mean(-1, keepdim=True)", "(x.square().mean(-1, keepdim=True) - mean.square()).clamp(min=0)", "precision"),
    ("(x - mean).square()", "(x.half() - mean.half()).float().square()", "precision"),
])  # fmt: skip

LAST = Implementation("channels last", """
weight = torch.ones(5, requires_grad=True)
bias = torch.zeros(5, requires_grad=True)

def fn(x):
    mean = x.mean((0, 1))
    var = x.var((0, 1), correction=0)
    return (x - mean) / torch.sqrt(var + 1e-5) * weight + bias
""", "BatchNorm1d(5)", (3, 4, 5), "weight bias", layout="NLC")  # fmt: skip
WRONG += mutated(LAST, [
    ("(0, 1)", "(0,)", "statistics"),
    ("(0, 1)", "(1,), keepdim=True", "statistics"),
    ("(0, 1)", "(0, 2), keepdim=True", "statistics"),
    ("(0, 1)", "(2,), keepdim=True", "statistics"),
    ("correction=0", "correction=1", "variance"),
    ("* weight + bias", "* bias + weight", "gamma beta"),
    ("* weight", "/ weight", "gamma"),
    ("weight + bias", "weight + bias.detach()", "backward"),
])  # fmt: skip

CONSTANTS = replace(LAST, name="constants", parameters="")
WRONG += mutated(CONSTANTS, [
    ("torch.ones(5, requires_grad=True)", "torch.arange(1., 6.)", "factor"),
    ("torch.ones(5, requires_grad=True)", "2.0", "factor"),
    ("torch.zeros(5, requires_grad=True)", "torch.arange(5.)", "offset"),
    ("torch.zeros(5, requires_grad=True)", "-0.5", "offset"),
])  # fmt: skip

BACKWARD = Implementation("autograd.Function", """
class Function(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gamma, beta):
        mean = x.mean(-1, keepdim=True)
        inverse = torch.rsqrt(x.var(-1, keepdim=True, correction=0) + 1e-5)
        xhat = (x - mean) * inverse
        ctx.save_for_backward(xhat, inverse, gamma)
        return xhat * gamma + beta

    @staticmethod
    def backward(ctx, dout):
        xhat, inverse, gamma = ctx.saved_tensors
        dxhat = dout * gamma
        dgamma = (dout * xhat).sum(0)
        dbeta = dout.sum(0)
        first = dxhat.mean(-1, keepdim=True)
        second = (dxhat * xhat).mean(-1, keepdim=True)
        dx = (dxhat - first - xhat * second) * inverse
        return dx, dgamma, dbeta

def fn(x, gamma, beta):
    return Function.apply(x, gamma, beta)
""", "LayerNorm(6)", (4, 6), "gamma beta", passed=True)  # fmt: skip
WRONG += mutated(BACKWARD, [
    ("dxhat - first - xhat * second", "dxhat + first - xhat * second", "backward"),
    ("dxhat - first - xhat * second", "dxhat - first + xhat * second", "backward"),
    ("dxhat - first - xhat * second", "dxhat - xhat * second", "backward"),
    ("dxhat - first - xhat * second", "dxhat - first", "backward"),
    ("dxhat - first - xhat * second", "dxhat", "backward"),
    ("dxhat = dout * gamma", "dxhat = dout", "backward"),
    ("second) * inverse", "second) / inverse", "backward"),
    ("second) * inverse", "second)", "backward"),
    ("return dx,", "return -dx,", "backward"),
    ("return dx,", "return 0 * dx,", "backward"),
    ("return dx,", "return 1.01 * dx,", "backward"),
    ("dxhat.mean", "dxhat.sum", "backward"),
    ("(dxhat * xhat).mean", "dxhat.mean", "backward"),
    ("(dout * xhat).sum(0)", "dout.sum(0)", "backward"),
    ("(dout * xhat).sum(0)", "(dout * xhat).mean(0)", "backward"),
    ("(dout * xhat).sum(0)", "(dxhat * xhat).sum(0)", "backward"),
    ("dbeta = dout.sum(0)", "dbeta = dout.mean(0)", "backward"),
    ("dbeta = dout.sum(0)", "dbeta = -dout.sum(0)", "backward"),
    ("dx, dgamma, dbeta", "dx, dbeta, dgamma", "backward"),
    ("dgamma, dbeta", "None, dbeta", "backward"),
    ("* gamma + beta", "* beta + gamma", "gamma beta backward"),  # the gradients are still those of the right output
])  # fmt: skip

BLOCKS = Implementation("a padded kernel", """
def fn(x):
    size = x.shape[-1]
    padded = F.pad(x, (0, -size % 8))
    inside = torch.arange(padded.shape[-1]) < size
    mean = padded.sum(-1, keepdim=True) / size
    centered = torch.where(inside, padded - mean, 0.)
    var = centered.square().sum(-1, keepdim=True) / size
    return (centered / torch.sqrt(var + 1e-5))[..., :size]
""", "nv.Norm('n d -> n', None)", (3, 8), layer="RowNorm()", shapes=((3, 6), (3, 16)))  # fmt: skip
WRONG += mutated(BLOCKS, [
    ("torch.where(inside, padded - mean, 0.)", "padded - mean", "sizes variance"),
    ("keepdim=True) / size\n    centered", "keepdim=True) / padded.shape[-1]\n    centered", "sizes center"),
    ("/ size\n    return", "/ padded.shape[-1]\n    return", "sizes variance"),
    ("/ size\n    return", "/ 8\n    return", "sizes variance"),
])  # fmt: skip
WRONG += mutated(
    replace(BLOCKS, name="a padded kernel, one shape", shapes=(), tried=((3, 5),)),
    [("/ size\n    return", "/ 8\n    return", "sizes variance")],
)

JAX = Implementation("JAX", """
import jax.numpy as jnp

def fn(x, gamma, beta):
    mean = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    return gamma * (x - mean) / jnp.sqrt(var + 1e-5) + beta
""", "LayerNorm(6)", (4, 6), "gamma beta", passed=True, arrays="jax")  # fmt: skip
JAX_WRONG = mutated(JAX, [
    ("gamma * (x - mean)", "beta * (x - mean)", "gamma"),
    ("+ beta", "- beta", "beta"),
    ("(-1,", "(0,", "statistics"),
    ("x.var(-1, keepdims=True)", "x.var(-1, keepdims=True, ddof=1)", "variance"),
    ("- mean", "", "center"),
    ("1e-5", "1e-3", "eps"),
    ("jnp.sqrt(var + 1e-5)", "(var + 1e-5)", "variance"),
])  # fmt: skip


# Right ones

RIGHT = [LAYER_NORM, SQUARE, IMAGE_ROWS, MODULE, NUMPY, replace(NUMPY, name="NumPy, a square x", shape=(6, 6)), NUMPY_BATCH, BATCH_NORM, FUNCTIONAL,
    RUNNING, PLAIN, MOVING, EVAL, INSTANCE, GROUP, RMS, HALF, HALF_LAYER, replace(HALF_LAYER, name="large, in float16", x="300 * randn"), FAR, LAST,
    CONSTANTS, BACKWARD, BLOCKS, replace(BLOCKS, name="a padded kernel, one shape", shapes=())]  # fmt: skip
ROWS, SEQUENCE = (4, 6), (3, 4, 5)
PASSED = {"parameters": "gamma beta", "passed": True}
BY_HAND = "(x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + 1e-5).sqrt()"
RIGHT += [
    Implementation("F.layer_norm", "fn = lambda x, gamma, beta: F.layer_norm(x, (6,), gamma, beta)", "LayerNorm(6)", ROWS, **PASSED),
    Implementation("F.layer_norm without parameters", "fn = lambda x: F.layer_norm(x, x.shape[-1:])", "LayerNorm(6)", ROWS),
    Implementation("nn.LayerNorm", "fn = nn.LayerNorm(6)", "LayerNorm(6)", ROWS, "weight bias"),
    Implementation("nn.LayerNorm without bias", "fn = nn.LayerNorm(6, bias=False)", "LayerNorm(6, bias=False)", ROWS, "weight"),
    Implementation("nn.LayerNorm without parameters", "fn = nn.LayerNorm(6, elementwise_affine=False)", "LayerNorm(6)", ROWS),
    Implementation("nn.LayerNorm in bfloat16", "fn = nn.LayerNorm(6).bfloat16()", "LayerNorm(6)", ROWS, "weight bias", dtype=torch.bfloat16),
    Implementation("nn.LayerNorm in float16", "fn = nn.LayerNorm(6).half()", "LayerNorm(6)", ROWS, "weight bias", dtype=torch.float16),
    Implementation("nn.LayerNorm in float64", "fn = nn.LayerNorm(6).double()", "LayerNorm(6)", ROWS, "weight bias", dtype=torch.float64),
    Implementation("nn.LayerNorm in eval mode", "fn = nn.LayerNorm(6).eval()", "LayerNorm(6)", ROWS, "weight bias"),
    Implementation("nn.BatchNorm1d", "fn = nn.BatchNorm1d(4)", "BatchNorm1d(4)", SEQUENCE, "weight bias"),
    Implementation("nn.BatchNorm1d in eval mode", "fn = nn.BatchNorm1d(4).eval()", "BatchNorm1d(4).eval()", SEQUENCE, "weight bias"),
    Implementation("nn.BatchNorm1d without statistics", "fn = nn.BatchNorm1d(4, track_running_stats=False)", "BatchNorm1d(4, track_running_stats=False)", SEQUENCE, "weight bias"),
    Implementation("nn.BatchNorm1d with a mean over all batches", "fn = nn.BatchNorm1d(4, momentum=None)", "BatchNorm1d(4, momentum=None)", SEQUENCE, "weight bias"),
    Implementation("nn.BatchNorm2d in float16", "fn = nn.BatchNorm2d(3).half()", "BatchNorm2d(3)", (2, 3, 4, 4), "weight bias", dtype=torch.float16),
    Implementation("nn.InstanceNorm1d", "fn = nn.InstanceNorm1d(4, affine=True)", "InstanceNorm1d(4, affine=True)", SEQUENCE, "weight bias"),
    Implementation("nn.GroupNorm", "fn = nn.GroupNorm(2, 4)", "GroupNorm(2, 4)", SEQUENCE, "weight bias"),
    Implementation("nn.RMSNorm", "fn = nn.RMSNorm(6)", "RMSNorm(6)", ROWS, "weight", layer="RMSNorm(6, eps=2**-23)"),
    Implementation("nn.RMSNorm in bfloat16", "fn = nn.RMSNorm(6).bfloat16()", "RMSNorm(6)", ROWS, "weight", dtype=torch.bfloat16, layer="RMSNorm(6, eps=2**-23)"),
    Implementation("einops.reduce", """
def fn(x, gamma, beta):
    mean = einops.reduce(x, "n (g c) h -> n g 1 1", "mean", g=2)
    grouped = einops.rearrange(x, "n (g c) h -> n g c h", g=2)
    var = einops.reduce((grouped - mean).square(), "n g c h -> n g 1 1", "mean")
    xhat = einops.rearrange((grouped - mean) / (var + 1e-5).sqrt(), "n g c h -> n (g c) h")
    return xhat * gamma[:, None] + beta[:, None]
""", "GroupNorm(2, 4)", SEQUENCE, **PASSED),
    Implementation("vmap", """
def row(x):
    return (x - x.mean()) / (x.var(correction=0) + 1e-5).sqrt()

fn = torch.vmap(row)
""", "LayerNorm(6)", ROWS),
    Implementation("one pass", """
def fn(x, gamma, beta):
    mean = x.mean(-1, keepdim=True)
    var = x.square().mean(-1, keepdim=True) - mean.square()
    return (x - mean) * (var.clamp(min=0) + 1e-5).rsqrt() * gamma + beta
""", "LayerNorm(6)", ROWS, **PASSED),
    Implementation("Welford", """
def fn(x, gamma, beta):
    mean, square = torch.zeros_like(x[..., 0]), torch.zeros_like(x[..., 0])
    for count in range(x.shape[-1]):
        delta = x[..., count] - mean
        mean = mean + delta / (count + 1)
        square = square + delta * (x[..., count] - mean)
    var = square / x.shape[-1]
    return (x - mean[..., None]) / torch.sqrt(var[..., None] + 1e-5) * gamma + beta
""", "LayerNorm(6)", ROWS, **PASSED),
    Implementation("Welford, far from zero", """
def fn(x):
    mean, square = torch.zeros_like(x[..., 0]), torch.zeros_like(x[..., 0])
    for count in range(x.shape[-1]):
        delta = x[..., count] - mean
        mean = mean + delta / (count + 1)
        square = square + delta * (x[..., count] - mean)
    var = square / x.shape[-1]
    return (x - mean[..., None]) / torch.sqrt(var[..., None] + 1e-5)
""", "LayerNorm(6)", ROWS, x="randn + 300"),
    Implementation("permute and reshape", """
def fn(x, weight, bias):
    n, c, l = x.shape
    rows = x.permute(1, 0, 2).reshape(c, n * l)
    xhat = (rows - rows.mean(1, keepdim=True)) / torch.sqrt(rows.var(1, correction=0, keepdim=True) + 1e-5)
    return (xhat * weight[:, None] + bias[:, None]).reshape(c, n, l).permute(1, 0, 2)
""", "BatchNorm1d(4)", SEQUENCE, "weight bias", passed=True),
    Implementation("transposed rows in NumPy", """
def fn(x, gamma, beta, ln_param):
    x = x.T
    xhat = (x - x.mean(0)) / np.sqrt(x.var(0) + ln_param.get("eps", 1e-5))
    return gamma * xhat.T + beta, (xhat,)
""", "LayerNorm(6)", ROWS, **PASSED, arrays="numpy", dtype=torch.float64, others={"ln_param": {}}),
    Implementation("NumPy in float32", """
def fn(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + np.float32(1e-5))
""", "LayerNorm(6)", ROWS, arrays="numpy"),
    Implementation("a loop over examples in NumPy", """
def fn(x, gamma, beta):
    out = np.empty_like(x)
    for i, row in enumerate(x):
        out[i] = gamma * (row - np.mean(row)) / np.sqrt(np.var(row) + 1e-5) + beta
    return out
""", "LayerNorm(6)", ROWS, **PASSED, arrays="numpy", dtype=torch.float64),
    Implementation("gamma of shape (1, C, 1, 1)", """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(1, 3, 1, 1))
        self.beta = nn.Parameter(torch.zeros(1, 3, 1, 1))

    def forward(self, x):
        var, mean = torch.var_mean(x, (0, 2, 3), correction=0, keepdim=True)
        return self.gamma * (x - mean) / torch.sqrt(var + 1e-5) + self.beta

fn = Layer()
""", "BatchNorm2d(3, track_running_stats=False)", (2, 3, 4, 5), "gamma beta"),
    Implementation("scale and shift", """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(6))
        self.scale = nn.Parameter(torch.ones(6))

    def forward(self, x):
        return torch.addcmul(self.shift, self.scale, F.layer_norm(x, (6,)))

fn = Layer()
""", "LayerNorm(6)", ROWS, "scale shift"),
    UNNAMED,
    Implementation("functools.partial", """
def normalize(x, dim, eps):
    return (x - x.mean(dim, keepdim=True)) / (x.var(dim, keepdim=True, correction=0) + eps).sqrt()

fn = partial(normalize, dim=(0, 2), eps=1e-5)
""", "BatchNorm1d(4)", SEQUENCE),
    Implementation("a bound method", """
class Model:
    eps = 1e-5

    def normalize(self, x):
        return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + self.eps).sqrt()

fn = Model().normalize
""", "LayerNorm(6)", ROWS),
    Implementation("a static method", """
class Model:
    @staticmethod
    def normalize(x):
        return F.layer_norm(x, (6,))

fn = Model.normalize
""", "LayerNorm(6)", ROWS),
    Implementation("an object that is called", """
class Norm:
    def __init__(self):
        self.weight, self.bias = torch.ones(6, requires_grad=True), torch.zeros(6, requires_grad=True)

    def __call__(self, x):
        return F.layer_norm(x, (6,), self.weight, self.bias)

fn = Norm()
""", "LayerNorm(6)", ROWS, "weight bias"),
    Implementation("a module in a function", """
layer = nn.LayerNorm(6)
weight, bias = layer.weight, layer.bias
fn = lambda x: layer(x)
""", "LayerNorm(6)", ROWS, "weight bias"),
    Implementation("channels last around a module", """
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.GroupNorm(2, 4)

    def forward(self, x):
        return self.norm(x.movedim(-1, 1)).movedim(1, -1)

fn = Layer()
""", "GroupNorm(2, 4)", (2, 3, 5, 4), layout="NHWC"),
    Implementation("upcast of bfloat16", """
def fn(x, weight, bias):
    wide = x.float()
    var, mean = torch.var_mean(wide, -1, correction=0, keepdim=True)
    return ((wide - mean) * torch.rsqrt(var + 1e-5) * weight.float() + bias.float()).to(x.dtype)
""", "LayerNorm(6)", ROWS, "weight bias", passed=True, dtype=torch.bfloat16),
    Implementation("upcast of float32", """
def fn(x, weight):
    wide = x.double()
    return (wide / (wide.square().mean(-1, keepdim=True) + 1e-6).sqrt() * weight.double()).float()
""", "RMSNorm(6, eps=1e-6)", ROWS, "weight", passed=True),
    Implementation("a norm over a root", """
def fn(x, weight):
    return x / (x.norm(dim=-1, keepdim=True).square() / x.shape[-1] + 1e-6).sqrt() * weight
""", "RMSNorm(6, eps=1e-6)", ROWS, "weight", passed=True),
    Implementation("the formula of ONNX", """
def fn(x, scale, bias):
    grouped = x.reshape(x.shape[0], 2, -1)
    mean = np.mean(grouped, axis=-1, keepdims=True)
    var = np.mean(np.power(grouped, 2), axis=-1, keepdims=True) - np.power(mean, 2)
    xhat = ((grouped - mean) / np.sqrt(var + 1e-5)).reshape(x.shape)
    return (scale.reshape(1, -1, 1) * xhat + bias.reshape(1, -1, 1)).astype(x.dtype)
""", "GroupNorm(2, 4)", SEQUENCE, "scale bias", passed=True, arrays="numpy"),
    Implementation("a gamma of zeros", """
def fn(x, gamma=torch.zeros(6), beta=torch.zeros(6)):
    return F.layer_norm(x, (6,), gamma, beta)
""", "LayerNorm(6)", ROWS, "gamma beta", passed=True),
    Implementation("two passes of F.instance_norm", "fn = lambda x: F.instance_norm(x)", "InstanceNorm2d(3)", (2, 3, 4, 5)),
    Implementation("one group", "fn = lambda x: F.group_norm(x, 1)", "GroupNorm(1, 4)", SEQUENCE),
    Implementation("a group for each channel", "fn = lambda x: F.group_norm(x, 4)", "InstanceNorm1d(4)", SEQUENCE),
    Implementation("einsum", """
def fn(x, gamma, beta):
    mean = torch.einsum("nd->n", x)[:, None] / x.shape[1]
    xc = x - mean
    var = torch.einsum("nd,nd->n", xc, xc)[:, None] / x.shape[1]
    return torch.einsum("nd,d->nd", xc * (var + 1e-5) ** -0.5, gamma) + beta
""", "LayerNorm(6)", ROWS, **PASSED),
    Implementation("a matrix that centers", """
def fn(x):
    d = x.shape[-1]
    centered = x @ (torch.eye(d, dtype=x.dtype) - 1 / d)
    return centered / (centered.square().mean(-1, keepdim=True) + 1e-5).sqrt()
""", "LayerNorm(6)", ROWS),
]  # fmt: skip
JAX_RIGHT = [JAX, replace(JAX, name="JAX, jitted", source=JAX.source + "import jax\nfn = jax.jit(fn)\n")]
