"""Calls of ``F.layer_norm`` and the like, as layers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from normviz.layers.errors import NormvizError
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.measuring.models.axis_names import axis_names

Arguments = Mapping[str, Any]


def _layer_norm(given: Arguments) -> Layer:
    return Layer.make(
        "LayerNorm", list(given["normalized_shape"]), eps=given["eps"],
        elementwise_affine=given["weight"] is not None, bias=given["bias"] is not None or given["weight"] is None,
    )  # fmt: skip


def _rms_norm(given: Arguments) -> Layer:
    return Layer.make(
        "RMSNorm", list(given["normalized_shape"]), eps=given["eps"], elementwise_affine=given["weight"] is not None
    )


def _group_norm(given: Arguments) -> Layer:
    channels = given["input"].shape[1]
    return Layer.make("GroupNorm", given["num_groups"], channels, eps=given["eps"], affine=given["weight"] is not None)


def _batch_norm(given: Arguments) -> Layer:
    x, training = given["input"], bool(given["training"])
    tracks = given["running_mean"] is not None
    return Layer.make(
        f"BatchNorm{max(1, x.dim() - 2)}d", x.shape[1], eps=given["eps"], momentum=given["momentum"],
        affine=given["weight"] is not None, track_running_stats=tracks, training=training or not tracks,
    )  # fmt: skip


def _instance_norm(given: Arguments) -> Layer:
    x, own = given["input"], bool(given["use_input_stats"])
    return Layer.make(
        f"InstanceNorm{max(1, x.dim() - 2)}d", x.shape[1], eps=given["eps"], momentum=given["momentum"],
        affine=given["weight"] is not None, track_running_stats=given["running_mean"] is not None, training=own,
    )  # fmt: skip


def _normalize(given: Arguments) -> Norm:
    """x / max(root of the sum of squares, eps): the groups are those of an RMSNorm over one axis."""
    if given["p"] != 2:
        raise NormvizError("F.normalize with p={p} is no RMSNorm; use p=2.", p=given["p"])
    shape = tuple(given["input"].shape)
    names = axis_names(shape)
    kept = [name for i, name in enumerate(names) if i != given["dim"] % len(shape)]
    return Norm(f"{' '.join(names)} -> {' '.join(kept)}", center=False, eps=0.0)


READERS: dict[Callable[..., Any], Callable[[Arguments], Layer | Norm]] = {
    F.layer_norm: _layer_norm,
    F.rms_norm: _rms_norm,
    F.group_norm: _group_norm,
    F.batch_norm: _batch_norm,
    F.instance_norm: _instance_norm,
    F.normalize: _normalize,
}
TORCH = {"layer_norm": F.layer_norm, "rms_norm": F.rms_norm, "group_norm": F.group_norm}
ALIASES = {getattr(torch, name): function for name, function in TORCH.items()}  # torch.layer_norm is another function


@dataclass(frozen=True)
class FunctionCall:
    """A call of a normalization function. ``parameters`` and ``buffers`` are numbers of elements."""

    name: str
    layer: Layer | Norm
    x: Tensor
    parameters: int
    buffers: int


def read_call(function: Any, args: tuple[Any, ...], kwargs: Arguments) -> FunctionCall | None:
    """The call of a normalization function; None for another function, and for an update of a buffer, as in spectral_norm."""
    known = ALIASES.get(function, function)
    if known not in READERS:
        return None
    bound = inspect.signature(known).bind_partial(*args[: len(inspect.signature(known).parameters)], **kwargs)
    bound.apply_defaults()
    try:
        layer = READERS[known](bound.arguments)
    except (NormvizError, KeyError):
        return None
    given = bound.arguments
    if given.get("out") is not None:
        return None
    parameters, buffers = _elements(given, "weight", "bias"), _elements(given, "running_mean", "running_var")
    return FunctionCall(f"F.{known.__name__}", layer, given["input"], parameters, buffers)


def _elements(given: Arguments, *names: str) -> int:
    return sum(given[name].numel() for name in names if given.get(name) is not None)
