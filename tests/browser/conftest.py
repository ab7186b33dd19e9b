"""The app in a real browser: one server a session, one Chromium a file, and no complaint of the browser unread."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

from tests.browser.exported import FileView
from tests.browser.line import Line
from tests.browser.view import View
from tests.browser.watch import Watch
from tests.needs import browser_path
from tools.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run"]  # fmt: skip
SCREEN = {"width": 1280, "height": 720}
USUAL: dict[str, Any] = {"viewport": SCREEN, "color_scheme": "light"}
PATIENCE = 1000 * int(
    os.environ.get("BROWSER_PATIENCE", "120")
)  # ms, for every single wait; BROWSER_PATIENCE is in seconds
TO_START = 300  # s: torch is imported before the first answer

Opener = Callable[..., View]
Regular = Callable[..., BrowserContext]

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `streamlit run app.py`."""
    port = free_port()
    log = tmp_path_factory.mktemp("server") / "log.txt"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.address", "localhost"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--server.port", str(port)], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        _wait_for_health(f"http://localhost:{port}", process, log)
        yield f"http://localhost:{port}"
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait_for_health(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + TO_START
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"{address} did not start; it printed:\n{log.read_text(errors='replace')[-3000:]}")


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    """The file's own: it keeps an event loop in this thread, which no other test should meet."""
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="module")
def flags() -> list[str]:
    """How Chromium is started; a file may have its own way."""
    return ARGUMENTS


@pytest.fixture(scope="module")
def browser(playwright: Playwright, flags: list[str]) -> Iterator[Browser]:
    """A Chromium of the file's own, for visitors who come for the first time."""
    chromium = playwright.chromium.launch(executable_path=browser_path(), args=flags)
    yield chromium
    chromium.close()


@pytest.fixture(scope="session")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """For each kind of visitor a folder in which the browser keeps files and compiled scripts: a page opens in half the time."""
    known: dict[str, Path] = {}

    def folder(kind: str) -> Path:
        return known[kind] if kind in known else known.setdefault(kind, tmp_path_factory.mktemp("cache"))

    return folder


@pytest.fixture(scope="module")
def regular(
    playwright: Playwright,
    flags: list[str],
    caches: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Regular]:
    """Visitors who come again, each with a Chromium of its own: ``regular(viewport={...}, color_scheme="dark")``."""
    there: dict[str, BrowserContext] = {}

    def context(**options: Any) -> BrowserContext:
        kind = json.dumps([flags, options], sort_keys=True)
        if kind not in there:
            there[kind] = playwright.chromium.launch_persistent_context(
                tmp_path_factory.mktemp("visitor"),
                executable_path=browser_path(),
                args=[*flags, f"--disk-cache-dir={caches(kind)}"],
                **USUAL | options,
            )
            there[kind].set_default_timeout(PATIENCE)
        return there[kind]

    yield context
    for opened in there.values():
        opened.close()


@pytest.fixture(scope="module")
def context(regular: Regular) -> BrowserContext:
    """A visitor with an ordinary screen, who has been here before."""
    return regular()


def _context(browser: Browser, **options: Any) -> BrowserContext:
    context = browser.new_context(**USUAL | options)
    context.set_default_timeout(PATIENCE)
    return context


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A new tab. The test fails where the browser complained."""
    tab = context.new_page()
    watch = Watch(tab)
    yield tab
    watch.check()
    tab.close()


@pytest.fixture
def view(page: Page, server: str) -> View:
    """The Explore page in a new tab, not yet opened."""
    return View(page, server)


@pytest.fixture
def visitor(browser: Browser, server: str) -> Iterator[Opener]:
    """Opens the page for a new visitor, with an empty cache: ``visitor(viewport={...}, color_scheme="dark")``."""
    opened: list[tuple[BrowserContext, Watch]] = []

    def visit(address: str = server, **options: Any) -> View:
        context = _context(browser, **options)
        tab = context.new_page()
        opened.append((context, Watch(tab)))
        return View(tab, address)

    yield visit
    for _, watch in opened:
        watch.check()
    for context, _ in opened:
        context.close()


@pytest.fixture
def guest(regular: Regular, server: str) -> Iterator[Opener]:
    """Opens the page in a new tab of a visitor who has been here before: ``guest(viewport={...}, color_scheme="dark")``."""
    opened: list[Watch] = []

    def visit(**options: Any) -> View:
        opened.append(Watch(regular(**options).new_page()))
        return View(opened[-1].page, server)

    yield visit
    for watch in opened:
        watch.check()
        watch.page.close()


@pytest.fixture(scope="module")
def tab(context: BrowserContext, server: str) -> Iterator[tuple[View, Watch]]:
    """One tab for a whole file of tests that only look."""
    page = context.new_page()
    watch = Watch(page)
    view = View(page, server)
    view.open()
    yield view, watch
    page.close()


@pytest.fixture
def look(tab: tuple[View, Watch]) -> Iterator[Callable[[str], View]]:
    """The file's one tab, taken to another query as Back would take it there: ``look("?shape=4,6")``."""
    view, watch = tab

    def go(query: str) -> View:
        view.go(query)
        return view

    yield go
    watch.check()


@pytest.fixture(scope="module")
def exported(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[View, Watch]]:
    """One tab without a network, for views as files; a request would fail, and be complained of."""
    context = _context(browser, offline=True)
    page = context.new_page()
    watch = Watch(page)
    yield FileView(page, tmp_path_factory.mktemp("exported")), watch
    context.close()


@pytest.fixture(params=["app", "file"])
def look_both(request: pytest.FixtureRequest) -> Iterator[Callable[[str], View]]:
    """As ``look``, once in the app and once as an exported file."""
    view, watch = request.getfixturevalue("tab" if request.param == "app" else "exported")

    def go(query: str) -> View:
        view.go(query)
        return view

    yield go
    watch.check()


@pytest.fixture
def line(server: str) -> Iterator[Line]:
    """A line to the server that can be made slow, and that notes what is asked for."""
    with Line(server) as line:
        yield line
