import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normviz import changes
from normviz.catalogue import FAMILIES
from normviz.layers import Layer
from normviz.norm import Norm
from normviz.reading import LARGEST_SEED, read
from normviz.scene import Scene
from normviz.ui.more import LAYOUTS
from tests.fuzz.measure import cost


def scene(link=""):
    reading = read(dict(part.split("=", 1) for part in link.split("&") if part))
    assert reading.problem is None
    return reading.scene


def shown(scene):
    """The tensor and the layer, as in a link."""
    layer = str(scene.layer) if isinstance(scene.layer, Layer) else repr(scene.layer)
    return f"{scene.layout} {scene.shape} {layer}"


def done(reading):
    assert reading.problem is None
    assert read(reading.scene.query()).scene == reading.scene
    return reading.scene


LAYOUT_CHANGES = [
    # from, to: an axis that stays keeps its size
    ("", "ND", "ND (2, 6) LayerNorm([6])"),
    ("", "NLC", "NLC (2, 4, 3) LayerNorm([4, 3])"),
    ("", "NHWC", "NHWC (2, 4, 4, 3) LayerNorm([4, 4, 3])"),
    ("", "NCDHW", "NCDHW (2, 3, 2, 4, 4) LayerNorm([2, 4, 4])"),
    ("", "D", "D (6,) LayerNorm([6])"),
    ("shape=5,7", "NCHW", "NCHW (5, 3, 4, 4) LayerNorm([4])"),
    ("shape=5,7,9", "NCL", "NCL (5, 9, 7) LayerNorm([9, 7])"),
    ("layer=BatchNorm2d(3)", "ND", "ND (2, 6) BatchNorm1d(6)"),
    ("layer=BatchNorm2d(3)", "NLC", "NLC (2, 4, 3) BatchNorm1d(4)"),
    ("layer=InstanceNorm2d(3,affine=True)", "CHW", "CHW (3, 4, 4) InstanceNorm2d(3, affine=True)"),
    ("shape=2,4,3,3&layer=GroupNorm(4,4)", "ND", "ND (2, 6) GroupNorm(3, 6)"),
    ("layer=Norm('n c h w -> n h w','c',eps=0.1)", "NHWC", "NHWC (2, 4, 4, 3) Norm('n h w c -> n h w', 'c', eps=0.1)"),
]  # fmt: skip


@pytest.mark.parametrize(("link", "layout", "wanted"), LAYOUT_CHANGES)
def test_another_layout(link, layout, wanted):
    assert shown(done(changes.with_layout(scene(link), layout))) == wanted


def test_a_layout_that_the_layer_does_not_take_gives_a_layer_norm():
    reading = changes.with_layout(scene("layer=BatchNorm2d(3)"), "D")
    assert "BatchNorm takes an x of rank 2, 3, 4 or 5, and this one has rank 1, D." in reading.problem
    assert shown(reading.scene) == "D (6,) LayerNorm([6])"


def test_a_pattern_is_not_carried_to_other_axes():
    reading = changes.with_layout(scene("layer=Norm('n c h w -> n')"), "NLC")
    assert "the pattern 'n c h w -> n' is not written for NLC; write one for its axes." in reading.problem
    assert shown(reading.scene) == "NLC (2, 4, 3) LayerNorm([4, 3])"


@pytest.mark.parametrize("layout", ["", "N-C", "NN", "1", "<b>", "é", "²"])
def test_what_is_no_layout_changes_nothing(layout):
    reading = changes.with_layout(scene(), layout)
    assert "layout" in reading.problem
    assert reading.scene == scene()


def test_a_layout_of_other_letters_has_small_sizes():
    assert shown(done(changes.with_layout(scene(), "NX1"))) == "NX1 (2, 2) LayerNorm([2])"


SIZE_CHANGES = [
    ("", "c", 5, "NCHW (2, 5, 4, 4) LayerNorm([5, 4, 4])"),
    ("", "n", 1, "NCHW (1, 3, 4, 4) LayerNorm([3, 4, 4])"),
    ("layer=LayerNorm(4)", "w", 7, "NCHW (2, 3, 4, 7) LayerNorm([7])"),
    ("layer=LayerNorm(4)", "h", 7, "NCHW (2, 3, 7, 4) LayerNorm([4])"),
    ("layer=BatchNorm2d(3,eps=0.1).eval()", "c", 1, "NCHW (2, 1, 4, 4) BatchNorm2d(1, eps=0.1).eval()"),
    ("shape=2,4,3,3&layer=GroupNorm(2,4)", "c", 9, "NCHW (2, 9, 3, 3) GroupNorm(1, 9)"),
    ("shape=2,8,3,3&layer=GroupNorm(4,8)", "c", 9, "NCHW (2, 9, 3, 3) GroupNorm(3, 9)"),
    ("shape=2,4,3,3&layer=GroupNorm(2,4)", "h", 9, "NCHW (2, 4, 9, 3) GroupNorm(2, 4)"),
    ("layer=ChannelsFirstLayerNorm(3)", "c", 9, "NCHW (2, 9, 4, 4) ChannelsFirstLayerNorm(9)"),
    ("layer=DimNorm(4,dim=1)&layout=NCHW", "w", 9, "NCHW (2, 3, 4, 9) DimNorm(9, dim=1)"),
    ("layer=Norm('n c h w -> n h w','c',center=False)", "c", 9, "NCHW (2, 9, 4, 4) Norm('n c h w -> n h w', 'c', center=False)"),
    ("", "w", 2**40, "NCHW (2, 3, 4, 1099511627776) LayerNorm([3, 4, 1099511627776])"),
]  # fmt: skip


@pytest.mark.parametrize(("link", "axis", "size", "wanted"), SIZE_CHANGES)
def test_another_size(link, axis, size, wanted):
    assert shown(done(changes.with_size(scene(link), axis, size))) == wanted


@pytest.mark.parametrize("axis", [*"nchw"])
@pytest.mark.parametrize("size", [0, -1, -(2**53), 2**40 + 1, 10**400], ids=lambda size: f"{float(min(size, 2**99)):g}")
def test_what_is_no_size_changes_nothing(axis, size):
    reading = changes.with_size(scene(), axis, size)
    assert "must have 1 to 64 sizes, each from 1 to 1,099,511,627,776." in reading.problem
    assert reading.scene == scene()


@pytest.mark.parametrize(("name", "text"), [("data", "noise"), ("params", "ones")])
def test_what_is_no_choice_changes_nothing(name, text):
    now = scene("shape=641,1,1,1&layer=LayerNorm([1,1,1])")
    found = cost(lambda: changes.with_fields(now, **{name: text}))
    assert f"{name}='{text}' is unknown; choose " in found.answer.problem
    assert found.answer.scene == now
    assert found.calls < 1000


@pytest.mark.parametrize(("text", "params"), [("n -> n; " + "g=1," * 200, "n"), ("n c h w -> n", "c " * 300)])
def test_a_pattern_is_read_up_to_a_length(text, params):
    reading = changes.with_pattern_text(scene(), text, params)
    assert re.search(r"has (808|600) letters; write up to 500, as in ", reading.problem)
    assert reading.scene == scene()


@pytest.mark.parametrize("name", ["training", "num_groups", "dim", "normalized_shape"])
def test_a_choice_that_was_let_go_changes_nothing(name):
    for now in (scene(), scene("layer=BatchNorm2d(3).eval()")):
        assert done(changes.with_arguments(now, **{name: None})) == now
        assert done(changes.with_layout(now, None)) == now


def test_what_is_no_family_changes_nothing():
    reading = changes.with_family(scene(), "BatchNorm2d")
    assert "'BatchNorm2d' is no family of layers; choose LayerNorm, RMSNorm, BatchNorm," in reading.problem
    assert reading.scene == scene()


def test_a_changed_size_keeps_all_that_can_be_kept():
    before = scene("layer=LayerNorm(4)&data=counting&seed=3&params=index&at=1,2,3,3")
    after = done(changes.with_size(before, "h", 2))
    assert (after.data, after.seed, after.params, after.at) == ("counting", 3, "index", (1, 2, 1, 3))
    assert done(changes.with_size(scene("at=none"), "h", 2)).at is None


def test_a_changed_size_keeps_the_selected_element_in_sight():
    before = scene("shape=2,64,56,56&at=1,40,3,3")
    after = done(changes.with_size(before, "w", 3))
    assert after.at == (1, 40, 3, 2)
    assert after.grid.shows(after.at)


def test_edited_values_go_with_the_shape_they_were_for():
    assert done(changes.with_size(scene("shape=1,2&values=3,4"), "d", 3)).values is None


ONE_VALUE = [
    ("shape=2,3&layer=BatchNorm1d(3)", "n", "ND (2, 3) BatchNorm1d(3)"),
    ("shape=2,3,1,1&layer=BatchNorm2d(3)", "n", "NCHW (2, 3, 1, 1) BatchNorm2d(3)"),
    ("shape=1,3,1,2&layer=InstanceNorm2d(3)", "w", "NCHW (1, 3, 2, 1) InstanceNorm2d(3)"),
    ("shape=2,4&layer=GroupNorm(4,4)", "n", "ND (2, 4) GroupNorm(4, 4)"),
]


@pytest.mark.parametrize(("link", "axis", "wanted"), ONE_VALUE)
def test_one_value_per_mean_is_refused_in_torchs_words(link, axis, wanted):
    reading = changes.with_size(scene(link), axis, 1)
    assert re.search(
        r"torch refuses: .Expected more than 1 (value per channel|spatial element) when training", reading.problem
    )
    assert shown(reading.scene) == wanted


def test_running_statistics_take_one_value_per_channel():
    link = "shape=2,3&layer=BatchNorm1d(3).eval()"
    assert shown(done(changes.with_size(scene(link), "n", 1))) == "ND (1, 3) BatchNorm1d(3).eval()"
    reading = changes.with_arguments(scene("shape=1,3&layer=BatchNorm1d(3).eval()"), training=True)
    assert "Expected more than 1 value per channel when training" in reading.problem
    assert shown(reading.scene) == "ND (2, 3) BatchNorm1d(3)"


FAMILY_CHANGES = [
    ("", "RMSNorm", "NCHW (2, 3, 4, 4) RMSNorm([3, 4, 4])"),
    ("", "BatchNorm", "NCHW (2, 3, 4, 4) BatchNorm2d(3)"),
    ("", "SyncBatchNorm", "NCHW (2, 3, 4, 4) SyncBatchNorm(3)"),
    ("", "InstanceNorm", "NCHW (2, 3, 4, 4) InstanceNorm2d(3)"),
    ("", "GroupNorm", "NCHW (2, 3, 4, 4) GroupNorm(1, 3)"),
    ("shape=2,6,4,4", "GroupNorm", "NCHW (2, 6, 4, 4) GroupNorm(2, 6)"),
    ("", "ChannelsFirstLayerNorm", "NCHW (2, 3, 4, 4) ChannelsFirstLayerNorm(3)"),
    ("", "DimNorm", "NCHW (2, 3, 4, 4) DimNorm(4, dim=0)"),
    ("", "Norm", "NCHW (2, 3, 4, 4) Norm('n c h w -> n', 'c h w')"),
    ("layer=BatchNorm2d(3)", "LayerNorm", "NCHW (2, 3, 4, 4) LayerNorm([3, 4, 4])"),
    ("layer=Norm('n c h w -> h')", "BatchNorm", "NCHW (2, 3, 4, 4) BatchNorm2d(3)"),
    ("shape=2,5,3", "BatchNorm", "NLC (2, 5, 3) BatchNorm1d(5)"),
    ("shape=4,4,3&layout=HWC", "InstanceNorm", "HWC (4, 4, 3) InstanceNorm1d(4)"),
    ("shape=3,4,4&layout=CHW", "InstanceNorm", "CHW (3, 4, 4) InstanceNorm2d(3)"),
    ("shape=2,4,4,3&layout=NHWC&layer=GroupNorm(2,4,affine=False)", "Norm", None),
]  # fmt: skip


@pytest.mark.parametrize(("link", "family", "wanted"), FAMILY_CHANGES)
def test_another_layer_on_the_same_tensor(link, family, wanted):
    before = scene(link)
    after = done(changes.with_family(before, family))
    assert after.shape == before.shape
    assert wanted in (None, shown(after))


def test_a_pattern_of_ones_own_starts_as_the_layer_was():
    for link in (
        "layer=BatchNorm2d(3)",
        "shape=2,4,3&layer=GroupNorm(2,4)",
        "shape=2,4,3&layout=NLC&layer=GroupNorm(2,4)",
    ):
        before = scene(link)
        after = done(changes.with_family(before, "Norm"))
        assert after.sharing.norm.stats == before.sharing.norm.stats
        assert after.sharing.counts.parameters == before.sharing.counts.parameters
        assert isinstance(after.layer, Norm)


def test_a_layer_that_does_not_take_the_rank_changes_nothing():
    reading = changes.with_family(scene("shape=6"), "BatchNorm")
    assert "BatchNorm takes an x of rank 2, 3, 4 or 5, and this one has rank 1, D." in reading.problem
    assert reading.scene == scene("shape=6")


def test_a_layer_for_which_x_has_one_value_per_channel_gets_the_nearest_x():
    reading = changes.with_family(scene("shape=1,3"), "BatchNorm")
    assert "Expected more than 1 value per channel" in reading.problem
    assert shown(reading.scene) == "ND (2, 3) BatchNorm1d(3)"


def test_other_arguments():
    assert shown(done(changes.with_arguments(scene(), normalized_shape=[4]))) == "NCHW (2, 3, 4, 4) LayerNorm([4])"
    group_norm = scene("shape=2,4,3&layer=GroupNorm(2,4)")
    assert shown(done(changes.with_arguments(group_norm, num_groups=4))) == "NCL (2, 4, 3) GroupNorm(4, 4)"
    assert (
        shown(done(changes.with_arguments(scene(), bias=False))) == "NCHW (2, 3, 4, 4) LayerNorm([3, 4, 4], bias=False)"
    )


def test_wrong_arguments_change_nothing():
    before = scene("shape=2,4,3&layer=GroupNorm(2,4)")
    reading = changes.with_arguments(before, affine="maybe")
    assert "affine='maybe' must be True or False." in reading.problem
    assert reading.scene == before


def test_a_pattern_has_no_arguments():
    before = scene("layer=Norm('n c h w -> n')")
    assert done(changes.with_arguments(before, training=False)) == before


EPS = [
    # as typed, as told in the layer
    ("1e-3", "LayerNorm([3, 4, 4], eps=0.001)"),
    (" 0.5 ", "LayerNorm([3, 4, 4], eps=0.5)"),
    ("0", "LayerNorm([3, 4, 4], eps=0.0)"),
    ("1e-05", "LayerNorm([3, 4, 4])"),
]


@pytest.mark.parametrize(("text", "layer"), EPS)
def test_eps_as_typed(text, layer):
    assert str(done(changes.with_eps(scene(), text)).layer) == layer


NO_EPS = ["", "x", "1e-5x", "nan", "inf", "-1", "1e400", "None", None, "1,5", "<script>", "9" * 5000]


@pytest.mark.parametrize("text", NO_EPS)
def test_what_is_no_eps_changes_nothing(text):
    reading = changes.with_eps(scene(), text)
    assert reading.problem.startswith("eps=")
    assert len(reading.problem) < 200
    assert reading.scene == scene()


def test_rms_norm_may_have_the_machine_epsilon():
    before = scene("shape=2,6&layer=RMSNorm(6,eps=0.1)")
    assert str(done(changes.with_eps(before, "None")).layer) == "RMSNorm([6])"


PATTERNS = [
    ("n c h w -> n h w", "c", "NCHW (2, 3, 4, 4) Norm('n c h w -> n h w', 'c')"),
    ("n c h w ->", None, "NCHW (2, 3, 4, 4) Norm('n c h w ->')"),
    ("n c h w ->", "", "NCHW (2, 3, 4, 4) Norm('n c h w ->', '')"),
    ("a b c d -> b", "d a", "ABCD (2, 3, 4, 4) Norm('a b c d -> b', 'd a')"),
]


@pytest.mark.parametrize(("stats", "params", "wanted"), PATTERNS)
def test_a_pattern_of_ones_own(stats, params, wanted):
    assert shown(done(changes.with_pattern(scene(), stats, params))) == wanted


def test_a_pattern_may_lose_its_split_axis():
    before = done(changes.with_family(scene("shape=2,4,3&layer=GroupNorm(2,4)"), "Norm"))
    after = done(changes.with_pattern(before, "n c l -> n", "c", dict(before.sharing.norm.sizes)))
    assert shown(after) == "NCL (2, 4, 3) Norm('n c l -> n', 'c')"


def test_a_pattern_keeps_what_it_does_not_speak_of():
    before = scene("layer=Norm('n c h w -> n','c',center=False,eps=0.1,bias=False)")
    after = done(changes.with_pattern(before, "n c h w -> c", "w"))
    assert shown(after) == "NCHW (2, 3, 4, 4) Norm('n c h w -> c', 'w', center=False, eps=0.1, bias=False)"


NO_PATTERNS = [
    ("", "c", "'' is no pattern; write the axes of x, an arrow and the kept axes, as in 'n c h w -> n'."),
    ("n c h w", "c", "is no pattern"),
    ("n c -> n", "c", "the pattern 'n c -> n' names 2 axes and x has 4"),
    ("n c h w -> x", "c", "names 'x', which is no axis of x"),
    ("n c h w -> n", "x", "names 'x', which is no axis of x"),
    ("n (g k) h w -> n g", "c", "the sizes of g and k in (g k) are open"),
    ("batch c h w -> batch", "c", "a view names each axis by one letter, as in 'n c h w -> n'; 'batch' has more."),
    ("<script>", "<b>", "is no pattern"),
    ("n " * 300 + "->", "c", "is no pattern"),
]


@pytest.mark.parametrize(("stats", "params", "words"), NO_PATTERNS)
def test_what_is_no_pattern_changes_nothing(stats, params, words):
    reading = changes.with_pattern(scene(), stats, params)
    assert words in reading.problem
    assert reading.scene == scene()


def test_an_edited_value_stays_and_is_selected():
    before = scene("shape=2,3&data=counting")
    after = done(changes.edited(before, (1, 0), -2.5))
    assert after.values == (0, 1, 2, -2.5, 4, 5)
    assert after.at == (1, 0)
    assert after.explanation.x.tolist() == [[0, 1, 2], [-2.5, 4, 5]]
    twice = done(changes.edited(after, (0, 2), 7))
    assert twice.values == (0, 1, 7, -2.5, 4, 5)


def test_the_other_values_are_those_that_were_shown():
    before = scene("shape=2,3&seed=5")
    after = done(changes.edited(before, (0, 0), 1))
    assert after.explanation.x.flatten()[1:].tolist() == before.explanation.x.flatten()[1:].tolist()
    assert all(len(word) <= 5 for word in after.query()["values"].split(","))


def test_64_elements_can_be_edited_and_65_cannot():
    assert done(changes.edited(scene("shape=8,8"), (7, 7), 1)).values[-1] == 1
    reading = changes.edited(scene("shape=5,13"), (0, 0), 1)
    assert reading.problem == "only tensors of up to 64 elements can be edited; make the tensor smaller."
    assert reading.scene == scene("shape=5,13")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e13, 1e300, 10**400])
def test_a_value_that_is_too_large_changes_nothing(value):
    before = done(changes.edited(scene("shape=2,2"), (0, 0), 5))
    reading = changes.edited(before, (0, 1), value)
    assert reading.problem == "values has a number that is not finite or above 1e+12."
    assert reading.scene == before


@pytest.mark.parametrize("index", [(), (0,), (0, 0, 0), (2, 0), (0, 2), (10**30, 0)])
def test_a_value_of_no_element_changes_nothing(index):
    reading = changes.edited(scene("shape=2,2"), index, 1)
    assert f"index {index} is no element of a tensor of shape (2, 2)" in reading.problem
    assert reading.scene == scene("shape=2,2")


def test_the_window_takes_the_selected_element_along():
    before = scene("shape=2,64,56,56&layer=BatchNorm2d(64)&at=1,1,0,3")
    after = done(changes.with_window(before, 1, 32))
    assert after.grid.window[1] == range(32, 34)
    assert after.at == (1, 33, 0, 3)
    assert done(changes.with_window(after, 1, 0)) == before
    assert done(changes.with_window(scene("shape=2,64,56,56&at=none"), 1, 32)).at is None


@pytest.mark.parametrize(("first", "shown"), [(63, 62), (2**41, 62), (-1, 0)])
def test_a_window_beyond_the_tensor_is_the_last_one(first, shown):
    assert done(changes.with_window(scene("shape=2,64,56,56"), 1, first)).grid.start == (0, shown, 0, 0)


def test_another_selected_element_or_none():
    assert done(changes.selected(scene(), (0, 1, 2, 3))).at == (0, 1, 2, 3)
    assert done(changes.selected(scene(), None)).at is None
    reading = changes.selected(scene(), (0, 1, 2, 4))
    assert "at=(0, 1, 2, 4) is no element" in reading.problem
    assert reading.scene == scene()


FIELDS = [("data", "images"), ("params", "index"), ("seed", 9)]


@pytest.mark.parametrize(("name", "value"), FIELDS)
def test_one_field_changes_and_the_rest_stays(name, value):
    before = scene("layer=BatchNorm2d(3)&at=0,0,0,0")
    after = done(changes.with_fields(before, **{name: value}))
    assert getattr(after, name) == value
    assert changes.with_fields(after, **{name: getattr(before, name)}).scene == before


FLAGS = st.sampled_from(["affine", "elementwise_affine", "bias", "track_running_stats", "training"])
STEPS = st.one_of(
    st.builds(lambda layout: ("with_layout", layout), st.sampled_from([*LAYOUTS, "NHWC", "AB", "ND1D2", "?"])),
    st.builds(lambda axis, size: ("with_size", axis, size), st.sampled_from("ncdhwlz"), st.integers(1, 5) | st.just(2**40)),
    st.builds(lambda family: ("with_family", family), st.sampled_from([*FAMILIES, "Norm"])),
    st.builds(lambda stats, params: ("with_pattern", stats, params), st.sampled_from(["n c h w -> n", "n d ->", "n l c -> c", "x"]), st.sampled_from([None, "", "n", "c"])),
    st.builds(lambda text: ("with_eps", text), st.sampled_from(["0", "0.1", "None", "x"])),
    st.builds(lambda axis, first: ("with_window", axis, first), st.integers(0, 2), st.integers(-1, 2**40)),
    st.builds(lambda at: ("selected", at), st.none() | st.lists(st.integers(-1, 4), max_size=5).map(tuple)),
    st.builds(lambda at, value: ("edited", at, value), st.lists(st.integers(-1, 4), max_size=4).map(tuple), st.floats()),
    st.builds(lambda name, value: ("with_arguments", {name: value}), FLAGS, st.booleans()),
    st.builds(lambda groups: ("with_arguments", {"num_groups": groups}), st.integers(-1, 4)),
    st.builds(lambda seed: ("with_fields", {"seed": seed}), st.integers(0, LARGEST_SEED - 1)),
)  # fmt: skip


@settings(max_examples=3 * settings.default.max_examples)
@given(st.lists(STEPS, max_size=6))
def test_any_changes_one_after_another_give_valid_scenes(steps):
    now = scene()
    for name, *arguments in steps:
        named = arguments.pop() if isinstance(arguments[-1], dict) else {}
        if name == "with_window" and arguments[0] >= len(now.shape):
            continue
        reading = getattr(changes, name)(now, *arguments, **named)
        now = reading.scene
        assert isinstance(now, Scene)
        assert read(now.query()).scene == now
        assert reading.problem is None or 20 < len(reading.problem) < 700


def test_a_pattern_may_be_written_with_the_sizes_of_its_split_axes() -> None:
    scene = read({}).scene
    reading = changes.with_pattern_text(scene, "n (c k) h w -> n c; c=3", "c")
    assert reading.problem is None
    wanted = Norm("n (c k) h w -> n c", "c", sizes={"c": 3})
    assert reading.scene.layer == wanted
    assert changes.pattern_text(wanted) == "n (c k) h w -> n c; c=3"


@pytest.mark.parametrize("text", ["n (g k) h w -> n g; g", "n (g k) h w -> n g; g=two", "n (g k) h w -> n g; =;="])
def test_sizes_that_are_none_are_told_and_change_nothing(text: str) -> None:
    scene = read({}).scene
    reading = changes.with_pattern_text(scene, text, "c")
    assert "gives no sizes; write them as in" in str(reading.problem)
    assert reading.scene is scene
