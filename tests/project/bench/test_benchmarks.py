"""Every benchmark runs: it prints its table and one line of JSON. None says here how fast anything is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.needs import browser_path

ROOT = Path(__file__).resolve().parents[3]

# Each benchmark and a column of its table.
WITHOUT_BROWSER = {"stats": "trace / torch", "load": "cpu ms/rerun", "soak": "grown, %"}
IN_BROWSER = {
    "rerun": "of the afternoon's",
    "start": "figure, s (p50)",
    "weight": "reload, kB",
    "hover": "draw, ms: file",
}


def run(name: str) -> tuple[str, dict[str, Any]]:
    """The table and the JSON of ``python -m bench.name --quick``."""
    done = subprocess.run(
        [sys.executable, "-m", f"bench.{name}", "--quick"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    *lines, last = done.stdout.strip().splitlines()
    return "\n".join(lines), json.loads(last)


def check(name: str, column: str) -> dict[str, Any]:
    table, found = run(name)
    heading, rule, *rows = [line for line in table.splitlines() if line.startswith("|")]
    assert column in [cell.strip() for cell in heading.strip("|").split("|")]
    assert set(rule) <= set("| -:")
    assert len(rows) == len(found["rows"]) >= 1
    assert {line.count("|") for line in (heading, rule, *rows)} == {heading.count("|")}
    assert found["bench"] == name
    assert found["cpus"] >= 1
    assert len(found["load"]) == 2
    return found


def test_stats_compares_every_family_of_layers() -> None:
    layers = [row["layer"].split("(")[0] for row in check("stats", WITHOUT_BROWSER["stats"])["rows"]]
    assert {"BatchNorm2d", "LayerNorm", "InstanceNorm2d", "GroupNorm", "RMSNorm"} <= set(layers)


def test_load_meets_no_error_with_two_students() -> None:
    found = check("load", WITHOUT_BROWSER["load"])
    assert [row["kind"] for row in found["rows"]] == ["bare", "normviz"]
    assert [(row["errors"], row["messages"]) for row in found["rows"]] == [(0, []), (0, [])]
    assert all(row["changes"] > 0 for row in found["rows"])


def test_soak_meets_no_error_and_notes_the_memory() -> None:
    (row,) = check("soak", WITHOUT_BROWSER["soak"])["rows"]
    assert row["errors"] == []
    assert len(row["MB"]) == len(row["s"]) >= 3
    assert row["base, MB"] > 0


@pytest.mark.browser
@pytest.mark.parametrize(("name", "column"), IN_BROWSER.items())
def test_benchmark_in_a_browser(name: str, column: str) -> None:
    browser_path()
    assert check(name, column)["rows"]
