"""The long fuzz: ``python -m tools.fuzz 60`` draws new examples, and sends the monkey with new seeds, for 60 minutes.

Each round is pytest over tests/fuzz and the monkey, with a seed of its own; there are as many as give 100,000 examples, or fill the
minutes. It stops at the first round that fails, with exit code 1: what pytest printed has the example or the last actions, and
``make fuzz SEED=...`` runs that round again, and no other.
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
EXAMPLES = 100_000  # at least
TIMES = float(os.environ.get("FUZZ_SCALE", "8"))  # the examples of `make test`, in each round
ACTIONS = os.environ.get("MONKEY_ACTIONS", "150")  # of the monkey, on each page
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
            failed = _failed(now, folder)
            for path in sorted(Path(folder).glob("*.json")):
                seen = _together(seen, json.loads(path.read_text()))
        _tell(seen)
        if failed:
            sys.exit(f"make fuzz SEED={now} runs this round again.")
        if seen["examples"] >= EXAMPLES and time.monotonic() >= end:
            return


def _failed(seed: int, folder: str) -> bool:
    """Run one round; did a test fail?"""
    settings = {
        "FUZZ_REPORT": folder,
        "FUZZ_SCALE": str(TIMES),
        "HYPOTHESIS_PROFILE": "deep",
        "MONKEY_SEED": str(seed),
        "MONKEY_ACTIONS": ACTIONS,
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "2", "--dist", "load", f"--hypothesis-seed={seed}"]
    runs = [subprocess.run([*command, part], cwd=ROOT, env=os.environ | settings) for part in PARTS]
    return any(run.returncode for run in runs)


def _together(seen: Seen, other: Seen) -> Seen:
    """Both runs as one: sums, and the worst of each."""
    slow, large = max(seen, other, key=lambda one: one["seconds"]), max(seen, other, key=lambda one: one["bytes"])
    sums = {name: seen[name] + other[name] for name in ("examples", "refused")}
    return (
        sums
        | {name: slow.get(name) for name in ("seconds", "slowest")}
        | {name: large.get(name) for name in ("bytes", "largest")}
    )


def _tell(seen: Seen) -> None:
    print(f"{seen['examples']:,} examples so far, {seen['refused']:,} refused with words.")
    print(f"The slowest took {1000 * seen['seconds']:.0f} ms of computing: {seen.get('slowest', '')}")
    print(f"The largest took {seen['bytes'] / 1e6:.0f} MB: {seen.get('largest', '')}", flush=True)


def command(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("tools.fuzz", description="Hostile inputs and a monkey, with new seeds.")
    parser.add_argument("minutes", nargs="?", type=float, default=0, help="how long at least")
    parser.add_argument("seed", nargs="?", type=int, help="of a round that shall run again, alone")
    given = parser.parse_args(argv)
    try:
        main(given.minutes, given.seed)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    command()
