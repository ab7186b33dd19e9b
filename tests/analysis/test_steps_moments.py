"""The moments of the groups, of rows of two, by hand; then the same by measuring the values of every layer."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, reject

from normviz import explain
from normviz.analysis.excerpt import moments
from normviz.analysis.forward import Values, group_mean
from normviz.layers.layer import Layer
from normviz.texts.errors import NormvizError
from tests.support.strategies import explained, layers_that_fit, norms

TWO = torch.tensor([[1.0, 5.0]])
STORED = {"running_mean": torch.tensor([3.0, 1.0]), "running_var": torch.tensor([4.0, 4.0])}

# layer, its tensors; the mean and the variance of each group of (1, 5): before, centered, normalized, output
BY_HAND = [
    ("LayerNorm(2, eps=12)", Values(torch.full((2,), 8.0), torch.full((2,), 1.0)), "3 4 | 0 4 | 0 0.25 | 1 16"),
    ("LayerNorm(2, eps=12)", Values(torch.tensor([8.0, 4.0]), torch.zeros(2)), "3 4 | 0 4 | 0 0.25 | -1 9"),
    ("LayerNorm(2, eps=12, elementwise_affine=False)", None, "3 4 | 0 4 | 0 0.25"),
    ("RMSNorm(2, eps=12)", None, "3 4 | 3 4 | 0.6 0.16 | 0.6 0.16"),
    ("BatchNorm1d(2, eps=12, affine=False).eval()", Values(**STORED), "1 0 5 0 | -2 0 4 0 | -0.5 0 1 0"),
]


@pytest.mark.parametrize(("layer", "held", "wanted"), BY_HAND)
def test_the_moments_of_two_elements(layer, held, wanted):
    found = moments(replace(explain(layer, TWO), values=held))
    for each, numbers in zip(found.values(), wanted.split("|"), strict=True):
        pairs = torch.stack([each.mean.flatten(), each.var.flatten()], dim=1)
        assert pairs.flatten().tolist() == pytest.approx([float(number) for number in numbers.split()])


@given(layers_that_fit() | norms())
def test_a_normalized_group_has_mean_0_and_a_variance_or_mean_square_of_at_most_1(drawn):
    layer, shape = drawn
    try:
        e = explained(layer, shape, 0)
        found = moments(e)["normalized"]
    except NormvizError:  # one value has no spread; running statistics come with a module
        reject()
    if e.norm.running or e.trace.eps <= 0:
        return
    measured = group_mean(e.norm, e.trace.normalized.double())
    if e.norm.center:
        assert bool((found.mean == 0).all())
        assert bool((found.var <= 1).all())
    else:
        torch.testing.assert_close(found.mean, measured, atol=1e-4, rtol=1e-4)
        assert bool((found.mean_square <= 1 + 1e-12).all())


@pytest.mark.parametrize("size", [1, 2, 3, 16, 17, 64])
@pytest.mark.parametrize("layer", ["LayerNorm({})", "RMSNorm({})", "GroupNorm(1,{})", "Norm('a b -> b')"])
def test_short_and_long_groups_are_measured_to_the_last_digits(layer, size):
    shape = (size, 40) if layer.startswith("Norm") else (40, size)
    e = explained(Layer.parse(layer.format(size)), shape, 0)
    found = moments(e)["x"]
    mean = group_mean(e.norm, e.x.double())
    torch.testing.assert_close(found.mean, mean, rtol=1e-14, atol=1e-15)
    torch.testing.assert_close(found.var, group_mean(e.norm, (e.x.double() - mean).square()), rtol=1e-13, atol=1e-30)


@given(layers_that_fit() | norms())
def test_a_part_of_the_moments_is_taken_before_they_are_transformed(drawn):
    layer, shape = drawn
    try:
        e = explained(layer, shape, 0)
        whole, part = moments(e), moments(e, lambda values: values[..., :1])
    except NormvizError:
        reject()
    for name, each in whole.items():
        for values, taken in zip(vars(each).values(), vars(part[name]).values(), strict=True):
            torch.testing.assert_close(taken, values[..., :1], rtol=0, atol=0, equal_nan=True)


def test_a_shape_alone_has_no_moments():
    with pytest.raises(NormvizError, match="shape"):
        moments(explain("LayerNorm(3)", (2, 3)))


def test_each_step_has_its_name():
    assert list(moments(explain("LayerNorm(2)", TWO))) == ["x", "centered", "normalized", "output"]
    assert list(moments(explain("LayerNorm(2, elementwise_affine=False)", TWO))) == ["x", "centered", "normalized"]


def test_one_gamma_and_one_beta_give_the_exact_mean():
    e = explain("LayerNorm(3)", torch.tensor([[0.1, 0.2, 0.4]]))
    held = Values(torch.full((3,), 3.0), torch.zeros(3))
    assert float(replace(e, values=held).trace.output.double().mean()) != 0  # measured: a rounding error
    assert float(moments(replace(e, values=held))["output"].mean) == 0


def test_a_layer_with_a_single_channel_has_one_gamma_and_one_beta():
    e = replace(
        explain("BatchNorm1d(1, eps=12, track_running_stats=False)", TWO.T),
        values=Values(torch.tensor([8.0]), torch.tensor([1.0])),
    )
    found = moments(e)["output"]
    assert (float(found.mean), float(found.var)) == (1, 16)
