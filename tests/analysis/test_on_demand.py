"""Noise by a hash of the seed and of the index: the same numbers everywhere, normal, and without overflow."""

from statistics import NormalDist

import numpy as np
import pytest
import torch

from normviz.analysis.examples import (
    DATA,
    PARAMETERS,
    everywhere,
    example,
    example_on_demand,
    parameters,
    parameters_on_demand,
)
from normviz.analysis.on_demand import BITS, OnDemand, float_positions, hashed_noise, hashes
from normviz.texts.errors import NormvizError

NCHW = ("n", "c", "h", "w")
FAR = 2**40 - 1
HASHES, NOISE = [10134167572453724827, 16652526507510397265], [[0.12, 0.6], [1.3, -1.06]]


def test_the_numbers_are_always_these():
    """A link keeps its values, on every platform and in every version."""
    assert hashes(7, np.ix_([0, 1], [2])).ravel().tolist() == HASHES
    assert hashed_noise(7, np.ix_([0, 1], [2, FAR])).tolist() == torch.tensor(NOISE).tolist()


def splitmix(seed, index):
    """The hash in Python's integers, which have no limit."""
    mask, value = 2**64 - 1, seed
    for i in index:
        value = (value + (i + 1) * 0x9E3779B97F4A7C15) & mask
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & mask
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & mask
        value ^= value >> 31
    return value


@pytest.mark.parametrize("index", [(0,), (1, 2), (FAR, 0, FAR), (FAR,) * 12])
def test_integers_wrap_around_as_they_do_without_a_limit(index):
    at = tuple(np.array(i).reshape((1,) * len(index)) for i in index)
    assert hashes(2**33, at).item() == splitmix(2**33, index)


def test_the_noise_is_normal_and_no_two_rows_or_columns_are_alike():
    noise = hashed_noise(0, everywhere((1024, 1024)))
    assert abs(float(noise.mean())) < 0.004
    assert abs(float(noise.std()) - 1) < 0.003
    for share in (0.01, 0.5, 0.9, 0.999):
        assert abs(float((noise <= NormalDist().inv_cdf(share)).double().mean()) - share) < 0.004
    for lines in (noise[:200], noise.T[:200]):
        assert float((torch.corrcoef(lines) - torch.eye(200)).abs().max()) < 0.17  # 5.4 standard errors
    assert torch.equal(noise, torch.round(noise, decimals=2))


def test_no_entry_of_the_table_depends_on_the_last_bits_of_the_distribution():
    shares = [NormalDist().cdf((number + 0.5) / 100) * 2**BITS for number in range(-500, 500)]
    assert min(abs(share % 1 - 0.5) for share in shares) > 1e-5


@pytest.mark.parametrize("name", DATA)
def test_a_part_has_the_values_of_the_whole(name):
    x = example_on_demand(name, (3, 4, 5, 6), NCHW, seed=2)
    at = np.ix_([2], [0, 3], [1, 2, 4], [5])
    assert torch.equal(x.at(at), x.whole()[at])
    if name in ("counting", "images"):  # without noise, a small tensor has the same values
        assert torch.equal(x.whole(), example(name, (3, 4, 5, 6), NCHW, seed=2))


def test_positions_of_a_tensor_that_no_memory_holds_do_not_overflow():
    assert float_positions(np.ix_([2**40 - 1], [2**40 - 1]), (2**40, 2**40)).item() == 2.0**80


@pytest.mark.parametrize("name", PARAMETERS)
def test_gamma_and_beta_on_demand_are_those_in_memory(name):
    on_demand, held = parameters_on_demand(name, (2, 5), 3, 1.0), parameters(name, (2, 5), 3, 1.0)
    for one, other in zip(on_demand, held, strict=True):
        assert torch.equal(one.whole(), other)
    gamma, beta = parameters_on_demand(name, (2**20, 2**20), 3, 1.0)
    at = np.ix_([2**20 - 1], [0, 1])
    assert gamma.at(at).shape == (1, 2)
    assert (name == "random") == bool((gamma.at(at) != beta.at(at)).all() and gamma.at(at)[0, 0] != 1)


def test_values_have_the_dtype_of_another_tensor():
    assert OnDemand.constant((2,), 0.5).to(torch.zeros(1, dtype=torch.float16)).whole().dtype == torch.float16


def test_an_unknown_name_is_refused():
    with pytest.raises(NormvizError, match="is not the name of example data"):
        example_on_demand("noise", (2,), ("d",))
    with pytest.raises(NormvizError, match="is not a choice for gamma and beta"):
        parameters_on_demand("noise", (2,))
