"""The recipes for graders run: a question of PrairieLearn, and a notebook of otter."""

import ast
import importlib.util
import json
import re
from pathlib import Path
from subprocess import CompletedProcess
from types import ModuleType
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RIGHT = """import numpy as np

def layer_norm(x, gamma, beta, eps=1e-5):
    mean, var = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta
"""
OUTSIDE = RIGHT.replace("np.sqrt(var + eps)", "(np.sqrt(var) + eps)")
OTHER_AXIS = RIGHT.replace("axis=1, keepdims=True", "axis=0")


@pytest.fixture
def grade() -> ModuleType:
    spec = importlib.util.spec_from_file_location("grade", EXAMPLES / "prairielearn" / "tests" / "grade.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_question_of_prairielearn_is_graded_in_its_folder(grade, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parent))
    (tmp_path / "student").mkdir()
    (tmp_path / "student" / "submission.py").write_text(f"print('hello')\n{OUTSIDE}")
    grade.main(tmp_path)
    result = json.loads((tmp_path / "results" / "results.json").read_text())
    assert (result["gradable"], result["score"]) == (True, 0.75)
    assert result["tests"][0]["message"].startswith("It adds eps to the standard deviation, outside the root")


@pytest.mark.parametrize(("code", "score"), [(RIGHT, 1), (OTHER_AXIS, 0.5), (RIGHT.replace("gamma * ", "0 * "), 0)])
def test_a_question_of_prairielearn_gives_partial_credit(grade, tmp_path, monkeypatch, run, code, score):
    def in_process(command: list[str], cwd: Path, **_options: Any) -> CompletedProcess[str]:
        monkeypatch.chdir(cwd)
        code, out, err = run(*command[3:])
        return CompletedProcess(command, code, out, err)

    monkeypatch.setattr(grade.subprocess, "run", in_process)
    (tmp_path / "submission.py").write_text(code)
    assert grade.graded(tmp_path)["score"] == score


@pytest.mark.parametrize(("code", "err", "message"), [
    (2, "hello\nnormviz: the function raises on an x of shape (4, 6): ZeroDivisionError", "normviz: the function raises on an x of shape (4, 6): ZeroDivisionError"),
    (-9, "", "The function was ended before it returned: it may need too much memory."),
])  # fmt: skip
def test_code_that_cannot_be_called_gets_no_points_and_the_reason(grade, tmp_path, monkeypatch, code, err, message):
    failed = CompletedProcess([], code, "", err)
    monkeypatch.setattr(grade.subprocess, "run", lambda *_arguments, **_options: failed)
    assert grade.graded(tmp_path) == {"gradable": True, "score": 0, "message": message}


def cells() -> list[tuple[str, str]]:
    notebook = json.loads((EXAMPLES / "otter" / "layer_norm.ipynb").read_text())
    return [(one["cell_type"], "".join(one["source"])) for one in notebook["cells"]]


def points(solution: str) -> int:
    """What the tests of the notebook give, cell by cell: otter runs each as it is, and its points are all or none."""
    names: dict[str, Any] = {}
    total, is_test = 0, False
    for kind, text in cells():
        is_test = {"# BEGIN TESTS": True, "# END TESTS": False}.get(text, is_test)
        if kind != "code":
            continue
        if "# BEGIN SOLUTION" in text:
            exec(solution, names)
        elif not is_test:
            exec(text, names)
        else:
            worth = int(re.findall(r"^points: (\d+)$", text, re.MULTILINE)[0])
            try:
                exec(text, names)
            except AssertionError:
                worth = 0
            total += worth
    return total


def test_a_notebook_of_otter_gives_partial_credit_without_an_expected_value():
    shown = next(text for _kind, text in cells() if "# BEGIN SOLUTION\n" in text)
    own = re.sub(r" *# (BEGIN|END) SOLUTION\n?", "", shown)
    assert [points(code) for code in (own, RIGHT, OUTSIDE, OTHER_AXIS, "layer_norm = lambda x, gamma, beta: 0 * x")] == [4, 4, 3, 1, 0]  # fmt: skip
    tests = [ast.dump(ast.parse(text)) for _kind, text in cells() if "# BEGIN TEST CONFIG" in text]
    assert len(tests) == 3
    assert not any("value=1." in text or "allclose" in text for text in tests)
