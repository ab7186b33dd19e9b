"""torch's own modules: which one a layer is, its buffers, and its error messages."""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch import Tensor, nn

from normviz.analysis.checks import MOST_ELEMENTS, read_tensor
from normviz.layers.errors import NormvizError, echo
from normviz.layers.layer import Layer


@torch.no_grad()
def torch_words(layer: str | Layer, x: Any) -> str:
    """What torch itself says where it refuses x, caught as it speaks; "" where it runs. The layer's own mode counts.

    >>> torch_words("InstanceNorm1d(2)", torch.zeros(3, 2, 1))
    'Expected more than 1 spatial element when training, got input size torch.Size([3, 2, 1])'
    """
    found, x = torch_layer_of(layer), read_tensor(x, "torch_words")
    try:
        return attempt(found.module(x.dtype), x)[1]
    except ValueError as refused:  # GroupNorm refuses when it is made
        return str(refused)


def torch_layer_of(layer: str | Layer) -> Layer:
    """The Layer that is meant. Raises NormvizError where torch has no module for it."""
    found = Layer.parse(layer) if isinstance(layer, str) else layer
    if not isinstance(found, Layer):
        raise NormvizError(
            f"{echo(found)} has no train and eval mode; give a layer of torch.nn, such as BatchNorm2d(3)."
        )
    if found.kind.module is None:
        raise NormvizError(f"torch.nn has no {found.name}; give a layer of torch.nn, such as BatchNorm2d(3).")
    sizes = [found.given[argument.name] for argument in found.kind.arguments if argument.takes in ("size", "shape")]
    if any((prod(size) if isinstance(size, tuple) else size) > MOST_ELEMENTS for size in sizes):
        raise NormvizError(f"{echo(str(found))} is too large to run; give sizes of at most {MOST_ELEMENTS:,} in all.")
    return found


def attempt(module: nn.Module, x: Tensor) -> tuple[Tensor | None, str]:
    """The module's output, or None and torch's words; the module stays as it is (a refused BatchNorm counts its batch)."""
    try:
        with warnings.catch_warnings():  # torch warns of an unused num_features
            warnings.simplefilter("ignore")
            return deepcopy(module)(x), ""
    except (ValueError, RuntimeError) as refused:
        return None, str(refused)


@dataclass(frozen=True)
class Buffer:
    """One thing that a layer keeps beside its parameters: its name in torch, and its shape."""

    name: str
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        return prod(self.shape)


def buffers(layer: str | Layer) -> tuple[Buffer, ...]:
    """What torch's module keeps from batch to batch; nothing for LayerNorm, RMSNorm and GroupNorm.

    Raises NormvizError where torch has no such layer, and above 2^20 channels.

    >>> [(buffer.name, buffer.shape) for buffer in buffers("BatchNorm2d(3)")]
    [('running_mean', (3,)), ('running_var', (3,)), ('num_batches_tracked', ())]
    >>> buffers("LayerNorm([3, 4, 4])")
    ()
    """
    found = torch_layer_of(layer)
    if not found.tracks:
        return ()
    return tuple(Buffer(name, tuple(value.shape)) for name, value in found.module().named_buffers())
