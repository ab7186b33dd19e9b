"""Fetching plotly.js, with a fake npm."""

import gzip
import tarfile
from base64 import b64encode
from hashlib import sha512
from io import BytesIO
from pathlib import Path

import pytest

from tools import plotlyjs

SCRIPT, LICENSE = b"/* plotly.js */", b"MIT"


def packed() -> bytes:
    """The package as npm would pack it."""
    written = BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        for name, content in (("plotly-cartesian.min.js", SCRIPT), ("LICENSE", LICENSE)):
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            archive.addfile(member, BytesIO(content))
    return written.getvalue()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the files go. npm hands out ``packed()``, which has the pinned hash."""
    archive = packed()
    (tmp_path / "packed.tgz").write_bytes(archive)
    monkeypatch.setattr(plotlyjs, "INTEGRITY", b64encode(sha512(archive).digest()).decode())
    fake(
        tmp_path,
        f'[ "$1 $2 $3" = "pack {plotlyjs.NAME}@{plotlyjs.VERSION} --pack-destination" ] && cp {tmp_path}/packed.tgz "$4"',
    )
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    return tmp_path / "figures" / "plotlyjs"


def fake(place: Path, script: str) -> None:
    (place / "npm").write_text(f"#!/bin/sh\n{script}\n")
    (place / "npm").chmod(0o755)


def test_the_script_and_its_license_replace_those_of_another_version(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "plotly-cartesian-0.0.0.min.js.gz").touch()
    assert plotlyjs.main(folder) == 0
    assert {path.name for path in folder.iterdir()} == {plotlyjs.SCRIPT, plotlyjs.LICENSE}
    assert gzip.decompress((folder / plotlyjs.SCRIPT).read_bytes()) == SCRIPT
    assert (folder / plotlyjs.LICENSE).read_bytes() == LICENSE


def test_what_is_there_is_not_fetched_again(folder: Path) -> None:
    assert plotlyjs.main(folder) == 0
    fake(folder.parents[1], "exit 1")
    assert plotlyjs.main(folder) == 0


def test_a_package_with_another_hash_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plotlyjs, "INTEGRITY", "another")
    assert plotlyjs.main(folder) == 1
    assert "does not have the pinned hash" in capsys.readouterr().out
    assert not folder.exists()


def test_without_a_network_one_line_says_what_is_used_instead(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fake(folder.parents[1], 'echo "npm error no network" >&2; exit 1')
    assert plotlyjs.main(folder) == 1
    said = "THE SMALL PLOTLY.JS IS MISSING, so the large one of Python's Plotly is used: npm failed: npm error no network.\n"
    assert capsys.readouterr().out == said


def test_without_npm_pip_installs_one_whose_hash_is_known(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []

    def run(command: list[str], timeout: float, place: str) -> None:
        ran.append(command)
        (Path(place) / "packed.tgz").write_bytes(packed())

    monkeypatch.setattr(plotlyjs, "_npm", list)
    monkeypatch.setattr(plotlyjs, "_run", run)
    assert plotlyjs.main(folder) == 0
    pip, npm = ran
    assert {"--require-hashes", str(plotlyjs.LOCK)} <= set(pip)
    assert npm[1].endswith("npm-cli.js")
    assert npm[2:4] == ["pack", f"{plotlyjs.NAME}@{plotlyjs.VERSION}"]
    assert "--hash=sha256:" in plotlyjs.LOCK.read_text()
