"""Compare without a browser: its controls, the ready-made sets, and its texts."""

import pytest

from normviz.analysis.comparison import compare, sentence
from normviz.lessons.compare.page import READY_SETS
from tests.support.driver import open_explore, query, scene, send_event, sentence_text, set_control
from tests.support.lessons import compared_layers
from tests.support.needs import cases_in_torch
from tests.support.pages import check_page, go_to_page, open_page
from tests.support.shown import elements, figures, problems, table, texts


def test_compare_lists_the_elements_that_share_a_mean_under_each_layer():
    app = open_page("compare", "shape=2,3&layers=LayerNorm(3);BatchNorm1d(3)&at=0,1")
    check_page(app)
    assert sentence_text(app) == (
        "x[0, 1] shares its mean with 2 others under `LayerNorm([3])` and 1 other under `BatchNorm1d(3)`."
    )
    rows = {name: cells for name, *cells in table(app)}
    assert rows["number of statistics"] == ["2", "3"]
    assert rows["depends on the batch?"] == ["no", "yes"]
    assert rows["train = eval?"] == ["yes", "no"]


START = "shape=2,3,4,4"
COMPARE_CONTROLS = [
    # address, control, its new value, the resulting layers
    (START, "layout", "ND", ["LayerNorm([6])", "BatchNorm1d(6)", "GroupNorm(2, 6)"]),
    (START, "layout", "NLC", ["LayerNorm([3])", "ChannelsLastBatchNorm(3)", "ChannelsLastInstanceNorm(3)", "ChannelsLastGroupNorm(3, 3)"]),
    ("", "layout", "NLC", ["ChannelsLastBatchNorm(4)", "LayerNorm([4])", "ChannelsLastInstanceNorm(4)", "ChannelsLastGroupNorm(2, 4)"]),
    ("", "layout", "NCL", ["BatchNorm1d(4)", "ChannelsFirstLayerNorm(4)", "InstanceNorm1d(4)", "GroupNorm(2, 4)"]),
    (START, "size_c", 4, ["LayerNorm([4, 4, 4])", "BatchNorm2d(4)", "InstanceNorm2d(4)", "GroupNorm(2, 4)"]),
    (f"{START}&layers=GroupNorm(3,3);LayerNorm([4,4])", "size_c", 6, ["GroupNorm(3, 6)", "LayerNorm([4, 4])"]),
    (f"{START}&layers=GroupNorm(3,3);LayerNorm(4)", "size_n", 100_000, ["GroupNorm(3, 3)", "LayerNorm([4])"]),
    ("shape=6", "size_d", 7, ["LayerNorm([7])", "RMSNorm([7])"]),
    (START, "layers", ["RMSNorm([4])", "BatchNorm2d(3)"], ["RMSNorm([4])", "BatchNorm2d(3)"]),
    (START, "layers", [f"LayerNorm([4], eps={eps})" for eps in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)],
     [f"LayerNorm([4], eps={eps})" for eps in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)]),
]  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize(("link", "key", "value", "then"), COMPARE_CONTROLS)
def test_a_control_of_compare_changes_the_layers_the_sentence_and_the_address(link, key, value, then):
    before = open_page("compare", link)
    was = query(before)
    if key == "layers":
        before.multiselect(key=key).options.extend(value)  # a browser allows this where new options are accepted
    app = set_control(before, key, value)
    check_page(app)
    assert query(app) != was
    on = scene(app)
    assert compared_layers(app) == then == app.multiselect(key="layers").value
    assert sentence_text(app) == sentence(compare(then, on.shape, on.layout), on.at).replace("**", "")


@pytest.mark.parametrize("key", READY_SETS)
def test_a_ready_made_set_has_its_own_tensor_and_text(key):
    ready = READY_SETS[key]
    app = set_control(open_page("compare", START), "set", key)
    check_page(app)
    assert (scene(app).shape, scene(app).layout, tuple(compared_layers(app))) == (
        ready.shape,
        ready.layout,
        ready.layers,
    )
    assert ready.text in texts(app)
    assert app.selectbox(key="set").value == key
    app = set_control(app, f"size_{scene(app).axes[-1]}", 7)
    assert app.selectbox(key="set").value == ""
    assert ready.text not in texts(app)


def test_a_custom_layer_is_compared_and_an_unknown_layer_gives_one_warning():
    app = open_page("compare", START)
    app.multiselect(key="layers").options.append("Norm('n c h w -> h', 'h')")
    app = set_control(app, "layers", ["BatchNorm2d(3)", "Norm('n c h w -> h', 'h')"])
    check_page(app)
    app.multiselect(key="layers").options.append("Conv2d(3, 3)")
    app = set_control(app, "layers", ["BatchNorm2d(3)", "Norm('n c h w -> h', 'h')", "Conv2d(3, 3)"])
    (warning,) = problems(app)
    assert "'Conv2d' is not a layer of the catalogue" in warning
    assert app.multiselect(key="layers").value[-1] == "Conv2d(3, 3)"
    assert compared_layers(app) == ["BatchNorm2d(3)", "Norm('n c h w -> h', 'h')"]


def test_the_page_opens_with_four_different_pictures():
    app = open_page("compare")
    check_page(app)
    assert (query(app), app.selectbox(key="set").value) == ({}, "four")
    descriptions = READY_SETS["four"].comparison.descriptions
    assert compared_layers(app) == [e.title for e in descriptions]
    assert len({e.stat_ids.tobytes() for e in descriptions}) == len(descriptions) == 4


def test_the_default_layers_are_compared_when_none_is_chosen():
    app = set_control(open_page("compare", f"{START}&layers=RMSNorm(4);BatchNorm2d(3)"), "layers", [])
    check_page(app)
    assert compared_layers(app) == compared_layers(open_page("compare", START)) != compared_layers(open_page("compare"))
    assert compared_layers(open_page("compare", query(app))) == compared_layers(app)


def test_only_a_tensor_that_the_reader_has_chosen_goes_along_to_the_next_page():
    opened = scene(open_page("compare"))
    assert scene(go_to_page(open_explore(), "compare")) == opened
    assert scene(go_to_page(open_page("compare"), "explore")) == scene(open_explore())
    chosen = go_to_page(set_control(open_page("compare"), "size_w", 3), "explore")
    assert scene(chosen).shape == (3, 4, 5, 3)


def test_a_click_on_a_panel_of_compare_selects_the_element():
    app = send_event(open_page("compare", START), "select", {"at": [0, 1, 2, 3]})
    check_page(app)
    assert query(app) == {"shape": "2,3,4,4", "layer": "LayerNorm([3,4,4])", "at": "0,1,2,3"}
    assert sentence_text(app).startswith("x[0, 1, 2, 3] shares")
    app = send_event(app, "select", {"at": None})
    check_page(app)
    assert figures(app)[0]["at"] is None
    assert not elements(app, "nv-sentence")
