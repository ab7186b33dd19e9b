"""A class of websocket sessions that think and change controls: what it waits for, and what that costs the server.

    python -m bench.load                     300 students, 5 s of thought
    python -m bench.load --sessions 100      fewer
    python -m bench.load --processes 2       two servers of each kind, students dealt to them in turns, as a proxy does
    python -m bench.load --no-search         without the search for what the afternoon page holds

bare        one slider, one line of text, with our settings: the framework's floor
normviz     the app as it is deployed; half of the students explore, the others are spread over the pages (``bench/students.py``)
afternoon   the same panels as Plotly subplots, with Streamlit's own settings

The kinds take turns, each on a fresh server. A wait is the time from a change to the end of the run that it causes; a change that was
not answered when the turn ended counts as long as it had waited. The students run on the same machine as the server, in one process:
they compete for its cores, and ``students, cores`` says how much they took.
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

KINDS = ("bare", "normviz", "afternoon")
MB = 2**20


@dataclass
class Turn:
    """One kind under one load."""

    log: Log
    seconds: float
    server_cpu: float
    students_cpu: float
    before: int  # bytes of all servers: warm, without sessions
    opened: int  # with every session open
    after: int  # at the end
    died: int

    @property
    def waits(self) -> list[float]:
        return self.log.changes + self.log.unfinished


def turn(kind: str, sessions: int, think: float, ramp: float, seconds: float, processes: int = 1) -> Turn:
    with ExitStack() as stack:
        servers = [stack.enter_context(server(kind)) for _ in range(processes)]
        return uvloop.run(_class(kind, servers, sessions, think, ramp, seconds))


async def _class(kind: str, servers: list[Server], sessions: int, think: float, ramp: float, seconds: float) -> Turn:
    await _warm(kind, servers)
    log = Log(measuring=False)
    before = _memory(servers)
    loop = asyncio.get_running_loop()
    gc.disable()  # a pause of ours would be taken for one of the server's

    async def arrive(number: int) -> None:
        await asyncio.sleep(ramp * number / sessions)
        await Student(kind, servers[number % len(servers)].websocket, number, log).live(think)

    students = [loop.create_task(arrive(number)) for number in range(sessions)]
    await asyncio.sleep(ramp + think)
    opened = _memory(servers)
    begin, cpu, own = time.monotonic(), _cpu(servers), time.process_time()
    log.measuring = True
    await asyncio.sleep(seconds)
    took, used, mine = time.monotonic() - begin, _cpu(servers) - cpu, time.process_time() - own
    after, died = _memory(servers), sum(not one.alive() for one in servers)
    log.over = True
    for student in students:
        student.cancel()
    results = await asyncio.gather(*students, return_exceptions=True)
    log.errors += [repr(result)[:200] for result in results if isinstance(result, Exception)]
    gc.enable()
    return Turn(log, took, used, mine, before, opened, after, died)


async def _warm(kind: str, servers: list[Server]) -> None:
    """Every page once on every server, so that caches and late imports are no session's."""
    for one in servers:
        for number in range(20):
            student = Student(kind, one.websocket, number, Log())
            await student.session.open()
            await student.act()
            await student.session.close()
        await asyncio.sleep(0.5)


def _cpu(servers: list[Server]) -> float:
    return sum(one.cpu() for one in servers if one.alive())


def _memory(servers: list[Server]) -> int:
    return sum(one.memory() for one in servers if one.alive())


def summed(kind: str, sessions: int, turns: list[Turn]) -> dict[str, Any]:
    """The turns of one kind together; waits in ms, memory in kB a session and MB in all."""
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
        "errors": len(errors) + sum(one.died for one in turns),
        "server, cores": round(sum(one.server_cpu for one in turns) / seconds, 2),
        "cpu ms/rerun": round(1000 * sum(one.server_cpu for one in turns) / max(done, 1), 1),
        "students, cores": round(sum(one.students_cpu for one in turns) / seconds, 2),
        "kB/rerun": round(sum(one.log.bytes for one in turns) / 1000 / max(done, 1), 1),
        "kB/session": round(median([(one.opened - one.before) / 1024 / sessions for one in turns]), 1),
        "MB": round(median([one.after / MB for one in turns])),
        "messages": sorted(set(errors))[:5],
    }


def held(kind: str, limit: float, most: int, think: float, ramp: float, seconds: float) -> dict[str, Any]:
    """The most sessions, to a fifth, with which ``kind`` keeps its p95 at or below ``limit`` ms: doubled, then halved."""
    seen: dict[int, float] = {}

    def keeps(sessions: int) -> bool:
        one = turn(kind, sessions, think, min(ramp, sessions / 4), max(seconds, 60 * think / sessions / 2))
        seen[sessions] = round(1000 * percentile(one.waits, 0.95), 1)
        print(f"{kind} with {sessions} sessions: p95 {seen[sessions]} ms", file=sys.stderr, flush=True)
        return seen[sessions] <= limit

    low, high = 0, 1
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
    parser.add_argument("--ramp", type=float, default=20, help="seconds in which the class arrives")
    parser.add_argument("--seconds", type=float, default=30, help="of measuring in each turn")
    parser.add_argument("--rounds", type=int, default=2, help="turns of each kind")
    parser.add_argument("--processes", type=int, default=1, help="servers of each kind")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--no-search", dest="search", action="store_false")
    parser.add_argument("--quick", action="store_true", help="two students, for a moment: does it run?")
    given = parser.parse_args(arguments)
    if given.quick:
        given.sessions, given.think, given.ramp, given.seconds = 2, 0.3, 0.2, 1.5
        given.rounds, given.search, given.kinds = 1, False, ["bare", "normviz"]
    load, turns = os.getloadavg()[0], defaultdict(list)
    for _ in range(given.rounds):
        for kind in given.kinds:
            print(f"{kind}, {given.sessions} sessions", file=sys.stderr, flush=True)
            turns[kind].append(turn(kind, given.sessions, given.think, given.ramp, given.seconds, given.processes))
    rows = [summed(kind, given.sessions, ones) for kind, ones in turns.items()]
    by_kind = {row["kind"]: row for row in rows}
    more: dict[str, Any] = {"think_s": given.think, "processes": given.processes}
    if {"bare", "normviz"} <= by_kind.keys():
        ours, bare = by_kind["normviz"], by_kind["bare"]
        more |= {"p95, times the bare page's": ratio(ours["p95"], bare["p95"])}
        more |= {"memory a session, times the bare page's": ratio(ours["kB/session"], bare["kB/session"])}
    if given.search and "normviz" in by_kind:
        more["afternoon at our p95"] = held(
            "afternoon", by_kind["normviz"]["p95"], given.sessions, given.think, given.ramp, given.seconds / 2
        )
    shown = [{name: value for name, value in row.items() if name != "messages"} for row in rows]
    print(f"Waits in ms. The students compete with the server for {os.cpu_count()} cores.\n")
    report("load", shown, load, rows, **more)


if __name__ == "__main__":
    main()
