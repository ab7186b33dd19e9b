"""One forward pass of a model: which modules and normalization functions ran, and with which shapes.

``record`` runs the model with hooks on its modules. Calls of ``F.layer_norm`` and the like are seen by a TorchFunctionMode.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from normviz.layers.arguments import kind_of_module
from normviz.layers.axes import parse_layout
from normviz.layers.catalogue import KINDS
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.measuring.check import usual_axes
from normviz.measuring.models.graph import ACTIVATIONS, PRODUCTS, SUMS, Graph, Node, Replay, chain
from normviz.measuring.models.kept import (
    LIKE_X,
    OTHER,
    ByTensor,
    Called,
    Kept,
    ModeAsArgument,
    Trail,
    WithOthers,
    copy_of,
    has_values,
    part_of,
    trail_of,
)
from normviz.measuring.models.layout import Shape
from normviz.measuring.models.others import Other, of_neighbors
from normviz.measuring.probe import ENDS, State, same_random_states, same_settings
from normviz.texts.errors import NormvizError


def axis_names(shape: tuple[int, ...]) -> tuple[str, ...]:
    """The names of the axes of an x with this shape: (8, 56, 56, 96) is probably an image with the channels last.

    >>> axis_names((8, 56, 56, 96)), axis_names((8, 96, 56, 56)), axis_names((8, 3))
    (('n', 'h', 'w', 'c'), ('n', 'c', 'h', 'w'), ('n', 'd'))
    """
    channels_last = len(shape) == 4 and shape[1] == shape[2] != shape[3]
    return parse_layout("NHWC", 4) if channels_last else usual_axes(len(shape))


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
    """x / max(root of the sum of squares, eps): it has the groups of an RMSNorm over one axis."""
    if given["p"] != 2:
        raise NormvizError(f"F.normalize with p={given['p']} is no RMSNorm; use p=2.")
    shape = tuple(given["input"].shape)
    names = axis_names(shape)
    kept = [name for i, name in enumerate(names) if i != given["dim"] % len(shape)]
    return Norm(f"{' '.join(names)} -> {' '.join(kept)}", center=False, eps=0.0)


READERS: dict[Callable[..., Any], Callable[[Arguments], Layer | Norm | Other]] = {
    F.layer_norm: _layer_norm,
    F.group_norm: _group_norm,
    F.batch_norm: _batch_norm,
    F.instance_norm: _instance_norm,
    F.normalize: _normalize,
    F.local_response_norm: of_neighbors,
}
if "RMSNorm" in KINDS:
    READERS[F.rms_norm] = _rms_norm


def _native_group_norm(given: Arguments) -> Layer:
    return _group_norm({**given, "num_groups": given["group"]})


BELOW: dict[str, Callable[[Arguments], Layer | Norm]] = {  # the functions that F.layer_norm and the like call, by their names
    "layer_norm": _layer_norm, "native_layer_norm": _layer_norm, "group_norm": _group_norm,
    "native_group_norm": _native_group_norm, "rms_norm": _rms_norm, "_fused_rms_norm": _rms_norm,
    "batch_norm": _batch_norm, "native_batch_norm": _batch_norm, "_native_batch_norm_legit": _batch_norm,
    "instance_norm": _instance_norm,
}  # fmt: skip


def _operators() -> Iterator[tuple[Any, tuple[str, Any]]]:
    """Each of them as torch.layer_norm, as torch.ops.aten.layer_norm and as one of its overloads; with its name and its schema."""
    for name in BELOW:
        packet = getattr(torch.ops.aten, name, None)
        for overload in () if packet is None else packet.overloads():
            operator = getattr(packet, overload)
            yield operator, (name, operator._schema)
        if packet is not None and "default" in packet.overloads():
            yield packet, (name, packet.default._schema)
            if hasattr(torch, name):
                yield getattr(torch, name), (name, packet.default._schema)


OPERATORS = dict(_operators())


def read_call(function: Any, args: tuple[Any, ...], kwargs: Arguments) -> tuple[Layer | Norm | Other, Arguments] | None:
    """The layer of a call of a normalization function, and the arguments by name; None for another function.

    Also None for an update of a buffer, as in spectral_norm.
    """
    try:
        if function in READERS:
            signature = inspect.signature(function)
            bound = signature.bind_partial(*args[: len(signature.parameters)], **kwargs)
            bound.apply_defaults()
            given = bound.arguments
            return None if given.get("out") is not None else (READERS[function](given), given)
        if function in OPERATORS:
            name, schema = OPERATORS[function]
            names = [one.name for one in schema.arguments]
            defaults = {one.name: one.default_value for one in schema.arguments if one.has_default_value()}
            given = {**dict.fromkeys(("weight", "bias", "running_mean", "running_var")), **defaults}
            given |= {**dict(zip(names, args, strict=False)), **kwargs}
            layer = BELOW[name](given)
            return layer, {name: given[name] for name in names}
    except (NormvizError, KeyError, TypeError):
        pass
    return None


def name_of_call(function: Any) -> str:
    """How the function is written."""
    if function in READERS:
        return f"F.{function.__name__}"
    name, _schema = OPERATORS[function]
    of_torch = f"F.{name}" if hasattr(F, name) else f"torch.{name}"
    return of_torch if function is getattr(torch, name, None) else f"torch.ops.aten.{name}"


def first_of(output: Any) -> Any:
    """The output, or the first of several."""
    return output[0] if isinstance(output, tuple | list) and output else output


def elements_of(tensors: Iterable[Tensor | None]) -> int:
    return sum(tensor.numel() for tensor in tensors if tensor is not None)


# The recorded calls.

FORMULA = "formula"


@dataclass
class Call:
    """A module or a normalization function that ran, and how often on inputs of this shape.

    returned      the shape of its output
    function      a name such as ``F.layer_norm``; empty for a module
    layer         of a function, or of a module of torch.nn in its mode during the call
    parameters    of a function, the number of elements of its gamma and beta
    buffers       of a function, the number of elements of its stored statistics
    of_parameter  the name of the parameter of the model that is its input, as in weight standardization; or empty
    others        the further arguments of a module by position: LIKE_X for a tensor with the shape of its first input, OTHER for anything
                  else that is neither a number nor a text
    x             a part of its input; None on the meta device
    trail         where the input comes from
    called        a function with its tensors, as a module
    learned       the gamma and beta of a function that are parameters of the model, by name
    node          its output in the graph of operations; of a formula, what it divides by a root
    place         in the order of execution
    nth           of a function, its place among those that the same call of the module calls
    gamma         of a function, what tells its gamma from another one; without gamma, ``nth``
    running       for a formula, the modules that ran
    mode          the mode of a module that has it as an argument; else None
    parent        the call of the module that called it, if that is known
    """

    name: str
    module: nn.Module
    shape: Shape
    returned: Shape | None = None
    function: str = ""
    layer: Layer | Norm | Other | None = None
    count: int = 1
    parameters: int = 0
    buffers: int = 0
    of_parameter: str = ""
    others: tuple[Any, ...] = ()
    x: Tensor | None = field(default=None, repr=False)
    trail: Trail = field(default=Trail(()), repr=False)
    called: nn.Module | None = field(default=None, repr=False)
    learned: Mapping[str, nn.Parameter] = field(default_factory=dict, repr=False)
    node: Node | None = field(default=None, repr=False)
    place: int = 0
    nth: int = 0
    gamma: int = 0
    running: tuple[nn.Module, ...] = field(default=(), repr=False)
    mode: bool | None = None
    parent: Call | None = field(default=None, repr=False)

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of elements of its parameters, also of parametrizations, and of its buffers."""
        if self.function:
            return self.parameters, self.buffers
        if not self.module._modules:
            return elements_of(self.module._parameters.values()), elements_of(self.module._buffers.values())
        return elements_of(self.module.parameters()), elements_of(self.module.buffers())

    @property
    def kept(self) -> Kept | None:
        """What runs it again; None on the meta device, and for what cannot be copied."""
        module = self.called or copy_of(self.module)
        if self.x is None or module is None:
            return None
        module = module if self.mode is None else ModeAsArgument(module, self.mode)
        others = self.others if LIKE_X in self.others else ()
        of_torch = self.layer is not None and not others
        make = partial(Kept, module, self.x, self.shape, self.trail, others, self.called is not None, of_torch)
        if self.node is None:
            return make()
        after, returned = [self.node, *chain(self.node)], None if self.parent is None else self.parent.node
        users, has_gamma = after[-1].users, any(parent.is_fixed for node in after[1:] for parent in node.parents)
        names = tuple(one.name.lower() for one in users)
        activation = "".join(
            name for one, name in zip(users, names, strict=True) if one is returned and name in ACTIVATIONS
        )
        if not any(one.name in PRODUCTS | SUMS for one in after[1:]):
            return make(activation=activation, users=names)
        inner = WithOthers(module, others, 0.0) if others else module
        end = Replay(after[-1], self.node, inner).train(module.training)
        around = Kept(end, self.x, self.shape, self.trail, (), self.called is not None)
        has_number = not has_gamma and after[-1] is returned
        return make(around, has_gamma, has_number, activation, names)


@dataclass
class Failure:
    """The module in which the forward pass failed, the shapes of its inputs, and the error."""

    name: str
    module: nn.Module
    shapes: list[Shape]
    error: BaseException


class Recorder(TorchFunctionMode):
    """Records a forward pass while it is active."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.calls: dict[object, Call] = {}
        self.names: dict[int, str] = {}
        self.trails = ByTensor[Trail]()
        self.parameters = ByTensor[tuple[str, int]]()  # the name and size of the parameter that a tensor is made of
        for name, parameter in model.named_parameters():
            plain = name.replace("parametrizations.", "").removesuffix(".original")
            self.parameters.put(parameter, (plain, parameter.numel()))
        self.whole = set[int]()
        for name, module in modules_of(model):
            self.names.setdefault(id(module), name)
            self.whole |= {id(module)} if _is_whole(module) else set()
        self.graph = Graph(model)
        self.sealed = {id(module) for _name, module in sealed(model)}
        self.layers: dict[object, Layer | None] = {}
        self.in_whole = False  # whether a layer of torch runs, of whose operations nothing has to be known
        self.running: list[tuple[nn.Module, list[Shape]]] = []
        self.functions: list[int] = []  # how many norm functions each running module called
        self.handled: list[BaseException | None] = []  # the error that was handled when each running module was called
        self.open: list[Call | None] = []
        self.failure: Failure | None = None
        self.begun = 0  # modules and norm functions

    def before(self, module: nn.Module, args: tuple[object, ...], kwargs: Mapping[str, object]) -> None:
        with torch._C.DisableTorchFunction():  # its own reading of shapes is not recorded
            tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
            self.running.append((module, [tuple(tensor.shape) for tensor in tensors]))
            self.begun += 1
            self.functions.append(0)
            self.handled.append(sys.exc_info()[1])
            call, layer = None, self._layer(module)
            if tensors and tensors[0].is_floating_point():
                shape = tuple(tensors[0].shape)
                others = tuple(_kept(value, shape) for value in _further(module, args, kwargs, shape))
                call = self._add(
                    Call(
                        self.names[id(module)], module, shape, layer=layer, of_parameter=self._parameter(tensors[0]),
                        others=others, mode=_mode(module, kwargs), parent=self.open[-1] if self.open else None,
                    ),
                    tensors[0],
                )  # fmt: skip
        self.open.append(call)
        self.in_whole = id(module) in self.whole and (layer is not None or not isinstance(module, NORMS))

    def _layer(self, module: nn.Module) -> Layer | None:
        """``layer_of``, read once from layers of torch with the same arguments."""
        if not isinstance(module, NORMS):
            return None
        if id(module) not in self.whole:
            return layer_of(module)
        plain = tuple((name, value) for name, value in vars(module).items() if type(value) in PLAIN)
        key = type(module), plain, tuple(name for name, one in module._parameters.items() if one is not None)
        if key not in self.layers:
            self.layers[key] = layer_of(module)
        return self.layers[key]

    def after(self, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        """Also called if the module raises; of the modules that an error passes through, the innermost has failed."""
        shapes, call = self.running.pop()[1], self.open.pop()
        self.functions.pop()
        was_whole, self.in_whole = self.in_whole, False
        error, handled = sys.exc_info()[1], self.handled.pop()
        if isinstance(error, (Exception, *ENDS)) and error is not handled:
            if self.failure is None or self.failure.error is not error:
                self.failure = Failure(self.names[id(module)], module, shapes, error)
            return
        first = first_of(output)
        if not isinstance(first, Tensor):
            return
        with torch._C.DisableTorchFunction():
            node = self._node_after(module, args, first)
            if call is not None:
                call.returned, call.node = tuple(first.shape), node
            if call is not None and was_whole:
                self.trails.put(first, self._trail_after(module, args, first))

    def _node_after(self, module: nn.Module, args: tuple[Any, ...], output: Tensor) -> Node | None:
        if not self.running or not _has_operations(self.running[-1][0]):
            return self.graph.nodes.get(output)
        if _has_operations(module):
            return self.graph.node(output)
        return self.graph.other(output, args, type(module).__name__)  # what it computes is not in the graph

    def _trail_after(self, module: nn.Module, args: tuple[Any, ...], output: Tensor) -> Trail | None:
        if not args or isinstance(module, NORMS):
            return self.trails.get(args[0]) if args else None
        return trail_of(*_function_of(module, args[0]), {}, output, self.trails)

    @property
    def _is_sealed(self) -> bool:
        """Whether an exported module runs: of its operators, some would be seen, and others not."""
        return bool(self.sealed) and any(id(module) in self.sealed for module, _shapes in self.running)

    @property
    def _is_inside(self) -> bool:
        """Whether a norm of torch runs, which calls its function."""
        return bool(self.open) and self.open[-1] is not None and self.open[-1].layer is not None

    def _add(self, call: Call, x: Tensor) -> Call:
        layer = str(call.layer) if call.function else call.layer
        key = (call.name, call.function, layer, call.shape, call.of_parameter, call.gamma, call.mode)
        call.place = self.graph.count
        known = self.calls.setdefault(key, call)
        known.count += known is not call
        may_be_norm = call.layer is not None or may_normalize(call.module)
        is_norm = not (call.function and self._is_inside) and may_be_norm
        if known is call and has_values(x) and is_norm:
            call.x, call.trail = part_of(x, _fixed(call), self.graph.room), self.trails.get(x) or Trail(call.shape)
        return known

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        output = func(*args, **kwargs)
        if self.in_whole:
            return output
        self._follow(func, args, kwargs, output)
        is_seen = bool(self.running) and _has_operations(self.running[-1][0]) and not self._is_sealed
        if is_seen:
            self.graph.add(func, args, kwargs, output, tuple(module for module, _shapes in self.running))
        found = read_call(func, args, kwargs) if self.running and not self._is_sealed else None
        if found is not None:
            layer, given = found
            x, module = given["input"], self.running[-1][0]
            self.functions[-1] += 1
            self.begun += 1
            parameters, buffers = (
                elements_of(map(given.get, names)) for names in (("weight", "bias"), ("running_mean", "running_var"))
            )
            name, shape = name_of_call(func), tuple(x.shape)
            self._add(
                Call(
                    self.names[id(module)], module, shape, shape, name, layer,
                    parameters=parameters, buffers=buffers, of_parameter=self._parameter(x),
                    learned={
                        known[0]: one for one in map(given.get, ("weight", "bias"))
                        if isinstance(one, nn.Parameter) and (known := self.parameters.get(one)) is not None
                    },
                    called=None if not has_values(x) or self._is_inside else Called(func, given),
                    node=self.graph.node(first_of(output)) if is_seen else None,
                    parent=self.open[-1],
                    nth=self.functions[-1],
                    gamma=self.functions[-1] if given.get("weight") is None else id(given["weight"]),
                ),
                x,
            )  # fmt: skip
        return output

    def function_of_others(self, apply: Any, kind: type[torch.autograd.Function], args: Any, kwargs: Any) -> Any:
        """A call of an autograd function. What is seen in it, a formula, a module or a norm function, is listed instead, as in a checkpoint."""
        seen = len(self.graph.quotients), self.begun
        output = apply(kind, *args, **kwargs)
        is_seen = seen != (len(self.graph.quotients), self.begun)
        if self.running and _has_operations(self.running[-1][0]) and not is_seen and not kwargs:
            with torch._C.DisableTorchFunction():
                self.graph.add_function(kind, args, output, tuple(module for module, _shapes in self.running))
        return output

    def _follow(self, func: Any, args: tuple[Any, ...], kwargs: Arguments, output: Any) -> None:
        """Remember where a tensor comes from; whether it is made of parameters alone, such as a weight in another shape."""
        if not isinstance(output, Tensor):
            return
        if self.parameters.get(output) is None:
            made_of = [self.parameters.get(one) for one in tree_leaves((args, kwargs)) if isinstance(one, Tensor)]
            known = [one for one in made_of if one is not None]
            if known and len(known) == len(made_of):
                self.parameters.put(output, max(known, key=lambda one: one[1]))
        if (trail := trail_of(func, args, kwargs, output, self.trails)) is not None:
            self.trails.put(output, trail)

    def _parameter(self, x: Tensor) -> str:
        """The name of the parameter whose elements x has; or empty."""
        name, elements = self.parameters.get(x) or ("", 0)
        return name if name and elements == x.numel() else ""


NORMS = tuple({kind.module for kind in KINDS.values() if kind.module is not None})
_WHOLE = ("linear", "conv", "sparse", "dropout", "pooling", "activation")  # of torch.nn.modules
WHOLE = {*NORMS} | {one for one in vars(nn).values() if getattr(one, "__module__", "").rpartition(".")[2] in _WHOLE}
PLAIN = (int, float, bool, str, tuple, type(None))


def _is_whole(module: nn.Module) -> bool:
    """Whether it is a layer of torch, not changed by anybody, whose operations say no more than what it is."""
    if type(module) not in WHOLE or "forward" in vars(module) or module._modules:
        return False
    return not (module._forward_hooks or module._forward_pre_hooks)


def _function_of(module: nn.Module, x: object) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A function, with its arguments, that moves axes as a layer of torch does."""
    if isinstance(module, nn.modules.conv._ConvNd):
        return F.conv2d, (x, module.weight)
    return (F.linear if isinstance(module, nn.Linear | nn.Embedding) else F.relu), (x,)


MOST_VALUES = 5 * 2**16  # values of gamma, beta and stored statistics together
WITHOUT_EFFECT = (nn.Identity, nn.Dropout, nn.ParameterDict)


def modules_of(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Its modules with their names, also the layers of Keras, which are no children of their model."""
    yield from model.named_modules()
    layers: Any = getattr(model, "_flatten_layers", None)
    for layer in layers(include_self=False) if layers is not None else ():
        if isinstance(layer, nn.Module):
            yield layer.name, layer  # type: ignore[misc]


def _mode(module: nn.Module, kwargs: Mapping[str, object]) -> bool | None:
    mode = kwargs.get("training")
    return mode if isinstance(mode, bool) else None


def may_normalize(module: nn.Module) -> bool:
    """Whether it is not one of torch's own, contains no other modules, which are measured instead, and has no more values than a norm has."""
    return not _parts(module) and _is_own(module)


def _has_operations(module: nn.Module) -> bool:
    """Whether its operations are recorded: a layer of torch is a whole."""
    return type(module) is nn.Sequential or not type(module).__module__.startswith("torch.")


def _is_own(module: nn.Module) -> bool:
    """Whether it is not one of torch's, and has no more values than a norm has."""
    own = not type(module).__module__.startswith("torch.nn.modules")
    return own and sum(one.numel() for one in (*module.parameters(), *module.buffers())) <= MOST_VALUES


def _parts(module: nn.Module) -> list[nn.Module]:
    """The modules in it that do something to x."""
    return [
        child
        for name, child in module.named_children()
        if not isinstance(child, WITHOUT_EFFECT) and name != "parametrizations"
    ]


def _fixed(call: Call) -> Callable[[int, int], bool]:
    """Whether an axis with this size is one of a gamma, or split by the norm."""
    layer, rank = call.layer, len(call.shape)
    if isinstance(layer, Other):
        return lambda axis, _size: axis == 1
    if isinstance(layer, Norm):
        return lambda axis, _size: layer.pattern.left[axis][0] in layer.pattern.reduced
    if layer is not None:
        own, given = layer.kind.channel(rank), layer.given.get("normalized_shape", ())
        return lambda axis, _size: axis == own or axis >= rank - len(given)
    attributes = [value for value in vars(call.module).values() if type(value) is int]
    sizes = {size for one in (*call.module.parameters(), *call.module.buffers()) for size in one.shape if size > 1}
    return lambda axis, size: size in (*sizes, *attributes) or (not sizes and axis in (1, rank - 1))


def _further(
    module: nn.Module, args: tuple[object, ...], kwargs: Mapping[str, object], shape: Shape
) -> tuple[object, ...]:
    """The arguments after the first one; those by name, too, if one is a tensor of the shape of x."""
    if any(_kept(value, shape) is LIKE_X for value in kwargs.values()):
        with suppress(TypeError, ValueError):  # it has no signature
            bound = inspect.signature(module.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            return bound.args[1:]
    return args[1:]


def _kept(value: object, shape: Shape) -> Any:
    """An argument, without its tensors."""
    if isinstance(value, Tensor):
        return LIKE_X if tuple(value.shape) == shape and value.is_floating_point() else OTHER
    return value if isinstance(value, int | float | str | None) else OTHER


def layer_of(module: nn.Module) -> Layer | None:
    """The layer of a module of torch.nn; None for another one, also for one with a forward of its own."""
    try:
        kind_of_module(module)
        layer = Layer.of(module)
    except NormvizError:
        return None
    return layer if layer.tracks else layer.with_(training=True)  # other layers compute the same in both modes


def record(
    model: nn.Module, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> tuple[tuple[Call, ...], Failure | None]:
    """Run the model once: the calls in the order in which they began, and where it failed. Nothing is changed."""
    recorder, failure = Recorder(model), None
    args, kwargs = _copied(args), _copied(dict(kwargs))
    with Snapshot(model).within(), ExitStack() as stack, torch.no_grad():
        run_eagerly(model, stack)
        for module in _with_hooks(model):
            for handle in (
                module.register_forward_pre_hook(recorder.before, with_kwargs=True),
                module.register_forward_hook(recorder.after, always_call=True),
            ):
                stack.callback(handle.remove)
        stack.enter_context(_seen_functions(recorder))
        try:
            with recorder:
                model(*args, **kwargs)
        except (Exception, *ENDS) as error:
            seen = recorder.failure
            failure = seen if seen is not None and seen.error is error else Failure("", model, [], error)
    parents = {id(call.module): call for call in recorder.calls.values() if not call.function}
    formulas = [
        Call(
            recorder.names[id(running[-1])],
            running[-1],
            one.shape,
            one.shape,
            FORMULA,
            node=one,
            place=one.number,
            running=running,
            parent=parents.get(id(running[-1])),
        )
        for one, running in recorder.graph.quotients
    ]
    return tuple(sorted((*recorder.calls.values(), *formulas), key=lambda call: call.place)), failure


@contextmanager
def _seen_functions(recorder: Recorder) -> Iterator[None]:
    """Until the end, calls of the autograd functions of others are recorded."""
    own = vars(torch.autograd.Function)["apply"]

    def apply(kind: type[torch.autograd.Function], *args: Any, **kwargs: Any) -> Any:
        return recorder.function_of_others(own.__func__, kind, args, kwargs)

    torch.autograd.Function.apply = classmethod(apply)  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        torch.autograd.Function.apply = own  # type: ignore[method-assign]


def run_eagerly(model: nn.Module, stack: ExitStack) -> None:
    """Run the compiled parts of a model as they were written, until the stack ends."""
    if "torch._dynamo" not in sys.modules:  # nothing is compiled, and importing it takes seconds
        return
    if hasattr(torch.compiler, "set_stance"):
        stack.enter_context(torch.compiler.set_stance("force_eager"))
        return
    for module in model.modules():  # before torch 2.6: a compiled module keeps its compiled forward as an attribute
        if isinstance(inner := getattr(module, "_orig_mod", None), nn.Module):
            stack.callback(setattr, module, "forward", module.forward)
            module.forward = inner.__call__


def unwrapped(model: nn.Module) -> nn.Module:
    """The module that ``torch.compile`` was given."""
    while isinstance(inner := getattr(model, "_orig_mod", None), nn.Module):
        model = inner
    return model


def sealed(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """The scripted, traced and exported modules, without those in them: hooks see nothing of them."""
    found: list[tuple[str, nn.Module]] = []
    for name, module in model.named_modules():
        inside = any(outer == "" or name.startswith(f"{outer}.") for outer, _module in found)
        if not inside and (isinstance(module, torch.jit.ScriptModule) or _is_exported(module)):
            found.append((name, module))
    return found


def _is_exported(module: nn.Module) -> bool:
    """Whether it runs operators of ATen, as ``torch.export`` writes them, instead of modules and functions."""
    has_graph = "graph" in vars(module) or hasattr(type(module), "graph")
    graph: object = getattr(module, "graph", None) if has_graph else None
    nodes = graph.nodes if isinstance(graph, torch.fx.Graph) else ()
    is_unflattened = type(module).__module__ == "torch.export.unflatten"
    return is_unflattened or any(isinstance(node.target, torch._ops.OpOverload) for node in nodes)


def _with_hooks(model: nn.Module) -> list[nn.Module]:
    """Every module once, except scripted ones: their hooks get no arguments by name."""
    return [module for _name, module in modules_of(model) if not isinstance(module, torch.jit.ScriptModule)]


def _copied(value: Any) -> Any:
    """The inputs with tensors of their own: a model may write into them."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if type(value) in (tuple, list):
        return type(value)(map(_copied, value))
    return {name: _copied(each) for name, each in value.items()} if type(value) is dict else value


class Snapshot:
    """A model as it is now. Whatever is done ``within`` it, the modules of the model and its buffers are so again at the end, and the random states."""

    def __init__(self, model: nn.Module) -> None:
        modules = _with_hooks(model)
        of_torch = all(type(module).__module__.startswith("torch.nn.modules.") for module in modules)
        self._modes = [(module, module.training) for module in modules if of_torch and _is_whole(module)]
        self._states = [State(module) for module in modules if not (of_torch and _is_whole(module))]
        self._buffers = [(buffer, buffer.data) for buffer in model.buffers()]

    @contextmanager
    def within(self) -> Iterator[None]:
        for buffer, own in self._buffers:
            buffer.data = own.clone()
        try:
            with same_random_states(), same_settings():
                yield
        finally:
            for module, training in self._modes:
                vars(module)["training"] = training  # as nn.Module.__setattr__ does, which is slow
            for state in self._states:
                state.restore()
            for buffer, own in self._buffers:
                buffer.data = own
