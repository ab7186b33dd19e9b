from itertools import product
from math import inf, nan, prod

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from normviz import Norm, NormvizError, explain
from normviz.analysis.derivatives import (
    LARGEST_STEP,
    MOST_ELEMENTS,
    MOST_IN_MATRIX,
    column,
    in_float64,
    jacobian,
    output,
    perturb,
)
from normviz.analysis.description import describe
from tests.analysis.gradient_cases import CATALOGUE, fits, numbered, tolerance
from tests.support.strategies import forward, layers_that_fit, module_with_random_numbers, norms, random_tensor

DOUBLE = torch.float64
IDS = [str(layer) for layer, _ in CATALOGUE]
ANY_LAYER = layers_that_fit() | norms() | norms(running=True)

THIRD = 1 / 3
BY_HAND = [
    # layer, x, the Jacobian
    ("LayerNorm(2, eps=0)", [[1, 3]], [[0, 0], [0, 0]]),  # y is (-1, 1) whatever x is
    ("LayerNorm(2, eps=3)", [[1, 3]], [[3 / 16, -3 / 16], [-3 / 16, 3 / 16]]),  # sigma 2, xhat -1/2 and 1/2
    ("LayerNorm(4, eps=0)", [[-1, -1, 1, 1]], [[0.5, -0.5, 0, 0], [-0.5, 0.5, 0, 0], [0, 0, 0.5, -0.5], [0, 0, -0.5, 0.5]]),
    ("RMSNorm(2, eps=4)", [[2, 2]], [[3 / 8**1.5 * 2, -1 / 8**1.5 * 2], [-1 / 8**1.5 * 2, 3 / 8**1.5 * 2]]),
    ("RMSNorm(2, eps=0)", [[0, 1]], [[2**0.5, 0], [0, 0]]),
    ("BatchNorm1d(1, eps=3)", [[1], [3]], [[3 / 16, -3 / 16], [-3 / 16, 3 / 16]]),
    ("BatchNorm1d(1, eps=3).eval()", [[1], [3]], [[0.5, 0], [0, 0.5]]),
    (Norm("n d ->", eps=3), [[1, 3]], [[3 / 16, -3 / 16], [-3 / 16, 3 / 16]]),
    (Norm("n d -> n d", eps=3), [[1, 3]], [[0, 0], [0, 0]]),
]  # fmt: skip


def row(e, at):
    """The derivative of y[at] with respect to every input."""
    e = in_float64(e)
    x = e.x.clone().requires_grad_()
    return torch.autograd.grad(output(e, x)[at], x)[0]


@pytest.mark.parametrize(("layer", "x", "expected"), BY_HAND)
def test_the_jacobian_by_hand(layer, x, expected):
    found = jacobian(explain(layer, torch.tensor(x, dtype=DOUBLE)))
    assert torch.allclose(found, torch.tensor(expected, dtype=DOUBLE), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(("layer", "shape"), CATALOGUE, ids=IDS)
def test_columns_are_those_of_the_jacobian(layer, shape):
    e = numbered(layer, shape)
    whole = jacobian(e)
    for flat, at in enumerate(product(*map(range, shape))):
        assert torch.allclose(column(e, at).flatten(), whole[:, flat], rtol=0, atol=tolerance(e))


@settings(max_examples=80)
@given(ANY_LAYER, st.integers(0, 100), st.data())
def test_it_is_exactly_zero_outside_the_statistics_group(drawn, seed, data):
    assume(fits(*drawn))
    e = numbered(*drawn, seed)
    at = tuple(data.draw(st.integers(0, size - 1)) for size in e.shape)
    outside = torch.tensor(e.stat_ids != e.stat_ids[at])
    found = column(e, at)
    assert found.shape == e.shape
    assert found.dtype == DOUBLE
    assert not found[outside].any()


@settings(max_examples=60)
@given(ANY_LAYER, st.integers(0, 100))
def test_the_whole_jacobian_is_exactly_zero_between_groups(drawn, seed):
    assume(prod(drawn[1]) <= 64 and fits(*drawn))
    e = numbered(*drawn, seed)
    ids = e.stat_ids.ravel()
    assert not jacobian(e)[torch.tensor(ids[:, None] != ids)].any()


@settings(max_examples=80)
@given(ANY_LAYER, st.integers(0, 100), st.data())
def test_adding_a_constant_to_a_group_changes_nothing_if_a_mean_is_subtracted(drawn, seed, data):
    assume(fits(*drawn))
    e = numbered(*drawn, seed)
    assume(e.norm.center and not e.norm.running)
    at = tuple(data.draw(st.integers(0, size - 1)) for size in e.shape)
    assert abs(float(row(e, at).sum())) <= e.counts.elements_per_statistic * tolerance(e)


@settings(max_examples=80)
@given(ANY_LAYER, st.integers(0, 100), st.data())
def test_scaling_a_group_changes_nothing_except_for_eps(drawn, seed, data):
    """sum_j d y_i / d x_j xhat_j = gamma_i / sigma * xhat_i * eps / (var + eps): 0 where eps is. Or 1 + gamma_i."""
    assume(fits(*drawn))
    e = numbered(*drawn, seed)
    assume(not e.norm.running)
    at = tuple(data.draw(st.integers(0, size - 1)) for size in e.shape)
    steps = e.trace
    gamma = output(in_float64(e, 2**12), torch.zeros(e.shape, dtype=DOUBLE)) * 0 + 1
    if e.param_ids is not None:
        gamma = e.values.gamma.flatten()[torch.tensor(e.param_ids)] + int(e.norm.zero_centered_gamma)
    square = (steps.var + steps.eps).expand(e.shape)[at]
    expected = gamma[at] * steps.normalized[at] * steps.eps / square**1.5
    found = (row(e, at) * steps.normalized).sum()
    largest = 1 + float(steps.normalized.abs().max())
    assert abs(float(found - expected)) <= e.counts.elements_per_statistic * largest * tolerance(e)


@given(norms(running=True), st.integers(0, 100))
def test_with_running_statistics_it_is_diagonal(drawn, seed):
    norm, shape = drawn
    e = numbered(norm, shape, seed)
    assume(e.x.numel() <= 64)
    whole = jacobian(e)
    assert not whole[~torch.eye(len(whole), dtype=torch.bool)].any()
    assert not (whole.diagonal() == 0).any()


@pytest.mark.parametrize("text", ["BatchNorm1d(3)", "BatchNorm2d(3)", "InstanceNorm1d(3, track_running_stats=True)"])
def test_eval_mode_makes_batchnorm_diagonal(text):
    shape = (2, 3, 2, 2) if "2d" in text else (2, 3, 4)
    off_diagonal = ~torch.eye(prod(shape), dtype=torch.bool)
    train, evaluating = (jacobian(numbered(text + mode, shape)) for mode in ("", ".eval()"))
    assert train[off_diagonal].any()
    assert not evaluating[off_diagonal].any()


def test_the_jacobian_is_symmetric_if_gamma_is_one():
    whole = jacobian(explain("GroupNorm(2, 4)", random_tensor((2, 4, 3), 0)))
    assert torch.allclose(whole, whole.T, rtol=0, atol=1e-14)


# Finite differences: the error of the quotient is h/2 times the second derivative plus rounding, 2 u |y| / h.


@pytest.mark.parametrize(("layer", "shape"), CATALOGUE, ids=IDS)
def test_a_perturbed_input_changes_the_outputs_of_the_jacobian(layer, shape):
    e, at = numbered(layer, shape), (0,) * len(shape)
    nudge = perturb(e, at)
    c = float((nudge.before.abs().max() + 1) / torch.sqrt(e.trace.var + e.trace.eps).min())
    if (
        e.counts.elements_per_statistic == 1 and not e.norm.running
    ):  # torch's GroupNorm changes by rounding, 1e-16 / 1e-6
        assert nudge.difference <= 1e-6
        assert not nudge.exact.any()
    else:
        assert nudge.difference <= 100 * 1e-6 * c**2
    assert torch.equal(nudge.exact, column(e, at))
    group = torch.tensor(e.stat_ids == e.stat_ids[at])
    assert torch.equal(nudge.after[~group], nudge.before[~group])


def test_a_perturbed_input_by_hand():
    e = explain("LayerNorm(2, eps=0)", torch.tensor([[1.0, 3.0], [0.0, 1.0]]))
    nudge = perturb(e, (0, 1), h=2)
    assert nudge.h == 2
    assert nudge.before.tolist() == nudge.after.tolist() == [[-1, 1], [-1, 1]]
    assert not nudge.changed.any()
    nudge = perturb(explain("BatchNorm1d(2).eval()", torch.tensor([[1.0, 3.0], [0.0, 1.0]])), (-1, 0), h=-4)
    assert nudge.changed.tolist() == [[False, False], [True, False]]
    assert float(nudge.quotient[1, 0]) == pytest.approx(1 / (1 + 1e-5) ** 0.5)


@given(st.sampled_from([1e-3, 1e-4, 1e-5, 1e-6]))
def test_a_smaller_step_is_more_accurate_until_rounding_dominates(h):
    e = explain("LayerNorm(5)", random_tensor((2, 5), 0))
    assert perturb(e, (0, 0), h).difference < perturb(e, (0, 0), 10 * h).difference


@pytest.mark.parametrize("h", [1e-15, -1e-15])
def test_h_is_the_change_after_rounding(h):
    nudge = perturb(explain("LayerNorm(3)", torch.tensor([[1.0, 2.0, 4.0]])), (0, 0), h)
    assert nudge.h == (1.0 + h) - 1.0 != h


# Types and eps


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, DOUBLE], ids=str)
def test_the_computation_is_float64_with_the_eps_of_the_dtype(dtype):
    x = random_tensor((2, 4), 0, dtype) * 1e-3
    wide = in_float64(explain("RMSNorm(4)", x))
    computing = DOUBLE if dtype == DOUBLE else torch.float32
    assert wide.norm.eps == wide.layer.given["eps"] == torch.finfo(computing).eps
    assert wide.x.dtype == wide.layer_values().gamma.dtype == DOUBLE
    assert jacobian(explain("RMSNorm(4)", x)).dtype == DOUBLE
    by_norm = jacobian(explain(Norm("n d -> n", "d", center=False, bias=False, eps=None), x))
    assert torch.allclose(by_norm, jacobian(explain("RMSNorm(4)", x)), rtol=1e-12)


@pytest.mark.parametrize(("layer", "shape"), CATALOGUE, ids=IDS)
def test_nothing_is_changed(layer, shape):
    e = numbered(layer, shape)
    before = [value.clone() for value in (e.x, *vars(e.values).values()) if value is not None]
    jacobian(e), column(e, (0,) * len(shape)), perturb(e, (0,) * len(shape))
    after = [value for value in (e.x, *vars(e.values).values()) if value is not None]
    assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))
    assert not e.x.requires_grad


def test_a_module_is_not_changed():
    module = module_with_random_numbers(explain("BatchNorm1d(3)", (4, 3)).layer, torch.float32, 0)
    before = {name: value.clone() for name, value in module.state_dict().items()}
    e = describe(module, random_tensor((4, 3), 1, torch.float32))
    jacobian(e)
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    assert all(value.grad is None for value in module.parameters())


def test_running_statistics_are_not_updated_in_training():
    e = describe(
        module_with_random_numbers(explain("BatchNorm1d(3)", (4, 3)).layer, DOUBLE, 0), random_tensor((4, 3), 1)
    )
    before = e.values.running_mean.clone(), e.values.running_var.clone()
    jacobian(e), column(e, (0, 0)), perturb(e, (0, 0))
    assert torch.equal(e.values.running_mean, before[0])
    assert torch.equal(e.values.running_var, before[1])


@pytest.mark.parametrize("name", ["LayerNorm(4)", "GroupNorm(2, 4)", "BatchNorm1d(4)", "RMSNorm(4)"])
def test_the_output_is_torchs_own(name):
    e = numbered(name, (3, 4))
    module = e.layer.module(DOUBLE)
    with torch.no_grad():
        module.weight.copy_(e.values.gamma)
        if e.values.beta is not None:
            module.bias.copy_(e.values.beta)
    assert torch.equal(output(e, e.x), forward(module, e.x))


def test_nan_stays_nan_in_its_group():
    x = torch.tensor([[1.0, nan, 3.0], [1.0, 2.0, 4.0]])
    found = column(explain("LayerNorm(3)", x), (0, 0))
    assert found[0].isnan().all()
    assert not found[1].isnan().any()


# Errors

FUNCTIONS = [lambda e, at: jacobian(e), column, perturb]


@pytest.mark.parametrize("compute", FUNCTIONS)
def test_a_shape_alone_has_no_gradient(compute):
    with pytest.raises(
        NormvizError, match=r"needs values, and x was given as the shape \(2, 3\).*torch\.randn\(2, 3\)"
    ):
        compute(explain("LayerNorm(3)", (2, 3)), (0, 0))


@pytest.mark.parametrize(("compute", "most"), [*zip(FUNCTIONS, [MOST_IN_MATRIX] + 2 * [MOST_ELEMENTS], strict=True)])
def test_more_elements_than_the_limit(compute, most):
    compute(explain(f"LayerNorm({most})", torch.arange(most, dtype=torch.float32)), (0,))
    with pytest.raises(NormvizError, match=rf"up to {most:,} elements, and x has {most + 1:,}.*make x smaller"):
        compute(explain(f"LayerNorm({most + 1})", torch.zeros(most + 1)), (0,))
    with pytest.raises(NormvizError, match="make x smaller"):
        compute(explain("LayerNorm(3)", (2**30, 3)), (0, 0))


@pytest.mark.parametrize("at", [(2, 0), (0,), (0, 0, 0), (0, -4), "ab", (0.5, 0)])
def test_an_index_outside_x(at):
    for compute in FUNCTIONS[1:]:
        with pytest.raises(NormvizError, match=r"is not an element of a tensor of shape \(2, 3\)"):
            compute(explain("LayerNorm(3)", torch.ones(2, 3)), at)


@pytest.mark.parametrize("h", [0, 0.0, nan, inf, -inf, 2 * LARGEST_STEP, "1", None, True, 10**400])
def test_invalid_steps(h):
    with pytest.raises(NormvizError, match="is not a step; give a number other than 0"):
        perturb(explain("LayerNorm(3)", torch.ones(2, 3)), (0, 0), h)


def test_a_step_that_is_rounded_away():
    with pytest.raises(NormvizError, match=r"h=1e-20 does not change x\[at\]=1 in float64; give a larger step"):
        perturb(explain("LayerNorm(3)", torch.ones(2, 3)), (0, 0), 1e-20)


def test_a_running_norm_without_statistics():
    for norm in (Norm("n d -> d", running=True), Norm("n d -> n", center=False, running=True)):
        with pytest.raises(NormvizError, match="running statistics are stored in a torch module"):
            column(explain(norm, torch.ones(2, 3)), (0, 0))


def test_extremes_of_shape():
    assert column(explain("LayerNorm(1)", torch.ones(1)), (0,)).tolist() == [0]
    assert jacobian(explain("RMSNorm(1, eps=0)", torch.tensor([-3.0]))).tolist() == [[0]]
    deep = (1,) * 11 + (4,)
    assert column(explain("LayerNorm(4)", np.arange(4.0).reshape(deep)), (0,) * 12).shape == deep


@torch.no_grad()
def test_a_caller_without_gradients_gets_them() -> None:
    e = explain("LayerNorm(3)", torch.tensor([[1.0, 2.0, 4.0], [0.0, 1.0, 5.0]]))
    assert torch.allclose(column(e, (0, 1)).flatten(), jacobian(e)[:, 1])
    assert jacobian(e)[1, :3].abs().min() > 0
