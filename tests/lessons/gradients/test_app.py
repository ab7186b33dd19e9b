"""Gradients without a browser: extreme settings, every control, and layers without a derivative."""

import pytest

from normviz.lessons.pages import PAGES
from tests.support.driver import query, send_event, sentence_text, set_control
from tests.support.needs import cases_in_torch, needs_rms_norm
from tests.support.opened import opened
from tests.support.pages import check_no_errors, check_page, open_page
from tests.support.shown import elements, figures, notes, problems

GRADIENTS = [
    "", "layer=RMSNorm(4)", "layer=BatchNorm2d(3)", "layer=BatchNorm2d(3).eval()", "layer=Norm('n c h w ->','')", "shape=1", "shape=1,1",
    "shape=4096&layer=LayerNorm(4096)", "shape=4,16,8,8", "layer=InstanceNorm2d(3)", "at=none", "input=outlier", "input=signs",
    "shape=2,2,2,2,2,2,2,2,2,2,2,2", "shape=2,3&layer=LayerNorm(3,eps=0)&values=1,1,1,2,2,2", "shape=2,3&layer=RMSNorm(3,eps=0)&values=0,0,0,0,0,0",
    "shape=2,3&values=1e12,-1e12,1e12,-1e12,0,1e-30", "shape=5,4&layer=BatchNorm1d(4)&data=counting",
]  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize("show", [one.name for one in PAGES["gradients"].experiments])
@pytest.mark.parametrize(("opens", "link"), [*((opened, link) for link in GRADIENTS), (open_page, "shape=1")])
def test_gradients_with_extreme_settings(opens, link, show):
    app = opens("gradients", "&".join(filter(None, [link, f"show={show}"])))
    check_no_errors(app)
    instead = [note for note in notes(app) if "is that of one element" not in note]  # that one stands beside a figure
    assert elements(app, "nv-sentence") or instead
    assert bool(figures(app)) == (not instead)


@needs_rms_norm
def test_the_sentence_counts_the_outputs_that_one_input_moves():
    app = open_page("gradients", "shape=2,3&layer=LayerNorm(3)&values=1,2,6,4,4,5&at=0,1")
    assert sentence_text(app) == (
        "3 of 6 derivatives with respect to x[0, 1] are not 0, all in its statistics group of 3. The 3 derivatives outside are exactly 0."
    )
    keys = [panel["key"] for panel in figures(app)[0]["panels"]]
    assert keys == ["autograd", "mean", "var"]
    without_mean = figures(open_page("gradients", "layer=RMSNorm(4)"))[0]["panels"]
    assert [panel["key"] for panel in without_mean] == ["autograd", "var"]
    in_eval = open_page("gradients", "shape=2,3,4,4&layer=BatchNorm2d(3).eval()")
    assert [panel["key"] for panel in figures(in_eval)[0]["panels"]] == ["autograd"]
    assert "1 of 96 derivatives" in sentence_text(in_eval)


def test_in_eval_mode_the_jacobian_of_batch_norm_is_diagonal():
    assert "Only the diagonal is left" not in sentence_text(open_page("gradients", "show=matrix&layer=BatchNorm2d(3)"))
    app = open_page("gradients", "show=matrix&shape=2,3,4,4&layer=BatchNorm2d(3).eval()")
    assert sentence_text(app).startswith("9,120 of 9,216 derivatives are exactly 0. Only the diagonal is left")


@pytest.mark.parametrize(("elements", "words"), [(128, ""), (256, "the first 128 of 256 are drawn")])
def test_a_note_says_which_part_of_a_large_jacobian_is_drawn(elements, words):
    (data,) = figures(open_page("gradients", f"shape={elements}&layer=LayerNorm({elements})&show=matrix"))
    assert list(map(len, data["grid"]["indices"])) == [128, 128]
    caption = data["panels"][0]["caption"]
    assert words in caption
    assert ("drawn" in caption) == bool(words)


GRADIENT_CONTROLS = [
    ("", "show", "matrix", {"show": "matrix"}),
    ("", "show", "parameters", {"show": "parameters"}),
    ("", "show", "backward", {"show": "backward"}),
    ("show=matrix", "show", "column", {}),
    ("", "input", "outlier", {"input": "outlier"}),
    ("", "input", "signs", {"input": "signs"}),
    ("input=signs", "input", "x", {}),
    ("", "family", "BatchNorm", {"layer": "BatchNorm2d(4)", "shape": "2,4,3,5"}),
    ("", "layout", "ND", {"layer": "LayerNorm([6])", "shape": "4,6"}),
    ("shape=2,3,4,4&layer=BatchNorm2d(3)", "training", False, {"layer": "BatchNorm2d(3).eval()", "shape": "2,3,4,4"}),
]


@pytest.mark.parametrize(("link", "key", "value", "then"), GRADIENT_CONTROLS)
def test_a_control_of_gradients_changes_the_sentence_and_the_address(link, key, value, then):
    before = open_page("gradients", link)
    was = sentence_text(before)
    app = set_control(before, key, value)
    check_page(app)
    assert {name: text for name, text in query(app).items() if name != "at"} == then
    assert sentence_text(app) != was


def test_the_backward_pass_is_that_of_the_chosen_layer():
    before = open_page("gradients", "show=backward&shape=2,3,4,4&layer=LayerNorm([3,4,4])")
    was = figures(before)[0]["panels"]
    app = set_control(before, "family", "BatchNorm")
    check_page(app)
    panels = figures(app)[0]["panels"]
    assert [panel["title"] for panel in panels] == [panel["title"] for panel in was]
    assert all(panel != other for panel, other in zip(panels[1:], was[1:], strict=True))  # the first is dout itself
    assert figures(set_control(app, "training", False))[0]["panels"] != panels


def test_a_click_moves_another_input():
    app = send_event(open_page("gradients", "layer=BatchNorm2d(3)"), "select", {"at": [0, 1, 2, 3]})
    check_page(app)
    assert sentence_text(app).split(", all")[0].endswith("derivatives with respect to x[0, 1, 2, 3] are not 0")
    assert query(app)["at"] == "0,1,2,3"


NO_FIGURE = [
    ("shape=100000,100000", "have up to 262,144 elements"),
    ("shape=256,257&show=backward", "up to 65,536 elements"),
    ("shape=257&layer=LayerNorm(257)&show=matrix", "up to 256 elements"),
    ("layer=InstanceNorm2d(3)&show=parameters", "InstanceNorm2d(3) has no gamma"),
    ("shape=2,3&input=signs", "groups of an even size"),
    ("layer=RMSNorm(4)&input=signs", '"signs" needs a layer that subtracts the mean'),
]


@cases_in_torch
@pytest.mark.parametrize(("link", "words"), NO_FIGURE)
@pytest.mark.parametrize("more", ["", "&at=x"])
def test_a_note_replaces_the_figure_if_there_is_no_derivative(link, words, more):
    app = opened("gradients", link + more)
    assert not app.exception
    assert any(words in note for note in notes(app))
    assert len(problems(app)) == bool(more)
    assert figures(app) == []
