"""Questions on running statistics: momentum, the moving average, and which variance is stored."""

from __future__ import annotations

from math import prod

from normviz.analysis.description import describe
from normviz.analysis.examples import from_values
from normviz.analysis.running.modes import train_and_eval
from normviz.analysis.running.momentum import half_life, lower_forgets_sooner, to_keras, to_torch, two_forms, weights
from normviz.analysis.running.stream import START_MEAN, START_VAR, TRUE_MEAN, TRUE_VAR, Stream, follow, run, settle
from normviz.layers.layer import Layer
from normviz.lessons.questions.facts import keras_default, module_of, only, which
from normviz.lessons.questions.question import Facts
from normviz.lessons.questions.sources import ANNOTATED, ARTICLE, issue, torch_page
from normviz.lessons.questions.topics import RUNNING_STATISTICS


@RUNNING_STATISTICS.question("s2a", "train_and_eval", "show=stream&batch_size=64", ANNOTATED)
def time_to_settle() -> Facts:
    steps = settle(Stream(batch_size=64, momentum=0.1, steps=60), tolerance=0.25).expected_mean_steps
    assert steps is not None
    return {
        "mean": TRUE_MEAN,
        "var": TRUE_VAR,
        "start_mean": START_MEAN,
        "start_var": START_VAR,
        "steps": steps,
        "right": only(once=steps == 1, few=1 < steps < 5, tens=5 <= steps <= 50, hundreds=steps > 50),
    }


@RUNNING_STATISTICS.question("s3p", "train_and_eval", "show=stream&batch_size=4", ARTICLE)
def stored_variance() -> Facts:
    stream = Stream(batch_size=4)
    history, x = run(stream), stream.batches()[0][:, None]
    biased, unbiased = float(history.batch_var[0]), float(history.batch_var_unbiased[0])
    module = module_of("BatchNorm1d(1, momentum=1.0)", x.dtype)
    module(x)
    kept = float(module.get_buffer("running_var"))
    return {
        "m": len(x),
        "biased": biased,
        "kept": kept,
        "ratio": unbiased / biased,
        "right": only(
            biased=abs(kept - biased) < 1e-9,
            unbiased=abs(kept - unbiased) < 1e-9,
            std=abs(kept - biased**0.5) < 1e-9,
        ),
    }


@RUNNING_STATISTICS.question(
    "q12",
    "train_and_eval",
    "show=stream&batch_size=4",
    issue("pytorch", 19902),
    issue("pytorch", 62399),
    torch_page("BatchNorm1d"),
)
def two_variances() -> Facts:
    x = from_values((0.0, 0.0, 6.0, 6.0), (4, 1))
    history = follow(x.T, momentum=1.0)
    both = train_and_eval("BatchNorm1d(1, momentum=1.0)", x, warmup=[x])
    return {
        "biased": float(history.batch_var[0]),
        "unbiased": float(history.running_var[0]),
        "train": float(both.train.max()),
        "eval": float(both.eval.max()),
        "keras": float(history.running_var_biased[0]),
        "right": float(history.running_var[0]),
    }


@RUNNING_STATISTICS.question("s3n", "train_and_eval", "show=stream&momentum=0.9", ARTICLE)
def momentum_and_forgetting() -> Facts:
    low, high = 0.1, 0.9
    return {
        "low": low,
        "high": high,
        "old_low": half_life(low, "keras"),
        "old_high": half_life(high, "keras"),
        "new_low": half_life(low, "torch"),
        "new_high": half_life(high, "torch"),
        "right": which(old=lower_forgets_sooner("keras"), new=lower_forgets_sooner("torch")),
    }


@RUNNING_STATISTICS.question("s3o", "train_and_eval", "show=stream&momentum=0.01&steps=200", ARTICLE)
def momentum_close_to_one() -> Facts:
    keras = keras_default("momentum")
    torch_default = Layer.make("BatchNorm1d", 1).given["momentum"]
    return {
        "keras": keras,
        "converted": to_torch(keras),
        "torch": torch_default,
        "in_keras": to_keras(torch_default),
        "left": 1 - float(weights(keras, 1)[0]),
        "right": to_torch(keras),
    }


@RUNNING_STATISTICS.question("s3l", "train_and_eval", "show=stream", ARTICLE)
def forms_of_the_average() -> Facts:
    means, old = run(Stream(batch_size=8)).batch_mean, to_keras(0.1)
    single, double = (two_forms(means, old, dtype=dtype) for dtype in ("float32", "float64"))
    difference = single.largest_difference
    return {
        "steps": len(means),
        "momentum": old,
        "single": difference,
        "double": double.largest_difference,
        "right": only(
            same=difference < 1e-5,
            sooner=difference >= 1e-5 and single.stepped[-1] > single.weighted[-1],
            later=difference >= 1e-5 and single.stepped[-1] < single.weighted[-1],
        ),
    }


WEIGHTED = "moving * momentum + batch * rest"  # rest = 1 - momentum
STEPPED = "moving - (moving - batch) * rest"


@RUNNING_STATISTICS.question("s3m", "explore", "shape=8,64,14,14&layer=BatchNorm2d(64)", ARTICLE)
def cost_of_an_update() -> Facts:
    first, second = WEIGHTED.count("*"), STEPPED.count("*")
    shape = (8, 64, 14, 14)
    return {
        "first": first,
        "second": second,
        "updates": 2 * describe("BatchNorm2d(64)", shape).counts.statistics,
        "elements": prod(shape),
        "right": second,
    }
