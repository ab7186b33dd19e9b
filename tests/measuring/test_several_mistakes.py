"""Mistakes that an attack found (``bench/mutations.py``): two at once, with another function after them, and elements that are left out."""

import pytest
import torch
import torch.nn.functional as F

import normviz as nv
from bench import mutations
from tests.support.needs import needs_rms_norm

X = torch.randn(4, 12, generator=torch.Generator().manual_seed(2))


def layer_norm(x, weight, bias, center=1.0, eps=1e-5, correction=0, after=lambda y: y):
    mean = x.mean(-1, keepdim=True)
    root = (x.var(-1, keepdim=True, correction=correction) + eps).sqrt()
    return after((x - center * mean) / root * weight + bias)


def with_mean(x, weight, bias, mean, var):
    return (x - mean) / (var + 1e-5).sqrt() * weight + bias


def half(value, dtype=torch.float16):
    return value.to(dtype).to(value.dtype)


CASES = {
    "normalized twice": (
        lambda x, g, b: layer_norm(layer_norm(x, 1, 0), g, b),
        ["It normalizes twice: its output is that of the normalized x, normalized again."],
    ),
    "two layers of another eps": (
        lambda x, g, b: layer_norm(layer_norm(x, 1, 0, eps=1e-6), g, b, eps=1e-6),
        ["It normalizes twice, with an eps of 1e-06, not 1e-05."],
    ),
    "their square is no second normalization": (lambda x, g, b: layer_norm(x, g, b, eps=1e-12), ["Its eps is 1e-12, not 1e-05."]),
    "the whole layer twice": (
        lambda x, g, b: layer_norm(layer_norm(x, g, b), g, b),
        ["It applies the whole layer twice: its output is that of its own output."],
    ),
    "eps^2 is no second normalization": (lambda x, g, b: layer_norm(x, g, b, eps=1e-10), ["Its eps is 1e-10, not 1e-05."]),
    "x clipped before": (
        lambda x, g, b: layer_norm(x.clamp(-0.5, 1), g, b),
        ["It clips x to the range from -0.5 to 1 before it normalizes."],
    ),
    "ReLU before": (lambda x, g, b: layer_norm(x.relu(), g, b), ["It clips x to the range from 0 to inf before it normalizes."]),
    "0.9 of the mean": (lambda x, g, b: layer_norm(x, g, b, center=0.9), ["It subtracts 0.9 times the mean."]),
    "twice the mean, another eps": (
        lambda x, g, b: layer_norm(x, g, b, center=2, eps=1e-4),
        ["It subtracts twice the mean.", "Its eps is 0.0001, not 1e-05."],
    ),
    "the mean of a block of 16": (
        lambda x, g, b: with_mean(x, g, b, m := x.sum(-1, keepdim=True) / 16, (x - m).square().mean(-1, keepdim=True)),
        ["It subtracts 0.75 times the mean."],
    ),
    "eps added to the sum": (
        lambda x, g, b: layer_norm(x, g, b, eps=1e-5 / 12),
        ["Its eps is 8.33333e-07, not 1e-05."],
    ),
    "m - 1, and a negative output": (
        lambda x, g, b: -layer_norm(x, g, b, correction=1),
        [
            "It divides the sum of squares by m - 1, not m, the size of a group.",
            "It multiplies by -gamma, not by gamma.",
            "It subtracts beta instead of adding it.",
        ],
    ),
    "a sum that is not divided by m, and -gamma": (
        lambda x, g, b: with_mean(x, -g, b, m := x.mean(-1, keepdim=True), (x - m).square().sum(-1, keepdim=True)),
        ["It does not divide the sum of squares by m, the size of a group.", "It multiplies by -gamma, not by gamma."],
    ),
    "a sum that is not divided by m, and 1 + gamma": (
        lambda x, g, b: with_mean(x, 1 + g, b, m := x.mean(-1, keepdim=True), (x - m).square().sum(-1, keepdim=True)),
        ["It does not divide the sum of squares by m, the size of a group.", "It multiplies by 1 + gamma, not by gamma."],
    ),
    "eps divided by m, and twice gamma": (
        lambda x, g, b: layer_norm(x, 2 * g, b, eps=1e-5 / 12),
        ["Its eps is 8.33333e-07, not 1e-05.", "It multiplies by 2*gamma, not by gamma."],
    ),
    "half the absolute value of gamma": (
        lambda x, g, b: layer_norm(x, g.abs() / 2, b),
        ["It multiplies by the absolute value of gamma. It multiplies by 0.5, which is no parameter."],
    ),
    "x in bfloat16, no beta": (
        lambda x, g, b: layer_norm(half(x, torch.bfloat16), g, 0 * b),
        ["It rounds to bfloat16 on the way. Compute in float32.", "It does not use beta."],
    ),
    "the root in float16, another eps": (
        lambda x, g, b: (x - x.mean(-1, keepdim=True)) / half((x.var(-1, keepdim=True, correction=0) + 1e-3).sqrt()) * g + b,
        ["Its eps is 0.001, not 1e-05.", "It rounds to float16 on the way. Compute in float32."],
    ),
    "the last element is not in the mean": (
        lambda x, g, b: with_mean(x, g, b, m := x[..., :-1].mean(-1, keepdim=True), (x - m).square().mean(-1, keepdim=True)),
        ["Its mean leaves out the last element of each group."],
    ),
    "the last element is not in the mean that is subtracted": (
        lambda x, g, b: with_mean(x, g, b, x[..., :-1].mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)),
        ["Its mean leaves out the last element of each group."],
    ),
    "the last two elements are not in the variance": (
        lambda x, g, b: with_mean(x, g, b, m := x.mean(-1, keepdim=True), (x - m)[..., :-2].square().mean(-1, keepdim=True)),
        ["Its variance leaves out the last 2 elements of each group."],
    ),
    "ReLU, and a missing gamma": (
        lambda x, g, b: layer_norm(x, 1 + 0 * g, b, after=torch.relu),
        ["It does not use gamma.", "It replaces negative outputs with 0, as ReLU does."],
    ),
    "tanh, and another eps": (
        lambda x, g, b: layer_norm(x, g, b, eps=1e-3, after=torch.tanh),
        ["Its eps is 0.001, not 1e-05.", "It applies tanh to its output."],
    ),
    "x is added": (lambda x, g, b: layer_norm(x, g, b) + x, ["It adds x to its output."]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_is_told_is_what_was_changed(name):
    fn, wanted = CASES[name]

    def own(x, weight, bias):
        return fn(x, weight, bias)

    found = nv.check(
        own, X, "LayerNorm(12)", backward=False, params={"weight": torch.ones(12), "bias": torch.zeros(12)}
    )
    assert [one.sentence for one in found.differences] == wanted


def rms(x, weight, squares):
    return x * (squares + 1e-5).rsqrt() * weight


SQUARES = {
    "first": (lambda x: x[..., 1:].square().mean(-1, keepdim=True), "Its statistics leave out the first element of each group."),
    "axis and number": (lambda x: x.square().sum(0, keepdim=True) / 12, "It divides the sum of squares by 12, not by m = 4, the size of a group."),
}  # fmt: skip


@pytest.mark.parametrize("name", SQUARES)
def test_a_mean_square_of_other_elements(name):
    squares, sentence = SQUARES[name]

    def own(x, weight):
        return rms(x, weight, squares(x))

    found = nv.check(own, X, "RMSNorm(12, eps=1e-5)", backward=False, params={"weight": torch.ones(12)})
    assert sentence in [one.sentence for one in found.differences]
    assert not any(one.what in ("eps", "gamma", "factor") for one in found.differences)


def test_groups_without_axes_have_no_last_element():
    """Rows that are groups beside elements that are none."""

    def own(x, weight, bias):
        return torch.cat([layer_norm(x[:1], weight, bias), x[1:]])

    params = {"weight": torch.ones(12), "bias": torch.zeros(12)}
    assert not nv.check(own, X, "LayerNorm(12)", params=params)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_all_steps_before_gamma_in_16_bits(dtype):
    """A small normalized value is a difference of an output and beta, whose rounding hides that it has 16 bits."""

    def own(x, weight, bias):
        x = x.to(dtype)
        mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
        return ((x - mean) / (var + 1e-5).sqrt() * weight + bias).float()

    random = torch.Generator().manual_seed(0)
    params = {name: torch.rand(12, generator=random) + 0.5 for name in ("weight", "bias")}
    found = nv.check(own, X, "LayerNorm(12)", params=params)
    assert [one.what for one in found.differences] == ["precision"]
    assert f"It rounds to {str(dtype).removeprefix('torch.')} on the way" in str(found)


def test_an_output_in_bfloat16_is_not_called_float16():
    """Nearly every number of bfloat16 is one of float16."""

    def own(x):
        return half(F.layer_norm(x, (12,)), torch.bfloat16)

    found = nv.check(own, X, "LayerNorm(12, elementwise_affine=False)")
    assert "It rounds to bfloat16 on the way" in str(found)


@needs_rms_norm
def test_a_small_attack():
    """No wrong pass, no false accusation, no false reason."""
    several = [*mutations.cases(12, 5, seed=5)]
    assert sum(bool(one.told) for one in several) == 12
    kinds = [mutations.judged(one).kind for one in several if mutations.is_as_intended(one)]
    assert len(kinds) > 12
    assert {*kinds} <= {"right", "told later", "hidden reason", "no reason"}


def test_the_attack_sees_a_false_reason_and_a_false_accusation():
    case = next(one for one in mutations.cases(4, 0) if one.told)
    assert mutations.judged(case).kind != "false reason"
    assert mutations.judged(mutations.Case(case.implementation, ("something else",))).kind == "false reason"
    assert mutations.judged(mutations.Case(case.implementation)).kind == "false accusation"
    right = next(one for one in mutations.cases(0, 1))
    assert mutations.judged(mutations.Case(right.implementation, ("eps",))).kind == "wrong pass"
