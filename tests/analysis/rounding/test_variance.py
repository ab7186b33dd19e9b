from math import inf, isnan, nan

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch import nn

from normviz import NormvizError
from normviz.analysis.rounding import (
    CHANNELS_LAST,
    DISTANCES,
    DTYPES,
    FLAX,
    LAYERS,
    METHODS,
    TORCH_LAYERS,
    exact_variance,
    example_group,
    flax_fast,
    one_pass,
    shifted,
    sweep,
    two_passes,
    welford,
)
from tests.support.needs import needs_half

HALF, FLOAT, DOUBLE = torch.float16, torch.float32, torch.float64

BY_HAND = [
    # x, type: one pass, two passes, Welford, shifted
    ([1.0, 2.0, 3.0, 6.0], FLOAT, 3.5, 3.5, 3.5, 3.5),
    ([5.0, 5.0], HALF, 0, 0, 0, 0),
    ([4096.0, 4097.0], FLOAT, 0, 0.25, 0.25, 0.25),  # squares need 25 bits, float32 has 24
    ([64.0, 65.0], HALF, 0, 0.25, 0.25, 0.25),  # 4225 needs 13 bits, float16 has 11
    ([64.0, 66.0], HALF, 0, 1, 1, 1),
    ([2.0**27, 2.0**27 + 2], DOUBLE, 0, 1, 1, 1),
    ([300.0, -300.0], HALF, inf, inf, inf, nan),  # 90,000 is beyond float16's 65,504
    ([300.0, 304.0], HALF, nan, 4, 4, 4),  # inf - inf
    ([1.0, inf], FLOAT, nan, nan, nan, nan),
]


@pytest.mark.parametrize(("x", "dtype", "one", "two", "running", "shift"), BY_HAND)
def test_each_method_by_hand(x, dtype, one, two, running, shift):
    x = torch.tensor(x, dtype=dtype)
    found = [method(x) for method in (one_pass, two_passes, welford, shifted)]
    assert [value.dtype for value in found] == [dtype] * 4
    assert np.array_equal([float(value) for value in found], [one, two, running, shift], equal_nan=True)


def test_a_negative_variance_by_hand():
    """bfloat16 has 8 bits: a step of 4 between 512 and 1024. The mean of 25 and 26 is 25.5, and 25.5^2 = 650.25 rounds to 652; 25^2 and
    26^2 round to 624 and 676, and their mean, 650, to 648 (the even one)."""
    x = torch.tensor([25.0, 26.0], dtype=torch.bfloat16)
    assert one_pass(x) == 648 - 652
    assert two_passes(x) == welford(x) == shifted(x) == 0.25


def test_negative_variances_make_nan():
    found = [e for seed in range(20) for e in sweep("float32", (1e6,), seed=seed) if e.negative]
    assert {e.method for e in found} == {"one_pass"}
    assert found
    assert all(e.is_nan for e in found)


def test_methods_work_along_the_last_axis():
    x = torch.stack([example_group("float32", distance, 64) for distance in (0, 10, 1000)])
    for method in METHODS.values():
        assert torch.allclose(method(x), torch.stack([method(row) for row in x]), rtol=1e-3)
        assert method(x.reshape(3, 1, 64)).shape == (3, 1)


# The largest error of each method. Chan, Golub & LeVeque 1983, "Algorithms for Computing the Sample Variance", table 1: with u half the machine
# epsilon and kappa^2 = 1 + mean^2 / var,
#
#   one pass     n u kappa^2
#   two passes   n u + (n u kappa)^2
#   Welford      n u kappa
#   shifted      n u kappa_K^2, kappa_K of the shifted data
#
# The mean, the squares and the division add a few roundings.

BOUNDS = {
    one_pass: lambda n, u, kappa, shift: n * u * kappa**2,
    two_passes: lambda n, u, kappa, shift: n * u + (n * u * kappa) ** 2,
    welford: lambda n, u, kappa, shift: n * u * kappa,
    shifted: lambda n, u, kappa, shift: n * u * shift**2,
}


@given(
    st.sampled_from([*DTYPES]),
    st.floats(0, 7),
    st.sampled_from([2, 3, 16, 100]),
    st.integers(0, 1000),
    st.sampled_from([*BOUNDS]),
)
def test_the_error_of_each_method_is_within_its_bound(dtype, power, size, seed, method):
    x = example_group(dtype, min(10**power, 1e7), size, seed)
    assume(bool(x.isfinite().all()) and float(x.abs().max()) ** 2 * 2 < torch.finfo(x.dtype).max)
    exact = float(exact_variance(x))
    assume(exact > 1e-3)
    u, mean = torch.finfo(x.dtype).eps / 2, float(x.double().mean())
    kappa = (1 + mean**2 / exact) ** 0.5
    shift = (1 + (mean - float(x[0])) ** 2 / exact) ** 0.5
    bound = BOUNDS[method](size + 8, u, kappa, shift)
    assert abs(float(method(x)) - exact) <= 4 * bound * exact


@given(st.integers(0, 200))
def test_far_away_one_pass_is_the_worst(seed):
    x = example_group("float32", 1e5, 256, seed)
    exact = float(exact_variance(x))
    errors = {method: abs(float(method(x)) - exact) for method in BOUNDS}
    assert errors[one_pass] > 100 * max(errors[two_passes], errors[shifted])


def test_the_exact_variance_is_that_of_the_rounded_numbers():
    """In bfloat16 the numbers 1000 + noise are multiples of 4. No method is wrong because their variance is no longer 1."""
    near, far = (float(exact_variance(example_group("bfloat16", distance))) for distance in (1, 1000))
    assert near == pytest.approx(1, rel=0.01)
    assert abs(far - near) > 0.1


# Flax


def test_flax_clips_at_zero_and_computes_in_float32():
    x = torch.tensor([4096.0, 4097.0])
    assert flax_fast(x).item() == 0
    assert flax_fast(torch.tensor([300.0, -300.0], dtype=HALF)).item() == 90_000
    assert flax_fast(torch.ones(2, dtype=HALF)).dtype == FLOAT
    for distance in DISTANCES:
        for seed in range(10):
            assert flax_fast(example_group("float32", distance, seed=seed)) >= 0


def test_flax_itself_gives_what_the_formula_gives():
    jnp = pytest.importorskip("jax.numpy")
    nnx = pytest.importorskip("flax.nnx")
    for distance in (1, 10, 100):
        x = example_group("float32", distance)
        layer = nnx.LayerNorm(256, epsilon=1e-5, use_bias=False, use_scale=False, rngs=nnx.Rngs(0))
        y = torch.tensor(np.array(layer(jnp.array(x.numpy())[None])[0]))
        expected = (x - x.mean()) / torch.sqrt(flax_fast(x) + 1e-5)
        assert torch.allclose(y, expected, rtol=0, atol=1e-5 * (1 + distance**2))
    far = example_group("float32", 1e6)
    y = np.array(layer(jnp.array(far.numpy())[None])[0])
    assert abs(np.sqrt(np.square(y).mean()) - 1) > 0.1


# The sweep


def test_every_method_at_every_distance():
    found = sweep("float64", (1, 100))
    names = [*METHODS, FLAX, *LAYERS]
    assert [(e.distance, e.method) for e in found] == [(d, name) for d in (1, 100) for name in names]
    assert {e.dtype for e in found} == {"float64"}
    for e in found:
        assert e.error == abs(e.var - e.exact) / e.exact <= 1e-9
        assert e.output_size == pytest.approx((e.exact / (e.exact + 1e-5)) ** 0.5)
        assert not e.negative
        assert not e.is_nan


def test_torchs_variance_is_read_back_from_its_output():
    x = example_group("float64", 10)
    module = nn.BatchNorm1d(1, momentum=1.0, dtype=DOUBLE)
    module(x[:, None])
    biased = float(module.running_var.detach()) * 255 / 256
    found = {e.method: e.var for e in sweep("float64", (10,))}
    assert {name: var for name, var in found.items() if name in TORCH_LAYERS} == pytest.approx(
        dict.fromkeys(TORCH_LAYERS, biased), rel=1e-12
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_sweep_over_all_distances(dtype):
    found = {(e.method, e.distance): e for e in sweep(dtype)}
    assert len(found) == len(DISTANCES) * (len(METHODS) + 1 + len(LAYERS))
    for (method, distance), e in found.items():
        if dtype == "float16" and distance >= 1e5:
            assert isnan(e.exact)
            assert e.is_nan
        elif method == FLAX:
            assert e.var >= 0
            assert not e.is_nan
    assert found["two_passes", 10].error < 0.05


def test_far_away_the_fast_variance_fails_and_torchs_layers_do_not():
    found = {e.method: e for e in sweep("float32", (1e5,))}
    assert found["one_pass"].error > 0.5
    assert found[FLAX].error > 0.5
    for name in ("two_passes", "welford", "shifted", *TORCH_LAYERS):
        assert found[name].error < 0.05


def test_in_channels_last_memory_groupnorm_has_the_error_of_the_fast_variance():
    for distance in (1e3, 1e4, 1e5, 1e6):
        found = {e.method: e for e in sweep("float32", (distance,))}
        near, far = found["GroupNorm"].error, found[CHANNELS_LAST].error
        assert far > 100 * near
        assert far < 10 * max(found[FLAX].error, distance**2 * 2**-23)
        assert not found[CHANNELS_LAST].is_nan


def test_numbers_that_round_to_the_same_number():
    found = {e.method: e for e in sweep("bfloat16", (1e5,))}
    assert {e.exact for e in found.values()} == {0}
    assert found["two_passes"].error == 0
    assert found["two_passes"].output_size == 0
    assert isnan(found["BatchNorm1d"].var)
    assert isnan(found["BatchNorm1d"].error)


@needs_half
def test_the_same_settings_give_the_same_estimates():
    one, other = (repr(sweep("float16", seed=5)) for _ in range(2))
    assert one == other


REFUSED = [
    ({"dtype": "int8"}, "dtype='int8' is unknown"),
    ({"distances": ()}, "distances has 0 numbers; give 1 to 16 numbers"),
    ({"distances": range(17)}, "distances has 17 numbers; give 1 to 16"),
    ({"distances": (1, -1)}, "distance=-1 must be a number from 0"),
    ({"eps": 0}, "eps=0 must be a number from 1e-30 to 1"),
]


@pytest.mark.parametrize(("settings", "words"), REFUSED, ids=range(len(REFUSED)))
def test_invalid_arguments(settings, words):
    with pytest.raises(NormvizError, match=words):
        sweep(**({"dtype": "float32"} | settings))
