"""The forward pass, step by step: by hand, and for any norm."""

from math import prod

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch import nn

from normviz import explain
from normviz.analysis.description import describe
from normviz.analysis.forward import Values, broadcast, largest_difference, run_module, trace, use_one_thread
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.sharing import counts
from normviz.texts.errors import NormvizError
from tests.support.computing import DOUBLE, runs
from tests.support.strategies import (
    IN_TORCH,
    forward,
    layers_that_fit,
    module_with_random_numbers,
    norms,
    random_tensor,
)

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


SAME_OUTPUT = [
    ("GroupNorm(1, 4)", "LayerNorm([4, 2, 3])"),
    ("GroupNorm(4, 4)", "InstanceNorm2d(4)"),
    ("InstanceNorm2d(4, affine=False)", "LayerNorm([2, 3], elementwise_affine=False)"),
    ("SyncBatchNorm(4)", "BatchNorm2d(4)"),
    ("DimNorm(3, eps=1e-5)", "LayerNorm(3)"),
    ("ChannelsFirstLayerNorm(4)", Norm("n c h w -> n h w", "c", eps=1e-6)),
]


@pytest.mark.parametrize(("one", "other"), SAME_OUTPUT)
def test_layers_with_the_same_statistics_have_the_same_xhat(one, other):
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
    output = normalized * (1 if gamma is None else norm.zero_centered_gamma + gamma.numpy().ravel()[e.param_ids]) + (
        0 if beta is None else beta.numpy().ravel()[e.param_ids]
    )
    assert np.allclose(steps.output.numpy(), output, rtol=1e-9, atol=1e-9)


@given(norms(running=True), st.integers(0, 100))
def test_running_statistics_broadcast_to_the_elements_with_their_id(drawn, seed):
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
def test_a_changed_element_changes_only_the_outputs_of_its_group(drawn, seed, data):
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


def test_a_norm_without_running_statistics_is_refused():
    e = explain(Norm("n c -> c", running=True), torch.ones(2, 3))
    with pytest.raises(
        NormvizError, match="running statistics are stored in a torch module; give the module itself, in eval mode"
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
def test_a_parameter_broadcasts_to_the_elements_with_its_id(drawn, seed):
    norm, shape = drawn
    assume(norm.params is not None)
    e = describe(norm, shape)
    numbers = torch.arange(prod(e.counts.gamma_shape)).reshape(e.counts.gamma_shape)
    assert torch.equal(broadcast(norm, shape, numbers).expand(shape), torch.tensor(e.param_ids))


def test_a_new_layer_has_gamma_1_beta_0_and_running_statistics_0_and_1():
    found = Values.constant(counts(Norm("n c -> c", "c"), (2, 3)), running=True, dtype=DOUBLE)
    assert {name: value.tolist() for name, value in found.tensors.items()} == {
        "gamma": [1.0, 1.0, 1.0],
        "beta": [0.0, 0.0, 0.0],
        "running_mean": [0.0, 0.0, 0.0],
        "running_var": [1.0, 1.0, 1.0],
    }
    assert {value.dtype for value in found.tensors.values()} == {DOUBLE}


def test_running_statistics_without_centering_have_mean_0():
    values = Values(running_mean=torch.tensor([5.0]), running_var=torch.tensor([4.0]))
    steps = trace(Norm("n c -> c", center=False, running=True, eps=0), torch.tensor([[2.0], [6.0]]), values)
    assert (steps.mean.tolist(), steps.output.tolist()) == ([[0.0]], [[1.0], [3.0]])


@pytest.mark.parametrize("stored", ["running_mean", "running_var"])
def test_one_running_statistic_is_not_enough(stored):
    with pytest.raises(NormvizError, match="running statistics are stored in a torch module; give the module itself"):
        trace(Norm("n c -> c", running=True), torch.ones(2, 1), Values(**{stored: torch.ones(1)}))


def test_the_app_computes_with_one_thread():
    use_one_thread()
    assert torch.get_num_threads() == 1
