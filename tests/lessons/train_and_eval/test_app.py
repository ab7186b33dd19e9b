"""Train and eval without a browser: extreme settings, every control, and invalid entries."""

import re

import pytest

from normviz.lessons.pages import PAGES
from normviz.scene.setting import Slider, TextField
from tests.support.driver import query, sentence_text, set_control
from tests.support.needs import cases_in_torch
from tests.support.opened import Opened, in_the_app_too, opened
from tests.support.pages import check_no_errors, check_page, open_page
from tests.support.shown import elements, figures, notes, problems, texts

EXTREMES = [
    "steps=1", "steps=500&batch_size=1024", "steps=500&batch_size=2", "momentum=0", "momentum=1", "momentum=none", "momentum=1e-12",
    "drift=10&steps=500", "drift=-10&steps=500&momentum=none", "seed=2147483647", "show=batches", "show=batches&seed=2147483647",
    "show=sequences", "show=sequences&count=2&longest=1", "show=sequences&count=256&longest=100", "show=sequences&count=2&longest=100",
    "show=devices", "show=devices&devices=2", "show=devices&devices=8", "show=modes", "show=modes&shape=2,1",
    "show=modes&layer=BatchNorm2d(3)", "show=modes&layer=BatchNorm2d(3).eval()", "show=modes&layer=BatchNorm2d(3,momentum=None)",
    "show=modes&layer=BatchNorm2d(3,track_running_stats=False)", "show=modes&layer=InstanceNorm2d(3,track_running_stats=True)",
    "show=modes&layer=SyncBatchNorm(3)", "show=modes&shape=6", "show=modes&shape=3,4,4&layer=InstanceNorm2d(3)",
    "show=modes&shape=2,4,4,3&layout=NHWC&layer=BatchNorm2d(4)", "show=modes&shape=5,4&layer=BatchNorm1d(4)&data=counting",
    "show=modes&shape=2,3&layer=LayerNorm(3,eps=0)&values=1,1,1,2,2,2",
]  # fmt: skip


IN_THE_APP = ["steps=1", "show=batches", "show=sequences", "show=devices", "show=modes"]


@pytest.mark.parametrize(
    ("opens", "link"), [(opened, link) for link in EXTREMES] + [(open_page, link) for link in IN_THE_APP]
)
def test_train_and_eval_with_extreme_settings(opens, link):
    app = opens("train_and_eval", link)
    check_no_errors(app)
    assert elements(app, "nv-sentence")
    assert figures(app)
    assert not notes(app)
    assert not re.search(r"\b(nan|inf)\b", sentence_text(app) + texts(app))


def test_modes_states_the_difference_between_train_and_eval():
    app = open_page("train_and_eval", "show=modes&shape=2,3,4,4&layer=BatchNorm2d(3)")
    assert sentence_text(app).startswith("`BatchNorm2d(3)` differs in 96 of 96 elements, by up to ")
    assert [panel["title"] for panel in figures(app)[0]["panels"]] == ["train()", "eval()", "train() − eval()"]
    assert sentence_text(open_page("train_and_eval", "show=modes")).startswith("`BatchNorm2d(")
    assert sentence_text(open_page("train_and_eval", "show=modes&shape=2,3,4,4&layer=LayerNorm([3,4,4])")) == (
        "`LayerNorm([3, 4, 4])` gives the same output in train() and eval(): it stores nothing between batches."
    )


TRAINING_CONTROLS = [
    # address, control, its new value, the resulting address
    ("show=stream", "show", "modes", {"show": "modes", "layer": "BatchNorm2d(4)", "shape": "2,4,3,5"}),
    ("layer=RMSNorm([3,4,4])&shape=2,3,4,4", "show", "modes", {"show": "modes", "layer": "RMSNorm([3,4,4])", "shape": "2,3,4,4"}),
    ("show=stream", "show", "batches", {"show": "batches"}),
    ("show=stream", "show", "sequences", {"show": "sequences"}),
    ("show=stream", "show", "devices", {"show": "devices"}),
    ("show=devices", "show", "stream", {"show": "stream"}),
    ("show=stream", "set_batch_size", "2", {"batch_size": "2"}),
    ("show=stream", "set_batch_size", "1024", {"batch_size": "1024"}),
    ("show=stream", "set_momentum", "none", {"momentum": "none"}),
    ("show=stream", "set_momentum", "0", {"momentum": "0"}),
    ("show=stream", "set_momentum", "1", {"momentum": "1"}),
    ("momentum=none", "set_momentum", "0.1", {"show": "stream"}),
    ("momentum=0.37", "set_momentum", "0.5", {"momentum": "0.5"}),
    ("show=stream", "set_drift", "-10", {"drift": "-10"}),
    ("show=stream", "set_drift", "10", {"drift": "10"}),
    ("show=stream", "set_steps", "1", {"steps": "1"}),
    ("show=stream", "set_steps", "500", {"steps": "500"}),
    ("show=sequences", "set_count", "2", {"show": "sequences", "count": "2"}),
    ("show=sequences", "set_count", "256", {"show": "sequences", "count": "256"}),
    ("show=sequences", "set_longest", "1", {"show": "sequences", "longest": "1"}),
    ("show=sequences", "set_longest", "100", {"show": "sequences", "longest": "100"}),
    ("show=devices", "set_devices", "2", {"show": "devices", "devices": "2"}),
    ("show=devices", "set_devices", "8", {"show": "devices", "devices": "8"}),
    ("show=modes&shape=2,3,4,4&layer=LayerNorm([3,4,4])", "family", "BatchNorm", {"show": "modes", "layer": "BatchNorm2d(3)", "shape": "2,3,4,4"}),
    ("show=modes&shape=2,3,4,4&layer=LayerNorm([3,4,4])", "layout", "ND", {"show": "modes", "layer": "LayerNorm([6])", "shape": "4,6"}),
]  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize(("opens", "link", "key", "value", "then"), in_the_app_too(TRAINING_CONTROLS, 1, open_page))
def test_a_control_of_train_and_eval_changes_the_sentence_and_the_address(opens, link, key, value, then):
    before = opens("train_and_eval", link)
    was = sentence_text(before)
    app = set_slider(before, key, value) if key.startswith("set_") else set_control(before, key, value)
    check_page(app)
    assert {name: text for name, text in query(app).items() if name != "at"} == then
    assert sentence_text(app) != was


def set_slider(app, key, label):
    """Move the slider to the step with this label."""
    assert label in (app.inputs[key].widget.options if isinstance(app, Opened) else app.select_slider(key=key).options)
    return set_control(app, key, label)


def test_every_slider_of_train_and_eval_goes_from_one_end_to_the_other_without_an_error():
    for name in [one.name for one in PAGES["train_and_eval"].experiments]:
        app = opened("train_and_eval", f"show={name}")
        for slider in app.inputs.values():
            assert not isinstance(slider.widget, TextField)
            if isinstance(slider.widget, Slider):
                assert re.search(r"\(.+ to .+\)", slider.label)
                lowest, *_others, highest = slider.widget.options
                for option in (lowest, highest):
                    app = set_control(app, slider.key, option)
                    check_page(app)


REFUSED = [
    ("batch_size", "1", "from 2 to 1,024"),
    ("batch_size", "1025", "from 2 to 1,024"),
    ("batch_size", "eight", "a whole number"),
    ("momentum", "2", "momentum='2' must be a number, or none, from 0 to 1."),
    ("momentum", "", "momentum='' must be a number, or none, from 0 to 1."),
    ("drift", "10.5", "from -10 to 10."),
    ("steps", "1000000000", "from 1 to 500"),
    ("steps", "0", "from 1 to 500"),
]


@pytest.mark.parametrize(("opens", "name", "text", "words"), in_the_app_too(REFUSED, 0, open_page))
def test_an_invalid_number_in_a_link_gives_one_warning_and_the_sliders_answer(opens, name, text, words):
    app = opens("train_and_eval", f"{name}={text}")
    assert not app.exception
    (warning,) = problems(app)
    assert words in warning
    check_page(
        set_slider(app, f"set_{name}", {"drift": "0.5", "momentum": "0.5"}.get(name, "20" if name == "steps" else "16"))
    )


def test_a_batch_of_one_shows_the_error_of_torch():
    words = "Expected more than 1 value per channel when training, got input size torch.Size([1, 3])"
    assert words in texts(open_page("train_and_eval", "show=batches"))
    alone = "The first example alone, in train(): torch refuses. `Expected more than 1 value per channel when training"
    assert alone in texts(open_page("train_and_eval", "show=modes&shape=4,3&layer=BatchNorm1d(3)"))


NO_MODES = [
    ("layer=Norm('n c h w -> c','c')", "a pattern has neither train() nor eval()"),
    ("layer=DimNorm(4,dim=0)&layout=NCHW", "torch.nn has no DimNorm"),
]


@pytest.mark.parametrize(("link", "words"), NO_MODES)
@pytest.mark.parametrize("more", ["", "&momentum=7"])
def test_a_note_replaces_the_figure_if_the_layer_has_no_modes(link, words, more):
    app = opened("train_and_eval", f"show=modes&{link}{more}")
    assert not app.exception
    assert any(words in note for note in notes(app))
    assert len(problems(app)) == bool(more)
    assert figures(app) == []
