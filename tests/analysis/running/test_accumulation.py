import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from normviz.analysis.running.accumulation import accumulate
from normviz.analysis.running.shards import shard
from normviz.layers.errors import NormvizError
from tests.strategies import random_tensor


def test_two_micro_batches_by_hand():
    """0, 2, 4, 6: each half alone becomes -1, 1; all together become -3, -1, 1, 3 over the square root of 5."""
    found = accumulate("BatchNorm1d(1, eps=1e-12)", torch.tensor([[0.0], [2.0], [4.0], [6.0]]), (2, 2))
    assert found.micro_output == pytest.approx(np.array([[-1], [1], [-1], [1]]))
    assert found.whole_output == pytest.approx(np.array([[-3], [-1], [1], [3]]) / 5**0.5)
    assert found.output_difference == pytest.approx(1 + 1 / 5**0.5)
    assert (found.whole_updates, found.micro_updates) == (1, 2)
    assert found.gradient_difference > 0.01


SHAPE = (6, 4, 3, 3)
SAME = ["LayerNorm([4, 3, 3])", "LayerNorm(3)", "RMSNorm([3, 3])", "GroupNorm(2, 4)", "InstanceNorm2d(4, affine=True)"]
DIFFERENT = ["BatchNorm2d(4)", "BatchNorm2d(4, track_running_stats=False)", "SyncBatchNorm(4)", "BatchNorm2d(4).eval()"]


@pytest.mark.parametrize("layer", SAME)
def test_layers_that_read_one_example_at_a_time_do_not_notice(layer):
    found = accumulate(layer, random_tensor(SHAPE, 0), (1, 2, 3))
    assert found.output_difference <= 1e-14
    assert found.gradient_difference <= 1e-13
    assert (found.whole_updates, found.micro_updates) == (0, 0)


@pytest.mark.parametrize("layer", DIFFERENT)
def test_batch_norm_does(layer):
    found = accumulate(layer, random_tensor(SHAPE, 0), (1, 2, 3))
    assert found.output_difference > 0.1
    assert found.gradient_difference > 0.01
    updates = (0, 0) if "False" in layer else (1, 3)
    assert (found.whole_updates, found.micro_updates) == updates


@settings(max_examples=30)
@given(st.lists(st.integers(2, 5), min_size=1, max_size=4), st.integers(1, 3), st.integers(0, 1000))
def test_micro_batches_are_shards_without_synchronization(sizes, channels, seed):
    x = random_tensor((sum(sizes), channels), seed)
    parts, found = shard(x, sizes), accumulate(f"BatchNorm1d({channels})", x, sizes)
    assert found.micro_output == pytest.approx(parts.shard_output, abs=1e-9)
    assert found.whole_output == pytest.approx(parts.whole_output, abs=1e-9)
    assert found.micro_updates == len(sizes)
    if len(sizes) == 1:
        assert found.output_difference == found.gradient_difference == 0


def test_the_gradient_is_that_of_gamma_summed_over_the_parts():
    x = random_tensor((4, 2), 0)
    found = accumulate("BatchNorm1d(2)", x, (2, 2), seed=3)
    loss = torch.randn(4, 2, generator=torch.Generator().manual_seed(3), dtype=torch.float64).numpy() / 4
    assert found.whole_gradient == pytest.approx((loss * found.whole_output).sum(axis=0))  # beta is 0, gamma 1
    assert found.micro_gradient == pytest.approx((loss * found.micro_output).sum(axis=0))


def test_without_gamma_there_is_no_gradient():
    found = accumulate("BatchNorm1d(2, affine=False)", random_tensor((4, 2), 0), (2, 2))
    assert found.whole_gradient is found.micro_gradient is found.gradient_difference is None


def test_the_largest_batch_in_the_most_parts():
    found = accumulate("BatchNorm2d(4)", random_tensor((64, 4, 64, 64), 0), (1,) * 64)
    assert found.micro_updates == 64
    assert not found.micro_output.flags.writeable


x42 = torch.zeros(4, 2)
WRONG = [
    (lambda: accumulate("BatchNorm1d(2)", x42, (3, 1)), "Expected more than 1 value per channel when training, got input size torch.Size([1, 2])"),
    (lambda: accumulate("BatchNorm1d(2)", x42, (3, 2)), "sizes=(3, 2) add up to 5 and x has 4 examples"),
    (lambda: accumulate("BatchNorm1d(3)", x42, (2, 2)), "running_mean should contain 2 elements not 3"),
    (lambda: accumulate("LayerNorm([4, 2])", x42, (2, 2)), "normalized_shape must be the last sizes of x"),
    (lambda: accumulate("DimNorm(2)", x42, (2, 2)), "torch.nn has no DimNorm"),
    (lambda: accumulate("BatchNorm1d(2)", x42 / 0, (2, 2)), "x contains NaN or a number outside ±1e+12"),
    (lambda: accumulate("BatchNorm1d(2)", x42, (2, 2), seed=-1), "seed=-1 must be a whole number"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), WRONG)
def test_what_cannot_be_asked(call, words):
    with pytest.raises(NormvizError, match=re.escape(words)):
        call()
