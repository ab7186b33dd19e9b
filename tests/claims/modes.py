"""What train mode and eval mode change."""

from copy import deepcopy

import torch
from hypothesis import strategies as st
from torch import nn

from tests.claims.drawing import (
    FAMILIES,
    PER_EXAMPLE,
    changed,
    close,
    draw_case,
    draw_shape,
    indices,
    make_layer,
    normal,
    normalized,
    run,
)
from tests.claims.predicates import predicate


def with_random_statistics(draw, layer: nn.Module) -> nn.Module:
    layer.running_mean.copy_(normal(draw, *layer.running_mean.shape))
    layer.running_var.copy_(normal(draw, *layer.running_var.shape).square() + 0.1)
    return layer


def buffers(layer: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in layer.named_buffers()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


@predicate({"Every normalization layer computes something else in eval mode.": {"families": FAMILIES}})
def layers_without_running_statistics_compute_the_same_in_both_modes(draw, families=PER_EXAMPLE):
    """By default, InstanceNorm, GroupNorm, LayerNorm and RMSNorm have no buffers and compute the same in train and eval mode."""
    case = draw_case(draw, *families, track_running_stats="BatchNorm" in families)
    assert torch.equal(run(case.layer.train(), case.x), run(case.layer.eval(), case.x))
    assert not list(case.layer.buffers())


@predicate({"With `track_running_stats=False`, BatchNorm uses running statistics in eval mode": {"tracked": True}})
def without_tracking_both_modes_use_the_batch(draw, tracked=False):
    """With track_running_stats=False, BatchNorm and InstanceNorm have no buffers, and both modes normalize with the statistics of x."""
    case = draw_case(draw, "BatchNorm", "InstanceNorm", track_running_stats=tracked)
    assert torch.equal(run(case.layer.train(), case.x), run(case.layer.eval(), case.x))
    assert not list(case.layer.buffers())


@predicate({"In eval mode BatchNorm normalizes with the batch": {"stored": False}})
def eval_mode_normalizes_with_the_running_statistics(draw, stored=True):
    """In eval mode, a layer with running statistics uses these, whatever the batch is, and changes no buffer."""
    case = draw_case(draw, "BatchNorm", "InstanceNorm", track_running_stats=True)
    layer = with_random_statistics(draw, case.layer).eval()
    before, channel = buffers(layer), indices(case.x.shape)[1]
    expected = (case.x - layer.running_mean[channel]) / (layer.running_var[channel] + layer.eps).sqrt()
    if not stored:
        expected = normalized(case.x, case.group, layer.eps)
    close(run(layer, case.x), expected * layer.weight[channel] + layer.bias[channel])
    for name, value in buffers(layer).items():  # torch 2.4 averages InstanceNorm's copies of them, and so rounds them
        close(value.double(), before[name].double(), 1e-12)


@predicate({"In eval mode an output depends on the other examples": {"training": True}})
def in_eval_mode_an_output_does_not_depend_on_other_examples(draw, training=False):
    """In eval mode with running statistics, each output depends on its own input alone; one example is enough."""
    case = draw_case(draw, "BatchNorm", least=2, shape=(draw(st.integers(2, 3)), *draw_shape(draw, 1, 3)))
    layer = with_random_statistics(draw, case.layer).train(training)
    before = run(layer, case.x)
    assert torch.equal(run(layer, changed(case.x, slice(1, None)))[0], before[0])
    close(run(layer, case.x[:1])[0], before[0], 1e-12)


@predicate({"In eval mode, InstanceNorm normalizes each example with its own statistics.": {"tracked": False}})
def tracking_instancenorm_in_eval_mode_is_batchnorm(draw, tracked=True):
    """InstanceNorm with running statistics in eval mode equals BatchNorm with the same buffers: one mean for each channel."""
    case = draw_case(draw, "InstanceNorm", track_running_stats=tracked)
    other = make_layer(draw, "BatchNorm", tuple(case.x.shape), eps=case.layer.eps).to(case.x.dtype)
    if tracked:
        with_random_statistics(draw, case.layer)
    other.load_state_dict(case.layer.state_dict(), strict=False)
    close(run(case.layer.eval(), case.x), run(other.eval(), case.x))


@predicate({"BatchNorm normalizes with its moving averages in training": {"training": False}})
def train_mode_only_writes_the_running_statistics(draw, training=True):
    """In train mode, overwriting the running statistics changes no output; in eval mode it does."""
    case = draw_case(draw, "BatchNorm", "InstanceNorm", track_running_stats=True)
    other = with_random_statistics(draw, deepcopy(case.layer)).train(training)
    assert torch.equal(run(other, case.x), run(case.layer.train(training), case.x))
    case.layer.running_mean += 1
    assert not torch.equal(run(case.layer.eval(), case.x), run(with_random_statistics(draw, other).eval(), case.x))


@predicate({"Under `torch.no_grad()` no buffer changes": {"changes": False}})
def one_batch_in_train_mode_changes_all_buffers(draw, changes=True):
    """One forward pass of BatchNorm in train mode changes running_mean, running_var and num_batches_tracked, even under no_grad; one in eval mode none."""
    case = draw_case(draw, "BatchNorm")  # torch's InstanceNorm does not count its batches
    before = buffers(case.layer)
    run(case.layer.eval(), case.x)
    assert same(before, buffers(case.layer))
    run(case.layer.train(), case.x)
    after = buffers(case.layer)
    assert all(torch.equal(before[name], after[name]) != changes for name in before)
    assert {*before} == {"running_mean", "running_var", "num_batches_tracked"}


@predicate({"A layer frozen with `requires_grad_(False)` changes no buffer.": {"frozen": True}})
def freezing_stops_gamma_and_beta_only(draw, frozen=False):
    """requires_grad_(False) stops gradients of gamma and beta; in train mode the running statistics change all the same."""
    case = draw_case(draw, "BatchNorm")
    before = buffers(case.layer.requires_grad_(False))
    run(case.layer, case.x)
    assert same(before, buffers(case.layer)) == frozen


@predicate({"`momentum=0.0` makes train mode use the running statistics": {"stored": True}})
def momentum_zero_keeps_the_statistics_and_uses_the_batch(draw, stored=False):
    """With momentum 0, train mode leaves mean and variance as they are, and normalizes with the batch."""
    case = draw_case(draw, "BatchNorm", momentum=0.0)
    layer = with_random_statistics(draw, case.layer)
    before, channel = buffers(layer), indices(case.x.shape)[1]
    found = run(layer, case.x)
    assert all(torch.equal(before[name], value) for name, value in buffers(layer).items() if name.startswith("running"))
    expected = normalized(case.x, case.group, layer.eps) * layer.weight[channel] + layer.bias[channel]
    close(found, run(layer.eval(), case.x) if stored else expected)


@predicate({"A frozen BatchNorm stays in eval mode": {"stays": True}})
def train_reaches_every_layer_of_a_model(draw, stays=False):
    """model.train() puts a layer that was in eval mode, frozen or not, into train mode: the next batch changes its buffers."""
    case = draw_case(draw, "BatchNorm")
    layer = case.layer.eval().requires_grad_(draw(st.booleans()))
    model, before = nn.Sequential(nn.Sequential(layer)).train(), buffers(layer)
    run(model, case.x)
    assert layer.training != stays
    assert same(before, buffers(layer)) == stays


@predicate({"eval() changes gamma and beta": {"changes": True}})
def eval_changes_no_number(draw, changes=False):
    """eval() sets a flag: parameters and buffers stay."""
    layer = draw_case(draw).layer
    before = {name: value.clone() for name, value in layer.state_dict().items()}
    layer.eval()
    assert (not all(torch.equal(value, layer.state_dict()[name]) for name, value in before.items())) == changes


@predicate({"In eval mode a module stops gradients": {"through": False}})
def gradients_flow_through_eval_mode(draw, through=True):
    """A layer in eval mode passes gradients to x; a frozen one, too."""
    case = draw_case(draw, least=2)
    x = case.x.clone().requires_grad_()
    out = case.layer.eval().requires_grad_(False)(x)
    assert out.requires_grad == through
    (out * normal(draw, *x.shape)).sum().backward()
    assert bool((x.grad != 0).any())
