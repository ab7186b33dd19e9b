"""The forward pass, step by step, by the pattern: what torch's fused layers do, with every step kept.

Half precision computes in float32, as torch's layers do. The variance is two-pass: the mean of the squared deviations.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import torch
from einops import reduce
from torch import Tensor

from normviz.layers.errors import NormvizError, echo
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.sharing import check_limit

COMPUTES_IN = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.float32: torch.float32,
    torch.float64: torch.float64,
}


def compute_alone() -> None:
    """One thread a process: on small tensors, torch's threads wait for each other longer than they work."""
    torch.set_num_threads(1)


@dataclass(frozen=True)
class Values:
    """What a layer holds, as tensors or None: gamma and beta of the norm's parameter shape, running statistics (C,)."""

    gamma: Tensor | None = None
    beta: Tensor | None = None
    running_mean: Tensor | None = None
    running_var: Tensor | None = None


@dataclass(frozen=True)
class Trace:
    """Every step of ``y = (x - mean) / sqrt(var + eps) * gamma + beta``.

    mean, var   one number a statistics group, broadcastable to x: 1 on reduced axes. Without centring, mean is 0 and var
                is the mean of x^2.
    centered    x - mean, of x's shape
    normalized  centered / sqrt(var + eps), of x's shape
    output      normalized * gamma + beta, of x's shape and type
    eps         the eps that was used

    The steps before the output are of the type that computes: float32 for float16 and bfloat16.
    """

    mean: Tensor
    var: Tensor
    centered: Tensor
    normalized: Tensor
    output: Tensor
    eps: float


def as_tensor(x: Any) -> Tensor:
    """x as a floating-point tensor, not copied. Raises NormvizError for other types, with the conversion to write."""
    convert = "x.astype('float32')" if isinstance(x, np.ndarray) else "x.float()"
    if isinstance(x, np.ndarray):
        plain = x.flags.writeable and min(x.strides, default=0) >= 0
        try:
            x = torch.from_numpy(x if plain else x.copy())
        except (TypeError, ValueError):
            raise NormvizError(f"an array of {x.dtype} is no tensor; convert with {convert}.") from None
    if not isinstance(x, Tensor):
        raise NormvizError(f"x={echo(x)} is neither a shape (a tuple of sizes) nor a tensor or NumPy array.")
    if x.dtype not in COMPUTES_IN:
        raise NormvizError(
            f"x is {_type(x.dtype)}; normalization divides, so it needs floating-point numbers: convert with {convert}."
        )
    if x.layout != torch.strided:
        raise NormvizError("x is sparse; normalization makes it dense: convert with x.to_dense().")
    return x.detach()


TYPE_NAMES = {torch.float16: "Half", torch.bfloat16: "BFloat16", torch.float32: "Float", torch.float64: "Double"}


def check_types(layer: Layer, x: Tensor, values: Values) -> None:
    """Raise NormvizError where torch refuses to mix the types of x and of the layer's own numbers."""
    held = {name: value.dtype for name, value in vars(values).items() if value is not None and _typed(layer, name)}
    if not held:
        return
    first = next(iter(held.values()))
    other = [name for name, dtype in held.items() if dtype != (x.dtype if first == x.dtype else torch.float32)]
    if first == x.dtype and other:
        words = f"expected scalar type {TYPE_NAMES[first]} but found {TYPE_NAMES.get(held[other[0]], held[other[0]])}"
    elif first != x.dtype and other:
        words = "mixed dtype (CPU): expect parameter to have scalar type of Float"
    elif first != x.dtype and COMPUTES_IN[x.dtype] == x.dtype:
        words = "mixed dtype (CPU): all inputs must share same datatype."
    else:
        return
    name = other[0] if other else next(iter(held))
    raise NormvizError(
        f'torch refuses: "{words}". x is {_type(x.dtype)} and {name} is {_type(held[name])}; '
        f"convert all of the layer, as in layer.to(torch.{_type(x.dtype)})."
    )


def _typed(layer: Layer, name: str) -> bool:
    """Must the type of that number fit? RMSNorm converts its own, InstanceNorm its running statistics."""
    return layer.kind.center and not (layer.kind.per_instance and name.startswith("running"))


def _type(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def used_eps(norm: Norm, x: Tensor) -> float:
    """The eps of the norm; None stands for the machine epsilon of the type that computes."""
    return torch.finfo(COMPUTES_IN[x.dtype]).eps if norm.eps is None else norm.eps


@torch.no_grad()
def trace(norm: Norm, x: Tensor, values: Values) -> Trace:
    """The forward pass of ``norm`` on ``x`` with every step kept.

    Raises NormvizError above 2^26 elements, and where running statistics are asked for and there are none.
    """
    return forward(norm, x, values)


def forward(norm: Norm, x: Tensor, values: Values) -> Trace:
    """``trace`` that autograd follows, into x and into ``values``."""
    shape = tuple(x.shape)
    check_limit(shape, "a trace")
    share = _Sharer(norm, shape)
    eps, wide = used_eps(norm, x), x.to(COMPUTES_IN[x.dtype])
    if norm.running:
        if values.running_mean is None or values.running_var is None:
            raise NormvizError("running statistics come with a torch module; give the module itself, in eval mode.")
        mean, var = (
            share.lay(stat.to(wide.dtype), norm.pattern.right) for stat in (values.running_mean, values.running_var)
        )
        mean = mean if norm.center else torch.zeros_like(mean)
        centered = wide - mean
    elif norm.center:
        mean = share.mean(wide)
        centered = wide - mean
        var = share.mean(centered.square())
    else:
        mean, centered = torch.zeros_like(share.mean(wide)), wide
        var = share.mean(wide.square())
    normalized = centered / torch.sqrt(var + eps)
    output = normalized
    if values.gamma is not None:
        output = output * share.lay(values.gamma.to(wide.dtype), norm.gamma_axes)
    if values.beta is not None:
        output = output + share.lay(values.beta.to(wide.dtype), norm.gamma_axes)
    return Trace(mean, var, centered, normalized, output.to(x.dtype), eps)


def broadcast(norm: Norm, shape: tuple[int, ...], parameter: Tensor) -> Tensor:
    """gamma or beta, of the norm's parameter shape, broadcastable to x."""
    return _Sharer(norm, shape).lay(parameter, norm.gamma_axes)


@torch.no_grad()
def run_module(layer: Layer, x: Tensor, values: Values) -> Tensor:
    """What torch's own layer, holding ``values``, makes of x."""
    held = next((value.dtype for value in (values.gamma, values.running_mean) if value is not None), x.dtype)
    module = layer.module(held).to(x.device)
    numbers = {
        "weight": values.gamma,
        "bias": values.beta,
        "running_mean": values.running_mean,
        "running_var": values.running_var,
    }
    for name, value in numbers.items():
        if value is not None and getattr(module, name, None) is not None:
            getattr(module, name).copy_(value)
    with warnings.catch_warnings():  # torch warns of mixed types and of an unused num_features
        warnings.simplefilter("ignore")
        output: Tensor = module(x)
    return output


def largest_difference(one: Tensor, other: Tensor) -> float:
    """The largest absolute difference; NaN where only one of two is NaN."""
    gap = (one.double() - other.double()).abs()
    return float(torch.where((one == other) | (one.isnan() & other.isnan()), 0.0, gap).max())


class _Sharer:
    """Means over groups, and groups' numbers laid along x."""

    def __init__(self, norm: Norm, shape: tuple[int, ...]) -> None:
        self.pattern, self.sizes = norm.pattern, norm.axis_sizes(shape)
        self.stats, self.known = norm.stats, norm.split_sizes
        self.parts = dict(zip(norm.axes, norm.pattern.left, strict=True))

    def mean(self, x: Tensor) -> Tensor:
        """The mean of every group, broadcastable to x."""
        means: Tensor = reduce(x, self.stats, "mean", **self.known)
        return self.lay(means, self.pattern.right)

    def lay(self, groups: Tensor, names: tuple[str, ...]) -> Tensor:
        """One number a group, its axes ``names``, laid along x: 1 on every other axis, whole on a partly named one."""
        names = tuple(part for name in names for part in self.parts.get(name, (name,)))
        present = [name for name in self.pattern.names if name in names]
        numbers = groups.reshape([self.sizes[name] for name in names])
        numbers = numbers.permute([names.index(name) for name in present])
        numbers = numbers.reshape([self.sizes[name] if name in names else 1 for name in self.pattern.names])
        mixed = [axis for axis in self.pattern.left if set(axis) & set(names) and not set(axis) <= set(names)]
        whole = set(names).union(*mixed)
        numbers = numbers.expand([self.sizes[name] if name in whole else 1 for name in self.pattern.names])
        return numbers.reshape([prod(self.sizes[name] for name in axis if name in whole) for axis in self.pattern.left])
