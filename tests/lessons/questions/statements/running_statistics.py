"""What the answers on running statistics state."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.optim.swa_utils import AveragedModel
from torch.utils.checkpoint import checkpoint

from normviz.analysis.description import describe
from normviz.analysis.running.stream import START_MEAN, START_VAR, Stream, half_life, run, settle, two_forms
from normviz.analysis.running.torch_module import buffers
from normviz.lessons.questions.facts import module_of, normal
from normviz.lessons.questions.topics.running_statistics import STEPPED, WEIGHTED
from normviz.lessons.questions.topics.training import WEIGHTS, linear_and_norm
from tests.lessons.questions.statements.measure import Statements, facts, nearly_equal


def s2a() -> Statements:
    module, history = module_of("BatchNorm1d(1)"), run(Stream(batch_size=64))
    close_distances = (history.true_mean - history.expected_mean) / (history.true_mean - START_MEAN)
    return {
        "eval mode uses the running statistics": describe("BatchNorm1d(1).eval()", (2, 1)).norm.running,
        "they are saved with the weights": {"running_mean", "running_var"} <= set(module.state_dict()),
        "the running mean starts there": module.get_buffer("running_mean").item() == START_MEAN,
        "the running variance starts there": module.get_buffer("running_var").item() == START_VAR,
        "LayerNorm has no buffers": buffers("LayerNorm(6)") == {},
        "with momentum=1 one batch is enough": settle(Stream(batch_size=64, momentum=1.0)).expected_mean_steps == 1,
        "with Keras's default it takes more than a hundred": facts("s2a")["keras"] > 100,
        "the weight of an old value halves much sooner": half_life(0.1) < facts("s2a")["steps"],
        "each batch leaves 0.9 of the distance": close_distances == pytest.approx(0.9 ** np.arange(1, 61)),
    }


def q12() -> Statements:
    history = run(Stream(batch_size=4))
    return {
        "an average of biased variances is lower by (m - 1) / m in the long run": history.running_var[-1]
        / history.running_var_biased[-1]
        == pytest.approx(4 / 3, rel=0.01)
    }


def s3l() -> Statements:
    f, history = facts("s3l"), run(Stream(batch_size=8))
    average = two_forms(history.batch_mean, f["momentum"], dtype="float64").weighted[-1]
    numbers = {"moving": 2.0, "batch": 3.0, "momentum": 0.75, "rest": 0.25}
    return {
        "both forms give the same": eval(WEIGHTED, numbers.copy()) == eval(STEPPED, numbers.copy()) == 2.25,
        "the second form has one addition more": STEPPED.count("-") == WEIGHTED.count("+") + 1,
        "the average is torch's own running mean": average == pytest.approx(history.running_mean[-1], abs=1e-12),
    }


def q42() -> Statements:
    x, plain, twice, layer = (
        normal(8, 3).requires_grad_(),
        *(torch.nn.BatchNorm1d(3) for _ in range(2)),
        torch.nn.LayerNorm(3),
    )
    checkpoint(twice, x, use_reentrant=False).sum().backward()
    checkpoint(layer, x, use_reentrant=False).sum().backward()
    for _ in range(2):
        plain(x)
    corrected = torch.nn.BatchNorm1d(3, momentum=1 - 0.9**0.5)
    checkpoint(corrected, x, use_reentrant=False).sum().backward()
    once = torch.nn.BatchNorm1d(3)
    once(x)
    evaluated = torch.nn.BatchNorm1d(3).eval()
    checkpoint(evaluated, x, use_reentrant=False).sum().backward()
    return {
        "the other kind of checkpoint updates twice, too": int(twice.num_batches_tracked) == facts("q42")["count"],
        "as two forward passes do": nearly_equal(twice.running_mean, plain.running_mean)
        and nearly_equal(twice.running_var, plain.running_var),
        "the figure has the momentum of both updates": facts("q42")["weight"] == pytest.approx(0.19),
        "the other momentum makes up for it": nearly_equal(corrected.running_mean, once.running_mean)
        and nearly_equal(corrected.running_var, once.running_var),
        "without it they differ": not nearly_equal(twice.running_var, once.running_var),
        "in eval mode nothing is updated": int(evaluated.num_batches_tracked) == 0,
        "LayerNorm stores nothing": list(layer.buffers()) == [],
    }


def q43() -> Statements:
    x, levels = normal(3, 2, 4, 4).double(), torch.arange(3.0).view(3, 1, 1, 1)
    instance = torch.nn.InstanceNorm2d(2, momentum=1.0, track_running_stats=True).double()
    batch = torch.nn.BatchNorm2d(2, momentum=1.0).double()
    stored = []
    for apart in (0, 10, 1000):
        for layer in (instance, batch):
            layer(x + apart * levels)
        stored.append((instance.running_var.clone(), batch.running_var.clone()))
    within, whole = zip(*stored, strict=True)
    return {
        "InstanceNorm stores the mean of the images' unbiased variances": nearly_equal(
            within[0], x.var((2, 3)).mean(0)
        ),
        "which stays as images move apart": nearly_equal(within[0], within[2]),
        "BatchNorm's grows": bool((whole[0] < whole[1]).all() and (whole[1] < whole[2]).all()),
        "it is the variance of all pixels": nearly_equal(whole[0], x.var((0, 2, 3))),
        "the running means agree": nearly_equal(instance.running_mean, batch.running_mean),
        "in eval mode both use what they stored": nearly_equal(
            instance.eval()(x),
            (x - instance.running_mean.view(1, 2, 1, 1)) / (instance.running_var + 1e-5).sqrt().view(1, 2, 1, 1),
        ),
    }


@torch.no_grad()
def q44() -> Statements:
    x = normal(64, 1)
    x = (x - x.mean()) / x.std()
    first, last = (linear_and_norm(weight, x) for weight in WEIGHTS)
    near, copied = AveragedModel(linear_and_norm(2.9, x), use_buffers=True), AveragedModel(first)
    near.update_parameters(linear_and_norm(2.9, x))
    near.update_parameters(last)
    for network in (first, last):
        copied.update_parameters(network)
    var = float(near.module[0](x).var())
    return {
        "the networks are those of the prompt": [float(one[1].running_var) for one in (first, last)]
        == pytest.approx([weight**2 for weight in WEIGHTS]),
        "before, each network's output has standard deviation 1": float(first(x).std()) == pytest.approx(1, abs=1e-3),
        "for weights close to each other the error is small": float(near.module[1].running_var)
        == pytest.approx(var, rel=1e-3),
        "without use_buffers the buffers are the last network's": float(copied.module[1].running_var)
        == pytest.approx(9),
        "LayerNorm stores nothing": buffers("LayerNorm(6)") == {},
    }
