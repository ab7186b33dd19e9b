import copy
import re

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch import nn

import normviz
from normviz import Explanation, Layer, Norm, NormvizError, NormvizWarning, explain
from normviz.analysis.description import describe
from normviz.code.programs import code
from tests.support.strategies import (
    IN_TORCH,
    explained_or_reject,
    forward,
    layers_that_fit,
    module_with_random_numbers,
    norms,
    random_tensor,
)

FIRST_LOOK = [
    # layer, x's shape: the pattern, statistics, elements per statistic, parameters
    ("LayerNorm([3, 4, 4])", (2, 3, 4, 4), "n c h w -> n", 2, 48, 96),
    ("BatchNorm2d(3)", (2, 3, 4, 4), "n c h w -> c", 3, 32, 6),
    ("LayerNorm(5)", (4, 5), "n d -> n", 4, 5, 10),
    ("BatchNorm1d(5)", (4, 5), "n d -> d", 5, 4, 10),
    ("LayerNorm(8)", (2, 5, 8), "n l c -> n l", 10, 8, 16),
]


@pytest.mark.parametrize(("layer", "shape", "stats", "statistics", "elements", "parameters"), FIRST_LOOK)
def test_the_counts_of_well_known_layers(layer, shape, stats, statistics, elements, parameters):
    e = explain(layer, shape)
    assert e.norm.stats == stats
    assert (e.counts.statistics, e.counts.elements_per_statistic, e.counts.parameters) == (
        statistics,
        elements,
        parameters,
    )


def test_the_public_names_are_there():
    for name in normviz.__all__:
        assert getattr(normviz, name)
    assert isinstance(explain("LayerNorm(3)", (2, 3)), Explanation)
    assert issubclass(NormvizError, ValueError)
    assert issubclass(NormvizWarning, UserWarning)


@given(layers_that_fit(IN_TORCH), st.integers(0, 100), st.booleans(), st.sampled_from([torch.float32, torch.float64]))
def test_explain_changes_nothing(drawn, seed, numpy, dtype):
    layer, shape = drawn
    module, x = module_with_random_numbers(layer, dtype, seed), random_tensor(shape, seed + 1, dtype)
    if not numpy:
        x.requires_grad_()
        x.grad = torch.ones_like(x)
    for parameter in module.parameters():
        parameter.grad = torch.ones_like(parameter)
    x_before, before, random = x.detach().clone(), copy.deepcopy(module), torch.get_rng_state()
    try:
        e = describe(module, x.numpy() if numpy else x)
    except NormvizError:
        assume(False)
    _ = (e.counts, e.stat_ids, e.param_ids, e.trace, e.agreement, e.notes, e.title, e.layout, repr(e))
    _ = [code(e, flavor) for flavor in ("torch", "torch-scratch", "numpy", "einops", "loops")]
    assert (e.peers((0,) * len(shape)), e.parameter_peers((0,) * len(shape))) is not None

    assert torch.equal(x, x_before)
    assert numpy or (x.requires_grad and torch.equal(x.grad, torch.ones_like(x)))
    assert module.training == before.training
    assert list(module.state_dict()) == list(before.state_dict())
    for name, value in module.state_dict().items():
        assert torch.equal(value, before.state_dict()[name]), name
    for parameter in module.parameters():
        assert parameter.requires_grad
        assert torch.equal(parameter.grad, torch.ones_like(parameter))
    assert torch.equal(torch.get_rng_state(), random)
    assert not e.trace.output.requires_grad


def test_num_batches_tracked_does_not_change_if_torch_would_refuse_too():
    module = nn.BatchNorm1d(3)
    with pytest.raises(NormvizError, match="Expected more than 1 value per channel"):
        explain(module, torch.zeros(1, 3))
    assert module.num_batches_tracked == 0


def test_an_explanation_does_not_follow_the_module():
    module, x = nn.LayerNorm(3), random_tensor((2, 3), 0, torch.float32)
    e = explain(module, x)
    with torch.no_grad():
        module.weight.fill_(100)
    module.eval()
    assert torch.equal(e.trace.output, e.trace.normalized)
    assert e.layer.training


@given(layers_that_fit(), st.integers(0, 100))
def test_equal_ids_have_equal_means_and_variances(drawn, seed):
    layer, shape = drawn
    e = explained_or_reject(layer, shape, seed)
    for stat in (e.trace.mean, e.trace.var):
        values = stat.expand(shape).numpy()
        for number in range(e.counts.statistics):
            assert len(np.unique(values[e.stat_ids == number])) == 1
    if not e.norm.running:
        means = np.bincount(e.stat_ids.ravel(), e.x.numpy().ravel()) / e.counts.elements_per_statistic
        expected = means[e.stat_ids] if e.norm.center else 0
        assert np.allclose(e.trace.mean.expand(shape).numpy(), expected, atol=1e-12)


@given(layers_that_fit(IN_TORCH), st.integers(0, 100))
def test_the_agreement_with_torch_is_shown(drawn, seed):
    layer, shape = drawn
    e = explained_or_reject(layer, shape, seed)
    assert e.agreement <= 1e-9 * max(1.0, float(e.trace.output.abs().max()))


AGREEMENT = [
    ("ChannelsFirstLayerNorm(3)", (2, 3), True),
    ("ChannelsFirstLayerNorm(3)", (2, 3, 4), False),
    (Norm("n c h -> n", "c"), (2, 3, 4), True),
    (Norm("n c h -> n h", "c"), (2, 3, 4), False),
    (Norm("n c h -> c h", "c"), (2, 3, 4), False),
]


@pytest.mark.parametrize(("layer", "shape", "known"), AGREEMENT)
def test_the_agreement_is_known_if_torch_has_the_layer(layer, shape, known):
    e = explain(layer, random_tensor(shape, 0))
    assert (e.agreement is not None) == known
    assert e.agreement is None or e.agreement < 1e-12


def test_without_values_there_is_no_agreement_and_no_trace():
    e = explain("LayerNorm(3)", (2, 3))
    assert e.agreement is None
    message = "there are no values: x was given as the shape (2, 3). Give a tensor, such as torch.randn(2, 3)."
    with pytest.raises(NormvizError, match=re.escape(message)):
        _ = e.trace
    with pytest.raises(NormvizError, match=re.escape("such as torch.randn(3,).")):
        _ = explain("LayerNorm(3)", (3,)).trace


def test_a_layer_given_as_text_has_initial_parameters():
    values = explain("BatchNorm1d(3).eval()", torch.zeros(2, 3, dtype=torch.float64)).layer_values()
    assert [v.tolist() for v in vars(values).values()] == [[1.0] * 3, [0.0] * 3, [0.0] * 3, [1.0] * 3]
    assert {v.dtype for v in vars(values).values()} == {torch.float64}
    assert all(
        v is None for v in vars(explain("LayerNorm(3, elementwise_affine=False)", (2, 3)).layer_values()).values()
    )


def test_an_explanation_of_a_module_has_the_values_of_the_module():
    module = module_with_random_numbers(Layer.parse("BatchNorm1d(3).eval()"), torch.float64, 0)
    e, x = explain(module, (2, 3)), random_tensor((2, 3), 1)
    values = e.layer_values()
    assert torch.equal(values.gamma, module.weight)
    assert torch.equal(values.running_var, module.running_var)
    assert values.gamma.data_ptr() != module.weight.data_ptr()
    assert torch.allclose(explain(module, x).trace.output, forward(module, x))


TITLES = [
    ("nn.LayerNorm(3, eps=1e-6)", "LayerNorm([3], eps=1e-06)"),
    ("BatchNorm1d(3).eval()", "BatchNorm1d(3).eval()"),
    (Norm("n d -> n", "d"), "Norm('n d -> n', 'd')"),
]


@pytest.mark.parametrize(("layer", "title"), TITLES)
def test_the_title_is_the_call(layer, title):
    assert explain(layer, (2, 3)).title == title


def test_an_explanation_is_one_value():
    e = explain("LayerNorm(3)", random_tensor((2, 3), 0))
    assert e.stat_ids is e.stat_ids
    assert e.trace is e.trace
    assert hash(e) == hash(e)
    with pytest.raises(AttributeError):
        e.shape = (3, 3)
    assert "tensor" not in repr(e)


@given(norms(), st.integers(0, 100))
def test_any_norm_is_explained(drawn, seed):
    norm, shape = drawn
    e = explain(norm, random_tensor(shape, seed))
    assert e.norm == norm
    assert e.layer is None
    assert e.counts.buffers == 0
    assert e.trace.output.shape == shape


def test_a_norm_that_does_not_fit_is_refused():
    with pytest.raises(
        NormvizError, match=re.escape("the pattern 'n c -> n' has rank 2 and x has rank 3, shape (2, 3, 4)")
    ):
        explain(Norm("n c -> n"), (2, 3, 4))


def test_a_tensor_without_numbers_is_a_shape():
    e = explain("LayerNorm(4)", torch.empty(2, 4, device="meta"))
    assert (e.shape, e.x) == ((2, 4), None)


def test_a_layer_on_another_device_is_named():
    with pytest.raises(NormvizError, match=r"^x is on the device cpu and the layer on meta; move one to the other\.$"):
        explain(nn.LayerNorm(4, device="meta"), torch.ones(2, 4))
