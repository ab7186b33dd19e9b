"""Shared by the tests of gradients: explanations with random numbers, and the tolerance between two float64 results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from normviz import Explanation, Layer, Norm, NormvizError
from normviz.analysis.description import describe
from normviz.analysis.forward import Values
from normviz.layers.layer import is_in_torch
from tests.support.strategies import random_tensor

CATALOGUE = [
    ("LayerNorm(4)", (3, 4)),
    ("LayerNorm([2, 3, 2])", (2, 2, 3, 2)),
    ("LayerNorm(4, bias=False)", (3, 4)),
    ("LayerNorm(4, elementwise_affine=False)", (3, 4)),
    ("RMSNorm(4)", (3, 4)),
    ("RMSNorm([3, 4], eps=0.1)", (2, 3, 4)),
    ("BatchNorm1d(3)", (4, 3)),
    ("BatchNorm1d(3).eval()", (4, 3)),
    ("BatchNorm1d(3, affine=False, track_running_stats=False).eval()", (4, 3)),
    ("BatchNorm1d(3, momentum=None)", (2, 3, 4)),
    ("BatchNorm2d(3)", (2, 3, 2, 3)),
    ("BatchNorm2d(3).eval()", (2, 3, 2, 3)),
    ("BatchNorm3d(2)", (2, 2, 2, 3, 2)),
    ("BatchNorm3d(2).eval()", (2, 2, 2, 3, 2)),
    ("SyncBatchNorm(3)", (4, 3, 2)),
    ("SyncBatchNorm(3).eval()", (4, 3, 2)),
    ("InstanceNorm1d(3)", (2, 3, 4)),
    ("InstanceNorm2d(3, affine=True)", (3, 2, 3)),
    ("InstanceNorm2d(3, affine=True, track_running_stats=True)", (2, 3, 2, 3)),
    ("InstanceNorm2d(3, affine=True, track_running_stats=True).eval()", (2, 3, 2, 3)),
    ("InstanceNorm3d(2)", (2, 2, 2, 3, 2)),
    ("GroupNorm(2, 4)", (2, 4, 3)),
    ("GroupNorm(4, 4)", (2, 4)),
    ("ChannelsFirstLayerNorm(3)", (2, 3, 2, 2)),
    ("DimNorm(3, dim=0)", (4, 2, 3)),
    (Norm("n (g k) h -> h g", "c n", sizes={"g": 2}), (2, 4, 3)),
    (Norm("n d ->", ""), (3, 4)),
    (Norm("n d -> n", "d", center=False, eps=None), (3, 4)),
    (Norm("n d -> d", "d", running=True), (3, 4)),
    (Norm("n d -> d", "n", center=False, running=True), (3, 4)),
]
CATALOGUE = [case for case in CATALOGUE if is_in_torch(str(case[0]))]


def numbered(layer: Any, shape: tuple[int, ...], seed: int = 0, dtype: torch.dtype = torch.float64) -> Explanation:
    """The explanation on random x, gamma, beta and running statistics, all different."""
    e = describe(layer, random_tensor(shape, seed, dtype))
    sizes = {"gamma": e.counts.gamma_shape, "beta": e.counts.beta_shape}
    if e.norm.running:
        sizes |= {"running_mean": (e.counts.statistics,), "running_var": (e.counts.statistics,)}
    numbers = {
        name: None if size is None else random_tensor(size, seed + i + 1, dtype)
        for i, (name, size) in enumerate(sizes.items())
    }
    if e.norm.running:
        numbers["running_var"] = numbers["running_var"].square() + 0.1
    return replace(e, values=Values(**numbers))


def fits(layer: Layer | Norm, shape: tuple[int, ...]) -> bool:
    try:
        describe(layer, shape)
    except NormvizError:
        return False
    return True


# The tolerance between two methods that compute the same derivative in float64.
#
# u is half the machine epsilon, n the number of elements of x (an upper bound for the size of every group), s = sqrt(var + eps),
# k the largest (|x - mean| + |mean|) / s, z the largest |xhat|, and c the largest |gamma| / s. A sum of n numbers rounds each of them
# at most n times. The errors of one method are, to first order,
#
#   s       (n + 4) u k (1 + z), relative
#   xhat    (n + 4) u (1 + k) (1 + z)
#   J       c (1 + z)^2 times the error of xhat: J contains xhat twice and s once
#   dx      the error of J times the sum of |dout|
#   dgamma  the error of xhat plus n u |xhat|, times the sum of |dout|
#
# There are two methods. A factor of 4 covers the rounding of the other steps of a formula.

U = 2.0**-53


def tolerance(e: Explanation) -> float:
    """For entries of the Jacobian. For dx, multiply it by the sum of |dout|."""
    gamma = e.layer_values().gamma
    c = (1.0 if gamma is None else float(gamma.abs().max())) / _sigma(e)
    return c * (1 + _largest(e)) ** 2 * _of_xhat(e)


def parameter_tolerance(e: Explanation, dout: Tensor) -> float:
    """For dgamma and dbeta."""
    return float(dout.abs().sum()) * (1 + _largest(e)) * _of_xhat(e)


def _of_xhat(e: Explanation) -> float:
    k = float((e.trace.centered.abs() + e.trace.mean.abs()).max()) / _sigma(e)
    return 8 * (e.x.numel() + 4) * U * (1 + k)


def _largest(e: Explanation) -> float:
    return float(e.trace.normalized.abs().max())


def _sigma(e: Explanation) -> float:
    return float(torch.sqrt(e.trace.var + e.trace.eps).min())
