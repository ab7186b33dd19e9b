"""Mistakes that the table of mutations does not have: in constants, in stored statistics, and in layers with 1 + gamma."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv
from normviz.analysis.description import describe
from normviz.layers.norm import Norm
from normviz.measuring.formula import Groups
from normviz.measuring.reasons import CENTERS, _with_other_axes
from tests.measuring.implementations import OnePlus, rms_norm

X = torch.randn(4, 5, generator=torch.Generator().manual_seed(1))
CUBE = torch.randn(5, 5, 5, generator=torch.Generator().manual_seed(1))


def told(fn, like="LayerNorm(5)", x=X, **params):
    found = nv.check(fn, x, like, backward=False, params=params)
    return [(one.what, one.found, one.expected, one.sentence) for one in found.differences]


def centered(x):
    return x - x.mean(1, keepdim=True)


def deviation(x, correction=0):
    return (x.var(1, keepdim=True, correction=correction) + 1e-5).sqrt()


def around(x, center):
    return (x - center) / ((x - center).square().mean(1, keepdim=True) + 1e-5).sqrt()


def center(sentence):
    return [("center", "another number", "the mean is subtracted", sentence)]


ROOT = [
    (
        "variance",
        "the variance",
        "the root of the variance",
        "It divides by the variance, not by its root: the root is forgotten.",
    )
]
SQUARE = [
    (
        "variance",
        "deviations that are not squared",
        "the mean of squares",
        "It averages the deviations, not their squares: the square is forgotten.",
    )
]
UNBIASED = [("variance", "m - 1", "m", "It divides the sum of squares by m - 1, not m, the size of a group.")]
NO_EPS = [("eps", "0", "1e-05", "Its eps is 0, not 1e-05.")]
PRODUCT = [
    ("variance", "a product", "a quotient", "It multiplies by the standard deviation instead of dividing by it.")
]
NOTHING = [
    (
        "not_normalization",
        "another function",
        "a normalization",
        "It is not a normalization: no mean and variance, and no mean of squares, gives its output. Its groups are those of LayerNorm(5). Its output differs from that of LayerNorm(5) by up to 1.78: at [1, 1] it is 0.05849, and it must be -1.717.",
    )
]
FORMULAS = [
    (lambda x: (x - x.mean(1, keepdim=True) / 2) / deviation(x), center("It subtracts half the mean.")),
    (lambda x: (x - 2 * x.mean(1, keepdim=True)) / deviation(x, 1), center("It subtracts twice the mean.") + UNBIASED),
    (lambda x: (x - x.amax(1, keepdim=True)) / deviation(x), center("It subtracts the maximum, not the mean.")),
    (lambda x: (x - x.amin(1, keepdim=True)) / deviation(x, 1), center("It subtracts the minimum, not the mean.") + UNBIASED),
    (lambda x: around(x, -x.mean(1, keepdim=True)), center("It adds the mean instead of subtracting it.")),
    (lambda x: around(x, x.median(1, keepdim=True).values), center("It subtracts the median, not the mean.")),
    (lambda x: around(x, x.sum(1, keepdim=True)), center("It subtracts the sum, not the mean.")),
    (lambda x: around(x, x.abs().mean(1, keepdim=True)), center("It subtracts the mean of the absolute values, not the mean.")),
    (lambda x: around(x, x.var(1, keepdim=True, correction=0)), center("It subtracts the variance, not the mean.")),
    (lambda x: centered(x) / x.var(1, keepdim=True), UNBIASED + ROOT + NO_EPS),
    (lambda x: centered(x) / (x.var(1, keepdim=True) + 1e-5), UNBIASED + ROOT),
    (lambda x: centered(x) * deviation(x, 1), UNBIASED + PRODUCT),
    (lambda x: centered(x) / (x.abs().mean(1, keepdim=True) + 1e-5).sqrt(), SQUARE),
    (lambda x: centered(x) / (x.abs().mean(1, keepdim=True) + 1e-5), SQUARE),
    (lambda x: centered(x) / centered(x).abs().mean(1, keepdim=True), SQUARE + NO_EPS),
    (lambda x: x.softmax(1), NOTHING),
    (lambda x: 3 * centered(x) / deviation(x) + torch.arange(5.0), [("factor", "3", "1", "It multiplies by 3, which is no parameter."), ("offset", "another offset", "0", "It adds numbers that are no parameter of it.")]),
    (lambda x: centered(x) / x.std(1, keepdim=True, correction=0).clamp(min=0.2) + 1, [
        ("eps_placement", "as the smallest denominator", "inside the root", "It takes the maximum of the denominator and eps instead of adding eps to the variance."),
        ("eps", "0.2", "1e-05", "Its eps is 0.2, not 1e-05."), ("offset", "1", "0", "It adds 1, which is no parameter."),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "wanted"), FORMULAS)
def test_a_mistake_in_the_formula(fn, wanted):
    assert told(fn) == wanted


KEEPDIM = [("statistics", "statistics without keepdim", "statistics of each group", "Its statistics have no axis of size 1 where they average, so they are combined with the wrong elements of x: keepdim=True is forgotten (keepdims=True in NumPy).")]  # fmt: skip


def without(x, axes, mean, variance, eps=lambda variance: (variance + 1e-5).sqrt()):
    center = x.mean(axes, keepdim=mean)
    return (x - center) / eps(x.var(axes, correction=0, keepdim=variance))


FORGOTTEN = [
    (lambda x: without(x, 2, False, False), "LayerNorm(5)"),
    (lambda x: without(x, 2, True, False), "LayerNorm(5)"),
    (lambda x: without(x, 2, False, True), "LayerNorm(5)"),
    (lambda x: without(x, 2, False, False, lambda variance: variance.sqrt() + 1e-5), "LayerNorm(5)"),
    (lambda x: without(x, (0, 2), False, False), "BatchNorm1d(5)"),
    (lambda x: (x - x.mean(2)) / ((x - x.mean(2)).square().mean(2, keepdim=True) + 1e-5).sqrt(), "LayerNorm(5)"),
    (lambda x: (x - x.mean(2)) / ((x - x.mean(2)).square().mean(2) + 1e-5).sqrt(), "LayerNorm(5)"),
    (lambda x: x / (x.square().mean(2) + 1e-5).sqrt(), "RMSNorm(5, eps=1e-5)"),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "like"), FORGOTTEN)
def test_a_forgotten_keepdim(fn, like):
    assert told(fn, like, CUBE)[:1] == KEEPDIM


def test_eps_outside_the_root_beside_a_forgotten_keepdim():
    assert told(FORGOTTEN[3][0], FORGOTTEN[3][1], CUBE) == [*KEEPDIM, OUTSIDE]


OWN = [
    (lambda self, x: 2 * rms_norm(x, 1e-6) * (1 + self.weight), "another factor", "It multiplies by 2*(1 + gamma), not by (1 + gamma)."),
    (lambda self, x: 2 * rms_norm(x, 1e-6) * self.weight, "2*gamma", "It multiplies by 2*gamma, not by 1 + gamma."),
    (lambda self, x: -rms_norm(x, 1e-6) * self.weight, "-gamma", "It multiplies by -gamma, not by 1 + gamma."),
    (lambda self, x: rms_norm(x, 1e-6) * self.weight, "gamma", "It multiplies by gamma, not by 1 + gamma."),
    (lambda self, x: rms_norm(x, 1e-6), "another factor", "It does not use gamma."),
]  # fmt: skip


@pytest.mark.parametrize(("forward", "own", "sentence"), OWN)
def test_a_layer_with_1_plus_gamma(forward, own, sentence):
    module = type("Changed", (OnePlus,), {"forward": forward})(5)
    assert told(module, OnePlus(5)) == [("gamma", own, "1 + gamma", sentence)]


def norm(x):
    return F.layer_norm(x, (5,))


ORDER = "It uses gamma in another order."
GAMMA, BETA = torch.tensor([0.5, 0.7, 1.2, 1.4, 0.9]), torch.tensor([0.1, 0.9, 0.4, 0.3, 0.6])
NUMBERS = torch.tensor([1.0, -1.0, 2.0, 1.0, 3.0])
USES = [
    (lambda x, gamma, beta: norm(x) * (gamma - 1) + beta, [("gamma", "It multiplies by gamma - 1, not by gamma.")]),
    (lambda x, gamma, beta: norm(x) * gamma + beta - gamma, [("beta", "It adds beta - gamma, not beta.")]),
    (lambda x, gamma, beta: norm(x) * gamma + gamma + beta, [("beta", "It adds gamma + beta, not beta.")]),
    (lambda x, gamma, beta: norm(x) * gamma - 0.5 * beta, [("beta", "It adds -0.5*beta, not beta.")]),
    (lambda x, gamma, beta: norm(x) * beta - gamma, [("gamma", "It multiplies by beta, not by gamma."), ("beta", "It uses beta, but not as one added term.")]),
    (lambda x, gamma, beta: norm(x) * 2 * gamma.flip(0) - 3 * beta.flip(0), [("gamma", ORDER), ("gamma", "It multiplies by 2*gamma, not by gamma."), ("beta", "It uses beta in another order."), ("beta", "It adds -3*beta, not beta.")]),
    (lambda x, gamma, beta: norm(x) * (1 + gamma.roll(1)) - beta.flip(0), [("gamma", ORDER), ("gamma", "It multiplies by 1 + gamma, not by gamma."), ("beta", "It uses beta in another order."), ("beta", "It subtracts beta instead of adding it.")]),
    (lambda x, gamma, beta: norm(x) * 2 * beta.flip(0) + beta, [("gamma", "It does not use gamma.")]),
    (lambda x, gamma, beta: norm(x) * (1 + beta) + beta, [("gamma", "It does not use gamma.")]),
    (lambda x, gamma, beta: norm(x) * gamma + gamma.flip(0), [("beta", "It does not use beta.")]),
    (lambda x, gamma, beta: norm(x) * gamma.flip(0) * NUMBERS + beta, [("gamma", ORDER), ("factor", "It multiplies by numbers that are no parameter of it.")]),
    (lambda x, gamma, beta: norm(x) * (1 + gamma) * NUMBERS + beta, [("gamma", "It multiplies by 1 + gamma, not by gamma."), ("factor", "It multiplies by numbers that are no parameter of it.")]),
    (lambda x, gamma, beta: norm(x) * gamma + beta.flip(0) * NUMBERS, [("beta", "It uses beta in another order."), ("beta", "It uses beta, but not as one added term.")]),
    (lambda x, gamma, beta: norm(x) * gamma.flip(0) ** 2 + beta, [("gamma", "It uses gamma, but not as one factor.")]),
    (lambda x, gamma, beta: -0.5 * norm(x) * gamma + beta, [("gamma", "It multiplies by -0.5*gamma, not by gamma.")]),
    (lambda x, gamma, beta: 2 * (norm(x) * gamma + beta), [("gamma", "It multiplies by 2*gamma, not by gamma."), ("beta", "It adds 2*beta, not beta.")]),
    (lambda x, gamma, beta: norm(x) * gamma + beta.sin(), [("beta", "It uses beta, but not as one added term.")]),
    (lambda x, gamma, beta: norm(x) * gamma.sqrt() + beta, [("gamma", "It uses gamma, but not as one factor.")]),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "wanted"), USES)
def test_another_use_of_gamma_and_beta(fn, wanted):
    assert [(one[0], one[3]) for one in told(fn, gamma=GAMMA, beta=BETA)] == wanted


def test_a_gamma_and_a_constant():
    like = "LayerNorm(5, elementwise_affine=False)"
    assert [one[:2] for one in told(lambda x, gamma: norm(x) * gamma + 1, like, gamma=GAMMA)] == [("gamma", "gamma"), ("offset", "1")]  # fmt: skip
    assert [one[:2] for one in told(lambda x, beta: 2 * norm(x) + beta, like, beta=BETA)] == [("factor", "2"), ("beta", "beta")]  # fmt: skip


def test_groups_of_one_element_have_one_variance():
    assert told(lambda x: x.abs(), "LayerNorm(1)", X[:, :1])[-1][0] == "not_normalization"


def test_a_layer_that_lacks_gamma_or_beta():
    assert told(lambda x, gamma: norm(x) * gamma + gamma, gamma=GAMMA) == [
        ("beta", "gamma", "beta", "It adds gamma, not beta.")
    ]
    assert told(lambda x, gamma: norm(x) * gamma + 1, gamma=GAMMA) == [
        ("offset", "1", "0", "It adds 1, which is no parameter.")
    ]
    assert [one[3] for one in told(lambda x, beta: norm(x) * beta, beta=BETA)] == ["It multiplies by numbers that are no parameter of it.", "It does not use beta."]  # fmt: skip
    assert told(lambda x, gamma: norm(x) * gamma, "LayerNorm(5, elementwise_affine=False)", gamma=GAMMA) == [("gamma", "gamma", "no gamma", "It multiplies by a gamma, and LayerNorm(5, elementwise_affine=False) has none.")]  # fmt: skip


class Stored(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.weight, self.bias, self.function = nn.Parameter(torch.ones(5)), nn.Parameter(torch.zeros(5)), function
        self.register_buffer("running_mean", torch.rand(5, generator=torch.Generator().manual_seed(1)))
        self.register_buffer("running_var", 0.5 + torch.rand(5, generator=torch.Generator().manual_seed(2)))

    def forward(self, x):
        return self.function(x - self.running_mean, self.running_var) * self.weight + self.bias


OUTSIDE = (
    "eps_placement",
    "outside the root",
    "inside the root",
    "It adds eps to the standard deviation, outside the root, not to the variance.",
)
ANOTHER = [
    (
        "variance",
        "another denominator",
        "the standard deviation",
        "It subtracts the mean, but it divides by another number than the standard deviation.",
    )
]
STORED = [
    (lambda x, var: x / (var.sqrt() + 1e-3), [OUTSIDE, ("eps", "0.001", "1e-05", "Its eps is 0.001, not 1e-05.")]),
    (lambda x, var: x / (var + 1e-3).sqrt(), [("eps", "0.001", "1e-05", "Its eps is 0.001, not 1e-05.")]),
    (lambda x, var: x / var.sqrt(), [("eps", "0", "1e-05", "Its eps is 0, not 1e-05.")]),
    (lambda x, var: x / var, ROOT + NO_EPS),
    (lambda x, var: x / (var + 1e-5), ROOT),
    (lambda x, var: x / (var + 1e-5) ** 0.25, ANOTHER),
    (lambda x, var: x / (var + 1e-5).sqrt() / 2, [("gamma", "another factor", "gamma", "It multiplies by 0.5*gamma, not by gamma.")]),
]  # fmt: skip


@pytest.mark.parametrize(("function", "wanted"), STORED)
def test_the_denominator_of_stored_statistics(function, wanted):
    assert told(Stored(function).eval(), "BatchNorm1d(5).eval()") == wanted


class Mixed(Stored):
    def forward(self, x):
        mean, var = self.function(x, self.running_mean, self.running_var)
        return (x - mean) / (var + 1e-5).sqrt() * self.weight + self.bias


MEAN_OF_X = "It subtracts the mean of x, as in training mode, not the stored one."
VARIANCE_OF_X = "It divides by the standard deviation of x, as in training mode, not by the stored one."
MIXED = {
    "mean": (lambda x, mean, var: (x.mean(0), var), [MEAN_OF_X]),
    "variance": (lambda x, mean, var: (mean, x.var(0, correction=0)), [VARIANCE_OF_X]),
    "mean, and eps": (lambda x, mean, var: (x.mean(0), var + 1e-3 - 1e-5), [MEAN_OF_X, "Its eps is 0.001, not 1e-05."]),
    "unbiased variance": (lambda x, mean, var: (mean, x.var(0)), [VARIANCE_OF_X, "It divides the sum of squares by m - 1, not m, the size of a group."]),
    "mean, and no root": (lambda x, mean, var: (x.mean(0), (var + 1e-5) ** 2 - 1e-5), [MEAN_OF_X, "It divides by the variance, not by its root: the root is forgotten."]),
    "median": (lambda x, mean, var: (x.median(0).values, var), None),
    "around the stored mean": (lambda x, mean, var: (mean, (x - mean).square().mean(0)), None),
}  # fmt: skip


STORED_MEAN, STORED_VARIANCE = "It subtracts the stored mean, as in eval mode, not that of x.", "It divides by the stored standard deviation, as in eval mode, not by that of x."  # fmt: skip
TRAIN = {
    "mean": (lambda x, mean, var: (x.mean(0), var), [STORED_VARIANCE]),
    "variance": (lambda x, mean, var: (mean, x.var(0, correction=0)), [STORED_MEAN]),
    "variance, and eps": (lambda x, mean, var: (mean, x.var(0, correction=0) + 1e-3 - 1e-5), [STORED_MEAN, "Its eps is 0.001, not 1e-05."]),
    "neither": (lambda x, mean, var: (x.mean(0), torch.zeros(5, dtype=x.dtype) + 1 - 1e-5), ["It subtracts the mean, and does not divide by the standard deviation."]),
}  # fmt: skip


@pytest.mark.parametrize("name", TRAIN)
def test_a_stored_statistic_in_train_mode(name):
    function, wanted = TRAIN[name]
    assert [one[3] for one in told(Mixed(function), "BatchNorm1d(5)")][: len(wanted)] == wanted


@pytest.mark.parametrize("name", MIXED)
def test_one_statistic_of_x_beside_a_stored_one(name):
    function, wanted = MIXED[name]
    found = told(Mixed(function).eval(), "BatchNorm1d(5).eval()")
    if wanted is None:
        assert [one[0] for one in found] == ["not_normalization"]
    else:
        assert [one[3] for one in found] == wanted


AFTER = [
    (lambda y: y.clamp(-1, 1), "It clips its output to the range from -1 to 1."),
    (lambda y: y.abs(), "It takes the absolute value of its output."),
    (lambda y: y.relu(), "It replaces negative outputs with 0, as ReLU does."),
    (lambda y: F.gelu(y), "It applies GELU to its output."),
]


@pytest.mark.parametrize(("after", "sentence"), AFTER)
def test_another_function_after_the_normalization(after, sentence):
    assert told(lambda x: after(norm(x))) == [("values", "other values", "those of the formula", sentence)]


def groups(pattern, shape, **sizes):
    return Groups(describe(Norm(pattern, sizes=sizes), shape).stat_ids)


def test_the_median_of_a_group():
    x = torch.arange(24.0).reshape(1, 2, 3, 4)
    rows, matrices = (groups(pattern, (2, 3, 4)) for pattern in ("a b c -> a b", "a b c -> a"))
    assert CENTERS["median"](x, x, rows)[0, :, :, 0].tolist() == [[1, 5, 9], [13, 17, 21]]
    assert CENTERS["median"](x, x, matrices)[0, :, 0, 0].tolist() == [5, 17]


def test_other_choices_of_axes():
    def reduced(one):
        return [i for i, axis in enumerate(one.axes) if axis.is_reduced]

    assert [reduced(one) for one in _with_other_axes(groups("n c l -> n c", (2, 1, 2)))] == [[0], [0, 2]]
    assert [reduced(one) for one in _with_other_axes(groups("n (g k) -> n g", (3, 4), g=2))] == [[0], [1], [0, 1]]
