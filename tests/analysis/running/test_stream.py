import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from normviz.analysis.running.stream import (
    START_MEAN,
    START_VAR,
    TRUE_MEAN,
    TRUE_VAR,
    Stream,
    follow,
    moving_average,
    run,
)
from normviz.analysis.running.torch_module import torch_refusal
from normviz.texts.errors import NormvizError

# Three batches of two values. Their means are 2, 6, 2; their biased variances 4, 4, 1; unbiased, twice that.
BATCHES = [[0, 4], [4, 8], [1, 3]]
BY_HAND = [
    # momentum, running_mean from 0, running_var from 1, and running_var if it is updated with biased variances
    (0.5, [1, 3.5, 2.75], [4.5, 6.25, 4.125], [2.5, 3.25, 2.125]),
    (0.25, [0.5, 1.875, 1.90625], [2.75, 4.0625, 3.546875], [1.75, 2.3125, 1.984375]),
    (1, [2, 6, 2], [8, 8, 2], [4, 4, 1]),
    (0, [0, 0, 0], [1, 1, 1], [1, 1, 1]),
    (None, [2, 4, 10 / 3], [8, 8, 6], [4, 4, 3]),
]


@pytest.mark.parametrize(("momentum", "mean", "var", "biased"), BY_HAND)
def test_three_batches_by_hand(momentum, mean, var, biased):
    history = follow(BATCHES, momentum)
    assert history.batch_mean.tolist() == [2, 6, 2]
    assert history.batch_var.tolist() == [4, 4, 1]
    assert history.batch_var_unbiased.tolist() == [8, 8, 2]
    assert history.running_mean == pytest.approx(mean, rel=1e-15)
    assert history.running_var == pytest.approx(var, rel=1e-15)
    assert history.running_var_biased == pytest.approx(biased, rel=1e-15)


def test_the_initial_values_of_torchs_buffers():
    module = nn.BatchNorm1d(1)
    assert (module.running_mean.item(), module.running_var.item()) == (START_MEAN, START_VAR)


def test_the_true_mean_moves_by_drift_per_step():
    outcome = run(Stream(drift=-0.5, steps=4))
    assert outcome.true_mean.tolist() == [3, 2.5, 2, 1.5]
    assert outcome.true_var.tolist() == [4, 4, 4, 4]


def test_the_expected_mean_by_hand():
    outcome = run(Stream(batch_size=2, momentum=0.5, drift=2, steps=3))  # true means 3, 5, 7
    assert outcome.expected_mean.tolist() == [1.5, 3.25, 5.125]


streams = st.builds(
    Stream,
    batch_size=st.integers(2, 40),
    momentum=st.none() | st.floats(0, 1),
    drift=st.floats(-10, 10),
    steps=st.integers(1, 30),
    seed=st.integers(0, 2**31 - 1),
)


@settings(max_examples=50)
@given(streams)
def test_running_statistics_are_the_buffers_of_torch(stream):
    module = nn.BatchNorm1d(1, momentum=stream.momentum, dtype=torch.float64)
    outcome = run(stream)
    for t, batch in enumerate(stream.batches()):
        module(batch[:, None])
        assert outcome.running_mean[t] == module.running_mean.item()
        assert outcome.running_var[t] == module.running_var.item()


@settings(max_examples=50)
@given(streams)
def test_the_biased_running_variance_follows_the_rule_of_keras(stream):
    outcome = run(stream)
    kept = 1.0
    for t, new in enumerate(outcome.batch_var, 1):
        old = 1 - (1 / t if stream.momentum is None else stream.momentum)  # Keras's momentum
        kept = kept * old + new * (1 - old)
        assert outcome.running_var_biased[t - 1] == pytest.approx(kept, rel=1e-13)


@settings(max_examples=50)
@given(streams)
def test_unbiased_and_biased_variances_of_a_run(stream):
    outcome, m = run(stream), stream.batch_size
    x = stream.batches().numpy()
    assert outcome.batch_mean == pytest.approx(x.mean(axis=1), rel=1e-12)
    assert outcome.batch_var == pytest.approx(x.var(axis=1), rel=1e-9, abs=1e-12)
    assert outcome.batch_var_unbiased == pytest.approx(outcome.batch_var * m / (m - 1), rel=1e-12)
    assert (outcome.running_var >= outcome.running_var_biased * (1 - 1e-12)).all()
    assert all(len(array) == stream.steps and not array.flags.writeable for array in vars(outcome).values())


@given(streams)
@settings(max_examples=20)
def test_a_stream_depends_only_on_the_seed(stream):
    assert torch.equal(stream.batches(), stream.batches())
    other = Stream(stream.batch_size, stream.momentum, stream.drift, stream.steps, (stream.seed + 1) % 2**31)
    assert not torch.equal(stream.batches(), other.batches())


@pytest.mark.parametrize("momentum", [0.1, 0.5, None])
@pytest.mark.parametrize("drift", [0.0, 0.5])
def test_the_average_of_the_buffers_is_as_expected(momentum, drift):
    runs = [run(Stream(4, momentum, drift, 20, seed)) for seed in range(400)]
    expected = {
        "running_mean": runs[0].expected_mean,
        "running_var": moving_average([TRUE_VAR] * 20, momentum, START_VAR),
        "running_var_biased": moving_average([TRUE_VAR * 3 / 4] * 20, momentum, START_VAR),  # of batches of 4
    }
    for kept, average in expected.items():
        drawn = np.array([getattr(outcome, kept) for outcome in runs])
        noise = drawn.std(axis=0) / len(runs) ** 0.5
        assert (np.abs(drawn.mean(axis=0) - average) <= 4 * noise).all()


def test_the_batches_have_the_true_mean_and_variance():
    x = Stream(batch_size=1024, steps=500).batches()
    assert x.shape == (500, 1024)
    assert x.mean().item() == pytest.approx(TRUE_MEAN, abs=5 * (TRUE_VAR / x.numel()) ** 0.5)
    assert x.var().item() == pytest.approx(TRUE_VAR, rel=5 * (2 / x.numel()) ** 0.5)


EXTREMES = [
    Stream(2, 0.1, 0, 1),
    Stream(1024, 0.1, 10, 500, 2**31 - 1),
    Stream(2, 0, -10, 500),
    Stream(2, 1, 10, 500),
    Stream(1024, None, -10, 500),
    Stream(np.int64(4), np.float64(0.5), 1, np.int64(3)),
]


@pytest.mark.parametrize("stream", EXTREMES, ids=str)
def test_every_limit_can_be_run(stream):
    outcome = run(stream)
    assert all(np.isfinite(array).all() and len(array) == stream.steps for array in vars(outcome).values())


def test_a_batch_of_one_is_refused_with_the_error_of_torch():
    words = torch_refusal("BatchNorm1d(1)", torch.zeros(1, 1))
    assert words == "Expected more than 1 value per channel when training, got input size torch.Size([1, 1])"
    for refused in (lambda: Stream(batch_size=1), lambda: follow([[1], [2]])):
        with pytest.raises(NormvizError, match=re.escape(f'torch refuses: "{words}". The variance of one value is 0')):
            refused()


WRONG = [
    ({"batch_size": 0}, "batch_size=0 must be a whole number from 1 to 1,024."),
    ({"batch_size": 1025}, "batch_size=1025 must be a whole number from 1 to 1,024."),
    ({"batch_size": 2.0}, "batch_size=2.0 must be a whole number"),
    ({"batch_size": True}, "batch_size=True must be a whole number"),
    ({"steps": 10**9}, "steps=1000000000 must be a whole number from 1 to 500."),
    ({"steps": 10**5000}, "steps=a value too long to print must be a whole number from 1 to 500."),
    ({"momentum": 2}, "momentum=2 must be a number from 0 to 1, or None for a cumulative average."),
    ({"momentum": -0.1}, "momentum=-0.1 must be a number from 0 to 1"),
    ({"momentum": float("nan")}, "momentum=nan must be a number from 0 to 1"),
    ({"drift": 11}, "drift=11 must be a number from -10 to 10."),
    ({"drift": float("nan")}, "drift=nan must be a number from -10 to 10."),
    ({"drift": 10**400}, "must be a number from -10 to 10."),
    ({"drift": "1"}, "drift='1' must be a number from -10 to 10."),
    ({"seed": -1}, "seed=-1 must be a whole number from 0 to 2,147,483,647."),
    ({"seed": None}, "seed=None must be a whole number"),
]


@pytest.mark.parametrize(("given", "words"), WRONG)
def test_invalid_streams(given, words):
    with pytest.raises(NormvizError, match=re.escape(words)):
        Stream(**given)


WRONG_BATCHES = [
    ([1, 2, 3], "batches has the shape (3,); give (steps, batch_size)."),
    ([[1, 2], [3]], "must be numbers."),
    ([["a", "b"]], "must be numbers."),
    ([[1, float("nan")]], "batches contains NaN or a number outside ±1e+12; give numbers from -1e+12 to 1e+12."),
    ([[1, 2e12]], "batches contains NaN or a number outside ±1e+12"),
    ([[1, 2]] * 501, "steps=501 must be a whole number from 1 to 500."),
    ([[1] * 1025], "batch_size=1025 must be a whole number from 1 to 1,024."),
    ([], "batches has 0 numbers; give 1 to 512,000 numbers."),
]


@pytest.mark.parametrize(("batches", "words"), WRONG_BATCHES)
def test_invalid_batches(batches, words):
    with pytest.raises(NormvizError, match=re.escape(words)):
        follow(batches)
