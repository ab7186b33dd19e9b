"""Limits on what all visitors ask for together: large tensors are computed one at a time, and few requests wait.

One view of the largest tensor needs about 100 MB while it is computed. Twenty at once would need 2 GB.
"""

import asyncio
import ctypes
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import partial
from math import ceil, prod
from time import monotonic
from typing import Any, TypeVar

from starlette.requests import Request

T = TypeVar("T")
LARGE = 2**15  # elements of a tensor whose steps take more than a megabyte
PATIENCE = 20.0  # s, that a view of a large tensor waits for the others


class Busy(Exception):  # noqa: N818 (it is no error)
    """Too much is running or waiting, or the client has left, so that nobody reads the response.

    seconds  until it is worth trying again
    """

    def __init__(self, seconds: float = 1.0) -> None:
        super().__init__()
        self.seconds = max(1, ceil(seconds))


# Large tensors

_turn = threading.RLock()  # a page draws its fragments within its own turn


@contextmanager
def turn(shape: tuple[int, ...], patience: float = PATIENCE) -> Iterator[None]:
    """Wait until no other thread computes with a large tensor; a small one does not wait. Raises Busy after ``patience`` seconds."""
    if prod(shape) < LARGE:
        yield
        return
    if not _turn.acquire(timeout=patience):
        raise Busy(patience)
    try:
        yield
    finally:
        try:
            _return_memory()
        finally:
            _turn.release()


def _return_memory() -> None:
    """Give the memory of deleted tensors back to the system; glibc keeps much of it for the next allocation."""
    with suppress(OSError, AttributeError, TypeError):  # another C library; on Windows, None is not a name
        ctypes.CDLL(None).malloc_trim(0)


# Requests


class Queue:
    """Runs the work of requests in ``at_once`` threads. At most ``most`` requests run or wait."""

    def __init__(self, name: str, at_once: int, most: int) -> None:
        self.at_once, self.most = at_once, most
        self._workers = ThreadPoolExecutor(at_once, name)
        self._jobs: list[Future[Any]] = []
        self._seconds = 3.0  # that a job takes: the mean, in which the last ones count most; a guess at first

    async def run(self, request: Request, function: Callable[..., T], *args: object) -> T:
        """The result of ``function(*args)`` in the language of the caller. What has not started when the client leaves is dropped.

        Raises Busy if too many requests wait, and if the client leaves.
        """
        self._jobs = [job for job in self._jobs if not job.done()]
        if len(self._jobs) >= self.most:
            raise Busy(self._seconds * len(self._jobs) / self.at_once)
        job = self._workers.submit(copy_context().run, self._timed, partial(function, *args))
        self._jobs.append(job)
        result, left = asyncio.wrap_future(job), asyncio.create_task(_disconnect(request))
        ends: set[asyncio.Future[Any]] = {result, left}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if not result.done():
                raise Busy
            return result.result()
        finally:
            left.cancel()
            job.cancel()
            result.cancel()

    def _timed(self, function: Callable[[], T]) -> T:
        start = monotonic()
        try:
            return function()
        finally:
            self._seconds += (monotonic() - start - self._seconds) / 4


async def _disconnect(request: Request) -> None:
    """Wait until the client has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
