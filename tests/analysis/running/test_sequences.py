import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from normviz.analysis.running.sampling import Sequences, per_time_step
from normviz.texts.errors import NormvizError


def test_the_sequences_left_at_each_step_by_hand():
    sequences = Sequences(count=4, longest=3, seed=1)
    assert sequences.lengths().tolist() == [2, 3, 1, 3]
    time_steps = per_time_step(sequences)
    assert time_steps.left.tolist() == [4, 3, 2]
    assert time_steps.standard_error.tolist() == [1, pytest.approx(2 / 3**0.5), pytest.approx(2**0.5)]  # sigma is 2


drawn = st.builds(Sequences, st.integers(2, 20), st.integers(1, 15), st.integers(0, 2**31 - 1))


@settings(max_examples=40)
@given(drawn)
def test_every_step_has_the_error_of_a_batch_norm_on_the_sequences_left(sequences):
    time_steps, lengths, draws = per_time_step(sequences), sequences.lengths(), sequences.values()
    assert time_steps.left[0] == sequences.count
    assert (np.diff(time_steps.left) <= 0).all()
    assert len(time_steps.left) == lengths.max() <= sequences.longest
    assert time_steps.left.sum() == lengths.sum()
    for t in range(len(time_steps.left)):
        module = nn.BatchNorm1d(len(draws), momentum=1.0, dtype=torch.float64)  # each draw is a channel
        alive = draws[:, lengths > t, t].T
        assert len(alive) == time_steps.left[t]
        if time_steps.refused[t]:
            with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
                module(alive)
            means = alive[0]
        else:
            module(alive)
            means = module.running_mean
        assert time_steps.rms_error[t] == pytest.approx(float((means - 3).square().mean().sqrt()), rel=1e-9)
    assert (time_steps.refused == (time_steps.left == 1)).all()


def test_torch_refuses_a_step_with_one_sequence():
    time_steps = next(s for s in map(per_time_step, (Sequences(3, 20, seed) for seed in range(20))) if s.refused.any())
    assert (
        time_steps.refusal == "Expected more than 1 value per channel when training, got input size torch.Size([1, 1])"
    )
    assert time_steps.refused[-1]
    assert per_time_step(Sequences(count=256, longest=1)).refusal == ""


def test_the_error_over_draws_is_measured_from_the_true_mean():
    sequences = Sequences(count=2, longest=1)
    means = sequences.values().numpy().mean(axis=1)
    assert per_time_step(sequences).rms_error == pytest.approx(((means - 3) ** 2).mean(axis=0) ** 0.5, rel=1e-12)


def test_the_error_over_many_draws_follows_the_standard_error():
    time_steps = per_time_step(Sequences(count=256, longest=100))
    assert time_steps.rms_error == pytest.approx(time_steps.standard_error, rel=0.3)
    assert (time_steps.rms_error / time_steps.standard_error).mean() == pytest.approx(1, rel=0.02)
    assert time_steps.rms_error[-1] > 5 * time_steps.rms_error[0]


@pytest.mark.parametrize(
    "sequences", [Sequences(2, 1), Sequences(2, 100), Sequences(256, 1, 2**31 - 1), Sequences(256, 100)]
)
def test_every_limit_can_be_run(sequences):
    time_steps = per_time_step(sequences)
    assert np.isfinite(time_steps.rms_error).all()
    assert not time_steps.left.flags.writeable
    assert time_steps.rms_error.tolist() == per_time_step(sequences).rms_error.tolist()


WRONG = [
    ({"count": 1}, "count=1 must be a whole number from 2 to 256."),
    ({"count": 257}, "count=257 must be a whole number from 2 to 256."),
    ({"longest": 0}, "longest=0 must be a whole number from 1 to 100."),
    ({"longest": 10**9}, "longest=1000000000 must be a whole number from 1 to 100."),
    ({"seed": 2**31}, "seed=2147483648 must be a whole number from 0 to 2,147,483,647."),
]


@pytest.mark.parametrize(("given", "words"), WRONG)
def test_invalid_arguments(given, words):
    with pytest.raises(NormvizError, match=re.escape(words)):
        Sequences(**given)


def test_cached_results_are_read_only():
    found = per_time_step(Sequences())
    assert per_time_step(Sequences()) is found
    with pytest.raises(ValueError, match="read-only"):
        found.left[0] = 0
