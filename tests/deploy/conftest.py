"""The deployment's tests need Linux (each replica has a loopback address of its own) and nginx."""

import sys

import pytest

from tests.needs import missing
from tools.proxy import find


@pytest.fixture(scope="session")
def nginx() -> str:
    """The path of nginx; without it the test is skipped, or fails under CI=true."""
    path = find() if sys.platform == "linux" else None
    return path or missing("NO NGINX: on Linux, install it, or run `python -m tools.proxy` as root")
