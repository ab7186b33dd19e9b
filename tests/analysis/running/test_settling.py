import re
from math import prod

import numpy as np
import pytest

from normviz import Layer
from normviz.analysis.running.stream import Stream, run, settle, settled
from normviz.analysis.running.torch_module import buffers
from normviz.texts.errors import NormvizError
from tests.support.strategies import IN_TORCH

SETTLED = [
    # errors, and the number of steps after which they stay within the tolerance 1
    ([3, 2, 1, 0.5], 3),
    ([3, 0.5, 2, 1, 0.5], 4),
    ([0, 0], 1),
    ([0, 2], None),
    ([2], None),
    ([float("nan"), 0], 2),
    ([0, float("nan")], None),
]


@pytest.mark.parametrize(("errors", "steps"), SETTLED)
def test_settled_by_hand(errors, steps):
    assert settled(np.array(errors, dtype=float), 1.0) == steps


def test_settling_by_hand():
    """Without noise: momentum 1/2 leaves 3/2, 3/4, 3/8 of the initial error 3 of the mean."""
    found = settle(Stream(batch_size=2, momentum=0.5, steps=10), tolerance=0.25)
    assert found.expected_mean_steps == 3  # 3 / 8 of 2 is 0.1875, 3 / 4 of 2 is 0.375


@pytest.mark.parametrize("momentum", [0.01, 0.1, 0.3, 0.9])
@pytest.mark.parametrize("tolerance", [0.01, 0.25, 1.0])
def test_the_expected_mean_follows_the_formula(momentum, tolerance):
    steps = int(np.ceil(np.log(tolerance * 2 / 3) / np.log(1 - momentum)))
    found = settle(Stream(momentum=momentum, steps=500), tolerance)
    assert found.expected_mean_steps == (steps if steps <= 500 else None)


def test_large_batches_settle_as_expected_and_small_ones_may_not():
    large = settle(Stream(batch_size=1024, steps=200))
    assert large.mean_steps == large.expected_mean_steps == 18
    assert settle(Stream(batch_size=2, steps=200), tolerance=0.01).mean_steps is None
    assert settle(Stream(drift=1, steps=200)).expected_mean_steps is None  # it lags by 9


def test_the_error_of_a_run_is_measured_from_the_true_mean():
    stream = Stream(batch_size=256, drift=0.01)
    outcome = run(stream)
    error = np.abs(outcome.running_mean - outcome.true_mean) / 2
    assert settle(stream).mean_steps == settled(error, 0.25) is not None


@pytest.mark.parametrize("momentum", [0, 1, None])
def test_momentum_at_its_limits(momentum):
    found = settle(Stream(batch_size=1024, momentum=momentum, steps=500))
    assert found.expected_mean_steps == (None if momentum == 0 else 1)


@pytest.mark.parametrize("name", IN_TORCH)
def test_the_sizes_of_the_buffers_sum_to_the_count_of_the_layer(name):
    sizes = {"LayerNorm": "[3, 4]", "RMSNorm": "[3, 4]", "GroupNorm": "2, 4"}
    layer = Layer.parse(f"{name}({sizes.get(name, '5')})")
    assert sum(map(prod, buffers(layer).values())) == layer.buffers()


def test_the_buffers_of_torch():
    kept = {"running_mean": (5,), "running_var": (5,), "num_batches_tracked": ()}
    assert buffers("BatchNorm2d(5)") == buffers("InstanceNorm2d(5, track_running_stats=True)") == kept
    assert buffers("BatchNorm2d(5, track_running_stats=False)") == buffers("InstanceNorm2d(5)") == {}
    assert sum(map(prod, buffers(f"BatchNorm1d({2**20})").values())) == 2**21 + 1


WRONG = [
    (lambda: settle(Stream(), 0), "tolerance=0 must be a number from 0.001 to 1."),
    (lambda: settle(Stream(), float("nan")), "tolerance=nan must be a number from 0.001 to 1."),
    (lambda: buffers("DimNorm(3)"), "torch.nn has no DimNorm; give a layer of torch.nn, such as BatchNorm2d(3)."),
    (lambda: buffers("BatchNorm1d(2000000)"), "'BatchNorm1d(2000000)' is too large to run; give sizes of at most 1,048,576"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), WRONG)
def test_invalid_arguments(call, words):
    with pytest.raises(NormvizError, match=re.escape(words)):
        call()
