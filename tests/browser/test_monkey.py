"""Every page works after random actions. MONKEY_SEED repeats a sequence, and MONKEY_ACTIONS sets its length."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.conftest import new_context, open_tab
from tests.browser.monkey import HOVERED, Monkey

pytestmark = pytest.mark.browser

SEED = int(os.environ.get("MONKEY_SEED", "1"))
ACTIONS = int(os.environ.get("MONKEY_ACTIONS", "24"))  # on each page
EVERY = 8


@pytest.fixture(scope="module")
def visitor(browser: Browser) -> Iterator[BrowserContext]:
    """A browser whose first tab fills its cache.

    Its tabs are closed with it at the end: Chromium sometimes never closes a single tab that is navigating away, and the test would hang.
    """
    context = new_context(browser, permissions=["clipboard-read", "clipboard-write"])
    yield context
    context.close()


@pytest.fixture
def page(visitor: BrowserContext) -> Iterator[Page]:
    """A tab that finds no settings of another, so that the same seed gives the same actions after any other test."""
    visitor.clear_cookies()
    page = open_tab(visitor)
    yield page
    page.goto("about:blank", wait_until="commit")  # it is at rest while the next tab is in front


@pytest.mark.parametrize("name", HOVERED)
def test_random_actions_break_nothing(page: Page, server: str, name: str) -> None:
    monkey = Monkey(page, server, name, SEED)
    try:
        for number in range(ACTIONS):
            monkey.act()
            if number % EVERY == EVERY - 1:
                monkey.check()
        monkey.check_pointer()
    except Exception as error:
        steps = "\n".join(monkey.done)
        raise AssertionError(
            f"MONKEY_SEED={SEED}, page {name or 'explore'!r}, at {page.url}; last actions:\n{steps}\n\n{error}"
        ) from error
