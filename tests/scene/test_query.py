import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import normviz.lessons.pages  # noqa: F401 - declares the settings of all pages
from normviz.analysis.sentences import sentence
from normviz.lessons.pages import names_of_links
from normviz.scene.edits import repair
from normviz.scene.scene import SCENE_SETTINGS, Scene
from normviz.scene.view import DISPLAY_SETTINGS, link, read, read_view
from tests.support.cases import case

GOOD = {
    "shape": "2,4,2,2",
    "layout": "NCHW",
    "layer": "GroupNorm(2,4)",
    "data": "counting",
    "seed": "3",
    "values": ",".join(map(str, range(32))),
    "params": "index",
    "at": "0,1,0,1",
    "from": "0,0,0,0",
}

NO_NUMBERS = "is not a list of numbers; write "
NO_SIZE = "has a size below 1 or above 1,099,511,627,776; write shape=2,4,3,5."
UNREADABLE = [
    # parameter, texts that cannot be read, words of the message
    ("shape", ["", ",", "a", "2,,3", "2 3", "2.5", "1e3", "nan", "2,3\x00", "<script>", "²", "0x4"], f"shape='{{}}' {NO_NUMBERS}shape=2,4,3,5."),
    ("shape", ["0", "2,0", "-2,3", "1099511627777", "9" * 50], f"shape='{{}}' {NO_SIZE}"),
    ("layout", ["", "?", "N-C", "12", "é", "NC HW", "<b>"], "'{}' is not a layout; write one letter for each axis, as in 'NCHW' or 'NLC'."),
    ("layout", ["NNHW"], "the layout {} names an axis twice; use each letter once, or add digits, as in 'ND1D2'."),
    ("layer", ["", "x", "import os", "GroupNorm(2,4); 1", "\x00"], "'{}' is not a layer; write a constructor with literals, as in LayerNorm([3, 4, 4])"),
    ("layer", ["GroupNorm(2, x)", "GroupNorm(2, 2+2)", "LayerNorm(*[4])"], "'{}' has an argument that is not a literal"),
    ("layer", ["Conv2d(2, 4, 3)"], "'Conv2d' is not a layer of the catalogue"),
    ("layer", ["GroupNorm"], "GroupNorm needs num_groups, as in GroupNorm(2, 4)."),
    ("layer", ["GroupNorm(2)"], "GroupNorm needs num_channels, as in GroupNorm(2, 4)."),
    ("layer", ["GroupNorm(0, 4)"], "num_groups=0 must be a whole number of at least 1."),
    ("layer", ["GroupNorm(2, 4, eps=1e999)"], "eps=inf must be a finite number, such as 1e-5."),
    ("layer", ["Norm('n -> c')"], "'-> c' names 'c', which is not an axis of x; its axes are n."),
    ("data", ["", "Normal", "noise", "normal\x00", "<script>"], "data='{}' is unknown; choose normal, counting, scales or images."),
    ("params", ["", "ones", "INIT"], "params='{}' is unknown; choose init, index or random."),
    ("seed", ["", "abc", "1.5", "1,2", "1 2", "nan", "-1", "2147483648", "9" * 40], "seed='{}' must be a whole number from 0 to 2,147,483,647."),
    ("values", ["", "a", "1,,2", "1;2", "0x1", "1e", "one"], f"values='{{}}' {NO_NUMBERS}values=1,2,3.5."),
    ("values", ["1," * 129], "the list values has length 129; the limit is 128."),
    ("values", ["1.000000000000000000" + ",1.000000000000000000" * 127], "is too long; use at most 2048 characters."),
    ("at", ["", "x", "0,0,0,0.5", "0 1 0 1", "[0,1,0,1]", "None!"], f"at='{{}}' {NO_NUMBERS}at=1,2,0,3."),
    ("from", ["", "x", "0,0,0,0.5", "[0,0,0,0]"], f"from='{{}}' {NO_NUMBERS}from=0,8,0,0."),
]  # fmt: skip
UNREADABLE_ONE_BY_ONE = [(name, value, words.format(value)) for name, values, words in UNREADABLE for value in values]


@pytest.mark.parametrize(("name", "value", "words"), UNREADABLE_ONE_BY_ONE)
def test_a_value_that_cannot_be_read_is_left_out(name, value, words):
    reading = read(GOOD | {name: value})
    assert shown(words) in reading.problem
    assert reading.scene == read({other: text for other, text in GOOD.items() if other != name}).scene


def shown(words):
    return words.replace("\x00", r"\x00")


def test_the_query_that_the_tests_change_is_valid():
    assert read(GOOD).problem is None
    assert read(GOOD).scene.at == (0, 1, 0, 1)


MISFITS = [
    # a value that does not fit, words of the message, the repaired value; the rest stays
    ({"at": "0,1,0,2"}, "at=(0, 1, 0, 2) is not an element of a tensor of shape (2, 4, 2, 2); the indices start at 0.", {"at": "0,1,0,1"}),  # moved in
    ({"at": "0,-1,0,0"}, "at=(0, -1, 0, 0) is not an element", {"at": "0,0,0,0"}),
    ({"at": "0,1"}, "at=(0, 1) is not an element", {"at": None}),
    ({"at": f"{10**30},0,0,0"}, "is not an element", {"at": "1,0,0,0"}),
    ({"from": "0,1,0,0"}, "from=(0, 1, 0, 0) does not name the first slice that is drawn", {"from": None}),
    ({"from": "1"}, "from=(1,) does not name the first slice that is drawn", {"from": None}),
    ({"values": "1,2"}, "values has 2 numbers, and the size of x is 32; give one number for each element", {"values": None}),
    ({"values": "nan" + ",1" * 31}, "values contains a number outside -1e+12 to 1e+12", {"values": None}),
    ({"values": "-inf" + ",1" * 31}, "values contains a number outside -1e+12", {"values": None}),
    ({"values": "1e13" + ",1" * 31}, "values contains a number outside -1e+12 to 1e+12", {"values": None}),
    ({"layout": "NLC"}, "the layout NLC has rank 3 and x has rank 4", {"layout": None}),
    ({"layer": "GroupNorm(3,4)"}, "num_groups must be 1, 2 or 4", {"layer": "GroupNorm(2,4)"}),
    ({"layer": "GroupNorm(3,6)"}, "Write num_channels=4", {"layer": "GroupNorm(2,4)"}),
    ({"layer": "BatchNorm2d(3)"}, "running_mean should contain 4 elements not 3", {"layer": "BatchNorm2d(4)"}),
    ({"layer": "BatchNorm1d(4)"}, "For this x use BatchNorm2d.", {"layer": "BatchNorm2d(4)"}),
    ({"layer": "BatchNorm3d(4,eps=0.5)"}, "For this x use BatchNorm2d.", {"layer": "BatchNorm2d(4,eps=0.5)"}),
    ({"layer": "LayerNorm([3,4,4])"}, "normalized_shape must be the last sizes of x", {"layer": "LayerNorm([4,2,2])"}),
    ({"layer": "LayerNorm(7).eval()"}, "normalized_shape must be the last sizes", {"layer": "LayerNorm(2).eval()"}),
    ({"layer": "LayerNorm(4)"}, "Axis 1 has size 4: to normalize over it", {"layer": "ChannelsFirstLayerNorm(4,eps=1e-5)"}),
    ({"layer": "layernorm(2)"}, "Did you mean LayerNorm?", {"layer": "LayerNorm(2)"}),
    ({"layer": "DimNorm(9,dim=1)"}, "num_features=9, and axis 3 of x, its channel axis, has size 2", {"layer": "DimNorm(2,dim=1)"}),
    ({"layer": "DimNorm(2,dim=4)"}, "dim=4 is not an axis of a tensor of rank 4", {"layer": "DimNorm(2,dim=-1)"}),
    ({"layer": "Norm('n c -> n')"}, "the pattern 'n c -> n' has rank 2 and x has rank 4", {"layer": None}),
    ({"layer": "Norm('n h w c -> n')"}, "name the axes differently", {"layer": "Norm('n h w c -> n')", "layout": None}),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "words", "repaired"), MISFITS)
def test_a_value_that_does_not_fit_is_repaired(wrong, words, repaired):
    reading = read(GOOD | wrong)
    assert words in reading.problem
    expected = read({name: text for name, text in (GOOD | repaired).items() if text is not None})
    assert expected.problem is None
    assert reading.scene == expected.scene


ONE_VALUE = [
    # a shape on which every mean has one value, the layer, the nearest shape with more
    ("1,3", "BatchNorm1d(3)", (2, 3)),
    ("1,3,1", "BatchNorm1d(3)", (2, 3, 1)),
    ("1,3,1,1", "BatchNorm2d(3)", (2, 3, 1, 1)),
    ("1,1,1,1", "BatchNorm2d(1)", (2, 1, 1, 1)),
    ("2,3,1,1", "InstanceNorm2d(3)", (2, 3, 2, 1)),
    ("3,1", "InstanceNorm1d(3)", (3, 2)),
    ("1,4,1,1", "GroupNorm(4,4)", (2, 4, 1, 1)),
]


@pytest.mark.parametrize(("shape", "layer", "nearest_shape"), ONE_VALUE)
def test_if_every_mean_has_one_value_one_axis_is_enlarged(shape, layer, nearest_shape):
    reading = read({"shape": shape, "layer": layer, "seed": "4"})
    assert "Expected more than 1" in reading.problem
    assert (reading.scene.shape, str(reading.scene.layer).replace(", ", ",")) == (nearest_shape, layer)
    assert reading.scene.seed == 4


def test_the_first_of_several_errors_is_shown_and_all_are_repaired():
    reading = read(GOOD | {"layer": "GroupNorm(3,6)", "at": "9,9,9,9", "values": "1", "seed": "x"})
    assert reading.problem.startswith("seed='x' must be a whole number")
    expected = {name: text for name, text in GOOD.items() if name not in ("seed", "values")}
    assert reading.scene == read(expected | {"at": "1,3,1,1"}).scene


def test_a_shape_of_too_many_axes_keeps_the_layer():
    reading = read({"shape": ",".join("2" * 13), "layer": "GroupNorm(3,6)", "data": "images"})
    assert "a view shows at most 12 axes, and this x has 13; give fewer." in reading.problem
    assert (reading.scene.shape, str(reading.scene.layer), reading.scene.data) == (
        (2, 6, 3, 5),
        "GroupNorm(3, 6)",
        "images",
    )


def test_an_axis_of_a_view_has_one_letter():
    reading = read({"shape": "2,3", "layer": "Norm('batch feature -> batch')"})
    assert "names each axis by one letter" in reading.problem
    assert reading.scene.shape == (2, 3)


def test_unknown_names_are_ignored():
    assert read(GOOD | {"embed": "true", "utm_source": "<script>"}) == read(GOOD)


UNKNOWN = [
    ("shap", "2,3", "'shap' is not a setting of a link. Did you mean shape?"),
    ("Layer", "LayerNorm(4)", "'Layer' is not a setting of a link. Did you mean layer?"),
    ("<b>", "x", "'<b>' is not a setting of a link; leave it out."),
]


@pytest.mark.parametrize(("name", "value", "message"), UNKNOWN)
def test_a_link_with_an_unknown_name_gives_a_message_and_the_rest_of_the_view(name, value, message):
    view = read_view(GOOD | {name: value}, (), names_of_links())
    assert view.problem == message
    assert view.scene == read(GOOD).scene


@pytest.mark.parametrize("name", ["embed", "embed_options", "utm_source", "fbclid", "step", "layers", "stop", "v"])
def test_names_of_other_pages_and_what_others_append_to_links_give_no_message(name):
    assert read_view({name: "1"}, (), names_of_links()).problem is None


def test_a_pattern_names_its_own_layout():
    reading = read({"shape": "2,3", "layer": "Norm('a b1 -> a','b1')"})
    assert reading.problem is None
    assert reading.scene.axes == ("a", "b1")


HOSTILE = [
    "", " ", ",", ",,,", "," * 5000, "(" * 3000, "[" * 3000, "-1", "0", "00", "+1", "1_000", "2,3", "1e400", "-1e400",
    "nan", "NaN,nan", "inf", "-inf", "٣,٤", "１２", "²", "½", "ß", "İ", "ſ", "\x00", "2,3\x00", "\ud800", "\n", "\u202e",
    "None", "none", "True", "<script>alert(1)</script>", "'; DROP TABLE scenes; --", "{{7*7}}", "%00", "../../etc/passwd",
    str(10**30), str(-(10**30)), f"{10**30},{10**30}", "9" * 5000, "1." + "1" * 5000, "a" * 100_000, "1," * 100_000,
    ",".join("1" * 64), ",".join("2" * 13), ",".join(["1099511627776"] * 12), ",".join(["1099511627776"] * 64),
    "LayerNorm(" * 300, "LayerNorm([" + "[" * 400, "Norm('" + "n " * 200 + "->')", "Norm(None)", "Norm('a->', sizes={'a':0})",
    "Norm('(a b) -> a', sizes={'a': 3})", "LayerNorm(10**9)", f"LayerNorm({10**30})", "LayerNorm([0])", "GroupNorm(2.0,4)",
    "BatchNorm2d(3).eval().eval()", "BatchNorm2d(True)", "RMSNorm(4,eps=nan)", "__import__('os').system('true')", "(lambda: 1)()",
    "Norm('n c h w -> c','c',running=True)", "Norm('->')", "Norm('n d -> n','d',eps=1e308)", "GroupNorm(1099511627776,1099511627776)",
]  # fmt: skip


@pytest.mark.parametrize("name", list(SCENE_SETTINGS))
def test_hostile_values_give_a_short_message_and_a_valid_view(name):
    for value in HOSTILE:
        with case(value):
            check(read({name: value}))
            check(read(GOOD | {name: value}))


@pytest.mark.parametrize("name", [setting.name for setting in DISPLAY_SETTINGS])
def test_hostile_values_of_the_display_give_a_short_message_and_a_link(name):
    for value in (*HOSTILE, f"LayerNorm(3) on {'9' * 5000}"):
        with case(value):
            view = read_view({name: value}, (), names_of_links())
            assert len(view.problem or "") < 700
            assert link(view.query(())).isascii()


def check(reading):
    """A reading has at most one readable message, and a view that has a sentence and a link."""
    scene = reading.scene
    assert isinstance(scene, Scene)
    assert read(scene.query()) == type(reading)(scene)
    assert all(drawn[-1] < size for drawn, size in zip(scene.grid.indices, scene.shape, strict=True))
    assert sentence(scene.shape_description)
    if reading.problem is not None:
        assert 20 < len(reading.problem) < 700
        assert "\n" not in reading.problem
        assert re.search(r"[.)]$|\w$", reading.problem)


PIECES = st.sampled_from([*HOSTILE[:50], *GOOD.values()]) | st.text(max_size=40) | st.integers(-9, 10**40).map(str)
NUMBERS = st.lists(st.integers(-2, 9) | st.integers(-(10**30), 10**30), max_size=14).map(
    lambda all_: ",".join(map(str, all_))
)
LAYERS = st.builds(
    "{}({}{}){}".format,
    st.sampled_from(["LayerNorm", "RMSNorm", "BatchNorm1d", "BatchNorm2d", "SyncBatchNorm", "InstanceNorm1d", "GroupNorm", "DimNorm", "nn.X"]),
    NUMBERS,
    st.sampled_from(["", ",eps=0", ",affine=False", ",bias=False", ",track_running_stats=True", ",dim=-7", ",momentum=2"]),
    st.sampled_from(["", ".eval()", ".train()", ".x()"]),
)  # fmt: skip
LAYOUTS = st.text("ncdhwlgkNCHW12", max_size=14)


@settings(max_examples=4 * settings.default.max_examples)
@given(st.dictionaries(st.sampled_from([*SCENE_SETTINGS, "embed"]), PIECES | NUMBERS | LAYERS | LAYOUTS))
def test_any_query_gives_a_valid_view(query):
    check(read(query))


@settings(max_examples=4 * settings.default.max_examples)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "shape": NUMBERS,
            "layout": LAYOUTS,
            "layer": LAYERS,
            "at": NUMBERS,
            "from": NUMBERS,
            "values": NUMBERS,
        },
    )
)
def test_any_query_of_plausible_values_gives_a_valid_view(query):
    check(read(query))


def test_an_empty_query_is_the_default_view():
    assert repair() == read({})
    assert repair().problem is None


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ({"layout": "B", "layer": "BatchNorm1d(1)"}, ("BatchNorm1d(1)", (2, 1, 5))),
        ({"layer": "GroupNorm(2,3)"}, ("GroupNorm(2, 4)", (2, 4, 3, 5))),
        ({"layer": "GroupNorm(2,6)"}, ("GroupNorm(2, 6)", (2, 6, 3, 5))),
    ],
)
def test_a_layer_without_a_shape_is_shown_on_an_example_or_the_nearest_layer_is(query, wanted):
    scene = read(query).scene
    assert (str(scene.layer), scene.shape) == wanted
