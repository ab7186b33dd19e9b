"""The websocket of the server that all tests of a process share."""

import pytest


@pytest.fixture(scope="session")
def websocket(server: str) -> str:
    """Its address."""
    return f"{server.replace('http', 'ws', 1)}/_stcore/stream"
