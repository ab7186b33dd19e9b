"""Which sites can open a connection to the server or control the app that they embed, and how much they can send."""

import json
from urllib.request import urlopen

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

PATIENCE = 120  # s, for each answer


def open_connection(server: str, origin: str | None) -> ClientConnection:
    return connect(
        f"{server.replace('http', 'ws', 1)}/_stcore/stream",
        origin=origin,
        subprotocols=["streamlit"],
        open_timeout=PATIENCE,
    )  # type: ignore[arg-type, list-item]


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "file://", "http://localhost.evil.example"])
def test_a_page_of_another_site_cannot_connect(server, origin):
    with pytest.raises(InvalidStatus, match="403"):
        open_connection(server, origin)


def test_a_page_of_the_app_can_connect(server):
    with open_connection(server, server) as connection:
        assert connection.subprotocol == "streamlit"


def test_no_page_around_the_app_can_control_it(server):
    with urlopen(f"{server}/_stcore/host-config") as answer:
        assert json.load(answer)["allowedOrigins"] == []


@pytest.mark.parametrize(("message", "code"), [(b"\0" * 70_000, 1009), (b"\xff" * 100, 1002)])
def test_a_large_or_invalid_message_closes_the_connection(server, message, code):
    with open_connection(server, server) as connection:
        connection.send(message)
        with pytest.raises(ConnectionClosed) as closed:
            _read_to_the_end(connection)
        assert closed.value.rcvd.code == code


def _read_to_the_end(connection: ClientConnection) -> None:
    while True:
        connection.recv(timeout=PATIENCE)
