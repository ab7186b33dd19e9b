"""The check of the JavaScript types, with a fake npm."""

import stat
from pathlib import Path

import pytest

from tools.javascript_types import TYPESCRIPT, main

ANSWERS = [
    # the exit codes of npm for "tsc --version" and for the check, CI, then the exit code and the message
    (0, 0, "", 0, "No type errors in the JavaScript."),
    (0, 2, "", 2, "error TS1"),
    (1, 0, "", 0, f"JAVASCRIPT TYPES NOT CHECKED: npm cannot fetch {TYPESCRIPT}: ['no network']."),
    (1, 0, "true", 1, "JAVASCRIPT TYPES NOT CHECKED"),
]


@pytest.mark.parametrize(("fetch", "check", "ci", "code", "text"), ANSWERS)
def test_types_are_checked_if_npm_can_fetch_typescript(
    fetch: int,
    check: int,
    ci: str,
    code: int,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    npm = tmp_path / "npm"
    npm.write_text(
        f'#!/bin/sh\ncase "$*" in\n*--version) [ {fetch} = 0 ] || echo "no network" >&2; exit {fetch};;\n'
        f'*"--project tsconfig.json") [ {check} = 0 ] || echo "error TS1"; exit {check};;\nesac\nexit 99\n'
    )
    npm.chmod(npm.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv("CI", ci)
    assert main() == code
    assert text in capfd.readouterr().out


def test_without_npm_nothing_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    assert main() == 0
    assert capfd.readouterr().out == "JAVASCRIPT TYPES NOT CHECKED: npm is not installed.\n"
