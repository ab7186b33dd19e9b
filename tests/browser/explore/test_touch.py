"""Explore on a phone with a touch screen: taps, a finger on the dot, controls for a thumb, and values as tabs. One tab, loaded once."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import new_context
from tests.browser.explore.test_dot_slider import CENTER, ROWS, slider
from tests.browser.explore.test_layout import MISPLACED, PHONE
from tests.browser.view import View, peers
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

# The visible controls of our own that are lower or narrower than a number of pixels.
TOO_SMALL = """([selector, size]) => [...document.querySelectorAll(selector)].filter((part) => part.checkVisibility()).map((part) => [part, part.getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 1 && Math.min(width, height) < size - 0.5).map(([part, { width, height }]) => `${part.className}: ${width} x ${height}`)"""
PANELS = ".nv-values .nv-panel:visible"


@pytest.fixture(scope="module")
def phone(browser: Browser, server: str) -> Iterator[tuple[View, Watch]]:
    context = new_context(browser, viewport=PHONE, has_touch=True, is_mobile=True)
    watch = Watch(context.new_page())
    yield View(watch.page, server).open("?layer=BatchNorm2d(3)&at=none&open=values"), watch
    context.close()


@pytest.fixture
def look(phone: tuple[View, Watch]) -> Iterator[Callable[[str], View]]:
    view, watch = phone
    view.page.set_viewport_size(PHONE)
    yield view.go
    watch.check()


def test_a_page_opened_on_a_phone_is_not_cut_off_a_tap_selects_and_main_controls_are_44_px(look, phone):
    view, _watch = phone
    if view.query != {"layer": "BatchNorm2d(3)", "at": "none", "open": "values"}:  # another test came first
        view.open("?layer=BatchNorm2d(3)&at=none&open=values")
    assert view.page.evaluate(MISPLACED) == []
    for index in ((1, 1, 2, 3), (0, 2, 0, 0)):
        view.page.touchscreen.tap(*view.spot("stats", index))
        view.wait_for_view(at=",".join(map(str, index)))
        assert view.readout.index == index
        assert view.marked("stats") == index
        assert view.open_elements("params") == peers(view.scene, "params", index)
    controls = ".nv-page :is(button:not(.nv-term), summary, .nv-option), .nv-fold"
    assert view.page.evaluate(TOO_SMALL, [controls, 44]) == []
    assert view.page.evaluate(TOO_SMALL, [".nv-page :is(button, summary, input, select, a)", 24]) == []


def test_a_finger_drags_the_dot_sideways(look):
    view = look(ROWS)
    slider(view).evaluate(CENTER)
    box, client = slider(view).locator("circle").first.bounding_box(), view.page.context.new_cdp_session(view.page)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    client.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 9):
        client.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x - 5 * step, "y": y}]})
    expect(slider(view)).not_to_have_attribute("aria-valuenow", "3")
    client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    view.page.wait_for_function("() => location.search.includes('values=')")
    assert view.scene.description.x[0, 3] < 2.7
    view.wait_for_scene()


def test_the_values_are_tabs_and_on_a_wide_page_they_are_side_by_side(look):
    view = look("?shape=4,6&open=values&at=1,2")
    page: Page = view.page
    tabs = page.get_by_role("tab")
    expect(tabs.filter(has_text="x").first).to_have_attribute("aria-selected", "true")
    expect(page.locator(PANELS)).to_have_count(1)
    page.get_by_role("tab", name="output").click()
    expect(page.locator(PANELS)).to_have_count(1)
    expect(page.locator(".nv-panel-output")).to_be_visible()
    assert page.locator(".nv-panel-output .nv-over").bounding_box()["width"] > 200  # drawn at its width
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="x", exact=True)).to_be_focused()
    expect(page.locator(".nv-panel-x")).to_be_visible()
    expect(page.locator(".nv-panel-output")).to_be_hidden()
    page.set_viewport_size({"width": 1280, "height": 720})
    expect(page.locator(PANELS)).to_have_count(3)
    expect(page.locator(".nv-value-tabs")).to_be_hidden()
