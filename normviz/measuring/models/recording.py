"""One forward pass of a model: which modules and functions were called, with which shapes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from normviz.layers.arguments import kind_of_module
from normviz.layers.errors import NormvizError
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.measuring.inputs.module_state import State
from normviz.measuring.models.functional import read_call

Shape = tuple[int, ...]


@dataclass
class Call:
    """A module or a normalization function that ran, and how often. ``function`` is a name such as ``F.layer_norm``."""

    name: str
    module: nn.Module
    shape: Shape
    dtype: torch.dtype
    returned: Shape | None = None
    function: str = ""
    layer: Layer | Norm | None = None
    count: int = 1


@dataclass
class Failure:
    """The module in which the forward pass failed, the shapes of its inputs, and the error."""

    name: str
    module: nn.Module
    shapes: list[Shape]
    error: Exception


@dataclass
class Recording:
    """The calls of a forward pass in the order in which they began."""

    calls: dict[tuple[str, str, str, Shape], Call] = field(default_factory=dict)
    failure: Failure | None = None


class Recorder(TorchFunctionMode):
    """Records a forward pass while it is active."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.recording = Recording()
        self.names: dict[int, str] = {}
        for name, module in model.named_modules():
            self.names.setdefault(id(module), name)
        self.running: list[tuple[nn.Module, list[Shape]]] = []
        self.open: list[Call | None] = []

    def before(self, module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
        self.running.append((module, [tuple(tensor.shape) for tensor in tensors]))
        call = None
        if tensors and tensors[0].is_floating_point():
            call = self._add(Call(self.names[id(module)], module, tuple(tensors[0].shape), tensors[0].dtype))
        self.open.append(call)

    def after(self, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        self.running.pop()
        call = self.open.pop()
        if call is not None and isinstance(output, Tensor):
            call.returned = tuple(output.shape)

    def _add(self, call: Call) -> Call:
        """Record the call; the same layer with another shape counts as the first one."""
        key = (call.name, call.function, str(call.layer or ""), call.shape if call.function else ())
        known = self.recording.calls.get(key)
        if known is None:
            self.recording.calls[key] = call
            return call
        known.count += 1
        return known

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        output = func(*args, **kwargs)
        found = read_call(func, args, kwargs)
        if found is not None and self.running:
            function, layer, x = found
            module = self.running[-1][0]
            self._add(Call(self.names[id(module)], module, tuple(x.shape), x.dtype, tuple(x.shape), function, layer))
        return output


def layer_of(module: nn.Module) -> Layer | None:
    """The layer of a module of torch.nn; None for another one, also for one with a forward of its own."""
    try:
        kind_of_module(module)
        layer = Layer.of(module)
    except NormvizError:
        return None
    return layer if layer.tracks else layer.with_(training=True)  # the mode of others changes nothing


def record(model: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Recording:
    """Run the model once. Its state, its mode and the random states are as before afterwards."""
    recorder = Recorder(model)
    with _unchanged(model), ExitStack() as stack, torch.no_grad():
        for module in _with_hooks(model):
            for handle in (
                module.register_forward_pre_hook(recorder.before, with_kwargs=True),
                module.register_forward_hook(recorder.after),
            ):
                stack.callback(handle.remove)
        try:
            with recorder:
                model(*args, **kwargs)
        except Exception as error:
            module, shapes = recorder.running[-1] if recorder.running else (model, [])
            recorder.recording.failure = Failure(recorder.names[id(module)], module, shapes, error)
    return recorder.recording


def _with_hooks(model: nn.Module) -> list[nn.Module]:
    """Every module once; scripted ones have no hooks with arguments by name."""
    return [module for module in model.modules() if not isinstance(module, torch.jit.ScriptModule)]


@contextmanager
def _unchanged(model: nn.Module) -> Iterator[None]:
    """Afterwards, the modules of the model, its buffers and the random states are as before."""
    states = [State(module) for module in model.modules()]
    buffers = [(buffer, buffer.data) for buffer in model.buffers()]
    for buffer, own in buffers:
        buffer.data = own.clone()
    random_states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    try:
        yield
    finally:
        for state in states:
            state.restore()
        for buffer, own in buffers:
            buffer.data = own
        torch.set_rng_state(random_states[0])
        np.random.set_state(random_states[1])
        random.setstate(random_states[2])
