"""The charts of running statistics show the numbers that they are given, each under its name and in its color."""

import json

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest

from normviz.analysis.running.sampling import Sequences, SmallBatches, per_time_step, spread
from normviz.analysis.running.stream import Stream, run
from normviz.figures.charts import bars, chart, dots, line
from normviz.figures.palette import theme
from normviz.lessons.train_and_eval import page as train_and_eval

STREAM = run(Stream(batch_size=4, steps=6, drift=0.5))
SIZES = spread(SmallBatches([4, 16, 64]))
SHARDS = train_and_eval.devices(2)
TIME_STEPS = per_time_step(Sequences(count=4, longest=3, seed=1))

# name of the trace; where its numbers come from; its color
SHOWN = {
    "mean": (
        train_and_eval.mean_over_time(STREAM),
        range(1, 7),
        [
            ("mean of the batch", STREAM.batch_mean, "few.0"),
            ("running_mean", STREAM.running_mean, "accent"),
            ("true mean", STREAM.true_mean, "muted"),
        ],
    ),
    "variance": (
        train_and_eval.variance_over_time(STREAM),
        range(1, 7),
        [
            ("batch, / (m − 1)", STREAM.batch_var_unbiased, "few.0"),
            ("running_var", STREAM.running_var, "accent"),
            ("true variance", STREAM.true_var, "muted"),
            ("batch, / m", STREAM.batch_var, "few.2"),
            ("in Keras", STREAM.running_var_biased, "few.2"),
        ],
    ),
    "spread": (
        train_and_eval.spread_by_size(SIZES, 64),
        [4, 16, 64],
        [
            ("sigma / √m", [1, 0.5, 0.25], "muted"),
            ("spread of the batch mean, measured", SIZES.mean_spread, "few.0"),
            ("m = 64", SIZES.mean_spread[2:], "accent"),
        ],
    ),
    "devices": (
        train_and_eval.over_devices(SHARDS, "mean"),
        ["0", "1"],
        [
            ("on its own", SHARDS.shard_mean[:, 0], "few.0"),
            ("with SyncBatchNorm", [SHARDS.mean[0]] * 2, "accent"),
            ("whole batch", [SHARDS.whole_mean[0]] * 2, "muted"),
        ],
    ),
    "devices' variances": (
        train_and_eval.over_devices(SHARDS, "var"),
        ["0", "1"],
        [
            ("on its own", SHARDS.shard_var[:, 0], "few.0"),
            ("with SyncBatchNorm", [SHARDS.var[0]] * 2, "accent"),
            ("whole batch", [SHARDS.whole_var[0]] * 2, "muted"),
        ],
    ),
    "left": (
        train_and_eval.left_along_sequences(TIME_STEPS),
        [0, 1, 2],
        [
            ("sequences left", [4, 3, 2], "few.0"),
            ("sigma / √left", 2 / np.sqrt([4, 3, 2]), "muted"),
            ("error of the mean, over many draws", TIME_STEPS.rms_error, "accent"),
        ],
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_chart_shows_its_numbers(name):
    lines, across, traces = SHOWN[name]
    figure = lines.figure()
    assert [trace.name for trace in figure.data] == [trace[0] for trace in traces]
    for trace, (_, numbers, color) in zip(figure.data, traces, strict=True):
        np.testing.assert_array_equal(trace.x, across if not trace.name.startswith("m = ") else [64])
        np.testing.assert_allclose(trace.y, numbers)
        assert trace.meta["color"] == color


@pytest.mark.parametrize("name", SHOWN)
def test_a_chart_ignores_plotlys_default_template(name, monkeypatch):
    monkeypatch.setattr(plotly.io.templates, "default", "plotly_dark")
    figure = SHOWN[name][0].figure()
    assert type(figure) is go.Figure
    assert figure.layout.template.to_plotly_json() == plotly.io.templates["none"].to_plotly_json()
    assert figure.layout.xaxis.title.text
    assert figure.layout.yaxis.title.text
    assert json.loads(figure.to_json())


def test_the_variance_of_torch_is_drawn_first_and_the_biased_one_on_request():
    hidden = [trace.name for trace in SHOWN["variance"][0].figure().data if trace.visible == "legendonly"]
    assert hidden == ["batch, / m", "in Keras"]


def test_the_spread_is_a_line_on_logarithmic_axes():
    layout = SHOWN["spread"][0].figure().layout
    assert (layout.xaxis.type, layout.yaxis.type) == ("log", "log")
    assert layout.xaxis.tickvals == (4, 16, 64)
    assert {0.1, 0.2, 0.5, 1.0} <= set(layout.yaxis.tickvals)  # Plotly's own would be 9, 8, 7, ... below 1


def test_errors_have_their_own_axis():
    figure = SHOWN["left"][0].figure()
    assert [trace.yaxis for trace in figure.data] == [None, "y2", "y2"]
    assert (figure.layout.yaxis2.side, figure.layout.yaxis2.overlaying) == ("right", "y")
    assert (
        figure.layout.yaxis2.tickmode == "auto"
    )  # Plotly's own would be 0.229, 0.457, ...: where the other axis has its lines


COLORS = [("accent", theme("light").accent), ("muted", theme("light").muted), ("few.0", theme("light").few[0]), ("few.7", theme("light").few[7])]  # fmt: skip


@pytest.mark.parametrize(("name", "color"), COLORS)
def test_a_trace_has_the_name_of_its_color_and_its_value_in_the_light_theme(name, color):
    one, two, three = line("a", [1], [2], name), dots("b", [1], [2], name), bars("c", [1], [2], name)
    assert one["line"]["color"] == two["marker"]["color"] == three["marker"]["color"] == color
    assert all(trace["meta"] == {"color": name} for trace in (one, two, three))


def test_a_charts_layout_is_plotlys():
    figure = chart([line("a", [1], [2], "accent")], "step", "mean", height=100, bargap=0.5).figure()
    assert (figure.layout.height, figure.layout.bargap) == (100, 0.5)
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("step", "mean")


def test_one_step_is_enough():
    figure = train_and_eval.mean_over_time(run(Stream(steps=1))).figure()
    assert [len(trace.y) for trace in figure.data] == [1, 1, 1]
    assert len(train_and_eval.left_along_sequences(per_time_step(Sequences(2, 1))).data) == 3
