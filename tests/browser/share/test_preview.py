"""The preview of Share measures the height of the snippet; the snippet can also be copied without it."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Route, expect

from tests.browser.share.panel import EMBEDDED, NARROW_HEIGHT, WIDE_HEIGHT, Panel, boxes_in_preview, show_boxes
from tests.browser.view import View
from tests.browser.watch import Watch
from tests.support.snippets import tag

pytestmark = pytest.mark.browser

FONTS, LINE = 8, 24  # px, added for wider fonts, and at full width for one more line
NOT_LOADED = "The preview did not load here. The code is right; its height is a guess."

# Each call of the clock is an hour later.
HURRY = "() => { const now = window.nvNow = Date.now; let hours = 0; Date.now = () => now.call(Date) + 3_600_000 * hours++; }"
STOP_HURRY = "() => { Date.now = window.nvNow; }"

# Choose something, take it back, and read whether the snippet can be copied.
CHANGE_TWICE = """dialog => {
  const press = (name) => [...dialog.querySelectorAll("button")].find((button) => button.textContent === name).click();
  press("Figure alone");
  press("In short");
  return !dialog.querySelector("[aria-label='Copy: iframe']").disabled;
}"""


@pytest.fixture
def view(tab: tuple[View, Watch]) -> Iterator[View]:
    """The app in a tab that the tests share."""
    view, watch = tab
    yield view.go("?at=none")
    view.page.evaluate("document.querySelector('dialog[open]')?.close()")
    watch.check()


@pytest.fixture
def answer_with(view: View) -> Iterator[Callable[[Callable[[Route], object]], None]]:
    """Sets what answers requests for previews, on a page where a preview is late at once."""
    view.page.evaluate(HURRY)
    yield lambda answer: view.page.route(EMBEDDED, answer)
    view.page.evaluate(STOP_HURRY)
    view.page.unroute(EMBEDDED)


def test_the_snippet_has_the_heights_of_the_content(view):
    with boxes_in_preview(view.page):
        panel = Panel(view)
        assert panel.measured() == NARROW_HEIGHT + FONTS + LINE
        assert f"height: max({WIDE_HEIGHT + FONTS + LINE}px, " in tag(panel.text("iframe"))["style"]
        assert "1232 px high in a narrow column, 232 px high in a wide one" in panel.note.inner_text()
        panel.narrow()
        assert panel.measured() == NARROW_HEIGHT + FONTS
        assert panel.note.inner_text() == "1208 px high: nothing in it scrolls."


def test_the_snippet_can_be_copied_if_the_preview_does_not_load(view, answer_with):
    answer_with(lambda route: route.fulfill(body="<p>busy</p>", content_type="text/html"))
    panel = Panel(view)
    copy = panel.dialog.get_by_role("button", name="Copy: iframe")
    expect(panel.dialog.get_by_text(NOT_LOADED)).to_be_visible()
    expect(copy).to_be_enabled()
    assert panel.dialog.evaluate(CHANGE_TWICE) is False
    expect(copy).to_be_enabled()


def test_a_late_preview_still_reports_its_height(view, answer_with):
    held: list[Route] = []
    answer_with(lambda route: held.append(route))
    panel = Panel(view)
    note = panel.dialog.locator(".nvs-stage > .nvs-note")
    expect(note).to_have_text(NOT_LOADED)
    show_boxes(held.pop())
    assert panel.measured() == NARROW_HEIGHT + FONTS + LINE
    expect(note).to_be_hidden()
