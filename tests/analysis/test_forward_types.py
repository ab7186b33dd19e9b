"""The dtype of the computation, which dtypes can be mixed, and what is not a tensor."""

import re
from math import inf

import numpy as np
import pytest
import torch
from torch import nn

from normviz import explain
from normviz.analysis.description import describe
from normviz.analysis.forward import Values, as_tensor, check_types, dtype_of_default_eps, rms_norm_computes_in, trace
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.texts.errors import NormvizError
from tests.support.computing import BF16, DOUBLE, FLOAT, HALF
from tests.support.needs import needs_half, needs_uint16
from tests.support.strategies import forward, random_tensor


@pytest.mark.parametrize(
    ("dtype", "computes"), [(HALF, FLOAT), (BF16, FLOAT), (FLOAT, FLOAT), (DOUBLE, DOUBLE)], ids=str
)
def test_half_precision_computes_in_float32(dtype, computes):
    steps = explain("LayerNorm(4)", torch.ones(2, 4, dtype=dtype)).trace
    assert steps.mean.dtype == steps.var.dtype == steps.centered.dtype == steps.normalized.dtype == computes
    assert steps.output.dtype == dtype


@pytest.mark.parametrize("dtype", [HALF, BF16, FLOAT, DOUBLE], ids=str)
def test_rms_norm_computes_as_the_installed_torch_does(dtype):
    """Also where squares overflow in float16, and with the eps of eps=None."""
    for x in (torch.full((2, 4), 300.0), torch.linspace(1e-4, 1e-3, 8).reshape(2, 4)):
        found = explain("RMSNorm(4)", x.to(dtype))
        assert found.trace.var.dtype == rms_norm_computes_in(dtype)
        assert found.trace.eps == torch.finfo(dtype_of_default_eps(dtype)).eps
        own = nn.functional.rms_norm(x.to(dtype), (4,))
        torch.testing.assert_close(found.trace.output, own, rtol=2 * torch.finfo(dtype).eps, atol=1e-6)


def test_float16_squares_do_not_overflow():
    x = torch.tensor([[300.0, -300.0]], dtype=HALF)
    assert x.square().isinf().all()
    assert explain("RMSNorm(2)", x).trace.var.item() == (90_000 if rms_norm_computes_in(HALF) == FLOAT else inf)
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
@pytest.mark.parametrize(
    ("text", "shape"),
    [pytest.param(*one, marks=needs_half if re.match("Layer|.*stats=True", one[0]) else ()) for one in MIXTURES],
)
@pytest.mark.parametrize("other", [None, "bias", "running_mean"])
def test_dtypes_can_be_mixed_only_as_in_torch(text, shape, dtype, other):
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
def test_a_refused_mixture_names_the_conversion(x, numbers, message):
    with pytest.raises(NormvizError, match=re.escape(message)):
        explain(nn.LayerNorm(4, dtype=numbers), torch.ones(2, 4, dtype=x))


def test_the_tensor_with_another_dtype_is_named():
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
    pytest.param(np.ones((2, 4), dtype=np.uint16), "x is uint16; normalization divides", marks=needs_uint16),
    (np.ones((2, 4), dtype=">f4"), "torch has no tensor of >f4; convert x with x.astype('float32')."),
    (np.array([["a"]]), "torch has no tensor of <U1; convert x with x.astype('float32')."),
    (torch.ones(2, 4).to_sparse(), "x is sparse; normalization makes it dense: convert with x.to_dense()."),
    ("(2, 4)", "x='(2, 4)' is neither a shape (a tuple of sizes) nor a tensor or NumPy array."),
    (3, "x=3 is neither a shape (a tuple of sizes) nor a tensor or NumPy array."),
    (None, "x=None is neither a shape"),
    ({2, 4}, "x={2, 4} is neither a shape"),
]  # fmt: skip


@pytest.mark.parametrize(("x", "message"), NO_TENSOR, ids=range(len(NO_TENSOR)))
def test_other_types_are_refused(x, message):
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
    message = (
        "this needs an array of 67,108,865 elements, more than 67,108,864; counts and patterns work for any shape."
    )
    with pytest.raises(NormvizError, match=re.escape(message)):
        _ = e.trace


def test_gamma_and_beta_are_converted_to_the_dtype_of_the_computation():
    gamma, beta = (random_tensor((5,), seed, DOUBLE) for seed in (1, 2))
    steps = trace(Norm("n d -> n", "d"), random_tensor((4, 5), 0, FLOAT), Values(gamma, beta))
    assert torch.equal(steps.output, steps.normalized * gamma.float() + beta.float())


@pytest.mark.parametrize("shape", [(), (3,)])
def test_an_array_is_shared_not_copied(shape):
    array = np.ones(shape)
    tensor = as_tensor(array)
    array[...] = 5
    assert bool((tensor == 5).all())


def test_a_dtype_without_a_name_in_torchs_errors_is_written_as_torch_prints_it():
    values = Values(torch.ones(3), torch.zeros(3, dtype=torch.int64))
    with pytest.raises(NormvizError, match=re.escape("expected scalar type Float but found torch.int64")):
        check_types(Layer.make("LayerNorm", 3), torch.ones(2, 3), values)
