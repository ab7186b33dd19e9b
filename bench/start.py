"""The time from the command to the first painted figure, with a new process and an empty browser cache each time.

    python -m bench.start              the table, and one line of JSON
    python -m bench.start --rounds 9   start each 9 times (default 5)

The three take turns. The browser is already running, the files are in the file cache of the system, and our modules are compiled, as pip and
the Dockerfile leave them.

normviz        ``streamlit run app.py``, until the app has drawn the panels of Explore
bare + torch   the bare page in a process that imports torch, until its line of text is shown
bare           the same without torch
"""

from __future__ import annotations

import argparse
import os
import time
from compileall import compile_dir
from pathlib import Path

from playwright.sync_api import Browser

import normviz
from bench.common import FIRST_PATHS, TAB, chromium, ratio, report, server, spread, wait_for

PAINTED = {
    "normviz": ".nv-view[data-state=ready]:not(#normviz-first *)",
    "bare + torch": "[data-testid=stText]",
    "bare": "[data-testid=stText]",
}
# The time of the frame that shows the selector, in ms since the epoch.
WATCH = """selector => new Promise((done) => {
  const look = () => document.querySelector(selector) ? requestAnimationFrame(() => setTimeout(() => done(performance.timeOrigin + performance.now()))) : setTimeout(look, 5);
  look();
})"""


def started(browser: Browser, kind: str) -> dict[str, float]:
    """Seconds from the command to the server's first response, and to the painted figure."""
    context = browser.new_context(**TAB)
    page = context.new_page()
    begin = time.time()
    with server(kind, wait=False) as one:
        wait_for(one)
        answered = time.time() - begin
        page.goto(one.address + FIRST_PATHS.get(kind, ""), wait_until="commit")
        painted = page.evaluate(WATCH, PAINTED[kind]) / 1000 - begin
        context.close()
    return {"answer": answered, "figure": painted}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a smoke test: normviz only, once")
    given = parser.parse_args(arguments)
    kinds, rounds = (["normviz"], 1) if given.quick else (list(PAINTED), given.rounds)
    compile_dir(Path(normviz.__file__).parent, quiet=1)
    load, found = os.getloadavg()[0], {kind: [] for kind in kinds}
    with chromium() as browser:
        for _ in range(rounds):
            for kind in kinds:
                found[kind].append(started(browser, kind))
    rows = [
        {
            "kind": kind,
            "first response, s (p50)": spread([one["answer"] for one in ones], 2)["p50"],
            "figure, s (p50)": spread([one["figure"] for one in ones], 2)["p50"],
            "figure, s (p95)": spread([one["figure"] for one in ones], 2)["p95"],
        }
        for kind, ones in found.items()
    ]
    middle = {str(row["kind"]): row["figure, s (p50)"] for row in rows}
    times = {kind: [round(one["figure"], 2) for one in ones] for kind, ones in found.items()}
    times_torch = ratio(middle["normviz"], middle.get("bare + torch", float("nan")))
    report("start", rows, load, times=times, **{"times bare + torch": times_torch})


if __name__ == "__main__":
    main()
