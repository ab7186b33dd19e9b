"""Grades the student's file with ``normviz check``: partial credit by what differs, and the sentences of the check as feedback.

PrairieLearn runs it in a container, which is the sandbox: the student's code runs in a process of its own.
"""

import json
import subprocess
import sys
from pathlib import Path

CHECK = ["submission.py:layer_norm", "--shape", "4,6", "--like", "LayerNorm(6)", "--numpy", "--params", "gamma=ones,beta=zeros"]  # fmt: skip
# What a difference costs; what is not in the table costs all. Each mistake is told, however often it counts.
COSTS = {"statistics": 0.5, "parameters": 0.25, "gamma": 0.25, "beta": 0.25, "center": 0.5, "variance": 0.25, "eps": 0.1, "eps_placement": 0.25}  # fmt: skip

KILLED = "The function was ended before it returned: it may need too much memory."


def graded(folder: Path) -> dict[str, object]:
    """The result of a folder with the student's file, as PrairieLearn reads it."""
    command = [sys.executable, "-m", "normviz", "check", *CHECK, "--timeout", "60", "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 1):  # it cannot be called, or it raises an error
        *_, message = [KILLED, *done.stderr.strip().splitlines()]
        return {"gradable": True, "score": 0.0, "message": message}
    differences = json.loads(done.stdout)["differences"]
    score = max(0.0, 1 - sum(COSTS.get(one["what"], 1) for one in differences))
    tests = [{"name": one["what"], "points": 0, "max_points": COSTS.get(one["what"], 1), "message": one["sentence"]} for one in differences]  # fmt: skip
    right = {"name": "layer_norm", "points": 1, "max_points": 1, "message": "It computes LayerNorm(6)."}
    return {"gradable": True, "score": round(score, 2), "tests": tests or [right]}


def main(root: Path) -> None:
    result = graded(root / "student")
    (root / "results").mkdir(exist_ok=True)
    (root / "results" / "results.json").write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main(Path("/grade"))
