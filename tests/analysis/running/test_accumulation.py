import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from normviz.analysis.running.sampling import accumulation_difference, shard
from normviz.texts.errors import NormvizError
from tests.support.strategies import random_tensor


def test_two_micro_batches_by_hand():
    """0, 2, 4, 6: each half alone becomes -1, 1; all together become -3, -1, 1, 3 over the square root of 5."""
    x = torch.tensor([[0.0], [2.0], [4.0], [6.0]])
    assert accumulation_difference("BatchNorm1d(1, eps=1e-12)", x, (2, 2)) == pytest.approx(1 + 1 / 5**0.5)


SHAPE = (6, 4, 3, 3)
SAME = ["LayerNorm([4, 3, 3])", "LayerNorm(3)", "RMSNorm([3, 3])", "GroupNorm(2, 4)", "InstanceNorm2d(4, affine=True)"]
DIFFERENT = ["BatchNorm2d(4)", "BatchNorm2d(4, track_running_stats=False)", "SyncBatchNorm(4)", "BatchNorm2d(4).eval()"]


@pytest.mark.parametrize("layer", SAME)
def test_micro_batches_do_not_change_layers_that_normalize_each_example(layer):
    assert accumulation_difference(layer, random_tensor(SHAPE, 0), (1, 2, 3)) <= 1e-14


@pytest.mark.parametrize("layer", DIFFERENT)
def test_micro_batches_change_batch_norm(layer):
    assert accumulation_difference(layer, random_tensor(SHAPE, 0), (1, 2, 3)) > 0.1


@settings(max_examples=30)
@given(st.lists(st.integers(2, 5), min_size=1, max_size=4), st.integers(1, 3), st.integers(0, 1000))
def test_micro_batches_are_shards_without_synchronization(sizes, channels, seed):
    x = random_tensor((sum(sizes), channels), seed)
    found = accumulation_difference(f"BatchNorm1d({channels})", x, sizes)
    assert found == pytest.approx(shard(x, sizes).shard_difference, abs=1e-9)


def test_the_largest_batch_in_the_most_parts():
    assert accumulation_difference("BatchNorm2d(4)", random_tensor((64, 4, 64, 64), 0), (1,) * 64) > 0


x42 = torch.zeros(4, 2)
WRONG = [
    (lambda: accumulation_difference("BatchNorm1d(2)", x42, (3, 1)), "Expected more than 1 value per channel when training, got input size torch.Size([1, 2])"),
    (lambda: accumulation_difference("BatchNorm1d(2)", x42, (3, 2)), "sizes=(3, 2) add up to 5 and x has 4 examples"),
    (lambda: accumulation_difference("BatchNorm1d(3)", x42, (2, 2)), "running_mean should contain 2 elements not 3"),
    (lambda: accumulation_difference("LayerNorm([4, 2])", x42, (2, 2)), "normalized_shape must be the last sizes of x"),
    (lambda: accumulation_difference("DimNorm(2)", x42, (2, 2)), "torch.nn has no DimNorm"),
    (lambda: accumulation_difference("BatchNorm1d(2)", x42 / 0, (2, 2)), "x contains NaN or a number outside ±1e+12"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), WRONG)
def test_invalid_arguments(call, words):
    with pytest.raises(NormvizError, match=re.escape(words)):
        call()
