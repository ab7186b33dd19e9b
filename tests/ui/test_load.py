"""The limits on what all visitors ask for together."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from time import sleep
from typing import Any

import pytest
from starlette.requests import Request

from normviz.texts.messages import in_language, language
from normviz.ui import load
from normviz.ui.load import LARGE, Busy, Places, Queue, turn
from tests.support.asgi import run_async


class Client(Request):
    """A request whose client can leave."""

    def __init__(self, host: str = "10.0.0.1", proxied: str = "") -> None:
        headers = [(b"x-forwarded-for", proxied.encode())] if proxied else []
        super().__init__({"type": "http", "client": (host, 1), "headers": headers})
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


# Runs of pages


def first_to_run(most: int, waiting: str) -> str:
    """Who gets the first place that is free, of clients who came one after the other while "a" had all."""
    places, ran, started, gate = Places(most), list[str](), threading.Event(), threading.Event()

    def run(client: str) -> None:
        with places.place(client):
            ran.append(client)
            started.set()
            gate.wait(60)

    threads = [threading.Thread(target=run, args=(client,)) for client in waiting]
    with ExitStack() as others:
        for _ in range(most - 1):
            others.enter_context(places.place("a"))
        with places.place("a"):
            for number, thread in enumerate(threads, 1):
                thread.start()
                while len(places._waiting) < number:
                    sleep(0.001)
        assert started.wait(60)
        first = ran[0]
        gate.set()
    for thread in threads:
        thread.join()
    assert (len(ran), sum(places._taken.values())) == (len(waiting), 0)
    return first


@pytest.mark.parametrize(("most", "waiting", "first"), [(1, "aab", "a"), (1, "bca", "b"), (2, "aabc", "b")])
def test_a_place_goes_to_the_client_with_the_fewest_that_has_waited_longest(
    most: int, waiting: str, first: str
) -> None:
    assert first_to_run(most, waiting) == first


def test_a_run_that_waits_for_a_large_tensor_has_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    places, ran = Places(1), list[str]()
    monkeypatch.setattr(load, "runs", places)

    def large() -> None:
        with places.place("a"), turn((LARGE,)):
            assert places._taken == {"a": 1}
            ran.append("large")

    with turn((LARGE,)):
        waits = threading.Thread(target=large)
        waits.start()
        with places.place("b"):  # after the other one has given its place back
            ran.append("small")
    waits.join()
    assert ran == ["small", "large"]


# Large tensors


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


def test_a_view_that_is_not_wanted_any_more_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "LOOK", 0.01)
    ended: list[bool] = []

    def look() -> None:
        raise ValueError("the reader has asked for another")

    def work() -> None:
        with pytest.raises(ValueError, match="asked for another"), turn((LARGE,), look=look):
            pytest.fail("it has no turn")
        ended.append(True)

    with turn((LARGE,)):
        in_threads(work, 1)
    assert ended == [True]
    with turn((LARGE,), patience=0):  # its turn is not taken
        pass


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
    monkeypatch.setattr(load, "return_memory", lambda: returned.append(True))
    for shape in ((2, 3), (LARGE,)):
        with turn(shape):
            pass
    assert returned == [True]


def test_a_queue_refuses_what_would_wait_too_long_and_says_how_long_the_others_take() -> None:
    async def ask() -> tuple[list[str], int]:
        queue, gate = Queue("test", at_once=2, most=4), threading.Event()
        queue._seconds = {None: 10.0}
        jobs = [asyncio.create_task(queue.run(Client(), gate.wait, 60 + number)) for number in range(4)]
        await asyncio.sleep(0)
        with pytest.raises(Busy) as refused:
            await queue.run(Client(), str)
        gate.set()
        await asyncio.gather(*jobs)
        return [await queue.run(Client(), str, "free")], refused.value.seconds

    assert run_async(ask()) == (["free"], 20)  # four jobs of ten seconds in two threads


def test_readers_who_ask_for_the_same_share_one_computation() -> None:
    made: list[str] = []

    async def ask() -> list[str]:
        queue, gate = Queue("test", at_once=2, most=2), threading.Event()

        def make(what: str) -> str:
            made.append(what)
            gate.wait(60)
            return what * 2

        jobs = [asyncio.create_task(queue.run(Client(), make, what)) for what in "aaaaaaab"]
        leaves = Client()
        with suppress(Busy):
            left = asyncio.create_task(queue.run(leaves, make, "a"))
            await asyncio.sleep(0)
            leaves.gone.set()  # the others still wait for it
            await left
        gate.set()
        return await asyncio.gather(*jobs)

    assert run_async(ask()) == ["aa"] * 7 + ["bb"]
    assert sorted(made) == ["a", "b"]


def test_what_was_dropped_can_be_asked_for_again_at_once() -> None:
    async def ask() -> str:
        queue, gate = Queue("test", at_once=1, most=2), threading.Event()
        running = asyncio.create_task(queue.run(Client(), gate.wait, 60))
        await asyncio.sleep(0)
        left = asyncio.create_task(queue.run(Client(), str, "again"))
        await asyncio.sleep(0)
        key = (language.get(), "again")
        _job, dropped = queue._jobs.pop(key)  # as when its reader leaves
        jobs = [asyncio.create_task(queue.run(Client(), str, "again")) for _ in range(2)]
        await asyncio.sleep(0)
        dropped.cancel()
        with pytest.raises(asyncio.CancelledError):
            await left
        assert key in queue._jobs  # the new one
        gate.set()
        await running
        return " ".join(await asyncio.gather(*jobs))

    assert run_async(ask()) == "again again"


def test_languages_do_not_share() -> None:
    async def ask() -> list[str]:
        queue, jobs = Queue("test", at_once=1, most=2), []
        for name in ("en", "es"):
            with in_language(name):
                jobs.append(asyncio.create_task(queue.run(Client(), language.get)))
                await asyncio.sleep(0)
        return await asyncio.gather(*jobs)

    assert run_async(ask()) == ["en", "es"]


@pytest.mark.parametrize(
    ("one", "other"),
    [(Client("10.0.0.1"), Client("10.0.0.2")), (Client(proxied="1.1.1.1"), Client(proxied="9.9.9.9, 2.2.2.2"))],
)
def test_a_reader_does_not_wait_for_all_that_another_one_asks_for(one: Client, other: Client) -> None:
    done: list[str] = []

    async def ask() -> None:
        queue, gate = Queue("test", at_once=2, most=8), threading.Event()

        def make(what: str) -> None:
            gate.wait(60)
            done.append(what)

        jobs = [asyncio.create_task(queue.run(one, make, f"one {number}")) for number in range(8)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await queue.run(one, make, "one too many")
        jobs.append(asyncio.create_task(queue.run(other, make, "other")))
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(*jobs)

    run_async(ask())
    assert done.index("other") < 6  # after the two that were running, and perhaps some that a thread takes meanwhile


def test_a_quick_job_goes_before_slow_ones_but_not_for_ever() -> None:
    done: list[str] = []

    async def ask(came_before: float) -> None:
        queue, gate = Queue("test", at_once=1, most=8), threading.Event()
        queue._seconds = {"slow": 2.0, "quick": 0.1}

        def make(what: str) -> None:
            gate.wait(60)
            done.append(what)

        jobs = [asyncio.create_task(queue.run(Client(), make, name, kind="slow")) for name in ("running", "slow")]
        await asyncio.sleep(0)
        for job, _result in queue._jobs.values():
            job.due -= came_before
        jobs.append(asyncio.create_task(queue.run(Client(), make, "quick", kind="quick")))
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(*jobs)

    run_async(ask(came_before=10.0))
    run_async(ask(came_before=17.0))
    assert done == ["running", "quick", "slow", "running", "slow", "quick"]


def test_all_clients_together_have_a_limit_too() -> None:
    async def ask() -> None:
        queue, gate = Queue("test", at_once=1, most=2), threading.Event()
        jobs = [asyncio.create_task(queue.run(Client(str(number)), gate.wait, 60 + number)) for number in range(4)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await queue.run(Client("another"), str)
        gate.set()
        await asyncio.gather(*jobs)

    run_async(ask())


def test_the_work_of_a_client_that_left_is_not_started_and_its_place_is_free() -> None:
    done: list[str] = []

    async def ask() -> None:
        queue, gate = Queue("test", at_once=1, most=2), threading.Event()
        first, left = Client(), Client()
        running = asyncio.create_task(queue.run(first, gate.wait, 60))
        waiting = asyncio.create_task(queue.run(left, done.append, "left"))
        await asyncio.sleep(0)
        left.gone.set()
        with pytest.raises(Busy):
            await waiting
        next_one = asyncio.create_task(queue.run(Client(), done.append, "next"))
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(running, next_one)

    run_async(ask())
    assert done == ["next"]


def test_a_request_that_times_out_is_not_started_either() -> None:
    done: list[str] = []

    async def ask() -> None:
        queue, gate = Queue("test", at_once=1, most=2), threading.Event()
        running = asyncio.create_task(queue.run(Client(), gate.wait, 60))
        await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await queue.run(Client(), done.append, "late")
        gate.set()
        await running
        await queue.run(Client(), done.append, "next")

    run_async(ask())
    assert done == ["next"]


def test_an_exception_of_the_work_is_that_of_the_request() -> None:
    async def ask() -> None:
        await Queue("test", at_once=1, most=1).run(Client(), int, "x")

    with pytest.raises(ValueError, match="invalid literal"):
        run_async(ask())
