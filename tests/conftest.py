"""Hypothesis's profiles, and the browser that all tests of a process share.

Hypothesis draws the same examples on every run. HYPOTHESIS_PROFILE=quick draws fewer, HYPOTHESIS_PROFILE=deep draws more, and new ones.
HYPOTHESIS_PROFILE=mutants stops at a failure, without a search for a shorter one.
Each process computes with one thread, as the app does; otherwise two test processes on two cores would slow each other down.
"""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, Phase, settings

from normviz.analysis.forward import use_one_thread
from normviz.layers.catalogue import COMPLETE
from normviz.texts.errors import NormvizError
from tests.support.needs import ABSENT, browser_path
from tools.servers import app_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

use_one_thread()

# How an exception says that the installed torch does not have what a test asks for
LACKS: dict[type[Exception], str] = {
    NormvizError: r"torch [\d.]+ has no (nn\.RMSNorm|\w+=\w+ of \w+);|not implemented for 'Half'",
    AttributeError: r"module 'torch(\.nn(\.functional)?)?' has no attribute '(RMSNorm|rms_norm)'",
    TypeError: r"(Batch|Group|Instance)Norm\w*\.__init__\(\) got an unexpected keyword argument 'bias'",
    RuntimeError: r"not implemented for 'Half'",
}

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much]
# Of several lists of features the last one counts, so this one repeats those of playwright that a page may notice.
DISABLED_FEATURES = [
    "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "MediaRouter",
    "HttpsFirstBalancedModeAutoEnable", "PaintHolding", "ThirdPartyStoragePartitioning", "OptimizationHints",
    "ScriptStreaming", "BackgroundResourceFetch",  # these two compile again what the cache has compiled
]  # fmt: skip
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    # All pages are in one process, which compiles a script once. Most are shown for a moment: compiling for speed and small heaps cost more than they save.
    "--renderer-process-limit=1",
    "--disable-site-isolation-trials",
    f"--disable-features={','.join(DISABLED_FEATURES)}",
    "--js-flags=--no-opt --no-maglev --semi-space-growth-factor=4 --min-semi-space-size=16 --max-semi-space-size=64",
]

REPEATABLE = settings(deadline=None, derandomize=True, database=None, max_examples=60, suppress_health_check=SLOW)
settings.register_profile("repeatable", REPEATABLE)
settings.register_profile("quick", REPEATABLE, max_examples=10)
settings.register_profile("mutants", REPEATABLE, max_examples=10, phases=[Phase.explicit, Phase.generate])
settings.register_profile(
    "deep", deadline=None, database=None, max_examples=1000, print_blob=True, suppress_health_check=SLOW
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


# Files of other folders that take 30 s of processor time or more
LONG = (
    *("measuring/test_mutations.py", "measuring/test_check_other_libraries.py", "measuring/test_check.py"),
    *("measuring/test_devices.py", "measuring/models/test_ports.py", "docs/test_blocks.py", "bench/test_benchmarks.py"),
)


def pytest_configure(config: pytest.Config) -> None:
    """What JAX compiles is kept in pytest's cache, for all processes and the next run: each operation on each new shape is compiled."""
    if config.pluginmanager.has_plugin("cacheprovider"):
        os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(config.cache.mkdir("jax")))
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """No file without examples is imported to look for examples in docstrings: some helpers of tests import JAX, for instance."""
    found = yield
    has_examples = file_path.suffix == ".py" and ">>>" in file_path.read_text(encoding="utf-8")
    return found if has_examples else [one for one in found if not isinstance(one, DoctestModule)]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Importing all files of tests leaves hardly any garbage; looking for it took a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files come first: the engines, other browsers, the app, LONG. Then the last files are short, and the processes end at about the same time."""
    browsers = {item.path for item in items if item.get_closest_marker("browser")}

    def place(item: pytest.Item) -> list[bool]:
        parts = item.path.parts
        return [
            "engines" not in parts,
            item.path not in browsers,
            "ui" not in parts,
            not item.path.as_posix().endswith(LONG),
        ]

    items.sort(key=place)


@pytest.fixture(scope="module", autouse=True)
def _imported_objects_are_not_garbage() -> None:
    """Streamlit collects garbage after each run of the app, which would look at a million objects of all collected tests."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """With an older torch, a test is skipped where an exception says that this torch does not have what the test asks for.

    A failed assertion is never skipped: a test that is about such a layer has a mark of ``tests.support.needs``.
    """
    try:
        return (yield)
    except tuple(LACKS) as error:
        if not COMPLETE and re.search(LACKS.get(type(error), "$."), str(error)):
            pytest.skip(f"torch {torch.__version__}: {error}")
        raise


@pytest.fixture
def in_torch(request: pytest.FixtureRequest) -> None:
    """See ``tests.support.needs.cases_in_torch``."""
    named = re.search("|".join(ABSENT) or "$.", str(request.node.callspec.params))
    if named:
        pytest.skip(f"torch {torch.__version__} has no {named[0]}")


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Playwright runs an event loop in this thread, so a test that needs a loop of its own runs it in another thread."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Chromium; each new context is a first-time visitor with an empty cache."""
    chromium = playwright.chromium.launch(executable_path=browser_path(), args=CHROMIUM_FLAGS)
    yield chromium
    chromium.close()


@pytest.fixture(scope="session")
def server_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the server has printed."""
    log = tmp_path_factory.mktemp("server") / "log.txt"
    log.touch()
    return log


@pytest.fixture(scope="session")
def server(server_log: Path) -> Iterator[str]:
    """The address of `streamlit run app.py`."""
    with app_server(log=server_log) as address:
        yield address


REPORTED = pytest.StashKey[int]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The report of a test that failed has its rule, if it checks one of this project, and what the server printed during the test."""
    report = yield
    rule = item.get_closest_marker("rule")
    if report.failed and rule:
        report.sections.append(("The rule", " ".join(rule.args)))
    log = getattr(item, "funcargs", {}).get("server_log")
    if log is not None:
        text = log.read_text(errors="replace")
        if report.failed:
            report.sections.append(("Server log", text[item.session.stash.get(REPORTED, 0) :]))
        if report.when == "teardown":
            item.session.stash[REPORTED] = len(text)
    return report


BROWSERS = "browser"  # the name of the property in which a test says which browser it used


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The versions of the engines that `tests/engines` has driven."""
    reports = [one for kind in ("passed", "failed") for one in terminalreporter.stats.get(kind, [])]
    used = {str(value) for one in reports for name, value in getattr(one, "user_properties", ()) if name == BROWSERS}
    if used:
        terminalreporter.write_line(f"Browsers: {', '.join(sorted(used))}")
