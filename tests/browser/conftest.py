"""The app in a real browser. An error in a tab fails its test.

Each test process has one server, one browser of a returning visitor and one of new visitors.
"""

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Frame, Page, Playwright, ViewportSize, expect

from tests.browser.files.exported import FileView
from tests.browser.view import View
from tests.browser.watch import Watch
from tests.conftest import CHROMIUM_FLAGS
from tests.support.needs import browser_path
from tools.servers import WITHOUT_PROXY

SCREEN: ViewportSize = {"width": 1280, "height": 720}
DEFAULTS: dict[str, Any] = {
    "viewport": SCREEN,
    "color_scheme": "light",
    "reduced_motion": "reduce",
}  # motion has tests of its own
PATIENCE = 1000 * int(os.environ.get("BROWSER_PATIENCE", "120"))  # ms, for each wait; BROWSER_PATIENCE is in seconds
POLL = 50  # ms

NewTab = Callable[..., Page]

# Empty the local storage when the first page of a tab begins; some frames have none.
EMPTY_STORAGE = """
try {
  if (!sessionStorage.getItem("has begun")) localStorage.clear();
  sessionStorage.setItem("has begun", "yes");
} catch {}"""

expect.set_options(timeout=PATIENCE)
# Playwright would ask at every frame, which keeps the page drawing while a test waits for the server.
for kind in (Page, Frame):
    kind.wait_for_function.__kwdefaults__["polling"] = POLL  # type: ignore[index]


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """A first-time visitor: no cache, no settings."""
    context = browser.new_context(**DEFAULTS | options)
    context.set_default_timeout(PATIENCE)
    return context


def open_tab(context: BrowserContext) -> Page:
    """A new tab, whose pages find an empty local storage, whatever the tests before it have stored."""
    page = context.new_page()
    page.add_init_script(EMPTY_STORAGE)
    return page


@pytest.fixture(scope="session")
def profile(playwright: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """A returning visitor: cached files and compiled scripts halve the time that a page takes to open."""
    context = playwright.chromium.launch_persistent_context(
        tmp_path_factory.mktemp("profile"),
        executable_path=browser_path(),
        args=CHROMIUM_FLAGS,
        permissions=["clipboard-read", "clipboard-write"],
        **DEFAULTS,
    )
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@pytest.fixture(scope="session")
def new_tab(profile: BrowserContext) -> NewTab:
    """Opens a tab of a returning visitor: ``new_tab(viewport={...}, color_scheme="dark")``."""

    def open_cached(viewport: Any = SCREEN, color_scheme: Any = "light") -> Page:
        page = open_tab(profile)
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme)
        return page

    return open_cached


@pytest.fixture
def page(new_tab: NewTab) -> Iterator[Page]:
    """A new tab of a returning visitor."""
    watch = Watch(new_tab())
    yield watch.page
    watch.check()
    watch.page.close()


@pytest.fixture
def view(page: Page, server: str) -> View:
    """The Explore page in a new tab, not opened yet."""
    return View(page, server)


@pytest.fixture(scope="session")
def made(server: str) -> Callable[[str], str]:
    """Asks for a page until the server has made it, so that the first HTML has it, as a visitor finds it: ``made("story")`` is its address."""

    def wait(path: str) -> str:
        address = f"{server}/{path}"
        for _ in range(PATIENCE // 1000):
            # The server sends the HTML without the page after a second, and at once while it starts.
            with WITHOUT_PROXY.open(address) as answer:
                if b'id="normviz-first"' in answer.read():
                    return address
            time.sleep(0.5)
        raise AssertionError(f"the first HTML of {address} has no page")

    return wait


@pytest.fixture(scope="session")
def app_tab(new_tab: NewTab, server: str) -> Iterator[tuple[View, Watch]]:
    """A tab with the app, which is loaded once in each test process."""
    watch = Watch(new_tab())
    yield View(watch.page, server).open(), watch
    watch.page.close()


@pytest.fixture(scope="module")
def tab(app_tab: tuple[View, Watch]) -> tuple[View, Watch]:
    """That tab for tests that change nothing on the server: in front, with the window size of a laptop and the light theme.

    Its reader has not been there before: tests of other files may have opened Start here, or chosen a language.
    """
    view, watch = app_tab
    view.page.bring_to_front()
    view.page.evaluate("localStorage.clear()")
    view.page.context.clear_cookies()
    view.page.set_viewport_size(SCREEN)
    view.page.emulate_media(color_scheme="light")
    if not view.socket:  # the last test failed while it loaded the page
        view.open()
    return view, watch


@pytest.fixture
def look(tab: tuple[View, Watch]) -> Iterator[Callable[[str], View]]:
    """Changes the query of the file's tab without reloading the page, as Back does: ``look("?shape=4,6")``."""
    view, watch = tab
    yield view.go
    watch.check()


@pytest.fixture(scope="session")
def file_tab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[View, Watch]]:
    """One tab without a network for exported files; a test fails if its page makes a request."""
    context = new_context(browser, offline=True)
    page = context.new_page()
    yield FileView(page, tmp_path_factory.mktemp("exported")), Watch(page)
    context.close()


@pytest.fixture
def look_file(file_tab: tuple[View, Watch]) -> Iterator[Callable[[str], View]]:
    """Like ``look``, in an exported file."""
    view, watch = file_tab
    yield view.go
    watch.check()


@pytest.fixture(params=["app", "file"])
def look_both(request: pytest.FixtureRequest) -> Callable[[str], View]:
    """Like ``look``, once in the app and once in an exported file."""
    return request.getfixturevalue("look" if request.param == "app" else "look_file")  # type: ignore[no-any-return]
