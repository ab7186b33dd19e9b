"""Students come and go for a long time, and the memory of the server must not grow: ``python -m bench.soak``.

    python -m bench.soak                 an hour, 40 students at a time
    python -m bench.soak --minutes 15    shorter

Each student loads a page, changes its controls every five seconds for about a minute, may save a file, and leaves; the next one opens
another tensor. The table has a row for each minute, and one for the time after the last student has left.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from statistics import fmean, median
from typing import Any

import psutil
import uvloop

from bench.attack import MB, ask, fresh_server
from bench.common import Server, percentile, report
from bench.students import Log, Student

THINK, STAY = 5.0, (30.0, 90.0)  # s between the changes of a student, and until it leaves
FILES = 0.2  # the share of the students who save a file
LATER = 60.0  # s after the last student has left, when the memory must be back
MOST = 1.3  # of the memory before the first student came
SETTLED = 10  # minutes, after which the memory must not grow
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


async def student(server: Server, number: int, soak: Soak) -> None:
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
    await visitor.live(THINK, draw.uniform(*STAY))
    soak.students += 1


async def run(server: Server, students: int, minutes: float) -> Soak:
    soak, numbers, process = Soak(), count(), psutil.Process(server.process.pid)
    for warm in range(20):
        await ask(server, f"explore?shape=2,3,4,4&seed={warm}")
    soak.before, soak.files = server.memory(), (process.num_fds(), 0)
    end = time.monotonic() + 60 * minutes

    async def seat(place: int) -> None:
        await asyncio.sleep(THINK * place / 10)
        while time.monotonic() < end:
            await student(server, next(numbers), soak)

    seats = [asyncio.create_task(seat(place)) for place in range(students)]
    while (left := end - time.monotonic()) > 0:
        await asyncio.sleep(min(60, left))
        soak.memory.append(server.memory())
        print(f"minute {len(soak.memory)}: {soak.memory[-1] / MB:.0f} MB, {soak.students} students", flush=True)
    soak.log.over = True
    await asyncio.gather(*seats)
    await asyncio.sleep(LATER)
    soak.after, soak.files = server.memory(), (soak.files[0], process.num_fds())
    return soak


def growth(memory: Sequence[int]) -> float:
    """The memory of the last ten minutes as a multiple of that of the minutes 6 to 15; NaN for a short run.

    >>> growth([100] * 10 + [110] * 50)
    1.07
    """
    first, last = memory[SETTLED // 2 : SETTLED + SETTLED // 2], memory[-SETTLED:]
    return round(fmean(last) / fmean(first), 2) if len(memory) >= 2 * SETTLED else float("nan")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--students", type=int, default=40, help="at a time")
    given = parser.parse_args(arguments)
    load = os.getloadavg()[0]
    with fresh_server() as server:
        soak = uvloop.run(run(server, given.students, given.minutes))
    row: dict[str, Any] = {
        "minutes": given.minutes,
        "students": soak.students,
        "changes": len(soak.log.changes),
        "requests": soak.requests,
        "errors": len(soak.log.errors),
        "p50 ms": round(1000 * median(soak.log.changes)),
        "p95 ms": round(1000 * percentile(soak.log.changes, 0.95)),
        "MB before": round(soak.before / MB),
        "MB at most": round(max(soak.memory) / MB),
        "growth": growth(soak.memory),
        f"MB {LATER:.0f} s after": round(soak.after / MB),
        "after / before": round(soak.after / soak.before, 2),
        "files before, after": "{}, {}".format(*soak.files),
    }
    report("soak", [row], load, errors=sorted(set(soak.log.errors))[:5])
    if soak.after > MOST * soak.before or soak.log.errors:
        raise SystemExit(f"at most {MOST} times the memory of before, and no error, was expected")


if __name__ == "__main__":
    main()
