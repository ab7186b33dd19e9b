"""Every page works after random actions. MONKEY_SEED repeats a sequence, and MONKEY_ACTIONS sets its length."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import NewTab
from tests.browser.monkey import HOVERED, Monkey

pytestmark = pytest.mark.browser

SEED = int(os.environ.get("MONKEY_SEED", "1"))
ACTIONS = int(os.environ.get("MONKEY_ACTIONS", "24"))  # on each page
EVERY = 8


@pytest.fixture
def page(new_tab: NewTab, server: str) -> Iterator[Page]:
    """A new tab without stored settings, so that the same seed gives the same actions after any other test; it leaves none either."""
    page = new_tab()
    forget_settings(page, server)
    yield page
    forget_settings(page, server)
    page.close()


def forget_settings(page: Page, server: str) -> None:
    """Without opening a page, which Back would lead to."""
    session = page.context.new_cdp_session(page)
    session.send("Storage.clearDataForOrigin", {"origin": server, "storageTypes": "local_storage"})


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
