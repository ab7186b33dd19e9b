"""One tab for the pictures that the module makes of its figures."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import NewTab
from tests.browser.pictures.figure import draw, load
from tests.browser.watch import Watch


@pytest.fixture(scope="session")
def figure_tab(new_tab: NewTab) -> Iterator[tuple[Page, Watch]]:
    """A tab with the page of one figure."""
    page = new_tab()
    watch = Watch(page)
    load(page)
    yield page, watch
    page.close()


@pytest.fixture
def tab(figure_tab: tuple[Page, Watch]) -> Iterator[Page]:
    """The test fails if the browser reports an error."""
    page, watch = figure_tab
    page.bring_to_front()
    yield page
    watch.check()


@pytest.fixture
def draw_figure(tab: Page) -> Callable[..., Any]:
    """Draws one figure and returns its data: ``draw_figure("compare", "dark")``."""
    return partial(draw, tab)
