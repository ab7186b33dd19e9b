"""Normalizations of another kind, which no Norm describes: what they do, as a sentence.

Those of torch are known. A module of your own is one of them if its outputs are those of the formula, whatever the name of its class is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrizations
from torch.nn.utils.spectral_norm import SpectralNorm
from torch.nn.utils.weight_norm import WeightNorm

from normviz.measuring import probe
from normviz.texts.messages import _

CLOSE = 2e-3  # of outputs in float32, relative to the largest


@dataclass(frozen=True)
class Other:
    """does: what a normalization of another kind does, as a sentence."""

    does: str


def of_neighbors(given: Mapping[str, Any]) -> Other:
    """A call of F.local_response_norm."""
    return Other(
        _(
            "It divides each element by ({k} + {alpha} times the mean of the squares in a window of {size} along axis 1) to the power of {beta} (local response normalization).",
            **{name: given[name] for name in ("k", "alpha", "size", "beta")},
        )
    )


@dataclass(frozen=True)
class OfWeight:
    """A weight that is divided by a norm before the module uses it. parameters, buffers: the numbers of their elements"""

    name: str
    kind: str
    shape: tuple[int, ...]
    does: str
    parameters: int
    buffers: int


def of_weights(module: nn.Module) -> Iterator[OfWeight]:
    """The weights of a module that torch's weight_norm and spectral_norm divide, in their new and their old form."""
    parts: Any = getattr(module, "parametrizations", {})
    for name, several in parts.items():
        for part in several:
            if isinstance(part, parametrizations._WeightNorm):
                yield _with_length(name, several.original1, several.original0, part.dim)
            elif isinstance(part, parametrizations._SpectralNorm):
                yield _by_largest(name, several.original, sum(one.numel() for one in part.buffers()))
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, WeightNorm):
            v, g = (getattr(module, f"{hook.name}_{end}") for end in "vg")
            yield _with_length(hook.name, v, g, hook.dim)
        elif isinstance(hook, SpectralNorm):
            buffers = [getattr(module, f"{hook.name}_{end}", None) for end in "uv"]
            count = sum(one.numel() for one in buffers if one is not None)
            yield _by_largest(hook.name, getattr(module, f"{hook.name}_orig"), count)


def _with_length(name: str, direction: Tensor, length: Tensor, dim: int | None) -> OfWeight:
    over = tuple(axis for axis in range(direction.dim()) if dim is None or axis != dim % direction.dim())
    does = _(
        "It divides {name} by the root of the sum of its squares over the axes {axes}, and multiplies by a learned length.",
        name=name,
        axes=over,
    )
    return OfWeight(name, "weight_norm", tuple(direction.shape), does, length.numel(), 0)


def _by_largest(name: str, original: Tensor, buffers: int) -> OfWeight:
    does = _("It divides {name} by an estimate of its largest singular value.", name=name)
    return OfWeight(name, "spectral_norm", tuple(original.shape), does, 0, buffers)


# Modules of your own


def of_module(module: nn.Module, shape: tuple[int, ...]) -> Other | None:
    """What a module does to an x of this shape, if it is one of the formulas below with its parameters. ``module``: a copy of it."""
    if len(shape) < 2 or not any(parameter.numel() > 1 for parameter in module.parameters()):
        return None
    with suppress(Exception), torch.no_grad():  # of the module
        for number, parameter in enumerate(module.parameters()):
            parameter.data = probe.generic(tuple(parameter.shape), torch.float32, 30 + number).abs() + 0.2
        x = probe.generic(shape, torch.float32, 40)
        if _is_bounded(module, x):
            return Other(_("It bounds each element alone by tanh, without a mean or a variance (DyT)."))
        for axis in (len(shape) - 1, 1):
            if len(shape) > 2 and _responds(module, x, axis):
                return Other(
                    _(
                        "It multiplies x by the root of the sum of the squares of its channel, divided by the mean of these roots over axis {axis}, and adds x (GRN).",
                        axis=axis,
                    )
                )
    return None


def _is_bounded(module: Callable[[Tensor], Tensor], x: Tensor) -> bool:
    """Whether y = gamma * tanh(alpha * x) + beta."""
    high, low = module(torch.full_like(x, 1e4)), module(torch.full_like(x, -1e4))
    if not are_close(module(torch.full_like(x, 1e5)), high):
        return False
    gamma, beta = (high - low) / 2, (high + low) / 2
    x = x.clamp(-1, 1) + 0.05
    slope = torch.atanh((module(x) - beta) / gamma) / x
    return bool(torch.isfinite(slope).all()) and are_close(slope, slope.mean()) and float(slope.mean()) != 0


def _responds(module: Callable[[Tensor], Tensor], x: Tensor, axis: int) -> bool:
    """Whether y = x + gamma * x * n / mean(n) + beta, with the norm n of each channel."""
    over = tuple(one for one in range(1, x.dim()) if one != axis)
    length = torch.linalg.vector_norm(x, dim=over, keepdim=True)
    z = x * length / length.mean(axis, keepdim=True)
    by_channel = [one.movedim(axis, 0).flatten(1).double() for one in (z, x, module(x))]
    columns = torch.stack([*by_channel[:2], torch.ones_like(by_channel[0])], -1)
    found = torch.linalg.lstsq(columns, by_channel[2][..., None]).solution
    gamma, share = found[:, 0, 0], found[:, 1, 0]
    fits = are_close((columns @ found)[..., 0], by_channel[2])
    return fits and float(gamma.abs().min()) > 0.1 and are_close(share, torch.ones_like(share))


def are_close(one: Tensor, other: Tensor) -> bool:
    """Whether two outputs are the same apart from rounding."""
    return float((one - other).abs().max()) <= CLOSE * float(other.abs().max())
