"""Attack the app on this machine, and print the table of docs/security.md: ``python -m bench.attack``.

Each attack has a server of its own. The numbers depend on the machine; the tests assert what does not.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import psutil
import torch
from torch import nn
from websockets.exceptions import WebSocketException

import normviz as nv
from bench import hostile
from bench.common import Server
from bench.protocol import Session
from tests.cli.endings import ENDINGS
from tests.deploy.sessions import Sessions
from tests.deploy.stack import Replica, Stack
from tests.deploy.test_roll import queries
from tests.fuzz.attempts import try_links, try_requests, try_tours
from tests.support.asgi import run_async
from tools.ports import free_port
from tools.servers import running, with_files

MB = 2**20
VIEWS = 20
# Each has 1,048,576 elements. The seed differs, so that nothing is in a cache.
LARGEST = ("shape=2,524288&layer=GroupNorm(1,524288)", "shape=524288,2&layer=LayerNorm(2)")
SMALL = "shape=2,3,4,4&layer=LayerNorm([3,4,4])"
LATER = 10  # s after the views, when the memory must be back
SLOW_FILE = "export?page=train_and_eval&show=stream&batch_size=1024&steps=500"
ABANDONED, EXPORTS = 100, 50
FILES = (1024, 20_000), (1024, 1024)  # that a process may open, and that it may raise this to
SENDERS, VALUES, MINUTE = 60, 800, 60  # visitors, values in a message, s
STUDENTS, RELOAD = 300, 10  # s, within which all of them reload
LINKS, TOURS, REQUESTS, SEED = 20_000, 2_000, 4_000, 1


@dataclass(frozen=True)
class Row:
    """What was limited, what was tried, and what was seen."""

    limit: str
    tried: str
    seen: str


@contextmanager
def fresh_server(files: tuple[int, int] | None = None, log: Path | None = None) -> Iterator[Server]:
    """A new process of the app that has imported everything and shown one view.

    files  the soft and the hard limit of its open files
    log    a file for its output
    """
    port = free_port()
    address = f"http://localhost:{port}"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.address", "localhost"]
    command += ["--server.port", str(port)]
    with running(with_files(command, *files) if files else command, f"{address}/readyz", log=log) as process:
        server = Server(address, process, Path(os.devnull))
        run_async(view(server, SMALL))
        yield server


async def view(server: Server, query: str) -> float:
    """Open a view as a new visitor and leave; the seconds until it was complete. Raises RuntimeError if it was an error."""
    session, begin = Session(server.websocket, "explore", query), time.monotonic()
    ran = await session.open()
    await session.close()
    if ran.errors:
        raise RuntimeError(ran.errors[0])
    return time.monotonic() - begin


@dataclass
class Memory:
    """Bytes of the process before, at most, and a while after; and how long other visitors waited, in seconds."""

    before: int
    peak: int
    after: int
    quiet: list[float]
    meanwhile: list[float]


async def open_largest(server: Server, query: str, number: int = VIEWS, wait: float = LATER) -> Memory:
    """Open the largest tensor ``number`` times at once, while one other visitor after another opens a small one."""
    process = psutil.Process(server.process.pid)
    quiet = [await view(server, f"{SMALL}&seed={seed}") for seed in range(100, 120)]
    before, meanwhile = process.memory_info().rss, list[float]()
    views = [asyncio.create_task(view(server, f"{query}&seed={seed}")) for seed in range(number)]
    while not all(task.done() for task in views):
        meanwhile.append(await view(server, f"{SMALL}&seed={200 + len(meanwhile)}"))
        await asyncio.sleep(0.02)
    await asyncio.gather(*views)
    await asyncio.sleep(wait)
    return Memory(before, peak(process.pid), process.memory_info().rss, quiet, meanwhile)


def peak(pid: int) -> int:
    """The most memory that the process has had, in bytes (Linux)."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def many_views() -> Iterator[Row]:
    for query in LARGEST:
        with fresh_server() as server:
            seen = run_async(open_largest(server, query))
        p95 = [quantiles(waits, n=20)[-1] for waits in (seen.quiet, seen.meanwhile)]
        yield Row(
            "large tensors are computed one at a time",
            f"{VIEWS} visitors open `{query}` at once",
            f"{seen.before / MB:.0f} MB before, {seen.peak / MB:.0f} at most, {seen.after / MB:.0f} after {LATER} s; "
            f"95 % of the small views of others within {p95[1]:.2f} s ({p95[0]:.2f} before)",
        )


async def ask(server: Server, path: str, leave_after: float | None = None) -> tuple[int, dict[str, str], bytes]:
    """The response of one request; without response if the client leaves."""
    address = urlsplit(server.address)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(f"GET /{path} HTTP/1.1\r\nHost: {address.netloc}\r\nConnection: close\r\n\r\n".encode())
    try:
        async with asyncio.timeout(leave_after):
            head, _, body = (await reader.read(-1)).partition(b"\r\n\r\n")
    except TimeoutError:
        return 0, {}, b""
    finally:
        writer.close()
    status, *lines = head.decode().split("\r\n")
    return (
        int(status.split()[1]),
        {name.lower(): text for name, _, text in (line.partition(": ") for line in lines)},
        body,
    )


def abandoned_pages() -> Iterator[Row]:
    async def attack(server: Server) -> str:
        paths = [f"explore?{LARGEST[1]}&seed={seed}" for seed in range(ABANDONED)]
        await asyncio.gather(*(ask(server, path, leave_after=0.3) for path in paths))
        begin = time.monotonic()
        while b'id="normviz-data"' not in (await ask(server, f"explore?{SMALL}&seed={time.monotonic_ns() % 1000}"))[2]:
            pass
        return f"the next visitor's HTML with its page comes {time.monotonic() - begin:.2f} s later"

    with fresh_server() as server:
        yield Row(
            "the work of a client that left is dropped; above 4 requests the HTML comes without the page",
            f"{ABANDONED} clients ask for the page of the largest tensor and leave after 0.3 s",
            run_async(attack(server)),
        )


def exports() -> Iterator[Row]:
    async def attack(server: Server, leave_after: float | None) -> tuple[Counter[int], float, float]:
        begin = time.monotonic()
        paths = [f"{SLOW_FILE}&seed={seed}" for seed in range(EXPORTS)]
        responses = await asyncio.gather(*(ask(server, path, leave_after) for path in paths))
        promised = max(
            (float(headers["retry-after"]) for status, headers, _ in responses if status == 503), default=0.0
        )
        while (await ask(server, "export?page=start"))[0] != 200:
            await asyncio.sleep(0.2)
        return Counter(status for status, _, _ in responses), promised, time.monotonic() - begin

    for leave_after in (None, 0.2):
        with fresh_server() as server:
            statuses, promised, seconds = run_async(attack(server, leave_after))
        seen = f"{statuses[200]} files and {statuses[503]} times 503" if leave_after is None else "nothing is sent"
        told = f", Retry-After at most {promised:.0f} s" if leave_after is None else ""
        who = "wait" if leave_after is None else f"leave after {leave_after} s"
        yield Row(
            "16 files of one address are made or wait; the others get 503",
            f"{EXPORTS} clients ask for a slow file at once and {who}",
            f"{seen}{told}; another reader's file is there after {seconds:.1f} s",
        )


def many_threads() -> Iterator[Row]:
    module, x = nn.LayerNorm(6), torch.randn(4, 6)
    wanted = [str(nv.check(module, x, "LayerNorm(6)")), str(nv.norms(module, x))] * 40
    with ThreadPoolExecutor(8) as threads:
        jobs = [
            threads.submit(work)
            for _ in range(40)
            for work in (partial(nv.check, module, x, "LayerNorm(6)"), partial(nv.norms, module, x))
        ]
    found = [str(job.result()) for job in jobs]
    right = sum(map(str.__eq__, found, wanted))
    yield Row(
        "one measurement at a time",
        f"{len(jobs)} calls of `nv.check` and `nv.norms` on one module from 8 threads",
        f"{right} answers as from one thread",
    )


def hostile_inputs() -> Iterator[Row]:
    for name, attempt, count in (
        ("links", try_links, LINKS),
        ("tour files", try_tours, TOURS),
        ("requests", try_requests, REQUESTS),
    ):
        tried = attempt(count, SEED)
        refused = f", {tried.refused:,} of them refused with a message" if tried.refused else ""
        yield Row(
            f"{name} have a view, a file, a message or 404",
            f"{count:,} random hostile {name}",
            f"{tried.inputs:,} inputs{refused}; no exception",
        )


@dataclass
class Class:
    """How many students of a class came in, and came back when all reloaded; and the files that this opened, and that were left."""

    came: int
    reloaded: int
    files: int
    left: int


async def come_and_reload(server: Server, students: int, seconds: float) -> Class:
    """Students come one after the other within ``seconds``, reload within as many, and leave."""
    process = psutil.Process(server.process.pid)
    before = process.num_fds()

    async def come(number: int) -> Session | None:
        session = Session(server.websocket, "explore", f"{SMALL}&seed={number % 8}")
        try:
            await session.open()
        except (OSError, WebSocketException):
            return None
        return session

    async def come_later(number: int) -> Session | None:
        await asyncio.sleep(seconds * number / students)
        return await come(number)

    async def reload(number: int, session: Session | None) -> Session | None:
        await asyncio.sleep(seconds * number / students)
        if session:
            await session.close()
        return await come(number)

    first = await asyncio.gather(*map(come_later, range(students)))
    again = await asyncio.gather(*(reload(number, session) for number, session in enumerate(first)))
    files = process.num_fds() - before
    await asyncio.gather(*(session.close() for session in again if session))
    await asyncio.sleep(1)
    return Class(len(first) - first.count(None), len(again) - again.count(None), files, process.num_fds() - before)


def few_files() -> Iterator[Row]:
    for soft, hard in FILES:
        with fresh_server((soft, hard)) as server:
            seen = run_async(come_and_reload(server, STUDENTS, RELOAD))
        yield Row(
            "each student costs the server one open file",
            f"{STUDENTS} students come to one process with {soft:,} files, at most {hard:,}, and reload within {RELOAD} s",
            f"{seen.came} came, {seen.reloaded} came back; {seen.files} more files are open, {seen.left} after they left",
        )


def memory_around(attack: Callable[[Server], int]) -> str:
    """The memory of a server before visitors come, with them, and a minute after they left. ``attack`` lets them come and leave; it returns the second."""
    with fresh_server() as server:
        before, there = server.memory(), attack(server)
        time.sleep(MINUTE)
        after = server.memory()
    return f"{before / MB:.0f} MB before, {there / MB:.0f} with these visitors, {after / MB:.0f} {MINUTE} s after they left"


def memory_of_a_class() -> Iterator[Row]:
    def attack(server: Server) -> int:
        run_async(come_and_reload(server, STUDENTS, RELOAD))
        return server.memory()

    yield Row(
        "the memory of visitors who have left is given back",
        f"{STUDENTS} students come, reload, and leave",
        memory_around(attack),
    )


def unknown_values() -> Iterator[Row]:
    async def attack(server: Server) -> int:
        sent = {f"$$ID-{number:032x}-none": ("string_value", "x") for number in range(VALUES)}
        visitors = [Session(server.websocket, "explore", SMALL) for _ in range(SENDERS)]
        for visitor in visitors:
            await visitor.open()
            await visitor.run(sent)
        there = server.memory()
        await asyncio.gather(*(visitor.close() for visitor in visitors))
        return there

    yield Row(
        "values of widgets that no page has are dropped",
        f"{SENDERS} visitors send {VALUES} values of such widgets each, in a message of the largest size",
        memory_around(lambda server: run_async(attack(server))),
    )


def killed_replica() -> Iterator[Row]:
    for soft, hard in FILES:
        with Stack(files=(soft, hard)) as stack, Sessions(stack.url, queries(STUDENTS)) as sessions:
            sessions.wait_for_views(120)
            one = max(stack.replicas, key=Replica.connections)
            lost = one.connections()
            one.kill()
            begin = time.monotonic()
            sessions.wait_for_views(120)
            seconds = time.monotonic() - begin
        yield Row(
            "each student costs the server one open file",
            f"one of two processes behind nginx is killed, with {STUDENTS} students; {soft:,} files, at most {hard:,}",
            f"{lost} lost their server; all of them have their view again after {seconds:.1f} s",
        )


def ends_of_code() -> Iterator[Row]:
    ran = subprocess.run([sys.executable, "-m", "tests.cli.endings"], capture_output=True, text=True, check=True)
    found = json.loads(ran.stdout)
    refused = sum(found[name][:2] == [2, ""] for name in ENDINGS)
    yield Row(
        "code that is checked is never the result of the command",
        f"it ends the process in {len(ENDINGS)} ways, such as os._exit(0), a signal and another program in its place",
        f"{refused} times a message and exit code 2, and no result",
    )


def one_visitor() -> Iterator[Row]:
    """What one hostile visitor does, and how long another one waits meanwhile."""
    line, header = (b"GET /", b"a" * 4096), (b"GET / HTTP/1.1\r\nHost: x\r\n", b"a: b\r\n" * 700)
    attacks: tuple[tuple[str, str, Callable[[Server], str]], ...] = (
        ("no uploads", f"{hostile.UPLOADS} uploads of 0.9 MB", hostile.uploads),
        (
            "64 kB of a request line",
            "a request line without an end",
            partial(hostile.endless, start=line[0], more=line[1]),
        ),
        ("64 kB of headers", "headers without an end", partial(hostile.endless, start=header[0], more=header[1])),
        ("10 s for a request", f"{hostile.HALVES} half requests", hostile.halves),
        ("100 messages a second of a session", f"{hostile.MESSAGES:,} messages in one websocket", hostile.burst),
        ("64 kB of a message", "a message of 0.5 MB", hostile.large_message),
        ("one computation of a file", f"{hostile.READERS} readers ask for the same file", hostile.same_file),
        (
            "a place for each reader",
            f"a client keeps {hostile.READERS} files running beside a reader",
            hostile.busy_client,
        ),
    )
    for limit, tried, attack in attacks:
        with fresh_server() as server:
            seen, wait = hostile.beside(server, partial(attack, server))
        yield Row(limit, tried, f"{seen}; others wait at most {wait:.2f} s for a change")
    with TemporaryDirectory() as folder, fresh_server(log=Path(folder) / "log.txt") as server:
        seen = hostile.log_lines(server, Path(folder) / "log.txt")
    yield Row(
        "ten lines of one kind a minute", f"{2 * hostile.LINES + 2} messages that are none, one with a line in it", seen
    )


ATTACKS: tuple[Callable[[], Iterator[Row]], ...] = (
    many_views,
    abandoned_pages,
    exports,
    many_threads,
    few_files,
    killed_replica,
    memory_of_a_class,
    unknown_values,
    ends_of_code,
    one_visitor,
    hostile_inputs,
)


def main() -> None:
    print("| limit | tried | seen |\n| --- | --- | --- |")
    for attack in ATTACKS:
        for row in attack():
            print(f"| {row.limit} | {row.tried} | {row.seen} |", flush=True)


if __name__ == "__main__":
    main()
