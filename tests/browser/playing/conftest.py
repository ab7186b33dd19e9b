"""The files, and one tab without a network that opens them."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from normviz.cli import main
from normviz.export.assets import plotly_js
from tests.browser.conftest import new_context
from tests.browser.playing.files import FILES, PLOTLY, READY
from tests.browser.watch import Watch

Make = Callable[[str], Path]
Show = Callable[..., Page]


@pytest.fixture(scope="session")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Makes one of the FILES at its first use, with plotly.js beside it, so that the browser compiles it only once: its path.

    All processes of a run of the tests share the files: a file with many views takes seconds to make.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "playing"
    folder.mkdir(exist_ok=True)

    def write(path: Path, make: Callable[[Path], object]) -> Path:
        """Another process finds the whole file or none."""
        if not path.exists():
            half = path.with_name(f"{os.getpid()}-{path.name}")
            make(half)
            half.replace(path)
        return path

    def path_of(name: str) -> Path:
        words = [*FILES[name], "--plotlyjs", PLOTLY]
        return write(folder / f"{name}.html", lambda half: main(["export", *words, "-o", str(half)]))

    write(folder / PLOTLY, lambda half: half.write_bytes(plotly_js()))

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
