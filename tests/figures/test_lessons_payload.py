"""The data of comparisons, steps, values and charts: strict JSON, tables of ids, colors named by meaning."""

import json
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, reject

from normviz import explain
from normviz.analysis.comparison import compare
from normviz.analysis.description import describe
from normviz.analysis.excerpt import steps
from normviz.figures.charts import chart, chart_payload, line
from normviz.figures.payload import NamedAxis, PanelValues, compare_payload, steps_payload, values_payload
from normviz.figures.plotly_figure import group_ids
from normviz.figures.wire import sent
from normviz.layers.norm import Norm
from normviz.scene.grid import grid
from normviz.scene.view import read
from normviz.texts.errors import NormvizError
from tests.figures.test_payload import unpacked
from tests.support.javascript import evaluate
from tests.support.strategies import explained, layers_that_fit, norms

MATRIX = torch.tensor([[1.0, 2.0, 6.0], [4.0, 4.0, 4.0]])


def plain(data):
    """The data as the browser gets it: strict JSON."""
    return json.loads(json.dumps(sent(data), allow_nan=False))


def whole(e):
    return grid(e.shape, e.axes)


def ids_of(sharing, drawing):
    return group_ids([NamedAxis(**axis) for axis in sharing["axes"]], drawing).tolist()


# Compare


def test_two_layers_on_a_matrix():
    comparison = compare(["LayerNorm(3)", "BatchNorm1d(3, affine=False)"], (2, 3), "ND").descriptions
    data = plain(compare_payload(comparison, whole(comparison[0]), at=(1, 2)))
    assert (data["kind"], data["axes"], data["at"], data["editable"]) == ("compare", ["n", "d"], [1, 2], False)
    assert data["layers"] == [{"name": "LayerNorm([3])"}, {"name": "BatchNorm1d(3, affine=False)"}]
    assert {name: sharing and ids_of(sharing, whole(comparison[0])) for name, sharing in data["sharings"].items()} == {
        "stats0": [[0, 0, 0], [1, 1, 1]],
        "params0": [[0, 1, 2], [0, 1, 2]],
        "stats1": [[0, 1, 2], [0, 1, 2]],
        "params1": None,
    }
    assert [(panel["key"], panel["row"], panel["links"], panel["title"]) for panel in data["panels"]] == [
        ("stats0", "stats", "stats0", "LayerNorm([3])"),
        ("params0", "params", "params0", "LayerNorm([3]): gamma and beta"),
        ("cube0", "cube", "stats0", "LayerNorm([3])"),
        ("stats1", "stats", "stats1", "BatchNorm1d(3, affine=False)"),
        ("params1", "params", "", "BatchNorm1d(3, affine=False): no gamma, no beta"),
        ("cube1", "cube", "stats1", "BatchNorm1d(3, affine=False)"),
    ]
    assert [panel["z"] for panel in data["panels"] if panel["row"] != "cube"] == [None] * 4


@given(layers_that_fit() | norms())
def test_each_layer_has_its_own_groups(drawn):
    layer, shape = drawn
    try:
        one = describe(layer, shape)
    except NormvizError:  # one value has no spread
        reject()
    other = describe(Norm(f"{' '.join(one.axes)} ->", ""), shape)
    data = plain(compare_payload([one, other, one], whole(one)))
    for number, e in enumerate((one, other, one)):
        for row, ids in (("stats", e.stat_ids), ("params", e.param_ids)):
            sharing = data["sharings"][f"{row}{number}"]
            assert (sharing is None) == (ids is None)
            if ids is not None:
                assert ids_of(sharing, whole(one)) == whole(one).take(ids).tolist()
    used = {panel["links"] for panel in data["panels"]} - {""}
    assert used == {name for name, sharing in data["sharings"].items() if sharing}


def test_the_parameters_of_rms_norm_are_titled_gamma():
    e = explain("RMSNorm(3)", (2, 3))
    assert compare_payload([e, e], whole(e)).panels[1].title == "RMSNorm([3]): gamma"


def test_a_comparison_of_a_large_tensor():
    scene = read({"shape": "2,64,4,4", "from": "0,40,0,0"}).scene
    comparison = compare(["BatchNorm2d(64)", "GroupNorm(32, 64)"], scene.shape, scene.layout).descriptions
    data = plain(compare_payload(comparison, scene.grid, at=scene.at))
    assert data["grid"]["indices"][1] == [40, 41, 42, 63]
    batch, group = (np.array(ids_of(data["sharings"][name], scene.grid))[:, :, 0, 0] for name in ("stats0", "stats1"))
    assert batch.tolist() == [[40, 41, 42, 63]] * 2
    assert group.tolist() == [[20, 20, 21, 31], [52, 52, 53, 63]]


# In every layout each element is one brick of the cube.

LAYOUTS = [
    ("ND", (2, 3)), ("NLC", (2, 3, 4)), ("NCL", (2, 3, 4)), ("LNC", (2, 3, 4)), ("NCHW", (2, 3, 2, 2)), ("NHWC", (2, 3, 2, 2)),
    ("NCDHW", (2, 3, 2, 2, 2)), ("D", (5,)), ("CL", (3, 4)), ("CHW", (3, 2, 2)), ("XYZ", (2, 3, 4)), ("N", (4,)),
]  # fmt: skip


@pytest.mark.parametrize(("layout", "shape"), LAYOUTS)
def test_each_element_has_its_brick_in_the_cube(layout, shape):
    names = " ".join(layout.lower())
    e = describe(Norm(f"{names} ->"), shape, layout=layout)
    data = plain(compare_payload([e, e], whole(e)))
    indices = [list(index) for index in product(*map(range, shape))]
    script = """(() => {
      const cube = Object.assign(Object.create(Cube.prototype), {cache: new Map(), title: {}}); cube.set(args[0].panels.find(({row}) => row === "cube"), args[0]);
      return {sizes: cube.figure.box.whole, names: cube.figure.box.names, places: args[1].map(index => cube.place(index)),
              back: args[1].map(index => { const at = cube.place(index); return cube.indexOf(at.n, at.c, at.s); })};
    })()"""
    found = evaluate(script, data, indices)
    assert found["back"] == indices
    assert len({tuple(place.values()) for place in found["places"]}) == len(indices) == np.prod(found["sizes"])
    channel = next((axis for axis in "CD" if axis in layout), "")
    rest = [axis for axis in layout if axis not in ("N", channel)]
    assert found["names"] == ["N" if "N" in layout else "", channel, "·".join(rest)]


# Step by step


def test_the_steps_of_a_matrix():
    e = explain("LayerNorm(3)", MATRIX)
    data = plain(steps_payload(e, whole(e), step=3, at=(0, 2)))
    assert (data["kind"], data["step"], data["at"]) == ("steps", 3, [0, 2])
    assert [panel["key"] for panel in data["panels"]] == [
        "x",
        "mean",
        "centered",
        "squared",
        "var",
        "normalized",
        "output",
    ]
    drawn = {panel["key"]: unpacked(panel["z"]) for panel in data["panels"]}
    assert drawn["mean"].tolist() == [[3, 3, 3], [4, 4, 4]]
    assert drawn["centered"].tolist() == [[-2, -1, 3], [0, 0, 0]]
    assert drawn["squared"].tolist() == [[4, 1, 9], [0, 0, 0]]
    assert {panel["links"] for panel in data["panels"][:-1]} == {"stats"}
    assert data["panels"][-1]["links"] == "params"
    assert "".join(token["text"] for token in data["formula"]) == "y = (x − mean) / √(var + eps) · gamma + beta"
    assert data["loops"]["code"] == e.code("loops")
    assert [axis["name"] for axis in data["loops"]["runs"]] == ["d"]


@pytest.mark.parametrize(
    ("layer", "last"), [("LayerNorm(3)", 6), ("RMSNorm(3)", 4), ("LayerNorm(3, elementwise_affine=False)", 5)]
)
def test_a_step_beyond_the_last_becomes_the_last(layer, last):
    e = explain(layer, MATRIX)
    assert [steps_payload(e, whole(e), step=step).step for step in (-5, 0, 6, 10**9)] == [0, 0, last, last]


@given(layers_that_fit() | norms())
def test_every_step_has_the_shape_of_x(drawn):
    layer, shape = drawn
    try:
        e = explained(layer, shape, 0)
    except NormvizError:  # one value has no spread
        reject()
    data, drawing = plain(steps_payload(e, whole(e))), whole(e)
    for panel, step in zip(data["panels"], steps(e), strict=True):
        np.testing.assert_array_equal(unpacked(panel["z"]), drawing.take(step.values.float().expand(shape).numpy()))
        assert panel["why"]
        assert panel["links"] == "stats" or data[panel["links"]] is not None
    lit = {step for token in data["formula"] for step in token["steps"]}
    assert {panel["key"] for panel in data["panels"]} <= lit


EXTREME = [
    {"shape": "2,3", "layer": "LayerNorm(3,eps=0)", "values": "1,1,1,2,2,2"},  # 0 / 0
    {"shape": "2,3", "layer": "RMSNorm(3,eps=0)", "values": "0,0,0,0,0,0"},
    {"shape": "2,2", "layer": "RMSNorm(2,eps=-8)", "values": "0,4,1,3"},  # 4 / 0 and the root of a negative number
    {"shape": "2,3", "values": "1e12,-1e12,1e12,-1e12,0,1e-30"},
    {"shape": "1"},
    {"layer": "BatchNorm2d(3,eps=0).eval()"},
    {"shape": "64,64,16,16", "layer": "GroupNorm(32,64)"},
    {"shape": "2,4", "layer": "Norm('n (g k) -> k','g',sizes={'g':2})"},
]


@pytest.mark.parametrize("query", EXTREME, ids=lambda query: "&".join(query.values()))
def test_extreme_numbers_are_still_strict_json(query):
    scene = read(query).scene
    e = scene.description
    data = plain(steps_payload(e, scene.grid, at=scene.at))
    nonsense = torch.where(torch.arange(e.x.numel()).reshape(e.shape) % 2 == 0, torch.nan, torch.inf)
    shown = [
        PanelValues("a", "a", "", e.x),
        PanelValues("b", "b", "", nonsense),
        PanelValues("c", "c", "", torch.zeros(e.shape), "params"),
    ]
    data_of_values = plain(values_payload(e, scene.grid, shown, at=scene.at))
    for panel in (*data["panels"], *data_of_values["panels"]):
        assert panel["low"] == -panel["high"] < 0 < panel["high"]


# Values


def test_values_side_by_side():
    e = explain("LayerNorm(3)", MATRIX)
    shown = [PanelValues("train", "train()", "in training", MATRIX), PanelValues("gap", "gap", "", -MATRIX, "", 2.0)]
    data = plain(values_payload(e, whole(e), shown, name="J", at=(0, 1)))
    assert (data["kind"], data["name"], data["at"], data["values"]) == ("values", "J", [0, 1], None)
    assert [
        (panel["key"], panel["title"], panel["links"], panel["low"], panel["high"]) for panel in data["panels"]
    ] == [("train", "train()", "stats", -6, 6), ("gap", "gap", "", -2, 2)]
    assert unpacked(data["panels"][1]["z"]).tolist() == (-MATRIX).tolist()
    assert ids_of(data["stats"], whole(e)) == [[0, 0, 0], [1, 1, 1]]


@pytest.mark.parametrize("make", [
    lambda e: compare_payload([e, e], whole(e)), lambda e: steps_payload(e, whole(e)),
    lambda e: values_payload(e, whole(e), [PanelValues("x", "x", "", e.x)]),
    lambda e: chart_payload(chart([line("a", [1], [2], "accent")], "x", "y"), "alt"),
])  # fmt: skip
def test_no_payload_contains_a_color(make):
    data = plain(make(explain("LayerNorm(3)", MATRIX)))
    assert "themes" not in data
    assert not any("scales" in panel for panel in data.get("panels", ()))


def test_the_module_has_a_view_for_every_kind():
    assert evaluate("Object.keys(VIEWS)") == ["view", "compare", "steps", "values", "chart"]


def test_more_groups_than_a_browser_can_number_are_refused():
    e = describe(Norm("n d -> n d"), (2**40, 2**40))
    with pytest.raises(NormvizError, match="groups are too many to number"):
        compare_payload([e, e], whole(e))
