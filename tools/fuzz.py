"""Fuzz for a long time: ``python -m tools.fuzz 60`` tries new inputs and new random clicks for 60 minutes.

Each round runs tests/fuzz and the monkey test (random clicks) with a new seed. The rounds continue until 100,000 inputs were tried and the
minutes are over, or until a round fails. Then the exit code is 1, pytest's output shows the input or the last clicks, and
``make fuzz SEED=...`` repeats only that round.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from secrets import randbelow
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MIN_EXAMPLES = 100_000
SCALE = float(os.environ.get("FUZZ_SCALE", "8"))  # inputs of a round, as a multiple of those of `make test`
ACTIONS = os.environ.get("MONKEY_ACTIONS", "150")  # random clicks per page
PARTS = ("tests/fuzz", "tests/browser/test_monkey.py")

Seen = dict[str, Any]


def main(minutes: float = 0, seed: int | None = None) -> None:
    end, seen = time.monotonic() + 60 * minutes, Seen(examples=0, refused=0, seconds=0.0, bytes=0.0)
    number = 0
    while seed is None or not number:
        number += 1
        now = randbelow(10**6) if seed is None else seed
        print(f"Round {number}, seed {now}", flush=True)
        with TemporaryDirectory() as folder:
            failed = _run_round(now, folder)
            for path in sorted(Path(folder).glob("*.json")):
                seen = _merge(seen, json.loads(path.read_text()))
        _print_summary(seen)
        if failed:
            sys.exit(f"make fuzz SEED={now} repeats this round.")
        if seen["examples"] >= MIN_EXAMPLES and time.monotonic() >= end:
            return


def _run_round(seed: int, folder: str) -> bool:
    """Run one round; return whether a test failed."""
    settings = {
        "FUZZ_REPORT": folder,
        "FUZZ_SCALE": str(SCALE),
        "HYPOTHESIS_PROFILE": "deep",
        "MONKEY_SEED": str(seed),
        "MONKEY_ACTIONS": ACTIONS,
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "2", "--dist", "load", f"--hypothesis-seed={seed}"]
    runs = [subprocess.run([*command, part], cwd=ROOT, env=os.environ | settings) for part in PARTS]
    return any(run.returncode for run in runs)


def _merge(seen: Seen, other: Seen) -> Seen:
    """The sums of both reports, and the slowest and largest example of both."""
    slow, large = max(seen, other, key=lambda one: one["seconds"]), max(seen, other, key=lambda one: one["bytes"])
    sums = {name: seen[name] + other[name] for name in ("examples", "refused")}
    return (
        sums
        | {name: slow.get(name) for name in ("seconds", "slowest")}
        | {name: large.get(name) for name in ("bytes", "largest")}
    )


def _print_summary(seen: Seen) -> None:
    print(f"{seen['examples']:,} examples so far, {seen['refused']:,} rejected with a message.")
    print(f"The slowest took {1000 * seen['seconds']:.0f} ms of computing time: {seen.get('slowest', '')}")
    print(f"The largest took {seen['bytes'] / 1e6:.0f} MB: {seen.get('largest', '')}", flush=True)


def command(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("tools.fuzz", description="Hostile inputs and random clicks, with new seeds.")
    parser.add_argument("minutes", nargs="?", type=float, default=0, help="the minimum time")
    parser.add_argument("seed", nargs="?", type=int, help="repeat only the round with this seed")
    given = parser.parse_args(argv)
    try:
        main(given.minutes, given.seed)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    command()
