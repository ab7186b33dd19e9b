"""An interrupted command prints one line and leaves no unfinished file; one whose reader has gone says nothing."""

import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from normviz.cli import main
from normviz.export import site
from tests.support.needs import whole

ROOT = Path(__file__).parents[2]
ENDS = {
    "Ctrl-C": (lambda: signal.raise_signal(signal.SIGINT), 130, "normviz: interrupted; no file is half-written.\n"),
    "kill": (lambda: signal.raise_signal(signal.SIGTERM), 143, "normviz: stopped; no file is half-written.\n"),
}


@pytest.fixture(autouse=True)
def _ctrl_c_interrupts() -> Iterator[None]:
    """A background job of a shell, and what it starts, ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize(("options", "page"), [(("q22", "four"), 2), (("--lang", "all"), 3)])
@whole
def test_an_interrupted_site_leaves_no_file(run, tmp_path, monkeypatch, how, options, page):
    stop, exit_code, said = ENDS[how]
    entry_page, made = site.entry_page, []

    def stopped_at_a_page(entry, *rest):
        made.append(entry)
        if len(made) == page:
            stop()
        return entry_page(entry, *rest)

    monkeypatch.setattr(site, "entry_page", stopped_at_a_page)
    assert run("site", "site", "--zip", "--only", "s0", *options) == (exit_code, "", said)
    assert len(made) == page
    assert os.listdir(tmp_path) == []
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


SCRIPT, _, CALLED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["normviz"].partition(":")
STARTS = {
    "normviz": ("-c", f"import sys; from {SCRIPT} import {CALLED} as main; sys.exit(main())"),
    "python -m normviz": ("-m", "normviz"),
}


@pytest.mark.parametrize("how", STARTS)
def test_ctrl_c_during_the_import_of_torch_is_one_line(tmp_path, how):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("import signal\nprint('importing', flush=True)\nsignal.pause()\n")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    with subprocess.Popen(
        [sys.executable, *STARTS[how], "export", "LayerNorm(4)", "-o", "page.html"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path},
    ) as begun:  # fmt: skip
        assert begun.stdout.readline() == "importing\n"
        begun.send_signal(signal.SIGINT)
        out, err = begun.communicate(timeout=60)
    assert (begun.returncode, out, err) == (130, "", ENDS["Ctrl-C"][2])
    assert os.listdir(tmp_path) == ["torch"]


def test_ctrl_c_after_the_work_changes_nothing():
    script = f"import atexit, signal; atexit.register(signal.raise_signal, signal.SIGINT); {STARTS['normviz'][1]}"
    ran = subprocess.run(
        [sys.executable, "-c", script, "--version"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert (ran.stdout[:8], ran.stderr) == ("normviz ", "")


def test_the_handler_of_ctrl_c_is_restored(run):
    assert run("--version")[0] == 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_reader_that_has_seen_enough_is_no_error(monkeypatch, capsys):
    reading, writing_end = os.pipe()
    os.close(reading)  # as head does after its lines
    with os.fdopen(writing_end, "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        assert main(["questions", "--json"]) == 0
    assert capsys.readouterr().err == ""
