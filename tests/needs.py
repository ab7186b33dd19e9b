"""Programs that tests need: without one of them its tests are skipped with a reason, or fail if CI=true."""

import os
from typing import NoReturn

import pytest

from tools.browser import find

NO_BROWSER = "NO BROWSER: install Chromium or Chrome, or run `python -m tools.browser`"


def skip_or_fail(reason: str) -> NoReturn:
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(reason)
    pytest.skip(reason)


def browser_path() -> str:
    """The path of Chromium."""
    return find() or skip_or_fail(NO_BROWSER)
