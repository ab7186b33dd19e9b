from math import inf, isnan, nan

import numpy as np
import pytest
import torch

from normviz import NormvizError
from normviz.analysis.forward import dtype_of_default_eps, rms_norm_computes_in
from normviz.analysis.rounding import (
    DTYPES,
    EPSILONS,
    TORCH_LAYERS,
    VARIANCES,
    by_hand,
    eps_placement,
    eps_table,
    example_group,
    no_eps,
)
from tests.support.needs import needs_half, needs_rms_norm

HALF, FLOAT, DOUBLE = torch.float16, torch.float32, torch.float64

BY_HAND = [
    ([1.0, 1.0, 5.0, 5.0], DOUBLE, 12, [-0.5, -0.5, 0.5, 0.5]),
    ([2.0, 2.0], HALF, 1e-12, [nan, nan]),  # 1e-12 is 0 in float16: 0 / 0
    ([2.0, 2.0], HALF, 1e-6, [0, 0]),
    ([2.0, 2.0], torch.bfloat16, 1e-12, [0, 0]),  # bfloat16 has float32's range
    ([0.0, 2.0**-13], HALF, 1e-12, [-inf, inf]),  # a variance of 2^-28 is 0 in float16: x / 0
    ([0.0, 2.0**-13], FLOAT, 1e-12, [-1, 1]),
]


@pytest.mark.parametrize(("x", "dtype", "eps", "expected"), BY_HAND)
def test_a_layer_with_every_step_in_the_dtype(x, dtype, eps, expected):
    y = by_hand(torch.tensor(x, dtype=dtype), eps)
    assert y.dtype == dtype
    assert np.allclose(y.double(), expected, rtol=1e-3, atol=0, equal_nan=True)


def outcomes(**settings):
    return {(o.dtype, o.eps): o for o in eps_table(**settings)}


@needs_half
def test_which_dtypes_can_represent_which_eps():
    found = outcomes()
    assert [*found] == [(dtype, eps) for dtype in DTYPES for eps in EPSILONS]
    assert {key for key, o in found.items() if o.rounded == 0} == {("float16", 1e-12)}
    for (dtype, eps), o in found.items():
        steps = torch.finfo(DTYPES[dtype])
        assert abs(o.rounded - eps) <= steps.eps / 2 * eps + steps.tiny * steps.eps


def test_the_size_of_the_output_by_the_formula():
    for (dtype, eps), o in outcomes(spread=1e-2).items():
        assert o.exact == (o.var / (o.var + eps)) ** 0.5
        assert o.var == pytest.approx(1e-4, rel=0.1)
        if dtype != "float16" or eps > 1e-12:
            assert o.by_hand == pytest.approx(o.exact, rel=0.05)
        assert o.by_torch == pytest.approx(dict.fromkeys(TORCH_LAYERS, o.exact), rel=0.02), (dtype, eps)


@needs_half
def test_a_hand_written_layer_fails_for_inputs_that_torchs_layer_normalizes():
    o = outcomes(spread=1e-4)["float16", 1e-12]
    assert o.exact == pytest.approx(1, rel=1e-3)
    assert o.by_hand == inf
    assert o.by_torch["LayerNorm"] == pytest.approx(1, rel=1e-3)


@needs_half
def test_torchs_batch_norm_rounds_one_over_sigma_to_float16():
    """1 / sqrt(2e-12) is 700,000 and float16 ends at 65,504: infinity times 0 in some element, NaN."""
    o = outcomes(spread=1e-6)["float16", 1e-12]
    assert o.by_torch["LayerNorm"] == pytest.approx(o.exact, rel=1e-2)
    assert o.by_torch["GroupNorm"] == pytest.approx(o.exact, rel=1e-2)
    assert isnan(o.by_torch["BatchNorm1d"])
    assert isnan(o.by_torch["InstanceNorm1d"])
    assert not any(
        isnan(size) for (_, eps), o in outcomes(spread=1e-6).items() if eps > 1e-12 for size in o.by_torch.values()
    )


def test_eps_determines_the_output_if_the_variance_is_small():
    sizes = [o.exact for (dtype, _), o in outcomes(spread=1e-4).items() if dtype == "float64"]
    assert sizes == sorted(sizes)
    assert sizes[0] < 0.01
    assert sizes[-1] > 0.99


@pytest.mark.parametrize("dtype", DTYPES)
def test_rms_norm_without_eps_uses_the_epsilon_of_the_computation(dtype):
    found, own = no_eps(dtype), torch.finfo(DTYPES[dtype]).eps
    wide = torch.finfo(torch.float64 if dtype == "float64" else torch.float32).eps
    assert found.eps in (own, wide)
    assert list(found.sizes) == list(dict.fromkeys((dtype, "float64" if dtype == "float64" else "float32")))
    assert found.by_torch == pytest.approx(found.sizes[found.used], rel=0.02)
    assert [name for name, size in found.sizes.items() if abs(size - found.by_torch) < 0.5] == [found.used]


@needs_rms_norm
@pytest.mark.parametrize("name", [name for name in ("float16", "bfloat16") if name in DTYPES])
def test_what_rms_norm_does_in_half_precision_is_asked_of_torch(name, monkeypatch):
    """Three versions of torch: all in float32; computed in float32 with the eps of x; all in the dtype of x."""
    dtype, own = DTYPES[name], torch.nn.functional.rms_norm

    def before_2_7(x, sizes, weight=None, eps=None):
        return own(x.float(), sizes, weight, torch.finfo(x.dtype).eps if eps is None else eps).to(x.dtype)

    def in_2_4(x, sizes, weight=None, eps=None):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + (torch.finfo(x.dtype).eps if eps is None else eps))

    def since_2_7(x, sizes, weight=None, eps=None):
        return own(x.float(), sizes, weight, eps).to(x.dtype)

    asked = (rms_norm_computes_in, dtype_of_default_eps)
    versions = ((since_2_7, "float32", "float32"), (before_2_7, "float32", name), (in_2_4, name, name))
    try:
        for version, computing, used in versions:
            monkeypatch.setattr(torch.nn.functional, "rms_norm", version)
            for each in asked:
                each.cache_clear()
            assert [str(each(dtype)) for each in asked] == [f"torch.{computing}", f"torch.{used}"]
    finally:
        for each in asked:
            each.cache_clear()


# Inside or outside the square root

PLACEMENT = [
    # eps, var: sqrt(var / (var + eps)), sqrt(var) / (sqrt(var) + eps)
    (0.5, 0.5, 0.5**0.5, 0.5**0.5 / (0.5**0.5 + 0.5)),
    (1, 1, 0.5**0.5, 0.5),
    (0.01, 1e-4, (1e-4 / 0.0101) ** 0.5, 0.5),  # sqrt(var) = eps
    (1e-12, 1, 1, 1),
]


@pytest.mark.parametrize(("eps", "var", "inside", "outside"), PLACEMENT)
def test_inside_and_outside_by_hand(eps, var, inside, outside):
    (found,) = eps_placement(eps, (var,))
    assert (found.var, found.inside, found.outside) == pytest.approx((var, inside, outside))


def test_the_sizes_are_those_of_two_layers():
    eps, var = 1e-3, 1e-4
    x = by_hand(example_group("float64"), 0.0) * var**0.5
    (found,) = eps_placement(eps, (var,))
    assert found.inside == pytest.approx(float(by_hand(x, eps).square().mean() ** 0.5))
    assert found.outside == pytest.approx(float((x / (x.std(correction=0) + eps)).square().mean() ** 0.5))


def test_inside_and_outside_differ_most_for_a_spread_between_eps_and_its_root():
    """The size of xhat is 1 for large variances and 0 for small ones. It is half-way near sqrt(var) = eps (outside) and var = eps (inside)."""
    found = eps_placement(1e-5, VARIANCES)
    largest = max(found, key=lambda p: abs(p.outside - p.inside))
    assert 1e-10 < largest.var < 1e-5
    for p in found:  # (sqrt(var) + eps)^2 = var + eps where sqrt(var) = (1 - eps) / 2
        assert (p.outside > p.inside) == (p.var**0.5 < (1 - 1e-5) / 2)
    assert found[0].outside < 0.01
    assert found[-1].inside == pytest.approx(1, abs=1e-6)


REFUSED = [
    (eps_table, {"spread": 0}, "spread=0 must be a number from 1e-12"),
    (eps_table, {"epsilons": ()}, "epsilons has 0 numbers; give 1 to 8 numbers"),
    (eps_table, {"epsilons": [1e-5] * 9}, "epsilons has 9 numbers; give 1 to 8"),
    (eps_table, {"epsilons": [0]}, "eps=0 must be a number from 1e-30 to 1"),
    (eps_placement, {"eps": 2}, "eps=2 must be a number from 1e-30 to 1"),
    (eps_placement, {"variances": [1] * 257}, "variances has 257 numbers; give 1 to 256"),
    (eps_placement, {"variances": [-1]}, "variance=-1 must be a number from 1e-30"),
    (eps_placement, {"variances": [nan]}, "variance=nan must be a number from 1e-30"),
    (no_eps, {"dtype": "half"}, "dtype='half' is unknown"),
]


@pytest.mark.parametrize(("compute", "settings", "words"), REFUSED, ids=range(len(REFUSED)))
def test_invalid_arguments(compute, settings, words):
    with pytest.raises(NormvizError, match=words):
        compute(**settings)
