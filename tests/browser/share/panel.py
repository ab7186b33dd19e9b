"""The Share panel of an open page."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, Route, expect

from tests.browser.view import View
from tests.support.snippets import tag

READY = ".nv-view[data-state=ready]:not(:has(.nv-cells), #normviz-first *)"

# Records the labels of a button, because "Copied" is shown for only two seconds.
HEARD = """button => {
  button.nvSaid = [];
  new MutationObserver(() => button.nvSaid.push(button.textContent)).observe(button, { childList: true });
}"""

EMBEDDED = "**/*embed=true*"

# A small page in place of an embedded view: twelve boxes of 200 x 100 px in rows.
BOXES = f"""<!doctype html><title>boxes</title><body style="margin: 0"><div data-testid="stMainBlockContainer">
<div class="nv-root" style="display: flow-root">{'<i style="float: left; width: 200px; height: 100px"></i>' * 12}</div></div>"""
NARROW_HEIGHT, WIDE_HEIGHT = 1200, 200  # px, of the boxes in 320 px and in 1280 px


class Panel:
    """The Share panel of an open page."""

    def __init__(self, view: View) -> None:
        self.page = view.page
        self.page.get_by_role("button", name="Share", exact=True).click()
        self.dialog = self.page.get_by_role("dialog", name="Share this view")
        self.note = self.dialog.locator(".nvs-right > .nvs-note")

    def text(self, label: str) -> str:
        return self.dialog.get_by_label(label, exact=True).input_value()

    def copy(self, label: str) -> str:
        button = self.dialog.get_by_role("button", name=f"Copy: {label}", exact=True)
        expect(button).to_be_enabled()
        button.evaluate(HEARD)
        button.click()
        self.page.wait_for_function("button => button.nvSaid.includes('Copied')", arg=button.element_handle())
        return str(self.page.evaluate("navigator.clipboard.readText()"))

    def preset(self, name: str) -> None:
        self.dialog.get_by_role("button", name=name, exact=True).click()

    def narrow(self) -> None:
        """Choose the fixed width, for which only one height is measured."""
        self.dialog.get_by_role("radio", name="Narrow").check()

    def measured(self) -> int:
        """The height in the snippet, after the preview has reported it."""
        expect(self.note).to_contain_text(" px")
        return int(tag(self.text("iframe").partition("\n")[0])["height"])  # a script may follow


def show_boxes(route: Route) -> None:
    route.fulfill(body=BOXES, content_type="text/html")


@contextmanager
def boxes_in_preview(page: Page) -> Iterator[None]:
    """Previews show the boxes, not the app, which takes longer to load and to measure."""
    page.route(EMBEDDED, show_boxes)
    yield
    page.unroute(EMBEDDED, show_boxes)
