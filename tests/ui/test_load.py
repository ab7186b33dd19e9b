"""The limits on what all visitors ask for together."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from normviz.ui import load
from normviz.ui.load import LARGE, Busy, Queue, turn
from tests.support.asgi import run_async


class Client:
    """A request whose client can leave."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}


def in_threads(work: Callable[[], None], number: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_large_tensors_are_computed_one_at_a_time() -> None:
    running, most = 0, 0

    def work() -> None:
        nonlocal running, most
        with turn((2, LARGE)):
            running += 1
            most = max(most, running)
            threading.Event().wait(0.01)
            running -= 1

    in_threads(work, 8)
    assert most == 1


def test_small_tensors_do_not_wait() -> None:
    together = threading.Barrier(3, timeout=60)

    def work() -> None:
        with turn((2, 3)):
            together.wait()

    with turn((LARGE,)):
        in_threads(work, 3)
    assert not together.broken


def test_a_page_and_its_fragments_have_one_turn() -> None:
    with turn((LARGE,)), turn((LARGE,), patience=0):
        pass


def test_waiting_ends_and_an_exception_ends_the_turn() -> None:
    refused: list[int] = []

    def work() -> None:
        try:
            with turn((LARGE,), patience=0):
                pass
        except Busy as busy:
            refused.append(busy.seconds)

    with suppress(ValueError), turn((LARGE,)):
        in_threads(work, 1)
        raise ValueError
    in_threads(work, 1)
    assert refused == [1]


def test_a_system_that_takes_no_memory_back_ends_the_turn_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_library(name: None) -> None:
        raise TypeError(name)  # as on Windows

    monkeypatch.setattr(load.ctypes, "CDLL", no_library)
    with turn((LARGE,)):
        pass
    reached: list[int] = []

    def work() -> None:
        with turn((LARGE,), patience=0):
            reached.append(1)

    in_threads(work, 1)
    assert reached == [1]


def test_the_memory_of_a_large_tensor_returns_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    returned: list[bool] = []
    monkeypatch.setattr(load, "_return_memory", lambda: returned.append(True))
    for shape in ((2, 3), (LARGE,)):
        with turn(shape):
            pass
    assert returned == [True]


def test_a_queue_refuses_what_would_wait_too_long_and_says_how_long_the_others_take() -> None:
    async def ask() -> tuple[list[str], int]:
        queue, gate = Queue("test", at_once=2, most=4), threading.Event()
        queue._seconds = 10.0
        jobs = [asyncio.create_task(queue.run(Client(), gate.wait, 60)) for _ in range(4)]  # type: ignore[arg-type]
        await asyncio.sleep(0)
        with pytest.raises(Busy) as refused:
            await queue.run(Client(), str)  # type: ignore[arg-type]
        gate.set()
        await asyncio.gather(*jobs)
        return [await queue.run(Client(), str, "free")], refused.value.seconds  # type: ignore[arg-type]

    assert run_async(ask()) == (["free"], 20)  # four jobs of ten seconds in two threads


def test_the_work_of_a_client_that_left_is_not_started_and_its_place_is_free() -> None:
    done: list[str] = []

    async def ask() -> None:
        queue, gate = Queue("test", at_once=1, most=2), threading.Event()
        first, left = Client(), Client()
        running = asyncio.create_task(queue.run(first, gate.wait, 60))  # type: ignore[arg-type]
        waiting = asyncio.create_task(queue.run(left, done.append, "left"))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        left.gone.set()
        with pytest.raises(Busy):
            await waiting
        next_one = asyncio.create_task(queue.run(Client(), done.append, "next"))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(running, next_one)

    run_async(ask())
    assert done == ["next"]


def test_a_request_that_times_out_is_not_started_either() -> None:
    done: list[str] = []

    async def ask() -> None:
        queue, gate = Queue("test", at_once=1, most=2), threading.Event()
        running = asyncio.create_task(queue.run(Client(), gate.wait, 60))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await queue.run(Client(), done.append, "late")  # type: ignore[arg-type]
        gate.set()
        await running
        await queue.run(Client(), done.append, "next")  # type: ignore[arg-type]

    run_async(ask())
    assert done == ["next"]


def test_an_exception_of_the_work_is_that_of_the_request() -> None:
    async def ask() -> None:
        await Queue("test", at_once=1, most=1).run(Client(), int, "x")  # type: ignore[arg-type]

    with pytest.raises(ValueError, match="invalid literal"):
        run_async(ask())
