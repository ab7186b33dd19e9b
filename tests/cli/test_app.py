"""`normviz app`: the arguments that it gives to Streamlit, and when it opens a browser. tests/export/test_wheel.py starts it."""

import pytest

from normviz.cli import app
from normviz.cli.command import _parser

LOCAL = "--server.address=localhost"
OPEN = ["--", "--open"]
STARTS = {
    "": ({"DISPLAY": ":0"}, [LOCAL, *OPEN]),
    "--no-browser": ({"DISPLAY": ":0"}, [LOCAL]),
    "--port 8600": ({"WAYLAND_DISPLAY": "wayland-0"}, [LOCAL, "--server.port=8600", *OPEN]),
    "--address 0.0.0.0": ({"DISPLAY": ""}, ["--server.address=0.0.0.0"]),
    "--address ::1": ({"STREAMLIT_SERVER_ADDRESS": "0.0.0.0"}, ["--server.address=::1"]),
    "--port 1": ({"STREAMLIT_SERVER_ADDRESS": "0.0.0.0"}, ["--server.port=1"]),
}


@pytest.mark.parametrize("arguments", STARTS)
def test_it_is_local_and_opens_a_browser_where_there_is_a_display(monkeypatch, arguments):
    monkeypatch.setattr(app.sys, "platform", "linux")
    environ, options = STARTS[arguments]
    assert app._options(_parser().parse_args(["app", *arguments.split()]), environ) == options


@pytest.mark.parametrize("port", ["0", "65536", "-1"])
def test_a_port_that_does_not_exist(run, port):
    said = f"normviz: --port {port} is not a port; choose a number from 1 to 65535.\n"
    assert run("app", f"--port={port}") == (2, "", said)


def test_without_streamlit_it_says_what_to_install(run, monkeypatch):
    monkeypatch.setattr(app, "find_spec", lambda name: None)
    code, _out, err = run("app")
    assert code == 2
    assert err == 'normviz: the app needs Streamlit, which is not installed; run pip install "normviz[app]".\n'
