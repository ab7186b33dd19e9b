"""The marking grid: buttons for the elements of a tensor, in a tab without the app."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from normviz.export.assets import exercises_style, page_style
from normviz.figures.wire import sent
from tests.browser.conftest import NewTab
from tests.browser.watch import Watch
from tests.lessons.questions.test_marking import task
from tests.support.javascript import open_with_modules

pytestmark = pytest.mark.browser

MAKE = """task => {
  const place = document.querySelector(".nv-doc");
  place.replaceChildren();
  window.changes = 0;
  window.marking = new Marking(place, task, { onChange: () => window.changes++ });
}"""


@pytest.fixture(scope="module")
def marking_tab(new_tab: NewTab) -> Iterator[tuple[Page, Watch]]:
    tab = new_tab()
    watch = Watch(tab)
    script = (
        '<script type="module">import { Marking } from "/parts/browser/marking.ts"; window.Marking = Marking;</script>'
    )
    style, place = page_style() + exercises_style(), '<div class="nv-doc" data-mode="light"></div>'
    open_with_modules(
        tab, f"<!doctype html><meta charset=utf-8><title>marking</title><style>{style}</style>{place}{script}"
    )
    tab.wait_for_function("Boolean(window.Marking)")
    yield tab, watch
    tab.close()


@pytest.fixture
def tab(marking_tab: tuple[Page, Watch]) -> Iterator[Page]:
    tab, watch = marking_tab
    tab.bring_to_front()
    yield tab
    watch.check()


def make(tab: Page, layer: str, shape: tuple[int, ...], at: tuple[int, ...]) -> None:
    """Show the task for a layer."""
    tab.evaluate(MAKE, sent(task(layer, shape, at)))


def marked(tab: Page) -> Any:
    return tab.evaluate("marking.marked")


def cell(tab: Page, *index: int) -> Any:
    return tab.get_by_role("gridcell", name=f"x[{', '.join(map(str, index))}]")


def test_a_cell_a_row_a_column_a_facet_and_a_band_are_marked_by_a_click(tab):
    make(tab, "GroupNorm(2, 4)", (2, 4, 2, 2), (0, 0, 0, 0))
    cell(tab, 1, 3, 0, 1).click()
    assert marked(tab) == [[1, 3, 0, 1]]
    cell(tab, 1, 3, 0, 1).click()
    cell(tab, 0, 0, 0, 0).click(force=True)  # it is framed
    assert marked(tab) == []
    tab.get_by_role("button", name="all with n = 0, c = 0, h = 0", exact=True).click()
    assert marked(tab) == [[0, 0, 0, 1]]
    tab.get_by_role("button", name="all with n = 1, c = 2, w = 1", exact=True).click()
    assert marked(tab) == [[0, 0, 0, 1], [1, 2, 0, 1], [1, 2, 1, 1]]
    tab.get_by_role("button", name="all with n = 1, c = 2", exact=True).click()
    assert len(marked(tab)) == 5
    tab.get_by_role("button", name="all with n = 1", exact=True).click()
    assert len(marked(tab)) == 17
    tab.get_by_role("button", name="all with n = 1", exact=True).click()
    assert marked(tab) == [[0, 0, 0, 1]]


def test_it_is_one_stop_of_tab_and_arrow_keys_reach_every_button(tab):
    make(tab, "LayerNorm(3)", (2, 3), (0, 1))
    tab.keyboard.press("Tab")
    for key in ("ArrowRight", "ArrowRight", "Space", "ArrowDown", "Enter", "ArrowLeft", "ArrowLeft", "ArrowLeft"):
        tab.keyboard.press(key)
    assert marked(tab) == [[0, 2], [1, 2]]
    tab.keyboard.press("Space")  # the header of the row
    assert marked(tab) == [[0, 2], [1, 0], [1, 1], [1, 2]]
    assert tab.locator("button[tabindex='0']").count() == 1


def test_a_mouse_that_is_dragged_marks_what_it_passes(tab):
    make(tab, "LayerNorm(3)", (2, 3), (0, 1))
    cell(tab, 1, 0).hover()
    tab.mouse.down()
    cell(tab, 1, 1).hover()
    cell(tab, 1, 2).hover()
    tab.mouse.up()
    assert marked(tab) == [[1, 0], [1, 1], [1, 2]]
    cell(tab, 1, 1).click()
    assert marked(tab) == [[1, 0], [1, 2]]


def test_reveal_shows_what_is_right_too_much_and_missing_and_ends_the_marking(tab):
    make(tab, "LayerNorm(3)", (2, 3), (0, 1))
    cell(tab, 0, 0).click()
    cell(tab, 1, 0).click()
    assert tab.evaluate("marking.reveal()") == {"right": 1, "extra": 1, "missing": 1}
    names = [box.get_attribute("aria-label") for box in tab.get_by_role("gridcell").all()]
    assert names == ["x[0, 0], right", "x[0, 1], framed", "x[0, 2], missing", "x[1, 0], extra", "x[1, 1]", "x[1, 2]"]
    cell(tab, 1, 1).click(force=True)
    assert marked(tab) == [[0, 0], [1, 0]]


def test_on_a_phone_cells_are_large_and_fit(tab, subtests):
    tab.set_viewport_size({"width": 390, "height": 844})
    for shape, layer in (((2, 3), "LayerNorm(3)"), ((2, 4, 2, 2), "BatchNorm2d(4)"), ((2, 3, 4), "BatchNorm1d(3)")):
        with subtests.test(layer):
            make(tab, layer, shape, (0,) * len(shape))
            boxes = [box.bounding_box() for box in tab.get_by_role("gridcell").all()]
            assert len(boxes) == tab.evaluate("marking.cells.length")
            assert min(box["width"] for box in boxes) >= 40
            assert max(box["x"] + box["width"] for box in boxes) <= 390


def test_on_a_phone_the_lines_of_facets_are_equally_long(tab):
    tab.set_viewport_size({"width": 390, "height": 844})
    make(tab, "BatchNorm2d(4)", (2, 4, 2, 2), (0, 0, 0, 0))
    tops = [facet.bounding_box()["y"] for facet in tab.locator(".nv-marking-facet").all()]
    assert [tops.count(top) for top in dict.fromkeys(tops)] == [2, 2, 2, 2]
