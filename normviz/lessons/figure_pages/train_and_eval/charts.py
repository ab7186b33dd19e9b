"""Charts of running statistics: over a stream of batches, against the batch size, and along sequences."""

from __future__ import annotations

import numpy as np

from normviz.analysis.running.sampling import PerTimeStep, Spread
from normviz.analysis.running.shards import Sharded
from normviz.analysis.running.stream import Run
from normviz.figures.charts import Lines, axis, bars, chart, dots, line
from normviz.layers.messages import _

MARGIN = {"l": 56, "r": 16, "t": 68, "b": 44}  # room for a legend of two lines, so that charts beside each other align
TICKS = [digit * 10.0**power for power in range(-4, 5) for digit in (1, 2, 5)]


def mean_over_time(history: Run) -> Lines:
    """Batch mean, running mean and true mean, step by step."""
    step = np.arange(1, len(history.batch_mean) + 1)
    traces = [
        dots(_("mean of the batch"), step, history.batch_mean, "few.0"),
        line("running_mean", step, history.running_mean, "accent", width=3),
        line(_("true mean"), step, history.true_mean, "muted", dash="dash"),
    ]
    return chart(traces, _("step"), _("mean"), height=302, margin=MARGIN)


def variance_over_time(history: Run) -> Lines:
    """Unbiased and biased batch variance, running variance in torch and in Keras, and the true variance.

    The biased ones are drawn after a click on the legend.
    """
    step = np.arange(1, len(history.batch_var) + 1)
    traces = [
        dots(_("batch, / (m − 1)"), step, history.batch_var_unbiased, "few.0"),
        line("running_var", step, history.running_var, "accent", width=3),
        line(_("true variance"), step, history.true_var, "muted", dash="dash"),
        dots(_("batch, / m"), step, history.batch_var, "few.2", visible="legendonly"),
        line(_("in Keras"), step, history.running_var_biased, "few.2", width=3, visible="legendonly"),
    ]
    return chart(traces, _("step"), _("variance"), height=302, margin=MARGIN)


def spread_by_size(found: Spread, chosen: int) -> Lines:
    """The standard deviation of the batch mean against the batch size, on logarithmic axes; the chosen size stands out."""
    here = found.batch_size == chosen
    traces = [
        line("sigma / √m", found.batch_size, found.expected_spread, "muted", dash="dash"),
        dots(_("spread of the batch mean, measured"), found.batch_size, found.mean_spread, "few.0", size=9),
        dots(f"m = {chosen}", found.batch_size[here], found.mean_spread[here], "accent", size=14),
    ]
    sizes = axis(_("batch size m"), type="log", tickvals=found.batch_size.tolist())
    deviations = axis(_("standard deviation of the batch mean"), type="log", tickvals=TICKS)
    return chart(traces, sizes, deviations, height=330)


def over_devices(found: Sharded, statistic: str) -> Lines:
    """The "mean" or "var" of channel 0 on each device, combined as SyncBatchNorm does, and of the whole batch."""
    names = [str(device) for device in range(len(found.sizes))]
    title, shards, whole = {
        "mean": (_("mean of channel 0"), found.shard_mean, found.whole_mean),
        "var": (_("variance of channel 0"), found.shard_var, found.whole_var),
    }[statistic]
    traces = [
        dots(_("on its own"), names, [float(each[0]) for each in shards], "few.0", size=11),
        line(_("with SyncBatchNorm"), names, [_combined(found, statistic)] * len(names), "accent", width=3),
        line(_("whole batch"), names, [float(whole[0])] * len(names), "muted", dash="dash"),
    ]
    return chart(traces, axis(_("device"), type="category"), title, height=302, margin=MARGIN, hovermode="closest")


def _combined(found: Sharded, statistic: str) -> float:
    return float((found.mean if statistic == "mean" else found.var)[0])


def left_along_sequences(found: PerTimeStep) -> Lines:
    """The number of sequences at each time step, and the error of the mean of that step."""
    step = np.arange(len(found.left))
    traces = [
        bars(_("sequences left"), step, found.left, "few.0"),
        line("sigma / √left", step, found.standard_error, "muted", dash="dash", yaxis="y2"),
        dots(_("error of the mean, over many draws"), step, found.rms_error, "accent", yaxis="y2"),
    ]
    # Its own ticks: those of the first axis are not round numbers here.
    second = axis(
        _("error of the mean"), tickmode="auto", overlaying="y", side="right", showgrid=False, rangemode="tozero"
    )
    return chart(traces, _("time step t"), _("sequences left"), height=330, yaxis2=second)
