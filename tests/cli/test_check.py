"""``normviz check``: it prints what differs, and its exit code is 1 if something does."""

import sys

import pytest

MODULE = """
import torch

def right(x):
    return torch.nn.functional.layer_norm(x, (5,))

def wrong(x):
    return torch.nn.functional.batch_norm(x, None, None, training=True)

def of_arrays(x):
    return (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + 1e-5) ** 0.5

class Inner:
    norm = torch.nn.LayerNorm(5)
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setitem(sys.modules, "written_norms", None)
    monkeypatch.delitem(sys.modules, "written_norms")
    (tmp_path / "written_norms.py").write_text(MODULE)


CODES = [
    ("right", "LayerNorm(5)", 0, "Your function does what LayerNorm(5) does: it averages over C.\n"),
    ("Inner.norm", "LayerNorm(5)", 0, "Your function does what LayerNorm(5) does: it averages over C.\n"),
    ("wrong", "LayerNorm(5)", 1, "LayerNorm(5) averages over C. Your function averages over N and C.\n"),
]


@pytest.mark.parametrize(("name", "like", "code", "text"), CODES, ids=[case[0] for case in CODES])
def test_the_exit_code_says_whether_it_differs(run, written, name, like, code, text):
    assert run("check", f"written_norms:{name}", "--shape", "3,4,5", "--like", like) == (code, text, "")


def test_a_function_of_arrays(run, written):
    arguments = ("check", "written_norms:of_arrays", "--shape", "3,4,5", "--like", "LayerNorm(5)")
    assert run(*arguments, "--numpy")[0] == 0
    code, out, _err = run(*arguments)
    assert (code, "m - 1" in out) == (1, True)  # var of a tensor is another one


def test_without_a_layer_it_names_the_normalization(run, written):
    assert run("check", "written_norms:wrong", "--shape", "3,4,5")[:2] == (
        0,
        "Your function averages over N and L (like BatchNorm1d).\n",
    )


ERRORS = {
    "written_norms": "write module:function",
    "no_such_module:f": "ModuleNotFoundError: No module named 'no_such_module'",
    "written_norms:absent": "has no attribute 'absent'",
    "written_norms:Inner": "Inner is a class; name an instance of it",
    "written_norms:torch": "is not a function or a module",
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_cannot_be_called_is_refused(run, written, name):
    code, _out, err = run("check", name, "--shape", "3,4,5", "--like", "LayerNorm(5)")
    assert code == 2
    assert ERRORS[name] in err
