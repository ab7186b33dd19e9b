"""Charts of running statistics: over a stream of batches, against the batch size, and along sequences."""

from __future__ import annotations

import numpy as np

from normviz.analysis.running.sampling import PerStep, Spread
from normviz.analysis.running.stream import Run
from normviz.figures.charts import Lines, axis, bars, chart, dots, line

ABOVE = {
    "l": 56,
    "r": 16,
    "t": 56,
    "b": 44,
}  # room for two lines of legend, so that charts beside each other begin alike
ROUND = [digit * 10.0**power for power in range(-4, 5) for digit in (1, 2, 5)]


def mean_over_time(found: Run) -> Lines:
    """Batch mean, running mean and true mean, step by step."""
    step = np.arange(1, len(found.batch_mean) + 1)
    traces = [
        dots("mean of the batch", step, found.batch_mean, "few.0"),
        line("running_mean", step, found.running_mean, "accent", width=3),
        line("true mean", step, found.true_mean, "muted", dash="dash"),
    ]
    return chart(traces, "step", "mean", height=290, margin=ABOVE)


def variance_over_time(found: Run) -> Lines:
    """Batch variance biased and unbiased, running variance as torch and as Keras keep it, and the truth."""
    step = np.arange(1, len(found.batch_var) + 1)
    traces = [
        dots("batch, / m", step, found.batch_var, "few.0", size=5),
        dots("batch, / (m − 1)", step, found.batch_var_unbiased, "few.2", size=5),
        line("running_var", step, found.running_var, "accent", width=3),
        line("in Keras", step, found.running_var_biased, "few.0", width=3),
        line("true variance", step, found.true_var, "muted", dash="dash"),
    ]
    return chart(traces, "step", "variance", height=290, margin=ABOVE)


def spread_by_size(found: Spread) -> Lines:
    """How far batch means spread, against the batch size, on doubly logarithmic axes."""
    traces = [
        line("sigma / √m", found.batch_size, found.expected_spread, "muted", dash="dash"),
        dots("spread of the batch mean, measured", found.batch_size, found.mean_spread, "accent", size=9),
    ]
    sizes = axis("batch size m", type="log", tickvals=found.batch_size.tolist())
    deviations = axis("standard deviation of the batch mean", type="log", tickvals=ROUND)
    return chart(traces, sizes, deviations, height=330)


def left_along_sequences(found: PerStep) -> Lines:
    """How many sequences are left at each time step, and how noisy the mean of that step is."""
    step = np.arange(len(found.left))
    traces = [
        bars("sequences left", step, found.left, "few.0"),
        line("sigma / √left", step, found.standard_error, "muted", dash="dash", yaxis="y2"),
        dots("error of the mean, over many draws", step, found.rms_error, "accent", yaxis="y2"),
    ]
    # Not at the first axis's lines, which are no round numbers here.
    second = axis(
        "error of the mean", tickmode="auto", overlaying="y", side="right", showgrid=False, rangemode="tozero"
    )
    return chart(traces, "time step t", "sequences left", height=330, yaxis2=second)
