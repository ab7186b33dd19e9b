"""What the answers on small batches and several devices state."""

from __future__ import annotations

from math import prod

import pytest
import torch

from normviz.analysis.description import describe
from normviz.analysis.examples import example
from normviz.analysis.running.sampling import Sequences, even_sizes, per_time_step, shard
from normviz.analysis.running.stream import TRUE_VAR
from normviz.analysis.running.torch_module import buffers
from normviz.lessons.questions.facts import module_of, normal, output, output_change
from normviz.lessons.questions.topics.running_statistics import CORRELATION, TWO_IMAGES
from tests.lessons.questions.statements.measure import Statements, facts, nearly_equal, refuses


def s2c() -> Statements:
    f, generator, draws, (images, _, *sizes) = facts("s2c"), torch.Generator().manual_seed(0), 4000, TWO_IMAGES
    share = CORRELATION**0.5
    pixels = TRUE_VAR**0.5 * torch.randn(draws, images, prod(sizes), generator=generator)
    common = TRUE_VAR**0.5 * torch.randn(draws, images, 1, generator=generator)
    correlated = share * common + (1 - CORRELATION) ** 0.5 * pixels
    first, second = correlated[:, 0, 0], correlated[:, 0, 1]
    return {
        "two pixels have that correlation": float(torch.corrcoef(torch.stack([first, second]))[0, 1])
        == pytest.approx(CORRELATION, abs=0.05),
        "the spread of the mean of independent values": float(pixels.mean((1, 2)).std())
        == pytest.approx(f["independent"], rel=0.05),
        "it is that of so few independent values": f["correlated"]
        == pytest.approx((TRUE_VAR / f["small"]) ** 0.5, rel=0.01),
        "the spread of the mean of correlated values": float(correlated.mean((1, 2)).std())
        == pytest.approx(f["correlated"], rel=0.05),
    }


def s2s() -> Statements:
    x = normal(1, 16, 4)
    other = x.clone()
    other[:, -1] *= 3
    return {
        "a token's output depends on later tokens in BatchNorm": output_change(
            "Norm('n l c -> c', 'c')", x, other, (0, 0)
        )
        > 0.01,
        "not in LayerNorm": output_change("LayerNorm(4)", x, other, (0, 0)) == 0,
    }


def q14() -> Statements:
    pixel = normal(1, 3, 1, 1)
    return {
        "a batch of one image is accepted": not refuses("BatchNorm2d(3)", normal(1, 3, 4, 4)),
        "one value per channel is refused": refuses("BatchNorm2d(3)", pixel),
        "one row is refused by BatchNorm1d": refuses("BatchNorm1d(3)", normal(1, 3)),
        "InstanceNorm refuses one pixel in any batch": refuses("InstanceNorm2d(3)", normal(8, 3, 1, 1)),
        "eval mode with running statistics accepts it": not refuses("BatchNorm2d(3).eval()", pixel),
        "eval mode of BatchNorm without them refuses it": refuses(
            "BatchNorm2d(3, track_running_stats=False).eval()", pixel
        ),
        "eval mode of InstanceNorm without them refuses it": refuses("InstanceNorm2d(3).eval()", pixel),
    }


def s2r() -> Statements:
    x, larger = normal(3, 6), normal(2, 3, 6, 6)
    return {
        "LayerNorm gives the same as in a batch": nearly_equal(
            output("LayerNorm(6)", x)[:1], output("LayerNorm(6)", x[:1])
        ),
        "BatchNorm accepts an image of another size": not refuses("BatchNorm2d(3)", larger),
        "LayerNorm([3, 4, 4]) refuses it": refuses("LayerNorm([3, 4, 4])", larger),
    }


def s3j() -> Statements:
    return {
        "a convolution takes an image without a batch axis": torch.nn.Conv2d(3, 1, 1)(normal(3, 2, 2)).shape
        == (1, 2, 2),
        "BatchNorm1d accepts one sequence without a batch axis": not refuses("BatchNorm1d(3).eval()", normal(3, 3)),
        "LayerNorm accepts an image without a batch axis": not refuses("LayerNorm([3, 2, 2])", normal(3, 2, 2)),
    }


def s2b() -> Statements:
    time_steps, x = per_time_step(Sequences()), normal(2, 5, 4)
    return {
        "fewer and fewer sequences are left": (time_steps.left[1:] <= time_steps.left[:-1]).all()
        and time_steps.left[-1] < time_steps.left[0],
        "about half are left near the middle": (abs(time_steps.left[10:20] / time_steps.left[0] - 0.5) < 0.1).any(),
        "the means get noisier": time_steps.rms_error[-1] > 2 * time_steps.rms_error[0],
        "torch refuses a single sequence": refuses("BatchNorm1d(4)", normal(1, 4)),
        "LayerNorm gives a step the same in a shorter sequence": nearly_equal(
            output("LayerNorm(4)", x)[:, :2], output("LayerNorm(4)", x[:, :2])
        ),
    }


def q27() -> Statements:
    parts = shard(example("scales", (26, 2), ("n", "c")).double(), even_sizes(26, 2))
    x = normal(8, 6)
    return {
        "means and variances combined by their counts agree": max(parts.mean_difference, parts.var_difference) < 1e-13,
        "in eval mode a part gives the same as the whole": nearly_equal(
            output("BatchNorm1d(6).eval()", x)[:4], output("BatchNorm1d(6).eval()", x[:4])
        ),
        "with the examples split, LayerNorm gives the same": nearly_equal(
            output("LayerNorm(6)", x)[:4], output("LayerNorm(6)", x[:4])
        ),
        "with the features split, it does not": not nearly_equal(
            output("LayerNorm(6)", x)[:, :3], output("LayerNorm(3)", x[:, :3])
        ),
    }


def pairs(layer: str, x: torch.Tensor) -> bool:
    """Whether each output is 1 or -1, apart from eps, and the two outputs of a group differ."""
    y, ids = output(layer, x), torch.tensor(describe(layer, x).stat_ids)
    sums = torch.zeros(int(ids.max()) + 1).index_add_(0, ids.flatten(), y.flatten())
    return nearly_equal(y.abs(), torch.ones_like(y)) and nearly_equal(sums, torch.zeros_like(sums))


def q37() -> Statements:
    x, rows = 1000 * normal(3, 4), torch.tensor([[1000.0, 5000.0], [50.0, 20.0]])
    norm = module_of("BatchNorm1d(2)")
    norm.get_parameter("weight").data.copy_(torch.tensor([0.8, -2.0]))
    return {
        "the output of two rows is gamma and -gamma": nearly_equal(
            norm(rows).detach(), torch.tensor([[0.8, -2.0], [-0.8, 2.0]])
        ),
        "every layer with groups of two": pairs("BatchNorm1d(4)", x[:2])
        and pairs("LayerNorm(2)", x[:, :2])
        and pairs("GroupNorm(2, 4)", x)
        and pairs("InstanceNorm1d(3)", x.reshape(2, 3, 2))
        and pairs("Norm('n d -> d', 'd')", x[:2]),
        "not with three rows": not pairs("BatchNorm1d(4)", x),
        "not without a mean": not pairs("RMSNorm(2)", x[:, :2]),
        "not in eval mode": not pairs("BatchNorm1d(4).eval()", x[:2]),
        "two equal values give 0": (output("BatchNorm1d(1)", torch.ones(2, 1)) == 0).all(),
        "eps shows how close two values are": facts("q37")["tiny"]
        == pytest.approx((1 + 4e-5 / 1e-6) ** -0.5, rel=1e-5),
    }


def q49() -> Statements:
    f, means = facts("q49"), (2.0, 4.0, 8.0, 10.0)
    x = torch.tensor([mean + off for mean in means for off in (-1, 1)])
    return {
        "the first device's own": (f["own"], f["own_var"]) == (means[0], float(x[:2].var())),
        "that of the whole batch": (f["sync"], f["sync_var"]) == pytest.approx((sum(means) / 4, float(x.var()))),
        "A layer without running statistics has no buffers": not any(
            buffers(text)
            for text in (
                "LayerNorm(4)",
                "RMSNorm(4)",
                "GroupNorm(2, 4)",
                "InstanceNorm1d(4)",
                "BatchNorm1d(4, track_running_stats=False)",
            )
        )
        and all(
            "running_mean" in buffers(text)
            for text in ("BatchNorm1d(4)", "InstanceNorm1d(4, track_running_stats=True)")
        ),
    }
