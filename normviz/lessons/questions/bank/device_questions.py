"""How many values a mean has: a batch of one, several devices, gradient accumulation."""

from __future__ import annotations

from normviz.analysis.examples import example
from normviz.analysis.running.accumulation import accumulate
from normviz.analysis.running.shards import even_sizes, shard
from normviz.analysis.running.torch_module import torch_words
from normviz.lessons.questions.outputs import normal
from normviz.lessons.questions.question import Facts, Question
from normviz.lessons.questions.sources import BATCH_NORM_PAPER, issue, torch_page
from normviz.lessons.questions.topics import LIMITS


def _one_value() -> Facts:
    image, pixel = normal(1, 3, 4, 4), normal(1, 3, 1, 1)
    refused = bool(torch_words("BatchNorm2d(3)", image)), bool(torch_words("BatchNorm2d(3)", pixel))
    instance = "InstanceNorm2d(3)", normal(8, 3, 1, 1)
    return {
        "words": torch_words("BatchNorm2d(3)", pixel),
        "values": image[:, 0].numel(),
        "instance": torch_words(*instance),
        "right": {(True, True): "every", (False, True): "pixel", (False, False): "none"}.get(refused, "image"),
        "holds": {
            "a batch of one image runs": not refused[0],
            "one value a channel is refused": refused[1],
            "so is one row to BatchNorm1d": torch_words("BatchNorm1d(3)", normal(1, 3)) != "",
            "InstanceNorm refuses one pixel, whatever the batch": torch_words(*instance) != "",
            "eval mode with running statistics takes it": torch_words("BatchNorm2d(3).eval()", pixel) == "",
            "eval mode without refuses too": all(
                torch_words(layer, pixel) != ""
                for layer in ("BatchNorm2d(3, track_running_stats=False).eval()", "InstanceNorm2d(3).eval()")
            ),
        },
    }


def _gpus() -> Facts:
    x = example("scales", (26, 2), ("n", "c"))
    sizes = even_sizes(26, 2)
    parts, accumulated = shard(x.double(), sizes), accumulate("BatchNorm1d(2)", x, sizes)
    return {
        "devices": len(sizes),
        "values": int(parts.counts[0]),
        "apart": parts.shard_difference,
        "sync": parts.output_gap.largest,
        "accumulated": accumulated.output_difference,
        "right": int(parts.counts[0]),
        "holds": {
            "the devices' statistics are not the batch's": parts.shard_difference > 0.1,
            "combined by their counts they are": parts.mean_gap.agrees and parts.var_gap.agrees,
            "and the outputs with them": parts.output_gap.agrees,
            "averaging the variances is not enough": parts.naive_difference > 0.01,
            "accumulated micro-batches are normalized each on its own": accumulated.output_difference > 0.1,
        },
    }


QUESTIONS = (
    Question(
        "q14",
        LIMITS,
        _one_value,
        "train_and_eval",
        "show=batches",
        (issue("fastai", 1352), torch_page("BatchNorm2d"), torch_page("InstanceNorm2d")),
    ),
    Question(
        "q27",
        LIMITS,
        _gpus,
        "train_and_eval",
        "show=devices&devices=2",
        (issue("pytorch", 2584), issue("pytorch", 46516), torch_page("SyncBatchNorm"), BATCH_NORM_PAPER),
    ),
)
