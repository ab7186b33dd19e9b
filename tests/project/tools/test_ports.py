"""Ports for servers that listen later."""

import socket

import pytest

from tools import ports


def test_ports_are_free_and_returned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "PORTS", range(20_000, 20_050))
    found = [ports.free_port() for _ in range(10)]
    assert len(set(found)) == 10
    assert set(found) <= set(ports.PORTS)
    with socket.socket() as server:
        server.bind(("localhost", found[0]))


def test_a_port_in_use_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_given", set())
    with socket.socket() as server:
        server.bind(("localhost", 0))
        taken = server.getsockname()[1]
        monkeypatch.setattr(ports, "PORTS", range(taken, taken + 1))
        with pytest.raises(OSError, match=f"found no free port from {taken} to {taken} at localhost"):
            ports.free_port()


def test_the_ports_are_outside_the_range_of_the_operating_system() -> None:
    with socket.socket() as client:
        client.bind(("localhost", 0))
        assert client.getsockname()[1] not in ports.PORTS
