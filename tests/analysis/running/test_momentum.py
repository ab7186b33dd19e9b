import re
from math import inf

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from normviz.analysis.running.stream import Stream, half_life, moving_average, other_momentum, run, two_forms
from normviz.texts.errors import NormvizError

momenta = st.floats(0, 1)
series = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)

CONVERTED = [(0.1, 0.9), (0.9, 0.1), (0.01, 0.99), (0.001, 0.999), (0.3, 0.7), (0.5, 0.5), (0, 1), (1, 0)]


@pytest.mark.parametrize(("torch_s", "keras_s"), CONVERTED)
def test_a_tenth_in_torch_is_nine_tenths_in_keras(torch_s, keras_s):
    assert other_momentum(torch_s) == keras_s
    assert other_momentum(keras_s) == torch_s


@given(momenta)
def test_the_conversion_is_its_own_inverse(momentum):
    assert other_momentum(other_momentum(momentum)) == pytest.approx(momentum, abs=2e-16)
    assert other_momentum(momentum) == pytest.approx(1 - momentum, abs=2e-16)


BY_HAND = [  # of 4, 0, 8, from 0
    (0.5, [2, 1, 4.5]),
    (0.25, [1, 0.75, 2.5625]),
    (0, [0, 0, 0]),
    (1, [4, 0, 8]),
    (None, [4, 2, 4]),
]


@pytest.mark.parametrize(("momentum", "kept"), BY_HAND)
def test_a_moving_average_by_hand(momentum, kept):
    assert moving_average([4, 0, 8], momentum).tolist() == kept
    if momentum is not None:
        forms = two_forms([4, 0, 8], other_momentum(momentum))
        assert forms.weighted.tolist() == forms.stepped.tolist() == kept
        assert forms.largest_difference == 0


def test_a_moving_average_from_another_start_by_hand():
    assert moving_average([4, 0, 8], 0.5, start=8).tolist() == [6, 3, 5.5]


@settings(max_examples=50)
@given(series, st.none() | momenta)
def test_a_moving_average_is_the_buffer_of_torch(values, momentum):
    module = nn.BatchNorm1d(1, momentum=momentum, dtype=torch.float64)
    kept = []
    for value in values:
        module(torch.full((2, 1), value, dtype=torch.float64))
        kept.append(module.running_mean.item())
    assert moving_average(values, momentum) == pytest.approx(kept, rel=1e-12, abs=1e-9)


@settings(max_examples=50)
@given(series, momenta, st.sampled_from([("float64", 2e-16), ("float32", 1.2e-7)]))
def test_both_forms_of_the_update_are_equal_except_for_rounding(values, momentum, dtype):
    name, unit = dtype
    forms = two_forms(values, momentum, dtype=name)
    allowed = 4 * unit * len(values) * max(map(abs, values)) + float(np.finfo(name).tiny)
    assert forms.largest_difference <= allowed
    assert forms.largest_difference == np.abs(forms.weighted - forms.stepped).max()
    assert forms.stepped == pytest.approx(moving_average(values, other_momentum(momentum)), rel=1e-12, abs=allowed)


def test_both_forms_on_the_batch_means_of_a_stream():
    outcome = run(Stream(momentum=0.1, steps=500))
    forms = two_forms(outcome.batch_mean, other_momentum(0.1))
    assert 0 < forms.largest_difference < 1e-14
    assert forms.weighted == pytest.approx(outcome.running_mean, rel=1e-12)
    assert 1e-8 < two_forms(outcome.batch_mean, other_momentum(0.1), dtype="float32").largest_difference < 1e-5


HALF_LIVES = [(0.5, 1), (1, 0), (0, inf), (None, inf), (0.75, 0.5), (1 - 2**-0.25, 4)]


@pytest.mark.parametrize(("momentum", "steps"), HALF_LIVES)
def test_a_half_life_by_hand(momentum, steps):
    assert half_life(momentum) == pytest.approx(steps, rel=1e-12)


@given(st.floats(0.001, 0.999))
def test_after_a_half_life_half_the_weight_is_left(momentum):
    assert (1 - momentum) ** half_life(momentum) == pytest.approx(0.5, rel=1e-9)


def test_a_lower_momentum_forgets_later_in_torch_and_sooner_in_keras():
    lower_to_higher = (0.01, 0.1, 0.5, 0.9, 0.99)
    torch_s = [half_life(momentum) for momentum in lower_to_higher]
    keras_s = [half_life(other_momentum(momentum)) for momentum in lower_to_higher]
    assert torch_s == sorted(torch_s, reverse=True)
    assert keras_s == sorted(keras_s)


def test_the_half_life_agrees_with_a_moving_average_of_one_value():
    """One value of 1 and then zeros."""
    left = {momentum: moving_average([1] + [0] * 9, momentum)[-1] / momentum for momentum in (0.1, 0.5)}
    assert left[0.1] == pytest.approx(0.9**9)
    assert left[0.5] == pytest.approx(0.5**9)
    assert (left[0.1] > left[0.5]) == (half_life(0.1) > half_life(0.5))


@pytest.mark.parametrize("momentum", [0.05, 0.1, 0.5, 1])
def test_the_lag_behind_a_drifting_mean(momentum):
    outcome = run(Stream(momentum=momentum, drift=0.5, steps=500))
    lag = 0.5 * (1 - momentum) / momentum
    assert outcome.true_mean[-1] - outcome.expected_mean[-1] == pytest.approx(lag, rel=1e-6, abs=1e-9)


WRONG = [
    (
        lambda: other_momentum(None),
        "momentum=None, a cumulative average, exists only in torch; give a number from 0 to 1.",
    ),
    (lambda: other_momentum("0.1"), "momentum='0.1' must be a number from 0 to 1."),
    (lambda: half_life(2), "momentum=2 must be a number from 0 to 1, or None for a cumulative average."),
    (lambda: moving_average([[1, 2]], 0.1), "values has the shape (1, 2); give one number for each step"),
    (lambda: moving_average([1], 0.1, start=inf), "start=inf must be a number"),
    (lambda: moving_average([1] * 10_001, 0.1), "values has 10,001 numbers; give 1 to 10,000 numbers."),
    (lambda: two_forms([1], 0.1, dtype="float16"), "dtype='float16' must be float64 or float32."),
    (lambda: two_forms([1], None), "momentum=None must be a number from 0 to 1."),
]


@pytest.mark.parametrize(("call", "words"), WRONG)
def test_invalid_arguments(call, words):
    with pytest.raises(NormvizError, match=re.escape(words)):
        call()


def test_the_longest_series():
    assert len(moving_average([1e12] * 10_000, 0.1)) == len(two_forms([1e12] * 10_000, 0.9, dtype="float32").stepped)
