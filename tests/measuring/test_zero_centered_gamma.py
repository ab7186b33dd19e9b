"""Layers that multiply by 1 + gamma, such as Gemma's RMSNorm: explain, check and norms say the same of them."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from tests.support.needs import HAS_BIAS, needs_rms_norm

X = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(1))
TEXT = "RMSNorm([4], eps=1e-06, zero_centered_gamma=True)"
NORM = Norm("n l c -> n l", "c", center=False, eps=1e-6, bias=False, zero_centered_gamma=True)


class GemmaRMSNorm(nn.Module):
    """As in transformers: https://github.com/huggingface/transformers, models/gemma/modeling_gemma.py."""

    def __init__(self, dim, eps=1e-6, weight=0.0):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.full((dim,), weight))

    def factor(self):
        return 1.0 + self.weight.float()

    def forward(self, x):
        wide = x.float()
        normalized = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (normalized * self.factor()).type_as(x)


class TimesWeight(GemmaRMSNorm):
    """The wrong twin: it multiplies by the stored weight."""

    def factor(self):
        return self.weight.float()


def rms_norm(x, gamma):
    return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * (1 + gamma)


@needs_rms_norm
@pytest.mark.parametrize("weight", [0.0, 0.25])
def test_four_entries_say_the_same_of_gemma(weight):
    gemma = GemmaRMSNorm(4, weight=weight)
    e, (row,) = nv.explain(gemma, X), nv.norms(gemma, X)
    checks = [nv.check(gemma, X, like=like) for like in (None, TEXT, NORM, Layer.parse(TEXT), GemmaRMSNorm(4))]
    assert [e.norm, row.norm] + [one.norm for one in checks] == 7 * [NORM]
    assert [row.layer] + [one.layer for one in checks] == 6 * [TEXT]
    assert row.title == TEXT
    assert all(checks)
    assert str(checks[0]) == "Your function averages over C (like RMSNorm with 1 + gamma)."
    assert e.layer_values().gamma.tolist() == 4 * [weight]  # as it is stored
    assert torch.allclose(e.trace.output, gemma(X), atol=1e-6)


@needs_rms_norm
@pytest.mark.parametrize("weight", [0.25, 1.0])
def test_the_wrong_twin_of_each_is_noticed(weight):
    gemma, twin, plain = GemmaRMSNorm(4, weight=weight), TimesWeight(4, weight=weight), "RMSNorm(4, eps=1e-6)"
    for like in (TEXT, NORM, Layer.parse(TEXT), GemmaRMSNorm(4)):
        assert str(nv.check(twin, X, like=like)) == "It multiplies by gamma, not by 1 + gamma."
    for like in (plain, nn.RMSNorm(4, eps=1e-6), TimesWeight(4, weight=1.0)):
        assert str(nv.check(gemma, X, like=like)) == "It multiplies by 1 + gamma, not by gamma."
    assert nv.check(twin, X, like=plain)
    assert nv.check(twin, X).norm == nv.explain(plain, X).norm
    assert not nv.explain(twin, X).norm.zero_centered_gamma
    assert nv.norms(twin, X)[0].layer == "RMSNorm([4], eps=1e-06)"
    assert nv.norms(gemma, X).diff(nv.norms(twin, X)) == (
        "the model itself, second model: It multiplies by gamma, not by 1 + gamma.",
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_in_other_dtypes(dtype):
    x, gemma = X.to(dtype), GemmaRMSNorm(4, weight=0.25).to(dtype)
    assert nv.check(gemma, x, like=NORM, backward=False)
    e = nv.explain(gemma, x)
    assert (e.norm, e.layer_values().gamma.tolist(), e.trace.output.dtype) == (NORM, 4 * [0.25], dtype)
    assert not nv.check(TimesWeight(4, weight=0.25).to(dtype), x, like=NORM, backward=False)


def test_a_function_and_its_gradients():
    gamma = torch.full((4,), 0.25)
    assert nv.check(rms_norm, X, like=NORM, params={"gamma": gamma}, backward=True)

    def without_the_gradient_of_1(x, gamma):
        return rms_norm(x, gamma).detach() + rms_norm(x, gamma - 1) - rms_norm(x, gamma - 1).detach()

    found = nv.check(without_the_gradient_of_1, X, like=NORM, params={"gamma": gamma})
    assert [one.what for one in found.differences] == ["backward"]


def test_a_gamma_that_is_not_used():
    found = nv.check(lambda x, gamma: rms_norm(x, 0 * gamma), X, like=NORM, params={"gamma": torch.full((4,), 0.25)})
    assert str(found) == "It does not use gamma."


def test_a_backward_function():
    def forward(x, gamma):
        root = (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()
        return x / root * (1 + gamma), (x / root, root, gamma)

    def backward(dout, cache, added=1):
        xhat, root, gamma = cache
        dxhat = dout * (added + gamma)
        return (dxhat - xhat * (dxhat * xhat).mean(-1, keepdim=True)) / root, (dout * xhat).sum((0, 1))

    params = {"gamma": torch.full((4,), 0.25)}
    assert nv.check_backward(backward, X, NORM, forward=forward, params=params)
    wrong = nv.check_backward(lambda dout, cache: backward(dout, cache, 0), X, NORM, forward=forward, params=params)
    assert not wrong


@needs_rms_norm
def test_a_layer_with_a_beta_and_one_with_another_name():
    class Shifted(nn.LayerNorm):
        def forward(self, x):
            return nn.functional.layer_norm(x, self.normalized_shape, 1 + self.weight, self.bias, self.eps)

    shifted = Shifted(4)
    nn.init.zeros_(shifted.weight)
    text = "LayerNorm([4], zero_centered_gamma=True)"
    assert nv.check(shifted, X, like=text)
    assert (nv.check(shifted, X).layer, nv.norms(shifted, X)[0].layer) == (text, text)
    assert nv.explain(shifted, X).norm == nv.explain(text, X).norm
    assert str(nv.check(shifted, X, like="LayerNorm(4)")) == "It multiplies by 1 + gamma, not by gamma."


def test_stored_statistics_and_1_plus_gamma():
    class Frozen(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.bias = nn.Parameter(torch.tensor([0.5, 0.0, 2.0])), nn.Parameter(torch.ones(3))
            self.register_buffer("running_mean", torch.tensor([1.0, 2.0, 3.0]))
            self.register_buffer("running_var", torch.tensor([1.0, 4.0, 9.0]))
            self.eps = 1e-5

        def forward(self, x):
            root = (self.running_var + self.eps).sqrt()[:, None, None]
            x = (x - self.running_mean[:, None, None]) / root
            return x * (1 + self.weight)[:, None, None] + self.bias[:, None, None]

    x, frozen = torch.randn(2, 3, 4, 4, generator=torch.Generator().manual_seed(2)), Frozen()
    e = nv.explain(frozen, x)
    assert e.norm.running
    assert torch.allclose(e.trace.output, frozen(x), atol=1e-5)


@needs_rms_norm
@pytest.mark.parametrize("factor", [lambda g: 2 + g, lambda g: 1 - g, lambda g: g * g])
def test_a_factor_that_is_neither_is_called_neither(factor):
    def fn(x, gamma):
        return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * factor(gamma)

    like = "RMSNorm(4, eps=1e-6, zero_centered_gamma=True)"
    found = nv.check(fn, (3, 5, 4), like=like, params={"gamma": torch.rand(4)})
    assert "It uses gamma, but not as one factor." in str(found)
    assert "It multiplies by gamma" not in str(found)


@needs_rms_norm
def test_a_multiple_of_1_plus_gamma_is_not_called_1_plus_gamma():
    def fn(x, gamma):
        return 2 * rms_norm(x, gamma)

    found = nv.check(fn, X, like="RMSNorm(4, eps=1e-6)", params={"gamma": torch.rand(4)})
    assert str(found) == "It multiplies by 2*(1 + gamma), not by gamma."


@pytest.mark.parametrize("correction", [1, -2])
def test_a_wrong_variance_is_no_factor_of_gamma(correction):
    def fn(x, gamma):
        return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=correction) + 1e-5).sqrt() * gamma

    like = Norm("n l c -> n l", "c", bias=False, zero_centered_gamma=True)
    found = nv.check(fn, X, like=like, params={"gamma": torch.rand(4)})
    assert [one.what for one in found.differences] == ["variance", "gamma"]
    assert found.differences[1].sentence == "It multiplies by gamma, not by 1 + gamma."


class Batch(nn.Module):
    """BatchNorm2d, whose weight is one factor of each channel."""

    def __init__(self, times):
        super().__init__()
        self.norm = nn.BatchNorm2d(3, affine=False)
        self.weight, self.bias = nn.Parameter(torch.tensor([0.5, -0.2, 0.3])), nn.Parameter(torch.ones(3))
        self.times = times

    def forward(self, x):
        return self.norm(x) * self.times(self.weight)[:, None, None] + self.bias[:, None, None]


IMAGES = torch.randn(4, 3, 2, 2, generator=torch.Generator().manual_seed(5))
BATCH = Norm("n c h w -> c", "c", zero_centered_gamma=True)


def test_layers_that_torch_has_only_with_gamma_are_named_with_1_plus_gamma():
    train, stored = nv.check(Batch(lambda w: 1 + w), IMAGES), nv.check(Batch(lambda w: 1 + w).eval(), IMAGES)
    assert (str(train), train.layer) == (
        "Your function averages over N, H and W (like BatchNorm2d with 1 + gamma).",
        None,
    )
    assert str(stored) == "Your function uses stored statistics (like BatchNorm2d with 1 + gamma)."
    assert train.norm == BATCH
    groups = nv.check(lambda x, gamma: F.group_norm(x, 2) * (1 + gamma), (2, 4, 3), params={"gamma": torch.rand(4, 1)})
    name = " (like GroupNorm with 1 + gamma)." if HAS_BIAS else ". It multiplies by 1 + gamma."
    assert str(groups).endswith(f"along C{name}")  # a layer without beta


@pytest.mark.parametrize(("times", "factor"), [(lambda w: 2 * w, "2*gamma"), (lambda w: -w, "-gamma"), (lambda w: w, "gamma")])  # fmt: skip
def test_the_factor_with_stored_statistics(times, factor):
    found = nv.check(Batch(times).eval(), IMAGES, like=replace(BATCH, running=True), backward=False)
    assert str(found) == f"It multiplies by {factor}, not by 1 + gamma."


def test_without_the_name_of_a_layer_the_factor_is_told():
    def fn(x, gamma):
        return F.layer_norm(x.movedim(1, 2), (3,)).movedim(1, 2) * (1 + gamma)

    found = nv.check(fn, (2, 3, 4), params={"gamma": torch.rand(4)})
    assert str(found) == "Your function averages over C. It multiplies by 1 + gamma."
