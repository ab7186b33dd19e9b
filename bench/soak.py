"""Sessions that come and go for half an hour: does the server's memory grow?

    python -m bench.soak                 30 minutes, 40 students at a time
    python -m bench.soak --minutes 120   longer

Each student stays for about a minute, changes a control every two seconds, and leaves; then another one comes. The server's resident memory
is read every five seconds. A straight line is fitted to the values after the first five minutes; its start is the base. In the first five
minutes memory grows because Streamlit keeps closed sessions for a while, in case they reconnect.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import random
import sys
import time
from typing import Any

import numpy as np
import uvloop

from bench.common import Server, report, server, spread
from bench.students import Log, Student

MB = 2**20
SETTLING = 5  # minutes
STAY, THINK = 60, 2  # s
FEWEST = 3  # measurements, also on a busy machine


async def soak(kind: str, one: Server, students: int, seconds: float, every: float) -> dict[str, Any]:
    """Memory in MB over time in s, and the students' waits and errors."""
    log, numbers, begin = Log(), itertools.count(), time.monotonic()
    chance = random.Random(0)

    async def chair() -> None:
        """One student after the other."""
        await asyncio.sleep(chance.uniform(0, min(STAY, seconds / 4)))
        while not log.over:
            student = Student(kind, one.websocket, next(numbers), log)
            await student.live(min(THINK, seconds / 10), chance.uniform(0.5, 1.5) * min(STAY, seconds / 4))

    chairs = [asyncio.create_task(chair()) for _ in range(students)]
    times, memory = [], []
    while (time.monotonic() - begin < seconds or len(times) < FEWEST) and one.alive():
        await asyncio.sleep(every)
        times.append(round(time.monotonic() - begin, 1))
        memory.append(round(one.memory() / MB, 2))
        if len(times) % 12 == 0:
            print(
                f"{times[-1] / 60:.1f} min: {memory[-1]:.0f} MB, {next(numbers)} students", file=sys.stderr, flush=True
            )
    log.over = True
    for task in chairs:
        task.cancel()
    await asyncio.gather(*chairs, return_exceptions=True)
    waits = spread([1000 * wait for wait in log.changes])
    return {"s": times, "MB": memory, "students": next(numbers), "waits": waits, "errors": log.errors}


def fitted(times: list[float], memory: list[float], settling: float) -> dict[str, float]:
    """The base and the slope after ``settling`` seconds, and the growth in percent: of the fitted line, and at most.

    >>> fitted([0, 10, 20, 30], [50, 100, 101, 102], 10)["grown, %"]
    2.0
    """
    late = [(at, mb) for at, mb in zip(times, memory, strict=True) if at >= settling]
    x, y = np.array(late, dtype=float).T
    slope, start = np.polyfit(x - x[0], y, 1) if len(x) > 1 else (0.0, float(y[0]))
    return {
        "base, MB": round(float(start), 1),
        "MB per hour": round(float(slope) * 3600, 1),
        "grown, %": round(float(100 * slope * (x[-1] - x[0]) / start), 2),
        "at most, %": round(float(100 * (y.max() - start) / start), 2),
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--students", type=int, default=40, help="at a time")
    parser.add_argument("--quick", action="store_true", help="a smoke test: two students, a few seconds")
    given = parser.parse_args(arguments)
    students, seconds, every = (2, 2.0, 0.4) if given.quick else (given.students, 60 * given.minutes, 5.0)
    load = os.getloadavg()[0]
    with server("normviz") as one:
        found = uvloop.run(soak("normviz", one, students, seconds, every))
    settling = min(60 * SETTLING, seconds / 3)
    row = {"minutes": round(seconds / 60, 2), "students": found["students"], "errors": len(found["errors"])}
    row |= fitted(found["s"], found["MB"], settling) | {"wait p95, ms": found["waits"]["p95"]}
    found["errors"] = sorted(set(found["errors"]))[:5]
    report("soak", [row], load, [row | found])


if __name__ == "__main__":
    main()
