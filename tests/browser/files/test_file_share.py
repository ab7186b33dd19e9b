"""Share in a file: what it gives works without a server."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import normviz as nv
from normviz.export.assets import plotly_js
from tests.browser.conftest import new_context
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser
READY = ".nv-view[data-state=ready]:not(:has(.nv-cells))"
LAYERS = nv.Choices(layers=("LayerNorm([3,4,4])", "BatchNorm2d(3)"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("share")
    (place / "plotly.min.js").write_bytes(plotly_js())
    output = nv.open("/?layer=LayerNorm([3,4,4])").with_(choices=LAYERS, plotlyjs="plotly.min.js")
    (place / "a lesson.html").write_text(output.to_html(), encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def page(browser: Browser, folder: Path) -> Iterator[Page]:
    """The file, opened from disk without a network."""
    context = new_context(browser, offline=True, accept_downloads=True)
    page = context.new_page()
    watch = Watch(page)
    page.goto(f"{folder.as_uri()}/a%20lesson.html")
    page.locator(READY).wait_for()
    yield page
    watch.check()
    context.close()


def shared(page: Page, label: str) -> str:
    dialog = page.get_by_role("dialog", name="Share this view")
    if not dialog.is_visible():
        page.get_by_role("button", name="Share", exact=True).click()
    return dialog.get_by_label(label, exact=True).input_value()


def test_the_link_and_markdown_open_the_view_that_a_reader_has_chosen(page):
    page.get_by_label("Layer", exact=True).select_option(label="BatchNorm2d(3)")
    link = page.evaluate("location.href")
    assert link.endswith("#layer=BatchNorm2d(3)")
    assert shared(page, "Link") == link
    assert re.fullmatch(
        r"\[Explore: .*BatchNorm2d.*\]\(file:.*a%20lesson\.html#layer=BatchNorm2d%283%29\)", shared(page, "Markdown")
    )
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Share", exact=True)).to_be_focused()


def test_the_iframe_shows_the_view_without_a_scroll_bar_in_a_page_of_the_same_folder(page, folder, browser):
    snippet = shared(page, "iframe")
    page.keyboard.press("Escape")
    assert 'src="a%20lesson.html#' in snippet
    (folder / "host.html").write_text(f"<!doctype html><body style='margin: 0'>{snippet}", encoding="utf-8")
    context = new_context(browser, offline=True)
    host = context.new_page()
    watch = Watch(host)
    host.goto((folder / "host.html").as_uri())
    frame = host.frame_locator("iframe")
    frame.locator(READY).wait_for()
    expect(frame.locator(".nv-sentence")).to_contain_text("BatchNorm2d(3)")
    root = frame.locator("html")
    assert root.evaluate("root => root.scrollHeight <= root.clientHeight")
    watch.check()
    context.close()


def test_the_figure_is_saved_as_a_picture(page):
    for kind, beginning in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        shared(page, "Link")
        with page.expect_download() as saved:
            page.get_by_role("button", name=kind, exact=True).click()
        assert saved.value.path().read_bytes().startswith(beginning)
        expect(page.get_by_text(f"{kind} saved")).to_be_attached()
        page.keyboard.press("Escape")


def test_the_dialog_has_nothing_that_needs_the_app_and_fits_a_phone(page):
    page.set_viewport_size({"width": 390, "height": 780})
    page.wait_for_function("innerWidth === 390 && document.documentElement.scrollWidth <= 390")
    shared(page, "Link")
    dialog = page.get_by_role("dialog")
    box = dialog.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    for label in ("Notebook cell", "Its address alone", "Caption under the figure"):
        expect(dialog.get_by_label(label, exact=True)).to_have_count(0)
    expect(dialog.get_by_text("Figure alone")).to_have_count(0)
    page.keyboard.press("Escape")
