"""Edits of the layer: its family, its arguments, a pattern of the reader's own."""

import re

import pytest

from normviz.layers.norm import Norm
from normviz.scene import edits
from normviz.scene.view import read
from tests.support.needs import cases_in_torch, needs_rms_norm
from tests.support.scenes import done, scene, summary

ONE_VALUE = [
    ("shape=2,3&layer=BatchNorm1d(3)", "n", "ND (2, 3) BatchNorm1d(3)"),
    ("shape=2,3,1,1&layer=BatchNorm2d(3)", "n", "NCHW (2, 3, 1, 1) BatchNorm2d(3)"),
    ("shape=1,3,1,2&layer=InstanceNorm2d(3)", "w", "NCHW (1, 3, 2, 1) InstanceNorm2d(3)"),
    ("shape=2,4&layer=GroupNorm(4,4)", "n", "ND (2, 4) GroupNorm(4, 4)"),
]


@pytest.mark.parametrize(("link", "axis", "wanted"), ONE_VALUE)
def test_one_value_per_mean_is_refused_in_torchs_words(link, axis, wanted):
    reading = edits.with_size(scene(link), axis, 1)
    assert re.search(
        r"torch refuses: .Expected more than 1 (value per channel|spatial element) when training", reading.problem
    )
    assert summary(reading.scene) == wanted


def test_running_statistics_take_one_value_per_channel():
    link = "shape=2,3&layer=BatchNorm1d(3).eval()"
    assert summary(done(edits.with_size(scene(link), "n", 1))) == "ND (1, 3) BatchNorm1d(3).eval()"
    reading = edits.with_arguments(scene("shape=1,3&layer=BatchNorm1d(3).eval()"), training=True)
    assert "Expected more than 1 value per channel when training" in reading.problem
    assert summary(reading.scene) == "ND (2, 3) BatchNorm1d(3)"


FAMILY_CHANGES = [
    ("", "RMSNorm", "NCHW (2, 4, 3, 5) RMSNorm([4, 3, 5])"),
    ("", "BatchNorm", "NCHW (2, 4, 3, 5) BatchNorm2d(4)"),
    ("", "SyncBatchNorm", "NCHW (2, 4, 3, 5) SyncBatchNorm(4)"),
    ("", "InstanceNorm", "NCHW (2, 4, 3, 5) InstanceNorm2d(4)"),
    ("", "GroupNorm", "NCHW (2, 4, 3, 5) GroupNorm(2, 4)"),
    ("shape=2,6,4,4", "GroupNorm", "NCHW (2, 6, 4, 4) GroupNorm(2, 6)"),
    ("", "ChannelsFirstLayerNorm", "NCHW (2, 4, 3, 5) ChannelsFirstLayerNorm(4)"),
    ("", "DimNorm", "NCHW (2, 4, 3, 5) DimNorm(5, dim=0)"),
    ("", "Norm", "NCHW (2, 4, 3, 5) Norm('n c h w -> n', 'c h w')"),
    ("layer=BatchNorm2d(3)", "LayerNorm", "NCHW (2, 3, 4, 5) LayerNorm([3, 4, 5])"),
    ("layer=Norm('n c h w -> h')", "BatchNorm", "NCHW (2, 4, 3, 5) BatchNorm2d(4)"),
    ("shape=2,5,3", "BatchNorm", "NLC (2, 5, 3) ChannelsLastBatchNorm(3)"),
    ("shape=2,5,4", "InstanceNorm", "NLC (2, 5, 4) ChannelsLastInstanceNorm(4)"),
    ("shape=2,3,5,4&layout=NHWC", "GroupNorm", "NHWC (2, 3, 5, 4) ChannelsLastGroupNorm(2, 4)"),
    ("shape=5,2,4&layout=LNC", "BatchNorm", "LNC (5, 2, 4) ChannelsLastBatchNorm(4)"),
    ("shape=3,4,4&layout=CHW", "InstanceNorm", "CHW (3, 4, 4) InstanceNorm2d(3)"),
    ("shape=2,4,4,3&layout=NHWC&layer=GroupNorm(2,4,affine=False)", "Norm", None),
]  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize(("link", "family", "wanted"), FAMILY_CHANGES)
def test_another_layer_on_the_same_tensor(link, family, wanted):
    before = scene(link)
    after = done(edits.with_family(before, family))
    assert after.shape == before.shape
    assert wanted in (None, summary(after))


def test_a_custom_pattern_starts_as_the_current_layer():
    for link in (
        "layer=BatchNorm2d(3)",
        "shape=2,4,3&layer=GroupNorm(2,4)",
        "shape=2,4,3&layout=NLC&layer=GroupNorm(2,4)",
    ):
        before = scene(link)
        after = done(edits.with_family(before, "Norm"))
        assert after.shape_description.norm.stats == before.shape_description.norm.stats
        assert after.shape_description.counts.parameters == before.shape_description.counts.parameters
        assert isinstance(after.layer, Norm)


def test_a_layer_that_does_not_take_the_rank_changes_nothing():
    reading = edits.with_family(scene("shape=6"), "BatchNorm")
    assert "BatchNorm takes an x of rank 2, 3, 4 or 5, and this x has rank 1, layout D." in reading.problem
    assert reading.scene == scene("shape=6")


@pytest.mark.parametrize(
    ("link", "family"),
    [
        ("shape=4,6", "InstanceNorm"),
        ("shape=4,4,3&layout=HWC", "InstanceNorm"),
        ("shape=4,4,3&layout=HWC", "GroupNorm"),
        ("shape=5,2,4&layout=LNC", "GroupNorm"),
        ("shape=3,4,5&layout=CHW", "BatchNorm"),
        ("shape=2,5,4", "ChannelsFirstLayerNorm"),
    ],
)
def test_a_layer_that_would_take_another_axis_for_its_channels_changes_nothing(link, family):
    reading = edits.with_family(scene(link), family)
    assert reading.problem.startswith(f"{family} has no form on ({', '.join(scene(link).layout)}). ")
    assert reading.scene == scene(link)


def test_a_layer_that_needs_more_than_one_value_per_channel_gets_the_nearest_x():
    reading = edits.with_family(scene("shape=1,3"), "BatchNorm")
    assert "Expected more than 1 value per channel" in reading.problem
    assert summary(reading.scene) == "ND (2, 3) BatchNorm1d(3)"


def test_an_argument_of_the_layer_changes():
    assert summary(done(edits.with_arguments(scene(), normalized_shape=[5]))) == "NCHW (2, 4, 3, 5) LayerNorm([5])"
    group_norm = scene("shape=2,4,3&layer=GroupNorm(2,4)")
    assert summary(done(edits.with_arguments(group_norm, num_groups=4))) == "NCL (2, 4, 3) GroupNorm(4, 4)"
    assert (
        summary(done(edits.with_arguments(scene(), bias=False))) == "NCHW (2, 4, 3, 5) LayerNorm([4, 3, 5], bias=False)"
    )


def test_wrong_arguments_change_nothing():
    before = scene("shape=2,4,3&layer=GroupNorm(2,4)")
    reading = edits.with_arguments(before, affine="maybe")
    assert "affine='maybe' must be True or False." in reading.problem
    assert reading.scene == before


def test_a_pattern_has_no_arguments():
    before = scene("layer=Norm('n c h w -> n')")
    assert done(edits.with_arguments(before, training=False)) == before


EPS = [
    # as typed, the layer then
    ("1e-3", "LayerNorm([4, 3, 5], eps=0.001)"),
    (" 0.5 ", "LayerNorm([4, 3, 5], eps=0.5)"),
    ("0", "LayerNorm([4, 3, 5], eps=0.0)"),
    ("-0.5", "LayerNorm([4, 3, 5], eps=-0.5)"),
    ("1e-05", "LayerNorm([4, 3, 5])"),
]


@pytest.mark.parametrize(("text", "layer"), EPS)
def test_eps_is_read_as_it_is_typed(text, layer):
    assert str(done(edits.with_eps(scene(), text)).layer) == layer


NO_EPS = ["", "x", "1e-5x", "nan", "inf", "-inf", "1e400", "None", "1,5", "<script>", "9" * 5000]


@pytest.mark.parametrize("text", NO_EPS)
def test_a_text_that_is_not_an_eps_changes_nothing(text):
    reading = edits.with_eps(scene(), text)
    assert reading.problem.startswith("eps=")
    assert len(reading.problem) < 200
    assert reading.scene == scene()


@needs_rms_norm
def test_rms_norm_may_have_the_machine_epsilon():
    before = scene("shape=2,6&layer=RMSNorm(6,eps=0.1)")
    assert str(done(edits.with_eps(before, "None")).layer) == "RMSNorm([6])"


PATTERNS = [
    ("n c h w -> n h w", "c", "NCHW (2, 4, 3, 5) Norm('n c h w -> n h w', 'c')"),
    ("n c h w ->", None, "NCHW (2, 4, 3, 5) Norm('n c h w ->')"),
    ("n c h w ->", "", "NCHW (2, 4, 3, 5) Norm('n c h w ->', '')"),
    ("a b c d -> b", "d a", "ABCD (2, 4, 3, 5) Norm('a b c d -> b', 'd a')"),
]


@pytest.mark.parametrize(("stats", "params", "wanted"), PATTERNS)
def test_a_custom_pattern_can_be_typed(stats, params, wanted):
    assert summary(done(edits.with_pattern(scene(), stats, params))) == wanted


def test_a_pattern_may_lose_its_split_axis():
    before = done(edits.with_family(scene("shape=2,4,3&layer=GroupNorm(2,4)"), "Norm"))
    after = done(edits.with_pattern(before, "n c l -> n", "c", dict(before.shape_description.norm.sizes)))
    assert summary(after) == "NCL (2, 4, 3) Norm('n c l -> n', 'c')"


def test_a_new_pattern_keeps_eps_center_and_bias():
    before = scene("layer=Norm('n c h w -> n','c',center=False,eps=0.1,bias=False)")
    after = done(edits.with_pattern(before, "n c h w -> c", "w"))
    assert summary(after) == "NCHW (2, 4, 3, 5) Norm('n c h w -> c', 'w', center=False, eps=0.1, bias=False)"


NO_PATTERNS = [
    ("", "c", "'' is not a pattern; write the axes of x, an arrow and the kept axes, as in 'n c h w -> n'."),
    ("n c h w", "c", "is not a pattern"),
    ("n c -> n", "c", "the pattern 'n c -> n' has rank 2 and x has rank 4"),
    ("n c h w -> x", "c", "names 'x', which is not an axis of x"),
    ("n c h w -> n", "x", "names 'x', which is not an axis of x"),
    ("n (g k) h w -> n g", "c", "the sizes of g and k in (g k) are unknown"),
    ("batch c h w -> batch", "c", "a view names each axis by one letter, as in 'n c h w -> n'; 'batch' has more."),
    ("<script>", "<b>", "is not a pattern"),
    ("n " * 300 + "->", "c", "is not a pattern"),
]


@pytest.mark.parametrize(("stats", "params", "words"), NO_PATTERNS)
def test_a_text_that_is_not_a_pattern_changes_nothing(stats, params, words):
    reading = edits.with_pattern(scene(), stats, params)
    assert words in reading.problem
    assert reading.scene == scene()


def test_a_pattern_may_be_written_with_the_sizes_of_its_split_axes() -> None:
    scene = read({}).scene
    reading = edits.with_pattern_text(scene, "n (c k) h w -> n c; c=2", "c")
    assert reading.problem is None
    wanted = Norm("n (c k) h w -> n c", "c", sizes={"c": 2})
    assert reading.scene.layer == wanted
    assert edits.pattern_text(wanted) == "n (c k) h w -> n c; c=2"


@pytest.mark.parametrize("text", ["n (g k) h w -> n g; g", "n (g k) h w -> n g; g=two", "n (g k) h w -> n g; =;="])
def test_sizes_that_cannot_be_read_change_nothing(text: str) -> None:
    scene = read({}).scene
    reading = edits.with_pattern_text(scene, text, "c")
    assert "is not a list of sizes; write them as in" in str(reading.problem)
    assert reading.scene is scene
