"""The toggles of the axes: what they show of a layer, and the layer that a press makes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normviz.analysis.description import describe
from normviz.layers.layer import Layer
from normviz.scene.toggles import GAMMA, MEAN, toggle_rows, with_toggle, with_toggle_of_file
from tests.support.needs import cases_in_torch, needs_rms_norm
from tests.support.scenes import scene, summary

LINKS = [
    "layer=LayerNorm([4,3,5])", "layer=LayerNorm([3,5])&shape=2,4,3,5", "layer=BatchNorm2d(4)", "layer=InstanceNorm2d(4)",
    "layer=InstanceNorm2d(4,affine=True)", "layer=GroupNorm(2,4)", "layer=GroupNorm(1,4)", "layer=RMSNorm([4,3,5])",
    "layer=ChannelsFirstLayerNorm(4)", "layer=DimNorm(5,dim=0)&layout=NCHW", "shape=2,5,4", "shape=2,5,4&layer=ChannelsLastBatchNorm(4)",
    "shape=2,5,4&layer=ChannelsLastGroupNorm(2,4)", "shape=4,6&layer=BatchNorm1d(6)", "shape=4,6", "layer=Norm('n c h w -> h','w')",
    "shape=2,4,5&layout=NCL", "layer=Norm('n c h w -> n c h w')",
]  # fmt: skip


def pressed(on, row):
    return {one.axis for one in toggle_rows(on)[row].toggles if one.pressed}


SHOWN = [
    # a link, the axes of the mean, the axes of gamma
    ("layer=LayerNorm([4,3,5])", "chw", "chw"),
    ("layer=BatchNorm2d(4)", "nhw", "c"),
    ("layer=InstanceNorm2d(4)", "hw", ""),
    ("layer=GroupNorm(1,4)", "chw", "c"),
    ("layer=ChannelsFirstLayerNorm(4)", "c", "c"),
    ("shape=2,5,4&layer=ChannelsLastBatchNorm(4)", "nl", "c"),
    ("layer=Norm('n c h w -> h','w')", "ncw", "w"),
]


@pytest.mark.parametrize(("link", "mean", "gamma"), SHOWN)
def test_the_rows_show_the_axes_of_the_mean_and_of_gamma(link, mean, gamma):
    on = scene(link)
    assert (pressed(on, MEAN), pressed(on, GAMMA)) == (set(mean), set(gamma))
    assert [row.rest for row in toggle_rows(on).values()] == ["", ""]


def test_group_norm_shows_its_groups_at_the_channels():
    (channels,) = (one for one in toggle_rows(scene("layer=GroupNorm(2,4)"))[MEAN].toggles if one.groups)
    assert (channels.axis, channels.name, channels.groups, channels.pressed) == ("c", "C, channels", 2, False)


@cases_in_torch
@pytest.mark.parametrize("link", LINKS)
def test_a_press_changes_this_axis_alone(link):
    on = scene(link)
    for row, other in ((MEAN, GAMMA), (GAMMA, MEAN)):
        for one in toggle_rows(on)[row].toggles:
            if one.groups:
                continue
            after = with_toggle(on, row, one.axis).scene
            assert pressed(after, row) == pressed(on, row) ^ {one.axis}
            assert pressed(after, other) == pressed(on, other)
            assert after.shape == on.shape


NAMES = [
    # a name stays as long as it is true
    ("layer=LayerNorm(5)&shape=2,4,3,5", "gamma w", "LayerNorm([5], elementwise_affine=False)"),
    ("layer=GroupNorm(4,4)", "gamma c", "GroupNorm(4, 4, affine=False)"),
    ("layer=BatchNorm2d(4)", "gamma c", "BatchNorm2d(4, affine=False)"),
    ("layer=RMSNorm([4,3,5])", "mean c gamma c", "RMSNorm([3, 5])"),
    ("layer=RMSNorm(5)&shape=2,4,3,5", "gamma w", "RMSNorm([5], elementwise_affine=False)"),
    ("layer=GroupNorm(2,4)", "gamma c", "GroupNorm(2, 4, affine=False)"),
    ("layer=BatchNorm2d(4,eps=0.1)", "mean n", "InstanceNorm2d(4, eps=0.1, affine=True)"),
    # otherwise axes decide
    ("layer=BatchNorm2d(4)", "mean n", "InstanceNorm2d(4, affine=True)"),
    ("layer=BatchNorm2d(4)", "mean n gamma c", "InstanceNorm2d(4)"),
    ("layer=BatchNorm2d(4)", "mean n mean c", "GroupNorm(1, 4)"),
    ("layer=GroupNorm(1,4)", "gamma h gamma w", "LayerNorm([4, 3, 5])"),
    ("layer=LayerNorm([4,3,5])", "gamma h gamma w", "GroupNorm(1, 4)"),
    ("layer=LayerNorm([4,3,5])", "gamma h gamma w mean h mean w", "ChannelsFirstLayerNorm(4, eps=1e-05)"),
    ("layer=LayerNorm([4,3,5])", "mean c mean n gamma h gamma w", "BatchNorm2d(4)"),
    ("layer=LayerNorm([4,3,5])", "gamma h gamma w mean c mean c mean n", "BatchNorm2d(4)"),  # one group, two, four: one for each channel
    ("shape=2,5,4&layer=ChannelsLastBatchNorm(4)", "mean n", "ChannelsLastInstanceNorm(4, affine=True)"),
    ("shape=2,5,4&layer=ChannelsLastBatchNorm(4)", "mean n mean l mean c", "LayerNorm([4])"),
    ("shape=4,6&layer=BatchNorm1d(6)", "mean n mean d", "LayerNorm([6])"),
    ("shape=4,6", "mean d mean n", "BatchNorm1d(6)"),
    # what has no name is a pattern
    ("layer=LayerNorm([4,3,5])", "mean c", "Norm('n c h w -> n c', 'c h w')"),
    ("layer=LayerNorm([3,5])&shape=2,4,3,5", "mean h mean w", "Norm('n c h w -> n c h w', 'h w')"),
    ("layer=GroupNorm(2,4)", "mean n", "Norm('n (g k) h w -> g', 'c', sizes={'g': 2})"),
    ("shape=4,6&layer=GroupNorm(2,6,affine=False)", "mean n gamma d", "Norm('n (g k) -> g', 'd', sizes={'g': 2})"),
    ("layer=Norm('n d -> n','d',eps=None)&shape=4,6", "mean n mean d", "Norm('n d -> d', 'd', eps=None)"),
]  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize(("link", "presses", "wanted"), NAMES)
def test_the_toggles_find_the_name(link, presses, wanted):
    on = scene(link)
    words = presses.split()
    for row, axis in zip(words[::2], words[1::2], strict=True):
        reading = with_toggle(on, row, axis)
        assert reading.problem is None
        on = reading.scene
    assert summary(on).endswith(f") {wanted}")


@cases_in_torch
@pytest.mark.parametrize("link", [*LINKS, "shape=4,6&layer=GroupNorm(2,6,affine=False)"])
def test_a_press_renames_no_axis(link):
    on = scene(link)
    for row in (MEAN, GAMMA):
        for axis in on.axes:
            assert with_toggle(on, row, axis).scene.axes == on.axes


def test_a_press_at_the_groups_goes_through_the_divisors():
    on, seen = scene("shape=2,6,3,5&layer=GroupNorm(2,6)"), []
    for _ in range(4):
        on = with_toggle(on, MEAN, "c").scene
        seen.append(str(on.layer))
    assert seen == ["GroupNorm(3, 6)", "GroupNorm(6, 6)", "GroupNorm(1, 6)", "GroupNorm(2, 6)"]
    back = [
        str(with_toggle(scene(f"shape=2,6,3,5&layer=GroupNorm({groups},6)"), MEAN, "c", -1).scene.layer)
        for groups in (6, 2, 1)
    ]
    assert back == ["GroupNorm(3, 6)", "GroupNorm(1, 6)", "GroupNorm(6, 6)"]


RESTING = [
    ("layer=BatchNorm2d(4).eval()", {MEAN: "stored statistics", GAMMA: "stored statistics"}),
    ("layer=Norm('n c h w -> n','')", {GAMMA: "one gamma for all elements"}),
    ("layer=Norm('n (g k) h w -> n k','c',sizes={'g': 2})", {MEAN: "a pattern with split axes"}),
    ("layer=Norm('n (g k) h w -> n g','g',sizes={'g': 2})", {GAMMA: "a gamma for each part of a split axis"}),
]


@pytest.mark.parametrize(("link", "why"), RESTING)
def test_toggles_that_rest_say_why_and_do_nothing(link, why):
    on = scene(link)
    for row, found in toggle_rows(on).items():
        assert found.rest.startswith(why.get(row, ""))
        assert bool(found.rest) == (row in why)
        if row in why:
            assert all(with_toggle(on, row, axis).scene == on for axis in on.axes)


@pytest.mark.parametrize("row", ["mean", "gamma"])
def test_a_file_has_no_answer_to_toggles_that_rest(row):
    on = scene("shape=5,2,2,2&layer=Norm('n h w d -> n','h w d',center=False,bias=False,running=True)")
    assert with_toggle_of_file(on, row, "w") is None


def test_no_axes_means_no_gamma_and_each_element_is_its_own_group():
    on = scene("layer=LayerNorm(5)&shape=2,4,3,5")
    on = with_toggle(with_toggle(on, GAMMA, "w").scene, MEAN, "w").scene
    assert (on.shape_description.counts.parameters, on.shape_description.counts.elements_per_statistic) == (0, 1)
    assert not on.description.trace.normalized.any()


def test_another_axis_than_those_of_x_changes_nothing():
    assert with_toggle(scene(), MEAN, "l").scene == scene()


@needs_rms_norm
@given(st.sampled_from(LINKS), st.lists(st.tuples(st.sampled_from([MEAN, GAMMA]), st.integers(0, 3)), max_size=8))
def test_after_any_presses_the_patterns_are_those_of_the_toggles(link, presses):
    on = scene(link)
    for row, place in presses:
        on = with_toggle(on, row, on.axes[place % len(on.axes)]).scene
    e = describe(on.layer, on.shape, layout=on.layout if isinstance(on.layer, Layer) else None)
    at = (0,) * len(on.shape)
    means, groups = pressed(on, MEAN), {one.axis: one.groups for one in toggle_rows(on)[MEAN].toggles if one.groups}
    size = 1
    for axis, number in zip(on.axes, on.shape, strict=True):
        size *= number // groups[axis] if axis in groups else number if axis in means else 1
    assert len(e.peers(at)) == size - 1
    gammas = 1
    for axis, number in zip(on.axes, on.shape, strict=True):
        gammas *= number if axis in pressed(on, GAMMA) else 1
    assert e.counts.gamma_shape is None or len(e.parameter_peers(at)) * gammas + gammas == e.param_ids.size
