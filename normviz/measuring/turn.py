"""One measurement at a time: while a module is measured, its tensors have other values, and the random states and hooks are not its own.

``measuring`` waits for the measurements of other threads, ends one that takes too long, and shows how far a long one is.
"""

import math
import os
import random
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from time import monotonic
from typing import Any, ParamSpec, TypeVar

import numpy as np
import torch
from torch import nn

from normviz.texts.errors import NormvizError, echo

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


CPU = torch.device("cpu")
PRINTED = ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")
HOOKS = [
    value for name, value in vars(nn.modules.module).items() if name.startswith("_global_") and name.endswith("_hooks")
]


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
    (lambda: list(map(dict, HOOKS)), _set_hooks),
    (
        lambda: {name: getattr(torch._tensor_str.PRINT_OPTS, name) for name in PRINTED},
        lambda values: torch.set_printoptions(**values),
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
