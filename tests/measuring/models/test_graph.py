"""Formulas in the middle of a module, functions below F, and normalizations of another kind."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv
from normviz.api.html import view_query
from tests.support.needs import needs_rms_norm, skip_or_fail

X = torch.randn(3, 5, 8)
ATEN = torch.ops.aten


class Larger(nn.Module):
    """A formula between two linear layers."""

    def __init__(self, formula):
        super().__init__()
        self.first, self.last, self.formula = nn.Linear(8, 8), nn.Linear(8, 8), formula
        self.weight, self.bias = nn.Parameter(torch.rand(8) + 0.5), nn.Parameter(torch.rand(8))

    def forward(self, x):
        return self.last(self.formula(self.first(x), self))


def rows(formula, x=X):
    found = nv.norms(nn.Sequential(Larger(formula)), x)
    assert found.failure == ""
    return [(name, row.layer, row.parameters) for name, row in zip(found.names, found, strict=True)]


def by_mean(x, own):
    return (x - x.mean(-1, keepdim=True)) / (
        x.var(-1, keepdim=True, correction=0) + 1e-5
    ).sqrt() * own.weight + own.bias


def root_mean_square(x, own):
    h = x.float()
    return own.weight * (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


def scale_and_shift(x, own):
    var, mean = torch.var_mean(x, -1, keepdim=True, correction=0)
    scale = own.weight * (var + 1e-5).rsqrt()
    return x * scale - mean * scale + own.bias


def in_place(x, own):
    x = x.clone()
    x -= x.mean(-1, keepdim=True)
    x /= (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()
    x *= own.weight
    return x.add_(own.bias)


def by_einsum(x, own):
    return x * torch.rsqrt(torch.einsum("nld,nld->nl", x, x)[..., None] / 8 + 1e-6)


def groups(x, own):
    y = x.view(3, 5, 2, 4)
    y = (y - y.mean(-1, keepdim=True)) / (y.var(-1, keepdim=True, correction=0) + 1e-5).sqrt()
    return y.view(3, 5, 8)


LAYER_NORM, RMS_NORM = ("formula in 0", "LayerNorm([8])", 16), ("formula in 0", "RMSNorm([8], eps=1e-06)", 8)
FORMULAS = {
    "LayerNorm": (by_mean, [LAYER_NORM]),
    "RMSNorm": (root_mean_square, [RMS_NORM]),
    "x * a - mean * a": (scale_and_shift, [LAYER_NORM]),
    "in place": (in_place, [LAYER_NORM]),
    "einsum": (by_einsum, [("formula in 0", "RMSNorm([8], eps=1e-06, elementwise_affine=False)", 0)]),
    "groups": (groups, [("formula in 0", None, 0)]),
    "two": (lambda x, own: root_mean_square(F.gelu(by_mean(x, own)), own), [LAYER_NORM, (*RMS_NORM[:2], 0)]),
    "one after the other": (lambda x, own: root_mean_square(by_mean(x, own), own), [LAYER_NORM, (*RMS_NORM[:2], 0)]),
    "with a residual": (lambda x, own: x + by_mean(x, own), [LAYER_NORM]),
    "no division": (lambda x, own: x * x.std(-1, keepdim=True), []),
    "a share": (lambda x, own: x / x.sum(-1, keepdim=True), []),
    "attention": (lambda x, own: torch.softmax(x @ x.transpose(-1, -2) / 8**0.5, -1) @ x, []),
}


@needs_rms_norm
@pytest.mark.parametrize(("formula", "wanted"), FORMULAS.values(), ids=FORMULAS)
def test_a_formula_in_a_larger_module_is_measured_alone(formula, wanted):
    assert rows(formula) == wanted


def test_a_formula_is_found_on_meta_and_compared():
    model = nn.Sequential(Larger(by_mean))
    assert [row.layer for row in nv.norms(model.to("meta"), X.to("meta"))] == ["LayerNorm([8])"]
    one, other = nv.norms(nn.Sequential(Larger(by_mean)), X), nv.norms(nn.Sequential(Larger(root_mean_square)), X)
    assert one.diff(nv.norms(nn.Sequential(Larger(scale_and_shift)), X)) == ()
    assert any("It does not subtract the mean." in sentence for sentence in one.diff(other))


def of_a_part(take):
    return lambda x, own: x * torch.rsqrt(take(x).pow(2).mean(-1, keepdim=True) + 1e-6)


@pytest.mark.parametrize(
    "take",
    [lambda x: x[..., :4], lambda x: x[..., [0, 1, 2, 3]], lambda x: x[..., torch.arange(4)], lambda x: x[:, :, 0:4]],
    ids=["slice", "list", "tensor", "slices"],
)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_mean_of_a_part_is_no_mean_of_the_whole(take, device):  # a small x may be no longer than the part
    model = nn.Sequential(Larger(of_a_part(take))).to(device)
    with torch.device(device):
        found = nv.norms(model, X.to(device))
    assert len(found) == 0
    assert "could not be measured" in found.notes[0]


@needs_rms_norm
def test_a_formula_with_an_index_is_measured():
    assert rows(of_a_part(lambda x: x[..., None, :][:, :, 0:].squeeze(2)))[0][1].startswith("RMSNorm([8]")


def test_a_formula_that_cannot_be_measured_is_noted():
    found = nv.norms(
        nn.Sequential(Larger(lambda x, own: torch.ones_like(x) / (x - x.mean(-1, keepdim=True)).std(-1, keepdim=True))),
        X,
    )
    assert len(found) == 0
    assert found.notes[0].startswith(
        "0 (Larger) divides by a root of means, but what it normalizes could not be measured"
    )


@needs_rms_norm
def test_an_activation_behind_a_norm_is_a_departure():
    class Behind(Larger):
        def forward(self, x):
            return F.relu(self.formula(x, self))

    for formula, layer in (
        (by_mean, "LayerNorm([8])"),
        (lambda x, own: F.rms_norm(x, (8,), eps=1e-3), "RMSNorm([8], eps=0.001, elementwise_affine=False)"),
    ):
        (row,) = nv.norms(nn.Sequential(Behind(formula)), X)
        assert (row.layer, row.departures) == (layer, ("Its output goes through relu.",))


def moved(function):
    return lambda x, own: function(x.transpose(1, 2).contiguous(), own).transpose(1, 2)


BELOW = {
    "torch.native_layer_norm": (lambda x, own: torch.native_layer_norm(x, (8,), own.weight, own.bias, 1e-5)[0], "LayerNorm([8])"),
    "torch.ops.aten.layer_norm": (lambda x, own: ATEN.layer_norm(x, (8,)), "LayerNorm([8], elementwise_affine=False)"),
    "torch.ops.aten.native_layer_norm": (lambda x, own: ATEN.native_layer_norm.default(x, [8], own.weight, None, 1e-3)[0], "LayerNorm([8], eps=0.001, bias=False)"),
    "torch.native_group_norm": (moved(lambda x, own: torch.native_group_norm(x, own.weight, own.bias, 3, 8, 5, 2, 1e-5)[0]), "GroupNorm(2, 8)"),
    "torch.native_batch_norm": (moved(lambda x, own: torch.native_batch_norm(x, own.weight, own.bias, None, None, True, 0.1, 1e-5)[0]), "BatchNorm1d(8, track_running_stats=False)"),
}  # fmt: skip


@pytest.mark.parametrize("name", BELOW)
def test_functions_that_others_call_are_rows(name):
    call, layer = BELOW[name]
    assert [row[:2] for row in rows(call)] == [(f"0 ({name})", layer)]


def test_two_calls_in_one_module_are_two_rows():
    class Twice(nn.Module):
        def forward(self, x):
            return F.layer_norm(F.layer_norm(x, (8,)), (8,))

    layer = "LayerNorm([8], elementwise_affine=False)"
    assert [row.layer for row in nv.norms(nn.Sequential(Twice()), X)] == [layer, layer]


class Kernel(torch.autograd.Function):
    """Torch sees none of its operations, as of a kernel of Triton."""

    @staticmethod
    def forward(ctx, x, weight, power):
        given = x.detach().numpy()
        return torch.from_numpy(
            given / np.sqrt((given**2).mean(-1, keepdims=True) + 1e-6) ** power * weight.detach().numpy()
        )


@needs_rms_norm
def test_an_autograd_function_of_others_is_measured():
    assert rows(lambda x, own: Kernel.apply(x, own.weight, 1)) == [("0 (Kernel.apply)", "RMSNorm([8], eps=1e-06)", 8)]
    assert rows(lambda x, own: Kernel.apply(x, own.weight, 0)) == []
    assert torch.autograd.Function.apply.__func__.__module__ == "torch.autograd.function"


# Normalizations of another kind


class Response(nn.Module):
    """GRN of ConvNeXt V2."""

    def __init__(self):
        super().__init__()
        self.gamma, self.beta = (nn.Parameter(torch.zeros(1, 1, 1, 8)) for _ in range(2))

    def forward(self, x):
        length = torch.norm(x, dim=(1, 2), keepdim=True)
        return self.gamma * (x * (length / (length.mean(-1, keepdim=True) + 1e-6))) + self.beta + x


class Bounded(nn.Module):
    """DyT, or with another function."""

    def __init__(self, function=torch.tanh):
        super().__init__()
        self.function, self.alpha = function, nn.Parameter(torch.tensor(0.5))
        self.weight, self.bias = nn.Parameter(torch.ones(8)), nn.Parameter(torch.zeros(8))

    def forward(self, x):
        return self.function(self.alpha * x) * self.weight + self.bias


OTHERS = [
    (nn.LocalResponseNorm(5), (2, 8, 4, 3), "LocalResponseNorm", "the mean of the squares in a window of 5 along axis 1"),
    (Response(), (2, 5, 6, 8), "Response", "divided by the mean of these roots over axis 3"),
    (Bounded(), (2, 5, 8), "Bounded", "It bounds each element alone by tanh"),
    (nn.utils.parametrizations.weight_norm(nn.Linear(8, 4)), (2, 8), "weight_norm on 0.weight", "over the axes (1,), and multiplies by a learned length"),
    (nn.utils.parametrizations.spectral_norm(nn.Linear(8, 4)), (2, 8), "spectral_norm on 0.weight", "largest singular value"),
]  # fmt: skip


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(("layer", "shape", "title", "words"), OTHERS, ids=[one[2] for one in OTHERS])
def test_a_normalization_of_another_kind_says_what_it_does(layer, shape, title, words, device):
    model = nn.Sequential(layer).to("meta") if device == "meta" else nn.Sequential(layer)
    found = nv.norms(model, torch.ones(shape, device=device) + torch.arange(shape[-1], device=device))
    (row,) = found
    assert (row.title, row.layer, row.norm, row.reduced) == (title, None, None, ())
    assert words in row.departures[0]
    assert row.to_dict()["norm"] is None
    assert title in found._repr_html_()
    assert found.diff(found) == ()
    with pytest.raises(nv.NormvizError, match="there is no view of"):
        view_query(row)


@pytest.mark.parametrize("function", [lambda x: x, torch.sin, F.gelu], ids=["affine", "sin", "gelu"])
def test_other_functions_of_each_element_are_no_normalization(function):
    assert len(nv.norms(nn.Sequential(Bounded(function)), X)) == 0


KERAS = """
import os; os.environ["KERAS_BACKEND"] = "torch"
import keras, torch, normviz as nv
layers = keras.layers
model = keras.Sequential([keras.Input((4,)), layers.Dense(6), layers.BatchNormalization(), layers.LayerNormalization()])
for training in (True, False):
    print([row.layer for row in nv.norms(model, torch.randn(3, 4), training=training)])
"""


def test_layers_of_keras_are_listed_in_both_modes():  # in a process of its own: others use another backend
    if find_spec("keras") is None:
        skip_or_fail("Keras is not installed")
    run = subprocess.run([sys.executable, "-c", KERAS], capture_output=True, text=True, check=True)
    batch_norm, layer_norm = "BatchNorm1d(6, eps=0.001)", "LayerNorm([6], eps=0.001)"
    assert run.stdout.splitlines() == [str([batch_norm, layer_norm]), str([f"{batch_norm}.eval()", layer_norm])]


class Experts(nn.Linear):
    def forward(self, x):
        if x.dtype != torch.bfloat16 or self.bias is None:
            raise RuntimeError("Expected inputs of BF16 type")
        return super().forward(x)


def test_a_layer_that_refuses_float32_on_meta_runs_in_bfloat16():
    def found(bias):
        model = nn.Sequential(Experts(8, 8, bias=bias), nn.LayerNorm(8)).to("meta")
        result = nv.norms(nn.Sequential(nn.LayerNorm(8, device="meta"), model), X.to("meta"))
        assert next(model.parameters()).dtype == torch.float32
        return result

    assert [row.layer for row in found(True)] == ["LayerNorm([8])"] * 2
    assert "ran in bfloat16" in found(True).notes[-1]
    assert "Give model.to(torch.bfloat16)" in found(False).failure


def test_a_parameter_of_two_formulas_is_counted_once():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.gamma, self.linear = nn.Parameter(torch.ones(8)), nn.Linear(8, 8)

        def norm(self, x):
            return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt() * self.gamma

        def forward(self, x):
            return self.linear(self.norm(self.linear(self.norm(x))))

    found = nv.norms(Twice(), torch.randn(3, 8))
    assert [row.parameters for row in found] == [8, 0]
    tied = nn.Sequential(nn.LayerNorm(8), nn.LayerNorm(8))
    tied[1].weight = tied[0].weight
    assert [row.parameters for row in nv.norms(tied, torch.randn(3, 8))] == [16, 8]
