"""Attack the app on this machine, and print the table of docs/limits.md: ``python -m bench.attack``, or some of it: ``python -m bench.attack addresses``.

Each attack has a server of its own. The numbers depend on the machine; the tests assert what does not.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from operator import eq
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from urllib.parse import parse_qsl, quote, urlsplit

import psutil
import torch
from torch import nn
from websockets.exceptions import WebSocketException

import normviz as nv
from bench import hostile
from bench.common import Server
from bench.protocol import Session
from normviz.cli.arguments import QUIZZES
from normviz.export.links import output_of_query
from normviz.lessons.pages import PAGES, view_of_link
from normviz.scene.view import LONGEST_QUERY, length_problem
from normviz.texts.errors import NormvizError, listed
from normviz.ui.export import MAX_REQUESTS
from tests.cli.endings import ENDINGS
from tests.deploy.sessions import Sessions
from tests.deploy.stack import Replica, Stack
from tests.deploy.test_roll import queries
from tests.fuzz.attempts import try_links, try_requests, try_tours
from tests.measuring.test_threads_and_faults import set_all, settings
from tests.support.asgi import run_async
from tools.ports import free_port
from tools.servers import ROOT, running, with_files

MB = 2**20
VIEWS = 20
# Each has 1,048,576 elements. The seed differs, so that nothing is in a cache.
LARGEST = ("shape=2,524288&layer=GroupNorm(1,524288)", "shape=524288,2&layer=LayerNorm(2)")
SMALL = "shape=2,3,4,4&layer=LayerNorm([3,4,4])"
LATER = 10  # s after the views, when the memory must be back
SLOW_FILE = "export?page=train_and_eval&show=stream&batch_size=1024&steps=500"
QUICK_FILE = "export?page=gradients&fixed=true&plotlyjs=cdn"
ABANDONED, EXPORTS = 100, 320
FEW = 64  # files that a process may open
FILES = (1024, 20_000), (1024, 1024)  # that a process may open, and that it may raise this to
SENDERS, VALUES, MINUTE = 60, 800, 60  # visitors, values in a message, s
STUDENTS, RELOAD = 300, 10  # s, within which all of them reload
LINKS, TOURS, REQUESTS, SEED = 20_000, 2_000, 4_000, 1


@dataclass(frozen=True)
class Row:
    """What is limited, what was tried, and what was seen.

    before  what a review saw before there were these limits, on another machine, sometimes with other numbers; "" where it was not tried
    """

    limit: str
    tried: str
    seen: str
    before: str = ""


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
        paths = [f"{SLOW_FILE if leave_after else QUICK_FILE}&seed={seed}" for seed in range(EXPORTS)]
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
            f"{MAX_REQUESTS} files of one address are made or wait; the others get 503",
            f"{EXPORTS} clients ask for different {'slow' if leave_after else 'small'} files at once and {who}",
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
            "1,024 files: 225 came, 27 came back, and the next 13 were refused" if hard == soft else "",
        )


def memory_around(attack: Callable[[Server], int]) -> str:
    """The memory of a server before visitors come, with them, and a minute after they left.

    ``attack`` lets them come and leave, and returns the memory with them.
    """
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
        "292 MB before, 510 after they left",
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
        "368 MB before, 531 with these visitors, 462 after 128 s, with 0.8 MB from each",
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
            "144 lost their server, 48 of them did not come back" if hard == soft else "",
        )


def ends_of_code() -> Iterator[Row]:
    ran = subprocess.run([sys.executable, "-m", "tests.cli.endings"], capture_output=True, text=True, check=True)
    found = json.loads(ran.stdout)
    refused = sum(found[name][:2] == [2, ""] for name in ENDINGS)
    yield Row(
        "code that is checked is never the result of the command",
        f"it ends the process in {len(ENDINGS)} ways, such as os._exit(0), a signal and another program in its place",
        f"{refused} times a message and exit code 2, and no result",
        "sys.exit() in a function or its file: exit code 0, which means right",
    )


def one_visitor() -> Iterator[Row]:
    """What one hostile visitor does, and how long another one waits meanwhile."""
    line, header = (b"GET /", b"a" * 4096), (b"GET / HTTP/1.1\r\nHost: x\r\n", b"a: b\r\n" * 700)
    attacks: tuple[tuple[str, str, Callable[[Server], str], str], ...] = (
        ("no uploads", f"{hostile.UPLOADS} uploads of 0.9 MB", hostile.uploads, "400 were taken, +383 MB"),
        (
            "64 kB of a request line",
            "a request line without an end",
            partial(hostile.endless, start=line[0], more=line[1]),
            "60 MB were taken; others waited 5.0 s",
        ),
        (
            "64 kB of headers",
            "headers without an end",
            partial(hostile.endless, start=header[0], more=header[1]),
            "60 MB were taken, +1,407 MB",
        ),
        ("10 s for a request", f"{hostile.HALVES} half requests", hostile.halves, "400 stayed open"),
        (
            "100 messages a second of a session",
            f"{hostile.MESSAGES:,} messages in one websocket",
            hostile.burst,
            "others waited 16.0 s",
        ),
        (
            "two pages run at a time, and messages are taken in turn",
            f"{hostile.WEBSOCKETS} websockets of one visitor, with {hostile.CHANGES} changes a second each",
            hostile.many_websockets,
            "others waited 28 s, on this machine",
        ),
        ("64 kB of a message", "a message of 0.5 MB", hostile.large_message, "0.8 MB were taken"),
        (
            "one computation of a file",
            f"{hostile.READERS} readers ask for the same file",
            hostile.same_file,
            "8 files after 15.3 s, 14.7 s of processor",
        ),
        (
            "quick files go first",
            f"a client keeps {hostile.READERS} files running beside a reader",
            hostile.busy_client,
            "1 file and 19 times 503",
        ),
        (
            "1,000 characters of accepted languages are read",
            f"{hostile.REQUESTS} requests with 60 kB of them",
            hostile.long_language,
            "90 ms for a request, in which others waited",
        ),
        (
            "gzip;q=0 refuses gzip",
            f"requests with it in {len(hostile.NO_GZIP)} spellings",
            hostile.refused_gzip,
            "312 of 1,248 responses were compressed",
        ),
    )
    for limit, tried, attack, before in attacks:
        with fresh_server() as server:
            seen, wait = hostile.beside(server, partial(attack, server))
        yield Row(limit, tried, f"{seen}; others wait at most {wait:.2f} s for a change", before)


def log_lines() -> Iterator[Row]:
    for limit, tried, attack, before in (
        (
            "ten lines of one kind a minute",
            f"{2 * hostile.LINES + 2} messages that are none, one with a line in it",
            hostile.log_lines,
            "a line for each, the other one was forged, and a traceback with paths",
        ),
        (
            "a value that no control sends is the visitor's fault",
            f"{len(hostile.NO_VALUES)} such values, one with a line in it",
            hostile.values_in_log,
            "ERROR, a fault of normviz",
        ),
    ):
        with TemporaryDirectory() as folder, fresh_server(log=Path(folder) / "log.txt") as server:
            seen = attack(server, Path(folder) / "log.txt")
        yield Row(limit, tried, seen, before)


def full_server() -> Iterator[Row]:
    """Visitors come until no more files may be open, and one more asks for a page."""

    async def attack(server: Server) -> str:
        visitors = list[Session]()
        with suppress(WebSocketException):
            while True:
                session = Session(server.websocket, "explore", SMALL)
                await session.open()
                visitors.append(session)
        status, headers, html = await ask(server, "explore")
        await asyncio.gather(*(visitor.close() for visitor in visitors))
        await asyncio.sleep(1)
        later, _, _ = await ask(server, "explore")
        again = b'http-equiv="refresh"' in html
        return (
            f"{len(visitors)} came; the page is {status}, with Retry-After {headers.get('retry-after')}, "
            f"{'and asks again by itself' if again else 'and stays'}; {later} when they have left"
        )

    with fresh_server((FEW, FEW)) as server:
        yield Row(
            "a file is kept to tell visitors that the server is full",
            f"visitors come to a process with {FEW} files until one is refused",
            run_async(attack(server)),
            "connections were closed without a word",
        )


def long_links() -> Iterator[Row]:
    """A long link and one that is too long, in each place that takes a link."""
    page, found = PAGES["explore"], list[str]()
    values = ",".join(["-0.12345678"] * 128)
    places: dict[str, Callable[[str, dict[str, str]], object]] = {
        "the app and Share": lambda link, query: page.problem(view_of_link(page, query)),
        "export": lambda link, query: length_problem(query) or (output_of_query("explore", query) and None),
        "nv.open": lambda link, query: nv.open(link) and None,
    }
    for caption in ("数" * 300, "x" * LONGEST_QUERY):
        link = f"/explore?shape=2,64&layer=LayerNorm(64)&values={values}&caption={quote(caption)}"
        refused = [place for place, take in places.items() if _problem(take, link)]
        found.append(f"{len(link):,} characters: refused by {', '.join(refused) or 'none'}")
    yield Row(
        "one limit of a link, wherever it is",
        f"a link of 128 values and a long caption, and a longer one, in {listed(places, 'and')}",
        "; ".join(found),
        "4,290 characters: refused by export and nv.open",
    )


def _problem(take: Callable[[str, dict[str, str]], object], link: str) -> object:
    try:
        return take(link, dict(parse_qsl(urlsplit(link).query)))
    except NormvizError as error:
        return error


def modes_of_torch() -> Iterator[Row]:
    def changing(x: torch.Tensor) -> torch.Tensor:
        set_all()
        return nn.functional.layer_norm(x, (6,))

    before = settings()
    with torch.device("meta"):
        answer = nv.check(changing, (4, 6), "LayerNorm(6, elementwise_affine=False)")
    kept = sum(map(eq, settings(), before))
    yield Row(
        "a check leaves torch and NumPy as they were, and the default device may be meta",
        "a function that sets deterministic and anomaly mode, autocast, hooks and more, beside the device meta",
        f"{'right' if answer.ok else 'wrong'}; {kept} of {len(before)} settings are as before",
        'it failed: "it returned a meta one"; deterministic and anomaly mode, autocast and hooks stayed changed',
    )


def addresses() -> Iterator[Row]:
    evil = "javascript:alert(1)//"
    commands = [["practice", "--format", name, "-o", "set", "--app", evil] for name in QUIZZES]
    commands += [["export", "LayerNorm(4)", "-o", "page.html", "--app", evil], ["site", "site", "--only", "s0a"]]
    environment = os.environ | {"NORMVIZ_URL": evil, "PYTHONPATH": str(ROOT)}
    with TemporaryDirectory() as folder:
        run = partial(subprocess.run, cwd=folder, env=environment, capture_output=True, text=True)
        ran = [run([sys.executable, "-m", "normviz", *command]) for command in commands]
        left = len(os.listdir(folder))
    refused = sum(one.returncode == 2 and "is not a web address" in one.stderr for one in ran)
    yield Row(
        "an address of the app begins with https:// or http://",
        f"`{evil}` as --app and NORMVIZ_URL, for {len(commands)} kinds of files",
        f"{refused} times a message and exit code 2; {left} files",
        "sets for Moodle, Canvas and Anki had links to it",
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
    log_lines,
    full_server,
    long_links,
    modes_of_torch,
    addresses,
    hostile_inputs,
)


def main() -> None:
    names = {attack.__name__: attack for attack in ATTACKS}
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("attacks", nargs="*", metavar="NAME", help=f"of an attack: {listed(names)}; by default all")
    asked = parser.parse_args().attacks
    for name in asked:
        if name not in names:
            parser.error(f"{name} is no attack; choose {listed(names)}")
    chosen = [names[name] for name in asked] or ATTACKS
    print("| limit | tried | before | now |\n| --- | --- | --- | --- |")
    for attack in chosen:
        for row in attack():
            print(f"| {row.limit} | {row.tried} | {row.before or '-'} | {row.seen} |", flush=True)


if __name__ == "__main__":
    main()
