"""Students come and go for a long time, and the memory of the server must not grow: ``python -m bench.soak``.

    python -m bench.soak                 an hour, 40 students at a time: `make soak`
    python -m bench.soak --minutes 15    shorter

Each student loads a page, changes its controls every five seconds for about a minute, may save a file, and leaves; the next one opens
another tensor. It prints the memory after each minute. The exit code is 1 if there was an error, or if memory was not given back.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from statistics import fmean
from typing import Any

import psutil
import uvloop

from bench.attack import MB, SMALL, ask, view
from bench.common import Server, report, server, spread
from bench.students import Log, Student

STAY = 30.0, 90.0  # s until a student leaves
FILES = 0.2  # the share of the students who save a file
LATER = 60.0  # s after the last student has left, when the memory must be back
MOST = 1.3  # of the memory before the first student came
SETTLED = 10  # minutes, whose end is compared with that of the run
LEVEL = 1.1  # of the memory at the end of these minutes
SHAPES = "shape={},{},{},{}&seed={}"


@dataclass
class Soak:
    """What was seen: the memory in bytes, before and at the end of each minute, and a while after all have left."""

    before: int = 0
    memory: list[int] = field(default_factory=list)
    after: int = 0
    files: tuple[int, int] = (0, 0)  # open ones, before and after
    students: int = 0
    requests: int = 0
    log: Log = field(default_factory=Log)


async def student(server: Server, number: int, think: float, soak: Soak) -> None:
    """One visit."""
    draw = random.Random(number)
    visitor = Student("normviz", server.websocket, number, soak.log)
    unique = SHAPES.format(*(draw.randint(2, 6) for _ in range(4)), number)
    visitor.session.query = "&".join(filter(None, (visitor.session.query, unique)))
    paths = [f"{visitor.session.path}?{visitor.session.query}"]
    paths += [f"export?page=explore&{unique}"] if draw.random() < FILES else []
    for path in paths:
        status, _, _ = await ask(server, path)
        soak.requests += 1
        if status not in (200, 503):
            soak.log.errors.append(f"{path}: {status}")
    await visitor.live(think, draw.uniform(*STAY))
    soak.students += 1


async def run(server: Server, students: int, minutes: float, think: float, later: float) -> Soak:
    soak, numbers, process = Soak(), count(), psutil.Process(server.process.pid)
    await view(server, SMALL)
    soak.before, soak.files = server.memory(), (process.num_fds(), 0)
    end = time.monotonic() + 60 * minutes

    async def seat(place: int) -> None:
        await asyncio.sleep(think * place / 10)
        while time.monotonic() < end:
            await student(server, next(numbers), think, soak)

    seats = [asyncio.create_task(seat(place)) for place in range(students)]
    while (left := end - time.monotonic()) > 0:
        await asyncio.sleep(min(60, left))
        soak.memory.append(server.memory())
        print(f"minute {len(soak.memory)}: {soak.memory[-1] / MB:.0f} MB, {soak.students} students", flush=True)
    while not soak.log.changes and not soak.log.errors:  # at least one change is measured
        await asyncio.sleep(0.05)
    soak.log.over = True
    await asyncio.gather(*seats)
    await asyncio.sleep(later)
    soak.after, soak.files = server.memory(), (soak.files[0], process.num_fds())
    return soak


def growth(memory: Sequence[int]) -> float:
    """The memory at the end as a multiple of that after ten minutes, each the mean of five minutes; NaN for a run of less than 15."""
    first, last = memory[SETTLED - 5 : SETTLED], memory[-5:]
    return round(fmean(last) / fmean(first), 2) if len(memory) >= SETTLED + 5 else math.nan


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--students", type=int, default=40, help="at a time")
    parser.add_argument("--think", type=float, default=5, help="mean seconds between a student's changes")
    parser.add_argument("--quick", action="store_true", help="a smoke test: two students, a few seconds")
    given, later, load = parser.parse_args(arguments), LATER, os.getloadavg()[0]
    if given.quick:
        given.minutes, given.students, given.think, later = 0.03, 2, 0.3, 0.1
    with server("normviz") as one:
        soak = uvloop.run(run(one, given.students, given.minutes, given.think, later))
    row: dict[str, Any] = {
        "minutes": given.minutes,
        "students": soak.students,
        "changes": len(soak.log.changes),
        "requests": soak.requests,
        "errors": len(soak.log.errors),
        **{
            f"{name} ms": value
            for name, value in spread([1000 * wait for wait in soak.log.changes], 0).items()
            if name != "n"
        },
        "MB before": round(soak.before / MB),
        "MB at most": round(max(soak.memory) / MB),
        "growth": growth(soak.memory),
        "MB after": round(soak.after / MB),
        "after / before": round(soak.after / soak.before, 2),
        "files before, after": "{}, {}".format(*soak.files),
    }
    report("soak", [row], load, messages=sorted(set(soak.log.errors))[:5])
    if soak.log.errors or (not given.quick and (soak.after > MOST * soak.before or row["growth"] > LEVEL)):
        raise SystemExit(
            f"expected: no error, {MOST} of the memory before at most, and {LEVEL} of that after ten minutes"
        )


if __name__ == "__main__":
    main()
