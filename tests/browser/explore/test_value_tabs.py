"""On a phone, the panels of values are tabs; on a wide page they are side by side."""

import pytest
from playwright.sync_api import expect

from tests.browser.view import View

pytestmark = pytest.mark.browser

PANELS = ".nv-values .nv-panel:visible"


def test_on_a_phone_the_values_are_tabs(first_visit):
    view: View = first_visit(viewport={"width": 390, "height": 844})
    view.open("?shape=4,6&open=values&at=1,2")
    tabs = view.page.get_by_role("tab")
    expect(tabs.filter(has_text="x").first).to_have_attribute("aria-selected", "true")
    expect(view.page.locator(PANELS)).to_have_count(1)
    view.page.get_by_role("tab", name="output").click()
    expect(view.page.locator(PANELS)).to_have_count(1)
    expect(view.page.locator(".nv-panel-output")).to_be_visible()
    assert view.page.locator(".nv-panel-output .nv-over").bounding_box()["width"] > 200  # drawn at its width
    view.page.keyboard.press("ArrowRight")
    expect(view.page.get_by_role("tab", name="x", exact=True)).to_be_focused()
    expect(view.page.locator(".nv-panel-x")).to_be_visible()
    expect(view.page.locator(".nv-panel-output")).to_be_hidden()
    view.page.set_viewport_size({"width": 1280, "height": 720})
    expect(view.page.locator(PANELS)).to_have_count(3)
    expect(view.page.locator(".nv-value-tabs")).to_be_hidden()
