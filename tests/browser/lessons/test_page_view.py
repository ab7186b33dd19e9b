"""The page of the browser, in a blank tab with data made by hand: what has not changed keeps its elements."""

import pytest
from playwright.sync_api import Page, expect

from normviz.figures.palette import THEMES
from normviz.lessons.pages import PAGES, page_data, page_view
from normviz.lessons.parts.containers import Details, Table, Tabs
from normviz.lessons.parts.html import Body
from normviz.lessons.parts.links import Link, Links
from normviz.lessons.parts.part import Chart, Code, Note, Panels, Part, Sentence, Text, flat
from normviz.lessons.style import page_style
from tests.browser.lessons.conftest import Show

pytestmark = pytest.mark.browser


def figure(name: str, query: str) -> Part:
    """The first figure of a view."""
    parts = flat(PAGES[name].parts(PAGES[name].view(query)))
    return next(part for part in parts if isinstance(part, Panels | Chart))


EXPLORE = figure("explore", "layer=BatchNorm2d(3)")
OTHER_LAYER = figure("explore", "layer=LayerNorm(4)")
COMPARE = figure("compare", "")
KEEP = "selector => { const found = document.querySelector(selector); window.kept = found; }"
IS_KEPT = "selector => document.querySelector(selector) === window.kept"


def tabs(*texts: str) -> Tabs:
    return Tabs(tuple((f"tab {number}", (Code(text),)) for number, text in enumerate(texts)))


def test_a_changed_part_changes_and_the_others_keep_their_elements(show: Show) -> None:
    tab = show([Sentence("one **2**"), Text("stays")])
    tab.evaluate(KEEP, ".nv-text p")
    show([Sentence("three **4**"), Text("stays")])
    expect(tab.locator(".nv-sentence")).to_have_text("three 4")
    assert tab.evaluate(IS_KEPT, ".nv-text p")


def test_parts_are_in_the_order_of_the_data(show: Show) -> None:
    first, second = Text("first"), Sentence("second")
    tab = show([first, second])
    show([second, first])
    assert tab.locator(".nv-page").inner_text().split() == ["second", "first"]
    show([Note("note"), first])
    assert tab.locator(".nv-page").inner_text().split() == ["note", "first"]


def test_the_open_tab_an_open_section_and_the_focus_stay(show: Show) -> None:
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


def test_the_first_tab_opens_if_the_open_one_is_gone(show: Show) -> None:
    tab = show([tabs("x", "y", "z")])
    tab.get_by_role("tab", name="tab 2").click()
    show([tabs("x", "y")])
    expect(tab.locator(".nv-code code").locator("visible=true")).to_have_text("x")
    assert tab.get_by_role("tab").evaluate_all("tabs => tabs.map(tab => tab.tabIndex)") == [0, -1]


def test_a_table_stays_where_it_was_scrolled(show: Show) -> None:
    def wide(word: str) -> Table:
        return Table(tuple(f"{key} {'long' * 20}" for key in "abcdefghij"), ((word, *[""] * 9),))

    tab = show([wide("one")])
    scroll = "box => { box.scrollLeft = 50; return box.scrollLeft; }"
    assert tab.locator(".nv-table-box").evaluate(scroll) == 50
    show([wide("two"), Text("new")])
    assert tab.locator("tbody td").first.inner_text() == "two"
    assert tab.locator(".nv-table-box").evaluate("box => box.scrollLeft") == 50


def test_code_is_colored_again_after_a_change_and_copied_as_it_is(show: Show) -> None:
    tab = show([Code("x = 1  # one")])
    expect(tab.locator(".nv-py-comment")).to_have_text("# one")
    tab.evaluate(KEEP, ".nv-py-comment")
    show([Code("x = 1  # one"), Text("new")])
    assert tab.evaluate(IS_KEPT, ".nv-py-comment")
    show([Code("x = 2  # two")])
    expect(tab.locator(".nv-py-comment")).to_have_text("# two")
    assert tab.locator("code").text_content() == "x = 2  # two"


def test_a_figure_keeps_its_element_when_a_note_comes_or_goes(show: Show) -> None:
    tab = show([Sentence("a"), EXPLORE, Text("below")])
    tab.evaluate(KEEP, ".nv-view")
    show([Note("look"), Sentence("b"), OTHER_LAYER, Text("below")])
    assert tab.evaluate(IS_KEPT, ".nv-view")
    expect(tab.locator(".nv-panel-stats .nv-caption")).to_contain_text("24 groups")
    show([Sentence("c"), EXPLORE])
    assert tab.evaluate(IS_KEPT, ".nv-view")
    expect(tab.locator(".nv-panel-stats .nv-caption")).to_contain_text("3 groups")


def test_a_figure_of_another_kind_replaces_the_old_one(show: Show) -> None:
    tab = show([EXPLORE])
    tab.evaluate(KEEP, ".nv-view")
    show([COMPARE])
    expect(tab.locator(".nv-view")).to_have_count(1)
    expect(tab.locator(".nv-panel-stats3")).to_have_count(1)
    assert not tab.evaluate("window.kept.isConnected")


def test_a_removed_figure_is_destroyed(show: Show) -> None:
    tab = show([EXPLORE])
    tab.evaluate("() => { window.figure = [...view().figures.values()][0].view; }")
    show([Note("nothing to draw")])
    assert tab.evaluate("[window.figure.gone, view().figures.size]") == [True, 0]
    expect(tab.locator(".nv-view")).to_have_count(0)


def click_element(tab: Page) -> None:
    cells = tab.locator(".nv-panel-stats .nv-over")
    box = cells.bounding_box()
    assert box
    cells.click(position={"x": box["width"] / 2, "y": box["height"] * 0.75})


def test_events_of_a_figure_are_sent_unless_it_stands_alone(show: Show) -> None:
    parts = [EXPLORE]
    tab = show(parts)
    click_element(tab)
    assert tab.evaluate("window.sent") == []
    tab.evaluate("data => show(data)", page_data(PAGES["explore"], Body(app="", turn=0), parts))
    click_element(tab)
    assert tab.evaluate("window.sent") == ["select"]


def test_links_have_the_address_of_the_host_and_only_a_plain_click_is_handled(show: Show) -> None:
    tab = show([Links((Link("Gradients", "gradients", "show=matrix"),))])
    link = tab.get_by_role("link", name="Gradients")
    assert link.get_attribute("href") == "https://example.org/gradients?show=matrix"
    link.click()
    assert tab.evaluate("window.sent") == ["go gradients?show=matrix"]
    is_left = "link => link.dispatchEvent(new MouseEvent('click', { ctrlKey: true, bubbles: true, cancelable: true }))"
    tab.evaluate("document.addEventListener('click', (event) => event.preventDefault(), { once: true })")
    link.evaluate(is_left)
    assert tab.evaluate("window.sent") == ["go gradients?show=matrix"]


def test_every_page_is_drawn_without_an_error(show: Show) -> None:
    for name, kind in PAGES.items():
        tab = show(list(page_view(PAGES[name], kind.view({})).parts))
        expect(tab.locator(".nv-view[data-state=error]")).to_have_count(0)
        assert tab.locator(".nv-page").inner_text()


def test_the_style_sheets_are_complete() -> None:
    style = page_style()
    assert style.count("{") == style.count("}")
    assert all(f"[data-mode={name}]" in style for name in THEMES)
