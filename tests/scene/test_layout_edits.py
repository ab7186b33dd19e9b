"""Edits of the tensor: its layout and its sizes."""

import re

import pytest

from normviz.scene import edits
from tests.support.needs import needs_rms_norm
from tests.support.scenes import done, scene, summary

LAYOUT_CHANGES = [
    # from, to: an axis that stays keeps its size, unless it has the default one
    ("", "ND", "ND (4, 6) LayerNorm([6])"),
    ("", "NLC", "NLC (2, 5, 4) LayerNorm([4])"),
    ("", "NCL", "NCL (2, 4, 5) ChannelsFirstLayerNorm(4)"),
    ("", "NHWC", "NHWC (2, 3, 5, 4) LayerNorm([4])"),
    ("", "NCDHW", "NCDHW (2, 4, 2, 3, 2) LayerNorm([4, 2, 3, 2])"),
    ("", "D", "D (6,) LayerNorm([6])"),
    ("shape=4,6", "NCHW", "NCHW (2, 4, 3, 5) LayerNorm([4, 3, 5])"),
    ("shape=2,6", "NCHW", "NCHW (2, 4, 3, 5) LayerNorm([4, 3, 5])"),
    ("shape=5,7", "NCHW", "NCHW (5, 4, 3, 5) LayerNorm([4, 3, 5])"),
    ("shape=5,7,9", "NCL", "NCL (5, 9, 7) ChannelsFirstLayerNorm(9)"),
    ("shape=2,7,5", "NCHW", "NCHW (2, 5, 3, 6) LayerNorm([5, 3, 6])"),  # W differs from C
    ("shape=3,6", "NCHW", "NCHW (3, 4, 2, 5) LayerNorm([4, 2, 5])"),  # H differs from N, and the values can be edited
    ("layer=BatchNorm2d(3)", "ND", "ND (4, 6) BatchNorm1d(6)"),
    ("layer=BatchNorm2d(3)", "NLC", "NLC (2, 5, 3) ChannelsLastBatchNorm(3)"),
    ("layer=BatchNorm2d(4).eval()", "NCL", "NCL (2, 4, 5) BatchNorm1d(4).eval()"),
    ("layer=GroupNorm(1,4)", "NLC", "NLC (2, 5, 4) ChannelsLastGroupNorm(1, 4)"),
    ("layer=InstanceNorm2d(4)", "NHWC", "NHWC (2, 3, 5, 4) ChannelsLastInstanceNorm(4)"),
    ("layer=InstanceNorm2d(3,affine=True)", "CHW", "CHW (3, 4, 5) InstanceNorm2d(3, affine=True)"),
    ("shape=2,4,3,3&layer=GroupNorm(4,4)", "ND", "ND (4, 6) GroupNorm(3, 6)"),
    ("layer=Norm('n c h w -> n h w','c',eps=0.1)", "NHWC", "NHWC (2, 3, 5, 4) Norm('n h w c -> n h w', 'c', eps=0.1)"),
]  # fmt: skip


@pytest.mark.parametrize(("link", "layout", "wanted"), LAYOUT_CHANGES)
def test_a_new_layout_keeps_the_sizes_of_its_axes(link, layout, wanted):
    assert summary(done(edits.with_layout(scene(link), layout))) == wanted


def test_a_layout_that_the_layer_does_not_take_gives_a_layer_norm():
    reading = edits.with_layout(scene("layer=BatchNorm2d(3)"), "D")
    assert "BatchNorm takes an x of rank 2, 3, 4 or 5, and this x has rank 1, layout D." in reading.problem
    assert summary(reading.scene) == "D (6,) LayerNorm([6])"


def test_a_pattern_is_not_carried_to_other_axes():
    reading = edits.with_layout(scene("layer=Norm('n c h w -> n')"), "NLC")
    assert "the pattern 'n c h w -> n' does not have the axes of NLC; write one with these axes." in reading.problem
    assert summary(reading.scene) == "NLC (2, 5, 4) LayerNorm([4])"


@pytest.mark.parametrize("layout", ["", "N-C", "NN", "1", "<b>", "é", "²"])
def test_a_text_that_is_not_a_layout_changes_nothing(layout):
    reading = edits.with_layout(scene(), layout)
    assert "layout" in reading.problem
    assert reading.scene == scene()


def test_a_layout_of_other_letters_has_small_sizes():
    assert summary(done(edits.with_layout(scene(), "NX1"))) == "NX1 (2, 2) LayerNorm([2])"


SIZE_CHANGES = [
    ("", "c", 6, "NCHW (2, 6, 3, 5) LayerNorm([6, 3, 5])"),
    ("", "n", 1, "NCHW (1, 4, 3, 5) LayerNorm([4, 3, 5])"),
    ("shape=2,3,4,4&layer=LayerNorm(4)", "w", 7, "NCHW (2, 3, 4, 7) LayerNorm([7])"),
    ("shape=2,3,4,4&layer=LayerNorm(4)", "h", 7, "NCHW (2, 3, 7, 4) LayerNorm([4])"),
    ("shape=2,3,4,4&layer=BatchNorm2d(3,eps=0.1).eval()", "c", 1, "NCHW (2, 1, 4, 4) BatchNorm2d(1, eps=0.1).eval()"),
    # as many groups as before, or nearly; groups of several channels, and more than one, where that is possible
    ("shape=2,4,3,3&layer=GroupNorm(2,4)", "c", 9, "NCHW (2, 9, 3, 3) GroupNorm(3, 9)"),
    ("shape=2,4,3,3&layer=GroupNorm(1,4)", "c", 6, "NCHW (2, 6, 3, 3) GroupNorm(2, 6)"),
    ("shape=2,4,3,3&layer=GroupNorm(4,4)", "c", 6, "NCHW (2, 6, 3, 3) GroupNorm(3, 6)"),
    ("shape=2,4,3,3&layer=GroupNorm(2,4)", "c", 5, "NCHW (2, 5, 3, 3) GroupNorm(1, 5)"),
    ("shape=2,4,3,3&layer=GroupNorm(4,4)", "c", 5, "NCHW (2, 5, 3, 3) GroupNorm(5, 5)"),
    ("shape=2,8,3,3&layer=GroupNorm(4,8)", "c", 9, "NCHW (2, 9, 3, 3) GroupNorm(3, 9)"),
    ("shape=2,4,3,3&layer=GroupNorm(2,4)", "h", 9, "NCHW (2, 4, 9, 3) GroupNorm(2, 4)"),
    ("shape=2,4,3,3&layer=GroupNorm(1,4)", "h", 9, "NCHW (2, 4, 9, 3) GroupNorm(1, 4)"),
    # as torch reads it: L is the channels
    ("shape=2,5,4&layout=NLC&layer=BatchNorm1d(5)", "l", 7, "NLC (2, 7, 4) BatchNorm1d(7)"),
    ("shape=2,5,4&layer=ChannelsLastGroupNorm(2,4)", "c", 9, "NLC (2, 5, 9) ChannelsLastGroupNorm(3, 9)"),
    ("shape=2,3,4,4&layer=ChannelsFirstLayerNorm(3)", "c", 9, "NCHW (2, 9, 4, 4) ChannelsFirstLayerNorm(9)"),
    ("shape=2,3,4,4&layer=DimNorm(4,dim=1)&layout=NCHW", "w", 9, "NCHW (2, 3, 4, 9) DimNorm(9, dim=1)"),
    ("layer=Norm('n c h w -> n h w','c',center=False)", "c", 9, "NCHW (2, 9, 3, 5) Norm('n c h w -> n h w', 'c', center=False)"),
    ("", "w", 2**40, "NCHW (2, 4, 3, 1099511627776) LayerNorm([4, 3, 1099511627776])"),
]  # fmt: skip


@pytest.mark.parametrize(("link", "axis", "size", "wanted"), SIZE_CHANGES)
def test_a_new_size_refits_the_layer(link, axis, size, wanted):
    assert summary(done(edits.with_size(scene(link), axis, size))) == wanted


@pytest.mark.parametrize("axis", [*"nchw"])
@pytest.mark.parametrize("size", [0, -1, -(2**53), 2**40 + 1, 10**400], ids=lambda size: f"{float(min(size, 2**99)):g}")
def test_a_number_that_is_not_a_size_changes_nothing(axis, size):
    reading = edits.with_size(scene(), axis, size)
    assert reading.problem.startswith(f"{axis.upper()}={str(size)[:9] if size < 10**400 else ''}")
    assert reading.problem.endswith(" must be a whole number from 1 to 1,099,511,627,776.")
    assert reading.scene == scene()


@pytest.mark.parametrize(("text", "params"), [("n -> n; " + "g=1," * 200, "n"), ("n c h w -> n", "c " * 300)])
def test_a_pattern_is_read_up_to_a_length(text, params):
    reading = edits.with_pattern_text(scene(), text, params)
    assert re.search(r"has (808|599) characters; write at most 500, as in ", reading.problem)
    assert reading.scene == scene()


@needs_rms_norm
def test_a_name_that_is_not_a_family_changes_nothing():
    reading = edits.with_family(scene(), "BatchNorm2d")
    assert "'BatchNorm2d' is not a family of layers; choose LayerNorm, RMSNorm, BatchNorm," in reading.problem
    assert reading.scene == scene()


def test_a_changed_size_keeps_all_that_can_be_kept():
    before = scene("shape=2,3,4,4&layer=LayerNorm(4)&data=counting&seed=3&params=index&at=1,2,3,3")
    after = done(edits.with_size(before, "h", 2))
    assert (after.data, after.seed, after.params, after.at) == ("counting", 3, "index", (1, 2, 1, 3))
    assert done(edits.with_size(scene("at=none"), "h", 2)).at is None


def test_a_changed_size_keeps_the_selected_element_drawn():
    before = scene("shape=2,64,56,56&at=1,40,3,3")
    after = done(edits.with_size(before, "w", 3))
    assert after.at == (1, 40, 3, 2)
    assert after.grid.shows(after.at)


def test_edited_values_are_dropped_with_their_shape():
    assert done(edits.with_size(scene("shape=1,2&values=3,4"), "d", 3)).values is None


# The layer that the reader chose returns with a tensor that has a form for it.


def through(link, *layouts):
    """The layers, and the messages, while the reader goes through the layouts."""
    seen, on = [], scene(link)
    for layout in layouts:
        reading = edits.with_layout(on, layout)
        on = reading.scene
        seen.append((str(on.layer), reading.problem))
    return seen


def test_instance_norm_is_replaced_on_n_d_and_returns():
    first, second, third = through("layer=InstanceNorm2d(4,affine=True)", "ND", "NLC", "NCHW")
    assert first == (
        "LayerNorm([6])",
        "InstanceNorm has no form on (N, D). A channel of an example has only one value there, and its variance is 0. Until then, LayerNorm([6]) is shown.",
    )
    assert second == ("ChannelsLastInstanceNorm(4, affine=True)", None)
    assert third == ("InstanceNorm2d(4, affine=True)", None)


def test_a_layer_without_a_counterpart_is_replaced_with_one_sentence_and_returns():
    first, second = through("layer=LayerNorm([3,5])&shape=2,4,3,5", "NLC", "NCHW")
    assert first == (
        "LayerNorm([4])",
        "LayerNorm([3, 5]) on (N, C, H, W) has no counterpart on (N, L, C), so LayerNorm([4]) is shown.",
    )
    assert second == ("LayerNorm([3, 5])", None)
    assert through("layer=Norm('n c h w -> h','c')", "ND", "NCHW")[1] == (
        "statistics: n c h w -> h | gamma, beta: c",
        None,
    )


@needs_rms_norm
def test_a_layer_that_the_reader_chooses_on_the_new_tensor_stays():
    on = edits.with_layout(scene("layer=InstanceNorm2d(4)"), "ND").scene
    on = done(edits.with_family(on, "RMSNorm"))
    assert summary(done(edits.with_layout(on, "NCHW"))) == "NCHW (2, 4, 3, 5) RMSNorm([4, 3, 5])"


def test_the_sentence_is_not_repeated_for_a_new_size():
    on = edits.with_layout(scene("layer=InstanceNorm2d(4)"), "ND").scene
    reading = edits.with_size(on, "d", 8)
    assert (summary(reading.scene), reading.problem) == ("ND (4, 8) LayerNorm([8])", None)
    assert str(edits.with_layout(reading.scene, "NCHW").scene.layer) == "InstanceNorm2d(4)"


@pytest.mark.parametrize(("eps", "wanted"), [("", ""), (",eps=0.1", ", eps=0.1")])
def test_options_are_kept(eps, wanted):
    on = scene(f"shape=2,5,4&layer=LayerNorm(4{eps})")
    assert str(done(edits.with_layout(on, "NCL")).layer) == f"ChannelsFirstLayerNorm(4{wanted})"
    assert str(done(edits.with_layout(on, "NCHW")).layer) == f"LayerNorm([4, 3, 5]{wanted})"


def test_a_layer_norm_without_gamma_has_no_form_with_channels_first():
    found, message = through("shape=2,5,4&layer=LayerNorm(4,elementwise_affine=False)", "NCL")[0]
    assert found == "LayerNorm([4, 5], elementwise_affine=False)"
    assert "has no counterpart on (N, C, L)" in message
