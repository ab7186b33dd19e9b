"""What the answers on train() and eval() state."""

from __future__ import annotations

from math import prod

import torch
from torch.nn.utils.fusion import fuse_conv_bn_eval

from normviz.analysis.description import describe
from normviz.analysis.examples import example
from normviz.analysis.running.modes import one_example, train_and_eval
from normviz.analysis.running.torch_module import buffers
from normviz.lessons.questions.facts import ROUNDING, module_of, normal, scene_of
from normviz.lessons.questions.topics.training import convolution_and_norm
from normviz.lessons.train_and_eval.modes import both_modes
from tests.lessons.questions.statements.measure import Statements, facts, nearly_equal


def s1c() -> Statements:
    batch = both_modes(scene_of("shape=4,6&layer=BatchNorm1d(6)").description, 0)
    return {
        "BatchNorm uses running statistics in eval mode": batch.eval_norm.running,
        "BatchNorm uses the batch's own statistics in train mode": not batch.train_norm.running,
    }


def q16() -> Statements:
    both = train_and_eval("BatchNorm1d(3)", example("scales", (6, 3), ("n", "d")), 20)
    f, x = facts("q16"), example("scales", (6, 3), ("n", "d"))
    norm = module_of("BatchNorm1d(3)")
    norm(x)
    state = {name: value.clone() for name, value in norm.state_dict().items()}
    evaluated = norm.eval()(x)
    with torch.no_grad():
        without_gradients = norm(x)
    return {
        "torch.no_grad() changes no output": evaluated.equal(without_gradients),
        "eval() changes neither gamma nor beta": all(norm.state_dict()[name].equal(state[name]) for name in state),
        "a forward pass in train mode changes buffers under no_grad": _changes_under_no_grad(norm.train(), x),
        "a forward pass in train mode changes buffers, without an optimizer and under no_grad": both.changed_by_train,
        "a forward pass in eval mode changes none": not both.changed_by_eval,
        "the difference is larger after fewer batches": f["first"] > f["later"],
        "LayerNorm gives the same in both modes": f["layer"] == 0,
    }


def _changes_under_no_grad(norm: torch.nn.Module, x: torch.Tensor) -> bool:
    before = norm.get_buffer("running_mean").clone()
    with torch.no_grad():
        norm(x)
    return not norm.get_buffer("running_mean").equal(before)


def s3k() -> Statements:
    both = both_modes(scene_of("shape=6,3&layer=BatchNorm1d(3)").description, 0)
    return {
        "train mode writes the running statistics": {"running_mean", "running_var"} <= set(both.changed_by_train),
        "eval mode writes no buffer": both.changed_by_eval == (),
    }


def s1d() -> Statements:
    names = {name: prod(shape) for name, shape in buffers("BatchNorm1d(6)").items()}
    return {
        "BatchNorm has three buffers": names == {"running_mean": 6, "running_var": 6, "num_batches_tracked": 1},
        "LayerNorm's state is gamma and beta": set(module_of("LayerNorm(6)").state_dict()) == {"weight", "bias"},
    }


def q17() -> Statements:
    text, x = "BatchNorm1d(3, track_running_stats=False)", normal(4, 3, 5)
    return {
        "it has no buffers": buffers(text) == {},
        "train and eval give the same": train_and_eval(text, x).largest_difference == 0,
        "in eval mode an example's output depends on the others": facts("q17")["difference"] > 0.01,
        "with running statistics it does not": facts("q17")["tracked"] < ROUNDING,
        "one example with one value per channel is refused in eval mode too": one_example(
            text, normal(4, 3)
        ).eval.refusal,
    }


def q10() -> Statements:
    x, text, at, other = normal(2, 3, 4, 4), "InstanceNorm2d(3, track_running_stats=True)", (0, 0, 0, 0), (1, 0, 0, 0)
    return {
        "in eval mode both images share a mean": other in describe(f"{text}.eval()", x).peers(at),
        "in train mode they do not": other not in describe(text, x).peers(at),
        "BatchNorm2d in eval mode gives the same": facts("q10")["difference"] < ROUNDING,
        "without tracking the mode changes nothing": train_and_eval("InstanceNorm2d(3)", x).largest_difference == 0,
    }


@torch.no_grad()
def q38() -> Statements:
    conv, norm = convolution_and_norm()
    x, y = normal(2, 4, 4, 4), norm(conv(1 + normal(2, 3, 6, 6)))
    at_zero, at_one = norm(torch.zeros(1, 4, 1, 1)), norm(torch.ones(1, 4, 1, 1))
    layer, fused = module_of("LayerNorm([4, 4, 4])"), fuse_conv_bn_eval(conv, norm)
    return {
        "in eval mode each channel is multiplied by one number, and another one is added": nearly_equal(
            norm(x), at_zero + (at_one - at_zero) * x
        ),
        "the output is not that of a fresh layer": not nearly_equal(norm(x), x),
        "the weights are scaled for each channel": nearly_equal(
            fused.weight, conv.weight * (at_one - at_zero).view(4, 1, 1, 1)
        ),
        "the bias is what BatchNorm adds": nearly_equal(fused.bias, at_zero.flatten()),
        "in train mode the same x has another output in another batch": not nearly_equal(
            norm.train()(x)[0], norm(x[:1])[0]
        ),
        "LayerNorm is no such map": not nearly_equal(layer(2 * y) - layer(y), layer(y) - layer(torch.zeros_like(y))),
    }
