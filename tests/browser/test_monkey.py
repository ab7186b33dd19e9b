"""Every page works after random actions. MONKEY_SEED repeats a sequence, and MONKEY_ACTIONS sets its length."""

import os

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import new_context
from tests.browser.monkey import HOVERED, Monkey

pytestmark = pytest.mark.browser

SEED = int(os.environ.get("MONKEY_SEED", "1"))
ACTIONS = int(os.environ.get("MONKEY_ACTIONS", "24"))  # on each page
EVERY = 8


@pytest.mark.parametrize("name", HOVERED)
def test_random_actions_break_nothing(browser: Browser, server: str, name: str) -> None:
    context = new_context(browser)
    monkey = Monkey(context.new_page(), server, name, SEED)
    try:
        for number in range(ACTIONS):
            monkey.act()
            if number % EVERY == EVERY - 1:
                monkey.check()
        monkey.check_pointer()
    except Exception as error:
        steps = "\n".join(monkey.done)
        raise AssertionError(
            f"MONKEY_SEED={SEED}, page {name or 'explore'!r}, at {monkey.page.url}; last actions:\n{steps}\n\n{error}"
        ) from error
    finally:
        context.close()
