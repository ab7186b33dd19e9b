from fractions import Fraction
from math import inf, nan
from statistics import pvariance

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from normviz import NormvizError
from normviz.analysis.rounding import (
    DISTANCES,
    DTYPES,
    GROUP_SIZES,
    LARGEST_DISTANCE,
    LAYERS,
    by_hand,
    exact_variance,
    example_group,
    read_eps,
    root_mean_square,
    torch_output,
)
from tests.support.needs import cases_in_torch, needs_half

DOUBLE = torch.float64
FINITE = st.floats(-1e6, 1e6, allow_nan=False)

EXACT = [
    ([1.0, 2.0, 4.0], Fraction(14, 9)),
    ([1.0, 1.0], Fraction(0)),
    ([0.5, -0.5], Fraction(1, 4)),
    ([2.0**-149, 0.0], Fraction(1, 2**300)),
    ([1e7, 1e7 + 1], Fraction(1, 4)),
]


@pytest.mark.parametrize(("x", "expected"), EXACT)
def test_the_exact_variance_by_hand(x, expected):
    assert exact_variance(torch.tensor(x, dtype=DOUBLE)) == expected


@given(st.lists(FINITE, min_size=1, max_size=20), st.sampled_from([*DTYPES]))
def test_the_exact_variance_is_that_of_fractions(values, dtype):
    x = torch.tensor(values, dtype=DOUBLE).clamp(-6e4, 6e4).to(DTYPES[dtype])
    assert exact_variance(x) == pvariance([Fraction(value) for value in x.double().tolist()])


@needs_half
def test_a_sequence_is_the_same_noise_everywhere():
    near, far = example_group("float64", 0, 64, seed=3), example_group("float64", 1e4, 64, seed=3)
    assert torch.allclose(far - 1e4, near, atol=1e-11)
    assert torch.equal(example_group("float16", 0, 64, seed=3), near.half())
    assert torch.equal(example_group("float64", 0, 64, seed=3, spread=0.5), 0.5 * near)
    assert not torch.equal(example_group("float64", 0, 64, seed=4), near)


@needs_half
def test_the_settings():
    assert DISTANCES == (1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7)
    assert [*DTYPES] == ["float16", "bfloat16", "float32", "float64"]
    assert example_group("float16", LARGEST_DISTANCE, GROUP_SIZES[-1]).isinf().all()


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_torchs_own_layers_use_all_numbers_as_one_group(name, dtype):
    x = example_group(dtype, 1, 64)
    y = torch_output(name, x, 0.5)
    assert y.dtype == x.dtype
    assert torch.allclose(y.double(), by_hand(x.double(), 0.5), rtol=0, atol=8 * torch.finfo(x.dtype).eps)


def test_root_mean_square_by_hand():
    assert root_mean_square(torch.tensor([3.0, -4.0, 0.0, 0.0])) == 2.5
    assert root_mean_square(torch.tensor([300.0, 300.0], dtype=torch.float16)) == 300


REFUSED = [
    ({"dtype": "float8"}, "dtype='float8' is unknown; choose float16, bfloat16, float32 or float64"),
    ({"dtype": None}, "dtype=None is unknown"),
    ({"dtype": ["float16"]}, "is unknown"),
    ({"distance": -1}, "distance=-1 must be a number from 0 to 1e\\+07"),
    ({"distance": 1e8}, "distance=100000000.0 must be a number from 0"),
    ({"distance": nan}, "distance=nan must be a number"),
    ({"distance": inf}, "distance=inf must be a number"),
    ({"distance": 10**400}, "must be a number from 0"),
    ({"distance": True}, "must be a number from 0"),
    ({"distance": "far"}, "must be a number from 0"),
    ({"size": 1}, "size=1 must be a whole number from 2 to 1,024"),
    ({"size": 1025}, "must be a whole number from 2 to 1,024"),
    ({"size": 10**9}, "must be a whole number from 2 to 1,024"),
    ({"size": 2.5}, "must be a whole number"),
    ({"seed": -1}, "seed=-1 must be a whole number from 0 to 2,147,483,647"),
    ({"spread": 0}, "spread=0 must be a number from 1e-12 to 1000"),
]


@cases_in_torch
@pytest.mark.parametrize(("settings", "words"), REFUSED, ids=range(len(REFUSED)))
def test_invalid_arguments(settings, words):
    with pytest.raises(NormvizError, match=words):
        example_group(**({"dtype": "float32"} | settings))


@needs_half
def test_eps_and_numbers_without_an_exact_variance():
    for eps in (0, -1, 2, nan, inf, "1", None):
        with pytest.raises(NormvizError, match=r"eps=.* must be a number from 1e-30 to 1"):
            read_eps(eps)
    for exact in (exact_variance,):
        with pytest.raises(NormvizError, match="not finite in float16; choose values closer to 0"):
            exact(example_group("float16", 1e5))
