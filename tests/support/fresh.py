"""Programs that find torch imported, and nothing of normviz: one process imports torch, and each program runs in a copy of this process."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

COPIES = """
import json, os, sys, traceback
import torch

printed = []
for program in json.load(sys.stdin):
    reader, writer = os.pipe()
    copy = os.fork()
    if not copy:
        os.dup2(writer, 1)
        failed = False
        try:
            exec(program, {"__name__": "__main__"})
        except BaseException:
            failed = True
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(failed)
    os.close(writer)
    with open(reader) as text:
        printed.append(text.read())
    if os.waitpid(copy, 0)[1]:
        sys.exit(f"This program failed: {program}")
print(json.dumps(printed))
"""


def print_fresh(programs: Sequence[str]) -> list[str]:
    """What each program prints."""
    done = subprocess.run(
        [sys.executable, "-c", COPIES],
        input=json.dumps(programs),
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    printed: list[str] = json.loads(done.stdout)
    return printed
