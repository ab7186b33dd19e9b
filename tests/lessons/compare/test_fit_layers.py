import pytest
from hypothesis import given
from hypothesis import strategies as st

from normviz.analysis.comparison import FEWEST, MOST, compare
from normviz.lessons.compare.page import _fit, default_layers, fit_layers, layers_of
from normviz.lessons.events import after, entering
from normviz.lessons.pages import PAGES
from tests.support.needs import cases_in_torch
from tests.support.scenes import scene

USUAL = [
    # the link, the layers that Compare opens with
    ("", ["LayerNorm([4, 3, 5])", "BatchNorm2d(4)", "InstanceNorm2d(4)", "GroupNorm(2, 4)"]),
    ("shape=2,3,4,4", ["LayerNorm([3, 4, 4])", "BatchNorm2d(3)", "InstanceNorm2d(3)", "GroupNorm(3, 3)"]),
    ("layer=BatchNorm2d(3).eval()", ["BatchNorm2d(3).eval()", "LayerNorm([3, 4, 5])", "InstanceNorm2d(3)", "GroupNorm(3, 3)"]),
    ("shape=2,8,4,4&layer=GroupNorm(4,8)", ["GroupNorm(4, 8)", "BatchNorm2d(8)", "LayerNorm([8, 4, 4])", "InstanceNorm2d(8)"]),
    ("layer=RMSNorm(4)", ["RMSNorm([4])", "ChannelsLastBatchNorm(4)", "LayerNorm([4])", "ChannelsLastInstanceNorm(4)"]),
    ("layer=Norm('n c h w -> h')", ["Norm('n c h w -> h')", "BatchNorm2d(4)", "LayerNorm([4, 3, 5])", "InstanceNorm2d(4)"]),
    ("shape=2,6", ["LayerNorm([6])", "BatchNorm1d(6)", "GroupNorm(2, 6)"]),
    ("shape=2,5,4", ["LayerNorm([4])", "ChannelsLastBatchNorm(4)", "ChannelsLastInstanceNorm(4)", "ChannelsLastGroupNorm(2, 4)"]),
    ("shape=2,4,5&layout=NCL", ["ChannelsFirstLayerNorm(4)", "BatchNorm1d(4)", "InstanceNorm1d(4)", "GroupNorm(2, 4)"]),
    ("shape=6", ["LayerNorm([6])", "RMSNorm([6])"]),
    ("shape=6&layer=RMSNorm(6)", ["RMSNorm([6])", "LayerNorm([6])"]),
    ("shape=6&layer=DimNorm(6)", ["DimNorm(6)", "LayerNorm([6])"]),
    ("shape=1", ["LayerNorm([1])", "RMSNorm([1])"]),
]  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize(("link", "layers"), USUAL)
def test_the_default_layers_are_the_scenes_own_and_one_of_each_family(link, layers):
    assert list(default_layers(scene(link))) == layers
    assert fit_layers(layers, scene(link)) == (tuple(layers), None)


IMAGES = "shape=2,3,4,4"
CHOSEN = [
    # the tensor, the texts, the layers, and words of the message
    (IMAGES, ["BatchNorm2d(3)", "LayerNorm(4)"], ["BatchNorm2d(3)", "LayerNorm([4])"], None),
    (IMAGES, ["BatchNorm2d(64)", "LayerNorm([7, 7])"], ["BatchNorm2d(3)", "LayerNorm([4, 4])"], None),
    ("shape=2,6", ["BatchNorm2d(3)", "LayerNorm([3,4,4])"], ["BatchNorm1d(6)", "LayerNorm([6])"], None),
    (IMAGES, ["nn.BatchNorm2d(3)", "BatchNorm2d( 3 )", "LayerNorm(4)"], ["BatchNorm2d(3)", "LayerNorm([4])"], None),
    (IMAGES, ["GroupNorm(2,4)", "LayerNorm(4)"], ["GroupNorm(1, 3)", "LayerNorm([4])"], None),
    (IMAGES, ["Norm('n c h w -> h','h')", "LayerNorm(4)"], ["Norm('n c h w -> h', 'h')", "LayerNorm([4])"], None),
    (IMAGES, ["x", "LayerNorm(4)", "RMSNorm(4)"], ["LayerNorm([4])", "RMSNorm([4])"], "'x' is not a layer"),
    (IMAGES, ["Conv2d(3,3)", "x", "LayerNorm(4)", "RMSNorm(4)"], ["LayerNorm([4])", "RMSNorm([4])"], "'Conv2d' is not a layer of the catalogue"),
    ("shape=2,6", ["Norm('n c h w -> h')", "LayerNorm(6)", "RMSNorm(6)"], ["LayerNorm([6])", "RMSNorm([6])"], "has rank 4 and x has rank 2"),
    (IMAGES, ["Norm('n h w c -> n')", "LayerNorm(4)", "RMSNorm(4)"], ["LayerNorm([4])", "RMSNorm([4])"], "name the axes differently"),
    ("shape=6", ["BatchNorm2d(3)", "LayerNorm(6)", "RMSNorm(6)"], ["LayerNorm([6])", "RMSNorm([6])"], "BatchNorm"),
    # a layer without a form on (N, D), and layers written for another tensor
    ("shape=4,6", ["InstanceNorm2d(4)", "LayerNorm(6)", "BatchNorm1d(6)"], ["LayerNorm([6])", "BatchNorm1d(6)"], "InstanceNorm has no form on (N, D)"),
    ("shape=2,5,4", ["BatchNorm2d(3)", "LayerNorm([3,4,4])", "GroupNorm(3, 6)"], ["ChannelsLastBatchNorm(4)", "LayerNorm([4])", "ChannelsLastGroupNorm(2, 4)"], None),
    # as torch reads it: L as channels
    ("shape=2,5,4", ["BatchNorm1d(5)", "LayerNorm(4)"], ["BatchNorm1d(5)", "LayerNorm([4])"], None),
]  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize(("link", "texts", "layers", "words"), CHOSEN)
def test_layers_are_refitted_or_left_out_with_a_message(link, texts, layers, words):
    found, problem = fit_layers(texts, scene(link))
    assert list(found) == layers
    assert (problem is None) if words is None else words in problem


@cases_in_torch
@pytest.mark.parametrize("link", [link for link, _ in USUAL])
@pytest.mark.parametrize("texts", [[], ["x"], ["LayerNorm(1)"], ["x", "y", "z"], ["RMSNorm(6)"] * 6])
def test_if_fewer_than_two_layers_remain_the_default_ones_are_added(link, texts):
    on = scene(link)
    found, _ = fit_layers(texts, on)
    assert len(found) >= FEWEST
    assert set(found) <= {*default_layers(on), *fit_layers([*texts, *default_layers(on)], on)[0]}


def test_at_most_six_layers_are_compared():
    texts = [f"LayerNorm([4], eps={eps})" for eps in range(1, 9)]
    assert len(fit_layers(texts, scene(""))[0]) == MOST


@given(
    st.sampled_from(["", "shape=6", "shape=1,1", "shape=2,4,4,3&layout=NHWC"]),
    st.lists(st.text(max_size=30) | st.sampled_from([text for row in CHOSEN for text in row[1]]), max_size=8),
)
def test_any_texts_give_layers_that_can_be_compared(link, texts):
    on = scene(link)
    layers, _ = fit_layers(texts, on)
    assert len(compare(layers, on.shape, on.layout).descriptions) == len(layers)
    assert fit_layers(layers, on) == (layers, None)


def test_another_selected_element_computes_no_new_choice():
    one, other = scene("shape=2,6&at=0,1"), scene("shape=2,6&at=1,5")
    found = fit_layers(["LayerNorm([6])", "RMSNorm(6)"], one)
    before = _fit.cache_info().misses
    assert fit_layers(("LayerNorm([6])", "RMSNorm(6)"), other) == found
    assert _fit.cache_info().misses == before


def after_size(view, key, value):
    return after(
        PAGES["compare"],
        view,
        entering({one.key: one for row in PAGES["compare"].input_rows(view) for one in row.all_inputs}[key], value),
    )


def test_a_change_of_the_tensor_carries_the_layers_that_are_shown():
    view = PAGES["compare"].view("layers=RMSNorm([4]);BatchNorm2d(3)")
    before = layers_of(view)[0]
    assert layers_of(after_size(view, "size_n", 3))[0] == before


def test_instance_norm_is_left_out_on_n_d_and_returns():
    view = PAGES["compare"].view({})
    four = layers_of(view)[0]
    view = after_size(view, "layout", "ND")
    found, problem = layers_of(view)
    assert found == ("BatchNorm1d(6)", "LayerNorm([6])", "GroupNorm(2, 6)")
    assert problem.startswith("InstanceNorm has no form on (N, D).")
    view = after_size(view, "layout", "NLC")
    assert layers_of(view) == (
        ("ChannelsLastBatchNorm(4)", "LayerNorm([4])", "ChannelsLastInstanceNorm(4)", "ChannelsLastGroupNorm(2, 4)"),
        None,
    )
    assert [text.split("(")[0] for text in layers_of(after_size(view, "layout", "NCHW"))[0]] == [
        text.split("(")[0] for text in four
    ]
