"""Calls a function of somebody else to measure it: with which inputs, and so that everything is afterwards as it was before.

The inputs are random numbers of a generator with a fixed seed, so that nothing cancels by chance. ``isolated`` makes a ``Function``, which
undoes what a call changes in modules and objects, and never writes into the original parameters and buffers.
"""

import copy
import functools
import inspect
import math
import operator
import os
import random
import re
import sys
import threading
import warnings
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import wraps
from importlib import import_module
from itertools import chain
from math import prod, sqrt
from time import monotonic
from typing import Any, ParamSpec, TypeVar

import numpy as np
import torch
from torch import Tensor, jit, nn
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode

from normviz.analysis.forward import CPU, dtype_name
from normviz.layers.layer import check_is_object
from normviz.texts.errors import NormvizError, echo

# One measurement at a time: while a module is measured, its tensors have other values, and the random states and hooks are not its own.


P = ParamSpec("P")
R = TypeVar("R")
_exit = os._exit  # the function may replace that of the module
QUICK = 2.0  # s, in which nothing is shown
ENDS = (SystemExit, GeneratorExit)  # code that is measured must not end its caller


class _TooLong(BaseException):
    """Passes through the functions that try whether a call raises."""


class _Calls:
    """The calls of the function in one measurement."""

    def __init__(self, timeout: float | None) -> None:
        self.timeout, self.start, self.number = timeout, monotonic(), 0
        self.process = os.getpid()
        self._bar: Any = None

    def next(self) -> None:
        if os.getpid() != self.process:  # the function forked, and its copy goes on
            _exit(0)
        passed = monotonic() - self.start
        if self.timeout is not None and passed > self.timeout:
            raise _TooLong
        self.number += 1
        if self._bar is None and passed > QUICK and has_reader():
            from tqdm import tqdm

            self._bar = tqdm(initial=self.number, unit=" calls of the function", leave=False, file=sys.stderr)
        elif self._bar is not None:
            self._bar.update()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


_lock = threading.RLock()
_current: list[_Calls] = []  # of the thread that has the lock; the last one counts


def has_reader() -> bool:
    # Python without a console has no stderr.
    return (sys.stderr is not None and sys.stderr.isatty()) or "ipykernel" in sys.modules


@contextmanager
def measuring(timeout: float | None = None) -> Iterator[None]:
    """Wait until no other thread measures.

    Raises NormvizError if ``timeout`` is not a positive number, and after ``timeout`` seconds: while it waits, or at the next call of the
    function.
    """
    if timeout is not None and not (type(timeout) in (int, float) and 0 < timeout < math.inf):
        raise NormvizError("timeout={timeout} is not a positive number of seconds.", timeout=echo(timeout))
    calls = _Calls(timeout)
    try:
        with _lock_within(timeout):
            _current.append(calls)
            try:
                yield
            finally:
                _current.pop()
                calls.close()
    except _TooLong:
        raise NormvizError(
            "the check ended after {seconds:g} s without a result, before call {n} of the function; give a smaller x, or a longer timeout.",
            seconds=timeout,
            n=calls.number + 1,
        ) from None
    except ENDS as error:
        raise NormvizError(
            "the code that is measured raises {kind}, which ends a program; take exit() out of it.",
            kind=type(error).__name__,
        ) from error


@contextmanager
def _lock_within(timeout: float | None) -> Iterator[None]:
    if not _lock.acquire(timeout=-1 if timeout is None else min(timeout, threading.TIMEOUT_MAX)):
        raise _TooLong
    try:
        yield
    finally:
        _lock.release()


def one_at_a_time(measure: Callable[P, R]) -> Callable[P, R]:
    """The function, which waits until no other thread measures."""

    @wraps(measure)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with measuring():
            return measure(*args, **kwargs)

    return run


def count_call() -> None:
    """Call before each call of a measured function."""
    if _current:
        _current[-1].next()


PRINTED = ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")
HOOKS = [
    value for name, value in vars(nn.modules.module).items() if name.startswith("_global_") and name.endswith("_hooks")
]
NO_HOOKS: list[dict[int, Any]] = [{} for _hooks in HOOKS]  # as nearly always, which is read before and after each call


def _autocast() -> list[tuple[bool, torch.dtype]]:
    return [(torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)) for device in AUTOCAST]


def _set_autocast(values: list[tuple[bool, torch.dtype]]) -> None:
    for device, (enabled, dtype) in zip(AUTOCAST, values, strict=True):
        torch.set_autocast_enabled(device, enabled)
        torch.set_autocast_dtype(device, dtype)


def _set_hooks(values: list[dict[int, Any]]) -> None:
    for hooks, value in zip(HOOKS, values, strict=True):
        hooks.clear()
        hooks.update(value)


AUTOCAST = ("cpu", "cuda") if hasattr(torch, "get_autocast_dtype") else ()  # torch 2.4
# What a function can set for all other code: how to read it, and how to set it.
SETTINGS: Sequence[tuple[Callable[[], Any], Callable[[Any], object]]] = (
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.get_num_threads, torch.set_num_threads),
    (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode),
    (
        lambda: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()),
        lambda values: torch.set_anomaly_enabled(*values),
    ),
    (_autocast, _set_autocast),
    (lambda: list(map(dict, HOOKS)) if any(HOOKS) else NO_HOOKS, _set_hooks),
    (
        lambda: operator.attrgetter(*PRINTED)(torch._tensor_str.PRINT_OPTS),
        lambda values: torch.set_printoptions(**dict(zip(PRINTED, values, strict=True))),
    ),
    (np.geterr, lambda values: np.seterr(**values)),
    (np.get_printoptions, lambda values: np.set_printoptions(**values)),
)


@contextmanager
def same_settings() -> Iterator[None]:
    """Afterwards, the settings that torch and NumPy have for all code are as before."""
    before = [get() for get, _set in SETTINGS]
    try:
        yield
    finally:
        for (get, set_again), value in zip(SETTINGS, before, strict=True):
            if get() != value:
                set_again(value)


@contextmanager
def same_random_states(device: torch.device = CPU) -> Iterator[None]:
    """Afterwards, the random states of torch, on the CPU and on this kind of device, of NumPy and of Python are as before."""
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    own = None if device.type == "cpu" else getattr(torch, device.type, None)
    end = "_all" if hasattr(own, "get_rng_state_all") else ""  # of several GPUs
    state = getattr(own, f"get_rng_state{end}", lambda: None)()
    try:
        yield
    finally:
        getattr(own, f"set_rng_state{end}", lambda _state: None)(state)
        torch.set_rng_state(states[0])
        np.random.set_state(states[1])
        random.setstate(states[2])


__tracebackhide__ = True  # pytest shows the frame of the caller

SEED = 20
GAMMA_NAMES, BETA_NAMES = ("weight", "gamma", "scale"), ("bias", "beta", "shift")
STATISTICS = ("running_mean", "running_var")
OTHER_STATISTICS = {
    "moving_mean": STATISTICS[0],
    "moving_variance": STATISTICS[1],
    "moving_var": STATISTICS[1],
}  # of Keras
OF_NUMBERS = ("weight", "gamma", "bias", "beta")  # a number with the name scale may be any factor
KNOWN_NAMES = (*GAMMA_NAMES, *BETA_NAMES, *STATISTICS, *OTHER_STATISTICS)  # of tensors in a dictionary
TENSORS, ARRAYS, JAX = "tensors", "arrays", "jax"  # what a function takes
FEW_INPUTS = 150  # up to so many elements of x are moved one by one at first
MOST_INPUTS = 4096  # elements of x that are moved one by one; above, a sample of them
SAMPLE, SMALL_SAMPLE = 24, 8  # elements in a sample; the smaller number if x has more than LARGE elements
LARGE = 2**18
MOST_ELEMENTS = 2**28  # of an x of which the shape is given: 1 GiB in float32
FEW = 2**16  # up to so many elements, synchronizing threads takes longer than the computation


def meaning(name: str) -> str:
    """What the tensor of a function is, by its name: a running statistic, as torch calls it, gamma or beta; else the name.

    >>> meaning("norm.moving_variance"), meaning("weight"), meaning("bias")
    ('running_var', 'gamma', 'beta')
    """
    name = re.split("[./]", name)[-1]
    if name in GAMMA_NAMES:
        return "gamma"
    return "beta" if name in BETA_NAMES else OTHER_STATISTICS.get(name, name)


def generic(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> Tensor:
    """Normal values with mean 0.5 and standard deviation 1, on torch's default device; another ``seed`` gives other values."""
    device = torch.empty(0).device
    home = device if prod(shape) > FEW else "cpu"  # few values are the same on every device
    generator = torch.Generator(home).manual_seed(SEED + seed)
    values = torch.randn(shape, generator=generator, dtype=torch.float64, device=home) + 0.5
    return values.to(device, dtype)


def home_of(x: Tensor) -> torch.device:
    """The device on which x is compared in float64: its own, or the CPU if its own has no float64, as Apple's GPUs."""
    try:
        torch.empty(0, dtype=torch.float64, device=x.device)
    except (TypeError, RuntimeError):
        return CPU
    return x.device


def check_fits(shape: tuple[int, ...]) -> None:
    """Raise NormvizError for an x that may not fit into memory."""
    if prod(shape) > MOST_ELEMENTS:
        raise NormvizError(
            "an x of shape {shape} is too large to measure: the product of its sizes is {n:,}; the limit is {most:,}. Give smaller sizes; the axes tell what the function does.",
            shape=echo(shape),
            n=prod(shape),
            most=MOST_ELEMENTS,
        )


def indices(shape: tuple[int, ...], most: int = MOST_INPUTS, few: int = SMALL_SAMPLE) -> Iterator[tuple[int, ...]]:
    """The inputs that are moved, in row-major order: all of them, or a sample with the first and the last one."""
    elements = prod(shape)
    chosen: Sequence[int] = range(elements)
    if elements > most:
        generator, count = torch.Generator().manual_seed(SEED), SAMPLE if elements <= LARGE else few
        chosen = sorted(
            {0, elements - 1, *torch.randint(elements, (count,), generator=generator, device="cpu").tolist()}
        )
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

CONTAINERS = (list, dict, set, deque, OrderedDict, defaultdict)
# Classes and functions of these libraries refer to no object of the caller.
LIBRARIES = ("torch", "numpy", "builtins", "einops", "functools", "types")
DEEPEST, MOST_OBJECTS = 6, 2000  # limits of the search


def found_in(fn: Callable[..., object]) -> tuple[list[nn.Module], list[Tensor], bool]:
    """The modules that ``fn`` may use, its other tensors, and whether it may use arrays of NumPy or JAX.

    They are found in attributes, containers and the functions that fn calls.
    """
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
    others = [tensor for tensor in tensors.values() if id(tensor) not in registered]
    return list(modules.values()), others, any(isinstance(one, np.ndarray) or is_jax(one) for one in seen.values())


def _referred(value: object) -> Iterable[Any]:
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


def names_in(fn: Callable[..., object]) -> dict[int, str]:
    """The names of the tensors to which a function, or the object that it is, refers directly, by the id of the tensor."""
    owner = called_object(fn)
    named: dict[str, Any] = {} if owner is None else dict(vars(owner))
    function = inspect.unwrap(fn.__func__ if inspect.ismethod(fn) else fn)
    if inspect.isfunction(function):
        with suppress(ValueError):  # a variable without a value
            variables = inspect.getclosurevars(function)
            named |= {**variables.globals, **variables.nonlocals}
    if isinstance(fn, functools.partial):
        named |= fn.keywords
    return {id(value): name for name, value in named.items() if isinstance(value, Tensor)}


def has_modes(fn: object) -> bool:
    """Whether it is a module with a train and an eval mode. A frozen one of TorchScript has none."""
    return isinstance(fn, nn.Module) and hasattr(fn, "training")


def called_object(fn: object) -> Any:
    """The callable object, or the object of a bound method; None for functions (also scripted), classes and modules."""
    owner = getattr(fn, "__self__", None) if inspect.isroutine(fn) else fn
    known = nn.Module | functools.partial | type | jit.ScriptFunction
    has_attributes = hasattr(owner, "__dict__") and not isinstance(owner, known)
    return owner if has_attributes and not inspect.isroutine(owner) and not inspect.ismodule(owner) else None


def _registered(fn: object) -> Iterable[Tensor]:
    return chain(fn.parameters(), fn.buffers()) if isinstance(fn, nn.Module) else ()


class State:
    """What a module or another object is like now: ``restore`` undoes every change of its attributes, mode, registered tensors and gradients."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        # The attributes of a scripted module are in C++; a call changes only its tensors.
        self.scripted = isinstance(owner, jit.ScriptModule)
        self.training = getattr(owner, "training", None)  # a frozen one has no mode
        self.attributes = {} if self.scripted else dict(vars(owner))
        module = owner if isinstance(owner, nn.Module) and not self.scripted else nn.Module()
        self.plain = [
            (value, value.detach().clone())
            for value in self.attributes.values()
            if isinstance(value, Tensor) and is_dense(value)
        ]
        self.gradients = [(tensor, tensor.grad) for tensor in module.parameters(recurse=False)]
        self.hooks = [(tensor, dict(tensor._backward_hooks or {})) for tensor, _grad in self.gradients]
        self.contents = list(_contents(self.attributes.values()))  # parameters, buffers and modules among them

    def restore(self) -> None:
        attributes = {} if self.scripted else vars(self.owner)
        _set(attributes, self.attributes)
        if self.scripted and self.training is not None:
            self.owner.training = self.training
        for tensor, gradient in self.gradients:
            if tensor.grad is not gradient:
                tensor.grad = gradient
        for tensor, hooks in self.hooks:
            _set(tensor._backward_hooks or {}, hooks)
        for plain, value in self.plain:
            if not plain.detach().equal(value):
                plain.data.copy_(value)
        for container, content in self.contents:
            if not (container or content):  # as most of the dictionaries of a module
                continue
            if isinstance(container, dict):
                _set(container, content)
            elif len(container) != len(content) or any(map(operator.is_not, container, content)):
                container.clear()
                (container.update if isinstance(container, set) else container.extend)(content)


def _contents(values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """The containers of Python among values, and in them, each with a copy of what it contains."""
    waiting, seen = list(values)[::-1], set[int]()
    while waiting and len(seen) < MOST_OBJECTS:
        value = waiting.pop()
        if type(value) not in CONTAINERS or id(value) in seen:
            continue
        seen.add(id(value))
        yield value, value.copy()
        waiting += value.values() if isinstance(value, dict) else value


def _set(current: dict[Any, Any], wanted: dict[Any, Any]) -> None:
    """Give the dictionary exactly the wanted values."""
    if current.keys() != wanted.keys() or not all(map(operator.is_, map(current.get, wanted), wanted.values())):
        current.clear()
        current.update(wanted)


# A function that can be called without side effects.

Values = Mapping[int, Tensor]  # values of some tensors, by their position in Function.tensors


class Function:
    """A function of a tensor without side effects. ``isolated`` makes one.

    modules    that the function uses
    tensors    that it uses: parameters and buffers of the modules, other tensors that it refers to, leaves of autograd's graph, those in
               ``params``, and numbers there with the name of a gamma or beta
    numbers    the ids of the tensors that were made from these numbers
    fixed      the positions of the tensors that always keep their values
    given_params  ``params`` as they were given
    constants  the ids of tensors outside of the modules that need no gradient
    has_arrays whether it may use arrays of NumPy or JAX that are not among the tensors
    passed     the tensor with which it was called last
    first      its output for x in the first call
    residual   what its argument residual is, from x: that of a fused kernel, which normalizes the sum; None if it has none
    kind       what it takes: TENSORS, ARRAYS (of NumPy) or JAX
    switched   whether it returned an array for a tensor, and takes arrays since
    converts   whether it takes tensors and computes with NumPy
    dtype      in which it computes: x and its tensors are converted to it
    device     on which it is called
    home       the device of the x that it is given, of its output and of ``values``: see ``home_of``
    usual      the caller's default device, for the tensors that it makes itself
    """

    def __init__(
        self, fn: Callable[..., Any], kind: str, params: Mapping[str, Any], x: Tensor, usual: torch.device
    ) -> None:
        self.device, self.home, self.usual = x.device, home_of(x), usual
        self.fn, self.kind, self.switched = unbound(fn), kind, False
        self.converts, self.called = False, False
        self.passed: Tensor | None = None  # the tensor with which it was called last
        self.returns_x = False  # whether its last output has the memory of that tensor
        self.first = torch.empty(0)  # its output for x
        self.residual: Callable[[Tensor], Tensor] | None = None
        self.given_params, self.numbers = params, set[int]()
        self.params = {name: self._own(value, name) for name, value in params.items()}
        given = list(_named_tensors(self.params))
        self._given = {id(tensor) for _name, tensor in given}
        self.modules, others, self.has_arrays = found_in(fn)
        self.constants = {id(tensor) for tensor in others if not tensor.requires_grad}
        self.fixed: set[int] = set()
        self.tensors: list[Tensor] = []
        self.originals: list[Tensor] = []
        self.values: list[Tensor] = []
        self.dtype = torch.float32
        owner = called_object(fn)
        self._states = [State(one) for one in (*self.modules, *([] if owner is None else [owner]))]
        self.named: dict[int, str] = names_in(fn) | {
            id(tensor): name
            for module in self.modules
            for name, tensor in chain(module.named_parameters(recurse=False), module.named_buffers(recurse=False))
        }
        self.named |= {id(tensor): name for name, tensor in given if name}
        self.add(tensor for module in self.modules for tensor in (*module.parameters(), *module.buffers()))
        self.add(others)
        self.add(tensor for _name, tensor in given)

    def _own(self, value: Any, name: str, is_parameter: bool = True) -> Any:
        """A number array as a tensor of its own, in dictionaries those with a known name; a number that is gamma or beta as a tensor, too."""
        if type(value) is dict:
            return {
                one: self._own(each, known := _name_in(value, one), known in KNOWN_NAMES) for one, each in value.items()
            }
        if type(value) in (list, tuple):
            return type(value)(self._own(each, "", is_parameter) for each in value)
        if type(value) in (int, float) and name in OF_NUMBERS:
            number = torch.tensor(float(value), dtype=torch.float64)
            self.numbers.add(id(number))
            return number
        return _own_tensor(value) if is_parameter else value

    @property
    def is_training(self) -> bool:
        """Whether one of its modules is in train mode."""
        return any(has_modes(module) and module.training for module in self.modules)

    def add(self, tensors: Iterable[Tensor]) -> None:
        """Also isolate these tensors."""
        known = set(map(id, self.tensors))
        new = {id(tensor): tensor for tensor in tensors if id(tensor) not in known and not tensor.is_meta}
        self.tensors += new.values()
        self.originals += [tensor.data for tensor in new.values()]
        self.values += [tensor.data.to(self.home) for tensor in new.values()]

    @property
    def names(self) -> dict[int, str]:
        """The names of its tensors, by position: of parameters, arguments and variables. Running statistics have torch's names."""
        named = {i: self.named[id(tensor)] for i, tensor in enumerate(self.tensors) if id(tensor) in self.named}
        short = {
            i: name.rpartition("/")[2] for i, name in named.items()
        }  # Keras writes the name of the layer before it
        return {i: OTHER_STATISTICS.get(name, name) for i, name in short.items()}

    def fix_numbers(self, names: Iterable[str]) -> None:
        """Numbers with these names are constants."""
        self.fixed |= {i for i, name in self.names.items() if name in names and id(self.tensors[i]) in self.numbers}

    def choose_dtype(self, x: Tensor) -> None:
        """Compute in float64 if the function takes it and x is not large; otherwise in the dtype of x. A less precise output decides the dtype."""
        has_double = x.numel() <= LARGE and self.kind != JAX and self.home == self.device
        for dtype in (torch.float64, x.dtype) if has_double else (x.dtype,):
            self.use(dtype)
            try:
                output = self(x.to(dtype)).dtype
            except NormvizError:
                continue
            if output.itemsize < torch.float32.itemsize:
                self.use(output)
            return
        self.use(x.dtype)

    def use(self, dtype: torch.dtype) -> None:
        """Convert its tensors to this dtype."""
        self.dtype = dtype
        self.use_own()
        self.values = [value.to(dtype) if value.is_floating_point() else value for value in self.values]

    def use_own(self) -> None:
        """Use its tensors in their own dtypes."""
        self.values = [value.to(self.home) for value in self.originals]

    @contextmanager
    def resized(self, values: Values) -> Iterator[None]:
        """Its tensors with these values, which may have other shapes, as if they had been given so."""
        before = self.originals
        self.originals = [values.get(i, one) for i, one in enumerate(before)]
        self.use(self.dtype)
        self.restore()
        try:
            yield
        finally:
            self.originals = before
            self.use(self.dtype)
            self.restore()

    def with_values(self, values: Values) -> dict[int, Tensor]:
        """Its tensors by position, some of them with other values."""
        return {i: values.get(i, value) for i, value in enumerate(self.values)}

    def takes(self, shape: tuple[int, ...], values: Values | None = None) -> bool:
        """Whether it can be called with an x of this shape and with these values."""
        try:
            self(generic(shape, self.dtype), values)
        except NormvizError:
            return False
        return True

    def __call__(self, x: Tensor, values: Values | None = None) -> Tensor:
        """The output for x, with other values of some tensors. x is not changed.

        Modules in train mode may make a graph, as in training: some tell the modes by that.

        Raises NormvizError if the function raises, or if its output is not a floating-point tensor of the shape of x.
        """
        with torch.set_grad_enabled(self.is_training):
            return self.with_graph(x, values or {}).detach()

    def with_graph(self, x: Tensor, values: Values) -> Tensor:
        """The output with its graph, if autograd makes one."""
        output = self._checked(self.raw(x, values), x)
        memory = None if self.passed is None else self.passed.untyped_storage().data_ptr()
        self.returns_x = output.untyped_storage().data_ptr() == memory
        return output.to(self.home)

    def leaves(self, x: Tensor) -> list[Tensor]:
        """The leaf tensors from which autograd would compute the output: parameters, also of modules that ``found_in`` does not find."""
        if self.kind != TENSORS:
            return []
        with torch.enable_grad():
            output = self.with_graph(
                x, {}
            )  # kept until the end: in torch 2.2 a graph of an autograd.Function ends with its output
        waiting = [output.grad_fn]
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

    def raw(self, x: Tensor, values: Values) -> Any:
        """What the function itself returns for x, with other values of some tensors. Raises NormvizError if it raises."""
        count_call()
        self.renew(values)
        try:
            with same_settings():
                self.passed = x.to(self.device) if x.grad_fn is not None else same_strides(x, self.device)
                return self._run(self.passed)
        except (Exception, *ENDS) as error:
            raise NormvizError(
                "the function raises on an x of shape {shape}: {kind}: {error}",
                shape=tuple(x.shape),
                kind=type(error).__name__,
                error=error,
            ) from error

    def renew(self, values: Values) -> None:
        """Restore the state, and give the tensors copies of their values, or of others."""
        self.restore()
        for position, tensor in enumerate(self.tensors):
            tensor.data = values.get(position, self.values[position]).to(self.originals[position].device, copy=True)

    def consecutive(self, inputs: Iterable[Tensor]) -> Iterator[tuple[Tensor, Tensor]]:
        """The output of each x and a copy of it, as they are after all calls; what the function keeps is not restored between them."""
        made = []
        self.renew({})
        for x in inputs:
            count_call()
            with torch.set_grad_enabled(self.is_training), same_settings():
                output = self.run(same_strides(x, self.device)).detach()
            made.append((output, output.clone()))
        self.restore()
        return ((output.to(self.home), before.to(self.home)) for output, before in made)

    def in_memory(self, memory: Tensor, inputs: Iterable[Tensor]) -> Iterator[Tensor]:
        """The output of each x, which is copied to the same memory."""
        self.renew({})
        memory = memory.to(self.device)
        for x in inputs:
            count_call()
            memory.copy_(x)
            with torch.no_grad(), same_settings():
                yield self.run(memory).detach().to(self.home, copy=True)
        self.restore()

    def has_free_sizes(self, roles: Any) -> bool:
        """Whether gamma and beta are arguments, or there are none."""
        own = [role.position for role in vars(roles).values() if role is not None]
        return all(one >= 0 and self.is_argument(one) for one in own) and (bool(own) or not self.tensors)

    def is_argument(self, position: int) -> bool:
        """Whether this tensor is one of ``params``."""
        return id(self.tensors[position]) in self._given

    def run(self, x: Tensor) -> Tensor:
        """The output for x, on the device of the function, in the state that its tensors and modules have now."""
        return self._checked(self._run(x), x)

    def _run(self, x: Tensor) -> Any:
        """What the function returns. Tensors that it makes itself are on the default device of the caller."""
        is_usual = torch.empty(0).device == self.usual  # a mode for devices makes each call of torch slower
        with nullcontext() if is_usual else self.usual:
            return self._called(x)

    def _called(self, x: Tensor) -> Any:
        is_first, self.called = not self.called, True
        if self.kind == TENSORS:
            try:
                with _ConversionsRaise() if is_first else nullcontext():
                    output = self.fn(x, **self.arguments(x))
            except Exception as error:
                output = self._of_arrays_only(x) if is_first else None
                if output is not None:
                    return output
                if not isinstance(error, _ConvertedError):
                    raise
                self.converts = True
                output = self.fn(x, **self.arguments(x))
            kind = None if self.converts else _array_kind(output)
            if kind is None:
                return output
            # A function of arrays that takes a tensor for one, or that converts it.
            self.kind = kind
            try:
                output = self._run_on_arrays(x)
                self.switched = True
            except Exception:
                self.kind, self.converts = TENSORS, True
            return output
        return self._run_on_arrays(x)

    def _of_arrays_only(self, x: Tensor) -> Any:
        """The output of a function that raises for a tensor; None if it raises for an array, too."""
        self.kind = ARRAYS
        with suppress(Exception):
            output = self._run_on_arrays(x)
            if _array_kind(output) == ARRAYS:
                self.switched = True
                return output
        self.kind = TENSORS
        return None

    def _run_on_arrays(self, x: Tensor) -> Any:
        return self.fn(self.own_array(x.detach()), **self.arguments(x))

    def arguments(self, x: Tensor) -> dict[str, Any]:
        """The further arguments of a call with x."""
        own = {name: self._arguments(value) for name, value in self.params.items()}
        return own if self.residual is None else own | {"residual": self.own_array(self.residual(x.detach()))}

    def with_residual(self, x: Tensor, residual: Tensor) -> list[Tensor]:
        """The output for x with this residual, and the second one if it has the shape of x."""
        zeros, self.residual = self.residual, lambda _x: residual.to(self.device, copy=True)
        try:
            found = self.raw(x, {})
        finally:
            self.residual = zeros
        several = list(found) if isinstance(found, tuple | list) else [found]
        second = [one for one in several[1:2] if getattr(one, "shape", None) == x.shape and is_number_array(one)]
        return [self._checked(one, x).detach().to(self.home) for one in (several[0], *second)]

    def _arguments(self, value: Any) -> Any:
        """One of them: gamma, beta and other tensors as what the function takes, and a copy of everything else."""
        if id(value) in self._given:
            if id(value) in self.numbers:
                return value.item()
            return value if self.kind == TENSORS else self.own_array(value)
        if type(value) is dict:
            return {name: self._arguments(one) for name, one in value.items()}
        if type(value) in (list, tuple):
            return type(value)(map(self._arguments, value))
        return copy.deepcopy(value)

    def own_array(self, tensor: Tensor) -> Any:
        """The tensor as what the function takes."""
        if self.kind == TENSORS:
            return tensor.to(self.device)
        return tensor.numpy() if self.kind == ARRAYS else import_module("jax.numpy").from_dlpack(tensor.contiguous())

    def _checked(self, output: object, x: Tensor) -> Tensor:
        """The output as a tensor on the device of the function; the first one of ``(out, cache)``."""
        found = output[0] if isinstance(output, tuple | list) and output else output
        if isinstance(found, Tensor) and found.device != self.device and is_dense(found):
            raise NormvizError(
                "the function must return a tensor on the device of x, {device}, and it returned one on {found}.",
                device=self.device,
                found=found.device,
            )
        return _checked(found, x).to(self.device)

    def restore(self) -> None:
        """Give the modules the state that they had, and the tensors their own storage."""
        for state in self._states:
            state.restore()
        for tensor, original in zip(self.tensors, self.originals, strict=True):
            tensor.data = original


class _ConvertedError(Exception):
    """NumPy computes with a tensor."""


class _ConversionsRaise(TorchFunctionMode):
    """NumPy does not compute with tensors: its var would be another one than that of an array."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is Tensor.__array_wrap__:
            raise _ConvertedError
        return func(*args, **(kwargs or {}))


def _array_kind(output: object) -> str | None:
    """Whether the output, or the first one of a tuple, is an array of NumPy or JAX; None for a tensor."""
    found = output[0] if isinstance(output, tuple | list) and output else output
    return JAX if is_jax(found) else ARRAYS if isinstance(found, np.ndarray) else None


def unbound(fn: Any) -> Any:
    """A module of Flax that is bound to its variables, as a function: the module itself can be called only once."""
    home = type(fn).__mro__[-2].__module__ if len(type(fn).__mro__) > 1 else ""
    if not home.startswith("flax.linen") or getattr(fn, "scope", None) is None:
        return fn
    module, variables = fn.unbind()
    return functools.partial(module.apply, variables)


def is_jax(value: object) -> bool:
    """Whether it is an array of JAX, which is not imported for this."""
    return type(value).__module__.partition(".")[0] in ("jax", "jaxlib")


def from_jax(array: object) -> Tensor:
    """A tensor with a copy of the values of a JAX array."""
    return torch.from_dlpack(array).clone()


def check_callable(fn: object) -> None:
    """Raise NormvizError for a class, and for what cannot be called."""
    check_is_object(fn)
    if not callable(fn):
        raise NormvizError("{fn} is not a function of a tensor; give a function or a module.", fn=echo(fn))


def kind_of(fn: Callable[..., object], x: object) -> str:
    """What a function takes: what x is. If x is only a shape, a function that refers to NumPy or JAX, and not to torch, takes their arrays."""
    if is_jax(x):
        return JAX
    if isinstance(x, np.ndarray):
        return ARRAYS
    if isinstance(x, Tensor):
        return TENSORS
    libraries = _libraries(fn)
    if "torch" in libraries or isinstance(fn, nn.Module):
        return TENSORS
    return JAX if libraries & {"jax", "flax", "jaxlib"} else ARRAYS if "numpy" in libraries else TENSORS


def _libraries(fn: Callable[..., object]) -> set[str]:
    """The libraries to which a function and the functions that it calls refer."""
    found: set[str] = set()
    waiting, seen = [fn], set()
    while waiting:
        value = waiting.pop()
        home = value.__name__ if inspect.ismodule(value) else str(getattr(type(value), "__module__", ""))
        found.add(home.partition(".")[0])
        function = getattr(value, "__func__", value)
        if inspect.isfunction(function) and id(function) not in seen:
            seen.add(id(function))
            found.add(str(function.__module__).partition(".")[0])
            with suppress(ValueError):
                variables = inspect.getclosurevars(function)
                waiting += [*variables.globals.values(), *variables.nonlocals.values()]
        elif is_jax(value):
            waiting += [value.__wrapped__] if hasattr(value, "__wrapped__") else []
    return found


@contextmanager
def isolated(
    fn: Callable[..., object],
    x: Tensor,
    kind: str,
    params: Mapping[str, object],
    fused: bool = False,
    usual: torch.device = CPU,
) -> Iterator[Function]:
    """``fn`` as a Function. Afterwards its tensors and modules and the random states of torch, NumPy and Python are as before.

    Until then, torch's default device is the one on which x is compared.

    usual  the caller's default device
    fused  whether an argument residual of the shape of x is added to x before it is normalized: it is zero, but for one trial

    Raises NormvizError if fn cannot be called with x, or if it is random.
    """
    lazy = any(is_lazy(one) for one in _registered(fn))
    if lazy or (
        getattr(fn, "built", True) is False and hasattr(fn, "build")
    ):  # a layer of Keras is built by its first call
        raise NormvizError(
            "the parameters of {name} have no shapes yet. Call it once with an x before the check.",
            name=type(fn).__name__,
        )
    check_callable(fn)
    # An object that is called may keep what it computes. Functions and modules are restored instead.
    own = fn if called_object(fn) is None else copy.deepcopy(fn)
    home = home_of(x)
    is_usual = torch.empty(0).device == home  # a mode for devices makes each call of torch slower
    with same_random_states(x.device), same_settings(), warnings.catch_warnings(), nullcontext() if is_usual else home:
        warnings.filterwarnings("ignore", "__array_wrap__ must accept", DeprecationWarning)
        warnings.filterwarnings("ignore", ".*degrees of freedom", UserWarning)  # with one row
        is_fused = fused and tuple(getattr(params.get("residual"), "shape", ())) == tuple(x.shape)
        given = {k: v for k, v in params.items() if not (is_fused and k == "residual")}
        function = Function(own, kind, given, x, usual)
        function.residual = torch.zeros_like if is_fused else None
        try:
            if x.numel() <= FEW:
                torch.set_num_threads(1)
            x = same_strides(x, home)
            _check_not_random(function, x)
            warnings.simplefilter("ignore")  # the caller's x is not to blame for what follows
            function.add(function.leaves(x))
            function.choose_dtype(x)
            yield function
        finally:
            function.restore()


def floats(tensors: Values, dtype: torch.dtype = torch.float64) -> dict[int, Tensor]:
    """The floating-point tensors in this dtype."""
    return {i: value.to(dtype) for i, value in tensors.items() if value.is_floating_point()}


def is_number_array(value: Any) -> bool:
    """Whether it is a tensor or an array of floating-point numbers."""
    if is_jax(value):
        return value.dtype.kind == "f" or value.dtype.name == "bfloat16"
    if isinstance(value, Tensor):
        return value.is_floating_point()
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def is_dense(tensor: Tensor) -> bool:
    """Whether it has a value for each element, which torch can compare."""
    return tensor.layout == torch.strided and not tensor.is_meta and not tensor.is_nested


def _named_tensors(value: Any, name: str = "", is_parameter: bool = True) -> Iterator[tuple[str, Tensor]]:
    """The tensors among params with their names, or without one in a list; in dictionaries those with a known name."""
    if type(value) is dict:
        for one, each in value.items():
            known = _name_in(value, one)
            yield from _named_tensors(each, known, not name or known in KNOWN_NAMES)
    elif type(value) in (list, tuple):
        for each in value:
            yield from _named_tensors(each, "", is_parameter)
    elif isinstance(value, Tensor) and is_parameter:
        yield name, value


def _name_in(several: Mapping[str, Any], name: str) -> str:
    """The name of a tensor in a dictionary: the two statistics of Flax are called mean and var."""
    is_of_flax = several.keys() == {"mean", "var"}
    return f"running_{name}" if is_of_flax else name


def _own_tensor(value: object) -> Any:
    """A number array as a tensor of its own; anything else as it is."""
    if is_jax(value) and is_number_array(value):
        return from_jax(value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return torch.from_numpy(value.copy())
    return value.detach().clone() if isinstance(value, Tensor) else value


def _checked(output: object, x: Tensor) -> Tensor:
    """The output as a tensor; the first one of ``(out, cache)``."""
    found = output[0] if isinstance(output, tuple | list) and output else output
    if is_jax(found):
        found = from_jax(found)
    if isinstance(found, np.ndarray):
        found = torch.from_numpy(np.array(found))
    if not isinstance(found, Tensor):
        raise NormvizError("the function must return a tensor like x, and it returned {found}.", found=echo(output))
    if not is_dense(found):
        kind = "nested" if found.is_nested else "meta" if found.is_meta else str(found.layout).removeprefix("torch.")
        raise NormvizError(
            "the function must return a dense tensor with values, and it returned a {kind} one.", kind=kind
        )
    if found.shape != x.shape:
        raise NormvizError(
            "the function must return an output of the shape of x, {shape}, and it returned one of shape {found}.",
            shape=tuple(x.shape),
            found=tuple(found.shape),
        )
    if found.dtype.itemsize == 1 and found.dtype != torch.bool:
        raise NormvizError(
            "the function returned {found}: numbers of 8 bits are not compared, because rounding to them hides other errors; "
            "check the function before it quantizes its output.",
            found=dtype_name(found.dtype),
        )
    if not found.is_floating_point():
        raise NormvizError(
            "the function must return floating-point numbers, as x has, and it returned {found}.",
            found=dtype_name(found.dtype),
        )
    return found


def is_repeated(one: Tensor, other: Tensor) -> bool:
    """Whether two outputs are equal up to the order of sums, which may change from call to call on some devices."""
    close = 0.0 if one.device.type == "cpu" else 8 * torch.finfo(one.dtype).eps
    return torch.allclose(one, other, rtol=close, atol=close, equal_nan=True)


def with_step(x: Tensor) -> Tensor:
    """The same values as a slice with a step; other values are between them in memory."""
    return torch.stack([x, x.detach().flip(-1) + 1], -1).flatten(-2)[..., ::2]


def same_strides(x: Tensor, device: torch.device | None = None) -> Tensor:
    """A copy of x with its strides, and with the elements of its memory between them, on its device or another one."""
    device = device or x.device
    memory = x.untyped_storage().nbytes() // max(1, x.element_size())
    if x.is_contiguous() or x.requires_grad or memory > 16 * x.numel() + 1024:
        return x.to(device, copy=True)
    whole = x.detach().as_strided((memory,), (1,), 0)
    return whole.to(device, copy=True).as_strided(x.shape, x.stride(), x.storage_offset())


def _check_not_random(function: Function, x: Tensor) -> None:
    outputs = []
    for seed in (0, 1):
        # The seed of another device would stay after the check.
        (torch.default_generator.manual_seed if x.device.type == "cpu" else torch.manual_seed)(seed)
        np.random.seed(seed)
        random.seed(seed)
        outputs.append(function(x))
    function.first = outputs[0].clone()
    if not is_repeated(*outputs):
        raise NormvizError(
            "the function is random: two calls with the same x differ by up to {difference:.3g}; switch off dropout "
            "and noise, for example with module.eval(), fix the seed in the function, or write each element of what "
            "torch.empty makes.",
            difference=float((outputs[0] - outputs[1]).abs().nan_to_num().max()),
        )
