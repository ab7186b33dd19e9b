"""Questions of the third document: the limits of BatchNorm."""

from __future__ import annotations

from functools import cache

from normviz.analysis.explanation import describe
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.momentum import half_life
from normviz.analysis.running.sampling import PerStep, Sequences, SmallBatches, Spread, per_step, spread
from normviz.analysis.running.stream import START_MEAN, START_VAR, TRUE_MEAN, TRUE_VAR, Stream, settle
from normviz.analysis.running.torch_module import buffers, torch_words
from normviz.lessons.questions.documents import ANNOTATED
from normviz.lessons.questions.facts import module_of, only, same
from normviz.lessons.questions.outputs import normal, output
from normviz.lessons.questions.question import Facts, Question
from normviz.lessons.questions.topics import LIMITS
from normviz.lessons.train_and_eval import experiments

ASKED = (ANNOTATED,)
ALL = "LayerNorm([3, 4, 4])"


SETTLING = Stream(batch_size=64, momentum=0.1, steps=60)


def _running_means() -> Facts:
    steps = settle(SETTLING, tolerance=0.25).expected_mean_steps
    assert steps is not None
    return {
        "mean": TRUE_MEAN,
        "var": TRUE_VAR,
        "start_mean": START_MEAN,
        "start_var": START_VAR,
        "steps": steps,
        "right": only(once=steps == 1, few=1 < steps < 5, tens=5 <= steps <= 50, hundreds=steps > 50),
        "holds": {
            "eval mode uses them": describe("BatchNorm1d(1).eval()", (2, 1)).norm.running,
            "they are saved with the weights": {"running_mean", "running_var"}
            <= set(module_of("BatchNorm1d(1)").state_dict()),
            "they start there": module_of("BatchNorm1d(1)").get_buffer("running_mean").item() == START_MEAN
            and module_of("BatchNorm1d(1)").get_buffer("running_var").item() == START_VAR,
            "LayerNorm has none": buffers("LayerNorm(6)") == (),
            "an old value's weight halves long before": half_life(0.1) < steps,
        },
    }


@cache
def _per_step() -> PerStep:
    return per_step(Sequences())


def _time_steps() -> Facts:
    steps, x = _per_step(), normal(2, 5, 4)
    first, last = int(steps.left[0]), int(steps.left[-1])
    return {
        "first": first,
        "last": last,
        "length": len(steps.left),
        "first_error": float(steps.rms_error[0]),
        "last_error": float(steps.rms_error[-1]),
        "right": only(all=last == first, half=first / 4 < last < first, few=last <= first / 4),
        "holds": {
            "fewer and fewer": bool((steps.left[1:] <= steps.left[:-1]).all()) and last < first,
            "and noisier": bool(steps.rms_error[-1] > 2 * steps.rms_error[0]),
            "as one over the root of their number": bool(abs(steps.rms_error[-1] / steps.standard_error[-1] - 1) < 0.3),
            "torch refuses a single one": torch_words("BatchNorm1d(4)", normal(1, 4)) != "",
            "LayerNorm gives a step the same, however long the sequence": same(
                output("LayerNorm(4)", x)[:, :2], output("LayerNorm(4)", x[:, :2])
            ),
        },
    }


@cache
def _spread() -> Spread:
    return spread(SmallBatches())


SMALL, LARGE = 4, 64


def _small_batches() -> Facts:
    found = _spread()
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
        "holds": {
            "as one over the root of the batch size": factor == (LARGE / SMALL) ** 0.5,
            "what is measured is near it": bool(
                abs(found.mean_spread[small] / found.mean_spread[large] / factor - 1) < 0.25
            ),
            "torch refuses a batch of one": torch_words("BatchNorm1d(3)", normal(1, 3)) != "",
            "LayerNorm takes it": torch_words("LayerNorm(3)", normal(1, 3)) == "",
            "and gives what it gives in a batch": same(
                output("LayerNorm(3)", normal(4, 3))[:1], output("LayerNorm(3)", normal(4, 3)[:1])
            ),
        },
    }


def _devices() -> Facts:
    found, x = experiments.devices(2), normal(8, 6)
    layer = largest_difference(output("LayerNorm(6)", x)[:4], output("LayerNorm(6)", x[:4]))
    moves = {"batch": found.shard_difference > 1e-3, "layer": layer > 1e-3}
    return {
        "examples": int(found.counts.sum()),
        "size": int(found.counts[0]),
        "gap": found.shard_difference,
        "sync": found.output_gap.largest,
        "naive": found.naive_difference,
        "right": only(
            batch=moves == {"batch": True, "layer": False},
            layer=moves == {"batch": False, "layer": True},
            both=all(moves.values()),
            neither=not any(moves.values()),
        ),
        "holds": {
            "both devices have as many": len(set(found.sizes)) == 1,
            "combined, they are those of the whole batch": found.mean_gap.agrees
            and found.var_gap.agrees
            and found.output_gap.agrees,
            "averaged variances are not": found.naive_difference > 1e-3,
            "LayerNorm gives the same on any device": layer < 1e-5,
        },
    }


def _wider_range() -> Facts:
    x = normal(3, 6)
    words = {text: torch_words(text, x[:1]) for text in ("LayerNorm(6)", "BatchNorm1d(6)")}
    layer, batch = (said == "" for said in words.values())
    return {
        "words": words["BatchNorm1d(6)"],
        "gap": largest_difference(output("LayerNorm(6)", x)[:1], output("LayerNorm(6)", x[:1])),
        "buffers": sum(buffer.elements for buffer in buffers("BatchNorm1d(6)")),
        "none": sum(buffer.elements for buffer in buffers("LayerNorm(6)")),
        "right": only(
            layer=layer and not batch, batch=batch and not layer, both=layer and batch, neither=not layer and not batch
        ),
        "holds": {
            "the example's output is what it is in a batch": same(
                output("LayerNorm(6)", x)[:1], output("LayerNorm(6)", x[:1])
            ),
            "an image of another size BatchNorm takes": torch_words("BatchNorm2d(3)", normal(2, 3, 6, 6)) == "",
            "and LayerNorm([3, 4, 4]) refuses": torch_words(ALL, normal(2, 3, 6, 6)) != "",
        },
    }


QUESTIONS = (
    Question("s2a", LIMITS, _running_means, "train_and_eval", "show=stream&batch_size=64", ASKED),
    Question("s2b", LIMITS, _time_steps, "train_and_eval", "show=sequences", ASKED),
    Question("s2c", LIMITS, _small_batches, "train_and_eval", "show=batches", ASKED),
    Question("s2d", LIMITS, _devices, "train_and_eval", "show=devices&devices=2", ASKED),
    Question("s2r", LIMITS, _wider_range, "explore", "shape=1,6&layer=LayerNorm(6)&at=0,4", ASKED),
)  # fmt: skip
