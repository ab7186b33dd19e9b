"""What is written around the cells of a panel: what the outline means, and the mean and the variance of the group inside it."""

import pytest
import torch

from normviz import explain
from normviz.figures.payload import compare_payload, view_payload
from normviz.layers.norm import Norm
from normviz.scene.grid import grid
from tests.support.javascript import evaluate

X = torch.tensor([[1.0, 2.0, 6.0], [4.0, 4.0, 4.0]])  # rows: mean 3 and 4, variance 14/3 and 0
FACETS = X.reshape(2, 1, 3)

PANELS = """
  const data = decodeData(args[0]), labels = { written: [], add(tag, { x, y, class: kind }, text) { if (text) this.written.push([text, kind ?? ""]); }, end() {} };
  const panels = Object.fromEntries(data.panels.map((figure) => {
    const momentsText = { textContent: "", setAttribute(name, value) { this[name] = Number(value); } };
    const panel = Object.assign(Object.create(Panel.prototype), { data, figure, labels, momentsText, view: { lit: null } });
    const { under } = marginsOf(panel), geometry = new Geometry(data.grid, 600, 300, { most: 48, gapY: 22 + under });
    return [figure.key, Object.assign(panel, { geometry, under })];
  }));
"""


def around(expression, e, *arguments):
    """The value of an expression with the panels of Explore, ``panels``."""
    data = view_payload(e, grid(e.shape, e.axes))
    return evaluate(f"(() => {{ {PANELS} return {expression}; }})()", data, *arguments)


def moments(e, at):
    """What the panels of values write at the outline of the element's group."""
    write = "(key) => (writeMoments(panels[key], args[1]), panels[key].momentsText.textContent)"
    return around(f'["x", "normalized", "output"].map({write})', e, at)


NAMES = [
    ("LayerNorm(3)", "same mean"),
    ("RMSNorm(3)", "same mean square"),
    ("BatchNorm1d(3).eval()", "same running mean"),
]


@pytest.mark.parametrize(("layer", "name"), NAMES)
def test_every_panel_says_what_its_outline_means(layer, name):
    said = around(
        "Object.values(panels).map((panel) => panel.sharing && outlineName(panel.sharing))", explain(layer, X)
    )
    assert said == [name, "same gamma", name, name, name]


def test_a_panel_in_which_nothing_is_outlined_names_nothing():
    e = explain("LayerNorm(3, elementwise_affine=False)", X)
    assert around("panels.params.sharing", e) is None


def test_each_layer_of_a_comparison_has_its_own_name():
    layers = [explain(layer, X) for layer in ("RMSNorm(3)", "LayerNorm(3, elementwise_affine=False)")]
    names = "data.panels.map(({ key }) => [key, panels[key].sharing && outlineName(panels[key].sharing)])"
    script = f"(() => {{ {PANELS} return {names}; }})()"
    assert dict(evaluate(script, compare_payload(layers, grid((2, 3), ("n", "d"))))) == {
        "stats0": "same mean square", "params0": "same gamma", "cube0": "same mean square",
        "stats1": "same mean", "params1": None, "cube1": "same mean",
    }  # fmt: skip


MOMENTS = [
    # the moments of the group, not those of the facet
    ("LayerNorm([1, 3])", FACETS, ["mean = 3, var = 4.67", "mean = 0, var = 1", "mean = 0, var = 1"]),
    (Norm("n c l -> ", "c"), FACETS, ["mean = 3.5, var = 2.58", "mean = 0, var = 1", "mean = 0, var = 1"]),
    ("RMSNorm(3)", FACETS, ["mean square = 13.7", "mean square = 1", "mean square = 1"]),
    (
        "LayerNorm([1, 3], elementwise_affine=False)",
        FACETS,
        ["mean = 3, var = 4.67", "mean = 0, var = 1", "mean = 0, var = 1"],
    ),
    ("BatchNorm1d(1).eval()", FACETS, ["mean = 3.5, var = 2.58"] * 3),  # the running mean is 0, the running variance 1
    ("GroupNorm(3, 3)", X, ["mean = 1, var = 0", "mean = 0, var = 0", "mean = 0, var = 0"]),
]


@pytest.mark.parametrize(("layer", "x", "expected"), MOMENTS)
def test_values_have_the_moments_of_the_group_at_its_outline(layer, x, expected):
    assert moments(explain(layer, x), [0] * x.ndim) == expected


def test_without_an_element_and_for_one_that_was_not_sent_no_moments_are_written():
    e = explain("LayerNorm([1, 3])", FACETS)
    assert moments(e, None) == ["", "", ""]
    sent = "panels.x.data = { ...data, sent: { ...data.grid, indices: [[1], [0], [0, 1, 2]] } }"
    assert around(f"({sent}, writeMoments(panels.x, [0, 0, 0]), panels.x.momentsText.textContent)", e) == ""


def test_the_moments_stand_below_the_group_and_inside_the_panel():
    e = explain("InstanceNorm2d(4)", torch.randn(2, 4, 3, 5))
    box = "(({ x, y, textContent }) => ({ x, y, half: 3.3 * textContent.length }))(panels.x.momentsText)"
    found = around(f"[[0, 0], [0, 2], [1, 3]].map((at) => (writeMoments(panels.x, [...at, 0, 0]), {box}))", e)
    geometry = around(
        "(({ lefts, tops, facetW, facetH, width }) => ({ lefts, tops, facetW, facetH, width }))(panels.x.geometry)", e
    )
    for (n, c), text in zip([(0, 0), (0, 2), (1, 3)], found, strict=True):
        bottom = geometry["tops"][n] + geometry["facetH"]
        assert bottom < text["y"] < bottom + 17
        middle = geometry["lefts"][c] + geometry["facetW"] / 2
        assert text["x"] == pytest.approx(min(max(middle, text["half"]), geometry["width"] - text["half"]))


STRIPS = [
    # in a matrix, those of every group, if the groups are its rows or its columns
    ("LayerNorm(3)", [["mean", "0", "0"], ["var", "1", "0"]]),
    ("BatchNorm1d(3)", [["mean", "0", "0", "0"], ["var", "1", "1", "1"]]),
    ("GroupNorm(3, 3)", []),
    (Norm("n d -> ", "d"), []),
    ("RMSNorm(3)", []),
]


@pytest.mark.parametrize(("layer", "lines"), STRIPS)
def test_rows_or_columns_that_are_groups_have_their_moments_beside_them(layer, lines):
    written = around("(drawLabels(panels.normalized), labels.written)", explain(layer, X))
    texts = [text for text, kind in written if kind == "nv-strip" or text in ("mean", "var")]
    assert texts == [text for line in lines for text in line]
    assert (moments(explain(layer, X), [0, 0])[1] == "") == bool(lines)


def test_other_values_than_the_moments_are_not_written():
    """An output whose gamma and beta the reader has moved has other moments."""
    moved = "(() => { panels.output.data = withGammaAndBeta(data, { gamma: 2, beta: 1 }); writeMoments(panels.output, [0, 0, 0]); return panels.output.momentsText.textContent; })()"
    assert around(moved, explain("LayerNorm([1, 3])", FACETS)) == "mean = 1, var = 4"


# Names and numbers where little room is


NAMED = [
    # the width, and the names of four facets
    (600, ["c = 0", "c = 1", "c = 2", "c = 3"]),
    (98, ["c = 0", "1", "2", "3"]),
]


@pytest.mark.parametrize(("width", "names"), NAMED)
def test_every_facet_has_its_number_where_the_whole_names_do_not_fit(width, names):
    narrow = (
        f"Object.assign(panels.stats, {{ geometry: new Geometry(data.grid, {width}, 300, {{ most: 56, gapY: 22 }}) }})"
    )
    written = around(f"(drawLabels({narrow}), labels.written)", explain("BatchNorm2d(4)", torch.zeros(3, 4, 5, 2)))
    assert [text for text, _ in written if text[0] == "c" or text.isdigit()] == names


# A rectangle of 20 by 50 px, the frame of the selected element, and where a number of 12 by 10 px stands.
BESIDE = [
    (None, [10, 25]),
    ([0, 0, 10, 10], [10, 25]),  # not in the way
    ([-4, 18, 14, 32], [10, 9]),  # above the frame
    ([-4, 12, 14, 28], [10, 39]),  # below: more room
    ([-4, -4, 24, 54], [10, 25]),  # nowhere
]


@pytest.mark.parametrize(("frame", "place"), BESIDE)
def test_the_frame_of_the_selected_element_does_not_cover_the_number_of_its_group(frame, place):
    assert evaluate("middleBeside([0, 0, 20, 50], args[0], 12, 10)", frame) == place


# Each text, its place, the group under it, and the group that it names.
WRITTEN = """(key, width, at = null) => {
  const list = () => { const texts = []; return { texts, add(tag, { x, y }, text) { texts.push([text, x, y]); }, end() {} }; };
  const geometry = new Geometry(data.grid, width, 300, { most: 56, gapY: 22 }), strongTexts = list(), panel = panels[key];
  Object.assign(panel, { geometry, view: { at }, mutedTexts: list(), strongTexts, ranks: rankGroups(panel.tables()), scale: [[0, "#000000"], [1, "#000000"]], colors: { ink: ["#ffffff", "#000000"] } });
  drawTexts(panel);
  return strongTexts.texts.map(([text, x, y], i) => [text, x, y, groupOf(panel.tables(), geometry.elementAt(x, y)), groupOf(panel.tables(), panel.written[i])]);
}"""


def test_the_name_of_a_group_moves_when_an_element_is_selected_under_it():
    instances = explain("InstanceNorm2d(4)", torch.zeros(3, 4, 5, 2))
    plain, moved = around(f"[null, [1, 3, 2, 0]].map((at) => ({WRITTEN})('stats', 250, at))", instances)
    assert [before[0] for before, now in zip(plain, moved, strict=True) if before != now] == ["mean 7"]


IN_GROUPS = [
    # the layer, the panel, its width, and what stands in it
    ("BatchNorm2d(4)", "stats", 400, [f"mean {n}" for n in range(4)]),
    ("LayerNorm([4, 5, 2])", "stats", 400, [f"mean {n}" for n in range(3)]),
    ("RMSNorm([4, 5, 2])", "stats", 400, [word for n in range(3) for word in ("mean", "square", str(n))]),
    ("InstanceNorm2d(4)", "stats", 400, [*(f"mean {n}" for n in range(10)), "mean", "10", "mean", "11"]),
    ("InstanceNorm2d(4)", "stats", 180, [word for n in range(12) for word in ("mean", str(n))]),  # in two lines
    ("InstanceNorm2d(4)", "stats", 90, []),  # no room: the legend has the name
    ("BatchNorm2d(4)", "params", 400, [word for n in range(4) for word in ("gamma", str(n))]),
    ("LayerNorm([4, 5, 2])", "params", 400, []),
]


@pytest.mark.parametrize(("layer", "key", "width", "names"), IN_GROUPS)
def test_each_group_has_its_name_once_and_no_cell_has_a_number_alone(layer, key, width, names):
    written = around(f"({WRITTEN})('{key}', {width})", explain(layer, torch.zeros(3, 4, 5, 2)))
    assert [text for text, *_ in written] == names
    assert all(under == group for _text, _x, _y, under, group in written)


def test_a_frame_never_covers_the_name_of_its_group():
    """Beside the frame, 2 x 2 cells have no room: the legend has the name. Of several facets, another one has it."""
    alone, several = (
        around(f"({WRITTEN})('stats', 300, [0, 0, 0, 0])", explain(layer, torch.zeros(2, 6, 2, 2)))
        for layer in ("InstanceNorm2d(6)", "BatchNorm2d(6)")
    )
    assert {group for *_, group in alone} == set(range(1, 12))
    assert {group for *_, group in several} == set(range(6))


def test_a_group_without_room_for_its_name_has_it_in_the_legend():
    named = """[["stats", 400], ["params", 400], ["x", 400]].map(([key, width]) => {
      const panel = panels[key], outlined = { textContent: "" };
      if (key !== "x") (%s)(key, width);
      Object.assign(panel, { outlined, written: panel.written ?? [] });
      return [null, [1, 3, 4, 1]].map((at) => (Panel.prototype.nameOutlined.call(panel, at), outlined.textContent));
    })"""
    stats, gammas, values = around(named % WRITTEN, explain("LayerNorm([4, 5, 2])", torch.zeros(3, 4, 5, 2)))
    assert stats == ["same mean"] * 2  # it stands in the group
    assert gammas == ["same gamma", "gamma no. 39"]
    assert values == ["same mean"] * 2
