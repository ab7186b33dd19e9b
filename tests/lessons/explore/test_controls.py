"""The controls of Explore change the sentence and the address."""

import pytest

from normviz.analysis.description import describe
from normviz.layers.layer import Layer
from normviz.scene.controls import LAYOUTS
from tests.support.driver import (
    check,
    expected,
    figure_data,
    open_explore,
    open_more,
    query,
    scene,
    send_event,
    sentence_text,
    set_control,
    shown_counts,
)
from tests.support.needs import cases_in_torch
from tests.support.opened import in_the_app_too, opened
from tests.support.pages import open_page
from tests.support.shown import elements, problems, text

CONTROLS = [
    # address, control, its new value, the resulting layer, shape and layout
    ("", "layout", "ND", "LayerNorm(6)", (4, 6), "ND"),
    ("", "layout", "NLC", "LayerNorm(4)", (2, 5, 4), "NLC"),
    ("shape=2,6", "layout", "NCHW", "LayerNorm([4, 3, 5])", (2, 4, 3, 5), "NCHW"),
    ("", "layout", "NHWC", "LayerNorm(4)", (2, 3, 5, 4), "NHWC"),
    ("shape=2,3,4,4", "layout", "NLC", "LayerNorm(3)", (2, 5, 3), "NLC"),
    ("", "layout", "NCL", "ChannelsFirstLayerNorm(4)", (2, 4, 5), "NCL"),
    ("layer=GroupNorm(3,3)", "layout", "NCL", "GroupNorm(3, 3)", (2, 3, 5), "NCL"),
    ("layer=GroupNorm(2,4)", "layout", "NLC", "ChannelsLastGroupNorm(2, 4)", (2, 5, 4), "NLC"),
    ("layer=BatchNorm2d(4)", "layout", "NLC", "ChannelsLastBatchNorm(4)", (2, 5, 4), "NLC"),
    ("layer=InstanceNorm2d(4)", "layout", "NHWC", "ChannelsLastInstanceNorm(4)", (2, 3, 5, 4), "NHWC"),
    ("shape=2,5,4&layout=NLC", "family", "BatchNorm", "ChannelsLastBatchNorm(4)", (2, 5, 4), "NLC"),
    ("shape=2,5,4&layout=NLC", "family", "InstanceNorm", "ChannelsLastInstanceNorm(4)", (2, 5, 4), "NLC"),
    ("shape=2,5,4&layout=NLC", "family", "GroupNorm", "ChannelsLastGroupNorm(2, 4)", (2, 5, 4), "NLC"),
    ("shape=2,3,4,4", "size_n", 5, "LayerNorm([3, 4, 4])", (5, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4", "size_c", 5, "LayerNorm([5, 4, 4])", (2, 5, 4, 4), "NCHW"),
    ("shape=2,3,4,4", "size_h", 1, "LayerNorm([3, 1, 4])", (2, 3, 1, 4), "NCHW"),
    ("shape=2,3,4,4", "size_w", 100_000, "LayerNorm([3, 4, 100000])", (2, 3, 4, 100_000), "NCHW"),
    ("shape=2,3,4,4", "size_w", 2**40, f"LayerNorm([3, 4, {2**40}])", (2, 3, 4, 2**40), "NCHW"),
    ("shape=2,5,3", "size_l", 7, "LayerNorm(3)", (2, 7, 3), "NLC"),
    ("shape=2,5", "size_d", 7, "LayerNorm(7)", (2, 7), "ND"),
    ("shape=2,3,4,4", "family", "RMSNorm", "RMSNorm([3, 4, 4])", (2, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4", "family", "BatchNorm", "BatchNorm2d(3)", (2, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4", "family", "InstanceNorm", "InstanceNorm2d(3)", (2, 3, 4, 4), "NCHW"),
    ("shape=2,4,3,3", "family", "GroupNorm", "GroupNorm(2, 4)", (2, 4, 3, 3), "NCHW"),
    ("shape=2,3,4,4&layer=BatchNorm2d(3)", "family", "LayerNorm", "LayerNorm([3, 4, 4])", (2, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4&hide=stats", "depth", 2, "LayerNorm([4, 4])", (2, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4&hide=stats", "depth", 1, "LayerNorm(4)", (2, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4&layer=RMSNorm(4)&hide=stats", "depth", 3, "RMSNorm([3, 4, 4])", (2, 3, 4, 4), "NCHW"),
    ("shape=2,6&hide=stats", "depth", 2, "LayerNorm([2, 6])", (2, 6), "ND"),
    ("shape=2,3,4,4", "elementwise_affine", False, "LayerNorm([3, 4, 4], elementwise_affine=False)", (2, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4", "bias", False, "LayerNorm([3, 4, 4], bias=False)", (2, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4&layer=BatchNorm2d(3)", "affine", False, "BatchNorm2d(3, affine=False)", (2, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4&layer=InstanceNorm2d(3)", "affine", True, "InstanceNorm2d(3, affine=True)", (2, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4&layer=BatchNorm2d(3)", "bias", False, "BatchNorm2d(3, bias=False)", (2, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4&layer=BatchNorm2d(3)", "track_running_stats", False, "BatchNorm2d(3, track_running_stats=False)", (2, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4&layer=BatchNorm2d(3)", "training", False, "BatchNorm2d(3).eval()", (2, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4&layer=BatchNorm2d(3).eval()", "training", True, "BatchNorm2d(3)", (2, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4&layer=InstanceNorm2d(3,track_running_stats=True)", "training", False, "InstanceNorm2d(3, track_running_stats=True).eval()", (2, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4", "eps", "0.001", "LayerNorm([3, 4, 4], eps=1e-3)", (2, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4", "eps", "0.25", "LayerNorm([3, 4, 4], eps=0.25)", (2, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4", "eps", "0", "LayerNorm([3, 4, 4], eps=0.0)", (2, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4", "eps", "-0.5", "LayerNorm([3, 4, 4], eps=-0.5)", (2, 3, 4, 4), "NCHW"),
    ("shape=2,3,4,4&layer=RMSNorm(4,eps=0.5)", "eps", "None", "RMSNorm(4)", (2, 3, 4, 4), "NCHW"),
]  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize(
    ("opens", "link", "key", "value", "layer", "shape", "layout"), in_the_app_too(CONTROLS, 1, open_page)
)
def test_a_control_changes_the_sentence_and_the_address(opens, link, key, value, layer, shape, layout):
    app = set_control(opens("explore", link), key, value)
    check(app)
    e = describe(layer, shape, layout=layout)
    assert not problems(app)
    assert sentence_text(app).startswith(f"`{Layer.parse(layer)}` on {shape}: ")
    shown = shown_counts(app)
    assert shown[0] == e.counts.statistics
    assert e.norm.running or e.counts.elements_per_statistic in shown
    gammas = e.counts.parameters // (1 + e.norm.bias)
    assert gammas == 0 or gammas in shown
    assert scene(app).layout == layout
    assert figure_data(app)["facts"][0]["value"] == f"{e.counts.statistics:,}"
    assert app.get_by_key(key).value == (value if key != "eps" else str(None if value == "None" else float(value)))


DATA_CONTROLS = [
    ("data", "counting", {"data": "counting"}),
    ("data", "scales", {"data": "scales"}),
    ("data", "images", {"data": "images"}),
    ("seed", 7, {"seed": "7"}),
    ("params", "index", {"params": "index"}),
    ("params", "random", {"params": "random"}),
]


@pytest.mark.parametrize(("opens", "key", "value", "written"), in_the_app_too(DATA_CONTROLS, 0, open_page))
def test_the_values_of_x_of_gamma_and_of_beta_can_be_chosen(opens, key, value, written):
    before = opens("explore")
    was, sentence = figure_data(before), sentence_text(before)
    app = set_control(before, key, value)
    check(app)
    assert query(app) == written
    assert figure_data(app)["panels"][4]["z"] != was["panels"][4]["z"]
    assert sentence_text(app) == sentence


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_can_be_chosen_and_changed_again(layout):
    app = set_control(opened("explore", "shape=2,6"), "layout", layout)
    check(app)
    assert scene(app).layout == layout
    app = set_control(app, "layout", "NLC")
    assert not app.exception
    assert not problems(app)
    assert scene(app).layout == "NLC"
    assert sentence_text(app) == expected(scene(app))


NO_EPS = ["nonsense", "nan", "-inf", "1e400", "None", " "]


@pytest.mark.parametrize(("opens", "texts"), [(opened, NO_EPS), (open_page, NO_EPS[:1])])
def test_an_invalid_eps_stays_in_its_field_and_changes_nothing_else(opens, texts):
    app = opens("explore", "layer=LayerNorm(4,eps=0.5)")
    for typed in texts:
        app = set_control(app, "eps", typed)
        assert not app.exception, typed
        (warning,) = problems(app)
        assert warning.startswith("eps="), typed
        assert query(app)["layer"] == "LayerNorm([4],eps=0.5)"
        assert app.get_by_key("eps").value == typed
        check(set_control(app, "eps", "0.001"))
        app = set_control(app, "eps", "0.5")
        assert not problems(app)


def test_reset_restores_the_defaults():
    app = open_explore("shape=2,6&layer=BatchNorm1d(6)&data=counting&seed=3&at=0,0")
    app = open_more(app).button(key="reset").click().run()
    check(app)
    assert query(app) == {}
    assert sentence_text(app) == sentence_text(open_explore())


def test_two_changes_are_both_applied():
    app = set_control(set_control(open_explore("shape=2,3,4,4"), "size_c", 5), "family", "BatchNorm")
    check(app)
    assert query(app) == {"shape": "2,5,4,4", "layer": "BatchNorm2d(5)", "at": "1,2,0,3"}


def test_a_changed_address_overrides_the_controls():
    app = set_control(open_explore(), "size_c", 5)
    app.query_params.clear()
    app.run()  # Back
    assert sentence_text(app) == sentence_text(open_explore())
    assert app.number_input(key="size_c").value == 4


def test_what_is_entered_in_vain_stays_with_its_message_until_it_is_corrected():
    app = set_control(open_explore("shape=2,3,4,4"), "size_n", 0)
    (message,) = problems(app)
    assert message == "N=0 must be a whole number from 1 to 1,099,511,627,776."
    assert app.number_input(key="size_n").value == 0
    app = send_event(app, "select", {"at": [0, 0, 0, 0], "turn": 1})
    app = set_control(app, "size_c", 5)
    assert (scene(app).shape, app.number_input(key="size_n").value) == ((2, 5, 4, 4), 0)
    assert problems(app) == [message]
    app = set_control(app, "size_n", 2)  # as in the view
    assert problems(app) == []
    assert (scene(app).shape, app.number_input(key="size_n").value) == ((2, 5, 4, 4), 2)


def test_a_pasted_error_opens_its_view_with_links_to_what_torch_accepts():
    app = set_control(open_explore(), "layer", "ValueError: expected 4D input (got 3D input)")
    (message,) = problems(app)
    assert message.startswith('torch refuses: "expected 4D input (got 3D input)"')
    assert message.endswith("Shown instead: BatchNorm1d(4) on (2, 4, 5).")
    assert app.get_by_key("layer").value == "BatchNorm1d(4)"
    (links,) = elements(app, "nv-links-choices")
    assert [text(link) for link in links.iter("a")] == [
        "BatchNorm1d(4) (shown)",
        "BatchNorm2d(4) on torch.randn(2, 4, 3, 5)",
    ]


def test_instance_norm_returns_with_a_tensor_that_has_a_form_for_it():
    app = open_explore("layer=InstanceNorm2d(4)")
    app = set_control(app, "layout", "ND")
    (message,) = problems(app)
    assert message.startswith("InstanceNorm has no form on (N, D).")
    assert str(scene(app).layer) == "LayerNorm([6])"
    app = send_event(app, "select", {"at": [0, 0], "turn": 1})
    assert str(scene(set_control(app, "layout", "NLC")).layer) == "ChannelsLastInstanceNorm(4)"


def test_a_toggle_changes_the_layer_and_the_address():
    app = send_event(open_explore("layer=BatchNorm2d(4)"), "toggle", {"row": "mean", "axis": "n", "turn": 1})
    assert str(scene(app).layer) == "InstanceNorm2d(4, affine=True)"
    assert app.query_params["layer"] == "InstanceNorm2d(4,affine=True)"
    assert open_more(app).selectbox(key="layer").value == "InstanceNorm2d(4, affine=True)"


@pytest.mark.parametrize(
    ("chosen", "layer"), [("ChannelsFirstLayerNorm", "ChannelsFirstLayerNorm(4)"), ("DimNorm", "DimNorm(5, dim=0)")]
)
def test_a_layer_without_a_button_is_in_the_list(chosen, layer):
    app = set_control(open_explore(), "layer", chosen)
    assert (str(scene(app).layer), app.selectbox(key="layer").value) == (layer, layer)
