"""Limits on what all visitors ask for together: large tensors are computed one at a time, and few requests wait.

One view of the largest tensor needs about 100 MB while it is computed. Twenty at once would need 2 GB.
"""

import asyncio
import ctypes
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from math import ceil, prod
from time import monotonic
from typing import Any, TypeVar, cast

from starlette.requests import Request

from normviz.texts.messages import language

T = TypeVar("T")
LARGE = 2**15  # elements of a tensor whose steps take more than a megabyte
PATIENCE = 20.0  # s, that a view of a large tensor waits for the others
LOOK = 0.25  # s, until it looks whether the reader still wants it


class Busy(Exception):  # noqa: N818 (it is no error)
    """Too much is running or waiting, or the client has left, so that nobody reads the response.

    seconds  until it is worth trying again
    """

    def __init__(self, seconds: float = 1.0) -> None:
        super().__init__()
        self.seconds = max(1, ceil(seconds))


# Runs of pages

RUNS = 2  # at once: Python computes one at a time, and torch another one beside it


class Places:
    """Places for threads that compute, ``most`` at once. Others wait, and what is replaced by a newer change meanwhile never runs.

    A place that is free goes to the client that has the fewest; of those, to the one that has waited longest.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._taken = Counter[str]()
        self._waiting: list[tuple[str, threading.Event]] = []
        self._here = threading.local()  # the client whose place a thread has

    @contextmanager
    def place(self, client: str) -> Iterator[None]:
        """Wait for a place, and have it within the block."""
        self._take(client)
        self._here.client = client
        try:
            yield
        finally:
            self._here.client = None
            self._leave(client)

    @contextmanager
    def given_back(self) -> Iterator[None]:
        """Within the block, this thread only waits, and others may have its place, if it has one."""
        client = getattr(self._here, "client", None)
        if client is None:
            yield
            return
        self._leave(client)
        try:
            yield
        finally:
            self._take(client)

    def _take(self, client: str) -> None:
        called = threading.Event()
        with self._lock:
            self._waiting.append((client, called))
            self._call_next()
        called.wait()

    def _leave(self, client: str) -> None:
        with self._lock:
            self._taken -= Counter([client])
            self._call_next()

    def _call_next(self) -> None:
        if self._waiting and self._taken.total() < self.most:
            client, called = first = min(self._waiting, key=lambda each: self._taken[each[0]])
            self._waiting.remove(first)
            self._taken[client] += 1
            called.set()


runs = Places(RUNS)


# Large tensors

_turn = threading.RLock()  # a page draws its fragments within its own turn


@contextmanager
def turn(
    shape: tuple[int, ...], patience: float = PATIENCE, look: Callable[[], object] = lambda: None
) -> Iterator[None]:
    """Wait until no other thread computes with a large tensor; a small one does not wait. Raises Busy after ``patience`` seconds.

    look  is called now and then while this waits; it may raise an exception, if the result is not wanted any more
    """
    if prod(shape) < LARGE:
        yield
        return
    if not _turn.acquire(blocking=False):
        with runs.given_back():
            _wait_for_turn(monotonic() + patience, patience, look)
    try:
        yield
    finally:
        try:
            return_memory()
        finally:
            _turn.release()


def _wait_for_turn(end: float, patience: float, look: Callable[[], object]) -> None:
    while not _turn.acquire(timeout=max(0.0, min(LOOK, end - monotonic()))):
        if monotonic() >= end:
            raise Busy(patience)
        look()


NO_GLIBC = OSError, AttributeError, TypeError  # another C library; on Windows, None is not a name
M_ARENA_MAX, ARENAS = -8, 2


def use_few_arenas() -> None:
    """Let threads share the memory that they have freed: glibc gives each of up to eight threads for a core its own."""
    with suppress(*NO_GLIBC):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)


def return_memory() -> None:
    """Give the memory of deleted tensors back to the system; glibc keeps much of it for the next allocation."""
    with suppress(*NO_GLIBC):
        ctypes.CDLL(None).malloc_trim(0)


# Requests


GUESS = 3.0  # s that a job takes, of a kind that was not run yet
FAIR = 8  # a job may wait this many times as long as it takes, until quicker ones that came later no longer go first


@dataclass(eq=False)
class Job:
    """Work that one or more readers wait for.

    client  the address of the first reader
    kind    what takes about as long as others of its kind
    due     the time until which quicker ones may go first
    turn    set when it starts
    """

    client: str
    kind: Hashable
    work: Callable[[], Any]
    due: float
    turn: asyncio.Event = field(default_factory=asyncio.Event)
    readers: int = 0


class Queue:
    """Runs the work of requests in ``at_once`` threads. Readers who ask for the same share one job.

    At most ``most`` jobs of one client run or wait, and twice as many of all. A thread that is free takes a job of the client that has the
    fewest running, and of those a quick one first, so that nobody waits for all that another one asks for.
    """

    def __init__(self, name: str, at_once: int, most: int) -> None:
        self.at_once, self.most = at_once, most
        self._workers = ThreadPoolExecutor(at_once, name)
        self._jobs: dict[Hashable, tuple[Job, asyncio.Task[Any]]] = {}
        # The seconds that a job of a kind takes: the mean, in which the last ones count most.
        self._seconds: dict[Hashable, float] = {}

    async def run(self, request: Request, function: Callable[..., T], *args: Hashable, kind: Hashable = None) -> T:
        """The result of ``function(*args)`` in the language of the caller. What has not started when its readers leave is dropped.

        Raises Busy if too many requests wait, and if the client leaves.
        """
        key = language.get(), *args
        if key not in self._jobs:
            due = monotonic() + FAIR * self._expected(kind)
            client = client_of(request.headers, request.client and request.client.host)
            self._add(key, Job(client, kind, partial(function, *args), due))
        job, result = self._jobs[key]
        left = asyncio.create_task(_disconnect(request))
        job.readers += 1
        try:
            await asyncio.wait({result, left}, return_when=asyncio.FIRST_COMPLETED)
            if not result.done():
                raise Busy
            return cast(T, result.result())
        finally:
            left.cancel()
            job.readers -= 1
            if not job.readers and not job.turn.is_set():
                self._forget(key, job)
                result.cancel()

    def _add(self, key: Hashable, job: Job) -> None:
        clients = Counter(other.client for other, _result in self._jobs.values())
        if clients[job.client] >= self.most or clients.total() >= 2 * self.most:
            raise Busy(sum(self._expected(other.kind) for other, _result in self._jobs.values()) / self.at_once)
        result = asyncio.create_task(self._result(key, job))
        # asyncio would log an exception that nobody waits for.
        result.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._jobs[key] = job, result

    async def _result(self, key: Hashable, job: Job) -> Any:
        try:
            self._call_next()
            await job.turn.wait()
            work = partial(copy_context().run, self._timed, job)
            return await asyncio.get_running_loop().run_in_executor(self._workers, work)
        finally:
            self._forget(key, job)
            self._call_next()

    def _forget(self, key: Hashable, job: Job) -> None:
        """The job is done, or dropped. In the second case, another reader may have asked for it again before it ends."""
        if key in self._jobs and self._jobs[key][0] is job:
            del self._jobs[key]

    def _call_next(self) -> None:
        jobs = [job for job, _result in self._jobs.values()]
        running = Counter(job.client for job in jobs if job.turn.is_set())
        waiting = [job for job in jobs if not job.turn.is_set()]
        if waiting and running.total() < self.at_once:
            min(waiting, key=lambda job: (running[job.client], job.due)).turn.set()

    def _expected(self, kind: Hashable) -> float:
        return self._seconds.get(kind, GUESS)

    def _timed(self, job: Job) -> Any:
        start = monotonic()
        result = job.work()  # one that raises has no kind: a reader can name many
        seconds = monotonic() - start
        self._seconds[job.kind] = seconds + 0.75 * (self._seconds.get(job.kind, seconds) - seconds)
        return result


def client_of(headers: Mapping[str, str], address: str | None) -> str:
    """The address that asks, as the proxy says, if there is one."""
    return headers.get("x-forwarded-for", "").rpartition(",")[2].strip() or address or ""


async def _disconnect(request: Request) -> None:
    """Wait until the client has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
