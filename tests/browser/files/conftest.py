"""A tab for files, without a network."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import new_context
from tests.browser.watch import Watch


@pytest.fixture(scope="module")
def offline_tab(browser: Browser) -> Iterator[Watch]:
    """One tab without a network for all tests of a file: the browser compiles the scripts once."""
    context = new_context(browser, offline=True)
    yield Watch(context.new_page())
    context.close()
