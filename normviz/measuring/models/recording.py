"""The names of the axes of an x in a model, of which only the shape is known."""

from __future__ import annotations

import inspect
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from normviz.layers.arguments import kind_of_module
from normviz.layers.axes import parse_layout
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.measuring.check import LAYOUTS
from normviz.measuring.probe import State
from normviz.texts.errors import NormvizError


def axis_names(shape: tuple[int, ...]) -> tuple[str, ...]:
    """(8, 56, 56, 96) is probably an image with the channels last.

    >>> axis_names((8, 56, 56, 96)), axis_names((8, 96, 56, 56)), axis_names((8, 3))
    (('n', 'h', 'w', 'c'), ('n', 'c', 'h', 'w'), ('n', 'd'))
    """
    rank = len(shape)
    channels_last = rank == 4 and shape[1] == shape[2] != shape[3]
    return parse_layout(
        "NHWC" if channels_last else LAYOUTS.get(rank, "N" + "".join(f"D{i}" for i in range(1, rank))), rank
    )


# Calls of ``F.layer_norm`` and the like, as layers.


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


# One forward pass of a model: which modules and functions were called, with which shapes.


Shape = tuple[int, ...]
LIKE_X, OTHER = object(), object()


@dataclass
class Call:
    """A module or a normalization function that ran, and how often.

    function      a name such as ``F.layer_norm``, or empty
    layer         of a function
    torch_layer   of a module of torch.nn, in its mode during the call
    parameters    of a function: the number of elements of its gamma and beta
    buffers       of a function: the number of elements of its stored statistics
    of_parameter  whether the function normalizes a parameter, as in weight standardization
    others        of a module: its further arguments by position: LIKE_X for a tensor of the shape of its first input, OTHER for what is neither a number nor a text
    """

    name: str
    module: nn.Module
    shape: Shape
    dtype: torch.dtype
    returned: Shape | None = None
    function: str = ""
    layer: Layer | Norm | None = None
    torch_layer: Layer | None = None
    count: int = 1
    parameters: int = 0
    buffers: int = 0
    of_parameter: bool = False
    others: tuple[Any, ...] = ()


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
        self.failure: Failure | None = None
        self.outer = sys.exc_info()[1]  # an error that is handled while the model is called

    def before(self, module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
        self.running.append((module, [tuple(tensor.shape) for tensor in tensors]))
        call = None
        if tensors and tensors[0].is_floating_point():
            shape, dtype = tuple(tensors[0].shape), tensors[0].dtype
            others = tuple(_kept(value, shape) for value in args[1:])
            call = self._add(
                Call(self.names[id(module)], module, shape, dtype, torch_layer=layer_of(module), others=others)
            )
        self.open.append(call)

    def after(self, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        """Also called if the module raises; of the modules that an error passes through, the innermost has failed."""
        shapes, call = self.running.pop()[1], self.open.pop()
        error = sys.exc_info()[1]
        if isinstance(error, Exception) and error is not self.outer:
            if self.failure is None or self.failure.error is not error:
                self.failure = Failure(self.names[id(module)], module, shapes, error)
            return
        first = output[0] if isinstance(output, tuple | list) and output else output
        if call is not None and isinstance(first, Tensor):
            call.returned = tuple(first.shape)

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
            module, shape = self.running[-1][0], tuple(found.x.shape)
            self._add(
                Call(
                    self.names[id(module)], module, shape, found.x.dtype, shape, found.name, found.layer,
                    parameters=found.parameters, buffers=found.buffers, of_parameter=_is_parameter(found.x),
                )
            )  # fmt: skip
        return output


def _kept(value: Any, shape: Shape) -> Any:
    """An argument, without its tensors."""
    if isinstance(value, Tensor):
        return LIKE_X if tuple(value.shape) == shape and value.is_floating_point() else OTHER
    return value if isinstance(value, int | float | str | None) else OTHER


def _is_parameter(x: Tensor) -> bool:
    return isinstance(x, nn.Parameter) or isinstance(x._base, nn.Parameter)


def layer_of(module: nn.Module) -> Layer | None:
    """The layer of a module of torch.nn; None for another one, also for one with a forward of its own."""
    try:
        kind_of_module(module)
        layer = Layer.of(module)
    except NormvizError:
        return None
    return layer if layer.tracks else layer.with_(training=True)  # other layers compute the same in both modes


def record(model: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Recording:
    """Run the model once. Its state, its mode and the random states are as before afterwards."""
    recorder = Recorder(model)
    args, kwargs = _copied(args), _copied(dict(kwargs))
    with _unchanged(model), ExitStack() as stack, torch.no_grad():
        for module in _with_hooks(model):
            for handle in (
                module.register_forward_pre_hook(recorder.before, with_kwargs=True),
                module.register_forward_hook(recorder.after, always_call=True),
            ):
                stack.callback(handle.remove)
        try:
            with recorder:
                model(*args, **kwargs)
        except Exception as error:
            seen = recorder.failure
            known = seen is not None and seen.error is error
            recorder.recording.failure = seen if known else Failure("", model, [], error)
    return recorder.recording


def _with_hooks(model: nn.Module) -> list[nn.Module]:
    """Every module once; scripted ones have no hooks with arguments by name."""
    return [module for module in model.modules() if not isinstance(module, torch.jit.ScriptModule)]


def _copied(value: Any) -> Any:
    """The inputs with tensors of their own: a model may write into them."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if type(value) in (tuple, list):
        return type(value)(map(_copied, value))
    return {name: _copied(each) for name, each in value.items()} if type(value) is dict else value


@contextmanager
def _unchanged(model: nn.Module) -> Iterator[None]:
    """Afterwards, the modules of the model, its buffers and the random states are as before."""
    states = [State(module) for module in _with_hooks(model)]
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
