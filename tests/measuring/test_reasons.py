"""A reason is a variant of the layer that gives the function's output; several differences are found together, and none is invented."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv
from normviz.measuring import reasons

X = torch.randn(4, 7, generator=torch.Generator().manual_seed(1))


def whats(found):
    return [one.what for one in found.differences]


def sentences(found):
    return [one.sentence for one in found.differences]


# An eps of 0 is one of the layer


@pytest.mark.parametrize(
    ("fn", "shape", "like"),
    [
        (lambda x: x / x.pow(2).mean((1, 2), keepdim=True).sqrt(), (2, 5, 6), "RMSNorm(6, eps=0.0)"),
        (nn.BatchNorm1d(6), (4, 6), "LayerNorm(6, eps=0.0)"),
        (lambda x: F.layer_norm(x.movedim(1, 2), (5,)).movedim(1, 2), (2, 5, 6), "LayerNorm(6, eps=0.0)"),
    ],
)
def test_a_layer_may_have_no_eps(fn, shape, like):
    assert "statistics" in whats(nv.check(fn, shape, like))


# Mistakes of kernels, with their number


def padded(x, block):
    d = x.shape[-1]
    wide = F.pad(x, (0, block - d))
    centered = wide - wide.sum(-1, keepdim=True) / d
    return (centered / (centered.square().sum(-1, keepdim=True) / d + 1e-5).sqrt())[..., :d]


@pytest.mark.parametrize(("d", "block"), [(6, 8), (31, 32), (5, 32)])
def test_zeros_of_padding_enter_the_variance(d, block):
    x = torch.randn(4, d, generator=torch.Generator().manual_seed(d)) + 3
    found = nv.check(lambda x: padded(x, block), x, f"LayerNorm({d})")
    assert [(one.what, one.found) for one in found.differences] == [
        ("variance", f"the variance with {block - d} zero{'s' * (block - d > 1)} of padding")
    ]


def without_tail(x, kept, whole):
    count = x.shape[-1] if whole else kept
    mean = x[..., :kept].sum(-1, keepdim=True) / count
    var = (x[..., :kept] - mean).square().sum(-1, keepdim=True) / count
    return (x - mean) / (var + 1e-5).sqrt()


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("kept", "words"), [(6, "the last element"), (4, "the last 3 elements")])
def test_elements_that_the_statistics_leave_out(kept, words, whole):
    found = nv.check(lambda x: without_tail(x, kept, whole), X, "LayerNorm(7)")
    assert sentences(found) == [f"Its statistics leave out {words} of each group."]


@pytest.mark.parametrize("axes", [(), (-1,)])
def test_an_eps_that_grows_with_x(axes):
    def fn(x):
        small = x / (x.abs().amax(axes, keepdim=True) if axes else x.abs().amax())
        return small / (small.square().mean(-1, keepdim=True) + 1e-5).sqrt()

    found = nv.check(fn, X, "RMSNorm(7, eps=1e-5)")
    assert sentences(found) == ["Its eps grows with x: it is multiplied by the square of the largest |x|."]


# Several differences at once


def layer(x, divisor=0, eps=1e-5, outside=False, center=True):
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean).square().sum(-1, keepdim=True)) / (x.shape[-1] - divisor)
    return (x - mean if center else x) / (var.sqrt() + eps if outside else (var + eps).sqrt())


SEVERAL = [
    (lambda x, g, b: 3 * layer(x, divisor=1), ["variance", "gamma", "beta"]),
    (lambda x, g, b: layer(x, divisor=1, eps=1e-3) * g + b, ["variance", "eps"]),
    (lambda x, g, b: layer(x, divisor=1, eps=1e-6, outside=True) * g + b, ["variance", "eps_placement", "eps"]),
    (lambda x, g, b: layer(x, center=False) * (1 + g) - b, ["center", "gamma", "beta"]),
    (lambda x, g, b: layer(x.T, divisor=1).T * g + b, ["statistics", "variance"]),
    (lambda x, g, b: layer(x.T).T * g.exp() + b, ["statistics", "gamma"]),
    (lambda x, g, b: 2 * (layer(x, eps=0.0) * g + b), ["eps", "gamma", "beta"]),
]


@pytest.mark.parametrize(("fn", "wanted"), SEVERAL)
def test_several_differences_are_told_together(fn, wanted):
    params = {"gamma": torch.ones(7), "beta": torch.zeros(7)}
    found = nv.check(lambda x, gamma, beta: fn(x, gamma, beta), X, "LayerNorm(7)", params=params)
    assert whats(found) == wanted


STYLE = torch.randn(2, 4, 1, 1, generator=torch.Generator().manual_seed(3)).abs() + 0.5


def test_m_minus_1_beside_a_factor_is_no_other_eps():
    def adain(x):
        return STYLE * (x - x.mean((2, 3), keepdim=True)) / (x.var((2, 3), keepdim=True) + 1e-5).sqrt() + STYLE

    assert whats(nv.check(adain, (2, 4, 3, 5), "InstanceNorm2d(4)")) == ["variance", "factor", "offset"]
    assert sentences(nv.check(lambda x: 2 * layer(x, divisor=1), X, "LayerNorm(7, elementwise_affine=False)")) == [
        "It divides the sum of squares by m - 1, not m, the size of a group.",
        "It multiplies by 2, which is no parameter.",
    ]


# No reason is invented


def test_without_a_reason_the_text_says_by_how_much_and_where():
    found = nv.check(lambda x: F.layer_norm(x, (7,)) + 0.1 * x.sin(), X, "LayerNorm(7)")
    wanted = F.layer_norm(X, (7,))
    error = 0.1 * X.sin()
    at = [int(i) for i in torch.unravel_index(error.abs().argmax(), X.shape)]
    own, right = (float(one[tuple(at)]) for one in (wanted + error, wanted))
    assert sentences(found)[0].endswith(
        f"Its output differs from that of LayerNorm(7) by up to {float(error.abs().max()):.3g}: at {at} it is {own:.4g}, and it must be {right:.4g}."
    )


def without_the_last(y):
    return torch.cat([y.flatten()[:-1], torch.zeros(1, dtype=y.dtype)]).reshape(y.shape)


NOT_COMPUTED = [
    (lambda y, x: without_the_last(y), ["1 of its outputs is 0 for every x: that at [3, 11]."]),
    (lambda y, x: torch.cat([y[:, :-1], 0 * y[:, -1:]], 1), ["4 of its outputs are 0 for every x: the first is at [0, 11]."]),
    (lambda y, x: torch.cat([y[:-1], x[-1:]]), ["It returns 12 elements of x as they are: the first is at [3, 0]."]),
    (lambda y, x: 2 * without_the_last(y), ["1 of its outputs is 0 for every x: that at [3, 11].", "It multiplies by 2*gamma, not by gamma."]),
]  # fmt: skip


@pytest.mark.parametrize(("change", "told"), NOT_COMPUTED)
def test_outputs_that_are_not_computed(change, told):
    def fn(x, gamma):
        return change(F.layer_norm(x, (12,)) * gamma, x)

    found = nv.check(fn, (4, 12), "LayerNorm(12, bias=False)", params={"gamma": torch.rand(12) + 0.5})
    assert [one.sentence for one in found.differences] == told


def test_gamma_and_beta_in_another_order():
    def fn(x, gamma, beta):
        return F.layer_norm(x, (12,), gamma.flip(0), beta.roll(1))

    params = {"gamma": torch.rand(12) + 0.5, "beta": torch.rand(12)}
    told = ["It uses gamma in another order.", "It uses beta in another order."]
    assert [one.sentence for one in nv.check(fn, (4, 12), "LayerNorm(12)", params=params).differences] == told


@pytest.mark.parametrize(
    ("by", "told"),
    [
        (torch.tensor(1.7), "It multiplies by 0.588*gamma, not by gamma."),
        (torch.tensor([1.0, 2.0, 3.0, 4.0]), "It uses gamma, but not as one factor."),
    ],
)
@pytest.mark.parametrize(("like", "shape", "over"), [("LayerNorm(4)", (6, 4), 1), ("BatchNorm1d(4)", (6, 4), 0)])
def test_other_numbers_than_statistics_divide(by, told, like, shape, over):
    """Any constant is as good as the sum of deviations, which is 0, with its eps; gamma is in its place."""

    def fn(x, weight, bias):
        return (x - x.mean(over, keepdim=True)) / by * weight + bias

    params = {"weight": torch.rand(4) + 0.5, "bias": torch.rand(4)}
    found = nv.check(fn, shape, like, params=params)
    none = "It subtracts the mean, and does not divide by the standard deviation."
    assert [one.sentence for one in found.differences] == [none, told]


def test_no_eps_is_told_that_an_unknown_use_of_gamma_may_explain():
    def fn(x, gamma):
        return (x - x.mean(-1, keepdim=True)) / (4 * x.var(-1, keepdim=True, correction=0) + 1e-5).sqrt() * gamma.tanh()

    found = nv.check(fn, (4, 12), "LayerNorm(12, bias=False)", params={"gamma": torch.rand(12) + 0.5})
    assert "eps" not in [one.what for one in found.differences]


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
@pytest.mark.parametrize(("how", "told"), [(torch.sum, "It sums squares"), (torch.mean, "It squares")])
def test_squares_that_are_too_large_for_float16(dtype, how, told):
    def fn(x):
        square = how(x.half().square(), -1, keepdim=True).float()
        return (x.float() * (square / (64 if how is torch.sum else 1) + 1e-6).rsqrt()).to(x.dtype)

    found = nv.check(fn, (60 * torch.randn(4, 64)).to(dtype), "RMSNorm(64, eps=1e-6, elementwise_affine=False)")
    assert [one.what for one in found.differences] == ["precision"]
    assert str(found).startswith(
        f"{told} in float16, whose largest number is 65504: its output is nearly that of RMSNorm(64, "
    )


def test_thousands_of_variants_are_refuted_together(monkeypatch):
    one_by_one = []
    use = reasons._use
    monkeypatch.setattr(reasons, "_use", lambda *given: one_by_one.append(given) or use(*given))
    nv.check(torch.sigmoid, torch.randn(3, 4, 5), like="LayerNorm([5])")  # no variant is right
    own = nn.LayerNorm(5)
    found = nv.check(own, torch.randn(2, 4, 3, 5), like="InstanceNorm2d(4, affine=True)")
    assert "averages over W" in found.text
    assert 0 < len(one_by_one) < 20
