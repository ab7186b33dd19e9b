"""The page of the browser, in a blank tab with data made by hand: what has not changed keeps its elements."""

import pytest
from playwright.sync_api import Page, expect

from normviz.figures.wire import sent
from normviz.lessons.pages import PAGES, page_data
from normviz.parts.html import Body
from normviz.parts.part import Chart, Code, Details, Link, Links, Note, Panels, Part, Sentence, Table, Tabs, Text, flat
from tests.browser.lessons.conftest import Show

pytestmark = pytest.mark.browser


def figure(name: str, query: str) -> Part:
    """The first figure of a view."""
    parts = flat(PAGES[name].parts(PAGES[name].view(query)))
    return next(part for part in parts if isinstance(part, Panels | Chart))


EXPLORE = figure("explore", "shape=2,3,4,4&layer=BatchNorm2d(3)")
OTHER_LAYER = figure("explore", "shape=2,3,4,4&layer=LayerNorm(4)")
COMPARE = figure("compare", "")
KEEP = "selector => { const found = document.querySelector(selector); window.kept = found; }"
IS_KEPT = "selector => document.querySelector(selector) === window.kept"


def tabs(*texts: str) -> Tabs:
    return Tabs(tuple((f"tab {number}", (Code(text),)) for number, text in enumerate(texts)))


def test_what_has_not_changed_keeps_its_element_and_parts_are_in_the_order_of_the_data(show: Show) -> None:
    tab = show([Sentence("one **2**"), Text("stays")])
    tab.evaluate(KEEP, ".nv-text p")
    show([Sentence("three **4**"), Text("stays")])
    expect(tab.locator(".nv-sentence")).to_have_text("three 4")
    assert tab.evaluate(IS_KEPT, ".nv-text p")
    show([Text("stays"), Sentence("second")])
    assert tab.locator(".nv-page").inner_text().split() == ["stays", "second"]
    show([Note("note"), Text("stays")])
    assert tab.locator(".nv-page").inner_text().split() == ["note", "stays"]
    tab = show([Code("x = 1  # one")])
    expect(tab.locator(".nv-py-comment")).to_have_text("# one")
    tab.evaluate(KEEP, ".nv-py-comment")
    show([Code("x = 1  # one"), Text("new")])
    assert tab.evaluate(IS_KEPT, ".nv-py-comment")
    show([Code("x = 2  # two")])
    expect(tab.locator(".nv-py-comment")).to_have_text("# two")  # colored again
    assert tab.locator("code").text_content() == "x = 2  # two"


def test_the_open_tab_an_open_section_the_focus_and_the_place_in_a_table_stay(show: Show) -> None:
    closed = Details("more", (Text("inside"),))
    tab = show([Sentence("a"), tabs("x = 1", "y = 1"), closed])
    tab.get_by_role("tab", name="tab 1").click()
    tab.locator("summary").click()
    tab.get_by_role("tab", name="tab 1").focus()
    show([Sentence("b"), tabs("x = 2", "y = 2"), closed])
    expect(tab.get_by_role("tab", name="tab 1")).to_be_focused()
    expect(tab.get_by_role("tab", name="tab 1")).to_have_attribute("aria-selected", "true")
    expect(tab.locator(".nv-code code").locator("visible=true")).to_have_text("y = 2")
    expect(tab.locator(".nv-text")).to_be_visible()
    show([tabs("x")])  # the open tab is gone, and the first one opens
    expect(tab.locator(".nv-code code").locator("visible=true")).to_have_text("x")
    assert tab.get_by_role("tab").evaluate_all("tabs => tabs.map(tab => tab.tabIndex)") == [0]

    def wide(word: str) -> Table:
        return Table(tuple(f"{key} {'long' * 20}" for key in "abcdefghij"), ((word, *[""] * 9),))

    tab = show([wide("one")])
    scroll = "box => { box.scrollLeft = 50; return box.scrollLeft; }"
    assert tab.locator(".nv-table-box").evaluate(scroll) == 50
    show([wide("two"), Text("new")])
    assert tab.locator("tbody td").first.inner_text() == "two"
    assert tab.locator(".nv-table-box").evaluate("box => box.scrollLeft") == 50


def test_a_figure_keeps_its_element_until_one_of_another_kind_replaces_it_and_a_removed_one_is_destroyed(
    show: Show,
) -> None:
    tab = show([Sentence("a"), EXPLORE, Text("below")])
    tab.evaluate(KEEP, ".nv-view")
    show([Note("look"), Sentence("b"), OTHER_LAYER, Text("below")])
    assert tab.evaluate(IS_KEPT, ".nv-view")
    expect(tab.locator(".nv-panel-stats .nv-caption")).to_contain_text("24 groups")
    show([Sentence("c"), EXPLORE])
    assert tab.evaluate(IS_KEPT, ".nv-view")
    expect(tab.locator(".nv-panel-stats .nv-caption")).to_contain_text("3 groups")
    show([COMPARE])
    expect(tab.locator(".nv-view")).to_have_count(1)
    expect(tab.locator(".nv-panel-stats3")).to_have_count(1)
    assert not tab.evaluate("window.kept.isConnected")
    tab.evaluate("() => { window.figure = [...view().figures.values()][0].view; }")
    show([Note("nothing to draw")])
    assert tab.evaluate("[window.figure.gone, view().figures.size]") == [True, 0]
    expect(tab.locator(".nv-view")).to_have_count(0)


def click_element(tab: Page) -> None:
    cells = tab.locator(".nv-panel-stats .nv-over")
    box = cells.bounding_box()
    assert box
    cells.click(position={"x": box["width"] / 2, "y": box["height"] * 0.75})


def test_events_of_a_figure_are_sent_unless_it_stands_alone_and_only_plain_clicks_on_links_are_handled(
    show: Show,
) -> None:
    parts = [EXPLORE]
    tab = show(parts)
    click_element(tab)
    assert tab.evaluate("window.sent") == []
    tab.evaluate("data => show(data)", sent(page_data(PAGES["explore"], Body(app="", turn=0), parts)))
    click_element(tab)
    assert tab.evaluate("window.sent.splice(0)") == ["select"]
    tab = show([Links((Link("Gradients", "gradients", "show=matrix"),))])
    link = tab.get_by_role("link", name="Gradients")
    assert link.get_attribute("href") == "https://example.org/gradients?show=matrix"
    link.click()
    assert tab.evaluate("window.sent") == ["go gradients?show=matrix"]
    is_left = "link => link.dispatchEvent(new MouseEvent('click', { ctrlKey: true, bubbles: true, cancelable: true }))"
    tab.evaluate("document.addEventListener('click', (event) => event.preventDefault(), { once: true })")
    link.evaluate(is_left)
    assert tab.evaluate("window.sent") == ["go gradients?show=matrix"]
