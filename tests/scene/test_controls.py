"""The controls of a view, as data: the options of each, and how a new value changes the view."""

import pytest

from normviz.lessons.page import rows_data
from normviz.lessons.pages import PAGES, controls
from normviz.scene.controls import SCENE_CONTROLS
from normviz.scene.controls import inputs_of as control_inputs
from normviz.scene.options import DATA_LABELS, PARAMETER_LABELS
from normviz.scene.scene import SCENE_SETTINGS
from normviz.scene.setting import Choice, Segments, Several, Slider, TextField
from normviz.scene.view import read_view
from normviz.texts.messages import language
from tests.fuzz.measure import cost
from tests.support.needs import cases_in_torch
from tests.support.scenes import query_of

LAYERS = ["", "layer=BatchNorm2d(3)", "shape=2,6,3,3&layer=GroupNorm(2,6)", "layer=DimNorm(4,dim=0)&layout=NCHW", "layer=Norm('n c h w -> n','c')", "layer=RMSNorm(4)", "shape=1000,1000", "shape=2,3&values=1,2,3,4,5,6"]  # fmt: skip


def view_of(link, page="explore"):
    return read_view(query_of(link), PAGES[page].settings)


def inputs_of(view, page="explore"):
    shown = PAGES[page].rows(view)
    controls = [control for row in shown for control in (one for place in (*row.groups, *row.more) for one in place)]
    return {one.key: one for control in controls for one in control_inputs(control, view)}


VIEWS = [
    *(("explore", link) for link in LAYERS),
    ("compare", ""),
    ("step_by_step", ""),
    *(("train_and_eval", f"show={show}") for show in ("stream", "modes", "batches", "sequences", "devices")),
    ("gradients", ""),
    *(("numerics", f"show={show}") for show in ("variance", "eps", "constant", "single", "placement")),
]


@pytest.mark.parametrize(("page", "link"), VIEWS)
def test_the_value_of_an_input_is_one_of_its_options_and_changes_nothing(page, link):
    view = view_of(link, page)
    for one in inputs_of(view, page).values():
        if isinstance(one.widget, Choice | Segments):
            assert one.value in one.widget.options
        if isinstance(one.widget, Several):  # a list chosen by the reader stays when the tensor changes
            continue
        value = one.value if not one.together else tuple(inputs_of(view, page)[key].value for key in one.together)
        after = one.changed(view, value)
        assert (after.scene, after.query(PAGES[page].settings), after.problem) == (view.scene, view.query(PAGES[page].settings), None), one.key  # fmt: skip


ARGUMENTS = [
    # a link, a control, its options, a value, the layer after it
    ("shape=2,6,3,3&layer=GroupNorm(2,6)", "num_groups", ["1", "2", "3", "6"], 3, "GroupNorm(3, 6)"),
    ("shape=2,7,3,3&layer=GroupNorm(1,7)", "num_groups", ["1", "7"], 7, "GroupNorm(7, 7)"),
    ("shape=2,64,3,3&layer=GroupNorm(1,64)", "num_groups", ["1", "2", "4", "8", "16", "32", "64"], 32, "GroupNorm(32, 64)"),
    ("layer=DimNorm(4)&layout=NCHW", "dim", ["0 (N)", "1 (C)", "2 (H)", "3 (W)"], 1, "DimNorm(4, dim=1)"),
    ("layer=DimNorm(4,dim=0)&layout=NCHW", "dim", ["0 (N)", "1 (C)", "2 (H)", "3 (W)"], 3, "DimNorm(4, dim=3)"),
]  # fmt: skip


@pytest.mark.parametrize(("link", "key", "options", "value", "layer"), ARGUMENTS)
def test_the_argument_that_decides_the_pattern(link, key, options, value, layer):
    view = view_of(link, "step_by_step")
    one = inputs_of(view, "step_by_step")[key]
    assert list(one.widget.options.values()) == options
    assert str(one.changed(view, value).scene.layer) == layer


@cases_in_torch
@pytest.mark.parametrize(("page", "link"), VIEWS)
def test_a_choice_that_was_deselected_changes_nothing(page, link):
    view = view_of(link, page)
    for one in inputs_of(view, page).values():
        assert one.changed(view, None) == view


@pytest.mark.parametrize(("page", "link"), VIEWS)
def test_every_option_of_every_list_gives_a_view_that_reads_back_from_its_link(page, link):
    view = view_of(link, page)
    for one in inputs_of(view, page).values():
        for option in getattr(one.widget, "options", ()) if isinstance(one.widget, Choice | Segments) else ():
            after = one.changed(view, option)
            assert read_view(after.query(PAGES[page].settings), PAGES[page].settings).scene == after.scene


def test_each_setting_that_a_link_holds_is_declared_once_with_a_description_and_an_example():
    everywhere = [*SCENE_SETTINGS.values(), *(one for page in PAGES.values() for one in page.settings)]
    for setting in everywhere:
        assert setting.description
        assert setting.parse(setting.example) != setting.default
        assert setting.hidden_by in controls() or not setting.label


def test_every_control_has_a_label_in_the_list_of_what_can_be_hidden():
    for control in SCENE_CONTROLS:
        assert controls()[control.hidden_by] == control.label
    labels = {name: label for name, label in controls().items() if not label}
    assert labels == {}


@pytest.mark.parametrize(("key", "value"), [("data", "noise"), ("params", "ones"), ("seed", -1)])
def test_a_value_that_is_not_legal_changes_nothing_and_costs_little(key, value):
    view = view_of("shape=641,1,1,1&layer=LayerNorm([1,1,1])")
    found = cost(lambda: inputs_of(view)[key].changed(view, value))
    assert f"{key}='{value}'" in found.result.problem
    assert found.result.scene == view.scene
    assert found.calls < 1500


def test_the_labels_of_the_data_name_every_example():
    assert list(DATA_LABELS) == ["normal", "counting", "scales", "images"]
    assert list(PARAMETER_LABELS) == ["init", "index", "random"]


def test_a_setting_of_a_page_takes_what_its_link_takes():
    momentum = next(one for one in PAGES["train_and_eval"].settings if one.name == "momentum")
    view = view_of("", "train_and_eval")
    (one,) = control_inputs(momentum, view)
    assert isinstance(one.widget, Slider)
    assert (one.key, one.label, one.value) == ("set_momentum", "momentum (0 to 1, or none)", "0.1")
    assert one.changed(view, list(one.widget.options)[-1]).settings["momentum"] is None


def test_a_slider_over_a_few_values_has_the_value_of_its_view_too():
    for name, link, around in (("momentum", "0.37", ("0.3", "0.5")), ("batch_size", "9", ("8", "16"))):
        view = view_of(f"{name}={link}", "train_and_eval")
        (one,) = control_inputs(next(each for each in PAGES["train_and_eval"].settings if each.name == name), view)
        labels = list(one.widget.options)
        place = labels.index(one.value)
        assert labels[place - 1 : place + 2] == [around[0], link, around[1]]
        assert one.changed(view, labels[place - 1]).settings[name] == float(around[0])


def test_a_typed_setting_of_a_page_takes_what_its_link_takes():
    scale = next(one for one in PAGES["numerics"].settings if one.name == "scale")
    view = view_of("show=single", "numerics")
    (one,) = control_inputs(scale, view)
    assert isinstance(one.widget, TextField)
    assert one.changed(view, " 1e3 ").settings["scale"] == 1000
    refused = one.changed(view, "-1")
    assert (refused.settings, refused.problem) == (view.settings, "scale='-1' must be a number from 0 to 10,000.")


def test_both_texts_of_a_pattern_are_taken_together():
    view = view_of("layer=Norm('n c h w -> n','c')")
    one = inputs_of(view)["own_stats"]
    after = one.changed(view, ("n c h w -> h", " none "))
    assert repr(after.scene.layer) == "Norm('n c h w -> h')"


def test_labels_follow_the_language_of_the_reader():
    token = language.set("xx")
    try:
        assert (
            inputs_of(view_of(""))["data"].label == "Values of x"
        )  # there is no such translation, so the label is English
    finally:
        language.reset(token)


@pytest.mark.parametrize(
    ("link", "has_note"), [("", True), ("layer=BatchNorm2d(3)", False), (LAYERS[4], False), ("hide=more", False)]
)
def test_more_says_why_a_layer_has_no_mode(link, has_note):
    (row,) = [row for row in PAGES["explore"].input_rows(view_of(link)) if row.key == "controls"]
    assert bool(row.note) == has_note
    assert [one.note for one in rows_data([row])] == [row.note]
