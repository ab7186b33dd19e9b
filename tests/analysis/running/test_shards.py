import re
from math import nan

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from normviz.analysis.running.sampling import combine, even_sizes, shard
from normviz.texts.errors import NormvizError
from tests.support.strategies import random_tensor

EPS64 = float(np.finfo(np.float64).eps)
EXTRA_ROUNDINGS = 5  # roundings besides those of the sum


def agrees(x, found):
    """Whether rounding in float64 explains every difference between the shards combined and the whole batch."""
    batch = x.double().flatten(2) if x.ndim > 2 else x.double()
    mean_error, var_error = rounding_errors(batch, found.var, len(found.sizes))
    output = nn.BatchNorm1d(x.shape[1], affine=False, dtype=torch.float64)(batch).numpy()
    output_error = output_rounding_error(output, found.mean, np.sqrt(found.var + 1e-5), (mean_error, var_error))
    return (
        bool((np.abs(found.mean - found.whole_mean) <= mean_error).all())
        and bool((np.abs(found.var - found.whole_var) <= var_error).all())
        and found.mean_difference == np.abs(found.mean - found.whole_mean).max()
        and found.var_difference == np.abs(found.var - found.whole_var).max()
        and found.output_difference <= output_error.max()
    )


# To first order, the rounding error of a mean of n numbers up to M is at most n u M, with u half of float64's eps. The error of the
# variance, whose deviations have the size of std, is at most n u (3 M std + var), plus the square of the mean's error.


def rounding_errors(batch, var, shards):
    """Bounds of the differences between two computations of the mean, and of the variance, of each channel of a batch (N, C, ...); (C,) each.

    Twice the error of one computation, because the errors of two can have opposite signs.
    """
    values = batch.transpose(0, 1).flatten(1)
    unit = 2 * (values.shape[1] + shards + EXTRA_ROUNDINGS) * EPS64 / 2
    largest = values.abs().amax(dim=1).numpy()
    mean = unit * largest
    return mean, unit * (3 * largest * np.sqrt(var) + var) + mean**2


def output_rounding_error(output, mean, std, errors):
    """A bound of the difference between two outputs (x - mean) / std, from the errors of mean and variance.

    The mean's error is divided by std; half the relative error of the variance multiplies the output.
    """
    along_channels = (1, -1) + (1,) * (output.ndim - 2)
    from_mean = (errors[0] / std + 8 * EPS64 * (np.abs(mean) / std)).reshape(along_channels)
    from_std = (errors[1] / std**2 / 2 + 16 * EPS64).reshape(along_channels)
    return from_mean + (np.abs(output) + 1) * from_std


COLUMN = [[0.0], [2.0], [4.0], [6.0]]
BY_HAND = [
    # sizes, shard means, shard variances, their plain average; the variance of all is 5
    ((4,), [3], [5], 5),
    ((2, 2), [1, 5], [1, 1], 1),
    ((1, 3), [0, 4], [0, 8 / 3], 4 / 3),
    ((1, 1, 1, 1), [0, 2, 4, 6], [0, 0, 0, 0], 0),
]


@pytest.mark.parametrize(("sizes", "means", "variances", "naive"), BY_HAND)
def test_four_values_by_hand(sizes, means, variances, naive):
    found = shard(torch.tensor(COLUMN), sizes)
    assert found.counts.tolist() == list(sizes)
    assert found.shard_mean[:, 0].tolist() == means
    assert found.shard_var[:, 0] == pytest.approx(variances)
    assert (found.mean.tolist(), found.whole_mean.tolist()) == ([3], [3])
    assert found.var == pytest.approx([5])
    assert found.whole_var == pytest.approx([5])
    assert found.naive_difference == pytest.approx(5 - naive)
    assert agrees(torch.tensor(COLUMN), found)


def test_outputs_by_hand():
    """Two shards: alone each becomes -1, 1; together the values become -3, -1, 1, 3 over the square root of 5; up to eps."""
    found = shard(torch.tensor(COLUMN), (2, 2))
    assert found.shard_difference == pytest.approx(1 / (1 + 1e-5) ** 0.5 + 1 / (5 + 1e-5) ** 0.5, rel=1e-12)
    assert found.output_difference < 1e-15


def test_torch_refuses_a_shard_of_one_value_unless_it_is_synchronized():
    found = shard(torch.tensor(COLUMN), (1, 3))
    assert found.shard_difference > 0
    assert agrees(torch.tensor(COLUMN), found)
    every = shard(torch.tensor(COLUMN), (1, 1, 1, 1))
    assert every.shard_difference == pytest.approx(nan, nan_ok=True)
    assert agrees(torch.tensor(COLUMN), every)


@st.composite
def batches(draw):
    """A batch of any shape that BatchNorm takes, far from zero or not, and shards of it."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=6))
    shape = (sum(sizes), draw(st.integers(1, 4)), *draw(st.lists(st.integers(1, 4), max_size=3)))
    if shape[0] * np.prod(shape[2:]) < 2:
        sizes, shape = [2], (2, *shape[1:])
    spread, offset = draw(st.sampled_from([1e-3, 1, 1e3])), draw(st.sampled_from([0, 1, -100, 1e6]))
    return offset + spread * random_tensor(shape, draw(st.integers(0, 10**6))), sizes


@settings(max_examples=100)
@given(batches())
def test_the_shards_combined_are_the_whole_batch(drawn):
    x, sizes = drawn
    found = shard(x, sizes)
    assert agrees(x, found), found
    axes = (0, *range(2, x.ndim))
    assert found.mean == pytest.approx(x.numpy().mean(axis=axes), rel=1e-12, abs=1e-12)
    assert found.var == pytest.approx(x.numpy().var(axis=axes), rel=1e-9, abs=1e-9)


CLASSES = {2: nn.BatchNorm1d, 3: nn.BatchNorm1d, 4: nn.BatchNorm2d, 5: nn.BatchNorm3d}


@settings(max_examples=40)
@given(batches())
@torch.no_grad()
def test_the_outputs_of_each_shard_alone_are_those_of_torch(drawn):
    x, sizes = drawn
    module = CLASSES[x.ndim](x.shape[1], dtype=torch.float64)
    whole = module(x).split(sizes)
    accepted = [k for k, part in enumerate(x.split(sizes)) if part.numel() > x.shape[1]]
    differences = [float((module(x.split(sizes)[k]) - whole[k]).abs().max()) for k in accepted]
    assert shard(x, sizes).shard_difference == pytest.approx(
        max(differences, default=nan), rel=1e-9, abs=1e-9, nan_ok=True
    )


@settings(max_examples=50)
@given(batches())
def test_combining_in_pairs_gives_the_same(drawn):
    x, sizes = drawn
    found = shard(x, sizes)
    n, mean, var = found.counts[0], found.shard_mean[0], found.shard_var[0]
    for n_k, mean_k, var_k in zip(found.counts[1:], found.shard_mean[1:], found.shard_var[1:], strict=True):
        delta, together = mean_k - mean, n + n_k
        squares = n * var + n_k * var_k + delta**2 * n * n_k / together
        n, mean, var = together, mean + delta * n_k / together, squares / together
    far = np.abs(found.mean).max() * 1e-12
    assert found.mean == pytest.approx(mean, rel=1e-11, abs=far)
    assert found.var == pytest.approx(var, rel=1e-9, abs=far**2 + 1e-25)


def test_combining_does_not_depend_on_the_order():
    counts, means, variances = (
        np.array([3, 1, 5]),
        np.array([[1.0, 2], [3, 4], [5, 6]]),
        np.array([[1.0, 0], [0, 0], [2, 3]]),
    )
    for order in ([0, 1, 2], [2, 0, 1], [1, 0, 2]):
        mean, var = combine(counts[order], means[order], variances[order])
        assert mean == pytest.approx(np.array([31 / 9, 40 / 9]))
        assert var == pytest.approx(combine(counts, means, variances)[1])


def test_the_tolerance_detects_the_usual_mistakes():
    x = random_tensor((12, 3, 4, 4), 0)
    found = shard(x, (2, 4, 6))
    mean_error, var_error = rounding_errors(x.flatten(2), found.var, 3)
    weights = found.counts[:, None] / found.counts.sum()
    within = (weights * found.shard_var).sum(axis=0)
    for wrong in (found.shard_var.mean(axis=0), within, found.var * 192 / 191):
        assert np.abs(wrong - found.whole_var).max() > 1e6 * var_error.max()
    plain = found.shard_mean.mean(axis=0)
    assert np.abs(plain - found.whole_mean).max() > 1e6 * mean_error.max()


def test_a_constant_batch_and_one_far_from_zero():
    constant, far = torch.full((6, 2), 0.1), 1e12 + 0 * random_tensor((6, 2), 0)
    assert shard(constant, (2, 4)).var == pytest.approx([0, 0], abs=1e-16)
    for x in (constant, far):
        assert agrees(x, shard(x, (2, 4)))


EVEN = [((10, 4), (3, 3, 2, 2)), ((8, 4), (2, 2, 2, 2)), ((5, 1), (5,)), ((3, 3), (1, 1, 1)), ((64, 64), (1,) * 64)]


@pytest.mark.parametrize(("given", "sizes"), EVEN)
def test_even_sizes_by_hand(given, sizes):
    assert even_sizes(*given) == sizes


def test_half_precision_is_computed_in_float64():
    x = random_tensor((6, 2, 3), 0, torch.float16)
    assert shard(x, (2, 4)).shard_difference == shard(x.double(), (2, 4)).shard_difference
    assert shard(x, (2, 4)).var.tolist() == shard(x.double(), (2, 4)).var.tolist()


EXTREMES = [((64, 2**14), 64), ((2**18, 4), 64), ((64, 4, 64, 64), 1), ((2, 1), 2), ((1, 2, 2), 1)]


@pytest.mark.parametrize(("shape", "devices"), EXTREMES)
def test_every_limit_can_be_run(shape, devices):
    x = random_tensor(shape, 0)
    found = shard(x, even_sizes(shape[0], devices))
    assert agrees(x, found)
    assert found.shard_mean.shape == (devices, shape[1])
    assert not found.mean.flags.writeable


x41 = torch.tensor(COLUMN)
WRONG = [
    (lambda: shard(x41, (2, 3)), "sizes=(2, 3) add up to 5 and x has 4 examples; give sizes that add up to it, such as [2, 2]."),
    (lambda: shard(x41, (1,) * 5), "give sizes that add up to it, such as [1, 1, 1, 1]."),
    (lambda: shard(x41, (4, 0)), "size of a shard=0 must be a whole number from 1 to 1,048,576."),
    (lambda: shard(x41, (2.0, 2.0)), "size of a shard=2.0 must be a whole number"),
    (lambda: shard(x41, ()), "sizes=() must be the numbers of examples in 1 to 64 shards, as in [3, 3, 2]."),
    (lambda: shard(x41, 4), "sizes=4 must be the numbers of examples in 1 to 64 shards"),
    (lambda: shard(torch.zeros(65, 1), (1,) * 65), "must be the numbers of examples in 1 to 64 shards"),
    (lambda: shard(torch.zeros(4), (2, 2)), "x has the shape (4,); give (N, C) or (N, C, ...), so that it can be split along N."),
    (lambda: shard(torch.zeros(1, 3), (1,)), "Expected more than 1 value per channel when training, got input size torch.Size([1, 3])"),
    (lambda: shard(torch.full((2, 1), nan), (1, 1)), "x contains NaN or a number outside ±1e+12; give numbers from -1e+12 to 1e+12."),
    (lambda: shard(torch.zeros(2**20 + 1, 1), (2**20 + 1,)), "shard takes an x of 1 to 1,048,576 elements"),
    (lambda: shard([[1.0]], (1,)), "x=[[1.0]] is neither a shape"),
    (lambda: even_sizes(3, 4), "3 examples are too few for 4 devices; give at most 3 devices."),
    (lambda: even_sizes(3, 65), "devices=65 must be a whole number from 1 to 64."),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), WRONG)
def test_invalid_arguments(call, words):
    with pytest.raises(NormvizError, match=re.escape(words)):
        call()
