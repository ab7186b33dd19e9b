"""Questions on few values per mean: small batches, time steps, one example at inference, and several devices."""

from __future__ import annotations

from normviz.analysis.description import describe
from normviz.analysis.examples import example
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.accumulation import accumulation_difference
from normviz.analysis.running.modes import one_example
from normviz.analysis.running.sampling import Sequences, SmallBatches, per_step, spread
from normviz.analysis.running.shards import even_sizes, shard
from normviz.analysis.running.torch_module import torch_refusal
from normviz.lessons.figure_pages.train_and_eval import experiments
from normviz.lessons.questions.facts import count_buffers, normal, only, output, which
from normviz.lessons.questions.question import Facts
from normviz.lessons.questions.sources import ANNOTATED, ARTICLE, BATCH_NORM_PAPER, issue, torch_page
from normviz.lessons.questions.topics import SMALL_BATCHES

SMALL, LARGE = 4, 64  # batch sizes


@SMALL_BATCHES.question("s2c", "train_and_eval", "show=batches", ANNOTATED)
def small_batches() -> Facts:
    found = spread(SmallBatches())
    small, large = (found.batch_size.tolist().index(size) for size in (SMALL, LARGE))
    factor = float(found.expected_spread[small] / found.expected_spread[large])
    return {
        "factor": factor,
        "small": SMALL,
        "large": LARGE,
        "small_spread": float(found.mean_spread[small]),
        "large_spread": float(found.mean_spread[large]),
        "values": describe("BatchNorm2d(3)", (2, 3, 16, 16)).counts.elements_per_statistic,
        "right": factor,
    }


@SMALL_BATCHES.question(
    "q14",
    "train_and_eval",
    "show=batches",
    issue("fastai", 1352),
    torch_page("BatchNorm2d"),
    torch_page("InstanceNorm2d"),
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


@SMALL_BATCHES.question("s3j", "train_and_eval", "show=modes&shape=4,3,2,2&layer=BatchNorm2d(3)&at=0,1,0,1", ARTICLE)
def no_batch_axis() -> Facts:
    x = normal(4, 3, 2, 2)
    single, bare = (torch_refusal("BatchNorm2d(3).eval()", image) for image in (x[:1], x[0]))
    alone = one_example("BatchNorm2d(3)", x)
    return {
        "words": bare.split(" (")[0],
        "eval_gap": alone.eval.difference,
        "train_gap": alone.train.difference,
        "right": which(single=single == "", bare=bare == "", neither="none"),
    }


@SMALL_BATCHES.question("s2b", "train_and_eval", "show=sequences", ANNOTATED)
def time_steps() -> Facts:
    steps = per_step(Sequences())
    first, last = int(steps.left[0]), int(steps.left[-1])
    return {
        "first": first,
        "last": last,
        "length": len(steps.left),
        "first_error": float(steps.rms_error[0]),
        "last_error": float(steps.rms_error[-1]),
        "right": only(all=last == first, half=first / 4 < last < first, few=last <= first / 4),
    }


@SMALL_BATCHES.question("s2d", "train_and_eval", "show=devices&devices=2", ANNOTATED)
def devices() -> Facts:
    found, x = experiments.devices(2), normal(8, 6)
    layer = largest_difference(output("LayerNorm(6)", x)[:4], output("LayerNorm(6)", x[:4]))
    return {
        "examples": int(found.counts.sum()),
        "size": int(found.counts[0]),
        "gap": found.shard_difference,
        "sync": found.output_gap.largest,
        "naive": found.naive_difference,
        "right": which(batch=found.shard_difference > 1e-3, layer=layer > 1e-3),
    }


@SMALL_BATCHES.question(
    "q27",
    "train_and_eval",
    "show=devices&devices=2",
    issue("pytorch", 2584),
    issue("pytorch", 46516),
    torch_page("SyncBatchNorm"),
    BATCH_NORM_PAPER,
)
def gpus() -> Facts:
    x = example("scales", (26, 2), ("n", "c"))
    sizes = even_sizes(26, 2)
    parts = shard(x.double(), sizes)
    return {
        "devices": len(sizes),
        "values": int(parts.counts[0]),
        "apart": parts.shard_difference,
        "sync": parts.output_gap.largest,
        "accumulated": accumulation_difference("BatchNorm1d(2)", x, sizes),
        "right": int(parts.counts[0]),
    }
