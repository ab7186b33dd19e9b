"""Compare without a browser: its controls, the ready-made sets, and what is told."""

import pytest

from normviz.analysis.comparison import compare, sentence
from normviz.lessons.compare.ready_sets import READY_SETS
from tests.ui.driver import query, said, scene, sent, turned, warned
from tests.ui.lessons import layers
from tests.ui.pages import complete, figures, page, texts


def test_compare_says_with_whom_an_element_shares_its_mean_under_each_layer():
    app = page("compare", "shape=2,3&layers=LayerNorm(3);BatchNorm1d(3)&at=0,1")
    complete(app)
    assert said(app) == (
        "x[0, 1] shares its mean with 2 others under `LayerNorm([3])` and 1 other under `BatchNorm1d(3)`."
    )
    table = {line.split("|")[1].strip(): line for line in texts(app).splitlines() if line.startswith("|")}
    assert [cell.strip() for cell in table["number of statistics"].split("|")[2:4]] == ["2", "3"]
    assert [cell.strip() for cell in table["depends on the batch?"].split("|")[2:4]] == ["no", "yes"]
    assert [cell.strip() for cell in table["train = eval?"].split("|")[2:4]] == ["yes", "no"]


COMPARE_CONTROLS = [
    # address, control, its value, the layers then
    ("", "layout", "ND", ["LayerNorm([6])", "BatchNorm1d(6)", "InstanceNorm1d(2)", "GroupNorm(1, 6)"]),
    ("", "size_c", 4, ["LayerNorm([4, 4, 4])", "BatchNorm2d(4)", "InstanceNorm2d(4)", "GroupNorm(1, 4)"]),
    ("layers=GroupNorm(3,3);LayerNorm([4,4])", "size_c", 6, ["GroupNorm(3, 6)", "LayerNorm([4, 4])"]),
    ("layers=GroupNorm(3,3);LayerNorm(4)", "size_n", 100_000, ["GroupNorm(3, 3)", "LayerNorm([4])"]),
    ("shape=6", "size_d", 7, ["LayerNorm([7])", "RMSNorm([7])"]),
    ("", "layers", ["RMSNorm([4])", "BatchNorm2d(3)"], ["RMSNorm([4])", "BatchNorm2d(3)"]),
    ("", "layers", [f"LayerNorm([4], eps={eps})" for eps in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)],
     [f"LayerNorm([4], eps={eps})" for eps in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)]),
]  # fmt: skip


@pytest.mark.parametrize(("link", "key", "value", "then"), COMPARE_CONTROLS)
def test_a_control_of_compare_changes_the_layers_the_sentence_and_the_address(link, key, value, then):
    before = page("compare", link)
    was = query(before)
    if key == "layers":
        before.multiselect(key=key).options.extend(value)  # what a browser allows where new options are accepted
    app = turned(before, key, value)
    complete(app)
    assert query(app) != was
    on = scene(app)
    assert layers(app) == then == app.multiselect(key="layers").value
    assert said(app) == sentence(compare(then, on.shape, on.layout), on.at).replace("**", "")


@pytest.mark.parametrize("key", READY_SETS)
def test_every_ready_made_set_comes_with_its_own_tensor_and_its_words(key):
    ready = READY_SETS[key]
    app = turned(page("compare"), "set", key)
    complete(app)
    assert (scene(app).shape, scene(app).layout, tuple(layers(app))) == (ready.shape, ready.layout, ready.layers)
    assert ready.text in texts(app)
    assert app.selectbox(key="set").value == key
    app = turned(app, f"size_{scene(app).axes[-1]}", 7)
    assert app.selectbox(key="set").value == ""
    assert ready.text not in texts(app)


def test_a_layer_of_ones_own_is_compared_and_one_that_is_none_is_told_once():
    app = page("compare")
    app.multiselect(key="layers").options.append("Norm('n c h w -> h', 'h')")
    app = turned(app, "layers", ["BatchNorm2d(3)", "Norm('n c h w -> h', 'h')"])
    complete(app)
    app.multiselect(key="layers").options.append("Conv2d(3, 3)")
    app = turned(app, "layers", ["BatchNorm2d(3)", "Norm('n c h w -> h', 'h')", "Conv2d(3, 3)"])
    (warning,) = warned(app)
    assert "'Conv2d' is not a layer of the catalogue" in warning
    assert layers(app) == ["BatchNorm2d(3)", "Norm('n c h w -> h', 'h')"]


def test_without_any_layer_chosen_the_usual_ones_are_compared():
    app = turned(page("compare", "layers=RMSNorm(4);BatchNorm2d(3)"), "layers", [])
    complete(app)
    assert layers(app) == layers(page("compare"))
    assert query(app) == {}


def test_a_click_on_any_panel_of_compare_selects():
    app = sent(page("compare"), "select", {"at": [0, 1, 2, 3]})
    complete(app)
    assert query(app) == {"at": "0,1,2,3"}
    assert said(app).startswith("x[0, 1, 2, 3] shares")
    app = sent(app, "select", {"at": None})
    complete(app)
    assert figures(app)[0]["at"] is None
    assert not app.subheader
