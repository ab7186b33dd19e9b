"""What a file does with a selected element, a projector, other sets of layers, and data of another version: opened from disk, without a network."""

import gzip
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import normviz as nv
from normviz.export.assets import plotly_js
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser
READY = ".nv-view[data-state=ready]:not(:has(.nv-cells))"
OLD = Path(__file__).parents[2] / "export" / "old"
TWO = ("LayerNorm([3])", "BatchNorm1d(3)")
FILES = {
    "gradients": ("/gradients?shape=2,3&layer=LayerNorm([3])", nv.Choices(layers=TWO, app="https://example.org/lab")),
    "explore": ("/explore?shape=2,3&layer=LayerNorm([3])&open=values,worked", nv.Choices(layers=TWO)),
    "compare": ("/compare?shape=2,3", nv.Choices(shapes=((5, 7),))),
    "question": ("/questions?q=q12", nv.Choices(app="https://example.org/lab")),
    "lecture": ("/questions?q=q12&present=true", None),
}
Show = Callable[..., Page]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("views")
    (place / "plotly.min.js").write_bytes(plotly_js())
    for name, (link, choices) in FILES.items():
        html = nv.open(link).with_(choices=choices, plotlyjs="plotly.min.js").to_html()
        (place / f"{name}.html").write_text(html, encoding="utf-8")
    return place


@pytest.fixture
def show(offline_tab: Watch, folder: Path) -> Iterator[Show]:
    """Open a file: ``show("explore", "present=true")``. The test fails if the browser reports an error."""

    def go(name: str, fragment: str = "", until: str = READY) -> Page:
        offline_tab.page.goto("about:blank")
        offline_tab.page.goto(f"{(folder / name).as_uri()}.html#{fragment}")
        offline_tab.page.locator(until).first.wait_for()
        return offline_tab.page

    yield go
    offline_tab.check()


def press(page: Page, panel: str, *keys: str) -> None:
    for key in keys:
        page.locator(f".nv-panel-{panel} .nv-over").press(key)


def test_derivatives_stay_those_of_their_element_and_another_element_leads_to_the_app(show):
    page = show("gradients")
    sentence = page.locator(".nv-sentence").inner_text()
    assert "x[1, 2]" in sentence
    press(page, "autograd", "ArrowLeft", "Enter")
    expect(page.locator(".nv-readout")).to_have_text("The numbers are those of x[1, 2].")
    expect(page.locator(".nv-no-view")).to_contain_text("This file has no answer for shape=2,3")
    link = page.get_by_role("link", name="Open it in the app")
    expect(link).to_have_attribute("href", re.compile(r"^https://example.org/lab/gradients\?.*at=1,1$"))
    expect(page.locator(".nv-sentence")).to_have_text(sentence)
    assert "at=" not in page.evaluate("location.hash")
    show("gradients", "at=0,0")
    expect(page.locator(".nv-no-view")).to_contain_text("at=0,0")
    expect(page.locator(".nv-sentence")).to_have_text(sentence)


def test_present_in_the_fragment_shows_the_figure_alone_until_esc(show):
    page = show("explore", "layer=BatchNorm1d(3)&present=true")
    expect(page.locator(".nv-present")).to_have_count(1)
    for hidden in (".nv-controls", ".nv-worked", ".nv-code", ".nv-panel-output"):
        expect(page.locator(hidden).first).to_be_hidden()
    expect(page.locator(".nv-sentence")).to_contain_text("BatchNorm1d(3)")
    press(page, "stats", "ArrowLeft", "Enter")
    page.wait_for_function("location.hash.includes('present=true') && location.hash.includes('at=')")
    page.locator(".nv-sentence").click()  # leaves the panel, where Esc deselects
    page.keyboard.press("Escape")
    expect(page.locator(".nv-controls")).to_be_visible()
    expect(page.locator(".nv-worked").first).to_be_visible()
    page.wait_for_function("!location.hash.includes('present')")


def test_a_button_shows_the_figure_alone_too_and_back_or_another_button_leaves(show):
    page = show("explore", "layer=BatchNorm1d(3)")
    for leave in (page.go_back, lambda: page.get_by_role("button", name="Leave the projector view").click()):
        page.get_by_role("button", name="Project", exact=True).click()
        expect(page.locator(".nv-present")).to_have_count(1)
        expect(page.locator(".nv-controls")).to_be_hidden()
        page.wait_for_function("location.hash === '#layer=BatchNorm1d(3)&present=true'")
        leave()
        expect(page.locator(".nv-present")).to_have_count(0)
        expect(page.locator(".nv-controls")).to_be_visible()
        page.wait_for_function("location.hash === '#layer=BatchNorm1d(3)'")


def test_a_file_with_one_view_is_for_a_projector_too_and_its_answer_waits_for_the_space_key(show):
    page = show("question", "present=true", ".nv-present .nv-predict")
    page.set_viewport_size({"width": 1280, "height": 720})
    expect(page.locator(".nv-qr > svg")).to_be_visible()
    expect(page.locator(".nv-join")).to_contain_text("example.org/lab/questions?q=q12")
    expect(page.locator(".nv-prediction .nv-answer > .nv-text")).to_be_hidden()
    for text in (".nv-predict > p", ".nv-predict input", ".nv-numbers th", ".nv-numbers td", ".nv-join p"):
        size = "element => parseFloat(getComputedStyle(element).fontSize) * (Number(element.closest('.nv-page').style.zoom) || 1)"
        page.wait_for_function(f"text => ({size})(document.querySelector(text)) >= 28", arg=text)
    page.keyboard.press("Space")
    expect(page.locator(".nv-prediction .nv-answer > .nv-text")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".nv-present")).to_have_count(0)
    expect(page.locator("h2")).to_be_visible()
    page.wait_for_function("!location.hash.includes('present')")
    page.go_back()
    expect(page.locator(".nv-present")).to_have_count(1)


def test_a_file_of_a_view_for_a_projector_stays_one(show):
    page = show("lecture", until=".nv-present .nv-predict")
    assert page.locator(".nv-leave, .nv-qr").count() == 0


def test_a_line_says_why_a_size_cannot_be_changed_and_leads_to_the_app_if_there_is_one(show):
    for name, has_line, app in (
        ("gradients", True, "https://example.org/lab/gradients?"),
        ("explore", True, ""),
        ("compare", False, ""),
    ):
        page = show(name)
        line, size = page.locator(".nv-control-fixed"), page.get_by_label("N", exact=True)
        expect(line).to_be_visible(visible=has_line)
        expect(size).to_be_enabled(enabled=not has_line)
        assert size.get_attribute("title") == ("This size is fixed in this file." if has_line else None)
        if has_line:
            expect(line).to_contain_text("The sizes in gray are fixed in this file.")
            links = [link.get_attribute("href") for link in line.get_by_role("link").all()]
            assert len(links) == bool(app)
            assert all(link.startswith(app) for link in links)


def test_a_reader_compares_other_layers_on_each_tensor_and_only_offered_sets_can_be_chosen(show):
    page = show("compare")
    add = page.get_by_role("combobox", name=re.compile("^Layers"))
    add.select_option(label="RMSNorm([3])")
    expect(page.locator(".nv-sentence")).to_contain_text("RMSNorm([3])")
    page.get_by_label("N", exact=True).press("ArrowUp")
    expect(page.locator(".nv-sentence")).to_contain_text("RMSNorm([7])")
    page.get_by_role("button", name="Remove BatchNorm1d(7)").click()
    expect(page.locator(".nv-sentence")).not_to_contain_text("BatchNorm1d(7)")
    while page.locator(".nv-several-chip:enabled").count():
        chips = page.locator(".nv-several-chip").count()
        page.locator(".nv-several-chip:enabled").first.click()
        expect(page.locator(".nv-several-chip")).to_have_count(chips - 1)
    expect(page.locator(".nv-several-chip")).to_have_count(2)
    add.select_option(label="DimNorm(7, dim=0)")
    expect(page.locator(".nv-sentence")).to_contain_text("DimNorm(7, dim=0)")


def with_data(html: str, data: str) -> str:
    """The file with other data."""
    return re.sub(r'(class="nv-data">).*?(</script>)', lambda found: found[1] + data + found[2], html)


def test_data_of_another_version_gives_a_message_instead_of_a_figure(show, folder):
    html = (folder / "explore.html").read_text(encoding="utf-8")
    (folder / "v1.html").write_text(with_data(html, (OLD / "answers-v1.json").read_text()), encoding="utf-8")
    page = show("v1", until=".nv-note-box")
    expect(page.locator(".nv-page")).to_have_text(
        "This page was made by another version of normviz: its data has version 1, and its script reads version 2. Export it again."
    )
    expect(page.locator(".nv-controls")).to_have_count(0)


def test_the_script_of_today_reads_the_oldest_data_of_its_version(show, folder):
    html = (folder / "explore.html").read_text(encoding="utf-8")
    old = gzip.decompress((OLD / "playable-v2.html.gz").read_bytes()).decode()
    data = re.findall(r'class="nv-data">(.*?)</script>', old)
    (folder / "v2.html").write_text(with_data(html, *data), encoding="utf-8")
    page = show("v2")
    page.get_by_label("Layer", exact=True).select_option("BatchNorm1d(3)")
    expect(page.locator(".nv-sentence")).to_contain_text("BatchNorm1d(3) on (2, 3): 3 means")
