"""Layer and batch normalization, forward and backward, in the signatures of Stanford's CS231n course: NumPy, x of shape (N, D).

Layer normalization has one mean and one variance for each of the N rows, batch normalization for each of the D columns. Gamma and
beta are (D,) in both, so the two differ only in the axis of the means. All arrays are float64.
"""

import inspect
from collections.abc import Mapping, MutableMapping
from dataclasses import replace
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normviz.analysis import closed_form, description, examples
from normviz.analysis.forward import Values, largest_difference, run_module
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import N_, ngettext

Array = NDArray[np.float64]
MOST_ELEMENTS = 2**18
PER_ROW, PER_COLUMN = 1, 0  # the axis of the means


class Cache(NamedTuple):
    """What backward needs from forward: xhat (N, D), sigma (N, 1) or (1, D), gamma (D,), and the axis of the means.

    The axis is None if the statistics were not computed from x.
    """

    xhat: Array
    sigma: Array
    gamma: Array
    axis: int | None


def layernorm_forward(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, ln_param: Mapping[str, object]
) -> tuple[Array, Cache]:
    """Normalize each row: y = (x - mean) / sqrt(var + eps) * gamma + beta, in training and at test time.

    x         (N, D), at most 262,144 elements.
    gamma     (D,), one for each column, not one for each row.
    beta      (D,).
    ln_param  a dictionary: "eps" (default 1e-5).

    Returns the output (N, D) and the cache of ``layernorm_backward``.
    Raises NormvizError for a wrong shape or eps.

    >>> out, cache = layernorm_forward([[1.0, 3.0], [2.0, 6.0]], [1, 10], [0, 0], {"eps": 0})
    >>> out.tolist()
    [[-1.0, 10.0], [-1.0, 10.0]]
    """
    x, gamma, beta = _arrays(x, gamma, beta)
    mean = x.mean(axis=PER_ROW, keepdims=True)
    var = np.square(x - mean).mean(axis=PER_ROW, keepdims=True)
    eps = _from_0_to_1(ln_param, "ln_param", "eps", 1e-5)
    return _normalize(x - mean, var, gamma, beta, eps, PER_ROW)


def layernorm_backward(dout: ArrayLike, cache: Cache) -> tuple[Array, Array, Array]:
    """dx (N, D), dgamma (D,) and dbeta (D,) of ``layernorm_forward``: with means over each row and sums over each column.

        dxhat = dout * gamma
        dx = (dxhat - mean(dxhat) - xhat * mean(dxhat * xhat)) / sigma

    dout   the derivative of the loss with respect to the output, (N, D).
    cache  the cache of forward.

    Raises NormvizError if dout is not (N, D).
    """
    return _backward(dout, cache)


def batchnorm_forward(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, bn_param: MutableMapping[str, Any]
) -> tuple[Array, Cache]:
    """Normalize each column, with its own statistics in training and the running ones at test time.

        running = momentum * running + (1 - momentum) * batch

    The momentum is the weight of the *old* value: 0.9 is torch's 0.1. The running variance uses the biased variance, torch's the
    unbiased one.

    x         (N, D), at most 262,144 elements.
    gamma     (D,).
    beta      (D,).
    bn_param  a dictionary: "mode" ("train" or "test"), "eps" (default 1e-5), "momentum" (default 0.9), "running_mean" and
              "running_var" (D,), both 0 at first; training replaces the last two.

    Returns the output (N, D) and the cache of ``batchnorm_backward``.
    Raises NormvizError for a wrong shape, mode, eps or momentum.

    >>> bn_param = {"mode": "train", "eps": 0}
    >>> out, cache = batchnorm_forward([[1.0, 2.0], [3.0, 6.0]], [1, 1], [0, 0], bn_param)
    >>> out.tolist(), bn_param["running_mean"].round(2).tolist()
    ([[-1.0, -1.0], [1.0, 1.0]], [0.2, 0.4])
    """
    x, gamma, beta = _arrays(x, gamma, beta)
    eps = _from_0_to_1(bn_param, "bn_param", "eps", 1e-5)
    momentum = _from_0_to_1(bn_param, "bn_param", "momentum", 0.9)
    mode = bn_param.get("mode")
    zeros = np.zeros(x.shape[1])
    running = [_per_column(name, bn_param.get(name, zeros), x.shape[1]) for name in ("running_mean", "running_var")]
    if mode == "test":
        mean, var = running
        return _normalize(x - mean, var[None], gamma, beta, eps, None)
    if mode != "train":
        raise NormvizError('bn_param["mode"]={mode} is unknown; choose "train" or "test".', mode=echo(mode))
    mean = x.mean(axis=PER_COLUMN)
    var = np.square(x - mean).mean(axis=PER_COLUMN)
    bn_param["running_mean"] = momentum * running[0] + (1 - momentum) * mean
    bn_param["running_var"] = momentum * running[1] + (1 - momentum) * var
    return _normalize(x - mean, var[None], gamma, beta, eps, PER_COLUMN)


def batchnorm_backward(dout: ArrayLike, cache: Cache) -> tuple[Array, Array, Array]:
    """dx (N, D), dgamma (D,) and dbeta (D,) of ``batchnorm_forward``: with means and sums over each column.

        dxhat = dout * gamma
        dx = (dxhat - mean(dxhat) - xhat * mean(dxhat * xhat)) / sigma

    After a forward pass at test time, dx is dxhat / sigma.

    dout   the derivative of the loss with respect to the output, (N, D).
    cache  the cache of forward.

    Raises NormvizError if dout is not (N, D).
    """
    return _backward(dout, cache)


def _normalize(
    centered: Array, var: Array, gamma: Array, beta: Array, eps: float, axis: int | None
) -> tuple[Array, Cache]:
    sigma = np.sqrt(var + eps)
    with np.errstate(divide="ignore", invalid="ignore"):  # eps=0 gives NaN for a constant group, as in torch
        xhat = centered / sigma
    return gamma * xhat + beta, Cache(xhat, sigma, gamma, axis)


def _backward(dout: ArrayLike, cache: Cache) -> tuple[Array, Array, Array]:
    dout = _numbers("dout", dout)
    if dout.shape != cache.xhat.shape:
        message = N_("dout has shape {dout} and the output {output}; give one number for each output.")
        raise NormvizError(message, dout=dout.shape, output=cache.xhat.shape)
    dxhat, xhat = dout * cache.gamma, cache.xhat
    dx = dxhat
    if cache.axis is not None:
        through_mean = dxhat.mean(axis=cache.axis, keepdims=True)
        through_var = (dxhat * xhat).mean(axis=cache.axis, keepdims=True)
        dx = dxhat - through_mean - xhat * through_var
    with np.errstate(divide="ignore", invalid="ignore"):
        dx = dx / cache.sigma
    return dx, (dout * xhat).sum(axis=0), dout.sum(axis=0)


def _arrays(x: ArrayLike, gamma: ArrayLike, beta: ArrayLike) -> tuple[Array, Array, Array]:
    x = _numbers("x", x)
    if x.ndim != 2 or not 1 <= x.size <= MOST_ELEMENTS:
        raise NormvizError(
            ngettext(
                "x has shape {shape}; give (N, D), N rows of D columns, 1 to {n:,} element.",
                "x has shape {shape}; give (N, D), N rows of D columns, 1 to {n:,} elements.",
                MOST_ELEMENTS,
                shape=x.shape,
            )
        )
    rows, columns = x.shape
    return x, _per_column("gamma", gamma, columns, rows), _per_column("beta", beta, columns, rows)


def _numbers(name: str, value: ArrayLike) -> Array:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        message = N_("{name}={value} is not an array of numbers; give one such as np.ones((2, 3)).")
        raise NormvizError(message, name=name, value=echo(value)) from None


def _per_column(name: str, value: ArrayLike, columns: int, rows: int | None = None) -> Array:
    array = _numbers(name, value)
    if array.shape != (columns,):
        message = N_("{name} has shape {shape}; give one number for each column, ({columns},).")
        if array.shape == (rows,):
            message = N_("{name} has shape {shape}; give one number for each column, ({columns},), not for each row.")
        raise NormvizError(message, name=name, shape=array.shape, columns=columns)
    return array


def _from_0_to_1(param: Mapping[str, object], dictionary: str, name: str, default: float) -> float:
    value = param.get(name, default)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        message = N_('{dictionary}["{name}"]={value} must be a number from 0 to 1, such as {default}.')
        raise NormvizError(message, dictionary=dictionary, name=name, value=echo(value), default=default)
    return float(value)


# The source of the CS231n functions, and how closely they agree with torch.

SHAPE = (4, 6)
PAIRS = {"layernorm": (layernorm_forward, layernorm_backward), "batchnorm": (batchnorm_forward, batchnorm_backward)}


@cache
def source(name: str = "layernorm") -> str:
    """The source of the forward and backward functions of "layernorm" or "batchnorm", with the two helpers that compute."""
    forward, backward = PAIRS[name]
    return "\n\n".join(inspect.getsource(part) for part in (forward, _normalize, backward, _backward))


@lru_cache(maxsize=16)
def largest_differences(seed: int = 0) -> Mapping[str, float]:
    """Largest differences from torch's LayerNorm, forward and backward, on a (4, 6) example in float64."""
    x = examples.example("normal", SHAPE, ("n", "d"), seed).double()
    gamma, beta = (number.double() for number in examples.parameters("random", SHAPE[1:], seed))
    dout = closed_form.upstream(SHAPE, seed)
    out, cache = layernorm_forward(x.numpy(), gamma.numpy(), beta.numpy(), {"eps": 1e-5})
    dx, dgamma, dbeta = layernorm_backward(dout.numpy(), cache)
    e = replace(description.describe(f"LayerNorm({SHAPE[1]})", x), values=Values(gamma, beta))
    assert e.layer is not None
    expected = vars(closed_form.autograd_backward(e, dout)) | {"out": run_module(e.layer, x, e.layer_values())}
    found = {"out": out, "dx": dx, "dgamma": dgamma, "dbeta": dbeta}
    return MappingProxyType(
        {name: largest_difference(examples.from_array(value), expected[name]) for name, value in found.items()}
    )
