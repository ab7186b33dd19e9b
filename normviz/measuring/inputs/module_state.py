"""The modules and objects that a function uses, and their state: attributes, registered tensors, mode and gradients."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor, jit, nn

DICTIONARIES = ("_parameters", "_buffers", "_modules")
LIBRARIES = (
    "torch",
    "numpy",
    "builtins",
    "einops",
    "functools",
    "types",
)  # libraries whose classes and functions refer to no object of the caller
DEEPEST, MOST_OBJECTS = 6, 2000  # limits of the search


def found_in(fn: Callable[..., Any]) -> tuple[list[nn.Module], list[Tensor]]:
    """The modules and the other tensors that ``fn`` may use: what it and the functions that it calls refer to, in attributes and containers."""
    modules: dict[int, nn.Module] = {}
    tensors: dict[int, Tensor] = {}
    seen: dict[int, Any] = {}
    waiting: list[tuple[Any, int]] = [(fn, 0)]
    while waiting and len(seen) < MOST_OBJECTS:
        value, depth = waiting.pop()
        if id(value) in seen or depth > DEEPEST:
            continue
        seen[id(value)] = value
        if isinstance(value, Tensor):
            tensors[id(value)] = value
        elif isinstance(value, nn.Module):
            modules |= {id(module): module for module in value.modules()}
            waiting += [(vars(module), depth) for module in value.modules()]
        else:
            waiting += [(other, depth + 1) for other in _referred(value)]
    registered = {id(tensor) for module in modules.values() for tensor in (*module.parameters(), *module.buffers())}
    return list(modules.values()), [tensor for tensor in tensors.values() if id(tensor) not in registered]


def _referred(value: Any) -> Iterable[Any]:
    """What a function, an object or a container refers to."""
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, list | tuple | set):
        return value
    if isinstance(value, functools.partial):
        return value.func, *value.args, *value.keywords.values()
    if inspect.ismethod(value):
        return value.__self__, value.__func__
    if str(getattr(value, "__module__", "")).partition(".")[0] in LIBRARIES:
        return ()
    if inspect.isfunction(value):
        try:
            variables = inspect.getclosurevars(value)
        except ValueError:  # a variable without a value
            return ()
        return (*variables.nonlocals.values(), *variables.globals.values(), *(value.__defaults__ or ()))
    if isinstance(value, type):
        return vars(value).values()
    if isinstance(value, staticmethod | classmethod):
        return (value.__func__,)
    if called_object(value) is not None:
        return *vars(value).values(), type(value)
    return ()


def called_object(fn: Any) -> Any:
    """The callable object, or the object of a bound method; None for functions (also scripted), classes and modules."""
    owner = getattr(fn, "__self__", None) if inspect.isroutine(fn) else fn
    known = nn.Module | functools.partial | type | jit.ScriptFunction
    has_attributes = hasattr(owner, "__dict__") and not isinstance(owner, known)
    return owner if has_attributes and not inspect.isroutine(owner) and not inspect.ismodule(owner) else None


class State:
    """What a module or another object is like now: ``restore`` undoes every change of its attributes, mode, registered tensors and gradients."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        # The attributes of a scripted module are in C++; a call changes only its tensors.
        self.scripted = isinstance(owner, jit.ScriptModule)
        self.attributes = {} if self.scripted else dict(vars(owner))
        module = owner if isinstance(owner, nn.Module) and not self.scripted else nn.Module()
        self.registered = {name: dict(vars(module)[name]) for name in DICTIONARIES if module is owner}
        self.plain = [
            (value, value.detach().clone()) for value in self.attributes.values() if isinstance(value, Tensor)
        ]
        self.gradients = [(tensor, tensor.grad) for tensor in module.parameters(recurse=False)]

    def restore(self) -> None:
        attributes = {} if self.scripted else vars(self.owner)
        _set(attributes, self.attributes)
        for name, registered in self.registered.items():
            _set(attributes[name], registered)
        for tensor, gradient in self.gradients:
            if tensor.grad is not gradient:
                tensor.grad = gradient
        for plain, value in self.plain:
            if not plain.detach().equal(value):
                plain.data.copy_(value)


def _set(current: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Give the dictionary exactly the wanted values."""
    if current.keys() != wanted.keys() or any(current[name] is not value for name, value in wanted.items()):
        current.clear()
        current.update(wanted)
