"""Every benchmark runs: it prints its table and one line of JSON. No test asserts how fast anything is.

The benchmarks run in this process and share their servers and their browser. ``start`` comes first, so it starts the server of the others.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any

import pytest
from playwright.sync_api import Browser

from bench.common import Server, chromium, server
from bench.soak import growth
from tests.conftest import CHROMIUM_FLAGS
from tests.support.needs import browser_path

IN_BROWSER = {  # a column of each table
    "start": "figure, s (p50)",
    "rerun": "of the afternoon's",
    "weight": "reload, kB",
    "hover": "hover, ms (p95)",
    "touch": "answered, s (p50)",
}
Run = Callable[[str], str]


class Shared:
    """The servers and the browser of all benchmarks, each started at its first use. Playwright's event loop runs in ``thread``."""

    def __init__(self, thread: ThreadPoolExecutor, stack: ExitStack) -> None:
        self.thread, self._stack = thread, stack
        self._started: dict[str, Any] = {}

    def server(self, kind: str, *, wait: bool = True) -> AbstractContextManager[Server]:
        return self._shared(kind, lambda: server(kind, wait=wait))

    def chromium(self) -> AbstractContextManager[Browser]:
        return self._shared("chromium", lambda: chromium(CHROMIUM_FLAGS))

    def _shared(self, name: str, start: Callable[[], AbstractContextManager[Any]]) -> AbstractContextManager[Any]:
        if name not in self._started:
            self._started[name] = self._stack.enter_context(start())
        return nullcontext(self._started[name])


@pytest.fixture(scope="module")
def shared() -> Iterator[Shared]:
    with ThreadPoolExecutor(1) as thread:
        stack = ExitStack()
        yield Shared(thread, stack)
        thread.submit(stack.close).result()


@pytest.fixture
def run(shared: Shared, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a benchmark with ``--quick`` and returns what it printed.

    This thread may have the event loop of the tests' Playwright. A benchmark without a browser needs a thread without a loop.
    """

    def run(name: str) -> str:
        module = importlib.import_module(f"bench.{name}")
        for function in {"server", "chromium"} & set(vars(module)):
            monkeypatch.setattr(module, function, getattr(shared, function))
        with nullcontext(shared.thread) if hasattr(module, "chromium") else ThreadPoolExecutor(1) as thread:
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


@pytest.mark.browser
@pytest.mark.parametrize(("name", "column"), IN_BROWSER.items())
def test_benchmark_in_a_browser(name: str, column: str, run: Run) -> None:
    browser_path()
    check(name, column, run(name))


def test_load_meets_no_error_with_two_students(run: Run) -> None:
    found = check("load", "cpu ms/rerun", run("load"))
    assert [row["kind"] for row in found["rows"]] == ["bare", "normviz"]
    assert [(row["errors"], row["messages"]) for row in found["rows"]] == [(0, []), (0, [])]
    assert all(row["changes"] > 0 for row in found["rows"])


def test_soak_meets_no_error_with_two_students(run: Run) -> None:
    (row,) = check("soak", "after / before", run("soak"))["rows"]
    assert (row["students"], row["errors"]) == (2, 0)
    assert row["growth"] is None  # of a short run


@pytest.mark.parametrize(
    ("minutes", "expected"), [([100] * 60, 1), ([50] * 5 + [100] * 50 + [120] * 5, 1.2), ([100] * 15, 1)]
)
def test_soak_compares_the_end_with_the_first_ten_minutes(minutes: list[int], expected: float) -> None:
    assert growth(minutes) == expected
