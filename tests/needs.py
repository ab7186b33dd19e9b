"""What a test needs and a machine may lack: without it the test is skipped aloud; under CI=true it fails."""

import os
from typing import NoReturn

import pytest

from tools.browser import find

NO_BROWSER = "NO BROWSER: install Chromium or Chrome, or run `python -m tools.browser`"


def missing(reason: str) -> NoReturn:
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(reason)
    pytest.skip(reason)


def browser_path() -> str:
    """The path of a Chromium."""
    return find() or missing(NO_BROWSER)
