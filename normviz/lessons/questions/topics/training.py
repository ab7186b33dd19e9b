"""Questions on what is done with a layer: weight decay, folding, checkpoints, averaged networks and their running statistics."""

from typing import Any

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval
from torch.optim.adamw import adamw
from torch.optim.swa_utils import AveragedModel, update_bn
from torch.utils.checkpoint import CheckpointFunction

from normviz.analysis.forward import largest_difference
from normviz.lessons.questions.facts import ROUNDING, Facts, module_of, normal, only


def convolution_and_norm() -> tuple[nn.Conv2d, nn.BatchNorm2d]:
    """A convolution without a bias, and the BatchNorm after it, with a gamma, a beta and running statistics of its own."""
    conv, norm = nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4)
    conv.weight.data.copy_(normal(4, 3, 3, 3, seed=1))
    norm.weight.data.copy_(1 + normal(4, seed=2) / 2)
    norm.bias.data.copy_(normal(4, seed=3))
    for seed in range(4, 24):
        norm(conv(1 + normal(2, 3, 6, 6, seed=seed)))
    return conv.eval(), norm.eval()


@torch.no_grad()
def folded() -> Facts:
    x, (conv, norm) = 1 + normal(2, 3, 6, 6), convolution_and_norm()
    fused, y = fuse_conv_bn_eval(conv, norm), norm(conv(x))
    assert fused.bias is not None
    stored = [*conv.parameters(), *norm.parameters(), norm.get_buffer("running_mean"), norm.get_buffer("running_var")]
    whole, scaled = (largest_difference(one, y) for one in (fused(x), fused(x) - fused.bias.view(-1, 1, 1)))
    return {
        "gap": whole,
        "before": sum(value.numel() for value in stored),
        "after": sum(value.numel() for value in fused.parameters()),
        "train": largest_difference(fused(x), norm.train()(conv(x))),
        "right": only(
            conv=whole < ROUNDING <= scaled, scaled=scaled < ROUNDING, none=whole >= ROUNDING and scaled >= ROUNDING
        ),
    }


TIMES = 10  # the factor by which the weights are multiplied


def weight_gradient(layer: str, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The output of a linear layer and a fresh layer after it, and the gradient of a loss with respect to the weights."""
    weight = weight.clone().requires_grad_()
    y = module_of(layer, weight.dtype)(normal(8, 4).double() @ weight)
    (y * normal(8, 3, seed=2)).sum().backward()
    assert weight.grad is not None
    return y.detach(), weight.grad


def weight_scale() -> Facts:
    weight = normal(4, 3, seed=1).double()
    (y, gradient), (scaled, smaller) = (weight_gradient("BatchNorm1d(3)", one) for one in (weight, TIMES * weight))
    ratio = float(smaller.norm() / gradient.norm())
    return {
        "change": largest_difference(y, scaled),
        "ratio": ratio,
        "relative": ratio / TIMES,
        "right": only(
            tenth=abs(ratio - 0.1) < 1e-3,
            same=abs(ratio - 1) < 1e-2,
            ten=abs(ratio - 10) < 0.1,
            hundredth=abs(ratio - 0.01) < 1e-4,
        ),
    }


START_GAMMA, START_BETA, STEPS = 2.0, 0.5, 100
RATE, DECAY = 0.1, 0.1


def decayed(value: float) -> float:
    """A parameter after some steps of AdamW without any gradient but weight decay."""
    parameter, gradient, first, second, count = (torch.tensor(one) for one in (value, 0.0, 0.0, 0.0, 0.0))
    settings: dict[str, Any] = {"lr": RATE, "weight_decay": DECAY, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8}
    settings |= {"amsgrad": False, "maximize": False}
    for _ in range(STEPS):  # a function, because the first optimizer of a process takes seconds
        adamw([parameter], [gradient], [first], [second], [], [count], **settings)
    return parameter.item()


def decay_of_gamma() -> Facts:
    plain, plus = decayed(START_GAMMA), 1 + decayed(START_GAMMA - 1)
    return {
        "steps": STEPS,
        "rate": RATE,
        "decay": DECAY,
        "start": START_GAMMA,
        "plain": plain,
        "plus": plus,
        "beta_start": START_BETA,
        "beta": decayed(START_BETA),
        "right": only(zero=plain < 1 and plus < 1, one=plain > 1 and plus > 1, split=plain < 1 < plus),
    }


MOMENTUM = 0.1


def checkpointed() -> Facts:
    """One training step with and without a checkpoint, and one with the momentum that makes up for the second update."""
    plain, twice, corrected = (
        nn.BatchNorm1d(3, momentum=one) for one in (MOMENTUM, MOMENTUM, 1 - (1 - MOMENTUM) ** 0.5)
    )
    x, gradients, outputs = normal(8, 3) + 1, [], []
    for norm in (plain, twice, corrected):
        given = x.clone().requires_grad_()
        y = norm(given) if norm is plain else CheckpointFunction.apply(norm, False, given)
        y.pow(3).sum().backward()
        assert given.grad is not None
        gradients.append(given.grad)
        outputs.append(y.detach())
    usual, weight = (float((norm.get_buffer("running_mean") / x.mean(0)).mean()) for norm in (plain, twice))
    count = int(twice.get_buffer("num_batches_tracked"))
    return {
        "count": count,
        "usual": usual,
        "weight": weight,
        "output": largest_difference(outputs[0], outputs[1]),
        "gradient": largest_difference(gradients[0], gradients[1]),
        "momentum": corrected.momentum,
        "right": count,
    }


def linear_and_norm(weight: float, x: torch.Tensor) -> nn.Sequential:
    """A channel w · x and its BatchNorm, whose running statistics are those of x as one batch; in eval mode."""
    model = nn.Sequential(nn.Linear(1, 1, bias=False), nn.BatchNorm1d(1, momentum=1.0))
    model.get_parameter("0.weight").data.fill_(weight)
    model(x)
    return model.eval()


WEIGHTS = (1.0, 3.0)
SHIFT = 2.0  # of the data from another source


@torch.no_grad()
def averaged_networks() -> Facts:
    x = normal(64, 1)
    x = (x - x.mean()) / x.std()
    networks = [linear_and_norm(weight, x) for weight in WEIGHTS]
    average = AveragedModel(networks[0], use_buffers=True)
    for network in networks:
        average.update_parameters(network)
    running = average.module[1].get_buffer("running_var")  # type: ignore[index]
    averaged, deviation = float(running), float(average.eval()(x).std())
    update_bn([x], average)
    updated, shifted = float(running), float(average(x + SHIFT).mean())
    update_bn([x + SHIFT], average)
    variance = round(float(average.module[0](x).var()), 4)  # type: ignore[index]
    return {
        "var": variance,
        "averaged": averaged,
        "deviation": deviation,
        "updated": updated,
        "shift": SHIFT,
        "shifted": shifted,
        "again": round(float(average(x + SHIFT).mean()), 4) + 0.0,
        "right": variance,
    }
