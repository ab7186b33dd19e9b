"""Questions on few values per mean: small batches, time steps, one example at inference, and several devices."""

from __future__ import annotations

from math import prod, sqrt

import torch

from normviz.analysis.description import describe
from normviz.analysis.examples import example
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.accumulation import accumulation_difference
from normviz.analysis.running.modes import one_example
from normviz.analysis.running.sampling import Sequences, SmallBatches, per_time_step, spread
from normviz.analysis.running.shards import even_sizes, shard
from normviz.analysis.running.stream import TRUE_VAR
from normviz.analysis.running.torch_module import torch_refusal
from normviz.lessons.questions.facts import count_buffers, module_of, normal, only, output, which
from normviz.lessons.questions.question import Facts
from normviz.lessons.questions.sources import (
    ANNOTATED,
    ARTICLE,
    BATCH_NORM_PAPER,
    GROUP_NORM_PAPER,
    LAYER_NORM_PAPER,
    LLAMA_2_PAPER,
    issue,
    torch_page,
)
from normviz.lessons.questions.topics import SMALL_BATCHES

SMALL, LARGE = 4, 64  # batch sizes
TWO_IMAGES = (2, 3, 16, 16)
CORRELATION = 0.5  # correlation of two pixels of one image
TWO_PER_GPU = {
    "batch_error": 34.7,
    "group_error": 24.1,
}  # validation error in percent with two images per GPU: Wu & He 2018, table 2


def spread_of_mean(images: int, pixels: int, correlation: float) -> float:
    """The standard deviation of the mean of values of variance 4, of which those of one image are correlated.

    >>> spread_of_mean(4, 1, 0.5), spread_of_mean(4, 100, 1.0)
    (1.0, 1.0)
    """
    return sqrt(TRUE_VAR * (correlation + (1 - correlation) / pixels) / images)


@SMALL_BATCHES.question("s2c", "train_and_eval", "show=batches", ANNOTATED, GROUP_NORM_PAPER, x="shape=64,1")
def small_batches() -> Facts:
    found, (images, channels, *sizes) = spread(SmallBatches()), TWO_IMAGES
    small, large = (found.batch_size.tolist().index(size) for size in (SMALL, LARGE))
    factor = float(found.expected_spread[small] / found.expected_spread[large])
    return {
        "factor": factor,
        "small": SMALL,
        "large": LARGE,
        "small_spread": float(found.mean_spread[small]),
        "large_spread": float(found.mean_spread[large]),
        "values": describe(f"BatchNorm2d({channels})", TWO_IMAGES).counts.elements_per_statistic,
        "independent": spread_of_mean(images, prod(sizes), 0),
        "correlation": CORRELATION,
        "correlated": spread_of_mean(images, prod(sizes), CORRELATION),
        **TWO_PER_GPU,
        "right": factor,
    }


@SMALL_BATCHES.question(
    "q14",
    "train_and_eval",
    "show=batches",
    issue("fastai", 1352),
    torch_page("BatchNorm2d"),
    torch_page("InstanceNorm2d"),
    x="shape=1,3,4,4",
)
def one_value() -> Facts:
    image, pixel = normal(1, 3, 4, 4), normal(1, 3, 1, 1)
    refused = bool(torch_refusal("BatchNorm2d(3)", image)), bool(torch_refusal("BatchNorm2d(3)", pixel))
    return {
        "words": torch_refusal("BatchNorm2d(3)", pixel),
        "values": image[:, 0].numel(),
        "instance": torch_refusal("InstanceNorm2d(3)", normal(8, 3, 1, 1)),
        "right": {(True, True): "every", (False, True): "pixel", (False, False): "none"}.get(refused, "image"),
    }


@SMALL_BATCHES.question("s2r", "explore", "shape=1,6&layer=LayerNorm(6)&at=0,4", ANNOTATED)
def batch_of_one() -> Facts:
    x = normal(3, 6)
    words = {text: torch_refusal(text, x[:1]) for text in ("LayerNorm(6)", "BatchNorm1d(6)")}
    return {
        "words": words["BatchNorm1d(6)"],
        "gap": largest_difference(output("LayerNorm(6)", x)[:1], output("LayerNorm(6)", x[:1])),
        "buffers": count_buffers("BatchNorm1d(6)"),
        "none": count_buffers("LayerNorm(6)"),
        "right": which(layer=words["LayerNorm(6)"] == "", batch=words["BatchNorm1d(6)"] == ""),
    }


@SMALL_BATCHES.question(
    "s3j", "train_and_eval", "show=modes&shape=4,3,2,2&layer=BatchNorm2d(3)&at=0,1,0,1", ARTICLE, x="shape=1,3,2,2"
)
def no_batch_axis() -> Facts:
    x = normal(4, 3, 2, 2)
    single, bare = (torch_refusal("BatchNorm2d(3).eval()", image) for image in (x[:1], x[0]))
    alone, module, sequence = one_example("BatchNorm2d(3)", x), module_of("BatchNorm1d(3)").eval(), normal(3, 3)
    module.get_buffer("running_mean").copy_(torch.arange(3))
    return {
        "words": bare.split(" (")[0],
        "silent": largest_difference(module(sequence).detach(), module(sequence[None])[0].detach()),
        "eval_gap": alone.eval.difference,
        "train_gap": alone.train.difference,
        "right": which(single=single == "", bare=bare == "", neither="none"),
    }


LLAMA_2_BATCH = 4  # million tokens in a batch, over all devices: Touvron et al. 2023, table 1
WORDS = (1, 16, 4)  # one sequence on a device: batch, token, feature


@SMALL_BATCHES.question(
    "s2s", "explore", "shape=1,16,4&layout=NLC&layer=Norm('n l c -> c','c')&at=0,5,1", ANNOTATED, LLAMA_2_PAPER
)
def language_models() -> Facts:
    batch, layer = (describe(text, WORDS).counts for text in ("Norm('n l c -> c', 'c')", "LayerNorm(4)"))
    return {
        "sequences": WORDS[0],
        "values": batch.elements_per_statistic,
        "million": LLAMA_2_BATCH,
        "layer": layer.elements_per_statistic,
        "right": batch.elements_per_statistic,
    }


@SMALL_BATCHES.question(
    "s2b", "train_and_eval", "show=sequences", ANNOTATED, LAYER_NORM_PAPER, x="shape=32,30&layout=NL"
)
def time_steps() -> Facts:
    found = per_time_step(Sequences())
    first, last = int(found.left[0]), int(found.left[-1])
    return {
        "first": first,
        "last": last,
        "length": len(found.left),
        "first_error": float(found.rms_error[0]),
        "last_error": float(found.rms_error[-1]),
        "right": only(all=last == first, half=first / 4 < last < first, few=last <= first / 4),
    }


@SMALL_BATCHES.question(
    "q27",
    "train_and_eval",
    "show=devices&devices=2",
    issue("pytorch", 2584),
    issue("pytorch", 46516),
    torch_page("SyncBatchNorm"),
    torch_page("DataParallel"),
    BATCH_NORM_PAPER,
    ANNOTATED,
    x="shape=26,2",
)
def gpus() -> Facts:
    x = example("scales", (26, 2), ("n", "c"))
    sizes = even_sizes(26, 2)
    parts = shard(x.double(), sizes)
    return {
        "devices": len(sizes),
        "values": int(parts.counts[0]),
        "apart": parts.shard_difference,
        "sync": parts.output_difference.largest,
        "naive": parts.naive_difference,
        "accumulated": accumulation_difference("BatchNorm1d(2)", x, sizes),
        "right": int(parts.counts[0]),
    }
