"""`normviz app`: the arguments that it gives to Streamlit, and when it opens a browser. tests/export/test_wheel.py starts it."""

import socket

import pytest

from normviz.cli import app
from normviz.cli.arguments import parsed

LOCAL = "--server.address=localhost"
OPEN = ["--", "--open"]
STARTS = {
    "": ({"DISPLAY": ":0"}, [LOCAL, *OPEN]),
    "--no-browser": ({"DISPLAY": ":0"}, [LOCAL]),
    "--port 8600": ({"WAYLAND_DISPLAY": "wayland-0"}, [LOCAL, "--server.port=8600", *OPEN]),
    "--address 0.0.0.0": ({"DISPLAY": ""}, ["--server.address=0.0.0.0"]),
    "--address ::1": (
        {"STREAMLIT_SERVER_ADDRESS": "0.0.0.0"},
        ["--server.address=::1", "--browser.serverAddress=[::1]"],
    ),
    "--port 1": ({"STREAMLIT_SERVER_ADDRESS": "0.0.0.0"}, ["--server.port=1"]),
}


@pytest.mark.parametrize("arguments", STARTS)
def test_it_is_local_and_opens_a_browser_where_there_is_a_display(monkeypatch, arguments):
    monkeypatch.setattr(app.sys, "platform", "linux")
    environ, options = STARTS[arguments]
    assert app._options(parsed(["app", *arguments.split()]), environ) == options


@pytest.mark.parametrize("port", ["0", "65536", "-1"])
def test_a_port_that_does_not_exist(run, port):
    said = f"normviz: --port {port} is not a port; choose a number from 1 to 65535.\n"
    assert run("app", f"--port={port}") == (2, "", said)


def test_a_port_that_another_program_uses(run):
    with socket.create_server(("localhost", 0)) as other:
        place = f"localhost:{other.getsockname()[1]}"
        said = (
            f"normviz: the app cannot listen at {place} (Address already in use); choose another --port or --address.\n"
        )
        assert run("app", "--port", place.split(":")[1]) == (2, "", said)


def test_an_address_that_is_not_of_this_computer(run):
    code, _out, err = run("app", "--address", "192.0.2.1")  # RFC 5737: of no computer
    said = "normviz: the app cannot listen at 192.0.2.1 (Cannot assign requested address); choose another"
    assert (code, err[: len(said)]) == (2, said)


def test_without_streamlit_it_says_what_to_install(run, monkeypatch):
    monkeypatch.setattr(app, "find_spec", lambda name: None)
    code, _out, err = run("app")
    assert code == 2
    assert err == 'normviz: the app needs Streamlit, which is not installed; run pip install "normviz[app]".\n'
