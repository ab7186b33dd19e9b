"""The files, and one tab without a network that opens them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from normviz.cli import main
from normviz.figures.bundle import plotly_js
from tests.browser.conftest import new_context
from tests.browser.playing.files import FILES, PLOTLY, READY
from tests.browser.watch import Watch

Make = Callable[[str], Path]
Show = Callable[..., Page]


@pytest.fixture(scope="session")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Makes one of the FILES at its first use, with plotly.js beside it, so that the browser compiles it only once: its path."""
    folder = tmp_path_factory.mktemp("files")
    (folder / PLOTLY).write_bytes(plotly_js())

    def path_of(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            assert main(["export", *FILES[name], "--plotlyjs", PLOTLY, "-o", str(path)]) == 0
        return path

    return path_of


@pytest.fixture(scope="session")
def tab(browser: Browser) -> Iterator[Watch]:
    context = new_context(browser, offline=True, permissions=["clipboard-read", "clipboard-write"])
    yield Watch(context.new_page())
    context.close()


@pytest.fixture
def show(tab: Watch, make: Make) -> Iterator[Show]:
    """Open a file: ``show("explore", "layer=BatchNorm2d(3)")``. The test fails if the browser reports an error."""

    def go(name: str, fragment: str = "") -> Page:
        tab.page.goto("about:blank")
        tab.page.goto(f"{make(name).as_uri()}{fragment and '#'}{fragment}")
        tab.page.locator(READY).first.wait_for()
        return tab.page

    yield go
    tab.check()
