"""The app in a real browser: one server a session, one Chromium a file, and no complaint of the browser unread."""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.exported import FileView
from tests.browser.line import Line
from tests.browser.view import View
from tests.browser.watch import Watch
from tests.needs import browser_path
from tools.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run"]  # fmt: skip
SCREEN = {"width": 1280, "height": 720}
PATIENCE = 1000 * int(
    os.environ.get("BROWSER_PATIENCE", "120")
)  # ms, for every single wait; BROWSER_PATIENCE is in seconds
TO_START = 300  # s: torch is imported before the first answer

Opener = Callable[..., View]

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
def browser() -> Iterator[Browser]:
    """A Chromium of the file's own: playwright keeps an event loop in this thread, which no other test should meet."""
    path = browser_path()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def context(browser: Browser) -> BrowserContext:
    """A visitor with an ordinary screen, who has been here before: the files are in the cache."""
    return _context(browser)


def _context(browser: Browser, **options: Any) -> BrowserContext:
    context = browser.new_context(**{"viewport": SCREEN, "color_scheme": "light"} | options)
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
