"""What is kept of a norm that ran, so that it can run again: the norm itself, a small part of its input, and how that input was made."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar
from weakref import ref

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor

from normviz.measuring.models.layout import Shape

MOST_KEPT = 2**13  # elements of an input; of a larger one, a part is kept
SHORTEST = 3  # the size of the first axis of that part; the next ones are longer, because equal sizes could hide a confusion of axes
MOST_STEPS = 64
LIKE_X, OTHER = (
    ...,
    object(),
)  # of the further arguments of a norm: a tensor of the shape of x, anything else that is not plain
BLOCK = 2**20  # elements for which Room takes memory at once
Value = TypeVar("Value")


class ByTensor(Generic[Value]):
    """Values of tensors, which are found by identity and not kept alive. WeakIdKeyDictionary of torch does the same in ten times the time."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ref[Tensor], Value]] = {}

    def get(self, tensor: Tensor) -> Value | None:
        found = self._known.get(id(tensor))
        return found[1] if found is not None and found[0]() is tensor else None

    def put(self, tensor: Tensor, value: Value | None) -> None:
        """Give a tensor this value; with None, forget it."""
        if value is not None:
            self._known[id(tensor)] = ref(tensor), value
        else:
            self._known.pop(id(tensor), None)


@dataclass(frozen=True, eq=False)
class Trail:
    """How the axes of a tensor were moved since it was made.

    shape    of the tensor that was made
    channel  its axis of channels, if that is known: the last one of a linear layer, the second one of a convolution
    steps    what moved or joined axes since then
    """

    shape: Shape
    channel: int | None = None
    steps: tuple[Callable[[Tensor], Tensor], ...] = ()

    def positions(self, made: Tensor) -> Tensor:
        """For each element, the number that it had in the tensor that was made."""
        for step in self.steps:
            made = step(made)
        return made


MOVES = frozenset(
    [
        "permute",
        "transpose",
        "movedim",
        "moveaxis",
        "swapaxes",
        "swapdims",
        "reshape",
        "view",
        "flatten",
        "unflatten",
        "squeeze",
        "unsqueeze",
        "t",
        "T",
        "mT",
        "ravel",
    ]
)


def trail_of(
    func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], output: Tensor, known: ByTensor[Trail]
) -> Trail | None:
    """The trail of what a function of torch returns; None if nothing is known of it."""
    name = getattr(func, "__name__", "")
    name = getattr(getattr(func, "__self__", None), "__name__", name) if name == "__get__" else name
    if name.startswith("conv") and len(args) > 1 and isinstance(args[1], Tensor):
        return Trail(tuple(output.shape), output.dim() - args[1].dim() + 1)
    if name in ("linear", "embedding"):
        return Trail(tuple(output.shape), output.dim() - 1)
    x = next((value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)), None)
    if x is None or x.dim() == 0:
        return None
    trail = known.get(x) or Trail(tuple(x.shape))
    if name in MOVES and args and args[0] is x and output.numel() == x.numel():
        if any(isinstance(value, Tensor) for value in (*args[1:], *kwargs.values())) or len(trail.steps) == MOST_STEPS:
            return None
        return Trail(trail.shape, trail.channel, (*trail.steps, partial(_moved, func, args[1:], dict(kwargs))))
    if output.shape == x.shape:
        return trail
    is_pool = not trail.steps and output.dim() == x.dim()
    return Trail(tuple(output.shape), trail.channel if is_pool else None)


def _moved(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], x: Tensor) -> Tensor:
    func = Tensor.reshape if getattr(func, "__name__", "") == "view" else func
    found: Tensor = func(x, *args, **kwargs)
    return found


@dataclass(frozen=True, eq=False)
class Kept:
    """A norm that ran, and can run again.

    module  a copy of it; of a function, a module that calls it
    x       its first input, or a part of it
    shape   of the whole first input
    trail   how the input was made
    others  its further arguments; ``...`` for a tensor of the shape of x
    is_function  whether it is a function: then it runs in the mode of its call alone
    is_of_torch  whether it is a norm of torch's own: two of the same layer compute the same
    around  the norm with the products and sums of its output that the calling module makes with a gamma, a beta or numbers; None if there is none
    has_gamma   whether one of them is with a gamma or a beta
    has_number  whether all are with numbers, and the calling module returns the result
    activation  through what the calling module returns the result, such as "relu"; or empty
    users   what else its output goes through next, by name; empty if that is not known
    beside  what it does to its output with a tensor beside x, in a sentence, if that tensor is left out
    """

    module: nn.Module
    x: Tensor
    shape: Shape
    trail: Trail
    others: tuple[Any, ...] = ()
    is_function: bool = False
    is_of_torch: bool = False
    around: Kept | None = None
    has_gamma: bool = False
    has_number: bool = False
    activation: str = ""
    users: tuple[str, ...] = ()
    beside: str = ""

    @property
    def key(self) -> object:
        """Equal for norms that compute the same on an x of this shape, whatever their weights are."""
        plain = {
            f"{path}.{name}": value
            for path, part in self.module.named_modules()
            for name, value in vars(part).items()
            if isinstance(value, int | float | str | tuple | list | None)
        }
        objects = [
            (type(part), *((name, id(value)) for name, value in vars(part).items() if callable(value)))
            for part in self.module.modules()
        ]
        tensors = (*self.module.named_parameters(), *self.module.named_buffers())
        shapes = [(name, tuple(one.shape), one.item() if one.numel() == 1 else 0) for name, one in tensors]
        given = repr(getattr(self.module, "given", ""))
        around = None if self.around is None else self.around.key
        behind = self.has_number, self.activation, self.users
        return (str(plain), str(objects), given, str(shapes), self.shape, self.dtypes, self.others, around, behind)

    @property
    def dtypes(self) -> tuple[torch.dtype, ...]:
        """The dtypes of its input and of its parameters."""
        return self.x.dtype, *sorted({one.dtype for one in self.module.parameters()}, key=str)


def has_values(x: Tensor) -> bool:
    """Whether its elements can be kept: not on the meta device, not of a FakeTensor, and not in torch.vmap, whose tensors end with it."""
    return not (x.is_meta or isinstance(x, FakeTensor) or torch._C._functorch.is_functorch_wrapped_tensor(x))


class Room:
    """Memory for the parts of inputs, many in one block: a small block for each would lie between the activations that are freed, so that
    the next activations need new memory."""

    def __init__(self) -> None:
        self._free: dict[object, Tensor] = {}

    def copied(self, x: Tensor) -> Tensor:
        if type(x) is not Tensor:
            return x.clone()
        key, size = (x.dtype, x.device, torch.is_inference_mode_enabled()), x.numel()
        free = self._free.get(key)
        if free is None or free.numel() < size:
            free = torch.empty(max(size, BLOCK), dtype=x.dtype, device=x.device)
        self._free[key] = free[size:]
        return free[:size].view(x.shape).copy_(x)


def has_learned(module: nn.Module) -> bool:
    """Whether a module has a gamma, a beta, or another parameter."""
    return next(module.parameters(), None) is not None


def part_of(x: Tensor, fixed: Callable[[int, int], bool], room: Room | None = None) -> Tensor:
    """A copy of a small part of x. ``fixed``: whether an axis keeps its size."""
    found = x.detach()
    if x.numel() > MOST_KEPT:
        for axis, size in enumerate(x.shape):
            if not fixed(axis, size):
                found = found.narrow(axis, 0, min(size, SHORTEST + axis))
    return room.copied(found) if room is not None and x.is_contiguous() else found.clone()


def copy_of(module: nn.Module) -> nn.Module | None:
    """The module as it is now, without hooks; None if it cannot be copied, or has no values."""
    of_torch = type(module).__module__.startswith("torch.nn.modules.") and not module._modules
    own = (module._parameters, module._buffers) if of_torch else ()
    tensors = [one for several in own for one in several.values()] or [*module.parameters(), *module.buffers()]
    if any(tensor is not None and not has_values(tensor) for tensor in tensors):
        return None
    if of_torch:
        return _copy_of_layer(module)
    hooks = {
        id(value): type(value)()
        for part in module.modules()
        for name, value in vars(part).items()
        if "_hooks" in name and isinstance(value, dict)
    }
    try:
        return copy.deepcopy(module, hooks)  # with an empty dictionary for each
    except Exception:  # such as of a lock, or of a result of autograd
        return None


def _copy_of_layer(module: nn.Module) -> nn.Module:
    """A layer of torch with tensors of its own."""
    twin = module.__new__(type(module))
    attributes = vars(twin)
    for name, value in vars(module).items():
        is_hooks = isinstance(value, dict) and "_hooks" in name
        attributes[name] = type(value)() if is_hooks else value.copy() if isinstance(value, dict) else value
    for several in (twin._parameters, twin._buffers):
        several |= {name: _copied(one) for name, one in several.items() if one is not None}
    return twin


def _copied(tensor: Tensor) -> Tensor:
    own = tensor.detach().clone()
    return nn.Parameter(own, tensor.requires_grad) if isinstance(tensor, nn.Parameter) else own


class Called(nn.Module):
    """A call of a function of torch, with its tensors as parameters and buffers."""

    def __init__(self, function: Callable[..., Tensor], given: Mapping[str, Any]) -> None:
        super().__init__()
        self.function = function
        self.given = {name: value for name, value in given.items() if name != "input" and not isinstance(value, Tensor)}
        for name, value in given.items():
            if isinstance(value, Tensor) and name in ("weight", "bias"):
                self.register_parameter(name, nn.Parameter(value.detach().clone()))
            elif isinstance(value, Tensor) and name != "input":
                self.register_buffer(name, value.detach().clone())

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x, **self.given, **dict(self.named_parameters()), **dict(self.named_buffers()))


class WithOthers(nn.Module):
    """A module as a function of its first input. Other tensors that it needs, such as a residual, have the same number in each element.

    before, after  what these make of x and of the output: without them, x and the output are divided by these
    """

    def __init__(
        self, module: nn.Module, others: tuple[Any, ...], value: float, before: float = 1.0, after: float = 1.0
    ) -> None:
        super().__init__()
        self.inner, self.others, self.value, self.before, self.after = module, others, value, before, after

    def forward(self, x: Tensor) -> Any:
        given = x if self.before == 1 else x / self.before
        others = (torch.full_like(x, self.value) if one is LIKE_X else one for one in self.others)
        output = self.inner(given, *others)
        if self.after == 1:
            return output
        return (output[0] if isinstance(output, tuple | list) else output) / self.after


class ModeAsArgument(nn.Module):
    """A module whose mode is an argument, as those of Keras."""

    def __init__(self, module: nn.Module, training: bool) -> None:
        super().__init__()
        self.inner = module
        self.train(training)

    def forward(self, x: Tensor) -> Any:
        return self.inner(x, training=self.training)
