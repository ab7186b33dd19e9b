"""Server processes for tests, benchmarks and screenshots: start one, wait until it responds, stop it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tools.ports import free_port

ROOT = Path(__file__).resolve().parents[1]
START_TIMEOUT = 300.0  # s, on the slowest machine: torch is imported before the first response
STOP_TIMEOUT = 10.0  # s
POLL = 0.05  # s
WITHOUT_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@contextmanager
def running(
    command: Sequence[str],
    health: str,
    *,
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
    log: Path | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server, wait until the address ``health`` responds with success, and stop it after the ``with`` block.

    log  a file for its output; without it, the output is deleted
    """
    with tempfile.TemporaryDirectory(prefix="normviz-server-", ignore_cleanup_errors=True) as folder:
        log = log or Path(folder) / "log.txt"
        process = start(command, log, cwd=cwd, env=env)
        try:
            wait_until_healthy(health, process, log)
            yield process
        finally:
            stop(process)


@contextmanager
def app_server(base: str = "", log: Path | None = None, env: Mapping[str, str] | None = None) -> Iterator[str]:
    """The address of `streamlit run app.py`, below the path ``base``; its output is appended to the file ``log``."""
    port = free_port()
    options = ["--server.baseUrlPath", base] if base else []
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.address", "localhost", *options]
    address = f"http://localhost:{port}" + (f"/{base}" if base else "")
    with running([*command, "--server.port", str(port)], f"{address}/_stcore/health", env=env, log=log):
        yield address


def start(
    command: Sequence[str], log: Path, *, cwd: Path = ROOT, env: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a server in a new process session; its output is appended to the file ``log``."""
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def with_files(command: Sequence[str], soft: int, hard: int) -> list[str]:
    """The command, which may open ``soft`` files, and may raise that to ``hard``."""
    return ["sh", "-c", f'ulimit -Sn {soft} && ulimit -Hn {hard} && exec "$@"', "sh", *command]


def wait_until_healthy(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the address responds with success. Raises RuntimeError if the process exits or START_TIMEOUT passes first."""
    end = time.monotonic() + START_TIMEOUT
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError), WITHOUT_PROXY.open(address, timeout=5):
            return
        time.sleep(POLL)
    raise RuntimeError(f"{address} did not start; it printed:\n{log.read_text(errors='replace')[-3000:]}")


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop the process and the processes that it started, such as Jupyter's kernels."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, sign)
            process.wait(STOP_TIMEOUT)
            return
