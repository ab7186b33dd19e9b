"""``normviz norms`` prints the normalizations of a model on the path."""

import json
import sys

import pytest

from tests.support.needs import cases_in_torch

MODELS = """
import torch
from torch import nn

def images(): return nn.Sequential(nn.Conv2d(3, 8, 1), nn.BatchNorm2d(8), nn.BatchNorm2d(8))
def fails(): return nn.Sequential(nn.LayerNorm(8), nn.Linear(6, 6))
def needs(size): return nn.LayerNorm(size)
def none(): return 3
class Text(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.norm = nn.Embedding(50, 8), nn.LayerNorm(8)
        assert self.norm.weight.is_meta
    def forward(self, ids, mask): return self.norm(self.embed(ids)) * mask
class Channels(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size))
    def forward(self, x):
        x = x - x.mean(1, keepdim=True)
        x = x / torch.sqrt(x.pow(2).mean(1, keepdim=True) + 1e-6)
        return self.weight[:, None, None] * x + self.bias[:, None, None]
class Root(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
    def forward(self, x): return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
def own(): return nn.Sequential(Channels(8), Root(3))
def scripted(): return torch.jit.script(nn.LayerNorm(8))
ready = nn.Sequential(nn.LayerNorm(8)).to("meta")
"""


@pytest.fixture(autouse=True)
def models(tmp_path, monkeypatch):
    (tmp_path / "lab_models.py").write_text(MODELS)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    sys.modules.pop("lab_models", None)


@cases_in_torch
@pytest.mark.parametrize(("arguments", "lines"), [
    ("images --input 1,3,4,5", ["* x 2  BatchNorm2d(8).eval()  (1, 8, 4, 5)  ()            8           20        22 %           32 %               32"]),
    ("images --input 1,3,4,5 --all --device cpu --train", ["1     BatchNorm2d(8)  (1, 8, 4, 5)", "2     BatchNorm2d(8)"]),
    ("Text --input 1,16:int64 --input 1,16,1", ["norm  LayerNorm([8])  (1, 16, 8)", "3.8 % of the model"]),
    ("ready --input 2,8", ["0     LayerNorm([8])  (2, 8)"]),
    ("own --input 2,8,3,3", ["0     Norm('n c h w -> n h w', 'c', eps=1e-06)  (2, 8, 3, 3)", "1     RMSNorm([3], eps=1e-06)"]),
])  # fmt: skip
def test_the_table_is_printed(run, arguments, lines):
    name, *rest = arguments.split()
    code, out, err = run("norms", f"lab_models:{name}", *rest)
    assert (code, err) == (0, "")
    for line in lines:
        assert line in out


def test_a_forward_pass_that_fails_prints_the_rows_until_there(run):
    code, out, err = run("norms", "lab_models:fails", "--input", "2,8")
    assert code == 2
    assert "0     LayerNorm([8])" in out
    assert "Expected size 6 in axis -1 of its input, got shape (2, 8)" in out
    assert "the table ends where the forward pass failed" in err


def test_the_list_as_json(run):
    code, out, err = run("norms", "lab_models:images", "--input", "1,3,4,5", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    (row,) = found["rows"]
    assert (row["title"], row["shapes"], found["members"]) == ("BatchNorm2d(8).eval()", [[1, 8, 4, 5]], [2])


@pytest.mark.filterwarnings("ignore:.*jit:DeprecationWarning")
def test_a_scripted_model_is_refused(run):
    code, out, err = run("norms", "lab_models:scripted", "--input", "2,8")
    assert (code, out) == (2, "")
    assert "is scripted, traced or exported" in err


@pytest.mark.parametrize(("arguments", "words"), [
    ("lab_models:images", "give the shape of each input of the model, such as --input 1,3,224,224."),
    ("lab_models --input 2,8", "write MODULE:NAME or FILE.py:NAME, such as torch.nn:Transformer."),
    ("lab_models:image --input 2,8", "has no 'image'. Did you mean images?"),
    ("absent.py:image --input 2,8", "there is no file 'absent.py'."),
    ("no_lab:image --input 2,8", "there is no module no_lab; install it"),
    ("lab_models:needs --input 2,8", "name a function without arguments that makes the model"),
    ("lab_models:none --input 2,8", "gives int, not a torch.nn.Module"),
    ("lab_models:images --input 2,x", "shape"),
    ("lab_models:images --input 2,8:int", "the dtype must be one of float32,"),
    ("lab_models:images --input 2,8 --device moon", "--device 'moon' is not available here; use meta or cpu."),
])  # fmt: skip
def test_invalid_arguments(run, arguments, words):
    code, out, err = run("norms", *arguments.split())
    assert (code, out) == (2, "")
    assert words in err
