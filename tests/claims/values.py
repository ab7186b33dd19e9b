"""What normalized values are: mean, variance, eps, and the limits of small groups."""

from math import sqrt

import torch
from hypothesis import strategies as st
from torch import nn

from tests.claims.drawing import (
    FAMILIES,
    HALF,
    LARGEST_ERROR,
    SUBTRACT_MEAN,
    close,
    draw_case,
    draw_shape,
    make_layer,
    mean_of_groups,
    normal,
    normalized,
    run,
)
from tests.claims.predicates import predicate
from tests.support.needs import HAS_HALF, HAS_RMS_NORM

SCALES = st.sampled_from([1e-4, 0.01, 1.0, 30.0])


@predicate(
    {
        "x.var() is the variance with which torch's layers normalize.": {"correction": 1},
        "Layers normalize with the variance divided by m, in eval mode too": {"training": False},
        "In train mode, RMSNorm normalizes with it, too": {"families": ("RMSNorm",)},
    }
)
def layers_normalize_with_the_variance_divided_by_m(draw, correction=0, training=True, families=SUBTRACT_MEAN):
    """In train mode, the output is (x - mean) / sqrt(var + eps), with the sum of squares divided by m."""
    offset = draw(st.sampled_from([0.0, 3.0]))
    case = draw_case(draw, *families, least=2, fresh=True, scale=draw(SCALES), offset=offset)
    centered, m = case.x - mean_of_groups(case.x, case.group), case.group_size
    var = mean_of_groups(centered.square(), case.group) * m / (m - correction)
    close(run(case.layer.train(training), case.x), centered / (var + case.layer.eps).sqrt(), 1e-6)


@predicate({"eps is added to the standard deviation": {"outside": True}, "eps changes no output": {"eps": 0.0}})
def eps_is_added_to_the_variance(draw, outside=False, eps=None):
    """In every layer of torch eps is added to the variance, in RMSNorm to the mean square, before the root."""
    case = draw_case(draw, least=2, fresh=True, scale=draw(SCALES))
    eps = case.layer.eps if eps is None else eps
    expected = normalized(case.x, case.group, 0.0 if outside else eps, case.family != "RMSNorm")
    if outside:
        root = (case.x if case.family == "RMSNorm" else case.x - mean_of_groups(case.x, case.group)) / expected
        expected = expected * root / (root + eps)
    close(run(case.layer, case.x), expected, 1e-6)


@predicate(
    {
        "Layer normalization gives the features zero mean and unit variance.": {
            "var": lambda var, eps: torch.ones_like(var)
        }
    }
)
def normalized_variance_is_var_over_var_plus_eps(draw, var=lambda var, eps: var / (var + eps)):
    """Before gamma and beta, the mean of each group is 0 and its variance var / (var + eps), less than one."""
    case = draw_case(draw, *SUBTRACT_MEAN, least=2, fresh=True, scale=draw(SCALES))
    out, before = run(case.layer, case.x), case.x - mean_of_groups(case.x, case.group)
    found = mean_of_groups(out.double().square(), case.group)
    close(mean_of_groups(out, case.group), torch.zeros_like(out), 1e-8, out.dtype)
    close(found, var(mean_of_groups(before.square(), case.group), case.layer.eps), 1e-7, out.dtype)
    assert bool((found < 1 + LARGEST_ERROR[out.dtype]).all())


@predicate({"RMSNorm subtracts the mean.": {"center": True}})
def rmsnorm_divides_by_the_root_mean_square(draw, center=False):
    """RMSNorm divides by the root of the mean square of its group (plus eps), and subtracts no mean."""
    case = draw_case(draw, "RMSNorm", fresh=True, offset=draw(st.sampled_from([0.0, 2.0])))
    close(run(case.layer, case.x), normalized(case.x, case.group, case.layer.eps, center))


@predicate({"RMSNorm is LayerNorm under another name.": {"centered": False}})
def rmsnorm_is_layernorm_where_the_mean_is_zero(draw, centered=True):
    """On groups with mean zero and with the same eps, RMSNorm and LayerNorm compute the same."""
    case = draw_case(draw, "RMSNorm", fresh=True, offset=1.0, dtype=torch.float64)
    x = case.x - mean_of_groups(case.x, case.group) if centered else case.x
    close(run(case.layer, x), run(nn.LayerNorm(case.layer.normalized_shape, eps=case.layer.eps).double(), x), 1e-6)


@predicate(
    {
        "An x of one element passes through.": {"out": lambda x, beta: x},
        "beta, for any finite x": {"largest": 3e38},
        "beta exactly, in half precision too": {"dtype": torch.float16},
        "beta exactly, in bfloat16 too": {"dtype": torch.bfloat16},
        "beta, whatever eps is": {"eps": 0.0},
    }
)
def a_group_of_one_element_gives_beta(draw, out=lambda x, beta: beta, largest=1e19, dtype=torch.float32, eps=None):
    """Where a group has one element, LayerNorm gives beta in float32 for any x up to about 1e19, and GroupNorm gives it but for noise."""
    n, channels, scale = draw(st.integers(2, 4)), draw(st.integers(1, 3)), draw(SCALES)
    sizes = (largest, 300.3, 1.0, 0.0, torch.finfo(dtype).tiny) if dtype == torch.float32 else (300.3,)
    x = normal(draw, n, 1, scale=draw(st.sampled_from(sizes))).clamp(-largest, largest).to(dtype)
    for layer, values, tolerance in (
        (nn.LayerNorm(1), x, 0.0),
        (nn.GroupNorm(channels, channels).double(), normal(draw, n, channels, scale=scale), 1e-9),
    ):
        nn.init.constant_(layer.weight, 2.0)
        nn.init.constant_(layer.bias, 0.5)
        layer.eps = draw(st.sampled_from([1e-5, 1.0])) if eps is None else eps
        close(run(layer.to(values.dtype), values), out(values, torch.full_like(values, 0.5)), tolerance, torch.float64)


@predicate({"RMSNorm of one element gives beta": {"out": torch.zeros_like}})
def rmsnorm_of_one_element_gives_its_sign(draw, out=torch.sign):
    """Where a group has one element, RMSNorm gives gamma times the sign of x, up to eps: x² / (x² + eps) of its size, at the root."""
    x, gamma = normal(draw, draw(st.integers(1, 5)), 1, scale=30.0), draw(st.floats(-3, 3))
    layer = nn.RMSNorm(1, eps=1e-12).double()
    with torch.no_grad():
        layer.weight.fill_(gamma)
    close(run(layer, x), gamma * out(x), 1e-6)


@predicate(
    {"A group of two becomes −1 and 1, whatever it is": {"eps": 0.0}, "A group of three becomes −1, 0 and 1": {"n": 3}}
)
def two_values_become_minus_one_and_one(draw, n=2, eps=1e-5):
    """The outputs of a group of two are ± d / sqrt(d² + eps), d being half their distance: almost −1 and 1 if they differ."""
    low, distance = draw(st.floats(-5, 5)), draw(st.sampled_from([1e-3, 0.1, 1.0, 7.0, 1000.0]))
    x = torch.tensor([low, low + distance, *(low + 0.3 * distance for _ in range(n - 2))], dtype=torch.float64)
    expected = distance / 2 / sqrt((distance / 2) ** 2 + eps)
    for found in (run(nn.LayerNorm(n).double(), x), run(nn.BatchNorm1d(1).double(), x[:, None])[:, 0]):
        close(found[:2], torch.tensor([-expected, expected], dtype=torch.float64), 1e-6)


@predicate({"In a batch of three, all that is left is which is larger.": {"n": 3}})
def of_two_values_only_the_order_is_left(draw, n=2):
    """Without eps, two batches of two with the same order give the same output."""
    one, other = (normal(draw, n).sort().values for _ in range(2))
    layer = nn.BatchNorm1d(1, eps=1e-15).double()
    close(run(layer, one[:, None]), run(layer, other[:, None]), 1e-6)


@predicate(
    {
        "Normalized values are in [-1, 1].": {"most": lambda n: 1.0},
        "They can be as large as the root of n": {"reaches": lambda n: sqrt(n)},
    }
)
def one_of_n_values_becomes_as_large_as_the_root_of_n_minus_1(
    draw, most=lambda n: sqrt(n - 1), reaches=lambda n: sqrt(n - 1)
):
    """No normalized value of n is larger than sqrt(n - 1), and one far from equal others comes as near to it as eps lets it."""
    n = draw(st.integers(2, 30))
    assert float(run(nn.LayerNorm(n).double(), normal(draw, n)).abs().max()) <= most(n)
    outlier = torch.zeros(n, dtype=torch.float64)
    outlier[draw(st.integers(0, n - 1))] = 1e4
    assert abs(float(run(nn.LayerNorm(n).double(), outlier).max()) - reaches(n)) < 1e-6


def skewness(x: torch.Tensor) -> torch.Tensor:
    centered = x - x.mean()
    return centered.pow(3).mean() / centered.square().mean().pow(1.5)


@predicate({"Normalization makes values Gaussian": {"after": torch.zeros_like}})
def normalization_keeps_the_shape_of_the_distribution(draw, after=lambda skew: skew):
    """Within one group, the skewness is the same before and after, because all values are moved and scaled alike."""
    x = normal(draw, draw(st.integers(3, 40))).exp() * draw(SCALES)
    found = skewness(run(nn.LayerNorm(len(x)).double(), x))
    close(found, after(skewness(x)), 1e-5)


@predicate({"the mean of x² is the squared mean": {"difference": torch.zeros_like}})
def the_variance_is_the_mean_square_minus_the_squared_mean(draw, difference=lambda var: var):
    """The mean of the squares minus the square of the mean is the variance."""
    x = normal(draw, draw(st.integers(2, 20)), offset=draw(st.sampled_from([0.0, 2.0])))
    close(x.square().mean() - x.mean().square(), difference(x.var(correction=0)), 1e-9)


@predicate({"normalized numbers lie between 0 and 1": {"mean": 0.5}})
def mean_and_deviation_of_normalized_numbers_are_0_and_1(draw, mean=0.0, deviation=1.0):
    """Numbers minus their mean, divided by the root of the mean squared distance from it, have mean 0 and standard deviation 1."""
    x = normal(draw, draw(st.integers(2, 20)), offset=draw(st.sampled_from([0.0, 5.0])))
    found = (x - x.mean()) / (x - x.mean()).square().mean().sqrt()
    assert abs(float(found.mean()) - mean) < 1e-9
    assert abs(float(found.std(correction=0)) - deviation) < 1e-9


@predicate(
    {
        "After training too, every column of BatchNorm's output has mean zero": {"mean": torch.zeros_like},
        "The standard deviation of a column is the size of its gamma, whatever eps is": {"eps": 0.0},
    }
)
def columns_of_batchnorm_have_mean_beta_and_deviation_gamma(draw, mean=lambda beta: beta, eps=None):
    """After gamma and beta, the mean of a column is its beta; its standard deviation the size of its gamma times sqrt(var / (var + eps))."""
    case = draw_case(draw, "BatchNorm", least=3, scale=draw(SCALES))
    before, out = (values.double().transpose(0, 1).flatten(1) for values in (case.x, run(case.layer, case.x)))
    var = before.var(1, correction=0)
    close(out.mean(1), mean(case.layer.bias), 1e-8, case.x.dtype)
    size = case.layer.weight.abs() * (var / (var + (case.layer.eps if eps is None else eps))).sqrt()
    close(out.std(1, correction=0), size, 1e-6, case.x.dtype)


@predicate({"After LayerNorm's gamma and beta, all rows have the same mean": {"trained": True}})
def rows_have_equal_means_before_gamma_and_beta_only(draw, trained=False):
    """Before gamma and beta every row of LayerNorm has mean zero; columns in general have not, nor have rows after a trained gamma."""
    x = normal(draw, draw(st.integers(2, 5)), draw(st.integers(3, 6)), scale=draw(SCALES))
    layer = make_layer(draw, "LayerNorm", tuple(x.shape), 1)
    if trained:
        with torch.no_grad():
            layer.weight.copy_(normal(draw, x.shape[1]))
    out = run(layer, x)
    assert float(out.mean(1).abs().max()) < 1e-9 < float(out.mean(0).abs().max())


@predicate(
    {
        "They stay zeros when divided by any standard deviation": {"eps": (0.0,), "families": ("LayerNorm",)},
        "In GroupNorm they stay zeros, whatever eps is": {"eps": (0.0,), "families": ("GroupNorm",)},
        "In RMSNorm they stay zeros, whatever eps is": {"eps": (0.0,), "families": ("RMSNorm",)},
        "zeros come out as ones": {"out": 1.0},
    }
)
def zeros_stay_zeros(draw, eps=(1e-12, 1e-5, 0.5), out=0.0, families=FAMILIES):
    """With an eps above 0, every layer turns zeros into beta, which is zero before training, whatever gamma is."""
    case = draw_case(draw, *families, least=2, eps=draw(st.sampled_from(eps)))
    if getattr(case.layer, "bias", None) is not None:
        nn.init.zeros_(case.layer.bias)
    found = run(case.layer, torch.zeros_like(case.x))
    assert torch.equal(found, torch.full_like(found, out))


CONSTANTS = {
    torch.float16: (0.0, 2.0**-24, 1.0, -300.0, 65504.0),
    torch.bfloat16: (0.0, 1e-38, 1.0, -300.0, 1e15),
    torch.float32: (0.0, 1e-38, 1.0, -300.0, 1e15),
    torch.float64: (0.0, 1e-308, 1.0, -300.0, 1e150),
}


@predicate(
    {
        "No layer divides by zero, whatever eps is.": {"eps": 0.0, "families": ("LayerNorm",)},
        "eps=1e-12 keeps constant groups of float16 finite": {"eps": 1e-12, "families": ("BatchNorm",)},
        "eps=1e-12 does so in InstanceNorm": {"eps": 1e-12, "families": ("InstanceNorm",)},
        "GroupNorm needs no eps": {"eps": 0.0, "families": ("GroupNorm",)},
        "RMSNorm needs no eps": {"eps": 0.0, "families": ("RMSNorm",)},
    }
)
def eps_keeps_constant_groups_finite(draw, eps=1e-5, families=FAMILIES):
    """With torch's default eps, a constant x of any dtype gives finite numbers, in every layer and both modes."""
    dtype = draw(st.sampled_from([*CONSTANTS]))
    case = draw_case(draw, *families, least=2, fresh=True, eps=eps, dtype=torch.float64)
    x = torch.full(case.x.shape, draw(st.sampled_from(CONSTANTS[dtype])), dtype=dtype)
    assert bool(run(case.layer.to(dtype).train(draw(st.booleans())), x).isfinite().all())


@predicate(
    {
        "LayerNorm gives 0 for every constant row": {"gives": torch.Tensor.any},
        "torch's BatchNorm gives 0, too": {"batch": False},
        "bfloat16 has no 1e-12, either": {"dtype": torch.bfloat16},
    }
)
def a_tiny_eps_in_float16_is_zero_by_hand_only(
    draw, gives=lambda out: not out.isfinite().all(), batch=True, dtype=torch.float16
):
    """On the CPU and with eps=1e-12, a constant row of float16 gives NaN by hand and in BatchNorm, in LayerNorm a finite number, and 0 for 2s."""
    size, value = draw(st.integers(2, 9)), draw(st.sampled_from([2.0, 0.0, -3.0, 10.1, 1000.5, -65504.0]))
    x = torch.full((size,), value).to(dtype)
    centered = x - x.mean()
    assert bool((centered / (centered.square().mean() + 1e-12).sqrt()).isnan().all())
    assert bool(nn.functional.batch_norm(x[:, None], None, None, training=True, eps=1e-12).isnan().all()) == batch
    assert not gives(nn.functional.layer_norm(x, x.shape, eps=1e-12))
    assert not nn.functional.layer_norm(torch.full_like(x, 2.0), x.shape, eps=1e-12).any()


@predicate({"F.normalize is RMSNorm": {"root": False}})
def f_normalize_times_the_root_is_rmsnorm(draw, root=True):
    """F.normalize(x, dim=-1) times the root of the number of features is RMSNorm without eps and gamma."""
    x = normal(draw, *draw_shape(draw, 2, 4, least=2))
    found = nn.functional.normalize(x, dim=-1) * (sqrt(x.shape[-1]) if root else 1)
    close(found, run(nn.RMSNorm(x.shape[-1], eps=1e-15, elementwise_affine=False), x), 1e-6)


@predicate(
    {
        "eps=None is 1e-5": {"eps": lambda dtype: [1e-5]},
        "eps=None is no eps": {"eps": lambda dtype: [0.0]},
        "eps=None is 1.2e-7 in every type": {"eps": lambda dtype: [torch.finfo(torch.float32).eps]},
        "eps=None is 2.2e-16 in every type": {"eps": lambda dtype: [torch.finfo(torch.float64).eps]},
    },
    needs=HAS_RMS_NORM,
)
def eps_none_is_a_machine_epsilon(
    draw, eps=lambda dtype: {torch.finfo(kind).eps for kind in (dtype, torch.promote_types(dtype, torch.float32))}
):
    """RMSNorm's default eps is the machine epsilon of the dtype of x; for float16 and bfloat16 it may be that of float32."""
    dtype = draw(st.sampled_from([torch.float64, torch.float32, *HALF]))
    scale = draw(st.sampled_from([1e-4, 1e-3, 1e-8 if dtype == torch.float64 else 1e-3]))
    x = normal(draw, 2, 4, scale=scale).to(dtype)
    found = run(nn.RMSNorm(4).to(dtype), x).double()
    group = torch.arange(2)[:, None].expand(2, 4)
    wanted = [normalized(x.double(), group, one, center=False) for one in eps(dtype)]
    assert any(torch.allclose(found, one, rtol=0.02, atol=1e-5) for one in wanted)


@predicate({"gamma 2 and beta 1 give mean 2": {"mean": 2.0}})
def gamma_is_the_deviation_and_beta_the_mean_of_the_output(draw, mean=1.0):
    """Normalized numbers times one gamma plus one beta have the mean beta and the standard deviation gamma."""
    x = normal(draw, draw(st.integers(2, 20)))
    out = nn.functional.layer_norm(x, x.shape, torch.full_like(x, 2.0), torch.full_like(x, 1.0), eps=1e-14)
    assert abs(float(out.mean()) - mean) < 1e-6
    assert abs(float(out.std(correction=0)) - 2.0) < 1e-6


@predicate({"Gemma's weight is torch's weight": {"add": 0.0}})
def a_weight_of_one_plus_w_is_gemmas(draw, add=1.0):
    """RMSNorm that multiplies by 1 + w equals torch's with the weight w + 1."""
    case = draw_case(draw, "RMSNorm", fresh=True, affine=True)
    w = normal(draw, *case.layer.weight.shape, dtype=case.x.dtype)
    expected = normalized(case.x, case.group, case.layer.eps, center=False) * (1 + w)
    with torch.no_grad():
        case.layer.weight.copy_(w + add)
    close(run(case.layer, case.x), expected)


@predicate({"The mean square of RMSNorm's output is one": {"square": lambda ms, eps: torch.ones_like(ms)}})
def normalized_mean_square_is_ms_over_ms_plus_eps(draw, square=lambda ms, eps: ms / (ms + eps)):
    """Before gamma, the mean square of each group of RMSNorm is ms / (ms + eps)."""
    case = draw_case(draw, "RMSNorm", fresh=True, scale=draw(SCALES))
    found = mean_of_groups(run(case.layer, case.x).double().square(), case.group)
    close(found, square(mean_of_groups(case.x.double().square(), case.group), case.layer.eps), 1e-7, case.x.dtype)


@predicate(
    {
        "LayerNorm, BatchNorm, GroupNorm and InstanceNorm compute in the dtype of x": {"computing": torch.float16},
        "They do not round in half precision": {"rounded": False},
    },
    needs=HAS_HALF,
)
def half_precision_is_computed_in_float32(draw, computing=torch.float32, rounded=True):
    """On the CPU, layers with a mean give for float16 what float32 gives, rounded: squares above float16's largest number do no harm."""
    case = draw_case(
        draw,
        *SUBTRACT_MEAN,
        least=4,
        fresh=True,
        eps=draw(st.sampled_from([1e-5, 1.0])),
        scale=draw(st.sampled_from([1.0, 300.0, 1e4])),
        dtype=torch.float64,
    )
    x = case.x.half().to(computing)
    centered = (x - mean_of_groups(x, case.group)).to(computing)
    expected = centered / (mean_of_groups(centered.square(), case.group) + case.layer.eps).sqrt()
    found = run(case.layer.half(), case.x.half())
    torch.testing.assert_close(found, expected.half(), rtol=0.01, atol=0.05)
    if not rounded:
        assert torch.equal(found.float(), expected)


@predicate(
    {"LayerNorm and GroupNorm round their statistics to half precision": {"families": ("LayerNorm", "GroupNorm")}}
)
def batchnorm_rounds_its_statistics_to_half_precision(draw, families=("BatchNorm", "InstanceNorm")):
    """On the CPU and far from zero, the output in float16 is that of a mean and a 1 / sqrt(var + eps) in float16."""
    case = draw_case(draw, *families, least=4, fresh=True, eps=1e-5, offset=300.3, dtype=torch.float64)
    x = case.x.half().float()
    mean = mean_of_groups(x, case.group)
    scale = (mean_of_groups((x - mean).square(), case.group) + 1e-5).rsqrt()
    expected = (x - mean.half()) * scale.half()
    torch.testing.assert_close(run(case.layer.half(), x.half()).float(), expected, rtol=0.01, atol=0.01)


@predicate(
    {
        "GroupNorm computes E[x^2] - E[x]^2 for any memory format": {"formats": ("channels_last", "contiguous_format")},
        "none of torch's layers uses the formula": {"layers": ()},
        "BatchNorm uses it, too": {"layers": ("GroupNorm", "BatchNorm")},
        "InstanceNorm uses it, too": {"layers": ("GroupNorm", "InstanceNorm")},
        "LayerNorm uses it, too": {"layers": ("GroupNorm", "LayerNorm")},
    }
)
def groupnorm_in_channels_last_is_the_layer_with_the_formula(draw, formats=("channels_last",), layers=("GroupNorm",)):
    """On the CPU, far from zero in float32, GroupNorm of channels_last memory is wrong as E[x^2] - E[x]^2 is, and no other layer is."""
    x = normal(draw, 2, 8, 8, 8, offset=draw(st.sampled_from([1e4, -3e4])), dtype=torch.float32)
    family = draw(st.sampled_from(SUBTRACT_MEAN))
    layer = make_layer(draw, family, (2, 8, 8, 8), 3, **({"num_groups": 2} if family == "GroupNorm" else {}))
    exact = run(layer, x.double())
    for name in ("channels_last", "contiguous_format"):
        found = run(layer.float(), x.contiguous(memory_format=getattr(torch, name))).double()
        wrong = not torch.allclose(found, exact, atol=0.2)
        assert wrong == (family in layers and name in formats)


@predicate({"the order of casting changes nothing": {"gamma": lambda draw: normal(draw, 64)}})
def with_gamma_one_the_order_of_casting_is_the_same(draw, gamma=lambda draw: torch.ones(64)):
    """Normalized values cast to half precision before or after a gamma of one are the same."""
    dtype = draw(st.sampled_from(HALF))
    normalized_values, weight = normal(draw, 9, 64, dtype=torch.float32), gamma(draw).to(dtype)
    assert torch.equal(normalized_values.to(dtype) * weight, (normalized_values * weight.float()).to(dtype))
