"""Calls a function of somebody else to measure it: with which inputs, and so that everything is afterwards as it was before.

The inputs are random numbers of a generator with a fixed seed, so that nothing cancels by chance. ``isolated`` makes a ``Function``, which
undoes what a call changes in modules and objects, and never writes into the original parameters and buffers.
"""

import copy
import functools
import inspect
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod, sqrt
from typing import Any

import numpy as np
import torch
from torch import Tensor, jit, nn

from normviz.texts.errors import NormvizError, echo

SEED = 20
MOST_INPUTS = 4096  # elements of x that are moved one by one; above, a sample of them
SAMPLE, SMALL_SAMPLE = 24, 8  # elements in a sample; the smaller number if x has more than LARGE elements
LARGE = 2**18
FEW = 2**16  # up to so many elements, synchronizing threads takes longer than the computation


def generic(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> Tensor:
    """Normal values with mean 0.5 and standard deviation 1; another ``seed`` gives other values."""
    generator = torch.Generator().manual_seed(SEED + seed)
    return (torch.randn(shape, generator=generator, dtype=torch.float64) + 0.5).to(dtype)


def indices(shape: tuple[int, ...], most: int = MOST_INPUTS, few: int = SMALL_SAMPLE) -> Iterator[tuple[int, ...]]:
    """The inputs that are moved, in row-major order: all of them, or a sample with the first and the last one."""
    elements = prod(shape)
    chosen: Sequence[int] = range(elements)
    if elements > most:
        generator, count = torch.Generator().manual_seed(SEED), SAMPLE if elements <= LARGE else few
        chosen = sorted({0, elements - 1, *torch.randint(elements, (count,), generator=generator).tolist()})
    for flat in chosen:
        yield tuple(map(int, np.unravel_index(flat, shape)))


def distance(shape: tuple[int, ...], dtype: torch.dtype) -> float:
    """By how much one input is moved: enough to dominate the variance of all elements; its square does not overflow ``dtype``."""
    return min(3 * sqrt(prod(shape)) + 5, sqrt(torch.finfo(dtype).max) / 8)


def tolerance(dtype: torch.dtype, output: Tensor) -> float:
    """The relative difference of outputs that is not rounding, for a function that is given ``dtype``.

    A function may convert x to float32 and back.
    """
    resolution = torch.finfo(dtype).eps
    if dtype == torch.float64 and torch.equal(output, output.float().double().to(output.dtype)):
        resolution = torch.finfo(torch.float32).eps
    return 256 * resolution


def agreement(dtype: torch.dtype) -> float:
    """The relative difference between an output and a formula for it that may be rounding."""
    return {torch.float64: 1e-6, torch.float32: 1e-4}.get(dtype, 2e-2)


def large(dtype: torch.dtype) -> float:
    """A factor of x that makes eps negligible."""
    return min(1e5, torch.finfo(dtype).max ** 0.5 / 8)


# The modules and objects that a function uses, and their state: attributes, registered tensors, mode and gradients.

DICTIONARIES = ("_parameters", "_buffers", "_modules")
# Classes and functions of these libraries refer to no object of the caller.
LIBRARIES = ("torch", "numpy", "builtins", "einops", "functools", "types")
DEEPEST, MOST_OBJECTS = 6, 2000  # limits of the search


def found_in(fn: Callable[..., Any]) -> tuple[list[nn.Module], list[Tensor]]:
    """The modules that ``fn`` may use, and its other tensors. They are found in attributes, containers and the functions that fn calls."""
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


# A function that can be called without side effects.

Values = Mapping[int, Tensor]  # values of some tensors, by their position in Function.tensors


class Function:
    """A function of a tensor without side effects. ``isolated`` makes one.

    modules    that the function uses
    tensors    that it uses: parameters and buffers of the modules, other tensors that it refers to, leaves of autograd's graph, gamma and
               beta in ``params``
    constants  the ids of tensors outside of the modules that need no gradient
    dtype      in which it computes: x and its tensors are converted to it
    """

    def __init__(self, fn: Callable[..., Any], takes_arrays: bool, params: Mapping[str, Any]) -> None:
        self.fn, self.takes_arrays = fn, takes_arrays
        self.params = {name: _own_tensor(value) for name, value in params.items()}
        self.modules, others = found_in(fn)
        self.constants = {id(tensor) for tensor in others if not tensor.requires_grad}
        self.tensors: list[Tensor] = []
        self.originals: list[Tensor] = []
        self.values: list[Tensor] = []
        self.dtype = torch.float32
        owner = called_object(fn)
        self._states = [State(one) for one in (*self.modules, *([] if owner is None else [owner]))]
        self.add(tensor for module in self.modules for tensor in (*module.parameters(), *module.buffers()))
        self.add(others)
        self.add(value for value in self.params.values() if isinstance(value, Tensor))

    def add(self, tensors: Iterable[Tensor]) -> None:
        """Also isolate these tensors."""
        known = set(map(id, self.tensors))
        new = {id(tensor): tensor for tensor in tensors if id(tensor) not in known}
        self.tensors += new.values()
        self.originals += [tensor.data for tensor in new.values()]
        self.values += [tensor.data for tensor in new.values()]

    def choose_dtype(self, x: Tensor) -> None:
        """Compute in float64 if the function takes it and x is not large; otherwise in the dtype of x. A less precise output decides the dtype."""
        for dtype in (torch.float64, x.dtype) if x.numel() <= LARGE else (x.dtype,):
            self._use(dtype)
            try:
                output = self(x.to(dtype)).dtype
            except NormvizError:
                continue
            if output.itemsize < torch.float32.itemsize:
                self._use(output)
            return
        self._use(x.dtype)

    def _use(self, dtype: torch.dtype) -> None:
        self.dtype = dtype
        self.values = [value.to(dtype) if value.is_floating_point() else value for value in self.originals]

    def takes(self, shape: tuple[int, ...], values: Values | None = None) -> bool:
        """Whether it can be called with an x of this shape and with these values."""
        try:
            self(generic(shape, self.dtype), values)
        except NormvizError:
            return False
        return True

    def __call__(self, x: Tensor, values: Values | None = None) -> Tensor:
        """The output for x, with other values of some tensors. x is not changed.

        Raises NormvizError if the function raises, or if its output is not a floating-point tensor of the shape of x.
        """
        with torch.no_grad():
            return self._call(x, values or {}).detach()

    def leaves(self, x: Tensor) -> list[Tensor]:
        """The leaf tensors from which autograd would compute the output: parameters, also of modules that ``found_in`` does not find."""
        if self.takes_arrays:
            return []
        with torch.enable_grad():
            waiting = [self._call(x, {}).grad_fn]
        found: dict[int, Tensor] = {}
        seen = set()
        while waiting:
            node = waiting.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            leaf = getattr(node, "variable", None)
            if leaf is not None:
                found[id(leaf)] = leaf
            waiting += [following for following, _position in node.next_functions]
        return list(found.values())

    def _call(self, x: Tensor, values: Values) -> Tensor:
        self.restore()
        for position, tensor in enumerate(self.tensors):
            tensor.data = values.get(position, self.values[position]).clone()
        try:
            output = self._run(x.clone())
        except Exception as error:
            raise NormvizError(
                "the function raises on an x of shape {shape}: {kind}: {error}",
                shape=tuple(x.shape),
                kind=type(error).__name__,
                error=error,
            ) from error
        return _checked(output, x)

    def _run(self, x: Tensor) -> Any:
        others = copy.deepcopy({name: value for name, value in self.params.items() if not isinstance(value, Tensor)})
        if not self.takes_arrays:
            return self.fn(x, **self.params | others)
        arrays = {name: value.numpy() for name, value in self.params.items() if isinstance(value, Tensor)}
        return self.fn(x.numpy(), **arrays | others)

    def restore(self) -> None:
        """Give the modules the state that they had, and the tensors their own storage."""
        for state in self._states:
            state.restore()
        for tensor, original in zip(self.tensors, self.originals, strict=True):
            tensor.data = original


@contextmanager
def isolated(fn: Callable[..., Any], x: Tensor, takes_arrays: bool, params: Mapping[str, Any]) -> Iterator[Function]:
    """``fn`` as a Function. Afterwards its tensors and modules and the random states of torch, NumPy and Python are as before.

    Raises NormvizError if fn cannot be called with x, or if it is random.
    """
    if not callable(fn):
        raise NormvizError("{fn} is not a function of a tensor; give a function or a module.", fn=echo(fn))
    # An object that is called may keep what it computes. Functions and modules are restored instead.
    own = fn if called_object(fn) is None else copy.deepcopy(fn)
    threads = torch.get_num_threads()
    with same_random_states():
        function = Function(own, takes_arrays, params)
        try:
            torch.set_num_threads(1 if x.numel() <= FEW else threads)
            _check_not_random(function, x)
            function.add(function.leaves(x))
            function.choose_dtype(x)
            yield function
        finally:
            function.restore()
            torch.set_num_threads(threads)


@contextmanager
def same_random_states() -> Iterator[None]:
    """Afterwards, the random states of torch, NumPy and Python are as before."""
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    try:
        yield
    finally:
        torch.set_rng_state(states[0])
        np.random.set_state(states[1])
        random.setstate(states[2])


def is_number_array(value: Any) -> bool:
    """Whether it is a tensor or an array of floating-point numbers."""
    if isinstance(value, Tensor):
        return value.is_floating_point()
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def _own_tensor(value: Any) -> Any:
    """A number array as a tensor of its own; anything else as it is."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return torch.from_numpy(value.copy())
    return value.detach().clone() if isinstance(value, Tensor) else value


def _checked(output: Any, x: Tensor) -> Tensor:
    """The output as a tensor; the first one of ``(out, cache)``."""
    found = output[0] if isinstance(output, tuple | list) and output else output
    if isinstance(found, np.ndarray):
        found = torch.from_numpy(np.array(found))
    if not isinstance(found, Tensor):
        raise NormvizError("the function must return a tensor like x, and it returned {found}.", found=echo(output))
    if found.shape != x.shape:
        raise NormvizError(
            "the function must return an output of the shape of x, {shape}, and it returned one of shape {found}.",
            shape=tuple(x.shape),
            found=tuple(found.shape),
        )
    if not found.is_floating_point():
        raise NormvizError(
            "the function must return floating-point numbers, as x has, and it returned {found}.",
            found=str(found.dtype).removeprefix("torch."),
        )
    return found


def _check_not_random(function: Function, x: Tensor) -> None:
    outputs = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        np.random.seed(seed)
        random.seed(seed)
        outputs.append(function(x))
    if not torch.equal(*(output.nan_to_num() for output in outputs)):
        raise NormvizError(
            "the function is random: two calls with the same x differ by up to {difference:.3g}; switch off dropout "
            "and noise, for example with module.eval(), or fix the seed in the function.",
            difference=float((outputs[0] - outputs[1]).abs().nan_to_num().max()),
        )
