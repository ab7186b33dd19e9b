"""The audit of the dependencies, with a fake vulnerability database on this machine."""

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools import audit
from tools.audit import main

ROOT = Path(__file__).resolve().parents[3]

FLAW = {
    "id": "PYSEC-0000-1",
    "schema_version": "1.0.0",
    "summary": "a flaw",
    "affected": [
        {"package": {"name": "leaky", "ecosystem": "PyPI"}, "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.0"}]}]}
    ],
}  # fmt: skip


@contextmanager
def database(answer: Callable[[str], object], status: int = 200) -> Iterator[str]:
    """A database that answers every question about a package; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps(answer(asked["package"]["name"])).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *said: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/query"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def installed(tmp_path: Path) -> str:
    """A folder in which two packages are installed."""
    for name in ("leaky", "sound"):
        (tmp_path / f"{name}-1.0.dist-info").mkdir()
        (tmp_path / f"{name}-1.0.dist-info" / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        )
    return str(tmp_path)


def test_a_known_vulnerability_fails(installed, capfd):
    with database(lambda name: {"vulns": [FLAW]} if name == "leaky" else {}) as address:
        assert main(address, installed) == 1
    said = capfd.readouterr()
    assert "leaky 1.0: PYSEC-0000-1, fixed in 2.0" in said.err
    assert "2 packages audited, 1 of them with a known vulnerability." in said.out


def test_a_file_of_pinned_packages_is_audited_without_installing_them(tmp_path, capfd):
    lock = tmp_path / "requirements.lock"
    lock.write_text("".join(f"{name}==1.0 --hash=sha256:{'0' * 64}\n" for name in ("leaky", "sound")))
    with database(lambda name: {"vulns": [FLAW]} if name == "leaky" else {}) as address:
        assert main(address, str(lock)) == 1
    said = capfd.readouterr()
    assert "leaky 1.0: PYSEC-0000-1, fixed in 2.0" in said.err
    assert "2 packages of requirements.lock audited, 1 of them with a known vulnerability." in said.out


def test_this_environment_and_the_image_are_audited(monkeypatch):
    audited = []
    monkeypatch.setattr(audit, "_audit", lambda _database, place: audited.append(place) or len(audited) - 1)
    with database(lambda name: {}) as address:
        assert main(address) == 1
    assert audited == ["", str(ROOT / "requirements.lock")]


def test_without_a_known_vulnerability_it_succeeds(installed, capfd, monkeypatch):
    """Here pip-audit is a fake; the test above runs pip-audit itself."""
    found = {"dependencies": [{"name": name, "version": "1.0", "vulns": []} for name in ("leaky", "sound")]}
    answer = SimpleNamespace(stdout=json.dumps(found), stderr="")
    with database(lambda name: {}) as address, monkeypatch.context() as patch:
        patch.setattr(subprocess, "run", lambda *given, **options: answer)
        assert main(address, installed) == 0
    assert "2 packages audited, 0 of them" in capfd.readouterr().out


def test_without_a_network_it_says_so_and_does_not_fail(installed, capfd):
    with database(lambda name: {}) as address:
        pass
    assert main(address, installed) == 0
    assert f"DEPENDENCIES NOT AUDITED: {address} cannot be reached." in capfd.readouterr().out


def test_if_the_database_refuses_it_says_so_and_does_not_fail(installed, capfd):
    with database(lambda name: {}, status=403) as address:
        assert main(address, installed) == 0
    assert "DEPENDENCIES NOT AUDITED" in capfd.readouterr().out
