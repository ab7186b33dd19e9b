"""docs/embedding.md and docs/notebooks.md: a book of Sphinx, an app of marimo and one file, where every view is linked, has the right theme, and needs no network."""

import shlex

import pytest
from playwright.sync_api import expect

from normviz.cli import main
from tests.browser.notebooks.conftest import FIRST, LAST, sentence
from tools.embeddings import MARIMO_OPTIONS, commands
from tools.hosts import mode, reads, shown_frame, wait_for_mode

pytestmark = pytest.mark.browser

# Sphinx


def test_views_in_a_book_follow_its_theme_and_a_page_with_controls_answers(host, workshop):
    workshop.run("A book")
    visitor = host(color_scheme="dark")
    page = visitor.open((workshop.folder / "build" / "book" / "index.html").as_uri())
    visitor.ready(3)
    assert page.locator(".nv-carried").count() == 1
    assert mode(page) == "dark"
    assert reads(page, 0).startswith(FIRST)
    toggle = page.locator(".theme-toggle:visible").first
    while page.evaluate("document.body.dataset.theme") != "light":
        toggle.click()
    wait_for_mode(page, "light")
    live = page.locator(".nv-doc[data-answers]")
    live.get_by_label("Layer", exact=True).select_option(label="BatchNorm2d")
    sentence(live, "BatchNorm2d(3) on (2, 3, 4, 4)")
    assert visitor.outside == []


# marimo


def test_marimo_shows_the_view_in_a_frame_that_fits(host, workshop):
    (command,) = commands("marimo")
    with workshop.serve(command, *MARIMO_OPTIONS) as address:
        visitor = host(color_scheme="dark")  # the page of marimo is still light
        page = visitor.open(address)
        frame = shown_frame(page)
        assert reads(frame, 0).startswith(FIRST)
        assert mode(frame) == "light"
        page.locator("select").first.select_option("BatchNorm2d(3)")
        expect(page.frame_locator("iframe").locator(".nv-sentence")).to_contain_text("BatchNorm2d(3) on")
        frame = shown_frame(page)
        frame.wait_for_function("document.documentElement.scrollHeight <= document.documentElement.clientHeight")
        live = page.locator(".nv-doc")  # nv.live is in the page itself
        live.get_by_role("radio", name="GroupNorm", exact=True).check(force=True)
        sentence(live, "GroupNorm(3, 3) on (2, 3, 4, 4)")
        expect(live.locator(".nv-view[data-state=ready]:not(:has(.nv-cells))")).to_be_visible()
        assert reads(page, -1).startswith(LAST)
        assert visitor.outside == []


# One file


def test_the_file_fits_in_a_plain_page_without_a_scroll_bar(host, workshop, monkeypatch):
    (command,) = commands("One HTML file")  # tests/project/docs runs it in a shell
    monkeypatch.chdir(workshop.folder)
    assert main(shlex.split(command)[1:]) == 0
    visitor = host()
    page = visitor.open((workshop.folder / "examples" / "page.html").as_uri())
    page.locator("iframe").scroll_into_view_if_needed()
    frame = shown_frame(page)
    assert reads(frame, 0).startswith(FIRST)
    for layer in ("LayerNorm", "BatchNorm2d"):
        frame.get_by_label("Layer", exact=True).select_option(label=layer)
        expect(frame.locator(".nv-sentence")).to_contain_text(layer)
        frame.wait_for_function("document.documentElement.scrollHeight <= document.documentElement.clientHeight")
    assert visitor.outside == []
