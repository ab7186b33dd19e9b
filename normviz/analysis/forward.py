"""The forward pass, step by step: the same numbers as torch's fused layers, with every step kept.

float16 and bfloat16 compute in float32, as in torch, or as the installed torch computes its RMSNorm. The variance takes two passes:
the mean of the squared deviations.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache, lru_cache
from math import isnan, prod
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.sharing import Counts, check_limit
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import _

COMPUTES_IN = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.float32: torch.float32,
    torch.float64: torch.float64,
}


def use_one_thread() -> None:
    """Let torch use one thread in this process: on small tensors, synchronizing threads takes longer than the computation."""
    torch.set_num_threads(1)


CPU = torch.device("cpu")


@contextmanager
def usual_device() -> Iterator[torch.device]:
    """Makes the CPU torch's default device. Gives the caller's default device, with the CPU in place of meta."""
    own = torch.empty(0).device
    with nullcontext() if own.type == "cpu" else CPU:  # a mode makes each call of torch slower
        yield own if own.type != "meta" else CPU


Reduction = Callable[[Tensor, tuple[int, ...]], Tensor]  # of a tensor over its last axes, such as torch.mean

ATTRIBUTES = {"gamma": "weight", "beta": "bias", "running_mean": "running_mean", "running_var": "running_var"}


@dataclass(frozen=True)
class Values:
    """A layer's tensors, or None: gamma and beta in the norm's parameter shape, running statistics in (C,)."""

    gamma: Tensor | None = None
    beta: Tensor | None = None
    running_mean: Tensor | None = None
    running_var: Tensor | None = None

    @classmethod
    def of(cls, module: nn.Module) -> Values:
        """Copies of a torch module's tensors, so that later training does not change them."""
        found = {name: getattr(module, attribute, None) for name, attribute in ATTRIBUTES.items()}
        return cls(**{name: None if value is None else value.detach().clone() for name, value in found.items()})

    @classmethod
    def constant(cls, counts: Counts, running: bool, gamma: float = 1.0, beta: float = 0.0, **options: Any) -> Values:
        """Constant gamma and beta, and the running statistics of a new layer: 0 and 1. ``options``: dtype and device."""

        def fill(shape: tuple[int, ...] | None, value: float) -> Tensor | None:
            return None if shape is None else torch.full(shape, value, **options)

        channels = (counts.statistics,) if running else None
        return cls(
            fill(counts.gamma_shape, gamma), fill(counts.beta_shape, beta), fill(channels, 0.0), fill(channels, 1.0)
        )

    @property
    def tensors(self) -> dict[str, Tensor]:
        """The tensors that are not None, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}

    @property
    def state(self) -> dict[str, Tensor]:
        """``tensors`` by torch's names: ``weight``, ``bias``, ``running_mean``, ``running_var``."""
        return {ATTRIBUTES[name]: value for name, value in self.tensors.items()}


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """Every step of ``y = (x - mean) / sqrt(var + eps) * gamma + beta``.

    mean, var   one number for each statistics group, broadcastable to x: size 1 on reduced axes. Without centering, mean
                is 0 and var is the mean of x^2.
    centered    x - mean, of x's shape
    normalized  centered / sqrt(var + eps), of x's shape
    output      normalized * gamma + beta, of x's shape and dtype
    eps         the eps that was used

    The steps before the output have the dtype of the computation: float32 for float16 and bfloat16, except where the installed
    torch computes RMSNorm in these themselves, as torch 2.4 does.
    """

    mean: Tensor
    var: Tensor
    centered: Tensor
    normalized: Tensor
    output: Tensor
    eps: float

    def __repr__(self) -> str:
        statistics, whole = tuple(self.mean.shape), tuple(self.output.shape)
        return _(
            "Trace: mean and var of shape {statistics}, centered, normalized and output of shape {whole}, eps={eps}",
            statistics=statistics,
            whole=whole,
            eps=self.eps,
        )


def as_tensor(x: object) -> Tensor:
    """x as a floating-point tensor, not copied. Raises NormvizError for other types, with the conversion to write."""
    convert = "x.astype('float32')" if isinstance(x, np.ndarray) else "x.float()"
    if isinstance(x, np.ndarray):
        shareable = x.flags.writeable and min(x.strides, default=0) >= 0
        try:
            x = torch.from_numpy(x if shareable else x.copy())
        except (TypeError, ValueError):
            raise NormvizError(
                "torch has no tensor of {dtype}; convert x with {convert}.", dtype=x.dtype, convert=convert
            ) from None
    if not isinstance(x, Tensor):
        raise NormvizError("x={x} is neither a shape (a tuple of sizes) nor a tensor or NumPy array.", x=echo(x))
    if x.dtype not in COMPUTES_IN:
        raise NormvizError(
            "x is {dtype}; normalization divides, so it needs floating-point numbers: convert with {convert}.",
            dtype=dtype_name(x.dtype),
            convert=convert,
        )
    if x.layout != torch.strided:
        raise NormvizError("x is sparse; normalization makes it dense: convert with x.to_dense().")
    return x.detach()


SCALAR_TYPES = {torch.float16: "Half", torch.bfloat16: "BFloat16", torch.float32: "Float", torch.float64: "Double"}


def check_types(layer: Layer, x: Tensor, values: Values) -> None:
    """Raise NormvizError where torch refuses to mix the dtypes of x and of the layer's tensors."""
    dtypes = {name: value.dtype for name, value in values.tensors.items() if _must_match(layer, name)}
    if not dtypes:
        return
    first = next(iter(dtypes.values()))
    others = [name for name, dtype in dtypes.items() if dtype != (x.dtype if first == x.dtype else torch.float32)]
    if first == x.dtype and others:
        other = dtypes[others[0]]
        words = f"expected scalar type {SCALAR_TYPES[first]} but found {SCALAR_TYPES.get(other, other)}"
    elif first != x.dtype and others:
        words = "mixed dtype (CPU): expect parameter to have scalar type of Float"
    elif first != x.dtype and COMPUTES_IN[x.dtype] == x.dtype:
        words = "mixed dtype (CPU): all inputs must share same datatype."
    else:
        return
    name = others[0] if others else next(iter(dtypes))
    raise NormvizError(
        'torch refuses: "{words}". x is {dtype} and {name} is {other}; '
        "convert all of the layer, as in layer.to(torch.{dtype}).",
        words=words,
        dtype=dtype_name(x.dtype),
        name=name,
        other=dtype_name(dtypes[name]),
    )


def _must_match(layer: Layer, name: str) -> bool:
    """Whether this tensor must have x's dtype. RMSNorm converts its gamma, InstanceNorm its running statistics."""
    return layer.kind.center and not (layer.kind.per_instance and name.startswith("running"))


def dtype_name(dtype: torch.dtype) -> str:
    """Without "torch."."""
    return str(dtype).removeprefix("torch.")


def computes_in(norm: Norm, dtype: torch.dtype) -> torch.dtype:
    """The dtype in which torch computes such a layer on the CPU, for x of this dtype."""
    return COMPUTES_IN[dtype] if norm.center else rms_norm_computes_in(dtype)


@cache
def rms_norm_computes_in(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which the installed torch computes RMSNorm for x of this dtype: torch 2.4 computes half precision in itself.

    >>> rms_norm_computes_in(torch.float64)
    torch.float64
    """
    wide = COMPUTES_IN[dtype]
    if wide == dtype or not hasattr(F, "rms_norm"):
        return wide
    x = torch.linspace(1, 2, 64, device="cpu").to(dtype)
    own = F.rms_norm(x, (64,), eps=1e-5)
    by_formula = {kind: x.to(kind) * torch.rsqrt(x.to(kind).square().mean() + 1e-5) for kind in (wide, dtype)}
    return min(by_formula, key=lambda kind: largest_difference(own, by_formula[kind]))


@cache
def dtype_of_default_eps(dtype: torch.dtype) -> torch.dtype:
    """The dtype whose machine epsilon the installed torch uses for RMSNorm's ``eps=None``: before torch 2.7 that of x.

    >>> dtype_of_default_eps(torch.float64)
    torch.float64
    """
    wide = COMPUTES_IN[dtype]
    if wide == dtype or not hasattr(F, "rms_norm"):
        return wide
    x = torch.full((4,), 2.0**-10, dtype=dtype, device="cpu")
    square, size = float(x[0]) ** 2, float(F.rms_norm(x, (4,))[0])
    found = square / size**2 - square
    return min((wide, dtype), key=lambda kind: abs(torch.finfo(kind).eps - found))


def used_eps(norm: Norm, x: Tensor) -> float:
    """The norm's eps; None means the machine epsilon that torch's RMSNorm uses for the dtype of x."""
    return torch.finfo(dtype_of_default_eps(x.dtype)).eps if norm.eps is None else norm.eps


@torch.no_grad()
def trace(norm: Norm, x: Tensor, values: Values) -> Trace:
    """The forward pass of ``norm`` on ``x`` with every step kept.

    Raises NormvizError above 2^26 elements, and where the norm uses running statistics that ``values`` does not have.
    """
    return forward(norm, x, values)


def forward(norm: Norm, x: Tensor, values: Values) -> Trace:
    """``trace`` with gradients with respect to x and ``values``."""
    shape, wide = tuple(x.shape), x.to(computes_in(norm, x.dtype))
    check_limit(shape)
    gamma, beta = (None if one is None else broadcast(norm, shape, one) for one in (values.gamma, values.beta))
    return last_steps(norm, x, *_statistics(norm, wide, values), gamma, beta)


def last_steps(
    norm: Norm, x: Tensor, mean: Tensor, var: Tensor, centered: Tensor, gamma: Tensor | None, beta: Tensor | None
) -> Trace:
    """The trace from the statistics on. All tensors broadcast to x."""
    eps = used_eps(norm, x)
    output = normalized = centered / torch.sqrt(var + eps)
    if gamma is not None:
        output = output * factor(norm, gamma.to(centered.dtype))
    if beta is not None:
        output = output + beta.to(centered.dtype)
    return Trace(mean, var, centered, normalized, output.to(x.dtype), eps)


def factor(norm: Norm, gamma: Tensor) -> Tensor:
    """What the layer multiplies by: gamma, or 1 + gamma.

    >>> factor(Norm("n d -> n", "d", zero_centered_gamma=True), torch.tensor([0.0, 0.25]))
    tensor([1.0000, 1.2500])
    """
    return 1 + gamma if norm.zero_centered_gamma else gamma


def _statistics(norm: Norm, x: Tensor, values: Values) -> tuple[Tensor, Tensor, Tensor]:
    """mean, var and x - mean."""
    if norm.running:
        stored, var = (
            _broadcast(norm, tuple(x.shape), stat.to(x.dtype), norm.pattern.right)
            for stat in running_statistics(values)
        )
        mean = stored if norm.center else torch.zeros_like(stored)
        return mean, var, x - mean
    if norm.center:
        mean = group_mean(norm, x)
        return mean, group_mean(norm, (x - mean).square()), x - mean
    var = group_mean(norm, x.square())
    return torch.zeros_like(var), var, x


def running_statistics(values: Values) -> tuple[Tensor, Tensor]:
    """running_mean and running_var. Raises NormvizError where there are none."""
    if values.running_mean is None or values.running_var is None:
        raise NormvizError("running statistics are stored in a torch module; give the module itself, in eval mode.")
    return values.running_mean, values.running_var


def group_mean(norm: Norm, x: Tensor) -> Tensor:
    """The mean of every statistics group, broadcastable to x."""
    return group_statistic(norm, x, torch.mean)


def group_statistic(norm: Norm, x: Tensor, how: Reduction) -> Tensor:
    """A statistic of every group, broadcastable to x."""
    kept = norm.pattern.right
    return _broadcast(norm, tuple(x.shape), reduced(norm, x, kept, how), kept)


def reduced(norm: Norm, x: Tensor, kept: tuple[str, ...], how: Reduction) -> Tensor:
    """x with the axes ``kept``, in this order: the other axes of the pattern are moved to the end and reduced."""
    names, sizes = norm.pattern.names, norm.axis_sizes(tuple(x.shape))
    others = tuple(name for name in names if name not in kept)
    moved = x.reshape([sizes[name] for name in names]).permute([names.index(name) for name in (*kept, *others)])
    return how(moved, tuple(range(len(kept), len(names)))) if others else moved


def broadcast(norm: Norm, shape: tuple[int, ...], parameter: Tensor) -> Tensor:
    """gamma or beta, reshaped from the norm's parameter shape so that it broadcasts to x."""
    return _broadcast(norm, shape, parameter, norm.gamma_axes)


def _broadcast(norm: Norm, shape: tuple[int, ...], values: Tensor, axes: tuple[str, ...]) -> Tensor:
    recipe = _recipe(norm, shape, axes)
    return (
        values.reshape(recipe.split)
        .permute(recipe.order)
        .reshape(recipe.kept)
        .expand(recipe.full)
        .reshape(recipe.joined)
    )


@dataclass(frozen=True)
class _Recipe:
    """How a tensor with some of the pattern's axes becomes broadcastable to x.

    split   its shape with one axis for each name
    order   the permutation to the order of the pattern's names
    kept    the shape with size 1 for every other name
    full    ``kept``, with the full size for the other parts of a split axis
    joined  the shape with one axis for each axis of x
    """

    split: tuple[int, ...]
    order: tuple[int, ...]
    kept: tuple[int, ...]
    full: tuple[int, ...]
    joined: tuple[int, ...]


@lru_cache(maxsize=1024)
def _recipe(norm: Norm, shape: tuple[int, ...], axes: tuple[str, ...]) -> _Recipe:
    pattern, sizes, names = norm.pattern, norm.axis_sizes(shape), norm.pattern_names(axes)
    full = {part for axis in pattern.left if set(axis) & set(names) for part in axis}
    return _Recipe(
        split=tuple(sizes[name] for name in names),
        order=tuple(names.index(name) for name in pattern.names if name in names),
        kept=tuple(sizes[name] if name in names else 1 for name in pattern.names),
        full=tuple(sizes[name] if name in full else 1 for name in pattern.names),
        joined=tuple(prod(sizes[name] for name in axis if name in full) for axis in pattern.left),
    )


@torch.no_grad()
def run_module(layer: Layer, x: Tensor, values: Values) -> Tensor:
    """The output of torch's own layer with ``values``, for an x on any device."""
    with warnings.catch_warnings():  # torch warns about mixed dtypes and about an unused num_features
        warnings.simplefilter("ignore")
        output: Tensor = module_with(layer, x, values)(x)
    return output


def module_with(layer: Layer, x: Tensor, values: Values) -> nn.Module:
    """Torch's own layer with ``values``, on the device of x."""
    dtype = next((value.dtype for value in (values.gamma, values.running_mean) if value is not None), x.dtype)
    return put_values(layer.module(dtype).to(x.device), values)


@torch.no_grad()
def put_values(module: nn.Module, values: Values) -> nn.Module:
    """The module, in which the values are now ``values``."""
    for name, value in values.state.items():
        if getattr(module, name, None) is not None:
            getattr(module, name).copy_(value)
    return module


def largest_difference(one: Tensor, other: Tensor) -> float:
    """The largest absolute difference; NaN where only one of the two is NaN."""
    difference = (one.double() - other.double()).abs()
    largest = float(difference.max())
    if isnan(largest):  # infinity minus infinity is NaN, too
        return float(torch.where((one == other) | (one.isnan() & other.isnan()), 0.0, difference).max())
    return largest
