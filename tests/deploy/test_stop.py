"""`streamlit run app.py` ends within five seconds of SIGTERM, even with visitors connected; and what it logs."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from normviz.ui.assets import PLOTLY
from tests.browser.conftest import PATIENCE
from tests.deploy.sessions import Sessions
from tests.deploy.stack import Replica
from tools.ports import free_port
from tools.servers import ROOT, wait_until_healthy

PROMISED = 5.0  # seconds; or the time of a start on a busy machine
SCRIPT = """
import streamlit as st
from normviz.texts.errors import NormvizError
if st.query_params.get("shape") == "6":
    raise NormvizError("six is refused")
1 / 0
"""
BROKEN = """
import streamlit as st
from normviz.ui.logs import on_script_error
from normviz.ui.server.process import lifespan
app = st.App({script!r}, lifespan=lifespan, on_script_error=on_script_error)
"""


class StreamlitRun(Replica):
    """`streamlit run` of a file."""

    def __init__(self, file: Path, log: Path) -> None:
        port = free_port("127.0.0.1")
        super().__init__("127.0.0.1", port, "", log)
        options = ["--server.address", "127.0.0.1", "--server.port", str(port), "--server.headless", "true"]
        self._command = [sys.executable, "-m", "streamlit", "run", str(file), *options]
        self.port = port


@pytest.fixture
def app(tmp_path: Path) -> Iterator[StreamlitRun]:
    run = StreamlitRun(ROOT / "app.py", tmp_path / "log.txt")
    run.start()
    run.wait()
    yield run
    if run.process.poll() is None:
        run.kill()


def test_it_stops_in_time_with_open_sessions_and_a_client_that_does_not_read(app: StreamlitRun) -> None:
    with Sessions(app.url, [{"shape": f"2,{n}"} for n in range(2, 7)]) as sessions, socket.socket() as slow:
        sessions.wait_for_views(PATIENCE / 1000)
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", app.port))
        slow.sendall(f"GET /{PLOTLY.path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        slow.recv(100)  # the answer has started, and megabytes are left to send
        assert app.stop() < max(PROMISED, app.start_time)
    assert app.process.returncode in (-15, 143)
    assert "Traceback" not in app.log.read_text()


@pytest.fixture
def broken(tmp_path: Path) -> Iterator[StreamlitRun]:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "broken.py").write_text(BROKEN.format(script=str(tmp_path / "script.py")))
    run = StreamlitRun(tmp_path / "broken.py", tmp_path / "log.txt")
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "config.toml").write_text((ROOT / ".streamlit" / "config.toml").read_text())
    run.start()
    wait_until_healthy(f"{run.url}/_stcore/health", run.process, run.log)
    yield run
    if run.process.poll() is None:
        run.kill()


def test_an_unexpected_error_is_one_line_in_the_log_and_no_traceback_anywhere(broken: StreamlitRun) -> None:
    with Sessions(broken.url, [{"shape": "2,3", "email": "ada@example.org"}]) as sessions:
        (session,) = sessions.all
        sessions.wait_for_first_runs(PATIENCE / 1000)
        assert "an error in normviz prevented this view" in session.wrong[0]
    text = broken.log.read_text()
    assert "Traceback" not in text
    assert "ada" not in text
    assert "127.0.0.1:" not in text.replace(broken.url, "")
    (line,) = [line for line in text.splitlines() if "ZeroDivisionError" in line]
    assert "ERROR normviz: ZeroDivisionError: division by zero" in line
    assert line.endswith("[/?shape=2,3]")


def test_python_m_normviz_ui_listens_only_when_all_is_imported() -> None:
    """If a replica listens before its app is imported, a visitor waits although another replica could answer."""
    port = free_port("127.0.0.1")
    script = f"""
import socket, sys
from streamlit.web.server.starlette import starlette_server
def listen(*given):
    print("torch" in sys.modules, "normviz.ui.server.routes" in sys.modules, "plotly" in sys.modules)
    sys.exit(0)
starlette_server._bind_server_socket = listen
sys.argv = ["normviz.ui", "--server.port", "{port}", "--server.address", "127.0.0.1"]
import runpy
runpy.run_module("normviz.ui", run_name="__main__")
"""
    answer = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert answer.stdout.split()[-3:] == ["True", "True", "True"], answer.stderr
