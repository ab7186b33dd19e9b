"""A negative eps: normviz computes with it wherever torch does, and gives NaN wherever torch does."""

import re
from math import inf, nan

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from normviz import NormvizError, NormvizWarning, explain
from normviz.analysis.description import describe
from normviz.code.programs import code
from normviz.layers.catalogue import KINDS
from normviz.layers.layer import Layer
from tests.support.needs import needs_refused_eps
from tests.support.strategies import (
    IN_TORCH,
    describe_or_reject,
    forward,
    layers_that_fit,
    module_with_random_numbers,
    random_tensor,
)

X = [[0.0, 4.0], [1.0, 3.0]]  # variances of the rows: 4 and 1; mean squares: 8 and 5
BY_HAND = [
    ("LayerNorm(2, eps=-3)", [[-2, 2], [nan, nan]]),
    ("LayerNorm(2, eps=-4)", [[-inf, inf], [nan, nan]]),
    ("RMSNorm(2, eps=-4)", [[0, 2], [1, 3]]),
    ("RMSNorm(2, eps=-8)", [[nan, inf], [nan, nan]]),
    ("GroupNorm(1, 2, eps=-3)", [[-2, 2], [nan, nan]]),
    ("InstanceNorm1d(2, eps=-3)", [[-2, 2], [nan, nan]]),
    ("InstanceNorm1d(2, eps=-0.75, track_running_stats=True).eval()", [[0, 8], [2, 6]]),
    ("DimNorm(2, eps=-3)", [[-2, 2], [nan, nan]]),
]


@pytest.mark.parametrize(("layer", "output"), BY_HAND)
def test_the_output_by_hand(layer, output):
    e = describe(layer, torch.tensor(X))
    assert np.array_equal(e.trace.output.numpy(), output, equal_nan=True)
    assert e.agreement in (0.0, None)


@pytest.mark.parametrize("name", [name for name in IN_TORCH if "BatchNorm" not in name])
@given(data=st.data(), eps=st.sampled_from([-0.5, -1e-5]))
def test_the_output_is_nan_exactly_where_torchs_is(name, data, eps):
    drawn, shape = data.draw(layers_that_fit((name,)))
    layer, x = drawn.with_(eps=eps), random_tensor(shape, 0)
    e = describe_or_reject(module_with_random_numbers(layer, torch.float64, seed=1), x)
    assert e.norm.eps == eps
    found, expected = e.trace.output, forward(module_with_random_numbers(layer, torch.float64, seed=1), x)
    assert torch.allclose(found, expected, rtol=1e-6, atol=1e-6, equal_nan=True)


@needs_refused_eps
@pytest.mark.parametrize("name", [name for name in KINDS if "BatchNorm" in name])
@pytest.mark.parametrize(("mode", "rule"), [("", "positive during training"), (".eval()", "non-negative")])
def test_batch_norm_refuses_it_in_torchs_words(name, mode, rule):
    layer, shape = Layer.parse(f"{name}(3, eps=-0.5){mode}"), (2, 3, 3, 3, 3)[: KINDS[name].ranks[0]]
    with pytest.raises(ValueError, match=(words := f"batch_norm eps must be {rule}, but got -0.5")):
        layer.module()(torch.randn(shape))
    with pytest.raises(NormvizError, match=re.escape(f'torch refuses: "{words}". Give a small eps, such as 1e-5.')):
        explain(layer, shape)


@pytest.mark.parametrize("layer", ["LayerNorm(3, eps=-0.5)", "Norm('n c -> n', eps=-0.5)"])
def test_a_negative_eps_has_a_note(layer):
    note = "eps=-0.5 is negative, so var + eps can be negative too; its square root and the output are NaN there."
    with pytest.warns(NormvizWarning, match=re.escape(note)):
        assert explain(layer, (2, 3)).notes == (note,)


def test_code_subtracts_it():
    assert "torch.sqrt(var - 0.5)" in code(describe("LayerNorm(3, eps=-0.5)", (2, 3)), "torch-scratch")
