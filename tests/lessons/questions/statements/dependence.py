"""What the answers on dependence state: which elements of x change an output."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from normviz.analysis.closed_form import autograd_backward, upstream
from normviz.analysis.derivatives import perturb
from normviz.analysis.description import describe
from normviz.analysis.forward import largest_difference
from normviz.analysis.invariance import depends_on_batch
from normviz.lessons.questions.facts import ROUNDING, module_of, normal, output, output_change, x_of
from normviz.lessons.questions.topics.statistics import REAL
from normviz.lessons.questions.topics.training import weight_gradient
from tests.lessons.questions.statements.measure import Statements, facts, nearly_equal


def s3i() -> Statements:
    x = normal(4, 6)
    layers = {text: depends_on_batch(describe(text, (4, 6))) for text in ("LayerNorm(6)", "BatchNorm1d(6)")}
    return {
        "on many tensors LayerNorm does not depend on the batch": layers["LayerNorm(6)"] is False,
        "BatchNorm does": layers["BatchNorm1d(6)"] is True,
        "LayerNorm gives the same in both modes": module_of("LayerNorm(6)")
        .eval()(x)
        .equal(module_of("LayerNorm(6)")(x)),
        "in eval mode BatchNorm does not": depends_on_batch(describe("BatchNorm1d(6).eval()", (4, 6))) is False,
    }


def q7() -> Statements:
    x = normal(1, 4, 5)
    step = perturb(describe("ChannelsFirstLayerNorm(4)", x), (0, 0, 4), h=1.0).changed
    return {
        "the group of x[0, 0, 4] changes and nothing else": facts("q7")["moved"]
        == describe("GroupNorm(2, 4)", x).counts.elements_per_statistic,
        "the first step changes with the last": facts("q7")["early"] > 0.01,
        "a norm over channels changes the last step only": step[..., 4].all() and not step[..., :4].any(),
    }


def s0h() -> Statements:
    x = normal(2, 3, 4, 4).double()
    scaled = x.clone()
    scaled[:, 0] *= 4
    image, plane = "LayerNorm([3, 4, 4])", "LayerNorm([4, 4], eps=0.0)"
    return {
        "the other channels change too": not nearly_equal(output(image, x)[:, 1:], output(image, scaled)[:, 1:]),
        "averaged over planes without eps, nothing changes": nearly_equal(output(plane, x), output(plane, scaled)),
    }


def q26() -> Statements:
    f = facts("q26")
    rms_gradient = autograd_backward(describe("RMSNorm(3)", normal(8, 3)), upstream((8, 3))).dx.sum(0)
    return {
        "before BatchNorm a bias changes the output by rounding only": f["batch"] < ROUNDING,
        "in eval mode it changes the output": f["evaluated"] > 1,
        "LayerNorm removes a bias that is the same for all features": output_change(
            "LayerNorm(3)", normal(8, 3), normal(8, 3) + 5
        )
        < ROUNDING,
        "before BatchNorm a bias has no gradient": f["gradient"] < 1e-12,
        "before RMSNorm a bias changes the output": f["rms"] > 0.1,
        "before RMSNorm a bias has a gradient": rms_gradient.abs().max() > 0.01,
        "before LayerNorm a bias changes the output": f["layer"] > 0.1,
    }


def q21() -> Statements:
    f, x, longer = facts("q21"), x_of("q21"), F.pad(x_of("q21"), (0, 6))
    real = (1, slice(None), slice(0, REAL))
    return {
        "padding changes BatchNorm, InstanceNorm and GroupNorm": min(f["batch"], f["instance"], f["group"]) > 0.01,
        "padding does not change a norm over the channels of each token": f["token"] == 0,
        "nor BatchNorm in eval mode": output("BatchNorm1d(3).eval()", x)[real].equal(
            output("BatchNorm1d(3).eval()", longer)[real]
        ),
    }


def q40() -> Statements:
    weight, f = normal(4, 3, seed=1).double(), facts("q40")
    (y, gradient), (scaled, smaller) = (
        weight_gradient("BatchNorm1d(3, eps=1e-30)", one) for one in (weight, 10 * weight)
    )
    of_layers = [
        [weight_gradient(text, factor * weight) for factor in (1, 10)] for text in ("LayerNorm(3)", "RMSNorm(3)")
    ]
    one_column = weight * torch.tensor([10.0, 1, 1])
    x, bias = normal(8, 3), normal(3, seed=3)
    return {
        "with a tiny eps the output stays the same": largest_difference(y, scaled) < 1e-12,
        "and the gradient is a tenth": largest_difference(gradient, 10 * smaller) < 1e-12,
        "the gradient does not change the size of the weights": bool(((gradient * weight).sum(0).abs() < 1e-12).all()),
        "LayerNorm and RMSNorm, too": all(
            largest_difference(one[0], other[0]) < 1e-3 and largest_difference(one[1], 10 * other[1]) < 1e-2
            for one, other in of_layers
        ),
        "with the bias scaled as well": largest_difference(
            output("LayerNorm(3)", x + bias), output("LayerNorm(3)", 10 * (x + bias))
        )
        < 1e-3,
        "not if the bias keeps its size": output_change("LayerNorm(3)", x + bias, 10 * x + bias) > 0.1,
        "before BatchNorm each channel alone": largest_difference(weight_gradient("BatchNorm1d(3)", one_column)[0], y)
        < 1e-4,
        "before LayerNorm all channels together": largest_difference(
            weight_gradient("LayerNorm(3)", one_column)[0], of_layers[0][0][0]
        )
        > 0.1,
        "the step relative to the weights": f["relative"] == pytest.approx(f["ratio"] / 10),
    }


def q47() -> Statements:
    f, norm = facts("q47"), nn.LayerNorm(64)
    x = norm(normal(256, 64)).detach()
    branches = [norm(normal(256, 64, seed=2 + block)).detach() for block in range(f["blocks"])]
    return {
        "the variances of independent directions add": float((x + sum(branches)).std())
        == pytest.approx((1 + f["blocks"]) ** 0.5, rel=0.05),
        "it is about that of the figures": f["pre"] == pytest.approx((1 + f["blocks"]) ** 0.5, rel=0.05),
        "a branch adds one part of it": f["share"] == pytest.approx(1 / f["pre"]),
        "post-norm ends with standard deviation one": f["post"] == pytest.approx(1, abs=1e-4),
    }


def q51() -> Statements:
    x, weights = normal(8, 3), nn.Linear(3, 3, bias=False)
    other = torch.cat([x[:-1], x[-1:] + 2])

    def first(norm: nn.Module, values: torch.Tensor) -> torch.Tensor:
        """The gradient of the loss of the first example."""
        (found,) = torch.autograd.grad(norm(weights(values))[0].pow(3).sum(), weights.weight)
        return found

    def moves(norm: nn.Module) -> bool:
        return not torch.allclose(first(norm, x), first(norm, other), atol=1e-6)

    return {
        "BatchNorm in train mode": moves(nn.BatchNorm1d(3)),
        "LayerNorm": not moves(nn.LayerNorm(3)),
        "GroupNorm": not moves(nn.GroupNorm(1, 3)),
        "BatchNorm in eval mode": not moves(nn.BatchNorm1d(3).eval()),
    }


def q52() -> Statements:
    f, x = facts("q52"), 100 * normal(2, 4)
    return {
        "tanh bounds large values": bool((torch.tanh(x).abs() <= 1).all()),
        "it does not remove the scale": f["dyt_scale"] > 0.1,
        "LayerNorm does, up to eps": f["layer_scale"] < 1e-3,
        "the rest is due to eps": largest(nn.LayerNorm(4, eps=0.0), 2 * normal(2, 4), normal(2, 4)) < 1e-6,
    }


def largest(layer: nn.Module, one: torch.Tensor, other: torch.Tensor) -> float:
    return float((layer(one) - layer(other)).detach().abs().max())
