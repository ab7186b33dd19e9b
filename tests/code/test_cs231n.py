from math import inf, nan

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from normviz import NormvizError, explain
from normviz.analysis.closed_form import backward_terms
from normviz.code.cs231n import (
    MOST_ELEMENTS,
    batchnorm_backward,
    batchnorm_forward,
    layernorm_backward,
    layernorm_forward,
)

U = 2.0**-53


def test_layer_normalization_by_hand():
    x = [
        [1.0, 1.0, 5.0, 5.0],
        [0.0, 0.0, 8.0, 8.0],
    ]  # row means 3 and 4, variances 4 and 16; with eps 0 sigma is 2 and 4
    out, cache = layernorm_forward(x, gamma=[1, 2, 3, 4], beta=[0, 0, 0, 10], ln_param={"eps": 0})
    assert out.tolist() == [[-1, -2, 3, 14], [-1, -2, 3, 14]]
    assert cache.sigma.tolist() == [[2], [4]]
    dx, dgamma, dbeta = layernorm_backward([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]], cache)
    assert dx.tolist() == [[0.25, -0.25, 0, 0], [0, 0, -0.5, 0.5]]
    assert dgamma.tolist() == [-1, 0, 0, 1]
    assert dbeta.tolist() == [1, 0, 0, 1]


def test_batch_normalization_by_hand():
    bn_param = {"mode": "train", "eps": 0, "momentum": 0.75}
    out, cache = batchnorm_forward([[1.0, 0.0], [5.0, 8.0]], gamma=[1, 2], beta=[0, 10], bn_param=bn_param)
    assert out.tolist() == [[-1, 8], [1, 12]]
    assert bn_param["running_mean"].tolist() == [0.75, 1]  # a quarter of 3 and of 4
    assert bn_param["running_var"].tolist() == [1, 4]  # a quarter of 4 and of 16, divided by N and not by N - 1
    dx, dgamma, dbeta = batchnorm_backward([[1.0, 1.0], [0.0, 2.0]], cache)
    assert dx.tolist() == [[0, 0], [0, 0]]  # with two elements per column, dx is 0
    assert dgamma.tolist() == [-1, 1]
    assert dbeta.tolist() == [1, 3]


def test_batch_normalization_at_test_time_by_hand():
    bn_param = {"mode": "test", "eps": 1, "running_mean": np.array([1.0, 2.0]), "running_var": np.array([3.0, 15.0])}
    out, cache = batchnorm_forward([[1.0, 6.0]], gamma=[1, 2], beta=[0, 10], bn_param=bn_param)
    assert out.tolist() == [[0, 12]]
    dx, dgamma, dbeta = batchnorm_backward([[1.0, 1.0]], cache)
    assert (dx.tolist(), dgamma.tolist(), dbeta.tolist()) == ([[0.5, 0.5]], [0, 1], [1, 1])
    assert bn_param["running_mean"].tolist() == [1, 2]


ROWS, COLUMNS = st.integers(2, 6), st.integers(2, 6)


@given(ROWS, COLUMNS, st.integers(0, 100), st.sampled_from([1e-5, 1e-3, 0.5]))
def test_layer_normalization_agrees_with_torch(rows, columns, seed, eps):
    x, gamma, beta, dout = numbers(rows, columns, seed)
    module = nn.LayerNorm(columns, eps=eps, dtype=torch.float64)
    out, cache = layernorm_forward(x, gamma, beta, {"eps": eps})
    assert_agrees(module, x, gamma, beta, dout, out, layernorm_backward(dout, cache), cache.sigma)


@given(ROWS, COLUMNS, st.integers(0, 100), st.sampled_from([1e-5, 1e-3, 0.5]), st.sampled_from([0.0, 0.1, 1.0]))
def test_batch_normalization_agrees_with_torch(rows, columns, seed, eps, weight):
    x, gamma, beta, dout = numbers(rows, columns, seed)
    module = nn.BatchNorm1d(columns, eps=eps, momentum=weight, dtype=torch.float64)
    bn_param = {"mode": "train", "eps": eps, "momentum": 1 - weight}
    out, cache = batchnorm_forward(x, gamma, beta, bn_param)
    assert_agrees(module, x, gamma, beta, dout, out, batchnorm_backward(dout, cache), cache.sigma)

    assert np.allclose(bn_param["running_mean"], module.running_mean.numpy(), rtol=1e-12)
    unbiased = bn_param["running_var"] * rows / (rows - 1)
    started = module.running_var.numpy() - (1 - weight)  # in torch it starts at 1, in the course at 0
    assert np.allclose(unbiased, started, rtol=1e-12, atol=1e-14)

    statistics = {"running_mean": module.running_mean.numpy().copy(), "running_var": module.running_var.numpy().copy()}
    out, cache = batchnorm_forward(x, gamma, beta, {"mode": "test", "eps": eps} | statistics)
    assert_agrees(module.eval(), x, gamma, beta, dout, out, batchnorm_backward(dout, cache), cache.sigma)


def numbers(rows, columns, seed):
    random = np.random.default_rng(seed)
    return [random.standard_normal(shape) for shape in ((rows, columns), columns, columns, (rows, columns))]


def assert_agrees(module, x, gamma, beta, dout, out, gradients, sigma):
    """Within (n + 8) roundings of numbers as large as gamma / sigma, |x| / sigma and dout: see tests/analysis/gradient_cases.py."""
    with torch.no_grad():
        module.weight.copy_(torch.tensor(gamma))
        module.bias.copy_(torch.tensor(beta))
    leaf = torch.tensor(x, requires_grad=True)
    y = module(leaf)
    expected = torch.autograd.grad(y, (leaf, module.weight, module.bias), torch.tensor(dout))
    k, n = 1 + (np.abs(x).max() + 2) / sigma.min(), x.size
    allowed = 8 * (n + 8) * U * k * (1 + n**0.5) ** 2
    scale = (1 + np.abs(gamma).max()) * (1 + 1 / sigma.min()) * (1 + np.abs(dout).sum())
    assert np.abs(out - y.detach().numpy()).max() <= allowed * scale
    for found, wanted in zip(gradients, expected, strict=True):
        assert found.shape == tuple(wanted.shape)
        assert np.abs(found - wanted.numpy()).max() <= allowed * scale


def test_the_backward_functions_agree_with_the_closed_form():
    x, gamma, beta, dout = numbers(4, 3, 0)
    for text, forward_, back in (
        ("LayerNorm(3)", layernorm_forward, layernorm_backward),
        ("BatchNorm1d(3)", batchnorm_forward, batchnorm_backward),
    ):
        module = explain(text, (4, 3)).layer.module(torch.float64)
        with torch.no_grad():
            module.weight.copy_(torch.tensor(gamma))
        found = backward_terms(explain(module, x), dout)
        for one, other in zip(
            back(dout, forward_(x, gamma, beta, {"mode": "train"})[1]),
            (found.dx, found.dgamma, found.dbeta),
            strict=True,
        ):
            assert np.allclose(one, other, rtol=1e-12, atol=1e-14)


def test_only_layer_normalization_is_the_same_in_training_and_test():
    x, gamma, beta, _ = numbers(4, 3, 0)
    by_mode = [layernorm_forward(x, gamma, beta, {"mode": mode})[0] for mode in ("train", "test")]
    assert np.array_equal(*by_mode)
    by_mode = [batchnorm_forward(x, gamma, beta, {"mode": mode})[0] for mode in ("train", "test")]
    assert not np.allclose(*by_mode)


def test_rows_of_xhat_are_normalized_and_rows_of_the_output_are_not():
    """Each row of xhat has mean 0 and variance 1. If gamma differs by column, the rows of the output do not."""
    x, gamma, beta, _ = numbers(4, 50, 0)
    out, cache = layernorm_forward(x, gamma, beta, {})
    assert np.allclose(cache.xhat.mean(axis=1), 0, atol=1e-14)
    assert np.allclose(cache.xhat.var(axis=1), 1, atol=1e-4)
    assert np.ptp(out.mean(axis=1)) > 0.01
    assert np.ptp(out.var(axis=1)) > 0.01


def test_only_the_running_averages_change():
    x, gamma, beta, dout = numbers(4, 3, 0)
    copies = [value.copy() for value in (x, gamma, beta, dout)]
    bn_param = {"mode": "train"}
    _, cache = batchnorm_forward(x, gamma, beta, bn_param)
    batchnorm_backward(dout, cache)
    assert set(bn_param) == {"mode", "running_mean", "running_var"}
    assert all(np.array_equal(*pair) for pair in zip(copies, (x, gamma, beta, dout), strict=True))


def test_one_element_eps_zero_and_the_largest_x():
    out, cache = layernorm_forward([[5.0]], [2], [3], {})
    assert out.tolist() == [[3]]
    assert layernorm_backward([[1.0]], cache)[0].tolist() == [[0]]
    out, _ = layernorm_forward([[5.0, 5.0]], [1, 1], [0, 0], {"eps": 0})
    assert np.isnan(out).all()
    x = np.ones((1, MOST_ELEMENTS))
    layernorm_forward(x, x[0], x[0], {})


X = np.ones((2, 3))
REFUSED = [
    (np.ones((3, 3, 3)), np.ones(3), {}, r"x has shape \(3, 3, 3\); give \(N, D\)"),
    (np.ones(3), np.ones(3), {}, r"x has shape \(3,\)"),
    (np.ones((0, 3)), np.ones(3), {}, r"x has shape \(0, 3\).*1 to 262,144 elements"),
    (np.ones((1, MOST_ELEMENTS + 1)), np.ones(1), {}, "1 to 262,144 elements"),
    (X, np.ones(2), {}, r"gamma has shape \(2,\); give one number for each column, \(3,\), not for each row"),
    (X, 1.0, {}, r"gamma has shape \(\); give one number for each column, \(3,\)\."),
    ("abc", np.ones(3), {}, "x='abc' is not an array of numbers"),
    ([[1, 2], [3]], np.ones(2), {}, "is not an array of numbers"),
    (X, np.ones(3), {"eps": -1}, r'_param\["eps"\]=-1 must be a number from 0 to 1, such as 1e-05'),
    (X, np.ones(3), {"eps": nan}, "must be a number from 0 to 1"),
    (X, np.ones(3), {"eps": inf}, "must be a number from 0 to 1"),
    (X, np.ones(3), {"eps": "small"}, "must be a number from 0 to 1"),
]


@pytest.mark.parametrize(("x", "gamma", "param", "words"), REFUSED, ids=range(len(REFUSED)))
@pytest.mark.parametrize("forward_", [layernorm_forward, batchnorm_forward])
def test_invalid_arguments_raise_errors(forward_, x, gamma, param, words):
    with pytest.raises(NormvizError, match=words):
        forward_(x, gamma, gamma, {"mode": "train"} | param)


REFUSED_BY_BATCH_NORM = [
    ({}, r'bn_param\["mode"\]=None is unknown; choose "train" or "test"'),
    ({"mode": "eval"}, r'bn_param\["mode"\]=\'eval\' is unknown'),
    ({"mode": "train", "momentum": 2}, r'bn_param\["momentum"\]=2 must be a number from 0 to 1, such as 0\.9'),
    ({"mode": "test", "running_mean": np.ones(2)}, r"running_mean has shape \(2,\); give one number for each column"),
    ({"mode": "test", "running_var": "x"}, "running_var='x' is not an array of numbers"),
]


@pytest.mark.parametrize(("bn_param", "words"), REFUSED_BY_BATCH_NORM, ids=range(len(REFUSED_BY_BATCH_NORM)))
def test_invalid_arguments_of_batch_normalization_raise_errors(bn_param, words):
    with pytest.raises(NormvizError, match=words):
        batchnorm_forward(X, np.ones(3), np.ones(3), bn_param)


def test_a_dout_of_another_shape_raises_an_error():
    for back, cache in (
        (layernorm_backward, layernorm_forward(X, np.ones(3), np.ones(3), {})[1]),
        (batchnorm_backward, batchnorm_forward(X, np.ones(3), np.ones(3), {"mode": "train"})[1]),
    ):
        with pytest.raises(
            NormvizError, match=r"dout has shape \(3,\) and the output \(2, 3\); give one number for each output"
        ):
            back(np.ones(3), cache)
