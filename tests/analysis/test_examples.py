import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from normviz.analysis.examples import DATA, PARAMETERS, example, parameters
from normviz.layers.axes import parse_layout
from normviz.texts.errors import NormvizError
from tests.support.strategies import shapes

NCHW = ("n", "c", "h", "w")


def test_counting_is_row_major():
    assert example("counting", (2, 3), ("n", "d")).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_normal_has_two_decimals_and_follows_its_seed():
    x = example("normal", (2, 3, 4, 4), NCHW)
    assert torch.equal(x, torch.round(x, decimals=2))
    assert torch.equal(x, example("normal", (2, 3, 4, 4), NCHW, seed=0))
    assert not torch.equal(x, example("normal", (2, 3, 4, 4), NCHW, seed=1))


def test_normal_has_about_mean_0_and_variance_1():
    x = example("normal", (100, 100), ("n", "d"))
    assert abs(float(x.mean())) < 5 / 100  # five standard errors
    assert abs(float(x.var()) - 1) < 5 * 2**0.5 / 100


@pytest.mark.parametrize(("layout", "channel"), [("NCHW", 1), ("NHWC", 3), ("NLC", 2), ("LNC", 2), ("ND", 1), ("D", 0)])
def test_scales_give_each_channel_its_own_mean_and_spread(layout, channel):
    axes = parse_layout(layout, len(layout))
    shape = tuple(3 if axis == channel else 400 // len(layout) for axis in range(len(layout)))
    normal, scales = example("normal", shape, axes), example("scales", shape, axes)
    for c in range(3):
        expected = normal.select(channel, c) * (1 + c) + 10 * c
        torch.testing.assert_close(scales.select(channel, c), expected, atol=0.006, rtol=0)


def test_pictures_are_a_disc_stripes_a_slope_and_a_checkerboard():
    disc, stripes, slope, board = example("images", (4, 1, 8, 8), NCHW)[:, 0]
    assert disc[3, 3] == disc.max()
    assert disc[0, 0] == disc[0, 7] == disc[7, 0] == disc[7, 7] == disc.min()
    assert set(stripes.unique().tolist()) == set(board.unique().tolist()) == set(disc.unique().tolist())
    assert (slope.diff(dim=0) >= 0).all()
    assert (slope.diff(dim=1) >= 0).all()
    assert board[0, 0] == board[2, 2] == board[0, 4] != board[0, 2] == board[2, 0]


def test_pictures_are_the_same_in_channels_first_and_channels_last():
    first = example("images", (2, 3, 8, 6), NCHW)
    assert torch.equal(first.permute(0, 2, 3, 1), example("images", (2, 8, 6, 3), ("n", "h", "w", "c")))


def test_a_different_seed_starts_with_a_different_picture():
    assert torch.equal(example("images", (2, 3, 4, 4), NCHW)[1], example("images", (1, 3, 4, 4), NCHW, seed=1)[0])


@given(st.sampled_from(list(DATA)), shapes(1, 6, 4), st.data())
def test_examples_are_finite_and_repeatable_and_do_not_change_the_state_of_torch(name, shape, data):
    axes = tuple(data.draw(st.permutations("ncdhwl"))[: len(shape)])
    seed = data.draw(st.integers(0, 2**31 - 1))
    before = torch.get_rng_state()
    x = example(name, shape, axes, seed)
    assert torch.equal(torch.get_rng_state(), before)
    assert (tuple(x.shape), x.dtype) == (shape, torch.float32)
    assert x.isfinite().all()
    assert torch.equal(x, example(name, shape, axes, seed))
    if name == "images":
        assert 0 <= x.min() <= x.max() <= 1


def test_gamma_and_beta_are_1_and_0_or_their_index():
    gamma, beta = parameters("init", (2, 3))
    assert (gamma.tolist(), beta.tolist()) == ([[1, 1, 1]] * 2, [[0, 0, 0]] * 2)
    gamma, beta = parameters("index", (2, 3))
    assert gamma.tolist() == beta.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_random_gamma_and_beta_follow_the_seed():
    gamma, beta = parameters("random", (3, 4), seed=3)
    assert not torch.equal(gamma, beta)
    assert torch.equal(gamma, parameters("random", (3, 4), seed=3)[0])
    assert not torch.equal(gamma, parameters("random", (3, 4), seed=4)[0])


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("shape", [(), (1,), (3,), (3, 4, 4)])
def test_gamma_and_beta_have_the_shape_asked_for(name, shape):
    gamma, beta = parameters(name, shape)
    assert tuple(gamma.shape) == tuple(beta.shape) == shape
    assert gamma is not beta


REFUSED = [
    (
        lambda: example("noise", (2,), ("d",)),
        "'noise' is not the name of example data; choose normal, counting, scales or images.",
    ),
    (lambda: parameters("ones", (2,)), "'ones' is not a choice for gamma and beta; choose init, index or random."),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_another_name_is_refused(call, words):
    with pytest.raises(NormvizError, match=re.escape(words)):
        call()
