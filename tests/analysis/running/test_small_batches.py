import re

import numpy as np
import pytest
import torch

from normviz.analysis.running.sampling import SmallBatches, spread
from normviz.analysis.running.torch_module import torch_refusal
from normviz.texts.errors import NormvizError


def test_the_expected_spread_by_hand():
    """sigma is 2, so batches of 4, 16 and 64 have means that spread by 1, 1/2 and 1/4."""
    found = spread(SmallBatches([4, 16, 64]))
    assert found.batch_size.tolist() == [4, 16, 64]
    assert found.expected_spread.tolist() == [1, 0.5, 0.25]


@pytest.mark.parametrize("seed", range(3))
def test_the_means_have_the_expected_spread(seed):
    found = spread(SmallBatches([2**k for k in range(1, 11)], draws=500, seed=seed))
    assert found.mean_spread == pytest.approx(found.expected_spread, rel=4 / 1000**0.5)
    slope = np.polyfit(np.log(found.batch_size), np.log(found.mean_spread), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.02)


def test_the_result_depends_only_on_the_seed():
    one, other, third = (spread(SmallBatches(seed=seed)).mean_spread.tolist() for seed in (5, 5, 6))
    assert one == other != third


@pytest.mark.parametrize("small", [SmallBatches([2], 10), SmallBatches([1024] * 12, 500), SmallBatches(range(2, 5))])
def test_every_limit_can_be_run(small):
    found = spread(small)
    assert len(found.mean_spread) == len(small.batch_sizes)
    assert (found.mean_spread > 0).all()
    assert not found.batch_size.flags.writeable


def test_a_batch_of_one_is_refused_with_the_error_of_torch():
    words = torch_refusal("BatchNorm1d(1)", torch.zeros(1, 1))
    with pytest.raises(NormvizError, match=re.escape(words)):
        SmallBatches([1, 2])


WRONG = [
    ({"batch_sizes": []}, "batch_sizes=[] must be 1 to 12 sizes, as in [2, 8, 32]."),
    ({"batch_sizes": [2] * 13}, "must be 1 to 12 sizes"),
    ({"batch_sizes": 4}, "batch_sizes=4 must be 1 to 12 sizes"),
    ({"batch_sizes": "24"}, "batch_sizes='24' must be 1 to 12 sizes"),
    ({"batch_sizes": [0]}, "batch_size=0 must be a whole number from 1 to 1,024."),
    ({"batch_sizes": [2, 1025]}, "batch_size=1025 must be a whole number from 1 to 1,024."),
    ({"draws": 9}, "draws=9 must be a whole number from 10 to 500."),
    ({"draws": 10**9}, "draws=1000000000 must be a whole number from 10 to 500."),
    ({"seed": -1}, "seed=-1 must be a whole number"),
]


@pytest.mark.parametrize(("given", "words"), WRONG)
def test_invalid_arguments(given, words):
    with pytest.raises(NormvizError, match=re.escape(words)):
        SmallBatches(**given)


def test_cached_results_are_read_only():
    found = spread(SmallBatches())
    assert spread(SmallBatches()) is found
    with pytest.raises(ValueError, match="read-only"):
        found.mean_spread[0] = 0
