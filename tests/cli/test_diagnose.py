"""``normviz diagnose`` says why a model gives other results in eval mode, and ends with 1 if something is wrong."""

import json
import sys

import pytest

MODELS = """
import torch
from torch import nn

model = nn.Sequential(nn.BatchNorm1d(4))
batches = [3 + 2 * torch.randn(64, 4, generator=torch.Generator().manual_seed(i)) for i in range(4)]
wrong = [torch.randn(8, 5)]
def made(): return nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4))
def stream(): return iter(batches)
"""


@pytest.fixture(autouse=True)
def models(tmp_path, monkeypatch):
    (tmp_path / "lab_diagnose.py").write_text(MODELS)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield
    sys.modules.pop("lab_diagnose", None)


def test_findings_are_printed_and_end_with_1(run):
    code, out, err = run("diagnose", "lab_diagnose:model", "--data", "lab_diagnose:batches", "--steps", "2")
    assert (code, err) == (1, "")
    assert "The stored statistics of 0 are the start values, mean 0 and variance 1" in out
    code, out, _err = run("diagnose", "lab_diagnose:model", "--data", "lab_diagnose:batches", "--json")
    assert code == 1
    assert [one["cause"] for one in json.loads(out)["findings"]] == ["never updated"]
    assert json.loads(out)["batches"] == 4


def test_a_healthy_model_ends_with_0(run):
    code, out, err = run("diagnose", "lab_diagnose:made", "--data", "lab_diagnose:stream")
    assert (code, err) == (0, "")
    assert out.startswith("Eval differs by 0 %. Nothing is wrong with the normalizations.")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("lab_diagnose:wrong", "the model raises RuntimeError in eval mode on batch 0"),
        ("lab_diagnose:batch", "lab_diagnose' has no 'batch'. Did you mean batches?"),
        ("lab_diagnose:model", "TypeError"),
    ],
)
def test_an_invalid_request_is_one_line(run, data, words):
    code, out, err = run("diagnose", "lab_diagnose:model", "--data", data)
    assert (code, out) == (2, "")
    assert words in err
