"""Step by step without a browser: every step, its address, and invalid events."""

import pytest

from tests.support.driver import open_more, query, send_event, sentence_text, set_control
from tests.support.needs import cases_in_torch
from tests.support.opened import opened
from tests.support.pages import check_no_errors, check_page, open_page
from tests.support.shown import figures, notes, tabs


@pytest.mark.parametrize("step", range(7))
def test_every_step_has_an_address(step):
    app = opened("step_by_step", f"step={step}&layer=BatchNorm2d(3)")
    check_no_errors(app)
    assert figures(app)[0]["step"] == step


@cases_in_torch
@pytest.mark.parametrize("layer", ["RMSNorm(4)", "InstanceNorm2d(3)", "BatchNorm2d(3,affine=False).eval()"])
def test_a_step_that_the_layer_lacks_becomes_its_last_step(layer):
    (data,) = figures(opened("step_by_step", f"step=6&layer={layer}"))
    assert data["step"] == len(data["panels"]) - 1 < 6


def test_the_button_of_a_step_changes_the_address_and_a_control_keeps_the_step():
    app = send_event(open_page("step_by_step"), "step", {"step": 4})
    check_page(app)
    assert query(app) == {"step": "4"}
    app = set_control(app, "family", "BatchNorm")
    check_page(app)
    assert query(app)["step"] == "4"
    assert sentence_text(app).startswith("`BatchNorm2d(4)` on (2, 4, 3, 5): ")
    assert open_more(app).button(key="reset").click().run().query_params == {}


HOSTILE_STEPS = [
    {"step": "x"},
    {"step": None},
    {"step": 1e400},
    {"step": [1]},
    {"step": True},
    {"step": 2.5},
    {},
    "x",
    5,
]


def test_invalid_steps_are_ignored():
    app = open_page("step_by_step", "step=2")
    for value in HOSTILE_STEPS:
        app = send_event(app, "step", value)
        check_no_errors(app)
        assert query(app) == {"step": "2"}
        assert figures(app)[0]["step"] == 2
    check_page(app)


@pytest.mark.parametrize(("step", "nearest"), [(-1, "0"), (10**9, "6")])
def test_a_step_beyond_the_last_becomes_the_last(step, nearest):
    app = send_event(open_page("step_by_step", "step=2"), "step", {"step": step})
    check_page(app)
    assert query(app) == {"step": nearest}


def test_a_large_tensor_has_steps_and_a_note_replaces_them_if_its_groups_cannot_be_numbered():
    app = open_page("step_by_step", "shape=100000,100000")
    check_no_errors(app)
    assert figures(app)[0]["group"]["count"] == 100000
    app = open_page("step_by_step", "shape=1099511627776,1099511627776,4&layer=LayerNorm([4])")
    assert figures(app) == []
    assert any("groups are too many to number" in note for note in notes(app))


def test_the_functions_of_the_course_are_shown():
    shown = "\n".join(tabs(open_page("step_by_step")).values())
    assert "def layernorm_forward(" in shown
    assert "def layernorm_backward(" in shown
