import re
from math import log2, prod

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import nn

from normviz import explain
from normviz.compute import COMPUTES_IN, Values, as_tensor, largest_difference, lay, run_module, trace
from normviz.errors import NormvizError
from normviz.explanation import describe
from normviz.layers import Layer
from normviz.norm import Norm
from tests.strategies import IN_TORCH, forward, layers_that_fit, module_with_random_numbers, norms, random_tensor

HALF, BF16, FLOAT, DOUBLE = torch.float16, torch.bfloat16, torch.float32, torch.float64

BY_HAND = [
    # on [[1, 3], [2, 6]]: mean, var, normalized
    ("LayerNorm(2, eps=0)", [[2], [4]], [[1], [4]], [[-1, 1], [-1, 1]]),
    ("LayerNorm(2, eps=3)", [[2], [4]], [[1], [4]], [[-1 / 2, 1 / 2], [-2 / 7**0.5, 2 / 7**0.5]]),
    ("LayerNorm([2, 2], eps=0.5)", [[3]], [[3.5]], [[-1, 0], [-0.5, 1.5]]),
    ("BatchNorm1d(2, eps=2)", [[1.5, 4.5]], [[0.25, 2.25]], [[-1 / 3, -1.5 / 4.25**0.5], [1 / 3, 1.5 / 4.25**0.5]]),
    ("RMSNorm(2, eps=4)", [[0], [0]], [[5], [20]], [[1 / 3, 1], [1 / 6**0.5, 3 / 6**0.5]]),
    ("GroupNorm(2, 2, eps=1)", [[1, 3], [2, 6]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]),
    (Norm("n d ->", eps=0.5), [[3]], [[3.5]], [[-1, 0], [-0.5, 1.5]]),
    (Norm("n (g k) -> k", eps=2, sizes={"k": 2}), [[1.5, 4.5]], [[0.25, 2.25]], [[-1 / 3, -1.5 / 4.25**0.5], [1 / 3, 1.5 / 4.25**0.5]]),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "mean", "var", "normalized"), BY_HAND)
def test_every_step_by_hand(layer, mean, var, normalized):
    x = torch.tensor([[1.0, 3.0], [2.0, 6.0]], dtype=DOUBLE)
    steps = explain(layer, x).trace
    assert steps.mean.tolist() == mean
    assert steps.var.tolist() == var
    assert torch.equal(steps.centered, x - steps.mean)
    assert torch.allclose(steps.normalized, torch.tensor(normalized, dtype=DOUBLE), rtol=1e-15)
    assert torch.equal(steps.output, steps.normalized)


def test_gamma_scales_and_beta_shifts_by_hand():
    module = nn.LayerNorm(2, eps=0, dtype=DOUBLE)
    with torch.no_grad():
        module.weight.copy_(torch.tensor([2.0, 10.0]))
        module.bias.copy_(torch.tensor([1.0, -1.0]))
    assert explain(module, torch.tensor([[1.0, 3.0]], dtype=DOUBLE)).trace.output.tolist() == [[-1.0, 9.0]]


RUNNING = [
    ("BatchNorm1d(2, eps=0).eval()", (2, 2)),
    ("InstanceNorm1d(2, eps=0, track_running_stats=True).eval()", (2, 2)),
    ("InstanceNorm1d(2, eps=0, track_running_stats=True).eval()", (1, 2, 2)),
]


@pytest.mark.parametrize(("text", "shape"), RUNNING)
def test_running_statistics_by_hand(text, shape):
    module = Layer.parse(text).module(DOUBLE)
    module.running_mean.copy_(torch.tensor([1.0, 2.0]))
    module.running_var.copy_(torch.tensor([4.0, 16.0]))
    steps = explain(module, torch.tensor([[1.0, 3.0], [2.0, 6.0]], dtype=DOUBLE).reshape(shape)).trace
    by_column = [[0.0, 0.25], [0.5, 1.0]]
    by_row = [[0.0, 1.0], [0.0, 1.0]]
    assert steps.output.reshape(2, 2).tolist() == (by_column if "Batch" in text else by_row)
    assert steps.mean.flatten().tolist() == [1.0, 2.0]


# How far may the trace be from torch?
#
# u is half the eps of the type that computes, m the elements of a group, z = (x - mean) / s, s = sqrt(var + eps), M the
# largest |x| or |mean| of the group. A sum of m numbers in chunks of 16 and then in pairs, as torch sums, passes each
# number through at most g = min(m, 16 + log2 m) additions. To first order in u, one implementation errs by
#
#   mean   g u M                                        so (x - mean) / s by  (g + 2) u M / s, kernels that compute
#                                                       x * (1 / s) - mean / s included
#   var    g u M std  (Welford; two-pass is better)     so s by  g u M / s  of itself, and z by that times |z|
#   y      4 roundings: u (4 |gamma z| + |beta|)        where |beta| <= |y| + |gamma z|
#
# together u (g + 5) (|gamma| (1 + |z|) M / s + |y|) as |z| <= 2 M / s; and there are two implementations.
# Half precision rounds the output of both: half an eps of |y| each, and never less than the smallest number.
# BatchNorm and InstanceNorm on CPU also round the mean and 1 / s to x's type, unless their own numbers are of float32.


def tolerance(e, x, output, kept_in_half=False):
    steps = e.trace
    half = torch.finfo(x.dtype)
    u = torch.finfo(COMPUTES_IN[x.dtype]).eps / 2
    m = 1 if e.norm.running else e.counts.elements_per_statistic
    g = 0 if e.norm.running else min(m, 16 + log2(m))
    gamma = e.layer_values().gamma
    scale = lay(e.norm, e.shape, gamma.double()).abs() if gamma is not None else torch.ones((), dtype=DOUBLE)
    spread = (steps.var.double() + steps.eps).sqrt()
    ratio = torch.maximum(_largest_of_the_group(e, x), steps.mean.double().abs()) / spread
    z, y = steps.normalized.double().abs(), output.double().abs()
    allowed = 2 * u * (g + 5) * (scale * (1 + z) * ratio + y)
    if COMPUTES_IN[x.dtype] != x.dtype:
        allowed = allowed + half.eps * y + half.tiny * half.eps
    if kept_in_half:
        mean = half.eps / 2 * steps.mean.double().abs() + half.tiny * half.eps
        allowed = allowed + 2 * scale * (mean / spread + half.eps / 2 * z)
    return allowed


def _largest_of_the_group(e, x):
    largest = np.zeros(e.counts.statistics)
    np.maximum.at(largest, e.stat_ids.ravel(), x.double().abs().numpy().ravel())
    return torch.tensor(largest[e.stat_ids])


def assert_agrees(module, x):
    e, expected = describe(module, x), forward(module, x)
    steps = e.trace
    assert steps.output.dtype == expected.dtype == x.dtype
    assert steps.mean.dtype == steps.var.dtype == steps.normalized.dtype == COMPUTES_IN[x.dtype]
    gap = (steps.output.double() - expected.double()).abs()
    assert (gap <= tolerance(e, x, expected, kept_in_half(e, module, x))).all(), (gap.max(), e)


def kept_in_half(e, module, x):
    """Does torch round the statistics to x's type? (On CPU, and InstanceNorm its running ones too.)"""
    if COMPUTES_IN[x.dtype] == x.dtype or not e.layer.kind.can_track:
        return False
    if e.layer.kind.per_instance:
        return e.norm.running or module.weight is None or module.weight.dtype == x.dtype
    numbers = [value.dtype for value in module.state_dict().values() if value.is_floating_point()]
    return not e.norm.running and set(numbers) <= {x.dtype}


@pytest.mark.parametrize("dtype", [HALF, BF16, FLOAT, DOUBLE], ids=str)
@pytest.mark.parametrize("name", IN_TORCH)
def test_the_trace_agrees_with_torch(name, dtype):
    @settings(max_examples=60)
    @given(layers_that_fit((name,)), st.integers(0, 2**31), st.sampled_from([0, 1, -30, 1000]), st.booleans())
    def agree(drawn, seed, offset, mixed):
        layer, shape = drawn
        if COMPUTES_IN[dtype] != dtype and (layer.given["eps"] or 1) < 1e-5:
            layer = layer.with_(eps=1e-5)  # torch keeps 1 / s in float16, which ends at 65504
        assume(runs(layer, shape))
        numbers = FLOAT if mixed and COMPUTES_IN[dtype] == FLOAT else dtype
        assert_agrees(
            module_with_random_numbers(layer, numbers, seed, offset), random_tensor(shape, seed + 1, dtype, offset)
        )

    agree()


def runs(layer, shape):
    try:
        describe(layer, shape)
    except NormvizError:
        return False
    return True


LARGE = [
    ("LayerNorm(4096)", (3, 4096)),
    ("LayerNorm([3, 31, 37])", (2, 3, 31, 37)),
    ("RMSNorm(4099)", (3, 4099)),
    ("BatchNorm1d(3)", (4096, 3)),
    ("BatchNorm2d(3)", (4, 3, 31, 37)),
    ("InstanceNorm2d(3, affine=True)", (2, 3, 61, 37)),
    ("GroupNorm(2, 6)", (2, 6, 31, 37)),
    ("LayerNorm(2)", (2,) * 12),
    ("BatchNorm3d(2).eval()", (3, 2, 5, 6, 7)),
]


@pytest.mark.parametrize("offset", [0, 100, 10_000])
@pytest.mark.parametrize("dtype", [HALF, BF16, FLOAT, DOUBLE], ids=str)
@pytest.mark.parametrize(("text", "shape"), LARGE)
def test_the_trace_agrees_with_torch_on_large_groups(text, shape, dtype, offset):
    module = module_with_random_numbers(Layer.parse(text), dtype, seed=1, offset=offset)
    assert_agrees(module, random_tensor(shape, 2, dtype, offset))


@pytest.mark.parametrize("name", ["LayerNorm(8)", "RMSNorm(8)", "BatchNorm1d(8)", "GroupNorm(2, 8)"])
def test_memory_order_changes_nothing(name):
    module = module_with_random_numbers(Layer.parse(name), FLOAT, seed=1)
    assert_agrees(module, random_tensor((8, 6), 2, FLOAT).T)
    assert_agrees(module, random_tensor((6, 16), 2, FLOAT)[:, ::2])


def test_the_tolerance_tells_a_one_pass_variance_from_a_two_pass_one():
    x = random_tensor((64, 256), 0, FLOAT, offset=1000)
    e = describe("LayerNorm(256)", x)
    one_pass = (x - x.mean(1, keepdim=True)) / torch.sqrt(
        x.square().mean(1, keepdim=True) - x.mean(1, keepdim=True) ** 2 + 1e-5
    )
    assert not ((one_pass - e.trace.output).abs() <= tolerance(e, x, e.trace.output)).all()


@pytest.mark.parametrize(("offset", "small"), [(0, 5e-5), (1000, 1e-2)])
def test_the_tolerance_is_small(offset, small):
    x = random_tensor((64, 256), 0, FLOAT, offset=offset)
    e = describe("LayerNorm(256)", x)
    assert tolerance(e, x, e.trace.output).median() < small


SAME_OUTPUT = [
    ("GroupNorm(1, 4)", "LayerNorm([4, 2, 3])"),
    ("GroupNorm(4, 4)", "InstanceNorm2d(4)"),
    ("InstanceNorm2d(4, affine=False)", "LayerNorm([2, 3], elementwise_affine=False)"),
    ("SyncBatchNorm(4)", "BatchNorm2d(4)"),
    ("DimNorm(3, eps=1e-5)", "LayerNorm(3)"),
    ("ChannelsFirstLayerNorm(4)", Norm("n c h w -> n h w", "c", eps=1e-6)),
]


@pytest.mark.parametrize(("one", "other"), SAME_OUTPUT)
def test_the_same_statistics_normalize_alike(one, other):
    x = random_tensor((2, 4, 2, 3), 0)
    assert torch.equal(explain(one, x).trace.normalized, explain(other, x).trace.normalized)


def test_channels_first_layer_norm_is_layer_norm_on_permuted_x():
    x, module = (
        random_tensor((2, 4, 2, 3), 0),
        module_with_random_numbers(Layer.parse("LayerNorm(4, eps=1e-6)"), DOUBLE, 1),
    )
    values = Values(gamma=module.weight.detach(), beta=module.bias.detach())
    found = trace(Norm("n c h w -> n h w", "c", eps=1e-6), x, values).output
    assert torch.allclose(found, module(x.movedim(1, -1)).movedim(-1, 1), rtol=1e-12)


@given(norms(), st.integers(0, 100))
def test_every_step_of_any_norm_is_what_a_loop_over_its_groups_gives(drawn, seed):
    norm, shape = drawn
    x = random_tensor(shape, seed)
    e = describe(norm, x)
    gamma, beta = (
        None if size is None else random_tensor(size, seed + i)
        for i, size in ((1, e.counts.gamma_shape), (2, e.counts.beta_shape))
    )
    steps = trace(norm, x, Values(gamma=gamma, beta=beta))
    assert steps.eps == (np.finfo(np.float64).eps if norm.eps is None else norm.eps)
    normalized = np.empty(shape)
    for number in range(e.counts.statistics):
        here = e.stat_ids == number
        group = x.numpy()[here]
        mean = group.mean() if norm.center else 0.0
        var = ((group - mean) ** 2).mean()
        normalized[here] = (group - mean) / np.sqrt(var + steps.eps)
        assert np.allclose(steps.mean.expand(shape).numpy()[here], mean, rtol=0, atol=1e-12)
        assert np.allclose(steps.var.expand(shape).numpy()[here], var, rtol=1e-12, atol=1e-24)
    assert np.allclose(steps.normalized.numpy(), normalized, rtol=1e-9, atol=1e-9)
    output = normalized * (1 if gamma is None else gamma.numpy().ravel()[e.param_ids]) + (
        0 if beta is None else beta.numpy().ravel()[e.param_ids]
    )
    assert np.allclose(steps.output.numpy(), output, rtol=1e-9, atol=1e-9)


@given(norms(running=True), st.integers(0, 100))
def test_running_statistics_of_any_norm_stand_where_their_ids_do(drawn, seed):
    norm, shape = drawn
    e = describe(norm, random_tensor(shape, seed))
    mean, var = (
        random_tensor((e.counts.statistics,), seed + 1),
        random_tensor((e.counts.statistics,), seed + 2).square(),
    )
    steps = trace(norm, e.x, Values(running_mean=mean, running_var=var))
    here = torch.tensor(e.stat_ids)
    expected = e.x - (mean[here] if norm.center else 0)
    assert torch.allclose(steps.normalized, expected / torch.sqrt(var[here] + steps.eps), rtol=1e-12)


@given(norms())
def test_steps_broadcast_over_x_and_reduced_axes_have_size_1(drawn):
    norm, shape = drawn
    steps = describe(norm, torch.ones(shape)).trace
    sizes = norm.axis_sizes(shape)
    for stat in (steps.mean, steps.var):
        for axis, size, found in zip(norm.pattern.left, shape, stat.shape, strict=True):
            kept = [name for name in axis if name in norm.pattern.right]
            assert found == (size if kept else 1)
            assert size == prod(sizes[name] for name in axis)
    assert steps.centered.shape == steps.normalized.shape == steps.output.shape == shape


@given(layers_that_fit(), st.integers(0, 100), st.data())
def test_a_changed_element_changes_the_outputs_of_its_group_alone(drawn, seed, data):
    layer, shape = drawn
    assume(runs(layer, shape))
    x = random_tensor(shape, seed)
    index = tuple(data.draw(st.integers(0, size - 1)) for size in shape)
    changed = x.clone()
    changed[index] += 1
    before, after = describe(layer, x), describe(layer, changed)
    differs = (before.trace.output != after.trace.output).numpy()
    group = before.stat_ids == before.stat_ids[index]
    if before.norm.running:
        assert differs[index]
        assert differs.sum() == 1
    else:
        assert not differs[~group].any()
        if layer.kind.module:
            differs = (forward(layer.module(x.dtype), x) != forward(layer.module(x.dtype), changed)).numpy()
            assert not differs[~group].any()
            if before.counts.elements_per_statistic > 2 and layer.kind.center:
                assert differs[group].sum() > 1


HALVES = [(HALF, FLOAT, FLOAT), (BF16, FLOAT, FLOAT), (FLOAT, FLOAT, FLOAT), (DOUBLE, DOUBLE, DOUBLE)]


@pytest.mark.parametrize(("dtype", "computes", "eps_of"), HALVES, ids=str)
def test_half_precision_computes_in_float32(dtype, computes, eps_of):
    steps = explain("RMSNorm(4)", torch.ones(2, 4, dtype=dtype)).trace
    assert steps.mean.dtype == steps.var.dtype == steps.centered.dtype == steps.normalized.dtype == computes
    assert steps.output.dtype == dtype
    assert steps.eps == torch.finfo(eps_of).eps


def test_float16_squares_do_not_overflow():
    x = torch.tensor([[300.0, -300.0]], dtype=HALF)
    assert x.square().isinf().all()
    assert explain("RMSNorm(2)", x).trace.var.item() == 90_000
    assert explain("LayerNorm(2)", x).trace.output.tolist() == [[1.0, -1.0]]


MIXTURES = [
    ("LayerNorm(4)", (3, 4)),
    ("LayerNorm(4, bias=False)", (3, 4)),
    ("LayerNorm(4, elementwise_affine=False)", (3, 4)),
    ("RMSNorm(4)", (3, 4)),
    ("GroupNorm(2, 4)", (3, 4)),
    ("BatchNorm1d(4)", (3, 4)),
    ("BatchNorm1d(4).eval()", (3, 4)),
    ("BatchNorm1d(4, affine=False)", (3, 4)),
    ("BatchNorm1d(4, track_running_stats=False)", (3, 4)),
    ("InstanceNorm1d(4)", (3, 4, 5)),
    ("InstanceNorm1d(4, affine=True)", (3, 4, 5)),
    ("InstanceNorm1d(4, track_running_stats=True)", (3, 4, 5)),
    ("InstanceNorm1d(4, affine=True, track_running_stats=True).eval()", (3, 4, 5)),
]
TYPES = [HALF, BF16, FLOAT, DOUBLE]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize(("text", "shape"), MIXTURES)
@pytest.mark.parametrize("other", [None, "bias", "running_mean"])
def test_types_mix_where_torch_mixes_them_and_it_is_quoted_where_not(text, shape, dtype, other):
    x = random_tensor(shape, 0, dtype)
    for numbers in TYPES:
        for second in TYPES if other else [numbers]:
            module = Layer.parse(text).module(numbers)
            if other and getattr(module, other, None) is not None:
                for name in ("running_mean", "running_var") if other == "running_mean" else ("bias",):
                    getattr(module, name).data = getattr(module, name).data.to(second)
            theirs, ours = torch_says(module, x), normviz_says(module, x)
            assert (theirs is None) == (ours is None), (numbers, second, theirs, ours)
            if ours is not None:
                assert re.match(r'torch refuses: "(.*?)"\. x is ', ours)[1] in theirs


def torch_says(module, x):
    try:
        forward(module, x)
    except RuntimeError as refused:
        return str(refused)
    return None


def normviz_says(module, x):
    try:
        assert describe(module, x).trace.output.dtype == x.dtype
    except NormvizError as refused:
        return str(refused)
    return None


MIXED_WORDS = [
    (FLOAT, DOUBLE, 'torch refuses: "mixed dtype (CPU): expect parameter to have scalar type of Float". x is float32 and gamma is float64; convert all of the layer, as in layer.to(torch.float32).'),
    (DOUBLE, FLOAT, 'torch refuses: "mixed dtype (CPU): all inputs must share same datatype.". x is float64 and gamma is float32; convert all of the layer, as in layer.to(torch.float64).'),
    (HALF, BF16, 'torch refuses: "mixed dtype (CPU): expect parameter to have scalar type of Float". x is float16 and gamma is bfloat16; convert all of the layer, as in layer.to(torch.float16).'),
]  # fmt: skip


@pytest.mark.parametrize(("x", "numbers", "message"), MIXED_WORDS, ids=str)
def test_a_mixture_is_refused_with_the_conversion(x, numbers, message):
    with pytest.raises(NormvizError, match=re.escape(message)):
        explain(nn.LayerNorm(4, dtype=numbers), torch.ones(2, 4, dtype=x))


def test_one_number_of_another_type_is_named():
    module = nn.BatchNorm1d(4).eval()
    module.running_mean = module.running_mean.double()
    message = 'torch refuses: "expected scalar type Float but found Double". x is float32 and running_mean is float64;'
    with pytest.raises(NormvizError, match=re.escape(message)):
        explain(module, torch.ones(2, 4))


NO_TENSOR = [
    (torch.ones(2, 4, dtype=torch.int64), "x is int64; normalization divides, so it needs floating-point numbers: convert with x.float()."),
    (torch.ones(2, 4, dtype=torch.bool), "x is bool; normalization divides"),
    (torch.ones(2, 4, dtype=torch.complex64), "x is complex64; normalization divides"),
    (np.ones((2, 4), dtype=np.int32), "x is int32; normalization divides, so it needs floating-point numbers: convert with x.astype('float32')."),
    (np.ones((2, 4), dtype=np.uint16), "x is uint16; normalization divides"),
    (np.ones((2, 4), dtype=">f4"), "an array of >f4 is no tensor; convert with x.astype('float32')."),
    (np.array([["a"]]), "an array of <U1 is no tensor; convert with x.astype('float32')."),
    (torch.ones(2, 4).to_sparse(), "x is sparse; normalization makes it dense: convert with x.to_dense()."),
    ("(2, 4)", "x='(2, 4)' is neither a shape (a tuple of sizes) nor a tensor or NumPy array."),
    (3, "x=3 is neither a shape (a tuple of sizes) nor a tensor or NumPy array."),
    (None, "x=None is neither a shape"),
    ({2, 4}, "x={2, 4} is neither a shape"),
]  # fmt: skip


@pytest.mark.parametrize(("x", "message"), NO_TENSOR, ids=range(len(NO_TENSOR)))
def test_what_has_no_floating_point_values_is_refused(x, message):
    with pytest.raises(NormvizError, match=re.escape(message)):
        explain("LayerNorm(4)", x)


ARRAYS = [
    np.arange(8.0).reshape(2, 4),
    np.arange(8.0).reshape(2, 4)[::-1],
    np.arange(8.0).reshape(4, 2).T,
    np.broadcast_to(np.arange(4.0), (2, 4)),
    np.arange(8, dtype=np.float16).reshape(2, 4),
]


@pytest.mark.parametrize("array", ARRAYS, ids=range(len(ARRAYS)))
def test_arrays_of_numpy_are_tensors(array):
    found = as_tensor(array)
    assert found.tolist() == array.tolist()
    assert explain("LayerNorm(4)", array).trace.output.dtype == found.dtype


def test_a_tensor_is_not_copied():
    x = torch.ones(2, 4, requires_grad=True)
    assert as_tensor(x).data_ptr() == x.data_ptr()
    assert not as_tensor(x).requires_grad


def test_a_trace_of_too_many_elements_is_refused():
    x = torch.zeros(1).expand(2**26 + 1)
    e = explain(f"LayerNorm({2**26 + 1})", x)
    assert e.counts.parameters == 2 * (2**26 + 1)
    message = "a trace of 67,108,865 elements are more than 67,108,864; counts and patterns still work for any shape."
    with pytest.raises(NormvizError, match=re.escape(message)):
        _ = e.trace


def test_running_statistics_must_be_there():
    e = explain(Norm("n c -> c", running=True), torch.ones(2, 3))
    with pytest.raises(
        NormvizError, match="running statistics come with a torch module; give the module itself, in eval mode"
    ):
        _ = e.trace


DIFFERENCES = [
    ([1.0, 2.0], [1.0, 2.5], 0.5),
    ([1.0, float("inf")], [1.0, float("inf")], 0.0),
    ([float("nan")], [float("nan")], 0.0),
    ([1.0, float("nan")], [1.0, 2.0], float("nan")),
    ([float("inf")], [-float("inf")], float("inf")),
]


@pytest.mark.parametrize(("one", "other", "largest"), DIFFERENCES)
def test_the_largest_difference(one, other, largest):
    found = largest_difference(torch.tensor(one), torch.tensor(other))
    assert found == largest or (found != found and largest != largest)


@given(layers_that_fit(IN_TORCH), st.integers(0, 100))
def test_run_module_holds_the_given_numbers(drawn, seed):
    layer, shape = drawn
    assume(runs(layer, shape))
    module, x = module_with_random_numbers(layer, DOUBLE, seed), random_tensor(shape, seed + 1)
    values = Values(
        *(
            None if v is None else v.detach()
            for v in (getattr(module, n, None) for n in ("weight", "bias", "running_mean", "running_var"))
        )
    )
    found = run_module(layer, x, values)
    assert torch.equal(found, module(x).detach())
    assert not found.requires_grad


@given(norms(), st.integers(0, 100))
def test_a_parameter_is_laid_where_its_id_stands(drawn, seed):
    norm, shape = drawn
    assume(norm.params is not None)
    e = describe(norm, shape)
    numbers = torch.arange(prod(e.counts.gamma_shape)).reshape(e.counts.gamma_shape)
    assert torch.equal(lay(norm, shape, numbers).expand(shape), torch.tensor(e.param_ids))
