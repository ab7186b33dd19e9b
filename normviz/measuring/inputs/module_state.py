"""The modules that a function uses, and their state: attributes, registered tensors, mode and gradients."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor, nn

DICTIONARIES = ("_parameters", "_buffers", "_modules")


def modules_of(fn: Callable[..., Any]) -> list[nn.Module]:
    """The modules that ``fn`` uses: itself, the owner of a method, what a function refers to, with all their submodules."""
    found: dict[int, nn.Module] = {}
    for value in _referred(fn):
        if isinstance(value, nn.Module):
            found |= {id(module): module for module in value.modules()}
    return list(found.values())


def _referred(fn: Any) -> Iterator[Any]:
    yield fn
    yield getattr(fn, "__self__", None)
    if isinstance(fn, functools.partial):
        yield from _referred(fn.func)
        yield from (*fn.args, *fn.keywords.values())
    elif inspect.isfunction(fn):
        variables = inspect.getclosurevars(fn)
        yield from (*variables.nonlocals.values(), *variables.globals.values(), *(fn.__defaults__ or ()))


class ModuleState:
    """What a module is like now: ``restore`` undoes every change of its attributes, mode, registered tensors and gradients."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.attributes = dict(vars(module))
        self.registered = {name: dict(vars(module)[name]) for name in DICTIONARIES}
        self.gradients = [(tensor, tensor.grad) for tensor in module.parameters(recurse=False)]
        self.plain = [
            (value, value.detach().clone()) for value in self.attributes.values() if isinstance(value, Tensor)
        ]

    def restore(self) -> None:
        attributes = vars(self.module)
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
