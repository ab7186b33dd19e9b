"""The Norm of a module that torch.nn does not have, measured on a small copy of it."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from normviz.layers.axes import parse_layout
from normviz.layers.errors import NormvizError
from normviz.layers.norm import Norm
from normviz.measuring.check import LAYOUTS
from normviz.measuring.found_norm import norm_of, with_usual_formula
from normviz.measuring.inputs import probes
from normviz.measuring.measurement import Measurement, measure
from normviz.measuring.models.recording import Call, Shape

LARGEST = 2**16  # elements of an x on which a module is measured


@dataclass(frozen=True)
class Found:
    """norm: what the module computes. plus_one: whether it multiplies by 1 + gamma. notes: what a Norm does not say."""

    norm: Norm
    plus_one: bool = False


class Prober:
    """Measures modules; the answer for a module is that for equal ones."""

    def __init__(self) -> None:
        self.known: dict[Any, Found | None] = {}

    def find(self, call: Call) -> Found | None:
        """The Norm of the called module, or None if it is no normalization."""
        if call.returned != call.shape or not _may_normalize(call.module):
            return None
        key = _key(call)
        if key not in self.known:
            self.known[key] = _probe(call)
        return self.known[key]


def _may_normalize(module: nn.Module) -> bool:
    """Not torch's own modules, and not those that contain others: their parts are looked at."""
    return not type(module).__module__.startswith("torch.nn.modules") and not list(module.children())


def _key(call: Call) -> Any:
    """Equal for modules that compute the same: the same class, attributes and shapes."""
    module = call.module
    plain = [
        (name, value) for name, value in vars(module).items() if isinstance(value, int | float | str | tuple | None)
    ]
    shapes = [(name, tuple(tensor.shape)) for name, tensor in (*module.named_parameters(), *module.named_buffers())]
    return type(module), str(sorted(plain, key=str)), str(shapes), call.shape, module.training


def _probe(call: Call) -> Found | None:
    try:
        module = _small_copy(call.module)
    except (RuntimeError, TypeError, NotImplementedError):
        return None
    for shape in _shapes(call):
        try:
            found = measure(module, probes.generic(shape, torch.float32))
        except NormvizError:
            continue
        return _norm(found, module, len(shape))
    return None


def _norm(found: Measurement, module: nn.Module, rank: int) -> Found | None:
    names = parse_layout(LAYOUTS.get(rank, "N" + "".join(f"D{i}" for i in range(1, rank))), rank)
    if found.formula is None or (found.running and not list(module.buffers())):
        return None
    norm = norm_of(found, names) or norm_of(with_usual_formula(found), names)
    if norm is None or not (norm.pattern.reduced or norm.running):
        return None
    return Found(norm, found.gamma is not None and found.gamma.plus_one)


def _small_copy(module: nn.Module) -> nn.Module:
    """A copy on the CPU with values: the module itself may be on the meta device."""
    meta = any(tensor.is_meta for tensor in (*module.parameters(), *module.buffers()))
    if not meta:
        return copy.deepcopy(module).float().cpu()
    twin = copy.deepcopy(module).to_empty(device="cpu").float()
    with torch.no_grad():
        for tensor in (*twin.parameters(), *twin.buffers()):
            tensor.fill_(1)
    return twin


def _shapes(call: Call) -> Iterator[Shape]:
    """Small shapes that the module may take: axes of the sizes of its parameters keep their size. Then the shape itself."""
    fixed = {size for tensor in _tensors(call.module) for size in tensor.shape} | {
        value for value in vars(call.module).values() if isinstance(value, int)
    }
    small = tuple(size if size in fixed else min(size, 2 + i) if size > 1 else 2 for i, size in enumerate(call.shape))
    last = tuple(
        size if i == len(call.shape) - 1 else other
        for i, (size, other) in enumerate(zip(call.shape, small, strict=True))
    )
    second = tuple(size if i == 1 else other for i, (size, other) in enumerate(zip(call.shape, small, strict=True)))
    for shape in dict.fromkeys((small, last, second, call.shape)):
        if math.prod(shape) <= LARGEST:
            yield shape


def _tensors(module: nn.Module) -> Iterator[Tensor]:
    yield from module.parameters()
    yield from module.buffers()
