"""``normviz check``: it prints what differs, and its exit code is 1 if something does."""

import json
import sys

import pytest

from tests.support.needs import needs_half

MODULE = """
import torch

def right(x):
    return torch.nn.functional.layer_norm(x, (5,))

def wrong(x):
    return torch.nn.functional.batch_norm(x, None, None, training=True)

def of_arrays(x):
    return (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + 1e-5) ** 0.5

def affine(x, gamma, beta, groups=1):
    return torch.nn.functional.group_norm(x, groups) * gamma + beta

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


PARAMS = [
    ("gamma=ones:1,6,1,1,beta=zeros:1,6,1,1,groups=3", 0),
    ("gamma=random:6,1,1,beta=random:6,1,1,groups=3", 0),
    ("gamma=ones:1,6,1,1,beta=zeros:1,6,1,1,groups=2", 1),
]


@pytest.mark.parametrize(("params", "code"), PARAMS)
def test_params_have_the_given_shapes_and_values(run, written, params, code):
    arguments = ("--shape", "2,6,3,5", "--like", "GroupNorm(3, 6)", "--params", params)
    assert run("check", "written_norms:affine", *arguments)[0] == code


def test_a_file_may_be_in_another_folder_and_have_the_name_of_a_module(run, tmp_path):
    (tmp_path / "week1").mkdir()
    (tmp_path / "week1" / "helper.py").write_text("AXES = (5,)\n")
    (tmp_path / "week1" / "calendar.py").write_text(
        MODULE.replace("import torch", "import torch\nfrom helper import AXES")
    )
    for name in ("week1/calendar.py::right", "week1/calendar.py:right", "week1/calendar.py::Inner.norm"):
        assert run("check", name, "--shape", "3,4,5", "--like", "LayerNorm(5)")[0] == 0


def test_json_has_the_attributes_as_keys(run, written):
    code, out, _err = run("check", "written_norms:wrong", "--shape", "3,4,5", "--like", "LayerNorm(5)", "--json")
    found = json.loads(out)
    assert code == 1
    assert [one["what"] for one in found["differences"]] == ["statistics"]
    assert (found["ok"], found["reduced"], found["notes"]) == (False, [0, 2], [])
    assert found["text"].startswith("LayerNorm(5) averages over C.")


@needs_half
def test_dtype_is_that_of_x(run, tmp_path):
    (tmp_path / "half.py").write_text("def rms(x):\n    return x / (x * x).mean(-1, keepdim=True).add(1e-12).sqrt()\n")
    arguments = ("check", "half.py::rms", "--shape", "4,6", "--like", "RMSNorm(6, eps=1e-12)")
    assert run(*arguments)[0] == 0
    code, out, _err = run(*arguments, "--dtype", "float16")
    assert code == 1
    assert "float16" in out


ERRORS = {
    "written_norms": "write MODULE:NAME or FILE.py:NAME, such as mymodule:my_layernorm.",
    "no_such_module:f": "there is no module no_such_module; install it, or run normviz in the folder where it is.",
    "written_norms:absent": "'written_norms' has no 'absent'.",
    "written_norms:rigth": "'written_norms' has no 'rigth'. Did you mean right?",
    "written_norms:Inner.nrm": "'written_norms' has no 'Inner.nrm'. Did you mean norm?",
    "written_norms:Inner": "Inner is a class; name an instance of it",
    "written_norms:torch": "is not a function or a module",
    "absent.py::f": "there is no file 'absent.py'",
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_cannot_be_called_is_refused(run, written, name):
    code, _out, err = run("check", name, "--shape", "3,4,5", "--like", "LayerNorm(5)")
    assert code == 2
    assert ERRORS[name] in err


BAD_PARAMS = {
    "gamma": "is not a list of arguments; write --params gamma=ones,beta=zeros",
    "gamma=one": "gamma='one' is not a value",
    "gamma=ones:x": "is not a list of numbers",
}


@pytest.mark.parametrize("params", BAD_PARAMS)
def test_bad_params_are_refused(run, written, params):
    code, _out, err = run(
        "check", "written_norms:affine", "--shape", "3,6", "--like", "LayerNorm(6)", "--params", params
    )
    assert code == 2
    assert BAD_PARAMS[params] in err


def test_the_shape_of_a_param_without_a_layer_is_asked_for(run, written):
    code, _out, err = run("check", "written_norms:affine", "--shape", "3,6", "--params", "gamma=ones,beta=ones:6")
    assert code == 2
    assert "write gamma=ones:6" in err
