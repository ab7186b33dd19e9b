"""What check says of a difference beside its sentence: what to change; and the schema of its JSON."""

import json
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

import normviz as nv
from normviz.layers.norm import Norm
from normviz.measuring.report import KINDS

DOCS = Path(__file__).parents[2] / "docs"
ROOT = "Divide by sqrt(var + eps), where var is the mean of (x - mean)^2 over D."


def over_root(x, eps=1e-5, correction=0):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=correction) + eps).sqrt()


def rows(x):
    return F.layer_norm(x, x.shape[-1:])


def detached(x):
    mean = x.mean(-1, keepdim=True)
    return (x - mean.detach()) / ((x - mean).square().mean(-1, keepdim=True) + 1e-5).sqrt()


@pytest.mark.parametrize(
    ("wrong", "like", "remedies"),
    [
        (lambda x: over_root(x, correction=1), "LayerNorm(6)", [ROOT]),
        (lambda x: over_root(x, eps=1e-3), "LayerNorm(6)", ["Use 1e-05 as eps."]),
        (lambda x: 2 * over_root(x, eps=1e-3), "LayerNorm(6)", ["Use 1e-05 as eps.", "Leave out this factor."]),
        (lambda x: rows(x.t()).t(), "LayerNorm(6)", ["Take the mean and the variance of all elements over D."]),
        (lambda x: rows(x), "RMSNorm(6, eps=1e-5)", ["Do not subtract the mean."]),
        (lambda x: x / (x.square().sum(-1, keepdim=True) + 1e-5).sqrt(), "RMSNorm(6, eps=1e-5)", ["Divide by the root of the mean of x^2 plus eps, with the mean over D."]),
        (lambda x: rows(x).half(), "LayerNorm(6)", ["Convert the output to float32."]),
        (lambda x: x.copy_(rows(x)), "LayerNorm(6)", ["Write into a new tensor, and return that."]),
        (detached, "LayerNorm(6)", ["Let the gradient pass through the mean."]),
        (lambda x: rows(x).clamp(-1, 1), "LayerNorm(6)", [""]),
    ],
)  # fmt: skip
def test_the_remedy_of_a_mistake(wrong, like, remedies):
    found = nv.check(wrong, (4, 6), like=like)
    assert [one.remedy for one in found.differences] == remedies


def test_gamma_and_beta_are_named_as_the_layer_uses_them():
    gamma = torch.linspace(-1, 1, 6)
    like = Norm("n d -> n", "d", zero_centered_gamma=True, bias=False)
    found = nv.check(lambda x, gamma: rows(x) * gamma, (4, 6), like=like, params={"gamma": gamma})
    assert [one.remedy for one in found.differences] == ["Multiply the normalized x by 1 + gamma, and by nothing else."]


def test_a_gamma_or_a_beta_that_the_layer_lacks_must_be_left_out():
    params = {"gamma": torch.linspace(-1, 1, 6), "beta": torch.linspace(1, 2, 6)}
    both = ["Leave out this factor.", "Leave out this added number."]
    for like, remedies in (("LayerNorm(6, elementwise_affine=False)", both), ("LayerNorm(6, bias=False)", both[1:])):
        found = nv.check(lambda x, gamma, beta: rows(x) * gamma + beta, (4, 6), like=like, params=params)
        assert [one.remedy for one in found.differences] == remedies


def test_the_json_has_the_schema():
    validator = pytest.importorskip("jsonschema").Draft202012Validator
    judge = validator(json.loads((DOCS / "check.schema.json").read_text(encoding="utf-8")))
    for fn, like in ((rows, "LayerNorm(6)"), (rows, None), (lambda x: rows(x).clamp(-1, 1) / 0, "LayerNorm(6)")):
        result = json.loads(json.dumps(nv.check(fn, (4, 6), like=like).to_dict()))
        assert list(judge.iter_errors(result)) == []
    assert result["differences"][0]["what"] in KINDS
    assert list(judge.iter_errors(result | {"differences": [{**result["differences"][0], "what": "another"}]}))
    assert list(judge.iter_errors({name: value for name, value in result.items() if name != "example"}))
