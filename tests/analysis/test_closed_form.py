import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from normviz import Norm, NormvizError, explain
from normviz.analysis.closed_form import (
    MOST_IN_BACKWARD,
    autograd_backward,
    backward_terms,
    closed_column,
    closed_jacobian,
    gradient_differences,
    parameter_sum,
    upstream,
)
from normviz.analysis.derivatives import jacobian
from tests.analysis.gradient_cases import CATALOGUE, fits, numbered, parameter_tolerance, tolerance
from tests.support.strategies import layers_that_fit, norms, random_tensor

DOUBLE = torch.float64
IDS = [str(layer) for layer, _ in CATALOGUE]
ANY_LAYER = layers_that_fit() | norms() | norms(running=True)


def test_the_terms_by_hand():
    x = torch.tensor(
        [[1.0, 1.0, 5.0, 5.0], [0.0, 0.0, 0.0, 0.0]], dtype=DOUBLE
    )  # mean 3, var 4; eps 12: sigma 4, xhat -1/2, 1/2
    module = torch.nn.LayerNorm(4, eps=12, dtype=DOUBLE)
    with torch.no_grad():
        module.weight.copy_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    form = closed_column(explain(module, x), (0, 2))
    assert (form.m, form.sigma) == (4, 4)
    assert form.group.tolist() == [[True] * 4, [False] * 4]
    assert form.itself.tolist() == [[0, 0, 1, 0], [0] * 4]
    assert form.through_mean.tolist() == [[-0.25] * 4, [0] * 4]
    assert form.through_var.tolist() == [[1 / 16, 1 / 16, -1 / 16, -1 / 16], [0] * 4]
    assert form.factor[0].tolist() == [0.25, 0.5, 0.75, 1]
    assert form.bracket.tolist() == [[-3 / 16, -3 / 16, 11 / 16, -5 / 16], [0] * 4]
    assert form.total.tolist() == [[-3 / 64, -6 / 64, 33 / 64, -20 / 64], [0] * 4]
    assert form.difference < 1e-16


ABSENT = [
    ("LayerNorm(4)", True, True),
    ("RMSNorm(4)", False, True),
    ("BatchNorm1d(4)", True, True),
    ("BatchNorm1d(4).eval()", False, False),
    (Norm("n d -> n", center=False), False, True),
]


@pytest.mark.parametrize(("layer", "mean", "var"), ABSENT)
def test_terms_that_a_layer_lacks_are_absent(layer, mean, var):
    form = closed_column(explain(layer, random_tensor((3, 4), 0)), (1, 2))
    assert (form.through_mean is not None, form.through_var is not None) == (mean, var)


@pytest.mark.parametrize(("layer", "shape"), CATALOGUE, ids=IDS)
def test_the_formula_agrees_with_autograd(layer, shape):
    e = numbered(layer, shape)
    assert torch.allclose(closed_jacobian(e), jacobian(e), rtol=0, atol=tolerance(e))


@pytest.mark.parametrize(("layer", "shape"), CATALOGUE, ids=IDS)
def test_the_tolerance_detects_a_missing_term(layer, shape):
    e = numbered(layer, shape)
    form = closed_column(e, (0,) * len(shape))
    for term in (form.itself, form.through_mean, form.through_var):
        if term is not None and (form.factor * term).any():
            assert (form.total - form.factor * term - form.autograd).abs().max() > 1000 * tolerance(e)


@settings(max_examples=80)
@given(ANY_LAYER, st.integers(0, 100), st.data())
def test_the_terms_sum_to_the_column_of_autograd(drawn, seed, data):
    assume(fits(*drawn))
    e = numbered(*drawn, seed)
    at = tuple(data.draw(st.integers(0, size - 1)) for size in e.shape)
    form = closed_column(e, at)
    assert form.difference <= tolerance(e)
    assert torch.equal(form.total, form.factor * form.bracket)
    assert torch.equal(form.group, torch.tensor(e.stat_ids == e.stat_ids[at]))
    assert form.itself.sum() == form.itself[at] == 1
    for term in (form.through_mean, form.through_var):
        assert term is None or not term[~form.group].any()


@given(layers_that_fit() | norms(), st.integers(0, 100), st.data())
def test_the_term_of_the_mean_sums_to_minus_one(drawn, seed, data):
    """The 1 of x_j itself makes the sum 0: adding a constant to the group changes no output. The term of the variance sums to 0."""
    assume(fits(*drawn))
    e = numbered(*drawn, seed)
    assume(e.norm.center and not e.norm.running)
    form = closed_column(e, tuple(data.draw(st.integers(0, size - 1)) for size in e.shape))
    assert float(form.through_mean.sum()) == pytest.approx(-1, abs=1e-12)
    assert abs(float(form.bracket.sum())) <= 1e-12 + tolerance(e) * form.sigma * form.m


# The backward pass


def test_the_backward_pass_by_hand():
    x = torch.tensor([[1.0, 1.0, 5.0, 5.0]], dtype=DOUBLE)  # sigma 4, xhat -1/2, -1/2, 1/2, 1/2
    e = explain("LayerNorm(4, eps=12)", x)
    found = backward_terms(e, torch.tensor([[0.0, 0.0, 0.0, 4.0]]))
    # dxhat - mean(dxhat) - xhat mean(dxhat xhat) = (0, 0, 0, 4) - 1 - xhat / 2
    assert found.dx.tolist() == [[-0.75 / 4, -0.75 / 4, -1.25 / 4, 2.75 / 4]]
    assert found.dgamma.tolist() == [0, 0, 0, 2]
    assert found.dbeta.tolist() == [0, 0, 0, 4]


def test_parameter_gradients_sum_over_parameter_groups_by_hand():
    x, dout = (
        torch.tensor([[3.0, 4.0], [-3.0, 4.0]], dtype=DOUBLE),
        torch.tensor([[1.0, 10.0], [100.0, 1000.0]], dtype=DOUBLE),
    )
    by_channel, whole = (
        explain(Norm("n d -> n", params, eps=0), x) for params in ("d", "")
    )  # xhat is (-1, 1) in both rows
    assert backward_terms(by_channel, dout).dgamma.tolist() == [-101, 1010]
    assert backward_terms(by_channel, dout).dbeta.tolist() == [101, 1010]
    assert backward_terms(whole, dout).dgamma.tolist() == 909
    assert backward_terms(whole, dout).dbeta.tolist() == 1111
    one = parameter_sum(by_channel, (1, 0), dout)
    assert one.elements.tolist() == [[True, False], [True, False]]
    assert one.for_gamma.tolist() == [[-1, 0], [-100, 0]]
    assert one.for_beta.tolist() == [[1, 0], [100, 0]]
    assert (one.dgamma, one.dbeta) == (-101, 101)


@pytest.mark.parametrize(("layer", "shape"), CATALOGUE, ids=IDS)
def test_the_backward_pass_agrees_with_autograd(layer, shape):
    assert_agrees(numbered(layer, shape), seed=3)


@settings(max_examples=80)
@given(ANY_LAYER, st.integers(0, 100))
def test_the_backward_pass_of_any_norm_agrees_with_autograd(drawn, seed):
    assume(fits(*drawn))
    assert_agrees(numbered(*drawn, seed), seed)


def assert_agrees(e, seed):
    dout = upstream(e.shape, seed)
    closed, by_autograd = backward_terms(e, dout), autograd_backward(e, dout)
    shapes = {"dx": e.shape, "dgamma": e.counts.gamma_shape, "dbeta": e.counts.beta_shape}
    assert set(gradient_differences(closed, by_autograd)) == {
        name for name, shape in shapes.items() if shape is not None
    }
    for name, shape in shapes.items():
        one, other = getattr(closed, name), getattr(by_autograd, name)
        assert (one is None) == (other is None) == (shape is None)
        assert one is None or tuple(one.shape) == tuple(other.shape) == shape
    allowed = {"dx": tolerance(e) * float(dout.abs().sum())}
    for name, difference in gradient_differences(closed, by_autograd).items():
        assert difference <= allowed.get(name, parameter_tolerance(e, dout)), name


@given(layers_that_fit() | norms(), st.integers(0, 100), st.data())
def test_each_gamma_gets_the_sum_over_its_parameter_group(drawn, seed, data):
    assume(fits(*drawn))
    e = numbered(*drawn, seed)
    assume(e.param_ids is not None)
    dout = upstream(e.shape, seed)
    at = tuple(data.draw(st.integers(0, size - 1)) for size in e.shape)
    one, found = parameter_sum(e, at, dout), backward_terms(e, dout)
    where = int(e.param_ids[at])
    assert {tuple(index) for index in np.argwhere(one.elements.numpy())} == {at, *e.parameter_peers(at)}
    assert one.dgamma == pytest.approx(float(found.dgamma.flatten()[where]), abs=parameter_tolerance(e, dout))
    assert (one.for_beta is None) == (one.dbeta is None) == (found.dbeta is None)
    if found.dbeta is not None:
        assert one.dbeta == pytest.approx(float(found.dbeta.flatten()[where]), abs=1e-11)


@given(layers_that_fit() | norms(), st.integers(0, 100))
def test_dx_sums_to_zero_over_a_group_if_a_mean_is_subtracted(drawn, seed):
    assume(fits(*drawn))
    e = numbered(*drawn, seed)
    assume(e.norm.center and not e.norm.running)
    dout = upstream(e.shape, seed)
    sums = np.bincount(e.stat_ids.ravel(), backward_terms(e, dout).dx.numpy().ravel())
    assert np.abs(sums).max() <= tolerance(e) * float(dout.abs().sum()) * e.counts.elements_per_statistic


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, DOUBLE], ids=str)
def test_gradients_are_float64(dtype):
    e = numbered("GroupNorm(2, 4)", (2, 4, 3), dtype=dtype)
    found = backward_terms(e, upstream(e.shape).to(dtype))
    assert found.dx.dtype == found.dgamma.dtype == found.dbeta.dtype == DOUBLE


def test_dout_may_be_an_array_and_nothing_is_changed():
    e = numbered("BatchNorm1d(3)", (4, 3))
    dout = upstream((4, 3)).numpy()
    before = (e.x.clone(), dout.copy(), e.values.gamma.clone())
    assert torch.equal(backward_terms(e, dout).dx, backward_terms(e, torch.tensor(dout)).dx)
    autograd_backward(e, dout)
    assert torch.equal(e.x, before[0])
    assert np.array_equal(dout, before[1])
    assert torch.equal(e.values.gamma, before[2])


def test_upstream_is_the_same_for_the_same_seed():
    assert torch.equal(upstream((2, 3), 1), upstream((2, 3), 1))
    assert not torch.equal(upstream((2, 3), 1), upstream((2, 3), 2))
    assert torch.equal(upstream((2, 3)), torch.round(upstream((2, 3)), decimals=2))


# Errors


@pytest.mark.parametrize("compute", [backward_terms, autograd_backward, lambda e, dout: parameter_sum(e, (0, 0), dout)])
def test_dout_of_another_shape(compute):
    with pytest.raises(
        NormvizError, match=r"dout has shape \(3,\) and the output has \(2, 3\); give the gradient of the loss for each"
    ):
        compute(explain("LayerNorm(3)", torch.ones(2, 3)), torch.ones(3))
    with pytest.raises(NormvizError, match="needs floating-point numbers"):
        compute(explain("LayerNorm(3)", torch.ones(2, 3)), torch.ones(2, 3, dtype=torch.int64))


@pytest.mark.parametrize("compute", [backward_terms, autograd_backward])
def test_more_elements_than_the_limit(compute):
    n = MOST_IN_BACKWARD
    compute(explain(f"LayerNorm({n})", torch.arange(n, dtype=torch.float32)), torch.ones(n))
    with pytest.raises(NormvizError, match="a backward pass is computed for up to 65,536 elements, and x has 65,537"):
        compute(explain(f"LayerNorm({n + 1})", torch.ones(n + 1)), torch.ones(n + 1))


def test_a_shape_alone():
    with pytest.raises(NormvizError, match="a backward pass needs values"):
        backward_terms(explain("LayerNorm(3)", (2, 3)), torch.ones(2, 3))
    with pytest.raises(NormvizError, match="needs values"):
        closed_column(explain("LayerNorm(3)", (2, 3)), (0, 0))
    with pytest.raises(NormvizError, match="a full Jacobian is computed for up to 256 elements"):
        closed_jacobian(explain("LayerNorm(257)", torch.ones(257)))
    with pytest.raises(NormvizError, match="a backward pass is computed for up to 65,536 elements"):
        parameter_sum(explain("LayerNorm(2)", torch.ones(2**16, 2)), (0, 0), torch.ones(2**16, 2))


def test_without_gamma_there_is_no_sum():
    e = explain("InstanceNorm1d(3)", torch.ones(2, 3, 4))
    with pytest.raises(NormvizError, match=r"InstanceNorm1d\(3\) has no gamma, so there is no sum"):
        parameter_sum(e, (0, 0, 0), torch.ones(2, 3, 4))
    assert backward_terms(e, torch.ones(2, 3, 4)).dgamma is None
    e = explain("LayerNorm(3, bias=False)", torch.ones(2, 3))
    assert parameter_sum(e, (0, 0), torch.ones(2, 3)).dbeta is None
