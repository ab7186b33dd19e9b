"""The name of a layer: the layers on an x, and the layer of a Norm, by what it computes and by its axes."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from normviz.analysis.description import describe
from normviz.layers import naming
from normviz.layers.layer import Layer
from normviz.layers.naming import torch_layer
from normviz.layers.norm import Norm
from normviz.texts.errors import NormvizError
from tests.fuzz.measure import cost
from tests.layers.test_fit import MANY_DIVISORS, takes
from tests.support.needs import cases_in_torch
from tests.support.strategies import IN_TORCH, layers_that_fit, norms

FOUND = [
    (Norm("n c h w -> n", "c h w"), (2, 3, 4, 5), "LayerNorm([3, 4, 5])"),
    (Norm("n c h w -> n", "c"), (2, 3, 4, 5), "GroupNorm(1, 3)"),
    (Norm("n c h w -> n c", "c"), (2, 3, 4, 5), "InstanceNorm2d(3, affine=True)"),
    (Norm("c h w -> c", "c"), (3, 4, 5), "InstanceNorm2d(3, affine=True)"),
    (Norm("n c h w -> c", "c", bias=False), (2, 3, 4, 5), "BatchNorm2d(3, bias=False)"),
    (Norm("n c h w -> c", None), (2, 3, 4, 5), "BatchNorm2d(3, affine=False)"),
    (Norm("n c h w -> c", "c", running=True), (2, 3, 4, 5), "BatchNorm2d(3).eval()"),
    (Norm("c h w -> c", running=True), (3, 4, 5), "InstanceNorm2d(3, track_running_stats=True).eval()"),
    (Norm("n (g k) h -> n g", "c", sizes={"g": 3}), (2, 6, 4), "GroupNorm(3, 6)"),
    (Norm("n (g k) h -> n g", "c", sizes={"k": 3}, eps=0.5), (2, 6, 4), "GroupNorm(2, 6, eps=0.5)"),
    (Norm("n (g k) h -> n k g", "g k", sizes={"k": 3}), (2, 6, 4), None),
    (Norm("n (g k) h -> n k g", sizes={"k": 3}), (2, 6, 4), "LayerNorm([4], elementwise_affine=False)"),
    (Norm("n (g k) h -> n k", "c", sizes={"k": 3}), (2, 6, 4), None),
    (Norm("n d -> n", "d", center=False, eps=None, bias=False), (2, 5), "RMSNorm([5])"),
    (Norm("n d -> n", "d", center=False, eps=None), (2, 5), None),
    (Norm("n d -> n", "d", center=False, eps=1e-5, bias=False), (2, 5), "RMSNorm([5], eps=1e-05)"),
    (Norm("n d -> n", "d", eps=None), (2, 5), None),
    (Norm("n d -> n", ""), (2, 5), None),
    (Norm("n d -> d", "d", center=False), (2, 5), None),
    (Norm("n c h w -> n h w", "c"), (2, 3, 4, 5), None),
    (Norm("n c h w -> n h w", "c"), (2, 3, 1, 1), "GroupNorm(1, 3)"),
    (Norm("a b -> b a", "b"), (2, 1), "LayerNorm([1])"),
    (Norm("h w -> h w", "h w"), (4, 5), None),
    (Norm("a b c d e f -> b", "b"), (2, 3, 1, 1, 1, 1), None),
    (Norm("d -> d"), (4,), None),
    (Norm("n c h -> n", "c h", bias=False), (2, 3, 4), "LayerNorm([3, 4], bias=False)"),
    (Norm("n (g k) h -> n g", "c", bias=False, sizes={"g": 3}), (2, 6, 4), "GroupNorm(3, 6, bias=False)"),
    (Norm("n (g k) -> n", sizes={"k": 2}), (2, 6), "LayerNorm([6], elementwise_affine=False)"),
    (Norm("n (g k) -> n", "g", sizes={"g": 6}), (2, 6), "LayerNorm([6])"),
]


@cases_in_torch
@pytest.mark.parametrize(("norm", "shape", "text"), FOUND)
def test_the_torch_layer_of_a_norm(norm, shape, text):
    found = torch_layer(norm, shape)
    assert (None if found is None else str(found)) == text


@given(layers_that_fit(IN_TORCH))
def test_every_layer_of_torch_is_found_from_its_norm(drawn):
    layer, shape = drawn
    assume(layer.name != "SyncBatchNorm")
    assume(takes(layer, shape))
    try:
        norm = describe(layer, shape).norm
    except NormvizError:
        return
    found = torch_layer(norm, shape)
    assert found is not None
    assert_does_the_same(found, norm, shape)


@given(st.booleans().flatmap(norms))
def test_the_torch_layer_of_any_norm_does_what_the_norm_does(drawn):
    norm, shape = drawn
    found = torch_layer(norm, shape)
    if found is not None:
        assert_does_the_same(found, norm, shape)


def assert_does_the_same(layer, norm, shape):
    one, other = describe(layer, shape), describe(norm, shape)
    assert (one.norm.center, one.norm.eps, one.norm.running) == (norm.center, norm.eps, norm.running)
    assert one.counts.gamma_shape == other.counts.gamma_shape
    assert one.counts.beta_shape == other.counts.beta_shape
    pairs = set(zip(one.stat_ids.ravel().tolist(), other.stat_ids.ravel().tolist(), strict=True))
    assert len(pairs) == one.counts.statistics == other.counts.statistics
    assert (one.param_ids is None) == (other.param_ids is None)
    if one.param_ids is not None:
        assert np.array_equal(one.param_ids, other.param_ids)


LARGE = [
    (Norm("n (g k) h -> n g", "c", sizes={"g": 2**39}), (2, 2**40, 4), f"GroupNorm({2**39}, {2**40})"),
    (Norm("n c h w -> n h w", "c"), (2, MANY_DIVISORS, 2**40, 4), None),
    (Norm("n c h w -> n c", "c"), (2, MANY_DIVISORS, 2**40, 4), f"InstanceNorm2d({MANY_DIVISORS}, affine=True)"),
    (Norm("n d -> n", "d"), (3, 2**40), f"LayerNorm([{2**40}])"),
]


@pytest.mark.parametrize(("norm", "shape", "text"), LARGE)
def test_the_torch_layer_of_a_huge_norm_is_found_in_few_calls(norm, shape, text):
    found = cost(lambda: torch_layer(norm, shape))
    assert (None if found.result is None else str(found.result)) == text
    assert found.calls < 20_000


LAYERS = [
    ("n c h w -> n c", None, (2, 3, 4, 5), "InstanceNorm2d(3)", "InstanceNorm2d(3)"),
    ("n c l -> n c", None, (2, 3, 4), "LayerNorm([4], elementwise_affine=False)", "LayerNorm([4], elementwise_affine=False)"),
    ("n c d h w -> n c", None, (2, 3, 4, 5, 6), "InstanceNorm3d(3)", "InstanceNorm3d(3)"),
    ("n c h w -> c", "c", (2, 3, 4, 5), "BatchNorm2d(3)", "BatchNorm2d(3)"),
    ("n h w c -> c", "c", (2, 4, 5, 3), "ChannelsLastBatchNorm(3)", "BatchNorm2d(3)"),
    ("n h w c -> n", "h w c", (2, 4, 5, 3), "LayerNorm([4, 5, 3])", "LayerNorm([4, 5, 3])"),
    ("n d c -> n", "c", (2, 4, 3), "ChannelsLastGroupNorm(1, 3)", "GroupNorm(1, 3)"),
    ("n c l -> c l", None, (2, 3, 4), "None", "None"),
]  # fmt: skip


@pytest.mark.parametrize(("stats", "params", "shape", "layer", "moved"), LAYERS)
def test_a_norm_is_a_layer(stats, params, shape, layer, moved):
    norm, names = Norm(stats, params), tuple(stats.partition(" ->")[0].split())
    assert str(naming.usual_layer(norm, shape)) == layer
    assert str(naming.layer_of_channels(norm, names, shape)) == moved


def test_a_preferred_layer_comes_first():
    norm, preferred = Norm("n c l -> n c", None), [Layer.parse("BatchNorm1d(3)"), Layer.parse("InstanceNorm1d(3)")]
    assert str(naming.usual_layer(norm, (2, 3, 4), preferred)) == "InstanceNorm1d(3)"
