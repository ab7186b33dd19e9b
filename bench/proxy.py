"""nginx with the configuration of compose.yaml, in front of a measured server."""

from __future__ import annotations

import os
import shutil
import string
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.common import ROOT
from tools.ports import free_port

CONF = ROOT / "deploy" / "nginx.conf"


def available(conf: Path = CONF) -> bool:
    """Are nginx and its configuration available?"""
    return shutil.which("nginx") is not None and conf.exists()


@contextmanager
def proxied(address: str, conf: Path = CONF) -> Iterator[str]:
    """The address of nginx in front of ``address``. Raises RuntimeError if it does not start."""
    with tempfile.TemporaryDirectory(prefix="normviz-bench-") as folder:
        port, written = free_port("127.0.0.1"), Path(folder) / "nginx.conf"
        names = {"PORT": str(port), "APP": address.removeprefix("http://"), "RESOLVER": "127.0.0.1", "CACHE": folder}
        written.write_text(string.Template(conf.read_text(encoding="utf-8")).safe_substitute(names), encoding="utf-8")
        own = f"daemon off; pid {folder}/pid;" + (" user root;" if os.geteuid() == 0 else "")
        command = ["nginx", "-e", "stderr", "-p", folder, "-c", str(written), "-g", own]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
            try:
                _wait(f"http://127.0.0.1:{port}", process)
                yield f"http://127.0.0.1:{port}"
            finally:
                process.terminate()
                process.wait(10)


def _wait(address: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5):
                return
        except OSError:
            time.sleep(0.02)
    process.kill()
    raise RuntimeError(f"nginx did not start; it printed:\n{(process.communicate()[1] or b'').decode()[-2000:]}")
