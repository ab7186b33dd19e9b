"""What a screen reader says of an element, and where the keys N, P and G lead."""

import numpy as np
import pytest

from normviz import explain
from normviz.figures.charts import chart, chart_payload, dots, line
from normviz.figures.payload import compare_payload, view_payload
from normviz.figures.wire import sent
from normviz.scene.grid import grid
from tests.support.javascript import evaluate

# Layer, shape, element, what is said in the panel of statistics and in that of parameters.
SAID = [
    ("LayerNorm([3, 4, 4])", (2, 3, 4, 4), (1, 2, 0, 3), "its mean with 47 others: all of example 1", "its gamma with 1 other: all of channel 2, row 0, column 3"),
    ("BatchNorm2d(3)", (2, 3, 4, 4), (0, 1, 0, 0), "its mean with 31 others: all of channel 1", "its gamma with 31 others: all of channel 1"),
    ("GroupNorm(2, 4)", (2, 4, 3, 3), (0, 3, 0, 0), "its mean with 17 others: all of example 0, channels 2 to 3", "its gamma with 17 others: all of channel 3"),
    ("RMSNorm(6)", (4, 6), (2, 5), "its mean square with 5 others: all of example 2", "its gamma with 3 others: all of feature 5"),
    ("BatchNorm1d(5).eval()", (4, 5), (0, 1), "its running mean with 3 others: all of feature 1", "its gamma with 3 others: all of feature 1"),
    ("LayerNorm(1)", (3, 1), (1, 0), "its mean with no other element", "its gamma with 2 others: all of x"),
    ("InstanceNorm1d(3)", (2, 3, 4), (1, 0, 0), "its mean with 3 others: all of example 1, channel 0", None),
]  # fmt: skip

PANEL = """
  const data = decodeData(args[0], args[0].grid), [key, at] = args.slice(1), figure = data.panels.find((one) => one.key === key);
  const geometry = new Geometry(data.grid, 600, 300, { most: 48 }), view = { valueAt: () => 0.73 };
  const panel = { data, figure, geometry, view, each: (visit) => geometry.each(visit), valueAt: () => 0.73 };
"""


def in_panel(expression, layer, shape, key, at):
    e = explain(layer, shape)
    return evaluate(f"(() => {{ {PANEL} return {expression}; }})()", view_payload(e, grid(shape, e.axes)), key, at)


@pytest.mark.parametrize(("layer", "shape", "at", "mean", "gamma"), SAID, ids=[row[0] for row in SAID])
def test_an_element_is_said_with_its_value_and_with_whom_it_shares(layer, shape, at, mean, gamma):
    element = f"x[{', '.join(map(str, at))}]"
    assert in_panel("speakElement(panel, at)", layer, shape, "stats", at) == f"{element}; shares {mean}"
    said = f"{element}; shares {gamma}" if gamma else element
    assert in_panel("speakElement(panel, at)", layer, shape, "params", at) == said


# The order in which N, P and G lead from (0, 1, 0), and back with Shift: BatchNorm1d(3) on (2, 3, 2).
WAYS = [
    ("nextPeer(panel, 'stats', at, 1)", (0, 1, 1)),
    ("nextPeer(panel, 'stats', at, -1)", (1, 1, 1)),  # before the first one comes the last one
    ("nextPeer(panel, 'params', at, 1)", (0, 1, 1)),
    ("nextGroup(panel, at, 1)", (0, 2, 0)),
    ("nextGroup(panel, at, -1)", (0, 0, 0)),
]


@pytest.mark.parametrize(("way", "goal"), WAYS)
def test_keys_lead_to_peers_and_groups_in_turn(way, goal):
    assert in_panel(way, "BatchNorm1d(3)", (2, 3, 2), "stats", (0, 1, 0)) == list(goal)


def test_in_turn_the_keys_reach_every_peer_and_every_group():
    shape, at = (2, 4, 3), (0, 2, 1)
    e = explain("GroupNorm(2, 4)", shape)
    walk = "Array.from({{ length: {} }}).reduce((way) => [...way, {}], [at]).slice(0, -1)"
    found = in_panel(walk.format(6, "nextPeer(panel, 'stats', way.at(-1), 1)"), "GroupNorm(2, 4)", shape, "stats", at)
    assert sorted(map(tuple, found)) == sorted({at, *e.peers(at)})
    groups = in_panel(walk.format(4, "nextGroup(panel, way.at(-1), 1)"), "GroupNorm(2, 4)", shape, "stats", at)
    assert len({frozenset({tuple(index), *e.peers(tuple(index))}) for index in groups}) == 4


def test_a_chart_is_a_table_with_a_row_for_each_x_and_a_column_for_each_series():
    steps = np.arange(1, 4)
    lines = chart(
        [
            line("mean", steps, np.array([0.5, 1.25, float("nan")]), "few.0"),
            dots("last", [3], [2], "accent"),
            line("", [0, 9], [0, 0], "muted"),
        ],
        "step",
        "mean",
    )
    figure = sent(chart_payload(lines, "").figure)
    assert evaluate("chartRows(args[0])", figure) == [
        ["step", "mean", "last"],
        ["1", "0.5", ""],
        ["2", "1.25", ""],
        ["3", "nan", "2"],
    ]


def test_without_gamma_the_key_p_stays_and_says_nothing_of_it():
    assert in_panel("nextPeer(panel, 'params', at, 1)", "InstanceNorm1d(3)", (2, 3, 2), "stats", (0, 1, 0)) == [0, 1, 0]


def test_where_layers_are_compared_each_panel_speaks_of_its_own_layer():
    shape, at = (2, 3), (1, 2)
    descriptions = [explain("LayerNorm(3)", shape), explain("BatchNorm1d(3)", shape)]
    data = compare_payload(descriptions, grid(shape, descriptions[0].axes))
    said = [
        evaluate(f"(() => {{ {PANEL} return speakElement(panel, at); }})()", data, key, at)
        for key in ("stats0", "stats1", "params1")
    ]
    assert [text.partition("; ")[2] for text in said] == [
        "shares its mean with 2 others: all of example 1",
        "shares its mean with 1 other: all of feature 2",
        "shares its gamma with 1 other: all of feature 2",
    ]
