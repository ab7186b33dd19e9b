"""The examples of docs/embedding.md and docs/notebooks.md, and visitors of what their commands make."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.conftest import PATIENCE
from tools.embeddings import Workshop
from tools.hosts import Host

FIRST, LAST = "x[0, 0, 0, 0]", "x[1, 2, 3, 3]"
Opener = Callable[..., Host]


@pytest.fixture(scope="module")
def workshop(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """The examples; requested after the browser, so that nothing is built without a browser."""
    return Workshop.at(tmp_path_factory.mktemp("embedding"))


@pytest.fixture
def host(browser: Browser) -> Iterator[Opener]:
    opened: list[Host] = []

    def visit(**options: Any) -> Host:
        opened.append(Host(browser, PATIENCE, **options))
        return opened[-1]

    yield visit
    for each in opened:
        each.close()


def sentence(live: Locator, words: str) -> None:
    """Wait until the sentence of the page begins with these words."""
    expect(live.locator(".nv-sentence")).to_contain_text(words)
