"""Questions on running statistics: momentum, the moving average, and which variance is stored."""

from __future__ import annotations

from math import prod

from normviz.analysis.description import describe
from normviz.analysis.examples import from_values
from normviz.analysis.running.modes import train_and_eval
from normviz.analysis.running.momentum import to_keras, two_forms
from normviz.analysis.running.stream import START_MEAN, START_VAR, TRUE_MEAN, TRUE_VAR, Stream, follow, run, settle
from normviz.lessons.questions.facts import only
from normviz.lessons.questions.question import Facts
from normviz.lessons.questions.sources import ANNOTATED, ARTICLE, issue, torch_page
from normviz.lessons.questions.topics import RUNNING_STATISTICS


@RUNNING_STATISTICS.question("s2a", "train_and_eval", "show=stream&batch_size=64", ANNOTATED, x="shape=64,1")
def time_to_settle() -> Facts:
    steps = settle(Stream(batch_size=64, momentum=0.1, steps=60), tolerance=0.25).expected_mean_steps
    assert steps is not None
    return {
        "mean": TRUE_MEAN,
        "var": TRUE_VAR,
        "start_mean": START_MEAN,
        "start_var": START_VAR,
        "left": to_keras(0.1),
        "steps": steps,
        "right": only(once=steps == 1, few=1 < steps < 5, tens=5 <= steps <= 50, hundreds=steps > 50),
    }


@RUNNING_STATISTICS.question(
    "q12",
    "train_and_eval",
    "show=stream&batch_size=4",
    issue("pytorch", 19902),
    issue("pytorch", 62399),
    issue("tensorflow", 55545),
    torch_page("BatchNorm1d"),
    ARTICLE,
    x="shape=4,1&values=0,0,6,6",
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


WEIGHTED = "moving * momentum + batch * rest"  # rest = 1 - momentum
STEPPED = "moving - (moving - batch) * rest"


@RUNNING_STATISTICS.question("s3l", "train_and_eval", "show=stream", ARTICLE, x="shape=8,1")
def forms_of_the_average() -> Facts:
    means, old = run(Stream(batch_size=8)).batch_mean, to_keras(0.1)
    single, double = (two_forms(means, old, dtype=dtype) for dtype in ("float32", "float64"))
    difference, shape = single.largest_difference, (8, 64, 14, 14)
    return {
        "steps": len(means),
        "momentum": old,
        "single": difference,
        "double": double.largest_difference,
        "products": WEIGHTED.count("*"),
        "fewer": STEPPED.count("*"),
        "updates": 2 * describe("BatchNorm2d(64)", shape).counts.statistics,
        "elements": prod(shape),
        "right": only(
            same=difference < 1e-5,
            sooner=difference >= 1e-5 and single.stepped[-1] > single.weighted[-1],
            later=difference >= 1e-5 and single.stepped[-1] < single.weighted[-1],
        ),
    }
