"""The deployment of compose.yaml as local processes: nginx with deploy/nginx.conf in front of two processes of the app."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from string import Template
from types import TracebackType

from tests.deploy.names import NameServer
from tools.ports import free_port
from tools.proxy import find
from tools.servers import ROOT, start, stop, wait_until_healthy, with_files

HOSTS = ("127.0.0.2", "127.0.0.3")  # each replica has its own address; all use the same port


ESTABLISHED = "01"  # in /proc/net/tcp


class Replica:
    """One process of the app."""

    def __init__(self, host: str, port: int, base: str, log: Path, files: tuple[int, int] | None = None) -> None:
        self.url, self.log = f"http://{host}:{port}", log
        self._address = f"{bytes(map(int, reversed(host.split('.')))).hex().upper()}:{port:04X}"  # as in /proc/net/tcp
        command = [sys.executable, "-m", "normviz.ui", "--server.address", host, "--server.port", str(port)]
        self._command = with_files(command, *files) if files else command
        self._environment = os.environ | {"STREAMLIT_SERVER_BASE_URL_PATH": base, "PYTHONPATH": str(ROOT)}
        self.process: subprocess.Popen[bytes]
        self.start_time = 0.0  # seconds that the last start took

    def start(self) -> None:
        self._started = time.monotonic()
        self.process = start(self._command, self.log, env=self._environment)

    def wait(self) -> None:
        """Wait until it is ready."""
        wait_until_healthy(f"{self.url}/readyz", self.process, self.log)
        self.start_time = time.monotonic() - self._started

    def connections(self) -> int:
        """How many connections nginx has to it."""
        lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()]
        return [(line[2], line[3]) for line in lines].count((self._address, ESTABLISHED))

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def stop(self) -> float:
        """Send SIGTERM; return the seconds until the process ended. Raises TimeoutExpired if it does not end."""
        started = time.monotonic()
        self.process.terminate()
        self.process.wait(30)
        return time.monotonic() - started


class Stack:
    """``with Stack(base="lab") as stack``: visitors use ``stack.url``.

    missing  how many of the two replicas are never started
    files    the soft and the hard limit of the files that each process, nginx too, may open
    """

    def __init__(self, base: str = "", missing: int = 0, files: tuple[int, int] | None = None) -> None:
        folder = Path(tempfile.mkdtemp(prefix="normviz-"))
        folder.chmod(0o755)  # nginx's workers run as another user
        port = free_port(HOSTS[0])
        self.base, self._files = base, files
        self.replicas = [Replica(host, port, base, folder / f"replica-{host}.txt", files) for host in HOSTS[missing:]]
        self.name_server = NameServer(list(HOSTS))
        self._port, self._folder, self._app = free_port(), folder, f"app:{port}"
        self.url = f"http://localhost:{self._port}" + (f"/{base}" if base else "")

    def __enter__(self) -> "Stack":
        self.name_server.__enter__()
        for replica in self.replicas:
            replica.start()
        values = {
            "PORT": self._port,
            "APP": self._app,
            "RESOLVER": self.name_server.address,
            "CACHE": self._folder / "cache",
        }
        (self._folder / "cache").mkdir()
        configuration = self._folder / "nginx.conf"
        text = (ROOT / "deploy" / "nginx.conf").read_text()
        configuration.write_text(Template(text).safe_substitute(values))
        command = [find() or "nginx", "-c", str(configuration), "-g", f"daemon off; pid {self._folder}/nginx.pid;"]
        command = with_files(command, *self._files) if self._files else command
        self.nginx = start(command, self._folder / "nginx.txt")
        for replica in self.replicas:
            replica.wait()
        wait_until_healthy(f"{self.url}/readyz", self.nginx, self._folder / "nginx.txt")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stop(self.nginx)
        for replica in self.replicas:
            if replica.process.poll() is None:
                replica.kill()
        self.name_server.__exit__(kind, error, trace)
        shutil.rmtree(self._folder)
