"""One forward pass of a model: which modules and normalization functions ran, and with which shapes.

``record`` runs the model with hooks on its modules. Calls of ``F.layer_norm`` and the like are seen by a TorchFunctionMode.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakIdKeyDictionary

from normviz.layers.arguments import kind_of_module
from normviz.layers.axes import parse_layout
from normviz.layers.catalogue import KINDS
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.measuring.check import usual_axes
from normviz.measuring.models.kept import Called, Kept, Trail, copy_of, part_of, trail_of
from normviz.measuring.models.layout import Shape
from normviz.measuring.probe import State
from normviz.measuring.turn import ENDS, same_random_states, same_settings
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


READERS: dict[Callable[..., Any], Callable[[Arguments], Layer | Norm]] = {
    F.layer_norm: _layer_norm,
    F.group_norm: _group_norm,
    F.batch_norm: _batch_norm,
    F.instance_norm: _instance_norm,
    F.normalize: _normalize,
}
TORCH = {"layer_norm": F.layer_norm, "group_norm": F.group_norm}
if "RMSNorm" in KINDS:
    READERS[F.rms_norm], TORCH["rms_norm"] = _rms_norm, F.rms_norm
ALIASES = {getattr(torch, name): function for name, function in TORCH.items()}  # torch.layer_norm is another function


def read_call(function: Any, args: tuple[Any, ...], kwargs: Arguments) -> tuple[Layer | Norm, Arguments] | None:
    """The layer of a call of a normalization function, and the arguments by name; None for another function.

    Also None for an update of a buffer, as in spectral_norm.
    """
    known = ALIASES.get(function, function)
    if known not in READERS:
        return None
    signature = inspect.signature(known)
    bound = signature.bind_partial(*args[: len(signature.parameters)], **kwargs)
    bound.apply_defaults()
    given = bound.arguments
    if given.get("out") is not None:
        return None
    try:
        return READERS[known](given), given
    except (NormvizError, KeyError):
        return None


def _elements(tensors: Iterable[Tensor | None]) -> int:
    return sum(tensor.numel() for tensor in tensors if tensor is not None)


# The recorded calls.

LIKE_X, OTHER = ..., object()


@dataclass
class Call:
    """A module or a normalization function that ran, and how often on inputs of this shape.

    returned      the shape of its output
    function      a name such as ``F.layer_norm``; empty for a module
    layer         of a function, or of a module of torch.nn in its mode during the call
    parameters    the number of elements of its gamma and beta; for a module, of all its parameters, also of parametrizations
    buffers       the number of elements of its stored statistics, or of all its buffers
    of_parameter  the name of the parameter of the model that is its input, as in weight standardization; or empty
    others        the further arguments of a module by position: LIKE_X for a tensor with the shape of its first input, OTHER for anything
                  else that is neither a number nor a text
    x             a part of its input; None on the meta device
    trail         where the input comes from
    called        a function with its tensors, as a module
    around        the module that calls it, if that may multiply its output by a gamma of its own
    learned       the gamma and beta of a function that are parameters of the model, by name
    """

    name: str
    module: nn.Module
    shape: Shape
    returned: Shape | None = None
    function: str = ""
    layer: Layer | Norm | None = None
    count: int = 1
    parameters: int = 0
    buffers: int = 0
    of_parameter: str = ""
    others: tuple[Any, ...] = ()
    x: Tensor | None = field(default=None, repr=False)
    trail: Trail = field(default=Trail(()), repr=False)
    called: Called | None = field(default=None, repr=False)
    around: "Call | None" = field(default=None, repr=False)
    learned: Mapping[str, nn.Parameter] = field(default_factory=dict, repr=False)

    @property
    def kept(self) -> Kept | None:
        """What runs it again; None on the meta device, and for what cannot be copied."""
        module = self.called or copy_of(self.module)
        if self.x is None or module is None:
            return None
        others = self.others if LIKE_X in self.others else ()
        of_torch = self.layer is not None and not others
        has_around = self.around is not None and self.around.returned == self.around.shape == self.shape
        around = self.around.kept if self.around is not None and has_around else None
        return Kept(module, self.x, self.shape, self.trail, others, self.called is not None, of_torch, around)


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
        self.calls: dict[tuple[str, str, str, Shape, str], Call] = {}
        self.names: dict[int, str] = {}
        self.trails: Any = WeakIdKeyDictionary()  # of each tensor
        self.parameters: Any = WeakIdKeyDictionary()  # the name and size of the parameter that a tensor is made of
        for name, parameter in model.named_parameters():
            plain = name.replace("parametrizations.", "").removesuffix(".original")
            self.parameters[parameter] = plain, parameter.numel()
        for name, module in model.named_modules():
            self.names.setdefault(id(module), name)
        self.running: list[tuple[nn.Module, list[Shape]]] = []
        self.open: list[Call | None] = []
        self.failure: Failure | None = None
        self.outer = sys.exc_info()[1]  # an error that is handled while the model is called

    def before(self, module: nn.Module, args: tuple[object, ...], kwargs: Mapping[str, object]) -> None:
        with torch._C.DisableTorchFunction():  # its own reading of shapes is not recorded
            tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
            self.running.append((module, [tuple(tensor.shape) for tensor in tensors]))
            call = None
            if tensors and tensors[0].is_floating_point():
                shape = tuple(tensors[0].shape)
                others = tuple(_kept(value, shape) for value in args[1:])
                parameters, buffers = (_elements(own) for own in (module.parameters(), module.buffers()))
                call = self._add(
                    Call(
                        self.names[id(module)], module, shape, layer=layer_of(module), parameters=parameters,
                        buffers=buffers, of_parameter=self._parameter(tensors[0]), others=others,
                        around=self._around(module),
                    ),
                    tensors[0],
                )  # fmt: skip
        self.open.append(call)

    def _around(self, module: nn.Module) -> Call | None:
        call = self.open[-1] if self.open else None
        return call if call is not None and is_around(call.module) and module in call.module.children() else None

    def after(self, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        """Also called if the module raises; of the modules that an error passes through, the innermost has failed."""
        shapes, call = self.running.pop()[1], self.open.pop()
        error = sys.exc_info()[1]
        if isinstance(error, (Exception, *ENDS)) and error is not self.outer:
            if self.failure is None or self.failure.error is not error:
                self.failure = Failure(self.names[id(module)], module, shapes, error)
            return
        first = output[0] if isinstance(output, tuple | list) and output else output
        if call is not None and isinstance(first, Tensor):
            call.returned = tuple(first.shape)

    @property
    def _is_inside(self) -> bool:
        """Whether a norm of torch runs, which calls its function."""
        return bool(self.open) and self.open[-1] is not None and self.open[-1].layer is not None

    def _add(self, call: Call, x: Tensor) -> Call:
        key = (call.name, call.function, str(call.layer), call.shape, call.of_parameter)
        known = self.calls.setdefault(key, call)
        known.count += known is not call
        may_be_norm = call.layer is not None or may_normalize(call.module) or is_around(call.module)
        is_norm = not (call.function and self._is_inside) and may_be_norm
        if known is call and not x.is_meta and is_norm:
            call.x, call.trail = part_of(x, _fixed(call)), self.trails.get(x) or Trail(call.shape)
        return known

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        output = func(*args, **kwargs)
        self._follow(func, args, kwargs, output)
        found = read_call(func, args, kwargs) if self.running else None
        if found is not None:
            layer, given = found
            x, module = given["input"], self.running[-1][0]
            parameters, buffers = (
                _elements(map(given.get, names)) for names in (("weight", "bias"), ("running_mean", "running_var"))
            )
            name, shape = f"F.{ALIASES.get(func, func).__name__}", tuple(x.shape)
            self._add(
                Call(
                    self.names[id(module)], module, shape, shape, name, layer,
                    parameters=parameters, buffers=buffers, of_parameter=self._parameter(x),
                    called=None if x.is_meta or self._is_inside else Called(ALIASES.get(func, func), given),
                    learned={
                        self.parameters[one][0]: one for one in map(given.get, ("weight", "bias"))
                        if isinstance(one, nn.Parameter) and one in self.parameters
                    },
                ),
                x,
            )  # fmt: skip
        return output

    def _follow(self, func: Any, args: tuple[Any, ...], kwargs: Arguments, output: Any) -> None:
        """Remember where a tensor comes from; whether it is made of parameters alone, such as a weight in another shape."""
        if isinstance(output, Tensor) and output not in self.parameters:
            tensors = [value for value in tree_leaves((args, kwargs)) if isinstance(value, Tensor)]
            if tensors and all(tensor in self.parameters for tensor in tensors):
                self.parameters[output] = max((self.parameters[tensor] for tensor in tensors), key=lambda one: one[1])
        if isinstance(output, Tensor) and (trail := trail_of(func, args, kwargs, output, self.trails)) is not None:
            self.trails[output] = trail

    def _parameter(self, x: Tensor) -> str:
        """The name of the parameter whose elements x has; or empty."""
        name, elements = self.parameters.get(x, ("", 0))
        return name if name and elements == x.numel() else ""


MOST_VALUES = 5 * 2**16  # values of gamma, beta and stored statistics together
WITHOUT_EFFECT = (nn.Identity, nn.Dropout)


def may_normalize(module: nn.Module) -> bool:
    """Whether it is not one of torch's own, contains no other modules, which are measured instead, and has no more values than a norm has."""
    return _is_own(module) and not _parts(module)


def is_around(module: nn.Module) -> bool:
    """Whether it may be a gamma or beta around a norm: it has parameters of its own and contains one other module."""
    return next(module.parameters(recurse=False), None) is not None and _is_own(module) and len(_parts(module)) == 1


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
    if isinstance(layer, Norm):
        return lambda axis, _size: layer.pattern.left[axis][0] in layer.pattern.reduced
    if layer is not None:
        own, given = layer.kind.channel(rank), layer.given.get("normalized_shape", ())
        return lambda axis, _size: axis == own or axis >= rank - len(given)
    attributes = [value for value in vars(call.module).values() if type(value) is int]
    sizes = {size for one in (*call.module.parameters(), *call.module.buffers()) for size in one.shape if size > 1}
    return lambda axis, size: size in (*sizes, *attributes) or (not sizes and axis in (1, rank - 1))


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
    with unchanged(model), ExitStack() as stack, torch.no_grad():
        run_eagerly(model, stack)
        for module in _with_hooks(model):
            for handle in (
                module.register_forward_pre_hook(recorder.before, with_kwargs=True),
                module.register_forward_hook(recorder.after, always_call=True),
            ):
                stack.callback(handle.remove)
        try:
            with recorder:
                model(*args, **kwargs)
        except (Exception, *ENDS) as error:
            seen = recorder.failure
            failure = seen if seen is not None and seen.error is error else Failure("", model, [], error)
    return tuple(recorder.calls.values()), failure


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
    graph: object = getattr(module, "graph", None)
    nodes = graph.nodes if isinstance(graph, torch.fx.Graph) else ()
    is_unflattened = type(module).__module__ == "torch.export.unflatten"
    return is_unflattened or any(isinstance(node.target, torch._ops.OpOverload) for node in nodes)


def _with_hooks(model: nn.Module) -> list[nn.Module]:
    """Every module once, except scripted ones: their hooks get no arguments by name."""
    return [module for module in model.modules() if not isinstance(module, torch.jit.ScriptModule)]


def _copied(value: Any) -> Any:
    """The inputs with tensors of their own: a model may write into them."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if type(value) in (tuple, list):
        return type(value)(map(_copied, value))
    return {name: _copied(each) for name, each in value.items()} if type(value) is dict else value


@contextmanager
def unchanged(model: nn.Module) -> Iterator[None]:
    """Afterwards, the modules of the model, its buffers and the random states are as before."""
    states = [State(module) for module in _with_hooks(model)]
    buffers = [(buffer, buffer.data) for buffer in model.buffers()]
    for buffer, own in buffers:
        buffer.data = own.clone()
    try:
        with same_random_states(), same_settings():
            yield
    finally:
        for state in states:
            state.restore()
        for buffer, own in buffers:
            buffer.data = own
