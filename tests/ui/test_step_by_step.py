"""Step by step without a browser: every step, its address, and what the module never sends."""

import pytest

from tests.ui.driver import query, said, sent, turned
from tests.ui.lessons import told
from tests.ui.pages import complete, figures, page, tabs


@pytest.mark.parametrize("step", range(7))
def test_every_step_has_its_address(step):
    app = page("step_by_step", f"step={step}&layer=BatchNorm2d(3)")
    complete(app)
    assert figures(app)[0]["step"] == step


@pytest.mark.parametrize("layer", ["RMSNorm(4)", "InstanceNorm2d(3)", "BatchNorm2d(3,affine=False).eval()"])
def test_a_step_that_a_layer_has_not_is_its_last(layer):
    (data,) = figures(page("step_by_step", f"step=6&layer={layer}"))
    assert data["step"] == len(data["panels"]) - 1 < 6


def test_the_button_of_a_step_changes_the_address_and_a_control_keeps_the_step():
    app = sent(page("step_by_step"), "step", {"step": 4})
    complete(app)
    assert query(app) == {"step": "4"}
    app = turned(app, "family", "BatchNorm")
    complete(app)
    assert query(app)["step"] == "4"
    assert said(app).startswith("`BatchNorm2d(3)` on (2, 3, 4, 4): ")
    assert app.button(key="reset").click().run().query_params == {}


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


@pytest.mark.parametrize("value", HOSTILE_STEPS, ids=str)
def test_steps_that_the_module_never_sends_do_no_harm(value):
    app = sent(page("step_by_step", "step=2"), "step", value)
    complete(app)
    assert query(app) == {"step": "2"}


@pytest.mark.parametrize(("step", "nearest"), [(-1, "0"), (10**9, "6")])
def test_a_step_beyond_the_last_is_the_last(step, nearest):
    app = sent(page("step_by_step", "step=2"), "step", {"step": step})
    complete(app)
    assert query(app) == {"step": nearest}


def test_a_tensor_too_large_for_values_has_no_steps_and_says_so():
    app = page("step_by_step", "shape=100000,100000")
    complete(app)
    assert figures(app) == []
    assert any("too large to compute" in note for note in told(app))


def test_the_courses_own_functions_are_shown():
    shown = "\n".join(tabs(page("step_by_step")).values())
    assert "def layernorm_forward(" in shown
    assert "def layernorm_backward(" in shown
