"""The check of the scripts' types, and the packages of npm, with a fake npm."""

import os
import stat
from pathlib import Path

import pytest

from tools.npm import NpmError, programs
from tools.typescript import main

TSC = """#!/bin/sh
[ "$*" = "--project tsconfig.json" ] || exit 99
[ {code} = 0 ] || echo "error TS1"
exit {code}
"""
NPM = """#!/bin/sh
[ "$1 $2" = "ci --ignore-scripts" ] || exit 99
echo called >> calls
[ {code} = 0 ] || {{ echo "no network" >&2; exit {code}; }}
mkdir -p node_modules/.bin
cp tsc node_modules/.bin/tsc
touch node_modules/.package-lock.json
"""
ANSWERS = [
    # the exit codes of npm and of the compiler, CI, then the exit code and the message
    (0, 0, "", 0, "No type errors in the scripts."),
    (0, 2, "", 2, "error TS1"),
    (1, 0, "", 0, "TYPES OF THE SCRIPTS NOT CHECKED: npm cannot fetch the packages: no network."),
    (1, 0, "true", 1, "TYPES OF THE SCRIPTS NOT CHECKED"),
]


def write(path: Path, program: str, code: int) -> None:
    path.write_text(program.format(code=code))
    path.chmod(path.stat().st_mode | stat.S_IEXEC)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a lock, and npm in a folder of programs."""
    (tmp_path / "package-lock.json").touch()
    (tmp_path / "bin").mkdir()
    write(tmp_path / "bin" / "npm", NPM, 0)
    write(tmp_path / "tsc", TSC, 0)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    monkeypatch.delenv("CI", raising=False)
    return tmp_path


@pytest.mark.parametrize(("fetch", "check", "ci", "code", "text"), ANSWERS)
def test_types_are_checked_if_npm_can_fetch_typescript(fetch, check, ci, code, text, project, monkeypatch, capfd):
    write(project / "bin" / "npm", NPM, fetch)
    write(project / "tsc", TSC, check)
    monkeypatch.setenv("CI", ci)
    assert main(project) == code
    assert text in capfd.readouterr().out


def test_without_npm_nothing_is_checked(project, monkeypatch, capfd):
    monkeypatch.setenv("PATH", str(project))
    assert main(project) == 0
    assert capfd.readouterr().out == "TYPES OF THE SCRIPTS NOT CHECKED: npm is not installed.\n"


def test_packages_are_fetched_again_only_where_the_lock_is_newer(project):
    for _ in range(2):
        assert programs(project) == project / "node_modules" / ".bin"
    assert (project / "calls").read_text() == "called\n"
    newer = (project / "node_modules" / ".package-lock.json").stat().st_mtime + 9
    os.utime(project / "package-lock.json", (newer, newer))
    write(project / "bin" / "npm", NPM, 1)
    with pytest.raises(NpmError, match="npm cannot fetch the packages: no network"):
        programs(project)
