"""The Norm of a module that torch.nn does not have, measured on a small copy of it."""

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from normviz.layers.norm import Norm
from normviz.measuring import probe
from normviz.measuring.check import norm_of, usual_names, with_usual_formula
from normviz.measuring.formula import Measurement, measure
from normviz.measuring.models.gates import Gate, gate_of
from normviz.measuring.models.graph import Replay
from normviz.measuring.models.kept import LIKE_X, OTHER, ModeAsArgument, WithOthers, has_values
from normviz.measuring.models.others import Other, of_module
from normviz.measuring.models.recording import Call, Shape, axis_names, may_normalize
from normviz.measuring.report import without_like
from normviz.texts.errors import NormvizError

LARGEST = 2**16  # elements of an x on which a module is measured
MOST_CHANNELS = 128
MOST_INPUTS = 512  # elements of x that are moved one by one; above, a sample of them


@dataclass(frozen=True)
class Found:
    """norm: what the module computes. departures: what it does otherwise, as sentences."""

    norm: Norm
    departures: tuple[str, ...] = ()


class Prober:
    """Measures modules; equal modules are measured once."""

    def __init__(self) -> None:
        self.known: dict[Any, Found | None] = {}
        self.others: dict[Any, Other | None] = {}

    def find(self, call: Call) -> Found | None:
        """The Norm of the called module, or None if it is no normalization."""
        if call.returned != call.shape or not (isinstance(call.module, Replay) or may_normalize(call.module)):
            return None
        key = _key(call)
        if key not in self.known:
            with torch.device("cpu"):  # also where the default device is meta
                self.known[key] = _probe(call)
        return self.known[key]

    def other(self, call: Call) -> Other | None:
        """What the module does if it is a normalization of another kind."""
        if call.returned != call.shape or not may_normalize(call.module):
            return None
        key = "other", _key(call)
        if key not in self.others:
            with torch.device("cpu"):
                found = [of_module(copied, next(_shapes(call), call.shape)) for copied in _copies(call.module)]
            self.others[key] = found[0] if found else None
        return self.others[key]


def _copies(module: nn.Module) -> Iterator[nn.Module]:
    """A copy, if there can be one: not if it holds a result of autograd, or a lock."""
    with suppress(RuntimeError, TypeError):
        yield _copy(module, {})


def _key(call: Call) -> Any:
    """Equal for modules that compute the same: the same class, attributes and shapes."""
    module = call.module
    plain = [
        (name, value)
        for name, value in vars(module).items()
        if isinstance(value, int | float | str | tuple | list | None)
    ]
    objects = [(name, id(value)) for name, value in vars(module).items() if callable(value)]
    shapes = [(name, tuple(tensor.shape)) for name, tensor in (*module.named_parameters(), *module.named_buffers())]
    shape = next(_shapes(call), call.shape)
    return type(module), str(sorted(plain, key=str)), str(objects), str(shapes), call.mode, shape, call.others


def _probe(call: Call) -> Found | None:
    """Measure a copy with few channels. Where that fails, and where a Norm has sizes, a copy with all of them."""
    large = [size for size in call.shape if size > MOST_CHANNELS and not _is_named(call.module, size)]
    for smaller in ({size: _smaller(size) for size in large}, {}):
        try:
            copied = replace(
                call, module=_copy(call.module, smaller), shape=tuple(smaller.get(size, size) for size in call.shape)
            )
        except (
            RuntimeError,
            TypeError,
        ):  # it holds a result of autograd, or an object that cannot be copied, such as a lock
            return None
        found, measured = _measured(copied, call.shape)
        if measured and not (smaller and found is not None and found.norm.sizes):
            return found
    return None


def _smaller(size: int) -> int:
    """The size divided by a power of two, so that groups of channels stay groups."""
    while size > MOST_CHANNELS and size % 2 == 0:
        size //= 2
    return size


def _measured(call: Call, shape: Shape) -> tuple[Found | None, bool]:
    """What the module computes, and whether it could be measured. ``shape``: of the x in the model."""
    measured, gate = False, _gate(call)
    for function in _functions(call, gate):
        for small in _shapes(call):
            try:
                found = measure(function, probe.generic(small, torch.float32), most_inputs=MOST_INPUTS)
            except NormvizError:
                continue
            norm, measured = _norm(found, call.module, shape), True
            if norm is None and _counts_groups(call.module) and small != call.shape:
                continue  # its groups may be of another axis in this shape
            if norm is not None and gate is not None:
                norm = replace(norm, departures=(*norm.departures, gate.text))
            if norm is not None or not isinstance(function, WithOthers):
                return norm, True
            break
    return None, measured


def _counts_groups(module: nn.Module) -> bool:
    """Whether a number is all that says how it splits an axis."""
    return not list(module.parameters()) and any(type(value) is int and value > 1 for value in vars(module).values())


def _gate(call: Call) -> Gate | None:
    if LIKE_X not in call.others or OTHER in call.others:
        return None
    for shape in _shapes(call):
        with suppress(Exception):  # of the module, on a small x
            return gate_of(call.module, call.others, shape)
    return None


def _functions(call: Call, gate: Gate | None = None) -> Iterator[Callable[[Tensor], Any]]:
    """The module as a function of its first input. What else it needs, such as a residual or a gate, is 0, then 1."""
    yield call.module if call.mode is None else ModeAsArgument(call.module, call.mode)
    if LIKE_X in call.others and OTHER not in call.others:
        yield WithOthers(call.module, call.others, 0.0)
        yield WithOthers(call.module, call.others, 1.0, *((1.0, 1.0) if gate is None else (gate.before, gate.after)))


def _norm(found: Measurement, module: nn.Module, shape: Shape) -> Found | None:
    names = axis_names(shape)
    stored = [*module.buffers(), *(one for one in module.parameters() if not one.requires_grad)]
    if found.formula is None or (found.running and not stored):
        return None
    exact = norm_of(found, names)
    norm = exact or norm_of(with_usual_formula(found), names)
    if exact is None and norm is not None and found.eps is not None and found.eps.place:
        norm = replace(norm, eps=max(0.0, found.eps.value))
    if norm is None or not (norm.pattern.reduced or norm.running):
        return None
    if len(shape) != 4:
        names, norm = usual_names(found, norm, names)
    departures = tuple(one.sentence for one in without_like(found, exact))
    return Found(norm, departures)


def _copy(module: nn.Module, smaller: Mapping[int, int]) -> nn.Module:
    """A copy on the CPU. Its tensors have other values if the module is on the meta device, or if sizes are replaced."""
    twin = copy.deepcopy(module)
    twin._forward_hooks.clear()  # hooks of other code must not see the probes
    twin._forward_pre_hooks.clear()
    if not smaller and all(map(has_values, _tensors(module))):
        return twin.float().cpu()
    for part in twin.modules():
        if isinstance(part, Replay):
            part.sizes = dict(smaller)
        for name, parameter in part._parameters.items():
            if parameter is not None:
                part._parameters[name] = nn.Parameter(_ones(parameter, smaller, torch.float32))
        for name, buffer in part._buffers.items():
            if buffer is not None:
                part._buffers[name] = _ones(
                    buffer, smaller, torch.float32 if buffer.is_floating_point() else buffer.dtype
                )
        for name, value in vars(part).items():
            if isinstance(value, Tensor):
                vars(part)[name] = _ones(value, smaller, value.dtype)
            elif isinstance(value, tuple):
                vars(part)[name] = tuple(smaller.get(each, each) if type(each) is int else each for each in value)
            elif type(value) is int:
                vars(part)[name] = smaller.get(value, value)
    return twin


def lacks_a_number(module: nn.Module) -> bool:
    """Whether it holds a number, such as eps, as a tensor of the meta device, which has no value."""
    attributes = [value for part in module.modules() for value in vars(part).values() if isinstance(value, Tensor)]
    tensors = (*module.buffers(), *attributes)
    return any(one.is_meta and one.numel() == 1 and one.is_floating_point() for one in tensors)


def _ones(tensor: Tensor, smaller: Mapping[int, int], dtype: torch.dtype) -> Tensor:
    return torch.ones([smaller.get(size, size) for size in tensor.shape], dtype=dtype)


def _shapes(call: Call) -> Iterator[Shape]:
    """Small shapes that the module may take: axes of the sizes of its parameters keep their size. Then the shape itself."""
    sizes = [size for tensor in _tensors(call.module) for size in tensor.shape]
    attributes = [value for value in vars(call.module).values() if type(value) is int]
    fixed = {size for size in (*sizes, *attributes) if size > 1}
    rank = len(call.shape)
    named = {i for i, size in enumerate(call.shape) if size in fixed or _is_named(call.module, size)}
    # The size of an axis may be in fixed by chance.
    kept = [named, named | {rank - 1}, named | {1}, set(range(rank)), {rank - 1}, {1}]
    if isinstance(call.module, Replay) and call.module.takes_parts:
        kept = [named]
    for shape in dict.fromkeys(_with_axes_kept(call.shape, axes) for axes in kept):
        if math.prod(shape) <= LARGEST:
            yield shape


def _is_named(module: nn.Module, size: int) -> bool:
    """Whether a formula has this size as a number."""
    return isinstance(module, Replay) and module.depends_on(size)


def _with_axes_kept(shape: Shape, axes: set[int]) -> Shape:
    """Small and different sizes on the other axes."""
    return tuple(size if i in axes else min(size, 2 + i) if size > 1 else 2 for i, size in enumerate(shape))


def _tensors(module: nn.Module) -> Iterator[Tensor]:
    yield from module.parameters()
    yield from module.buffers()
