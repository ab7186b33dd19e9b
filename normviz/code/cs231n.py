"""Layer and batch normalization, forward and backward, in the signatures of Stanford's CS231n course: NumPy, x of shape (N, D).

The statistics of layer normalization are per row (N of them), those of batch normalization per column (D of them). Gamma and
beta are (D,) in both: what differs is the axis of the means, and nothing else. All is float64.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normviz.layers.errors import NormvizError, echo

Array = NDArray[np.float64]
MOST_ELEMENTS = 2**18
ROWS, COLUMNS = 1, 0  # the axis that is averaged over: one mean a row, one mean a column


class Cache(NamedTuple):
    """What backward needs of forward: xhat (N, D), sigma (N, 1), (1, D), gamma (D,), and the axis of the means.

    The axis is None where the statistics were not this x's.
    """

    xhat: Array
    sigma: Array
    gamma: Array
    axis: int | None


def layernorm_forward(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, ln_param: Mapping[str, Any]
) -> tuple[Array, Cache]:
    """Normalize each row: y = (x - mean) / sqrt(var + eps) * gamma + beta. Training and test are the same.

    x         (N, D), at most 262,144 elements.
    gamma     (D,), one a column: not (N,), though there are N means.
    beta      (D,).
    ln_param  a dictionary: "eps" (default 1e-5).

    Returns the output (N, D) and the cache of ``layernorm_backward``.
    Raises NormvizError where a shape or eps is wrong.

    >>> out, cache = layernorm_forward([[1.0, 3.0], [2.0, 6.0]], [1, 10], [0, 0], {"eps": 0})
    >>> out.tolist()
    [[-1.0, 10.0], [-1.0, 10.0]]
    """
    x, gamma, beta = _arrays(x, gamma, beta)
    mean = x.mean(axis=ROWS, keepdims=True)
    var = np.square(x - mean).mean(axis=ROWS, keepdims=True)
    return _scaled(x - mean, var, gamma, beta, _eps(ln_param, "ln_param"), ROWS)


def layernorm_backward(dout: ArrayLike, cache: Cache) -> tuple[Array, Array, Array]:
    """dx (N, D), dgamma (D,) and dbeta (D,) of ``layernorm_forward``: means along rows, sums along columns.

        dxhat = dout * gamma
        dx = (dxhat - mean(dxhat) - xhat * mean(dxhat * xhat)) / sigma

    dout   the loss's derivative by the output, (N, D).
    cache  what forward returned.

    Raises NormvizError where dout is not (N, D).
    """
    return _backward(dout, cache)


def batchnorm_forward(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, bn_param: MutableMapping[str, Any]
) -> tuple[Array, Cache]:
    """Normalize each column: by its own statistics in training, by the running ones at test time.

        running = momentum * running + (1 - momentum) * this batch's

    The momentum weighs the *old* value, 0.9 where torch says 0.1, and the variance that runs is the biased one, torch's the unbiased.

    x         (N, D), at most 262,144 elements.
    gamma     (D,).
    beta      (D,).
    bn_param  a dictionary: "mode" ("train" or "test"), "eps" (default 1e-5), "momentum" (default 0.9), "running_mean" and
              "running_var" (D,), both 0 at first; in training the last two are set anew.

    Returns the output (N, D) and the cache of ``batchnorm_backward``.
    Raises NormvizError where a shape, the mode, eps or momentum is wrong.

    >>> bn_param = {"mode": "train", "eps": 0}
    >>> out, cache = batchnorm_forward([[1.0, 2.0], [3.0, 6.0]], [1, 1], [0, 0], bn_param)
    >>> out.tolist(), bn_param["running_mean"].round(2).tolist()
    ([[-1.0, -1.0], [1.0, 1.0]], [0.2, 0.4])
    """
    x, gamma, beta = _arrays(x, gamma, beta)
    eps, momentum, mode = _eps(bn_param, "bn_param"), _momentum(bn_param), bn_param.get("mode")
    running = [_running(bn_param, name, x.shape[1]) for name in ("running_mean", "running_var")]
    if mode == "test":
        mean, var = running
        return _scaled(x - mean, var[None], gamma, beta, eps, None)
    if mode != "train":
        raise NormvizError(f'bn_param["mode"]={echo(mode)} is unknown; choose "train" or "test".')
    mean = x.mean(axis=COLUMNS)
    var = np.square(x - mean).mean(axis=COLUMNS)
    bn_param["running_mean"] = momentum * running[0] + (1 - momentum) * mean
    bn_param["running_var"] = momentum * running[1] + (1 - momentum) * var
    return _scaled(x - mean, var[None], gamma, beta, eps, COLUMNS)


def batchnorm_backward(dout: ArrayLike, cache: Cache) -> tuple[Array, Array, Array]:
    """dx (N, D), dgamma (D,) and dbeta (D,) of ``batchnorm_forward``: means and sums along columns.

        dxhat = dout * gamma
        dx = (dxhat - mean(dxhat) - xhat * mean(dxhat * xhat)) / sigma

    After a forward pass at test time dx is dxhat / sigma alone.

    dout   the loss's derivative by the output, (N, D).
    cache  what forward returned.

    Raises NormvizError where dout is not (N, D).
    """
    return _backward(dout, cache)


def _scaled(
    centered: Array, var: Array, gamma: Array, beta: Array, eps: float, axis: int | None
) -> tuple[Array, Cache]:
    sigma = np.sqrt(var + eps)
    with np.errstate(divide="ignore", invalid="ignore"):  # eps=0 on a constant group gives NaN, as torch's does
        xhat = centered / sigma
    return gamma * xhat + beta, Cache(xhat, sigma, gamma, axis)


def _backward(dout: ArrayLike, cache: Cache) -> tuple[Array, Array, Array]:
    dout = _numbers("dout", dout)
    if dout.shape != cache.xhat.shape:
        raise NormvizError(f"dout has shape {dout.shape} and the output {cache.xhat.shape}; give one number an output.")
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
        raise NormvizError(f"x has shape {x.shape}; give (N, D), N rows of D columns, 1 to {MOST_ELEMENTS:,} elements.")
    rows, columns = x.shape
    found = {"gamma": _numbers("gamma", gamma), "beta": _numbers("beta", beta)}
    for name, value in found.items():
        if value.shape != (columns,):
            mistaken = ", not one a row" if value.shape == (rows,) else ""
            raise NormvizError(
                f"{name} has shape {value.shape} and x {x.shape}; give one number a column, ({columns},){mistaken}."
            )
    return x, found["gamma"], found["beta"]


def _numbers(name: str, value: ArrayLike) -> Array:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise NormvizError(f"{name}={echo(value)} is no array of numbers; give one such as np.ones((2, 3)).") from None


def _running(bn_param: Mapping[str, Any], name: str, columns: int) -> Array:
    value = _numbers(name, bn_param.get(name, np.zeros(columns)))
    if value.shape != (columns,):
        raise NormvizError(f'bn_param["{name}"] has shape {value.shape}; give one number a column, ({columns},).')
    return value


def _eps(param: Mapping[str, Any], where: str) -> float:
    return _from_0_to_1(param, where, "eps", 1e-5)


def _momentum(param: Mapping[str, Any]) -> float:
    return _from_0_to_1(param, "bn_param", "momentum", 0.9)


def _from_0_to_1(param: Mapping[str, Any], where: str, name: str, usual: float) -> float:
    value = param.get(name, usual)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise NormvizError(f'{where}["{name}"]={echo(value)} must be a number from 0 to 1, such as {usual}.')
    return float(value)
