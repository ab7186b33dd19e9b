"""The app on a phone: the menu of pages, the folded controls, the read-out that stays visible."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import SCREEN
from tests.browser.explore.test_layout import PHONE
from tests.browser.view import View

pytestmark = pytest.mark.browser

THUMB = 44  # px: the smallest row for a thumb

# Scrolls until the top of the panel is this far below the top of the window.
SCROLL = """([selector, top]) => {
  const main = document.querySelector("[data-testid=stMain]");
  main.scrollTop += document.querySelector(selector).getBoundingClientRect().top - top;
}"""


@pytest.fixture
def phone(look, tab) -> Iterator[View]:
    """Explore at the window of a phone."""
    tab[0].page.set_viewport_size(PHONE)
    view = look("?shape=2,3,4,4&layer=BatchNorm2d(3)&at=0,1,1,1")
    expect(view.find(".nv-view.nv-narrow")).to_have_count(1)
    yield view
    tab[0].page.set_viewport_size(SCREEN)


def test_the_menu_has_a_name_and_rows_for_a_thumb_and_closes_after_a_choice(phone):
    phone.page.reload()  # Streamlit makes the header twice while it loads
    expect(phone.find(".nv-view[data-state=ready]").first).to_be_visible()
    menu, share = phone.page.get_by_role("button", name="Menu", exact=True), phone.find(".nvs-opener")
    expect(menu).to_be_visible()
    assert menu.evaluate("menu => getComputedStyle(menu, '::after').content") == '"Menu"'
    assert not overlap(menu, share)
    menu.click()
    expect(share).to_be_hidden()
    drawer = phone.find("[data-testid=stSidebar]")
    expect(drawer).to_have_attribute("data-collapsed", "false")
    assert all(row.bounding_box()["height"] >= THUMB for row in phone.find("[data-testid=stSidebarNavLink]").all())
    phone.page.keyboard.press("Escape")
    expect(menu).to_be_visible()
    menu.click()
    drawer.get_by_role("link", name="Explore", exact=True).click()  # the tabs of the page have one, too
    expect(menu).to_be_visible()
    expect(share).to_be_visible()


def overlap(one: Locator, other: Locator) -> bool:
    a, b = one.bounding_box(), other.bounding_box()
    assert a
    assert b
    return a["x"] < b["x"] + b["width"] and b["x"] < a["x"] + a["width"]


def test_the_controls_are_one_line_until_they_are_asked_for_or_a_link_has_an_error(phone, look):
    fold = phone.page.get_by_role("button", name="BatchNorm2d(3) on (2, 3, 4, 4)")
    expect(phone.find(".st-key-controls")).to_be_hidden()
    first = phone.find(".nv-panel-stats").bounding_box()  # above it, the names of the layers and the sentence
    assert first["y"] + first["height"] < PHONE["height"]
    fold.click()
    phone.segment("Layer", "InstanceNorm")
    phone.wait_for_view(layer="InstanceNorm2d(3)")
    expect(phone.find(".nv-fold")).to_have_text("InstanceNorm2d(3) on (2, 3, 4, 4) Close")
    phone.find(".nv-fold").click()
    expect(phone.find(".st-key-controls")).to_be_hidden()
    view = look("?layer=GroupNorm(2,3)")
    expect(view.find(".nv-problem")).to_have_count(1)
    expect(view.find(".st-key-controls")).to_be_visible()
    view.find(".nv-fold").click()
    expect(view.find(".st-key-controls")).to_be_hidden()


def test_the_readout_is_visible_beside_every_panel_and_a_second_tap_on_the_selected_element_clears_it(phone):
    for panel in ("stats", "output"):
        phone.page.evaluate(SCROLL, [f".nv-panel-{panel}", 200])
        box, header = phone.find(".nv-readout").bounding_box(), phone.find("[data-testid=stHeader]").bounding_box()
        assert header["y"] + header["height"] <= box["y"] + 1, panel
        assert box["y"] + box["height"] <= PHONE["height"] + 1, panel
    phone.click("stats", (0, 1, 1, 1))
    phone.wait_for_view(at="none")
    phone.click("stats", (0, 1, 1, 1))
    phone.wait_for_view(at="0,1,1,1")


def test_the_contents_of_a_long_page_lead_to_its_parts(phone, look):
    contents = phone.find(".nv-contents")
    expect(contents).to_be_hidden()
    look("?shape=2,3,4,4&layer=BatchNorm2d(3)&at=0,1,1,1&open=values,worked,code")
    contents.locator("summary").click()
    values = contents.get_by_role("button", name="x", exact=True)  # the first one of the tabs
    values.wait_for()
    names = contents.get_by_role("button").all_inner_texts()
    assert names[:3] == ["Who shares my mean and variance?", "Who shares my gamma and beta?", "x"]
    assert names[-2:] == ["Code", "Does BatchNorm2d normalize each position separately?"]
    values.click()
    expect(contents).not_to_have_attribute("open", "")
    expect(phone.find(".nv-panel-x .nv-title")).to_be_in_viewport()
