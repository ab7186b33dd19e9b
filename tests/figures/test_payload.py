import json
from base64 import b64decode
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, reject
from hypothesis import strategies as st

from normviz import explain
from normviz.analysis.description import describe
from normviz.figures import payload, wire
from normviz.figures.palette import GROUP_COLORS, THEMES, stops
from normviz.figures.plotly_figure import group_ids
from normviz.layers.norm import Norm
from normviz.scene.grid import MOST_COLUMNS, MOST_ROWS, grid
from normviz.scene.view import read
from normviz.texts.errors import NormvizError
from tests.support.javascript import evaluate
from tests.support.needs import cases_in_torch
from tests.support.strategies import explained, layers_that_fit, norms


def sent(e, start=(), **more):
    """The payload as the browser gets it: strict JSON."""
    return json.loads(
        json.dumps(wire.sent(payload.view_payload(e, grid(e.shape, e.axes, start), **more)), allow_nan=False)
    )


def unpacked(array):
    """The numbers of an array as the browser gets them."""
    packed = wire.sent(array)
    return np.frombuffer(b64decode(packed["data"]), "<f4").reshape(packed["shape"])


def of_scene(**query):
    scene = read(query).scene
    return scene, sent(scene.description, scene.start, at=scene.at, editable=scene.editable)


def test_layer_norm_on_a_matrix():
    x = torch.tensor([[1.0, 2.0, 6.0], [4.0, 4.0, 4.0]])
    data = sent(explain("LayerNorm(3)", x), at=(1, 2), editable=True)
    assert data["axes"] == ["n", "d"]
    drawing = {"facets": [], "row": 0, "col": 1, "indices": [[0, 1], [0, 1, 2]], "across": 1}
    assert data["grid"] == drawing | {"shape": [2, 3]}
    assert data["layer"] == "LayerNorm([3])"
    assert data["stats"] == {
        "count": 2,
        "size": 3,
        "axes": [{"name": "n", "axis": 0, "divide": 1, "modulo": 2}],
        "center": True,
        "running": False,
    }
    assert data["params"] == {
        "axes": [{"name": "d", "axis": 1, "divide": 1, "modulo": 3}],
        "bias": True,
        "zero_centered_gamma": False,
        "size": 2,
    }
    assert [panel["key"] for panel in data["panels"]] == ["stats", "params", "x", "normalized", "output"]
    assert unpacked(data["panels"][2]["z"]).tolist() == x.tolist()
    assert unpacked(data["values"]["mean"]).tolist() == [[3], [4]]
    np.testing.assert_allclose(unpacked(data["values"]["var"]), [[14 / 3], [0]], rtol=1e-6)
    moments = {stage: (unpacked(one["mean"]).tolist(), unpacked(one["var"])) for stage, one in data["moments"].items()}
    assert {stage: mean for stage, (mean, _) in moments.items()} == {
        "x": [[3], [4]], "centered": [[0], [0]], "normalized": [[0], [0]], "output": [[0], [0]],
    }  # fmt: skip
    np.testing.assert_allclose(moments["normalized"][1], [[1 - 1e-5 / (14 / 3 + 1e-5)], [0]], rtol=1e-6)
    assert unpacked(data["values"]["gamma"]).tolist() == [[1, 1, 1]]
    assert unpacked(data["values"]["beta"]).tolist() == [[0, 0, 0]]
    assert data["values"]["eps"] == 1e-5
    assert (data["at"], data["editable"]) == ([1, 2], True)


def test_a_shape_alone_has_no_values():
    data = sent(explain("LayerNorm(3)", (2, 3)))
    assert data["values"] is None
    assert [panel["key"] for panel in data["panels"]] == ["stats", "params"]
    assert data["at"] is None


def test_without_gamma_there_are_no_parameters():
    data = sent(explain("InstanceNorm2d(3)", torch.zeros(2, 3, 4, 4)))
    assert data["params"] is None
    assert set(data["values"]) == {"mean", "var", "eps"}
    assert data["facts"][2] == {"label": "parameters", "value": "0", "note": ""}


FACTS = [
    ("LayerNorm([3, 4, 4])", ["2", "48", "48 + 48 = 96", "0"], "gamma (3, 4, 4) + beta (3, 4, 4)"),
    ("LayerNorm(4, bias=False)", ["24", "4", "4", "0"], "gamma (4,)"),
    ("RMSNorm(4)", ["24", "4", "4", "0"], "gamma (4,)"),
    ("BatchNorm2d(3)", ["3", "32", "3 + 3 = 6", "7"], "gamma (3,) + beta (3,)"),
    ("InstanceNorm2d(3)", ["6", "16", "0", "0"], ""),
    (Norm("n c h w ->", ""), ["1", "96", "1 + 1 = 2", "0"], "gamma () + beta ()"),
]


@pytest.mark.parametrize(("layer", "values", "made"), FACTS)
def test_the_counts_and_their_notes(layer, values, made):
    counted = sent(explain(layer, (2, 3, 4, 4)))["facts"]
    pair = "mean squares" if layer == "RMSNorm(4)" else "(mean, variance) pairs"
    assert [one["label"] for one in counted] == [pair, "elements in each group", "parameters", "buffers"]
    assert [one["value"] for one in counted] == values
    assert counted[2]["note"] == made
    tracked = values[3] != "0"
    assert counted[3]["note"] == (
        "running_mean, running_var, num_batches_tracked" if tracked else "no running statistics"
    )


def test_counts_are_of_the_whole_tensor_although_only_a_window_is_drawn():
    _, data = of_scene(shape="100000,100000,100000", layer="LayerNorm([100000,100000])")
    assert [one["value"].split(" = ")[-1] for one in data["facts"]] == [
        "100,000",
        "10,000,000,000",
        "20,000,000,000",
        "0",
    ]
    assert np.prod([len(drawn) for drawn in data["grid"]["indices"]]) <= MOST_COLUMNS * MOST_ROWS


EXTREME = [
    {"shape": "2,3", "layer": "LayerNorm(3,eps=0)", "values": "1,1,1,2,2,2"},  # 0 / 0
    {"shape": "2,3", "layer": "RMSNorm(3,eps=0)", "values": "0,0,0,0,0,0", "params": "random"},
    {"shape": "2,3", "layer": "GroupNorm(1,3,eps=0)", "values": "5,5,5,5,5,5", "params": "index"},
    {"shape": "2,2", "layer": "RMSNorm(2,eps=-8)", "values": "0,4,1,3"},  # 4 / 0 and the root of a negative number
    {"shape": "2,3", "values": "1e12,-1e12,1e12,-1e12,0,1e-30"},
    {"shape": "2,3", "layer": "LayerNorm(3,eps=1e308)"},
    {"shape": "2,3", "layer": "LayerNorm(3,eps=1e-320)"},
    {"shape": "1", "layer": "LayerNorm(1)"},
    {"shape": "1,1,1,1,1,1,1,1,1,1,1,1"},
    {"layer": "BatchNorm2d(3,eps=0).eval()"},
    {"shape": "64,64,16,16", "layer": "GroupNorm(32,64)"},
    {"shape": "1099511627776", "layer": "LayerNorm([1099511627776])", "from": "1099511627000", "at": "1099511627500"},
    {
        "shape": "94906265,94906265",
        "layer": "Norm('n d -> n d','n d')",
        "from": "94906000,94906000",
    },  # nearly 2^53 groups
    {"layer": "Norm('n c h w -> c','c',running=True)"},
    {"layer": "Norm('n c h w ->','')"},
]


@cases_in_torch
@pytest.mark.parametrize("query", EXTREME, ids=lambda query: "&".join(query.values()))
def test_extreme_values_are_still_strict_json(query):
    scene, data = of_scene(**query)
    assert read(query).problem is None
    assert tuple(data["at"]) == scene.at
    check_tables(scene.shape_description, data)


TABLES = "[args[0].stats, args[0].params].map((sharing) => sharing && tablesOf(sharing.axes, args[0].grid))"


def check_tables(e, data):
    """The browser's table entries of an element sum to its id, and each index of a mean or a gamma follows from its index."""
    window = data["grid"]["indices"]
    corners = list(product(*({0, len(part) // 2, len(part) - 1} for part in window)))
    tables = iter(evaluate(TABLES, {key: data[key] for key in ("stats", "params", "grid")}))
    for sharing, names in ((data["stats"], e.norm.pattern.right), (data["params"], e.norm.gamma_axes)):
        made = next(tables)
        if sharing is None:
            assert made is None
            continue
        assert list(map(len, made)) == list(map(len, window))
        assert [place["name"] for place in sharing["axes"]] == list(names)
        sizes = [place["modulo"] for place in sharing["axes"]]
        for corner in corners[:200]:
            number = 0
            for place, size in zip(sharing["axes"], sizes, strict=True):
                x = window[place["axis"]][corner[place["axis"]]]
                number = number * size + x // place["divide"] % place["modulo"]
            assert number == sum(table[i] for table, i in zip(made, corner, strict=True))


@given(layers_that_fit() | norms(), st.integers(0, 9))
def test_the_groups_are_numbered_in_row_major_order(drawn, seed):
    layer, shape = drawn
    try:
        e = explained(layer, shape, seed)
    except NormvizError:  # one value has no spread
        reject()
    data, drawing = sent(e), grid(e.shape, e.axes)
    for key, ids in (("stats", e.stat_ids), ("params", e.param_ids)):
        assert (data[key] is None) == (ids is None)
        if ids is not None:
            np.testing.assert_array_equal(
                group_ids([payload.NamedAxis(**axis) for axis in data[key]["axes"]], drawing), drawing.take(ids)
            )
    check_tables(e, data)


@given(layers_that_fit() | norms(), st.integers(0, 9))
def test_values_broadcast_to_those_of_each_element(drawn, seed):
    layer, shape = drawn
    try:
        e = explained(layer, shape, seed)
    except NormvizError:  # one value has no spread
        reject()
    values, drawing = sent(e)["values"], grid(e.shape, e.axes)
    for name, wanted in (("mean", e.trace.mean), ("var", e.trace.var)):
        shown = np.broadcast_to(unpacked(values[name]), drawing.extent)
        np.testing.assert_array_equal(shown, drawing.take(wanted.float().expand(shape).numpy()))
    held = e.layer_values()
    for name, parameter in (("gamma", held.gamma), ("beta", held.beta)):
        assert (name in values) == (parameter is not None)
        if parameter is not None:
            met = parameter.flatten()[torch.from_numpy(e.param_ids.copy())]
            shown = np.broadcast_to(unpacked(values[name]), drawing.extent)
            np.testing.assert_array_equal(shown, drawing.take(met.float().numpy()))


WINDOWS = [
    ({"shape": "2,64,56,56", "layer": "GroupNorm(32,64)", "params": "index"}, (0, 41, 0, 0)),
    ({"shape": "2,64,56,56", "layer": "InstanceNorm2d(64,affine=True)", "params": "index"}, (0, 60, 0, 52)),
    ({"shape": "300,200", "layer": "BatchNorm1d(200)", "params": "random"}, (101, 72)),
    ({"shape": "300,200", "layer": "LayerNorm(200)", "params": "random"}, (172, 0)),
    ({"shape": "20,4,700", "layer": "GroupNorm(2,4)", "params": "index"}, (0, 0, 101)),
]


@pytest.mark.parametrize(("query", "start"), WINDOWS)
def test_a_window_has_the_values_of_its_elements(query, start):
    scene, data = of_scene(**query, **{"from": ",".join(map(str, start))})
    e, made = scene.description, scene.grid
    assert data["grid"]["indices"] == [list(drawn) for drawn in made.indices]
    assert made.start == start
    check_tables(e, data)
    for name, wanted in (("mean", e.trace.mean), ("var", e.trace.var)):
        shown = np.broadcast_to(unpacked(data["values"][name]), made.extent)
        np.testing.assert_array_equal(shown, made.take(wanted.expand(scene.shape).numpy()))
    gamma = e.layer_values().gamma.flatten()[torch.from_numpy(e.param_ids.copy())]
    np.testing.assert_array_equal(
        np.broadcast_to(unpacked(data["values"]["gamma"]), made.extent), made.take(gamma.numpy())
    )


def test_a_payload_is_small():
    assert len(json.dumps(of_scene()[1])) < 30_000
    for shape in ("32,40", "2,16,4,4", "8,96,56,56"):
        assert len(json.dumps(of_scene(shape=shape)[1])) < 60_000


def test_ids_are_made_in_the_browser_and_not_sent():
    data = of_scene()[1]
    assert [panel["z"] is None for panel in data["panels"]] == [True, True, False, False, False]


@pytest.mark.parametrize("theme", THEMES)
def test_the_browser_has_the_colors_and_the_scales_of_the_palette(theme):
    colors = THEMES[theme]
    asked = [
        ("none", 0),
        ("cube", 0),
        ("values", 0),
        ("parameters", 3),
        *(("groups", groups) for groups in (*range(1, 19), 500)),
    ]
    found = evaluate(
        "[THEMES[args[0]], args[1].map(([scale, groups]) => colorScale(THEMES[args[0]], scale, groups))]", theme, asked
    )
    scales = [stops(colors, scale if scale != "cube" else "none", groups) for scale, groups in asked]
    assert found == json.loads(json.dumps([vars(colors), scales]))
    for scale in found[1]:
        places = [place for place, _ in scale]
        assert places == sorted(places)
        assert (places[0], places[-1]) == (0, 1)


def test_the_colors_of_many_groups_repeat():
    figure = {"scale": "groups", "groups": 20, "low": -0.5, "high": 19.5}
    colors = evaluate("[1, 15, 17].map((id) => groupColor(THEMES.light, 20, id))")
    light = THEMES["light"]
    assert colors == [light.few[1], light.more[7], light.few[1]]
    shown = evaluate(
        "(({ z, zmin, zmax }) => [z.map((row) => [...row]), zmin, zmax])(shownAs(args[0], [Float32Array.of(0, 17, NaN)]))",
        figure,
    )
    assert shown == [[[0, 1, "gap"]], -0.5, GROUP_COLORS - 0.5]
    figure |= {"groups": 16, "high": 15.5}
    assert evaluate("[shownAs(args[0], []).zmax, placeOnScale(args[0], 0)]", figure) == [15.5, 0.5 / 16]


def test_more_groups_than_a_browser_can_number_are_refused():
    e = describe(Norm("n d -> n d"), (2**40, 2**40))
    with pytest.raises(NormvizError, match="groups are too many to number"):
        sent(e)
