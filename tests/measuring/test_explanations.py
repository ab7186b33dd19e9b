"""The sentences of ``check`` are true: nothing is named that is not there, and a number is one of the function."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv

SEQUENCE, TABLE, SIZES = (3, 4, 5), (4, 6), (2, 6, 3, 5)
ROWS = torch.arange(1.0, 5)[:, None]
AFFINE = {"gamma": torch.ones(6), "beta": torch.zeros(6)}


def whats(found):
    return [one.what for one in found.differences]


def rows(x):
    return F.layer_norm(x, (6,))


# No statistics at all


class Unused(nn.BatchNorm1d):
    """Has running statistics, and does not use them."""

    def forward(self, x):
        return x * self.weight[:, None] + 0.5


class Scale(nn.BatchNorm1d):
    """Multiplies by gamma and adds beta."""

    def __init__(self):
        super().__init__(4)
        nn.init.constant_(self.weight, 2)

    def forward(self, x):
        return x * self.weight[:, None] + self.bias[:, None]


class Masked(nn.Module):
    """Multiplies by a buffer and adds another."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.tensor([1.0, 0, 1, 1])[:, None])
        self.register_buffer("position", torch.arange(5.0))

    def forward(self, x):
        return x * self.mask + self.position


@pytest.mark.parametrize("like", ["LayerNorm(5)", "BatchNorm1d(4)", "BatchNorm1d(4).eval()", None])
@pytest.mark.parametrize(
    "fn",
    [lambda x: 2 * x + 1, nn.Conv1d(4, 4, 1, groups=4), Unused(4), Scale(), Masked()],
    ids=["numbers", "convolution", "unused", "scale", "masked"],
)
def test_without_statistics_it_is_no_normalization(fn, like):
    found = nv.check(fn, SEQUENCE, like)
    assert whats(found) == ["not_normalization"]
    assert "It uses no statistics: each output is a*x + b." in str(found)


MEAN, DEVIATION = np.arange(6.0), np.arange(1.0, 7)
STORED = {"running_mean": np.arange(6.0), "running_var": np.arange(1.0, 7)}


def stored(x, running_mean, running_var):
    return (x - running_mean) / np.sqrt(running_var + 1e-5)


USES_STORED = {
    "arrays that it refers to": (lambda x: (x - MEAN) / DEVIATION, {}),
    "arguments": (stored, STORED),
    "a dictionary": (lambda x, bn: stored(x, bn["running_mean"], bn["running_var"]), {"bn": STORED}),
}


@pytest.mark.parametrize("case", USES_STORED)
def test_stored_statistics_may_be_arrays_and_arguments(case):
    fn, params = USES_STORED[case]
    x = np.random.default_rng(0).normal(size=TABLE)
    assert whats(nv.check(fn, x, like="BatchNorm1d(6)", params=params)) == ["training"]
    assert nv.check(fn, x, like="BatchNorm1d(6).eval()", params=params)


def test_stored_statistics_in_arguments_are_compared():
    def no_root(x, running_mean, running_var):
        return (x - running_mean) / (running_var + 1e-5)

    found = nv.check(no_root, TABLE, like="BatchNorm1d(6).eval()", params=STORED)
    assert [(one.what, "root" in one.sentence) for one in found.differences] == [("variance", True)]


def test_stored_statistics_without_a_name_are_not_compared_and_the_text_says_so():
    found = nv.check(lambda x: (x - MEAN) / DEVIATION, np.ones(TABLE), like="BatchNorm1d(6).eval()")
    assert found.notes == ("Its stored statistics are not compared: none are named running_mean and running_var.",)


# Parameters along parts of an axis


@pytest.mark.parametrize(
    ("spread", "words"),
    [
        (lambda gamma: gamma.repeat(2), "one gamma for indices of D that are 3 apart; LayerNorm(6) has one for each index of D."),
        (lambda gamma: gamma.repeat_interleave(2), "one gamma for groups of 2 neighbors along D; LayerNorm(6) has one for each index of D."),
    ],
    ids=["repeated", "interleaved"],
)  # fmt: skip
def test_the_text_says_along_which_part_of_an_axis_a_gamma_is_shared(spread, words):
    found = nv.check(
        lambda x, gamma: rows(x) * spread(gamma), TABLE, like="LayerNorm(6)", params={"gamma": torch.ones(3)}
    )
    assert whats(found) == ["parameters"]
    assert words in str(found)


# Constants are no parameters


@pytest.mark.parametrize(
    ("fn", "like", "differs"),
    [
        (lambda x: rows(x) * ROWS, "LayerNorm(6)", ["factor"]),
        (lambda x: rows(x) + ROWS, "LayerNorm(6)", ["offset"]),
        (lambda x: rows(x) * ROWS - ROWS, "LayerNorm(6)", ["factor", "offset"]),
        (lambda x: rows(x) + ROWS, "LayerNorm(6, bias=False)", ["offset"]),
        (lambda x: rows(x) * ROWS, "LayerNorm(6, elementwise_affine=False)", ["factor"]),
        (lambda x: rows(x) + torch.arange(6.0), "LayerNorm(6, bias=False)", ["beta"]),
    ],
)
def test_constants_are_no_parameters(fn, like, differs):
    assert whats(nv.check(fn, TABLE, like)) == differs


# Numbers


@pytest.mark.parametrize(
    ("use", "difference"),
    [
        (lambda y, g, b: y * g / g.mean() + b, ("gamma", "It uses gamma, but not as one factor.")),
        (lambda y, g, b: y * g + b - b.mean(), ("beta", "It uses beta, but not as one added term.")),
        (lambda y, g, b: y * g + b / (1 + b.norm()), ("beta", "It uses beta, but not as one added term.")),
        (lambda y, g, b: y * g * 3 + b, ("gamma", "It multiplies by 3*gamma, not by gamma.")),
        (lambda y, g, b: y * g + b + 0.5, ("offset", "It adds 0.5, which is no parameter.")),
        (lambda y, g, b: y * g + b * 2, ("beta", "It adds 2*beta, not beta.")),
    ],
)
def test_a_number_in_a_sentence_is_one_of_the_function(use, difference):
    found = nv.check(lambda x, gamma, beta: use(rows(x), gamma, beta), TABLE, like="LayerNorm(6)", params=AFFINE)
    assert [(one.what, one.sentence) for one in found.differences] == [difference]


def test_an_eps_that_multiplies_the_variance_is_one_difference():
    def fn(x, gamma, beta):
        mean, var = x.mean(-1, keepdim=True), x.var(-1, unbiased=False, keepdim=True)
        return (x - mean) / (var + 1e-3 * var).sqrt() * gamma + beta

    assert whats(nv.check(fn, TABLE, like="LayerNorm(6, eps=1e-3)", params=AFFINE)) == ["eps_placement"]


# Modes


class JustUpdated(nn.BatchNorm1d):
    """Normalizes by the running statistics that it has just updated."""

    def forward(self, x):
        if self.training:
            with torch.no_grad():
                self.running_mean = 0.9 * self.running_mean + 0.1 * x.mean(0)
                self.running_var = 0.9 * self.running_var + 0.1 * x.var(0)
        return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias)


def test_running_statistics_that_were_just_updated_are_named():
    found = nv.check(JustUpdated(6), TABLE, like="BatchNorm1d(6)")
    assert whats(found) == ["training"]
    assert "uses its running statistics, which it has just updated" in str(found)


def test_a_running_variance_begins_with_1():
    module = nn.BatchNorm1d(6)
    module.running_var.zero_()
    found = nv.check(module, TABLE, like="BatchNorm1d(6)")
    assert whats(found) == ["running"]
    assert "Its running_var begins with 0; torch begins with 1." in str(found)


class WithoutGradient(nn.Module):
    """A layer without a gradient of x in one of the modes."""

    def __init__(self, layer, mode):
        super().__init__()
        self.layer, self.mode = layer, mode

    def forward(self, x):
        output = self.layer(x)
        return output.detach() + 0 * x if self.training == self.mode else output


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("layer", [nn.LayerNorm(6), nn.BatchNorm1d(6)], ids=str)
def test_gradients_are_compared_in_both_modes(layer, training):
    like = str(nv.Layer.of(layer.train(training)))
    assert nv.check(WithoutGradient(layer, None).train(training), TABLE, like)
    found = nv.check(WithoutGradient(layer, not training).train(training), TABLE, like)
    assert whats(found) == ["backward"]
    assert f"This is the gradient in {'eval' if training else 'train'} mode." in str(found)
    assert nv.check(WithoutGradient(layer, not training).train(training), TABLE, like, backward=False)


# Parameters in other places

PLACES = {
    "a list": ([torch.ones(6), torch.zeros(6)], lambda p: p),
    "a tuple": ((torch.ones(6), torch.zeros(6)), lambda p: p),
    "arrays in a list": ([np.ones(6, np.float32), np.zeros(6, np.float32)], lambda p: p),
    "a dictionary in a dictionary": ({"layer": {"weight": torch.ones(6), "bias": torch.zeros(6)}}, lambda p: (p["layer"]["weight"], p["layer"]["bias"])),
    "numbers": ({"gamma": 1, "beta": 0.5}, lambda p: (p["gamma"], p["beta"])),
}  # fmt: skip


UNNAMED = ("a list", "a tuple", "arrays in a list")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("use", "differs"),
    [
        (lambda y, g, b: y * g + b, []),
        (lambda y, g, b: y * g**2 - b, ["gamma", "beta"]),
        (lambda y, g, b: y + b, ["gamma"]),
        (lambda y, g, b: y * b + g, ["gamma", "beta"]),
    ],
    ids=["right", "squared and negated", "unused", "exchanged"],
)
def test_gamma_and_beta_may_be_in_containers_and_numbers(place, use, differs):
    params, of = PLACES[place]
    found = nv.check(lambda x, p: use(rows(x), *of(p)), TABLE, like="LayerNorm(6)", params={"p": params})
    # Without names, an exchanged gamma and beta are the other way round.
    assert whats(found) == ([] if place in UNNAMED and use(1, 2, 3) == 5 else differs)


@pytest.mark.parametrize("value", [1, 2.0])
def test_gamma_and_beta_may_be_numbers(value):
    def check(use):
        params = {"gamma": value, "beta": 0}
        return nv.check(lambda x, gamma, beta: use(rows(x), gamma, beta), TABLE, like="LayerNorm(6)", params=params)

    assert check(lambda y, g, b: y * g + b)
    assert whats(check(lambda y, g, b: y * g**2 - b)) == ["gamma", "beta"]
    assert whats(nv.check(lambda x, gamma: F.layer_norm(x, (6,), eps=1e-3) * gamma, TABLE, like="LayerNorm(6, bias=False)", params={"gamma": value})) == ["eps"]  # fmt: skip


@pytest.mark.parametrize(
    ("like", "differs"), [("LayerNorm(6, elementwise_affine=False)", ["factor", "offset"]), ("LayerNorm(6)", [])]
)
def test_numbers_that_the_layer_does_not_have_are_constants(like, differs):
    def fn(x, gamma, beta):
        return rows(x) * gamma + beta

    assert nv.check(fn, TABLE, like, params={"gamma": 1.0, "beta": 0.0})
    assert whats(nv.check(fn, TABLE, like, params={"gamma": 2.0, "beta": 3.0})) == differs


def arrays_only(x, gamma=1.0):
    centered = x - x.mean(-1, keepdims=True)
    return (
        centered / (centered.astype(x.dtype) ** 2).mean(-1, keepdims=True).__add__(1e-5).astype(x.dtype) ** 0.5 * gamma
    )


def test_a_function_of_arrays_that_raises_for_a_tensor_gets_arrays():
    for x in (torch.randn(TABLE), TABLE):
        found = nv.check(arrays_only, x, like="LayerNorm(6)", params={"gamma": np.ones(6, np.float32)})
        assert found, found
        assert "was called with NumPy arrays" in str(found)
    with pytest.raises(nv.NormvizError, match="AttributeError: 'Tensor' object has no attribute 'astype'"):
        nv.check(lambda x: x.astype(float).missing, torch.randn(TABLE), like="LayerNorm(6)")


# Stored statistics of 0 and 1 hide how they are used

FRESH = {"gamma": np.ones(6), "beta": np.zeros(6), "bn": {"running_mean": np.zeros(6), "running_var": np.ones(6)}}


@pytest.mark.parametrize(
    ("use", "differs"),
    [
        (lambda x, m, v: (x - m) / np.sqrt(v + 1e-5), []),
        (lambda x, m, v: x / np.sqrt(v + 1e-5), ["center"]),
        (lambda x, m, v: (x - m) / np.sqrt(v), ["eps"]),
        (lambda x, m, v: (x - m) / (v + 1e-5), ["variance"]),
    ],
    ids=["right", "no mean", "no eps", "no root"],
)
def test_other_stored_statistics_are_tried(use, differs):
    def fn(x, gamma, beta, bn):
        return use(x, bn["running_mean"], bn["running_var"]) * gamma + beta

    assert whats(nv.check(fn, TABLE, like="BatchNorm1d(6).eval()", params=FRESH)) == differs


# Small and odd


def test_a_factor_close_to_1_is_named():
    found = nv.check(lambda x: rows(x) * 1.0001, TABLE, like="LayerNorm(6)")
    assert [(one.what, one.sentence) for one in found.differences] == [
        ("factor", "It multiplies by 1.0001, which is no parameter.")
    ]


def test_a_small_number_in_the_numerator_is_no_other_denominator():
    def fn(x):
        mean, var = x.mean(-1, keepdim=True), x.var(-1, unbiased=False, keepdim=True)
        return (x - mean + 1e-5) / (var + 1e-5).sqrt()

    found = nv.check(fn, TABLE, like="LayerNorm(6)")
    assert found.differences
    assert "divides by another number" not in str(found)


def in_blocks(x, dim, size, normalized):
    return torch.cat([normalized(one) for one in x.split(size, dim)], dim)


def test_a_larger_size_is_tried_too():
    found = nv.check(
        lambda x: in_blocks(x, -1, 64, lambda one: F.layer_norm(one, one.shape[-1:])),
        (2, 64),
        like=nv.Norm("n d -> n", None),
    )
    assert whats(found) == ["sizes"]
    assert "It is right on (2, 64), but not on (2, 65)" in str(found)


FIXED_MEAN = "For the mean, it divides the sum by 12, not by m = 13, the size of a group."
FIXED_SQUARES = "It divides the sum of squares by 12, not by m = 13, the size of a group."
FIXED = {
    "mean": (lambda x, m: (x.sum(-1, keepdim=True) / 12, x.var(-1, keepdim=True, correction=0)), [FIXED_MEAN]),
    "both": (lambda x, m: ((mean := x.sum(-1, keepdim=True) / 12), (x - mean).square().sum(-1, keepdim=True) / 12), [FIXED_MEAN, FIXED_SQUARES]),
    "squares": (lambda x, m: (x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0) * m / 12), [FIXED_SQUARES]),
    "a root of m": (lambda x, m: (x.mean(-1, keepdim=True) * (m / 12) ** 0.5, x.var(-1, keepdim=True, correction=0)), []),
}  # fmt: skip


@pytest.mark.parametrize("name", FIXED)
def test_a_size_that_is_written_into_the_code(name):
    statistics, wanted = FIXED[name]

    def own(x, weight, bias):
        mean, var = statistics(x, x.shape[-1])
        return (x - mean) / (var + 1e-5).sqrt() * weight + bias

    found = nv.check(own, (4, 12), "LayerNorm(12)", params={"weight": torch.ones(12), "bias": torch.zeros(12)})
    assert whats(found)[0] == "sizes"
    assert [one.sentence for one in found.differences[1:]] == wanted


@pytest.mark.parametrize("axis", [0, 2, 3])
def test_another_size_of_each_free_axis_is_tried(axis):
    def fn(x):
        return F.instance_norm(x, eps=1e-5 if x.shape[axis] == SIZES[axis] else 1e-2)

    assert whats(nv.check(fn, SIZES, like="InstanceNorm2d(6)")) == ["sizes", "eps"]


def test_an_axis_that_the_function_fixes_keeps_its_size():
    def fn(x):
        assert x.shape[2:] == SIZES[2:]
        return F.instance_norm(x, eps=1e-5 if len(x) == 2 else 1e-2)

    assert whats(nv.check(fn, SIZES, like="InstanceNorm2d(6)")) == ["sizes", "eps"]


def test_a_difference_on_another_shape_names_the_shape():
    def rest_is_zero(x):
        return torch.cat([rows(x[:4]), 0 * x[4:]])

    found = nv.check(rest_is_zero, TABLE, like="LayerNorm(6)")
    assert whats(found) == ["sizes"]
    assert "It is right on (4, 6), but not on (7, 6)" in str(found)
    found = nv.check(lambda x: F.layer_norm(x, (6,), eps=1e-5 if len(x) == 4 else 1e-2), TABLE, like="LayerNorm(6)")
    assert whats(found) == ["sizes", "eps"]


def test_what_differs_for_more_rows_has_its_reason():
    """Blocks of rows that share statistics, and large values, which more rows have."""

    def blocks(x):
        return rows(x) if len(x) < 8 else in_blocks(x, 0, 4, lambda one: F.layer_norm(one, one.shape))

    told = str(nv.check(blocks, TABLE, like="LayerNorm(6)"))
    assert "Your function averages over D and groups of 4 neighbors along N." in told
    x = torch.randn(TABLE, generator=torch.Generator().manual_seed(0)).clamp(-2, 2)
    told = str(nv.check(lambda x: rows(x.clamp(-2.6, 2.6)), x, like="LayerNorm(6)"))
    assert "It clips x to the range from -2.6 to 2.6 before it normalizes." in told


class Given(nn.Module):
    """A LayerNorm whose gamma, beta and eps are arguments."""

    def forward(self, x, gamma, beta, eps=1e-3):
        return F.layer_norm(x, (6,), gamma, beta, eps)


@pytest.mark.parametrize("training", [True, False])
def test_a_module_gets_its_further_arguments_in_both_modes(training):
    module = Given().train(training)
    assert nv.check(module, TABLE, like="LayerNorm(6)", params=AFFINE | {"eps": 1e-5})
    assert whats(nv.check(module, TABLE, like="LayerNorm(6)", params=AFFINE)) == ["eps"]


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
@pytest.mark.parametrize("layer", [nn.LayerNorm(6), nn.BatchNorm1d(6)], ids=str)
def test_a_scripted_module_is_judged_in_both_modes(layer):
    assert nv.check(torch.jit.script(layer), TABLE, like=str(nv.Layer.of(layer)))


# A function that is no normalization need not average


@pytest.mark.parametrize("like", [None, "BatchNorm1d(6)"])
def test_a_softmax_works_over_an_axis_and_averages_nothing(like):
    assert "Your function works over D." in str(nv.check(lambda x: x.softmax(-1), TABLE, like))
    assert "Your function averages over D" in str(nv.check(rows, TABLE, like))


def test_without_a_number_eps_is_that_of_the_dtype_of_x():
    found = nv.check(nn.RMSNorm(6), TABLE, "RMSNorm(6, eps=1e-5)")
    assert str(found) == "Its eps is 1.19209e-07, not 1e-05."
