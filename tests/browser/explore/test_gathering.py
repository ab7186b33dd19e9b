"""A pressed cell shows how the mean of its group is made: values travel into one chip and on into the strip of dots, once for each group."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

MOST, LONGEST = 60, 1000  # values; ms

# Press a cell, and look at what moves before any time has passed. A click counts twice in a row as a double click, so its detail is 1. Without
# its pointerdown, a click would count as the end of a drag of slices, if one was the last thing before.
PRESS = """([key, x, y]) => {
  const over = document.querySelector(`.nv-panel-${key} .nv-over`);
  over.dispatchEvent(new PointerEvent("pointerdown", { clientX: x, clientY: y, bubbles: true }));
  over.dispatchEvent(new MouseEvent("click", { clientX: x, clientY: y, detail: 1, bubbles: true }));
  const moving = document.querySelector(".nv-gathering");
  return moving && {
    values: moving.querySelectorAll(".nv-traveller").length, chip: moving.querySelector(".nv-gathered").textContent,
    time: Math.max(...moving.getAnimations({ subtree: true }).map((one) => one.effect.getComputedTiming().endTime)),
  };
}"""


def press(view, key, index):
    return view.page.evaluate(PRESS, [key, *view.spot(key, index)])


def test_values_travel_into_one_chip_once_for_each_group_until_the_reader_goes_on(look):
    view = look("?shape=3,4&layer=LayerNorm(4)&data=counting&at=0,3")
    view.page.emulate_media(reduced_motion="no-preference")
    found = press(view, "stats", (1, 0))  # 4 5 6 7
    assert (found["values"], found["chip"]) == (4, "mean 5.5 · variance 1.25")
    assert found["time"] < LONGEST
    view.page.keyboard.press("Shift")
    expect(view.find(".nv-gathering")).to_have_count(0)
    assert press(view, "stats", (1, 2)) is None  # the same group
    assert press(view, "params", (2, 2))["values"] == 4
    expect(view.find(".nv-gathering")).to_have_count(0)  # it ends by itself
    view.page.emulate_media(reduced_motion="reduce")
    assert press(view, "stats", (0, 0)) is None
    view.wait_for_view(at="0,0")  # the next test must not meet the change of the address


def test_at_most_60_values_of_a_group_travel_and_stored_statistics_are_not_made_of_x(look):
    view = look("?shape=2,4,4,5&layer=LayerNorm([4,4,5])&at=0,0,0,0")
    view.page.emulate_media(reduced_motion="no-preference")
    assert press(view, "stats", (1, 0, 0, 0))["values"] == MOST
    view.wait_for_view(at="1,0,0,0")
    view = look("?shape=2,4,4,5&layer=RMSNorm([4,4,5])&at=0,0,0,0")
    assert "mean square" in press(view, "stats", (1, 0, 0, 0))["chip"]
    view.wait_for_view(at="1,0,0,0")
    view = look("?shape=2,4,4,5&layer=BatchNorm2d(4).eval()&at=0,0,0,0")
    assert press(view, "stats", (1, 1, 0, 0)) is None
    view.wait_for_view(at="1,1,0,0")  # the next test shares the page
