"""The trials of fused kernels: a residual that is added before, the sum as a second output, and rows that are the same in any batch."""

import pytest
import torch
import torch.nn.functional as F

import normviz as nv

X = torch.randn(4, 6, generator=torch.Generator().manual_seed(4))
ADDED = X.flip(0)
LIKE = "RMSNorm(6, eps=1e-6)"


def rms(x, weight):
    return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * weight


def fused(x, residual, weight):
    total = x + residual
    return rms(total, weight), total


def told(fn, residual=ADDED):
    found = nv.check(fn, X, LIKE, params={"residual": residual, "weight": torch.ones(6)})
    return [(one.what, one.sentence) for one in found.differences]


@pytest.mark.parametrize("residual", [ADDED, torch.zeros(4, 6)], ids=["a residual", "zeros"])
def test_a_fused_kernel_normalizes_the_sum(residual):
    assert told(fused, residual=residual) == []
    assert told(lambda x, residual, weight: fused(x, residual, weight)[0], residual=residual) == []


def test_a_fused_kernel_in_half_precision():
    half = X.bfloat16()

    def wide(x, residual, weight):
        return rms(x.float() + residual.float(), weight.float()).to(x.dtype)

    for fn in (fused, wide):
        assert nv.check(fn, half, LIKE, params={"residual": half.flip(0), "weight": torch.ones(6).bfloat16()})


def test_what_is_wrong_with_a_residual():
    assert told(lambda x, residual, weight: (rms(x, weight) + residual, x + residual)) == [
        ("residual", "It adds the residual after the normalization; add it to x before.")
    ]
    [(what, sentence)] = told(lambda x, residual, weight: rms(x - residual, weight))
    assert what == "residual"
    assert sentence.startswith("With a residual it must normalize x + residual: its output differs from that by up to ")
    [(what, sentence)] = told(lambda x, residual, weight: (rms(x + residual, weight), x))
    assert what == "residual"
    assert sentence.startswith("Its second output is not x + residual: it differs from that by up to ")


def test_another_mistake_of_a_fused_kernel_is_told_as_usual():
    assert told(lambda x, residual, weight: fused(x, residual, 1 + weight)) == [
        ("gamma", "It multiplies by 1 + gamma, not by gamma.")
    ]


def uneven(x, many=3):
    """Some units in the last place are lost in a batch of many rows, as with another order of sums."""
    mean = x.square().mean(-1, keepdim=True) * (1 if len(x) < many else 1 + 2**-21)
    return x * (mean + 1e-6).rsqrt()


def of_many(x):
    return uneven(x, many=60)


@pytest.mark.parametrize("fn", [uneven, of_many], ids=["a row alone differs", "a larger batch differs"])
def test_a_row_is_the_same_in_any_batch(fn):
    x = torch.randn(5, 100, generator=torch.Generator().manual_seed(5))
    like = "RMSNorm(100, eps=1e-6, elementwise_affine=False)"
    assert nv.check(fn, x, like)
    [found] = nv.check(fn, x, like, batch_invariant=True).differences
    assert found.what == "batch"
    assert found.sentence.startswith("The output for a row depends on the batch: it differs by ")
    assert nv.check(lambda x: rms(x, 1), x, like, batch_invariant=True)


def test_rows_that_share_statistics_differ_in_each_batch():
    found = nv.check(torch.nn.BatchNorm1d(6), X, "BatchNorm1d(6)", batch_invariant=True)
    assert found
    assert [one.reason for one in found.trials if one.trial == "batch"] == ["its rows share statistics"]


def test_it_is_compared_with_a_layer():
    with pytest.raises(nv.NormvizError, match="batch_invariant compares with a layer; give like"):
        nv.check(uneven, X, batch_invariant=True)


def batch_trial(fn, x=X, like="RMSNorm(6, eps=1e-6, elementwise_affine=False)", **options):
    found = nv.check(fn, x, like, batch_invariant=True, **options)
    assert found, found
    return next(str(one) for one in found.trials if one.trial == "batch")


def test_each_row_of_a_larger_batch_is_compared():
    def last_rows(x):
        """A block of 64 rows, and another order of sums in what is left."""
        return torch.cat([rms(x[:64], 1), uneven(x[64:].repeat(3, 1))[: max(0, len(x) - 64)]])

    found = nv.check(last_rows, X, "RMSNorm(6, eps=1e-6, elementwise_affine=False)", batch_invariant=True)
    assert [one.what for one in found.differences] == ["batch"]


def test_the_trial_says_which_batches_there_were():
    assert batch_trial(lambda x: rms(x, 1)) == "right: rows in batches of 1, 2, 4, 5, 16 and 65, bit by bit"

    def few(x):
        assert len(x) < 6
        return rms(x, 1)

    def four(x):
        assert len(x) == 4
        return rms(x, 1)

    assert batch_trial(few) == "right: rows in batches of 1, 2, 4 and 5, bit by bit"
    assert batch_trial(four).startswith("left out: ")
    assert "AssertionError" in batch_trial(four)


def test_one_row_shares_its_statistics_with_the_rows_of_a_larger_batch():
    reason = "(its rows share statistics)"
    assert batch_trial(torch.nn.BatchNorm2d(4), torch.randn(1, 4, 3, 3), "BatchNorm2d(4)").endswith(reason)
    grouped = nv.Norm("(a b) c -> b", None, sizes={"a": 2})

    def over_a(x):
        y = x.reshape(2, -1, x.shape[-1])
        centered = y - y.mean((0, 2), keepdim=True)
        return (centered / (centered.square().mean((0, 2), keepdim=True) + 1e-5).sqrt()).reshape(x.shape)

    assert batch_trial(over_a, X, grouped).endswith(reason)
    assert batch_trial(torch.nn.BatchNorm1d(6).eval(), X, torch.nn.BatchNorm1d(6).eval()).startswith("right: ")


def test_only_what_is_returned_is_said_to_be():
    def trial(fn):
        found = nv.check(fn, X, LIKE, params={"residual": ADDED, "weight": torch.ones(6)})
        assert found, found
        return next(str(one) for one in found.trials if one.trial == "residual")

    normalized = "right: a residual that is not zero: x + residual is normalized"
    assert trial(fused) == f"{normalized}, and returned"
    assert trial(lambda x, residual, weight: fused(x, residual, weight)[0]) == normalized


# Numbers of 8 bits


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2, torch.int8])
@pytest.mark.parametrize("with_scale", [True, False])
def test_an_output_in_8_bits_is_not_compared(dtype, with_scale):
    def quantized(x):
        y = F.layer_norm(x, (8,))
        scale = y.abs().amax(-1, keepdim=True) / 100
        return ((y / scale).to(dtype), scale) if with_scale else y.to(dtype)

    with pytest.raises(nv.NormvizError, match="numbers of 8 bits are not compared, because rounding to them hides"):
        nv.check(quantized, (4, 8), "LayerNorm(8)")
