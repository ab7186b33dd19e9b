"""Code that is checked cannot be the result of the command: what it prints, and each way in which it ends the process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.endings import ENDINGS

ROOT = Path(__file__).parents[2]
CHECK = ("--shape", "3,5", "--like", "LayerNorm(5)", "--json")
HEAD = "import io, os, sys\nimport torch\ndef right(x):\n    return torch.nn.functional.layer_norm(x, (5,))\n"
RAISED = {
    "sys.exit()": "the function raises on an x of shape (3, 5): SystemExit:",
    "raise SystemExit('text')": "the function raises on an x of shape (3, 5): SystemExit: text",
    "raise GeneratorExit": "the function raises on an x of shape (3, 5): GeneratorExit:",
    "raise type('Own', (BaseException,), {})": "code.py:fn raises Own, which ends a program; take out what does, such as exit().",
}


@pytest.mark.parametrize(("line", "message"), RAISED.items())
def test_what_a_function_raises_to_end_the_program_is_an_error(run, tmp_path, line, message):
    (tmp_path / "code.py").write_text(f"{HEAD}def fn(x):\n    {line}\n")
    assert run("check", "code.py:fn", *CHECK) == (2, "", f"normviz: {message}\n")


@pytest.mark.parametrize("command", [("check", "code.py:fn", *CHECK), ("norms", "code.py:fn", "--input", "3,5")])
def test_a_file_that_ends_the_program_is_an_error(run, tmp_path, command):
    (tmp_path / "code.py").write_text(f"{HEAD}def fn(x): return right(x)\nsys.exit()\n")
    said = "normviz: code.py:fn raises SystemExit, which ends a program; take out what does, such as exit().\n"
    assert run(*command) == (2, "", said)


def test_a_model_that_ends_the_program_is_an_error(run, tmp_path):
    (tmp_path / "code.py").write_text(
        f"{HEAD}class Model(torch.nn.Module):\n    def forward(self, x):\n        sys.exit(0)\ndef make():\n    exit(0)\n"
    )
    code, out, err = run("norms", "code.py:Model", "--input", "3,5")
    assert code == 2
    assert "The forward pass failed in the model itself (Model): SystemExit: 0." in out
    assert err == "normviz: the table ends where the forward pass failed; see its last line.\n"
    assert run("norms", "code.py:make", "--input", "3,5")[:2] == (2, "")


QUIET = {
    "prints": "print('a line')",
    "replaces stdout": "sys.stdout = io.StringIO()",
    "patches sys.exit": "sys.exit = os.abort",
}


@pytest.mark.parametrize("name", QUIET)
def test_the_result_is_all_of_stdout(run, tmp_path, monkeypatch, name):
    monkeypatch.setattr(sys, "exit", sys.exit)
    (tmp_path / "code.py").write_text(f"{HEAD}{QUIET[name]}\ndef fn(x):\n    {QUIET[name]}\n    return right(x)\n")
    code, out, err = run("check", "code.py:fn", *CHECK)
    assert (code, json.loads(out)["ok"]) == (0, True)
    assert ("a line" in err) == (name == "prints")


@pytest.fixture(scope="module")
def ends() -> dict[str, list[str]]:
    """The exit code, stdout and stderr of a command whose code ends in each of the ways: a process that needs no torch."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.cli.endings"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    found: dict[str, list[str]] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize("name", ENDINGS)
def test_each_end_of_the_process_is_an_error(ends, name):
    code, out, err = ends[name]
    how = ENDINGS[name][1]
    said = "code ended the process before there was a result ({}); take out what does, such as os._exit()."
    raised = "code raises {}, which ends a program; take out what does, such as exit()."
    wanted = (said if how.startswith(("exit", "SIG")) else raised).format(how)
    assert (code, out, err.splitlines()[-1]) == (2, "", f"normviz: {wanted}")


@pytest.mark.parametrize("code", [0, 1, 2])
def test_the_exit_code_of_the_command_is_its_own(ends, code):
    assert ends[str(code)] == [code, "result\n", "printed by the code\n"]


def test_a_process_that_goes_on_after_a_fork_prints_no_result(ends):
    assert ends["fork"][:2] == [0, "result\n"]  # newer Pythons warn of a fork beside threads


def test_what_the_code_registers_or_replaces_does_not_change_the_result(ends):
    assert ends["atexit"] == ends["sys.stdout"] == [0, "result\n", ""]


def test_the_command_watches_the_code(tmp_path):
    (tmp_path / "code.py").write_text("import os\ndef fn(x):\n    os._exit(0)\n")
    ran = subprocess.run(
        [sys.executable, "-m", "normviz", "check", str(tmp_path / "code.py") + ":fn", "--shape", "3,5"],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "ended the process before there was a result (exit code 0)" in ran.stderr
