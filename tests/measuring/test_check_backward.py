"""``check_backward`` compares dx, dgamma and dbeta of a backward function that is written by hand with those of a layer."""

import re

import numpy as np
import pytest
import torch

import normviz as nv

TABLE = np.random.default_rng(0).normal(size=(4, 6))
AFFINE = {"gamma": np.ones(6), "beta": np.zeros(6)}

FORWARD = """
def forward(x, gamma, beta, ln_param={}):
    eps = ln_param.get("eps", 1e-5)
    mean = x.mean(1, keepdims=True)
    std = np.sqrt(x.var(1, keepdims=True) + eps)
    xhat = (x - mean) / std
    return gamma * xhat + beta, (xhat, gamma, std)
"""
BACKWARD = """
def backward(dout, cache):
    xhat, gamma, std = cache
    dbeta = dout.sum(0)
    dgamma = (dout * xhat).sum(0)
    dxhat = dout * gamma
    dx = (dxhat - dxhat.mean(1, keepdims=True) - xhat * (dxhat * xhat).mean(1, keepdims=True)) / std
    return dx, dgamma, dbeta
"""


def functions(forward=FORWARD, backward=BACKWARD):
    names = {"np": np}
    exec(forward + backward, names)
    return names["forward"], names["backward"]


def check(x=TABLE, like="LayerNorm(6)", params=AFFINE, forward=FORWARD, backward=BACKWARD):
    first, second = functions(forward, backward)
    return nv.check_backward(second, x, like=like, forward=first, params=params)


@pytest.mark.parametrize("x", [TABLE, (4, 6), TABLE.astype(np.float32)], ids=["float64", "a shape", "float32"])
def test_a_right_backward_function(x):
    found = check(x)
    assert found.ok
    assert str(found) == "Your backward function gives the gradients of LayerNorm(6): dx, dgamma and dbeta."


WRONG = {
    "dxhat = dout * gamma": ("dxhat = dout", "dx does not contain gamma."),
    "- dxhat.mean(1, keepdims=True)": ("", "It treats the mean as a constant"),
    "- xhat * (dxhat * xhat).mean(1, keepdims=True)": ("", "It treats the variance as a constant"),
    "dx = (dxhat": ("dx = -(dxhat", "dx has the opposite sign."),
    "dbeta = dout.sum(0)": ("dbeta = dout.mean(0)", "dbeta differs by up to"),
    "(dout * xhat).sum(0)": ("dout.sum(0)", "dgamma differs by up to"),
    "return dx, dgamma, dbeta": ("return dx, dbeta, dgamma", "dgamma and dbeta are exchanged."),
    "/ std": ("", "dx differs by up to"),
    "dbeta = dout.sum(0)\n": ("dbeta = dout.sum()\n", "dbeta has the shape (); it must be (6,)."),
    "dout.sum(0)": ("dout.sum(1)", "dbeta has the shape (4,); it must be (6,)."),
    "mean(1, keepdims=True)) / std": ("sum(1, keepdims=True)) / std", "dx differs by up to"),
}


@pytest.mark.parametrize("old", WRONG)
def test_a_wrong_backward_function_is_found_with_its_reason(old):
    new, reason = WRONG[old]
    assert BACKWARD.count(old) >= 1
    found = check(backward=BACKWARD.replace(old, new, 1))
    assert [one.what for one in found.differences] == ["backward"]
    assert reason in str(found)
    assert "output is right" not in str(found)  # only the gradient is compared


def test_several_gradients_differ():
    found = check(
        backward=BACKWARD.replace("dout.sum(0)", "dout.mean(0)").replace("(dout * xhat).sum", "(dout * xhat).mean")
    )
    assert "dgamma and dbeta differ by up to" in str(found)


def test_batchnorm_changes_no_dictionary_of_the_caller():
    forward = """
def forward(x, gamma, beta, bn_param):
    mean, var = x.mean(0), x.var(0)
    bn_param["running_mean"] = 0.9 * bn_param.get("running_mean", np.zeros(6)) + 0.1 * mean
    std = np.sqrt(var + bn_param["eps"])
    xhat = (x - mean) / std
    return gamma * xhat + beta, (xhat, gamma, std)
"""
    backward = BACKWARD.replace("mean(1, keepdims=True)", "mean(0)")
    params = AFFINE | {"bn_param": {"mode": "train", "eps": 1e-5}}
    assert check(like="BatchNorm1d(6)", params=params, forward=forward, backward=backward)
    assert params["bn_param"] == {"mode": "train", "eps": 1e-5}
    assert not check(like="BatchNorm1d(6)", params=params, forward=forward)


def test_without_gamma_and_beta_backward_returns_dx():
    forward = "def forward(x):\n    s = np.sqrt((x**2).mean(1, keepdims=True) + 1e-6)\n    return x / s, (x / s, s)\n"
    backward = (
        "def backward(dout, cache):\n    y, s = cache\n    return (dout - y * (dout * y).mean(1, keepdims=True)) / s\n"
    )
    assert check(like="RMSNorm(6, eps=1e-6)", params={}, forward=forward, backward=backward)
    assert not check(like="RMSNorm(6, eps=1e-6)", params={}, forward=forward, backward=backward.replace(" - y", " + y"))


def test_functions_of_tensors():
    def forward(x):
        std = (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
        return (x - x.mean(-1, keepdim=True)) / std, std

    def backward(dout, std):
        return dout / std

    found = nv.check_backward(backward, torch.randn(4, 6), like="LayerNorm(6)", forward=forward)
    assert "It treats the mean and the variance as constants" in str(found)


def test_a_wrong_forward_function_is_a_note():
    found = check(forward=FORWARD.replace("x.var(1, keepdims=True)", "x.var(1, ddof=1, keepdims=True)"))
    assert found.notes == ("The output of forward is not that of LayerNorm(6): use check first.",)


REFUSED = {
    "returns no cache": (FORWARD.replace(", (xhat, gamma, std)", ""), BACKWARD, "forward must return (out, cache)"),
    "returns dx alone": (FORWARD, BACKWARD.replace("return dx, dgamma, dbeta", "return dx"), "backward must return (dx, dgamma, dbeta), and it returned 1 of them"),
    "raises": (FORWARD, BACKWARD.replace("dbeta = dout", "dbeta = missing"), "backward raises NameError"),
    "returns text": (FORWARD, BACKWARD.replace("return dx,", "return 'dx',"), "backward must return arrays of floating-point numbers; one is 'dx'"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_compared_is_refused(case):
    forward, backward, words = REFUSED[case]
    with pytest.raises(nv.NormvizError, match=re.escape(words)):
        check(forward=forward, backward=backward)
    with pytest.raises(nv.NormvizError, match="stored statistics"):
        check(like="BatchNorm1d(6).eval()")
