"""The trace agrees with torch, within what rounding allows."""

from math import log2

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from normviz.analysis.description import describe
from normviz.analysis.forward import COMPUTES_IN, broadcast, computes_in
from normviz.layers.layer import Layer
from tests.support.computing import BF16, DOUBLE, FLOAT, HALF, runs
from tests.support.strategies import IN_TORCH, forward, layers_that_fit, module_with_random_numbers, random_tensor

# The tolerance between the trace and torch.
#
# u is half the machine epsilon of the type that computes, m the number of elements of a group, s = sqrt(var + eps),
# z = (x - mean) / s, and M the largest |x| or |mean| of the group. torch sums m numbers in chunks of 16 and then in pairs, so
# each number is in at most g = min(m, 16 + log2 m) additions. The errors of one implementation are, to first order in u,
#
#   mean   g u M                                        so (x - mean) / s by  (g + 2) u M / s, kernels that compute
#                                                       x * (1 / s) - mean / s included
#   var    g u M std  (Welford; two-pass is better)     so s by  g u M / s  of itself, and z by that times |z|
#   y      4 roundings: u (4 |gamma z| + |beta|)        where |beta| <= |y| + |gamma z|
#
# Their sum is u (g + 5) (|gamma| (1 + |z|) M / s + |y|), because |z| <= 2 M / s. There are two implementations.
# Half precision rounds the output of both: by half an epsilon times |y|, and at least by the smallest number.
# BatchNorm and InstanceNorm on CPU also round the mean and 1 / s to x's type, unless their parameters and buffers are float32.


def tolerance(e, x, output, kept_in_half=False):
    trace = e.trace
    half = torch.finfo(x.dtype)
    u = torch.finfo(computes_in(e.norm, x.dtype)).eps / 2
    m = 1 if e.norm.running else e.counts.elements_per_statistic
    g = 0 if e.norm.running else min(m, 16 + log2(m))
    gamma = e.layer_values().gamma
    scale = broadcast(e.norm, e.shape, gamma.double()).abs() if gamma is not None else torch.ones((), dtype=DOUBLE)
    spread = (trace.var.double() + trace.eps).sqrt()
    ratio = torch.maximum(_largest_of_the_group(e, x), trace.mean.double().abs()) / spread
    z, y = trace.normalized.double().abs(), output.double().abs()
    allowed = 2 * u * (g + 5) * (scale * (1 + z) * ratio + y)
    if COMPUTES_IN[x.dtype] != x.dtype:
        allowed = allowed + half.eps * y + half.tiny * half.eps
    if kept_in_half:
        mean = half.eps / 2 * trace.mean.double().abs() + half.tiny * half.eps
        allowed = allowed + 2 * scale * (mean / spread + half.eps / 2 * z)
    return allowed


def _largest_of_the_group(e, x):
    largest = np.zeros(e.counts.statistics)
    np.maximum.at(largest, e.stat_ids.ravel(), x.double().abs().numpy().ravel())
    return torch.tensor(largest[e.stat_ids])


def assert_agrees(module, x):
    e, expected = describe(module, x), forward(module, x)
    trace = e.trace
    assert trace.output.dtype == expected.dtype == x.dtype
    assert trace.mean.dtype == trace.var.dtype == trace.normalized.dtype == computes_in(e.norm, x.dtype)
    difference = (trace.output.double() - expected.double()).abs()
    assert (difference <= tolerance(e, x, expected, kept_in_half(e, module, x))).all(), (difference.max(), e)


def kept_in_half(e, module, x):
    """Whether torch rounds the statistics to x's type. (On CPU; InstanceNorm also rounds its running statistics.)"""
    if COMPUTES_IN[x.dtype] == x.dtype or "track_running_stats" not in e.layer.given:
        return False
    if e.layer.kind.per_instance:
        return e.norm.running or module.weight is None or module.weight.dtype == x.dtype
    numbers = [value.dtype for value in module.state_dict().values() if value.is_floating_point()]
    return not e.norm.running and set(numbers) <= {x.dtype}


@pytest.mark.parametrize("dtype", [HALF, BF16, FLOAT, DOUBLE], ids=str)
@pytest.mark.parametrize("name", IN_TORCH)
def test_the_trace_agrees_with_torch(name, dtype):
    @settings(max_examples=max(1, settings().max_examples // 2))
    @given(layers_that_fit((name,)), st.integers(0, 2**31), st.sampled_from([0, 1, -30, 1000]), st.booleans())
    def agree(drawn, seed, offset, mixed):
        layer, shape = drawn
        if COMPUTES_IN[dtype] != dtype and (layer.given["eps"] or 1) < 1e-5:
            layer = layer.with_(eps=1e-5)  # torch stores 1 / s in float16, whose largest number is 65504
        assume(runs(layer, shape))
        numbers = FLOAT if mixed and COMPUTES_IN[dtype] == FLOAT else dtype
        assert_agrees(
            module_with_random_numbers(layer, numbers, seed, offset), random_tensor(shape, seed + 1, dtype, offset)
        )

    agree()


LARGE = [
    ("LayerNorm(4096)", (3, 4096)),
    ("LayerNorm([3, 31, 37])", (2, 3, 31, 37)),
    ("RMSNorm(4099)", (3, 4099)),
    ("BatchNorm1d(3)", (4096, 3)),
    ("BatchNorm2d(3)", (4, 3, 31, 37)),
    ("InstanceNorm2d(3, affine=True)", (2, 3, 61, 37)),
    ("GroupNorm(2, 6)", (2, 6, 31, 37)),
    ("LayerNorm(2)", (2,) * 12),
    ("BatchNorm3d(2).eval()", (3, 2, 5, 6, 7)),
]


@pytest.mark.parametrize("offset", [0, 100, 10_000])
@pytest.mark.parametrize("dtype", [HALF, BF16, FLOAT, DOUBLE], ids=str)
@pytest.mark.parametrize(("text", "shape"), LARGE)
def test_the_trace_agrees_with_torch_on_large_groups(text, shape, dtype, offset):
    module = module_with_random_numbers(Layer.parse(text), dtype, seed=1, offset=offset)
    assert_agrees(module, random_tensor(shape, 2, dtype, offset))


@pytest.mark.parametrize("name", ["LayerNorm(8)", "RMSNorm(8)", "BatchNorm1d(8)", "GroupNorm(2, 8)"])
def test_memory_order_changes_nothing(name):
    module = module_with_random_numbers(Layer.parse(name), FLOAT, seed=1)
    assert_agrees(module, random_tensor((8, 6), 2, FLOAT).T)
    assert_agrees(module, random_tensor((6, 16), 2, FLOAT)[:, ::2])


def test_the_tolerance_detects_a_one_pass_variance():
    x = random_tensor((64, 256), 0, FLOAT, offset=1000)
    e = describe("LayerNorm(256)", x)
    one_pass = (x - x.mean(1, keepdim=True)) / torch.sqrt(
        x.square().mean(1, keepdim=True) - x.mean(1, keepdim=True) ** 2 + 1e-5
    )
    assert not ((one_pass - e.trace.output).abs() <= tolerance(e, x, e.trace.output)).all()


@pytest.mark.parametrize(("offset", "small"), [(0, 5e-5), (1000, 1e-2)])
def test_the_tolerance_is_small(offset, small):
    x = random_tensor((64, 256), 0, FLOAT, offset=offset)
    e = describe("LayerNorm(256)", x)
    assert tolerance(e, x, e.trace.output).median() < small
