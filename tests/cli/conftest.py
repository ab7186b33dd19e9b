"""Runs the command in an empty directory."""

from collections.abc import Callable

import pytest

from normviz.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys, tmp_path, monkeypatch) -> Run:
    """Run the command in an empty directory: its exit code, and what it printed."""
    monkeypatch.chdir(tmp_path)

    def go(*arguments: str) -> tuple[int, str, str]:
        try:
            code = main(arguments)
        except SystemExit as end:  # --help, --version
            code = end.code
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return go
