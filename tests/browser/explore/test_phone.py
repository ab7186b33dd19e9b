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


def test_the_controls_are_one_line_until_they_are_asked_for(phone):
    fold = phone.page.get_by_role("button", name="BatchNorm2d(3) on (2, 3, 4, 4)")
    expect(phone.find(".st-key-controls")).to_be_hidden()
    assert bottom(phone, ".nv-panel-stats") < PHONE["height"]  # above it, the names of the layers and the sentence
    fold.click()
    phone.segment("Layer", "InstanceNorm")
    phone.wait_for_view(layer="InstanceNorm2d(3)")
    expect(phone.find(".nv-fold")).to_have_text("InstanceNorm2d(3) on (2, 3, 4, 4) Close")
    phone.find(".nv-fold").click()
    expect(phone.find(".st-key-controls")).to_be_hidden()


LABEL = 24  # px: the names of H and W below the cells


def test_an_error_its_remedy_and_the_figure_are_on_one_screen_and_the_field_that_made_it_stays(phone, look):
    view = look("?layer=GroupNorm(2,3)")
    expect(view.find(".nv-problem")).to_contain_text("num_groups must be 1 or 3")
    remedy, answer = view.page.get_by_role("link", name="GroupNorm(2, 4)"), view.find(".nv-sentence")
    for part in (view.find(".nv-problem"), remedy, view.find(".nv-code pre").first, answer, view.find(".nv-fold")):
        expect(part).to_be_in_viewport(ratio=1)
    assert bottom(view, ".nv-panel-stats .nv-over") <= PHONE["height"] + LABEL  # every cell
    expect(view.find(".st-key-controls")).to_be_hidden()
    view.find(".nv-fold").click()
    view.write("C", "5")
    expect(view.find(".nv-part").filter(has_text="C = 5 has no divisor between 1 and 5")).to_be_visible()
    expect(view.field("C")).to_be_visible()
    view.find(".nv-fold").click()
    expect(view.find(".st-key-controls")).to_be_hidden()
    look("?shape=2,3,4&layer=LayerNorm(7)")
    remedies = view.find(".nv-links-choices a")
    expect(remedies).to_have_count(3)
    assert len({remedy.bounding_box()["y"] for remedy in remedies.all()}) == 1  # one line, which scrolls
    expect(view.find(".nv-panel-stats .nv-plot")).to_be_in_viewport()


def bottom(view: View, selector: str) -> float:
    box = view.find(selector).bounding_box()
    return float(box["y"] + box["height"])


# Which panels other than the one with this key the read-out covers, and whether it is in sight, below the header.
COVERED = """(key) => {
  const view = document.querySelector(".nv-view"), boxOf = (part) => part.getBoundingClientRect(), line = boxOf(view.querySelector(".nv-readout"));
  const header = boxOf(document.querySelector("[data-testid=stHeader]")).bottom;
  const covered = [...view.querySelectorAll(".nv-panel")].filter((panel) => panel.checkVisibility() && !panel.matches(`.nv-panel-${key}`))
    .filter((panel) => boxOf(panel).top < line.bottom - 1 && line.top < boxOf(panel).bottom - 1).map((panel) => panel.className);
  return [covered, line.top >= header - 1 && line.bottom <= innerHeight + 1];
}"""
# The middle of the selected element in the panel, which is scrolled into sight.
SELECTED = """(key) => {
  const frame = document.querySelector(`.nv-panel-${key} .nv-frame`);
  frame.closest(".nv-over").scrollIntoView({ block: "center", behavior: "instant" });
  const { x, y, width, height } = frame.getBoundingClientRect();
  return [x + width / 2, y + height / 2];
}"""
PAGES = {
    "?shape=2,3,4,4&layer=BatchNorm2d(3)&at=0,1,1,1&open=values": ("stats", "params", "x"),
    "step_by_step?shape=2,3,4,4&layer=BatchNorm2d(3)&at=0,1,1,1&step=3": ("before", "after"),
    "gradients?shape=2,3,4,4&layer=BatchNorm2d(3)&at=0,1,1,1": ("autograd", "mean", "var"),
    "compare?shape=2,3,4,4&at=0,1,1,1": (),
}


def test_the_readout_is_beside_the_panel_that_a_reader_points_at_and_covers_no_other(phone, subtests):
    for address, keys in PAGES.items():
        with subtests.test(address):
            phone.visit(address)
            phone.find(".nv-view[data-state=ready]").first.wait_for()
            phone.wait_until_drawn()
            for top in range(0, 1600, 200):  # nothing is pointed at
                phone.page.evaluate(
                    "top => document.querySelector('[data-testid=stMain]').scrollTo({ top, behavior: 'instant' })", top
                )
                assert phone.page.evaluate(COVERED, "none")[0] == [], top
            for key in keys:
                phone.page.mouse.move(*phone.page.evaluate(SELECTED, key))
                phone.leave()
                for place in (120, 200, 300):
                    phone.page.evaluate(SCROLL, [f".nv-panel-{key}", place])
                    assert phone.page.evaluate(COVERED, key) == [[], True], (key, place)
    phone.go("?shape=2,3,4,4&layer=BatchNorm2d(3)")


def test_a_second_tap_on_the_selected_element_clears_it(phone):
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
