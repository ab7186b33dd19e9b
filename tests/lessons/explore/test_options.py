"""The options that the controls of Explore offer, and which controls there are."""

import pytest

from normviz.scene.options import DATA_LABELS, PARAMETER_LABELS
from normviz.ui.controls import MORE
from tests.support.driver import open_explore, open_more, set_control
from tests.support.needs import cases_in_torch

OTHERS = ["LayerNorm, C first", "One axis (dim)", "Your own pattern"]  # the layers without a button
LAYOUTS = [
    "N, D",
    "N, L, C",
    "N, C, L",
    "L, N, C",
    "N, C, H, W",
    "N, H, W, C",
    "N, C, D, H, W",
    "D",
    "C, L",
    "C, H, W",
    "C, D, H, W",
]
CHOICES = [
    ("", "layout", LAYOUTS),
    ("shape=2,4,3,5&layout=ABCD", "layout", [*LAYOUTS, "A, B, C, D"]),
    ("hide=stats", "depth", ["C, H, W", "H, W", "W"]),
    ("shape=2,3,4,4&layer=LayerNorm([2,3,4,4])&hide=stats", "depth", ["N, C, H, W", "C, H, W", "H, W", "W"]),
    ("shape=6&hide=stats", "depth", ["D"]),
    ("layer=BatchNorm2d(3)", "training", ["train()", "eval()"]),
    ("", "data", list(DATA_LABELS.values())),
    ("", "params", list(PARAMETER_LABELS.values())),
    ("", "family", ["BatchNorm", "LayerNorm", "InstanceNorm", "GroupNorm", "RMSNorm"]),
    ("layer=DimNorm(5,dim=0)&layout=NCHW", "family", [*["BatchNorm", "LayerNorm", "InstanceNorm", "GroupNorm", "RMSNorm"], "One axis (dim)"]),
    ("", "layer", ["LayerNorm([4, 3, 5])", *OTHERS]),
    ("shape=2,6", "layer", ["LayerNorm([6])", *OTHERS]),
    ("shape=2,5,4", "layer", ["LayerNorm([4])", "One axis (dim)", "Your own pattern"]),
    ("shape=6", "layer", ["LayerNorm([6])", "One axis (dim)", "Your own pattern"]),
]  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize(("link", "key", "options"), CHOICES)
def test_a_control_offers_the_valid_options(link, key, options):
    assert list(open_more(open_explore(link)).get_by_key(key).options) == options


def test_the_normalized_shape_is_shown_beside_its_axes():
    app = open_explore("layer=LayerNorm([4,4])&hide=stats")
    assert app.get_by_key("depth").proto.label == "normalized_shape = [4, 4]"


def keys(app):
    kinds = ("selectbox", "number_input", "toggle", "text_input", "slider", "button_group", "button")
    return {widget.key for kind in kinds for widget in app.get(kind)}


@pytest.mark.parametrize("link", ["layer=GroupNorm(2,4)", "layer=DimNorm(5)&layout=NCHW", "layer=LayerNorm([3,5])"])
def test_what_the_toggles_choose_has_no_control_unless_their_panel_is_hidden(link):
    arguments = {"depth", "num_groups", "dim"}
    assert arguments.isdisjoint(keys(open_explore(link)))
    assert arguments & keys(open_explore(f"{link}&hide=stats"))
    assert arguments.isdisjoint(keys(open_explore(f"{link}&hide=stats,arguments")))


def test_counting_data_has_no_seed_and_a_layer_without_gamma_has_no_choice_of_parameters():
    assert "seed" not in keys(open_more(open_explore("data=counting")))
    assert "params" not in keys(open_more(open_explore("layer=InstanceNorm2d(3)")))
    assert {"seed", "params"} <= keys(open_more(open_explore()))


def test_bias_can_be_chosen_only_if_there_is_a_gamma():
    assert not open_more(open_explore()).toggle(key="bias").disabled
    assert open_more(open_explore("layer=LayerNorm(4,elementwise_affine=False)")).toggle(key="bias").disabled


def test_the_controls_under_more_are_created_when_it_opens_and_show_the_current_scene():
    app = open_explore("data=counting")
    closed = keys(app)
    assert {"layer", "data", "eps", "reset"}.isdisjoint(closed)
    assert set_control(app, "data", "scales").selectbox(key="data").value == "scales"
    app.session_state[MORE] = False
    assert keys(app.run()) == closed
    assert open_more(app).get_by_key("reset").click().run().selectbox(key="data").value == "normal"


def test_more_says_why_a_layer_has_no_mode():
    note = "train() and eval() do the same for this layer."
    assert note in [caption.value for caption in open_more(open_explore()).caption]
    assert note not in [caption.value for caption in open_more(open_explore("layer=BatchNorm2d(3)")).caption]
