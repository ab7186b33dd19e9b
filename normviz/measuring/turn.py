"""One measurement at a time: while a module is measured, its tensors have other values, and the random states and hooks are not its own.

``measuring`` waits for the measurements of other threads, ends one that takes too long, and shows how far a long one is.
"""

import math
import random
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from time import monotonic
from typing import Any, ParamSpec, TypeVar

import numpy as np
import torch

from normviz.texts.errors import NormvizError, echo

P = ParamSpec("P")
R = TypeVar("R")
QUICK = 2.0  # s, in which nothing is shown


class _TooLong(BaseException):
    """Passes through the functions that try whether a call raises."""


class _Calls:
    """The calls of the function in one measurement."""

    def __init__(self, timeout: float | None) -> None:
        self.timeout, self.start, self.number = timeout, monotonic(), 0
        self._bar: Any = None

    def next(self) -> None:
        passed = monotonic() - self.start
        if self.timeout is not None and passed > self.timeout:
            raise _TooLong
        self.number += 1
        if self._bar is None and passed > QUICK and _has_reader():
            from tqdm import tqdm

            self._bar = tqdm(initial=self.number, unit=" calls of the function", leave=False, file=sys.stderr)
        elif self._bar is not None:
            self._bar.update()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


_lock = threading.RLock()
_current: list[_Calls] = []  # of the thread that has the lock; the last one counts


def _has_reader() -> bool:
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


@contextmanager
def same_settings() -> Iterator[None]:
    """Afterwards, torch's default dtype and NumPy's handling of floating-point errors are as before."""
    dtype, errors = torch.get_default_dtype(), np.geterr()
    try:
        yield
    finally:
        if torch.get_default_dtype() != dtype:
            torch.set_default_dtype(dtype)
        if np.geterr() != errors:
            np.seterr(**errors)


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
