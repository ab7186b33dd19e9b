"""How a file opens: with the view of its address, in a frame, from an older version; and its links to the app."""

import gzip
import re
from html import escape
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from normviz.cli import main
from normviz.export.assets import plotly_js
from tests.browser.playing.conftest import Make
from tests.browser.playing.files import (
    LAYER,
    PLOTLY,
    READY,
    choose,
    expect_fragment,
    expect_sentence,
    select_first_element,
)
from tests.browser.readout import Readout

pytestmark = pytest.mark.browser
OLD = Path(__file__).parents[2] / "export" / "old"


def test_back_reload_and_a_copied_link_restore_the_view_from_the_fragment(show):
    page = show("explore")
    choose(page, "Layer", "BatchNorm2d")
    expect_fragment(page, "#layer=BatchNorm2d(3)")
    select_first_element(page)
    expect_fragment(page, "#layer=BatchNorm2d(3)&at=0,0,0,0")
    choose(page, "Layer", "RMSNorm")
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Copy: Link").click()
    expect(page.get_by_text("Copied: Link")).to_be_attached()
    page.keyboard.press("Escape")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.evaluate("location.href")
    page.go_back()
    expect_sentence(page, "BatchNorm2d(3)")
    expect(page.locator(".nv-readout")).to_contain_text("x[0, 0, 0, 0]")
    page.reload()
    expect_sentence(page, "BatchNorm2d(3)")
    page.goto(copied)
    expect_sentence(page, "RMSNorm([3, 4, 4])")
    page.locator(READY).wait_for()


def test_the_title_and_the_heading_name_the_view(show):
    page, own = show("explore", "layer=BatchNorm2d(3)"), "LayerNorm([3, 4, 4]) on (2, 3, 4, 4) · Explore · normviz"
    shown = "Explore: BatchNorm2d(3) on a (2, 3, 4, 4) tensor · normviz"
    expect(page).to_have_title(shown)
    expect(page.get_by_role("heading", level=1)).to_have_text(shown)
    choose(page, "Layer", "LayerNorm")
    expect(page).to_have_title(own)
    expect(page.get_by_role("heading", level=1)).to_have_text(own)
    page.go_back()
    expect(page).to_have_title(shown)


FRAMES_OF_OTHERS = """frames => new Promise((done) => {
  const request = window.requestAnimationFrame;
  let asked = 0;
  window.requestAnimationFrame = (step) => { asked++; return request(step); };
  const next = () => { frames-- ? request(next) : (window.requestAnimationFrame = request, done(asked)); };
  next();
})"""


def test_a_file_at_rest_asks_for_no_frames(show):
    page = show("explore")
    assert any(page.evaluate(FRAMES_OF_OTHERS, 20) == 0 for _ in range(10))  # after what it still draws


OTHER_WORDS = {
    "layer=BatchNorm2d(3)&at=1,2,0,3": "BatchNorm2d(3)",
    "layer=LayerNorm((4, 4))&v=1": "LayerNorm([4, 4])",
    "layer=nn.GroupNorm(num_groups=3, num_channels=3)": "GroupNorm(3, 3)",
    "shape=(2, 3, 4, 4)&layer=LayerNorm(4)&hide=code&data=normal": "LayerNorm([4])",
    "layer=BatchNorm2d(3).eval()": "BatchNorm2d(3).eval()",
}


def set_fragment(page: Page, fragment: str) -> None:
    page.evaluate("fragment => { location.hash = fragment; }", fragment)


def test_a_file_opens_with_the_view_of_its_fragment_in_any_words_and_else_with_its_first_view(show):
    for fragment, sentence in (("layer=BatchNorm2d(3)&at=1,2,0,3", "BatchNorm2d(3)"), ("main", "LayerNorm([3, 4, 4])")):
        page = show("explore", fragment)
        expect_sentence(page, f"{sentence} on (2, 3, 4, 4)")
        expect(page.locator(".nv-no-view")).to_be_hidden()
    for fragment, sentence in OTHER_WORDS.items():
        set_fragment(page, fragment)
        expect_sentence(page, f"{sentence} on (2, 3, 4, 4)")
        expect(page.locator(".nv-no-view")).to_be_hidden()


def test_a_view_that_the_file_does_not_have_is_stated_and_links_to_the_app_if_there_is_one(show):
    unknown = ("layer=LayerNorm([9])", "data=counting", "layer=<img src=x onerror=alert(1)>")
    page = show("explore", unknown[0])
    for fragment in unknown:
        set_fragment(page, fragment)
        expect(page.locator(".nv-no-view")).to_contain_text("This file has no answer for ")
        expect(page.locator(".nv-no-view *")).to_have_count(0)
        expect_sentence(page, "LayerNorm([3, 4, 4]) on (2, 3, 4, 4)")
        choose(page, "Layer", "RMSNorm")
        expect(page.locator(".nv-no-view")).to_be_hidden()
    page = show("shapes", unknown[0])
    for fragment in unknown:
        set_fragment(page, fragment)
        link = page.get_by_role("link", name="Open it in the app")
        expect(link).to_have_attribute("href", re.compile(re.escape(f"https://example.org/lab/explore?{fragment[:5]}")))


def test_links_to_the_app_follow_the_view(show):
    page = show("shapes")
    choose(page, "Layer", "GroupNorm")
    link = page.get_by_role("link", name="Open in the app")
    expect(link).to_have_attribute("href", "https://example.org/lab/explore?shape=2,3,4,4&layer=GroupNorm(3,3)")
    select_first_element(page)
    expect(link).to_have_attribute(
        "href", "https://example.org/lab/explore?shape=2,3,4,4&layer=GroupNorm(3,3)&at=0,0,0,0"
    )
    expect(show("explore").get_by_role("link", name="Open in the app")).to_have_count(0)


FRAMES = {
    "without storage": '<iframe sandbox="allow-scripts" src="whole.html#layer=BatchNorm2d(3)"></iframe>',
    "of the same site": '<iframe src="explore.html#layer=BatchNorm2d(3)"></iframe>',
    "srcdoc": '<iframe sandbox="allow-scripts" srcdoc="{html}"></iframe>',
}


@pytest.fixture(scope="module")
def whole(make: Make) -> Path:
    """A file that contains plotly.js: a sandboxed frame cannot load it from another file."""
    path = make("explore").with_name("whole.html")
    assert main(["export", *LAYER, "-o", str(path)]) == 0
    return path


def test_a_file_answers_in_a_frame(tab, whole, subtests):
    for kind in FRAMES:
        with subtests.test(kind):
            tag = FRAMES[kind].format(html=escape(whole.read_text(encoding="utf-8")))
            host = whole.with_name("host.html")
            host.write_text(f"<!doctype html><style>iframe{{width:900px;height:700px}}</style>{tag}", encoding="utf-8")
            tab.page.goto(host.as_uri())
            frame = tab.page.frame_locator("iframe")
            frame.locator(READY).wait_for()
            expect_sentence(frame, "LayerNorm([3, 4, 4])" if kind == "srcdoc" else "BatchNorm2d(3)")
            choose(frame, "Layer", "GroupNorm")
            expect_sentence(frame, "GroupNorm(3, 3)")
            assert select_first_element(frame).startswith("x[0, 0, 0, 0]")
            share = frame.get_by_role("button", name="Share")
            expect(share).to_have_count(0 if kind == "srcdoc" else 1)
            if kind != "srcdoc":
                share.click()
                frame.get_by_role("button", name="Copy: Link").click()
                expect(frame.get_by_text("Copied: Link")).to_be_attached()
            tab.check()


def test_a_file_of_version_1_still_opens(tab, tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "plotly.min.js").write_bytes(plotly_js())
    (tmp_path / "old.html").write_bytes((OLD / "view-v1.html").read_bytes())
    tab.page.goto((tmp_path / "old.html").as_uri())
    tab.page.locator(READY).wait_for()
    expect_sentence(tab.page, "LayerNorm([3]) on (2, 3): 2 means")
    assert Readout(tab.page.locator(".nv-readout").inner_text()).index == (0, 1)
    tab.check()


def test_a_file_with_answers_of_version_2_still_opens_and_answers(tab, tmp_path):
    (tmp_path / PLOTLY).write_bytes(plotly_js())
    (tmp_path / "old.html").write_bytes(gzip.decompress((OLD / "playable-v2.html.gz").read_bytes()))
    tab.page.goto((tmp_path / "old.html").as_uri())
    tab.page.locator(READY).wait_for()
    expect_sentence(tab.page, "LayerNorm([3]) on (2, 3): 2 means")
    choose(tab.page, "Layer", "BatchNorm1d(3)")
    expect_sentence(tab.page, "BatchNorm1d(3) on (2, 3): 3 means")
    expect_fragment(tab.page, "#layer=BatchNorm1d(3)")
    tab.check()
