"""Exported files in a browser, without a network, and with hostile texts."""

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Browser, Page, Request, expect

from normviz.api.check import check
from normviz.api.pages import compare, explore
from normviz.cli import main
from normviz.export.assets import plotly_js
from normviz.export.document import document, fragment
from tests.browser.conftest import new_context
from tests.browser.watch import Watch
from tests.export.test_escaping import parts
from tests.support.structure import HOSTILE

pytestmark = pytest.mark.browser
READY = ".nv-view[data-state=ready]:not(:has(.nv-cells))"
BESIDE = "plotly.min.js"
Show = Callable[..., Page]


@pytest.fixture(scope="module")
def offline_tab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Page, Watch, Path]]:
    """One tab without a network, and a folder with plotly.js, so that the browser compiles it only once."""
    context = new_context(browser, offline=True)
    page, folder = context.new_page(), tmp_path_factory.mktemp("files")
    (folder / BESIDE).write_bytes(plotly_js())
    yield page, Watch(page), folder
    context.close()


@pytest.fixture
def show(offline_tab: tuple[Page, Watch, Path]) -> Iterator[Show]:
    """Open an HTML text as a file: ``show(html)``. The test fails if the browser reports an error or makes a request."""
    page, watch, folder = offline_tab
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    page.on("request", note)

    def go(html: str) -> Page:
        (folder / "page.html").write_text(html, encoding="utf-8")
        page.goto((folder / "page.html").as_uri())
        page.locator(READY).first.wait_for()
        return page

    yield go
    page.remove_listener("request", note)
    watch.check()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_a_file_makes_no_requests_and_its_tabs_switch_layers_by_click_and_by_key(show, tmp_path):
    out = tmp_path / "set.html"
    assert (
        main(
            [
                "export",
                "--fixed",
                "--shape",
                "2,3,4,4",
                "--layers",
                "BatchNorm2d(3)",
                "LayerNorm([3,4,4])",
                "GroupNorm(3,3)",
                "-o",
                str(out),
            ]
        )
        == 0
    )
    page = show(out.read_text(encoding="utf-8"))
    expect(page.locator(".nv-sentence:visible")).to_have_count(1)
    page.get_by_role("tab", name="LayerNorm([3, 4, 4])").click()
    expect(page.locator(".nv-sentence:visible")).to_contain_text("LayerNorm([3, 4, 4])")
    panel = page.locator(".nv-panel-stats:visible .nv-over")
    panel.hover()
    expect(page.locator(".nv-panel-stats:visible .main-svg").first).to_be_visible()
    assert "others" in page.locator(".nv-readout:visible").inner_text()
    page.get_by_role("tab", name="LayerNorm([3, 4, 4])").press("ArrowRight")
    expect(page.get_by_role("tab", name="GroupNorm(3, 3)")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_page_gives_a_picture_of_every_figure_including_hidden_ones(show, tmp_path):
    out, layers = tmp_path / "set.html", ["BatchNorm2d(3)", "LayerNorm([3, 4, 4])"]
    assert (
        main(["export", "--fixed", "--shape", "2,3,4,4", "--layers", *layers, "--plotlyjs", BESIDE, "-o", str(out)])
        == 0
    )
    pictures = show(out.read_text(encoding="utf-8")).evaluate("window.normviz.pictures()")
    for picture, layer in zip(pictures, layers, strict=True):
        root = ET.fromstring(picture["svg"])
        assert (root.get("width"), root.get("height")) == (str(picture["width"]), str(picture["height"]))
        assert picture["width"] > 600
        assert f"<title>{layer} on x of shape (2, 3, 4, 4)</title>" in picture["svg"]
        assert picture["svg"].count('class="nv-cells"') == 2  # the values are closed


def test_hostile_texts_run_nothing_and_make_no_element(show):
    dialogs: list[str] = []
    counted = []
    for texts in (["word"] * len(HOSTILE), HOSTILE):
        shown = [part for text in texts for part in parts(text)]
        page = show(document(shown, title=texts[0], caption=texts[-1], plotly=BESIDE))
        page.once("dialog", lambda dialog: dialogs.append(dialog.message) or dialog.dismiss())
        expect(page.locator(READY)).to_have_count(len(texts))
        for at, text in enumerate(texts):
            assert page.locator(".nv-panel-stats .nv-title").nth(at).inner_text().split() == text.split()
        counted.append(
            page.locator("body :is(script, img, iframe, object, embed, form, base, link, style, svg)").count()
        )
        assert page.locator("[onerror], [onload], [onmouseover], a[href^='javascript' i]").count() == 0
        assert page.title() == texts[0]
    assert counted[0] == counted[1]
    assert dialogs == []


def test_two_views_on_a_page_carry_plotly_js_once_and_both_respond(show):
    one = explore("LayerNorm([3, 4, 4])").to_html(full=False, plotlyjs="inline")
    two = fragment(compare(["BatchNorm2d(3)", "LayerNorm([3, 4, 4])"]).parts, plotly="none.js")
    page = show(f"<!doctype html><title>t</title><body>{one}{two}</body>")
    expect(page.locator(READY)).to_have_count(2)
    page.locator(".nv-compare .nv-over").first.hover()
    assert "share its mean" in page.locator(".nv-compare .nv-readout").inner_text()


def test_a_theme_is_fixed_or_follows_the_browser(show):
    for theme, dark in (("light", False), ("dark", True), ("follow", False)):
        page = show(explore("LayerNorm(4)", (2, 4)).to_html(theme=theme, plotlyjs=BESIDE))
        assert (
            page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(16, 20, 31)"
        ) == dark
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".nv-doc")).to_have_attribute("data-mode", "dark")
    page.emulate_media(color_scheme="light")
    expect(page.locator(".nv-doc")).to_have_attribute("data-mode", "light")


# How many elements have a dark corner, and has the selected one, which is in both groups?
MARKED = """panels => panels.map(panel => {
  const marks = panel.querySelector(".nv-differs"), { x, y, width } = panel.querySelector(".nv-frame").getBBox();
  return [(marks.getAttribute("d").match(/M/g) ?? []).length, marks.isPointInFill(new DOMPoint(x + width - 2, y + 1))];
})"""


def test_a_check_marks_the_elements_whose_groups_differ_from_the_expected_ones(show: Show) -> None:
    def over_the_batch(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.batch_norm(x, None, None, training=True)

    page = show(check(over_the_batch, (3, 4, 5), like="LayerNorm(5)").output().to_html(plotlyjs=BESIDE))
    assert page.locator(".nv-row.nv-stats .nv-panel").evaluate_all(MARKED) == [[10, False]] * 2
    assert page.locator(".nv-row.nv-params .nv-panel").evaluate_all(MARKED) == [[0, False]] * 2
