"""Simulate a class: websocket sessions that change controls at intervals. Measures response times and the load of the server.

    python -m bench.load                     300 students, one change every 5 s
    python -m bench.load --sessions 100      fewer
    python -m bench.load --processes 2       two servers per kind; students are assigned in turns, as by a proxy
    python -m bench.load --capacity          search for the number of students that one process carries at a p95 of 300 ms

bare        one slider, one line of text, with our settings: the minimum that Streamlit needs
normviz     the app as it is deployed; half of the students use Explore, the others the other pages (``bench/students.py``)

The kinds take turns, each on a new server. A wait is the time from a change to the end of its rerun; an unfinished change counts with the
time that it has waited when the turn ends. The students run in one process on the same machine, so they compete with the server for
the cores; ``students, cores`` is their share.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sys
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import uvloop

from bench.common import Server, median, percentile, ratio, report, server, spread
from bench.students import Log, Student

KINDS = ("bare", "normviz")
MB = 2**20
GOOD = 300  # ms: a change feels immediate enough to a class
FIRST = 20  # sessions, with which the search for the capacity begins


@dataclass
class Turn:
    """The measurements of one kind in one turn."""

    log: Log
    seconds: float
    server_cpu: float
    students_cpu: float
    before: int  # memory of all servers in bytes, warm and without sessions
    opened: int  # memory when every session is open
    after: int  # memory at the end
    crashed: int

    @property
    def waits(self) -> list[float]:
        return self.log.changes + self.log.unfinished


def turn(kind: str, sessions: int, think: float, ramp: float, seconds: float, processes: int = 1) -> Turn:
    with ExitStack() as stack:
        servers = [stack.enter_context(server(kind)) for _ in range(processes)]
        return uvloop.run(_class(kind, servers, sessions, think, ramp, seconds))


async def _class(kind: str, servers: list[Server], sessions: int, think: float, ramp: float, seconds: float) -> Turn:
    await _warm(kind, servers, min(20, sessions))
    log = Log(measuring=False)
    before = _memory(servers)
    loop = asyncio.get_running_loop()
    gc.disable()  # a pause of this process would look like one of the server

    async def arrive(number: int) -> None:
        await asyncio.sleep(ramp * number / sessions)
        await Student(kind, servers[number % len(servers)].websocket, number, log).live(think)

    students = [loop.create_task(arrive(number)) for number in range(sessions)]
    await asyncio.sleep(ramp + think)
    while len(log.first) + len(log.errors) < sessions:  # a slow server is still opening pages
        await asyncio.sleep(0.05)
    opened = _memory(servers)
    begin, cpu, own = time.monotonic(), _cpu(servers), time.process_time()
    log.measuring = True
    await asyncio.sleep(seconds)
    while not log.changes and not log.errors:  # at least one change is measured
        await asyncio.sleep(0.05)
    took, used, mine = time.monotonic() - begin, _cpu(servers) - cpu, time.process_time() - own
    after, crashed = _memory(servers), sum(not one.alive() for one in servers)
    log.over = True
    for student in students:
        student.cancel()
    results = await asyncio.gather(*students, return_exceptions=True)
    log.errors += [repr(result)[:200] for result in results if isinstance(result, Exception)]
    gc.enable()
    return Turn(log, took, used, mine, before, opened, after, crashed)


async def _warm(kind: str, servers: list[Server], students: int) -> None:
    """Open the pages of the first students on every server, so that no session pays for filling caches and for late imports."""
    for one in servers:
        for number in range(students):
            student = Student(kind, one.websocket, number, Log())
            await student.session.open()
            await student.act()
            await student.session.close()
        await asyncio.sleep(0.5)


def _cpu(servers: list[Server]) -> float:
    return sum(one.cpu() for one in servers if one.alive())


def _memory(servers: list[Server]) -> int:
    return sum(one.memory() for one in servers if one.alive())


def summary(kind: str, sessions: int, turns: list[Turn]) -> dict[str, Any]:
    """The results of one kind over all turns; waits in ms, memory in kB per session and in MB in total."""
    waits = [1000 * wait for one in turns for wait in one.waits]
    seconds = sum(one.seconds for one in turns)
    done = sum(len(one.log.changes) for one in turns)
    errors = [error for one in turns for error in one.log.errors]
    return {
        "kind": kind,
        "sessions": sessions,
        "changes": done,
        "reruns/s": round(done / seconds, 1),
        **{name: value for name, value in spread(waits).items() if name != "n"},
        "unanswered": sum(len(one.log.unfinished) for one in turns),
        "first p95": round(1000 * percentile([wait for one in turns for wait in one.log.first], 0.95), 1),
        "errors": len(errors) + sum(one.crashed for one in turns),
        "server, cores": round(sum(one.server_cpu for one in turns) / seconds, 2),
        "cpu ms/rerun": round(1000 * sum(one.server_cpu for one in turns) / max(done, 1), 1),
        "students, cores": round(sum(one.students_cpu for one in turns) / seconds, 2),
        "kB/rerun": round(sum(one.log.bytes for one in turns) / 1000 / max(done, 1), 1),
        "messages/rerun": round(sum(one.log.messages for one in turns) / max(done, 1), 1),
        "kB/session": round(median([(one.opened - one.before) / 1024 / sessions for one in turns]), 1),
        "MB": round(median([one.after / MB for one in turns])),
        "messages": sorted(set(errors))[:5],
    }


def capacity(kind: str, limit: float, most: int, think: float, ramp: float, seconds: float) -> dict[str, Any]:
    """The largest number of sessions, within 20 %, for which the p95 of ``kind`` is at most ``limit`` ms, by bisection."""
    seen: dict[int, float] = {}

    def keeps(sessions: int) -> bool:
        one = turn(kind, sessions, think, min(ramp, sessions / 4), max(seconds, 60 * think / sessions / 2))
        seen[sessions] = round(1000 * percentile(one.waits, 0.95), 1)
        print(f"{kind} with {sessions} sessions: p95 {seen[sessions]} ms", file=sys.stderr, flush=True)
        return seen[sessions] <= limit

    low, high = 0, min(FIRST, most)
    while high <= most and keeps(high):
        low, high = high, high * 3
    while high - low > max(1, low / 5):
        middle = (low + high) // 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return {"sessions": low, "p95 by sessions": dict(sorted(seen.items()))}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--think", type=float, default=5, help="mean seconds between a student's changes")
    parser.add_argument("--ramp", type=float, default=20, help="seconds until all students have arrived")
    parser.add_argument("--seconds", type=float, default=30, help="seconds of measurement per turn")
    parser.add_argument("--rounds", type=int, default=2, help="turns per kind")
    parser.add_argument("--processes", type=int, default=1, help="servers per kind")
    parser.add_argument(
        "--capacity", action="store_true", help=f"search for the students of a process at a p95 of {GOOD} ms"
    )
    parser.add_argument("--quick", action="store_true", help="a smoke test: two students, a few seconds")
    given = parser.parse_args(arguments)
    if given.quick:
        given.sessions, given.think, given.ramp, given.seconds = 2, 0.3, 0.2, 1.5
        given.rounds = 1
    load, turns = os.getloadavg()[0], defaultdict(list)
    for _ in range(given.rounds):
        for kind in KINDS:
            print(f"{kind}, {given.sessions} sessions", file=sys.stderr, flush=True)
            turns[kind].append(turn(kind, given.sessions, given.think, given.ramp, given.seconds, given.processes))
    rows = [summary(kind, given.sessions, ones) for kind, ones in turns.items()]
    by_kind = {row["kind"]: row for row in rows}
    more: dict[str, Any] = {"think_s": given.think, "processes": given.processes}
    ours, bare = by_kind["normviz"], by_kind["bare"]
    more |= {"p95, times the bare page's": ratio(ours["p95"], bare["p95"])}
    more |= {"memory per session, times the bare page's": ratio(ours["kB/session"], bare["kB/session"])}
    if given.capacity:
        more[f"students at a p95 of {GOOD} ms"] = {
            kind: capacity(kind, GOOD, given.sessions, given.think, given.ramp, given.seconds) for kind in KINDS
        }
    shown = [{name: value for name, value in row.items() if name != "messages"} for row in rows]
    print(f"Waits in ms. The students compete with the server for {os.cpu_count()} cores.\n")
    report("load", shown, load, rows, **more)


if __name__ == "__main__":
    main()
