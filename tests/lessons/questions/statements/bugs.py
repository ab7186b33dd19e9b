"""What the answers on bugs in real models state."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from normviz.analysis.description import describe
from normviz.analysis.forward import Values, largest_difference, run_module
from normviz.layers.layer import Layer
from normviz.lessons.questions.facts import ROUNDING, module_of, normal, output
from normviz.lessons.questions.topics.frameworks import (
    FAR,
    HEADS,
    PER_PIXEL,
    SCORES,
    STORED,
    VIDEO,
    group_norm_error,
    weighted,
)
from tests.lessons.questions.statements.measure import Statements, facts, nearly_equal

PER_HEAD, ALL_HEADS, HEAD_PATTERN = "RMSNorm(4)", "RMSNorm([2, 4])", "Norm('n l h d -> n l h', 'h d')"


def q28() -> Statements:
    x, flat = normal(*HEADS), nn.RMSNorm(8)
    with pytest.raises(RuntimeError):
        flat(x)  # the gamma of all heads, after the heads are split
    per_head = torch.stack([nn.RMSNorm(4)(x[:, :, head]) for head in range(2)], 2).detach()
    return {
        "RMSNorm(4) normalizes each head by itself": nearly_equal(output(PER_HEAD, x), per_head),
        "before the heads are split, RMSNorm(8) does what RMSNorm([2, 4]) does": nearly_equal(
            output(ALL_HEADS, x).flatten(2), flat(x.flatten(2)).detach()
        ),
        "a loud head changes the other only if they are normalized together": facts("q28")["still"]
        == 0
        < facts("q28")["moved"],
    }


def q29() -> Statements:
    scores = normal(*SCORES)
    over_queries, over_keys = scores.softmax(1), scores.softmax(2)
    e = describe("Norm('b i j h -> b j h', center=False)", SCORES)
    return {
        "dim=1 sums over the queries": ((over_queries.sum(1) - 1).abs() < ROUNDING).all(),
        "not over the keys": ((over_queries.sum(2) - 1).abs() > 0.01).any(),
        "dim=2 sums over the keys": ((over_keys.sum(2) - 1).abs() < ROUNDING).all(),
        "there are as many sums as the figure has groups": facts("q29")["sums"] == e.counts.statistics,
    }


def q30() -> Statements:
    x, rows = normal(2, 3, 4), normal(3, 4)
    e = describe("Norm('n l c -> n c', center=False, eps=0.0)", x)
    return {
        "with two axes it takes the length of a matrix": nearly_equal(
            F.normalize(x, dim=(1, 2)).flatten(1).norm(dim=1), torch.ones(2)
        ),
        "the default is dim=1": torch.equal(F.normalize(x), F.normalize(x, dim=1)),
        "for (batch, feature) these are the features": nearly_equal(F.normalize(rows).norm(dim=1), torch.ones(3)),
        "the figure's left layer is F.normalize(x), times the root of the number of tokens": nearly_equal(
            e.trace.output, 3**0.5 * F.normalize(x)
        ),
        "with dim=-1 it is RMSNorm without eps and gamma": facts("q30")["rms"] < ROUNDING,
    }


def q31() -> Statements:
    meant = weighted(1) * (1 + STORED)
    return {
        "loaded unchanged, every output is too small by the same factor": nearly_equal(
            weighted(STORED) * facts("q31")["factor"], meant
        ),
        "the shapes fit": module_of("RMSNorm(4)").load_state_dict({"weight": torch.full((4,), STORED)}).missing_keys
        == [],
        "the one added twice is too large": nearly_equal(weighted(2 + STORED), facts("q31")["twice"] * meant),
    }


def q32() -> Statements:
    x, frames = normal(*VIDEO), normal(*VIDEO)[:, :, :2]
    whole, cut = (output("GroupNorm(2, 4)", video) for video in (x, frames))
    pixels, cut_pixels = (output(PER_PIXEL, video) for video in (x, frames))
    clip = frames.transpose(1, 2).flatten(0, 1)
    folded = output("GroupNorm(2, 4)", x.transpose(1, 2).flatten(0, 1))
    return {
        "GroupNorm over a clip gives another result for a part of it": not nearly_equal(whole[:, :, :2], cut),
        "a norm of each pixel's channels gives the same": nearly_equal(pixels[:, :, :2], cut_pixels),
        "GroupNorm of each frame gives the same": nearly_equal(folded[:2], output("GroupNorm(2, 4)", clip)),
        "GroupNorm's groups contain all frames": (0, 0, 2, 0, 0)
        in describe("GroupNorm(2, 4)", VIDEO).peers((0, 0, 0, 0, 0)),
        "Wan's norm is F.normalize over the channels, times the root of their number": nearly_equal(
            output("Norm('n c t h w -> n t h w', center=False, eps=0.0)", x), 2 * F.normalize(x, dim=1)
        ),
    }


def q33() -> Statements:
    x, gamma, beta = normal(*HEADS), 1 + normal(2, 4, seed=1) / 2, normal(2, 4, seed=2)
    last, both, wanted = (describe(text, HEADS) for text in ("LayerNorm(4)", "LayerNorm([2, 4])", HEAD_PATTERN))
    separate = torch.stack(
        [
            run_module(Layer.make("LayerNorm", 4), x[:, :, head], Values(gamma=gamma[head], beta=beta[head]))
            for head in range(2)
        ],
        2,
    )
    return {
        "the pattern has LayerNorm(4)'s means": (wanted.stat_ids == last.stat_ids).all(),
        "the pattern has LayerNorm([2, 4])'s gammas": (wanted.param_ids == both.param_ids).all(),
        "F.layer_norm without gamma, times gamma, is a LayerNorm per head": nearly_equal(
            F.layer_norm(x, (4,)) * gamma + beta, separate
        ),
    }


def q34() -> Statements:
    x = normal(2, 8, 4, 4)
    last = x.to(memory_format=torch.channels_last)
    return {
        "the elements stay where they are": torch.equal(x, last),
        "axis 1 is still the channel axis for torch's layers": nearly_equal(
            module_of("BatchNorm2d(8)")(last).detach(), output("BatchNorm2d(8)", x)
        ),
        "GroupNorm's error is large in channels_last memory": group_norm_error(torch.channels_last) > 100,
        "and small in contiguous memory": group_norm_error(torch.contiguous_format) < 0.01,
        "the formula by hand fails at this distance, too": one_pass_error() > 1,
        "near zero both agree": largest_difference(
            module_of("GroupNorm(2, 8)")(last).detach(), output("GroupNorm(2, 8)", x)
        )
        < ROUNDING,
    }


def one_pass_error() -> float:
    """|mean(x^2) - mean(x)^2 - 1| for standard normal numbers around ``FAR`` in float32."""
    x = FAR + torch.randn(64, generator=torch.Generator().manual_seed(0))
    return abs(float(x.square().mean() - x.mean() ** 2) - 1)


def q35() -> Statements:
    layer = nn.BatchNorm1d(3).requires_grad_(False).eval()
    model, x = nn.Sequential(nn.Linear(3, 3), layer), normal(6, 3)
    was_frozen, woken = not layer.training, model.train()[1].training
    layer.eval()
    model(x).square().sum().backward()
    return {
        "eval() freezes it, and train() of the model wakes it": was_frozen and woken,
        "parameters stay frozen": layer.weight.grad is None and not layer.weight.requires_grad,
        "gradients flow through the frozen layer": model[0].weight.grad.abs().sum() > 0,
    }
