"""The deployment tests need nginx and Linux, because each replica has its own loopback address."""

import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import new_context
from tests.support.needs import skip_or_fail
from tools import browser, proxy


@pytest.fixture(scope="session")
def nginx() -> str:
    """The path of nginx; without nginx the test is skipped, or fails if CI=true."""
    path = proxy.find() if sys.platform == "linux" else None
    return path or skip_or_fail("NO NGINX: on Linux, install it, or run `python -m tools.proxy` as root")


@pytest.fixture
def tab(request: pytest.FixtureRequest) -> Iterator[Page | None]:
    """A browser tab, or None without a browser: most of these tests do not need one."""
    if browser.find() is None:
        yield None
        return
    context = new_context(request.getfixturevalue("browser"))
    yield context.new_page()
    context.close()
