"""The data of charts: JSON with colors by their meaning, which the browser paints in the theme."""

import json
from base64 import b64decode

import numpy as np
import pytest

from normviz.analysis.running.sampling import Sequences, SmallBatches, per_time_step, spread
from normviz.analysis.running.stream import Stream, run
from normviz.figures.charts import bars, chart, chart_payload, dots, line
from normviz.figures.palette import THEMES, by_meaning
from normviz.figures.wire import sent
from normviz.lessons.train_and_eval import page as figures
from tests.support.javascript import evaluate


def plain(data):
    """The data as the browser gets it: strict JSON."""
    return json.loads(json.dumps(sent(data), allow_nan=False))


CHARTS = {
    "mean": lambda: figures.mean_over_time(run(Stream(steps=5))),
    "variance": lambda: figures.variance_over_time(run(Stream(steps=5))),
    "spread": lambda: figures.spread_by_size(spread(SmallBatches([2, 8])), 8),
    "left": lambda: figures.left_along_sequences(per_time_step(Sequences(4, 3))),
}


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_json_with_its_colors_named(name):
    data = plain(chart_payload(CHARTS[name](), "what it shows"))
    assert (data["kind"], data["figure"]["alt"]) == ("chart", "what it shows")
    assert "template" not in data["figure"]["layout"]
    for trace in data["figure"]["data"]:
        assert trace["name"]
        for theme in THEMES.values():
            assert by_meaning(trace["meta"]["color"], theme).startswith("#")


def test_the_browser_finds_the_same_colors():
    names = ["accent", "muted", "few.0", "few.7", None]
    for theme, colors in THEMES.items():
        found = evaluate(
            "args[1].map(name => ChartView.prototype.color.call({colors: THEMES[args[0]]}, name))", theme, names
        )
        assert found == [*(by_meaning(name, colors) for name in names[:-1]), None]


def test_the_browser_paints_lines_and_markers_in_the_theme():
    traces = [
        line("a", [1], [2], "accent"),
        dots("b", [1], [2], "few.1"),
        bars("c", [1], [2], "muted"),
        {"type": "scatter", "x": [1], "y": [2], "name": "d"},
    ]
    data = plain(chart_payload(chart(traces, "x", "y"), "alt"))
    dark = vars(THEMES["dark"])
    script = "args[0].map(trace => ChartView.prototype.inTheme.call({colors: THEMES.dark, color: ChartView.prototype.color}, trace))"
    one, two, three, four = evaluate(script, data["figure"]["data"])
    assert one["line"]["color"] == dark["accent"]
    assert (two["marker"]["color"], two["marker"]["size"]) == (dark["few"][1], 6)
    assert three["marker"]["color"] == dark["muted"]
    assert four == data["figure"]["data"][3]


SETS = """(async () => {
  const drawn = [], root = { dataset: {}, style: { setProperty() {} }, clientWidth: 500 };
  const view = Object.assign(Object.create(ChartView.prototype), { root, async draw() {
    drawn.push([this.data.figure.data[0].name, this.mode, this.root.clientWidth]);
    this.width = this.root.clientWidth;
    if (this.breaks) throw new Error("broken");
  } });
  for (const [data, mode, width, breaks] of args[0]) {
    Object.assign(view, { breaks });
    root.clientWidth = width;
    await view.set(data, mode).catch(() => {});
  }
  return [drawn, root.dataset.drawn];
})()"""


def test_a_chart_is_drawn_again_if_its_data_theme_or_width_changed_or_drawing_failed():
    one, other = (
        sent(chart_payload(chart([line(name, [1], [2], "accent")], "x", "y"), "")) for name in ("one", "other")
    )
    given = [
        (one, "light", 500, False),
        (one, "light", 500, False),  # the same
        (other, "light", 500, False),
        (other, "dark", 500, False),
        (other, "dark", 400, False),
        (one, "dark", 400, True),
        (one, "dark", 400, False),
        (one, "dark", 400, False),  # the same
    ]
    drawn, told = evaluate(SETS, given)
    assert drawn == [
        [data["figure"]["data"][0]["name"], mode, width] for data, mode, width, _ in given[:1] + given[2:7]
    ]
    assert told == str(len(given) - 1)  # a waiting caller is told of every chart but the broken one


def test_nan_and_infinity_leave_a_gap_in_a_chart():
    data = plain(chart_payload(chart([line("a", [1, 2], [float("nan"), float("inf")], "accent")], "x", "y"), "alt"))
    assert (data["figure"]["data"][0]["name"], data["figure"]["data"][0]["y"]) == ("a", [None, None])


ARRAYS = [
    # what is given, and the type that it is sent in
    (np.array([0.1, np.nan, -2.0]), "f8"),
    (np.arange(1, 61), "i1"),
    (np.array([1, 128]), "i2"),
    (np.array([-40_000]), "i4"),
]


@pytest.mark.parametrize(("given", "kind"), ARRAYS)
def test_an_array_is_sent_exactly(given, kind):
    (drawn,) = plain(chart_payload(chart([line("a", given, given, "accent")], "x", "y"), ""))["figure"]["data"]
    assert (drawn["x"]["dtype"], drawn["y"]) == (kind, drawn["x"])
    np.testing.assert_array_equal(np.frombuffer(b64decode(drawn["x"]["bdata"]), f"<{kind}"), given)


def test_integers_beyond_plotlys_types_are_sent_as_a_list():
    given = np.array([1, 2**40])
    (drawn,) = plain(chart_payload(chart([line("a", given, given, "accent")], "x", "y"), ""))["figure"]["data"]
    assert drawn["x"] == [1, 2**40]
