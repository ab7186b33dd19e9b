"""Every benchmark runs: it prints its table and one line of JSON. None says here how fast anything is.

The benchmarks run in this process and share their servers; ``start`` measures a new one.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bench.common import Server, server
from tests.needs import browser_path

ROOT = Path(__file__).resolve().parents[3]
IN_BROWSER = {  # a column of each table
    "rerun": "of the afternoon's",
    "start": "figure, s (p50)",
    "weight": "reload, kB",
    "hover": "draw, ms: file",
}
SHARE_SERVERS = ("load", "soak", "rerun", "weight")

Run = Callable[[str], str]


@pytest.fixture(scope="module")
def shared_server() -> Iterator[Callable[[str], Server]]:
    with ExitStack() as stack:
        yield cache(lambda kind: stack.enter_context(server(kind)))


@pytest.fixture
def run(
    shared_server: Callable[[str], Server], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Runs a benchmark with ``--quick`` in another thread, because this one may have Playwright's event loop; returns what it printed."""

    def run(name: str) -> str:
        module = importlib.import_module(f"bench.{name}")
        if name in SHARE_SERVERS:
            monkeypatch.setattr(module, "server", lambda kind: nullcontext(shared_server(kind)))
        with ThreadPoolExecutor(1) as thread:
            thread.submit(module.main, ["--quick"]).result()
        return capsys.readouterr().out

    return run


def check(name: str, column: str, output: str) -> dict[str, Any]:
    """The JSON of the output, whose table has this column."""
    *lines, last = output.strip().splitlines()
    found = json.loads(last)
    heading, rule, *rows = [line for line in lines if line.startswith("|")]
    assert column in [cell.strip() for cell in heading.strip("|").split("|")]
    assert set(rule) <= set("| -:")
    assert len(rows) == len(found["rows"]) >= 1
    assert {line.count("|") for line in (heading, rule, *rows)} == {heading.count("|")}
    assert found["bench"] == name
    assert found["cpus"] >= 1
    assert len(found["load"]) == 2
    return found


def test_stats_runs_as_a_module_and_compares_every_family_of_layers() -> None:
    command = [sys.executable, "-m", "bench.stats", "--quick"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    layers = [row["layer"].split("(")[0] for row in check("stats", "trace / torch", done.stdout)["rows"]]
    assert {"BatchNorm2d", "LayerNorm", "InstanceNorm2d", "GroupNorm", "RMSNorm"} <= set(layers)


def test_load_meets_no_error_with_two_students(run: Run) -> None:
    found = check("load", "cpu ms/rerun", run("load"))
    assert [row["kind"] for row in found["rows"]] == ["bare", "normviz"]
    assert [(row["errors"], row["messages"]) for row in found["rows"]] == [(0, []), (0, [])]
    assert all(row["changes"] > 0 for row in found["rows"])


def test_soak_meets_no_error_and_notes_the_memory(run: Run) -> None:
    (row,) = check("soak", "grown, %", run("soak"))["rows"]
    assert row["errors"] == []
    assert len(row["MB"]) == len(row["s"]) >= 3
    assert row["base, MB"] > 0


@pytest.mark.browser
@pytest.mark.parametrize(("name", "column"), IN_BROWSER.items())
def test_benchmark_in_a_browser(name: str, column: str, run: Run) -> None:
    browser_path()
    check(name, column, run(name))


def test_every_benchmark_runs_as_a_module() -> None:
    files = [ROOT / "bench" / f"{name}.py" for name in ("load", "soak", *IN_BROWSER)]
    assert [path.name for path in files if 'if __name__ == "__main__":\n    main()' not in path.read_text()] == []
