import re
from dataclasses import replace
from urllib.parse import parse_qsl, quote

import numpy as np
import pytest
import torch
from hypothesis import given, reject
from hypothesis import strategies as st

from normviz.analysis.checks import SEEDS
from normviz.analysis.examples import DATA, PARAMETERS, example
from normviz.api.explain import explain
from normviz.layers.axes import layout_text
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.scene.scene import Scene, default_at
from normviz.scene.view import link, read
from normviz.texts.errors import NormvizError
from tests.support.needs import needs_rms_norm
from tests.support.strategies import layers_that_fit, norms


def followed(text):
    return read(dict(parse_qsl(text.removeprefix("?"), keep_blank_values=True, strict_parsing=bool(text))))


DATA_LINKS = [
    # link; data, seed, gamma and beta, x
    ("?shape=2,2&data=counting", "counting", 0, "init", [[0, 1], [2, 3]]),
    ("?shape=2,2&values=1,-2.5,1e3,4", "normal", 0, "init", [[1, -2.5], [1000, 4]]),
    ("?shape=2,2&data=counting&params=index", "counting", 0, "index", [[0, 1], [2, 3]]),
    ("?shape=1,2&data=scales&seed=7", "scales", 7, "init", None),
    ("?shape=1,2&params=random&seed=7", "normal", 7, "random", None),
]


@pytest.mark.parametrize(("given_link", "data", "seed", "params", "x"), DATA_LINKS)
def test_the_numbers_that_a_link_shows(given_link, data, seed, params, x):
    scene = followed(given_link).scene
    assert (scene.data, scene.seed, scene.params) == (data, seed, params)
    shown = scene.description.x
    expected = example(data, scene.shape, scene.axes, seed) if x is None else torch.tensor(x, dtype=torch.float32)
    assert torch.equal(shown, expected)
    assert followed(link(scene.query())).scene == scene


def test_the_default_view_has_an_empty_query():
    default = read({}).scene
    assert default.query() == {}
    assert link(default.query()) == ""
    assert (default.shape, str(default.layer), default.at) == ((2, 4, 3, 5), "LayerNorm([4, 3, 5])", (1, 3, 0, 4))


def test_a_link_is_readable():
    scene = read({"layer": "BatchNorm2d(3)", "data": "counting", "seed": "5", "at": "1,0,0,0"}).scene
    assert link(scene.query()) == "?shape=2,3,4,5&layer=BatchNorm2d(3)&data=counting&seed=5&at=1,0,0,0"
    scene = read({"shape": "2,4", "layer": "Norm('n (g k) -> n g',sizes={'g':2})"}).scene
    assert link(scene.query()) == "?shape=2,4&layer=Norm('n%20(g%20k)%20->%20n%20g',sizes=%7B'g':%202%7D)"


def test_edited_values_are_as_short_as_they_can_be():
    scene = Scene((1, 4), "ND", Layer.make("LayerNorm", 4), values=(0.1 + 0.2, 1e12, -3.0, np.float32(0.13).item()))
    assert scene.query()["values"] == "0.3,1e12,-3,0.13"
    assert "values=0.3,1e12,-3,0.13" in link(scene.query())
    assert followed(link(scene.query())).scene.values == scene.values


DEFAULT_AT = [
    ((6,), "D", (5,)),
    ((2, 6), "ND", (1, 5)),
    ((2, 4, 3), "NLC", (1, 0, 2)),
    ((4, 2, 3), "LNC", (0, 1, 2)),
    ((2, 3, 4, 4), "NCHW", (1, 2, 0, 3)),
    ((2, 4, 4, 3), "NHWC", (1, 0, 3, 2)),
    ((2, 64, 56, 56), "NCHW", (1, 63, 0, 55)),
]


@pytest.mark.parametrize(("shape", "layout", "at"), DEFAULT_AT)
def test_the_last_element_of_the_first_row_is_selected_by_default(shape, layout, at):
    assert default_at(shape, tuple(layout.lower())) == at


def test_the_default_element_is_drawn():
    scene = read({"shape": "2,64,56,56", "from": "0,32,0,0"}).scene
    assert scene.at == (1, 63, 0, 55)
    assert scene.query() == {"shape": "2,64,56,56", "layer": "LayerNorm([64,56,56])", "from": "0,32,0,0"}


def test_a_link_to_an_element_draws_its_slices():
    scene = read({"shape": "2,64,56,56", "at": "1,40,3,3"}).scene
    assert scene.at == (1, 40, 3, 3)
    assert 40 in scene.grid.indices[1]


LAYER_NORM = Layer.make("LayerNorm", [3, 4, 4])
REFUSED = [
    ({"shape": (2,) * 13, "layout": "N" + "".join(f"D{i}" for i in range(12))}, "a view shows at most 12 axes"),
    ({"shape": (2, 3, 4, 5)}, "Given normalized_shape=[3, 4, 4], expected input with shape [*, 3, 4, 4]"),
    ({"layout": "NLC"}, "the layout NLC has rank 3 and x has rank 4"),
    ({"layer": Norm("n c -> n")}, "the pattern 'n c -> n' has rank 2 and x has rank 4"),
    ({"layer": Norm("n c h w -> n"), "layout": "NHWC"}, "layout=NHWC and the pattern 'n c h w -> n' name the axes differently"),
    ({"at": (0, 0, 0, 4)}, "at=(0, 0, 0, 4) is not an element of a tensor of shape (2, 3, 4, 4)"),
    ({"at": (0, 0, 0, -1)}, "at=(0, 0, 0, -1) is not an element"),
    ({"at": (0, 0)}, "at=(0, 0) is not an element"),
    ({"values": (1.0,) * 144, "shape": (3, 3, 4, 4)}, "values has 144 numbers, and the size of x is 144; give one number for each element, for an x of at most 128"),
    ({"values": (1.0,)}, "values has 1 number, and the size of x is 96"),
    ({"values": ()}, "values has 0 numbers, and the size of x is 96"),
    ({"data": "noise"}, "data must be normal, counting, scales or images"),
    ({"params": "ones"}, "params must be init, index or random"),
    ({"start": (0, 0, 0, 1)}, "from=(0, 0, 0, 1) does not name the first slice that is drawn on each axis; give 0,0,0,0 to 0,0,0,0"),
    ({"start": (0, 0)}, "from=(0, 0) does not name the first slice that is drawn on each axis"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "words"), REFUSED)
def test_a_scene_that_is_not_valid_is_refused(fields, words):
    with pytest.raises(NormvizError, match=re.escape(words)):
        Scene(**{"shape": (2, 3, 4, 4), "layout": "NCHW", "layer": LAYER_NORM, **fields})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.1e12, 1e39, 10**400])
def test_values_are_numbers_that_float32_can_square(value):
    with pytest.raises(NormvizError, match=re.escape("values contains a number outside -1e+12 to 1e+12")):
        Scene((1, 2), "ND", Layer.make("LayerNorm", 2), values=(1.0, value))


def test_up_to_128_elements_can_be_edited_the_default_among_them():
    assert read({}).scene.editable
    assert read({"shape": "128"}).scene.editable
    longest = read({"shape": "8,16", "values": ",".join(["-1.23456789e-10"] * 128)})
    assert longest.problem is None
    assert longest.scene.values == (-1.2345679e-10,) * 128
    assert not read({"shape": "129"}).scene.editable


def test_above_2_to_the_20_elements_values_are_computed_where_they_are_needed():
    small, large = read({"shape": "1024,1024"}).scene, read({"shape": "1025,1024"}).scene
    assert small.description.x is not None
    assert not small.description.on_demand
    assert large.description.x is None
    assert list(large.description.on_demand) == ["x", "gamma", "beta"]
    assert large.description.counts.statistics == 1025


def test_gamma_and_beta_are_of_the_chosen_kind():
    e = read({"shape": "1,3", "params": "index", "data": "counting"}).scene.description
    normalized = explain("LayerNorm(3)", torch.tensor([[0.0, 1.0, 2.0]])).trace.normalized
    assert torch.equal(e.trace.output, normalized * torch.arange(3) + torch.arange(3))


@needs_rms_norm
def test_a_layer_without_beta_gets_none():
    scene = read({"shape": "1,3", "layer": "RMSNorm(3)", "params": "random"}).scene
    held = scene.description.layer_values()
    assert held.gamma is not None
    assert held.beta is None


@pytest.mark.parametrize("layer", ["BatchNorm2d(3).eval()", "Norm('n c h w -> c','c',running=True)"])
@pytest.mark.parametrize("params", PARAMETERS)
def test_new_running_statistics_do_not_change_x(layer, params):
    e = read({"layer": layer, "params": params}).scene.description
    torch.testing.assert_close(e.trace.normalized, e.x, rtol=1e-5, atol=0)
    assert e.trace.mean.unique().tolist() == [0]
    assert e.trace.var.unique().tolist() == [1]


@st.composite
def scenes(draw):
    """Any view: every field, every layer of the catalogue, and patterns beyond it."""
    layer, shape = draw(layers_that_fit() | norms() | norms(running=True))
    layout = layout_text(layer.axes) if isinstance(layer, Norm) else draw(layouts(len(shape)))
    fields = {"data": draw(st.sampled_from(list(DATA))), "seed": draw(st.integers(0, SEEDS[-1]))}
    fields["params"] = draw(st.sampled_from(PARAMETERS))
    try:
        scene = Scene(shape, layout, layer, **fields)
    except NormvizError:  # one value has no spread
        reject()
    at = draw(st.none() | st.tuples(*(st.integers(0, size - 1) for size in shape)))
    numbers = st.floats(-(2**39), 2**39, width=32) | st.integers(-9, 9).map(float)
    count = int(np.prod(shape))
    if scene.editable and draw(st.booleans()):
        scene = replace(scene, values=tuple(draw(st.lists(numbers, min_size=count, max_size=count))))
    return replace(scene, at=draw(st.sampled_from([at, default_at(shape, scene.axes)])))


def layouts(rank):
    letters = st.permutations([*"NCDHWLABX", "D1", "X12"]).map(lambda order: "".join(order[:rank]))
    usual = [text for text in ("D", "ND", "NLC", "NCL", "LNC", "NCHW", "NHWC", "NCDHW", "CHW") if len(text) == rank]
    return st.sampled_from(usual) | letters if usual else letters


@given(scenes())
def test_a_scene_reads_back_from_its_query(scene):
    reading = read(scene.query())
    assert reading.problem is None
    assert reading.scene == scene
    assert reading.scene.query() == scene.query()


@given(scenes())
def test_a_link_reads_back_and_has_only_characters_that_a_url_may_have(scene):
    text = link(scene.query())
    assert followed(text).scene == scene
    assert (
        followed(
            f"?{'&'.join(f'{name}={quote(value)}' for name, value in scene.query().items())}" if scene.query() else ""
        ).scene
        == scene
    )
    assert re.fullmatch(r"(\?[A-Za-z0-9,()\[\]=.:'>_%&-]+)?", text)


@given(scenes())
def test_every_scene_has_numbers(scene):
    e = scene.description
    assert tuple(e.trace.output.shape) == scene.shape
    assert e.axes == scene.axes
    if scene.values is not None:
        assert e.x.flatten().tolist() == [np.float32(value) for value in scene.values]


LARGE = st.lists(st.sampled_from([1, 2, 64, 600, 10**5, 2**40]), min_size=1, max_size=5).map(tuple)


@given(LARGE, st.data())
def test_the_drawn_slices_read_back(shape, data):
    scene = read({"shape": ",".join(map(str, shape))}).scene
    room = [size - part for size, part in zip(shape, scene.grid.extent, strict=True)]
    start = tuple(data.draw(st.integers(0, most)) for most in room)
    moved = read({"shape": ",".join(map(str, shape)), "from": ",".join(map(str, start))})
    assert moved.problem is None
    assert moved.scene.grid.start == start
    assert read(moved.scene.query()).scene == moved.scene
    assert all(i in part for i, part in zip(moved.scene.at, moved.scene.grid.indices, strict=True))


def test_a_link_can_select_an_element_that_it_does_not_draw():
    reading = read({"shape": "2,64,56,56", "from": "0,0,0,0", "at": "1,40,3,3"})
    assert (reading.problem, reading.scene.grid.start) == (None, (0, 0, 0, 0))
    assert read(reading.scene.query()).scene == reading.scene


def test_a_link_made_when_more_was_drawn_shows_the_last_slices():
    reading = read({"shape": "2,64,4,4", "from": "0,62,0,0"})
    assert (reading.problem, reading.scene.grid.indices[1]) == (None, (60, 61, 62, 63))
