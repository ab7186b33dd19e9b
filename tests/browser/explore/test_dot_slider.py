"""The dot of the selected element in the strip x is dragged, or moved with keys: its group follows at once. Undo, and the typed index."""

import pytest
from playwright.sync_api import Locator, expect

from normviz.scene import edits
from normviz.scene.scene import Scene
from tests.browser.agreement import assert_arithmetic, assert_readout
from tests.browser.view import Index, View

pytestmark = pytest.mark.browser

IMAGES = "?shape=2,3,2,2&layer=BatchNorm2d(3)&params=random&at=1,2,0,1&open=values,worked"
ROWS = "?shape=3,4&layer=LayerNorm(4)&data=counting&at=0,3&open=values,worked"
LEAST_TARGET, HIGHEST_STRIP = 24, 52  # px; lower, the labels of a row would touch the axis of the next one

# Scrolls an element to the middle of the window, so that nothing covers it.
CENTER = "element => element.scrollIntoView({ block: 'center' })"


@pytest.fixture
def look(look):
    """Like ``look``, with x and output alone: the tab is that of other tests."""

    def go(query: str) -> View:
        view = look(query)
        view.show_stages(every=False)
        return view

    return go


def slider(view: View) -> Locator:
    return view.page.get_by_role("slider", name="x[")


def undo(view: View) -> Locator:
    return view.page.get_by_role("button", name="Undo")


def drag(view: View, pixels: float) -> None:
    """Drag the dot, without letting it go."""
    slider(view).evaluate(CENTER)
    box = slider(view).locator("circle").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    view.page.mouse.move(x, y)
    view.page.mouse.down()
    view.page.mouse.move(x + pixels, y, steps=4)


def value_now(view: View) -> float:
    return float(slider(view).get_attribute("aria-valuenow"))


def with_value(scene: Scene, index: Index, value: float) -> Scene:
    return edits.with_value(scene, index, value).scene


def test_while_the_dot_is_dragged_everything_follows_as_in_torch_and_the_address_when_it_is_let_go(look):
    view = look(IMAGES)
    before, at, address = view.scene, (1, 2, 0, 1), view.address
    ticks = view.find(".nv-tick").evaluate_all(
        "ticks => ticks.map((tick) => [tick.textContent, tick.getAttribute('x')])"
    )
    drag(view, 120)
    dragged = with_value(before, at, value_now(view))
    assert dragged.description.x[at] > before.description.x[at] + 0.2
    view.wait_for_scene(dragged)  # the panels: other groups are as before
    assert_readout(view.readout, dragged, at)
    assert_arithmetic(view.worked(), dragged, at)
    assert view.address == address
    assert ticks == view.find(".nv-tick").evaluate_all(
        "ticks => ticks.map((tick) => [tick.textContent, tick.getAttribute('x')])"
    )
    view.page.mouse.up()
    view.wait_for_view(**{"values": dragged.query()["values"]})
    assert value_now(view) == pytest.approx(float(view.scene.description.x[at]))
    undo(view).click()
    view.wait_for_view(values=None)
    expect(undo(view)).to_be_hidden()


def test_escape_brings_the_value_back_and_a_click_on_the_dot_changes_nothing(look):
    view = look(IMAGES)
    before, address = view.scene, view.address
    drag(view, -80)
    view.page.keyboard.press("Escape")
    view.wait_for_scene(before)
    view.page.mouse.up()
    drag(view, 0)
    view.page.mouse.up()
    view.wait_for_scene(before)
    assert view.address == address


def test_the_dot_is_a_slider_with_keys_and_ctrl_z_takes_the_last_change_back(look):
    view = look(ROWS)
    before, at = view.scene, (0, 3)
    expect(slider(view)).to_have_attribute("aria-label", "x[0, 3]")
    expect(slider(view)).to_have_attribute("aria-valuetext", "3; mean 1.5, variance 1.25")
    assert view.find(".nv-strips").get_attribute("role") == "group"
    slider(view).focus()
    for key in ("End", "Home", "ArrowRight", "PageUp"):
        now, low, high = (float(slider(view).get_attribute(f"aria-value{end}")) for end in ("now", "min", "max"))
        view.page.keyboard.press(key)
        if key in ("End", "Home"):
            assert value_now(view) == {"End": high, "Home": low}[key]
        else:
            assert now < value_now(view) < now + (high - low) / 4
        view.wait_for_view(values=with_value(before, at, value_now(view)).query()["values"])
        expect(slider(view)).to_be_focused()
    view.page.keyboard.press("Control+z")
    view.wait_for_view(values=with_value(before, at, now).query()["values"])


def test_the_target_is_large_enough_the_strips_are_low_and_a_finger_scrolls_up_and_down(look):
    view = look(ROWS)
    box = slider(view).locator("circle").first.bounding_box()
    assert min(box["width"], box["height"]) >= LEAST_TARGET
    assert slider(view).evaluate("dot => getComputedStyle(dot).touchAction") == "pan-y"
    heads = view.find(".nv-stage").evaluate_all("texts => texts.map((text) => Number(text.getAttribute('y')))")
    assert len(heads) == 2
    assert heads[1] - heads[0] <= HIGHEST_STRIP


def test_where_x_cannot_be_edited_the_dot_is_no_slider(look):
    view = look("?shape=10,13&layer=LayerNorm(13)&at=1,1")
    expect(view.find(".nv-dot-selected").first).to_be_visible()
    expect(slider(view)).to_have_count(0)
    assert view.find(".nv-strips").get_attribute("role") == "img"


def test_dots_of_other_examples_are_hollow(look):
    hollow = look(IMAGES).find(".nv-dot-hollow")
    expect(hollow).to_have_count(8)  # 4 positions of the other example, in x and in the output
    hollow = look("?shape=2,3,2,2&layer=LayerNorm([3,2,2])&at=1,2,0,1").find(".nv-dot-hollow")
    expect(hollow).to_have_count(0)


def test_x_and_output_are_shown_and_all_stages_on_demand_until_the_page_is_left(look):
    view = look(IMAGES)
    names = view.find(".nv-stage")
    expect(names).to_have_text(["x", "output"])
    view.page.get_by_role("button", name="Show all four").click()
    expect(names).to_have_text(["x", "centered", "normalized", "output"])
    view.click("stats", (0, 0, 1, 1))
    view.wait_for_view(at="0,0,1,1")
    view.go("?shape=2,3,2,2&layer=RMSNorm([3,2,2])&at=1,2,0,1")
    expect(names).to_have_text(["x", "normalized", "output"])
    view.page.get_by_role("button", name="Show x and output").click()
    expect(names).to_have_text(["x", "output"])


def test_a_drag_in_a_file_shows_what_follows_and_can_be_undone(look_file):
    view = look_file(ROWS)
    before, at = view.scene, (0, 3)
    drag(view, 200)
    view.page.mouse.up()
    now = value_now(view)
    assert now > 3.2
    view.wait_for_scene(with_value(before, at, now))
    undo(view).click()
    view.wait_for_scene(before)


def test_dragging_a_cell_makes_its_group_follow(look):
    view = look(ROWS)
    before, (x, y) = view.scene, view.spot("x", (1, 1))
    view.page.mouse.move(x, y)
    view.page.mouse.down()
    view.page.mouse.move(x, y - 23, steps=2)  # x is up to 11: 200 px are a change by 22
    dragged = with_value(before, (1, 1), 7.5)
    view.wait_for_scene(dragged)
    expect(view.find(".nv-distribution h2")).to_contain_text("x[1, 1]")
    assert_readout(view.readout, dragged, (1, 1))
    view.page.mouse.up()
    view.wait_for_view(values=dragged.query()["values"], at="1,1")


def index_field(view: View) -> Locator:
    view.unfold(".nv-ask")
    return view.page.get_by_label("Index of the selected element")


def test_a_typed_index_selects_the_element_and_a_wrong_one_stays_with_a_message(look_both):
    view = look_both("?shape=2,3,2,2&layer=BatchNorm2d(3)&at=1,2,0,1")
    field = index_field(view)
    expect(field).to_have_value("1, 2, 0, 1")
    field.fill("0, 7, 1, 1")
    field.press("Enter")
    expect(view.page.get_by_role("alert").filter(has_text="0, 7, 1, 1")).to_have_text(
        "“0, 7, 1, 1” is not an element of x. Write one number for each axis: N from 0 to 1, C from 0 to 2, H from 0 to 1, W from 0 to 1."
    )
    expect(field).to_have_value("0, 7, 1, 1")
    view.wait_for_scene()  # of the same element
    field.fill("0, 1, 1, 0")
    field.press("Enter")
    view.wait_for_view(at="0,1,1,0")
    assert view.readout.index == (0, 1, 1, 0)
    expect(view.find(".nv-index-message")).to_be_hidden()


def test_an_element_that_is_not_drawn_is_drawn_when_its_index_is_typed(look):
    view = look("?shape=32,128,768&layer=LayerNorm(768)")
    index_field(view).fill("31, 100, 500")
    index_field(view).press("Enter")
    view.wait_for_view(**{"at": "31,100,500", "from": "0,100,500"})
    assert view.readout.index == (31, 100, 500)


def test_gamma_and_beta_of_the_sliders_are_in_the_link(look):
    view = look(ROWS)
    view.page.get_by_role("button", name="Show all four").click()
    for name, value in (("gamma", "1.8"), ("beta", "-0.5")):
        view.find(f".nv-slider:has-text('{name}') input").evaluate(
            "(input, value) => { input.value = value; for (const name of ['input', 'change']) input.dispatchEvent(new Event(name)); }",
            value,
        )
        view.wait_for_address(**{name: value})
    look(f"{ROWS}&gamma=1.8&beta=-0.5")
    view.show_stages(every=True)
    expect(view.find(".nv-slider output")).to_have_text(["1.8 for every element", "−0.5 for every element"])
    assert_readout(view.readout, view.scene, (0, 3))
    view.page.get_by_role("button", name="The layer's own").click()
    view.wait_for_view(gamma=None, beta=None)
    expect(view.find(".nv-slider output")).to_have_text(["1", "0"])


def test_after_undo_the_focus_is_on_a_figure_where_the_values_are_folded(look):
    view = look(IMAGES.replace("&open=values,worked", ""))
    slider(view).press("ArrowRight")
    undo(view).press("Enter")
    expect(undo(view)).to_be_hidden()
    expect(view.find(".nv-panel svg:focus")).to_be_visible()


def test_without_a_selected_element_gamma_and_beta_have_their_sliders(look):
    view = look(ROWS.replace("at=0,3", "at=none"))
    expect(view.page.get_by_role("button", name="Show all")).to_have_count(0)
    expect(view.find(".nv-slider input")).to_have_count(2)
    expect(view.find(".nv-slider input").first).to_be_visible()
