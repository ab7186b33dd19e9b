"""Editing single values of x in the browser: a field over the cell changes all results."""

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from normviz.scene.scene import Scene
from tests.browser.agreement import assert_arithmetic
from tests.browser.view import Index, View

pytestmark = pytest.mark.browser

SMALL = "?shape=3,4&layer=LayerNorm(4)&data=counting&at=0,3&open=values,worked"


def field(view: View) -> Locator:
    return view.find(".nv-field")


def values(scene: Scene, index: Index, value: float) -> str:
    """x with one value changed, as the address has it."""
    x = scene.description.x.clone()
    x[index] = value
    return ",".join(f"{number:.9g}" for number in x.flatten().tolist())


def test_a_double_click_a_number_and_enter_change_the_value_and_all_results_and_a_second_edit_keeps_the_first(look):
    view = look(SMALL)
    before = view.scene
    view.double_click("x", (1, 2))
    expect(field(view)).to_be_focused()
    assert float(field(view).input_value()) == float(before.description.x[1, 2])
    view.page.keyboard.type("-2.5")
    view.page.keyboard.press("Enter")
    view.wait_for_view(values=values(before, (1, 2), -2.5), at="1,2")
    expect(field(view)).to_have_count(0)
    assert view.readout.index == (1, 2)
    assert view.hover("x", (1, 2)).value == -2.5
    assert_arithmetic(view.worked(), view.scene, (1, 2))
    first = view.scene
    view.page.go_back()  # an edit is one history entry
    view.wait_for_view(values=None)
    np.testing.assert_array_equal(view.scene.description.x, before.description.x)
    view.page.go_forward()
    view.wait_for_view(values=values(before, (1, 2), -2.5))
    view.double_click("x", (2, 3))
    view.page.keyboard.type("0.125")
    view.page.keyboard.press("Enter")
    view.wait_for_view(values=values(first, (2, 3), 0.125))
    assert view.scene.description.x[1, 2] == -2.5


def test_dragging_a_cell_upwards_makes_its_value_larger_and_selects_nothing_else(look):
    view = look(SMALL)
    before, (x, y) = view.scene, view.spot("x", (1, 1))
    view.page.mouse.move(x, y)
    view.page.mouse.down()
    view.page.mouse.move(x, y - 23, steps=2)  # x is up to 11: 200 px are a change by 22
    expect(field(view)).to_have_value("7.5")
    view.page.mouse.up()
    view.wait_for_view(values=values(before, (1, 1), 7.5), at="1,1")
    expect(field(view)).to_have_count(0)


def test_escape_cancels_and_invalid_text_gets_a_message_and_changes_nothing(look):
    view = look(SMALL)
    view.double_click("x", (1, 1))
    view.page.keyboard.type("99")
    view.page.keyboard.press("Escape")
    expect(field(view)).to_have_count(0)
    view.wait_for_view(at="1,1", values=None)  # the double click only selected the element
    expect(view.panel("x")).to_be_focused()
    before = view.query
    for nonsense in ("abc", "", "1e13"):  # other texts: tests/scripts/test_distribution.py
        view.page.get_by_role("button", name="Edit a value").click()
        field(view).fill(nonsense)
        view.page.keyboard.press("Enter")
        expect(field(view)).to_have_attribute("aria-invalid", "true")
        expect(view.page.get_by_role("alert").filter(has_text=f"“{nonsense}” is not a number")).to_be_visible()
        assert field(view).input_value() == nonsense
        assert view.query == before
        view.page.keyboard.press("Escape")
        expect(field(view)).to_have_count(0)
    view.double_click("x", (2, 0))
    field(view).fill("half")
    view.page.keyboard.press("Enter")
    field(view).fill("0,5")  # may be 0.5 or 05: what was typed stays, also where the reader leaves the field
    view.find(".nv-sentence").click()
    expect(view.page.get_by_role("alert").filter(has_text="Write 0.5 if you mean that number.")).to_be_visible()
    expect(field(view)).to_have_value("0,5")
    assert "values" not in view.query
    field(view).fill("0.5")
    field(view).press("Enter")
    view.wait_for_view(values=values(view.scene, (2, 0), 0.5))


def test_leaving_the_field_applies_a_number_and_discards_invalid_text(look):
    view = look(SMALL)
    before = view.scene
    view.double_click("x", (0, 1))
    field(view).fill("5")
    view.find(".nv-sentence").click()
    view.wait_for_view(values=values(before, (0, 1), 5))
    view.double_click("x", (0, 2))
    field(view).fill("five")
    view.find(".nv-sentence").click()
    expect(field(view)).to_have_count(0)
    view.wait_for_view(values=values(before, (0, 1), 5), at="0,2")


def test_typing_a_digit_on_a_cell_starts_editing_and_the_button_keeps_the_focus_after_a_change(look):
    view = look(SMALL)
    before = view.scene
    view.panel("x").focus()
    view.page.keyboard.press("ArrowLeft")
    view.page.keyboard.type("-4")
    view.page.keyboard.press("Enter")
    view.wait_for_view(values=values(before, (0, 2), -4), at="0,2")
    view.page.get_by_role("button", name="Edit a value").click()
    expect(field(view)).to_have_value("-4")
    view.page.keyboard.press("Escape")
    button = view.page.get_by_role("button", name="Edit a value")
    button.focus()
    view.page.evaluate(
        "history.pushState({}, '', '?shape=3,4&layer=LayerNorm(4)&open=values,worked'); dispatchEvent(new PopStateEvent('popstate'))"
    )
    view.wait_for_scene()
    expect(button).to_be_focused()  # although the page has changed


def test_a_large_tensor_cannot_be_edited(look):
    view = look("?shape=129&layer=LayerNorm(129)&open=values,worked")
    assert not view.scene.editable
    view.double_click("x", (1,))
    view.wait_for_view(at="1")
    assert view.page.get_by_role("button", name="Edit a value").count() == field(view).count() == 0
