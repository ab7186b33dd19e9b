"""Questions on what is done with a layer: weight decay, folding, checkpoints, averaged networks, residual blocks, half precision, devices."""

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


BLOCKS, FEATURES = 16, 64


@torch.no_grad()
def pre_and_post_norm() -> Facts:
    """The standard deviation of x after residual blocks whose branches have random directions."""
    norm = nn.LayerNorm(FEATURES)
    pre = post = norm(normal(32, FEATURES))
    for block in range(BLOCKS):
        weight = normal(FEATURES, FEATURES, seed=1 + block) / FEATURES**0.5
        pre, post = pre + norm(pre) @ weight, norm(post + post @ weight)
    deviation = float(pre.std(correction=0))
    return {
        "blocks": BLOCKS,
        "pre": deviation,
        "share": 1 / deviation,
        "post": float(post.std(correction=0)),
        "right": only(one=deviation < 2, four=3.5 < deviation < 4.5, many=deviation > 10),
    }


@torch.no_grad()
def half_statistics() -> Facts:
    norm, x = nn.BatchNorm1d(1).eval(), torch.tensor([[600.0], [0.0]])
    norm.get_buffer("running_mean").fill_(300)
    norm.get_buffer("running_var").fill_(90_000)
    norm.bias.fill_(0.5)
    before = norm(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        norm(x)
        cpu = nn.LayerNorm(1)(x.bfloat16()).dtype
    kept = norm.get_buffer("running_var").dtype
    after = norm.half()(x.half())
    first, last = after.flatten().tolist()
    return {
        "var": 90_000,
        "largest": int(torch.finfo(torch.float16).max),
        "stored": str(norm.get_buffer("running_var").item()),
        "before": float(before[0]),
        "after": first,
        "kept": str(kept).removeprefix("torch."),
        "cpu": str(cpu).removeprefix("torch."),
        "right": only(beta=first == last == norm.bias.item(), same=first == float(before[0]), nan=first != first),
    }


@torch.no_grad()
def buffers_of_devices() -> Facts:
    """Batches of two examples on four devices; a device alone, and the whole batch as SyncBatchNorm sees it."""
    batches = [torch.tensor([[mean - 1.0], [mean + 1.0]]) for mean in (2, 4, 8, 10)]
    own, whole = nn.BatchNorm1d(1, momentum=1.0), nn.BatchNorm1d(1, momentum=1.0)
    own(batches[0])
    whole(torch.cat(batches))
    mean, var, sync, sync_var = (float(one) for norm in (own, whole) for one in list(norm.buffers())[:2])
    return {"own": mean, "own_var": var, "sync": sync, "sync_var": sync_var, "right": mean}


def gamma_at_zero() -> Facts:
    """The lengths of the gradients of a residual branch whose gamma is 0, and after a step of SGD."""
    linear, norm, x = nn.Linear(3, 3, bias=False), nn.BatchNorm1d(3), normal(8, 3)
    linear.weight.data.copy_(normal(3, 3, seed=1))
    norm.weight.data.zero_()
    parameters, lengths = [norm.weight, norm.bias, linear.weight], list[list[float]]()
    first = (x + norm(linear(x))).detach()
    for _step in range(2):
        y = x + norm(linear(x))
        lengths.append([])
        for parameter, gradient in zip(
            parameters, torch.autograd.grad((y * normal(8, 3, seed=2)).sum(), parameters), strict=True
        ):
            lengths[-1].append(float(gradient.norm()))
            parameter.data -= RATE * gradient
    gamma, beta, weights = lengths[0]
    return {
        "identity": largest_difference(first, x),
        "gamma": gamma,
        "linear": weights,
        "after": lengths[1][2],
        "right": only(none=gamma == beta == 0, all=weights > 0, norm=gamma > 0 and beta > 0 and weights == 0),
    }


def example_gradients(norm: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """The gradient of the loss of each example with respect to the weights of a linear layer before the norm."""
    weight = normal(3, 3, seed=1).requires_grad_()
    losses = (norm(x @ weight) * normal(*x.shape, seed=2)).sum(1)
    return torch.stack([torch.autograd.grad(loss, weight, retain_graph=True)[0] for loss in losses])


def gradients_of_examples() -> Facts:
    x = normal(8, 3)
    other = x.clone()
    other[-1] += 2

    def moved(norm: nn.Module) -> int:
        before, after = (example_gradients(norm, one) for one in (x, other))
        return int(((before - after).abs().amax((1, 2)) > ROUNDING).sum())

    found = moved(nn.BatchNorm1d(3, momentum=0.0))
    return {
        "batch": len(x),
        "moved": found,
        "layer": moved(nn.LayerNorm(3)),
        "evaluated": moved(nn.BatchNorm1d(3).eval()),
        "right": found,
    }


def without_normalization() -> Facts:
    x, norm = normal(2, 4), nn.LayerNorm(4)
    other = x.clone()
    other[0, 0] += 1
    dyt, layer = (int((one(x) != one(other)).sum()) for one in (torch.tanh, norm))
    return {
        "dyt": dyt,
        "layer": layer,
        "dyt_scale": largest_difference(torch.tanh(2 * x), torch.tanh(x)),
        "layer_scale": largest_difference(norm(2 * x).detach(), norm(x).detach()),
        "right": dyt,
    }
