"""The story in a browser: it answers before the app has loaded; pointer and keyboard reach every figure; it fits a phone and paper."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

import normviz as nv
from normviz.lessons.story.figures import PADDED, five_layers, numbers, padded_output
from normviz.lessons.story.page import SECTIONS
from tests.browser.conftest import NewTab, new_context
from tests.browser.lessons.lesson import NARROW, WIDE
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

KEYS = [section.key for section in SECTIONS]
READY = ".nv-view[data-state=ready]"
# How many other figures were on the page when the first one appeared.
COUNT = """new MutationObserver(() => {
  if (document.querySelector(".nv-depth-bar")) window.others ??= document.querySelectorAll(".nv-view").length;
}).observe(document, { subtree: true, childList: true })"""
PRINTED = """() => [...document.querySelectorAll(".nv-story-text, .nv-story-figure")]
  .filter((part) => !part.checkVisibility() || part.getBoundingClientRect().right > innerWidth).map((part) => part.className)"""


@pytest.fixture(scope="module")
def file(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The story as a file."""
    path = tmp_path_factory.mktemp("story") / "story.html"
    path.write_text(nv.open("/story").to_html(), encoding="utf-8")
    context = new_context(browser)
    page = context.new_page()
    page.set_viewport_size(WIDE)
    page.goto(path.as_uri())
    expect(page.locator(READY)).to_have_count(6)
    yield page
    context.close()


@pytest.fixture
def page(file: Page) -> Page:
    file.set_viewport_size(WIDE)
    file.emulate_media(media="screen")
    return file


def section(page: Page, key: str, inside: str = "") -> Locator:
    return page.locator(f"{inside} .nv-story-section[data-key={key}]")


def test_the_first_figure_answers_before_the_app_has_loaded_and_the_app_keeps_what_is_chosen(
    new_tab: NewTab, made: Callable[[str], str]
) -> None:
    held: list[Route] = []
    page = new_tab()
    watch = Watch(page)
    page.route("**/static/js/**", lambda route: held.append(route))
    page.add_init_script(COUNT)
    page.goto(made("story"), wait_until="commit")
    first = section(page, "depth", "#normviz-first")
    first.get_by_role("switch").press("Space")
    expect(first.locator(".nv-depth-last")).to_have_text("1")
    assert page.evaluate("others") == 0  # they are below the screen
    section(page, "padding", "#normviz-first").get_by_role("slider").press("End")
    section(page, "padding", "#normviz-first").get_by_role("radio", name="LayerNorm").check()
    section(page, "padding", "#normviz-first").locator(".nv-panel-x .nv-over").click(position={"x": 30, "y": 30})
    element = section(page, "padding", "#normviz-first").locator(".nv-readout code").inner_text()
    for route in held:
        route.continue_()
    page.unroute_all()
    expect(page.locator("#normviz-first")).to_have_count(0)
    expect(section(page, "depth", "#root").locator(".nv-depth-last")).to_have_text("1")
    padding = section(page, "padding", "#root")
    expect(padding.get_by_role("slider")).to_have_attribute("aria-valuetext", str(PADDED[-1]))
    expect(padding.get_by_role("radio", name="LayerNorm")).to_be_checked()
    expect(padding.locator(".nv-panel-output")).to_contain_text("LayerNorm")
    expect(padding.locator(".nv-readout code")).to_have_text(element)
    watch.check()
    page.close()


def test_a_slider_and_buttons_choose_the_state_and_the_element_stays(page: Page) -> None:
    padding = section(page, "padding")
    expect(padding.locator(".nv-readout")).to_have_text("Point at an element to read its values.")
    padding.locator(".nv-panel-output .nv-over").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    found = padding.locator(".nv-readout code").inner_text()
    at = tuple(map(int, found.removeprefix("x[").removesuffix("]").split(",")))
    for layer in ("BatchNorm", "LayerNorm"):
        padding.get_by_role("radio", name=layer).check()
        for key, padded in (("Home", PADDED[0]), ("End", PADDED[-1])):
            padding.get_by_role("slider").press(key)
            value = float(padded_output(layer, padded)[at])
            expect(padding.locator(".nv-readout code")).to_have_text(found)
            shown = padding.locator(".nv-readout strong").last
            expect(shown).not_to_have_text("")
            assert float(shown.inner_text().replace("−", "-")) == pytest.approx(value, rel=2e-3), (layer, padded)


def test_pointing_reads_a_value_and_the_length_of_the_batch_is_drawn(page: Page) -> None:
    batch = section(page, "batch")
    batch.get_by_role("slider").press("End")
    batch.locator(".nv-panel-x .nv-over").hover(position={"x": 60, "y": 40})
    expect(batch.locator(".nv-readout")).to_contain_text("x[")
    x = numbers()
    batch.get_by_role("slider").press("Home")
    expect(batch.locator(".nv-panel-x .nv-text:not(.nv-veiled) text")).to_have_count(2 * x.shape[1])


def test_the_pictures_change_with_the_layer_and_the_contrast(page: Page) -> None:
    pictures = section(page, "pictures")
    output = pictures.locator("img").nth(2)
    seen = {output.get_attribute("src")}
    pictures.get_by_role("slider").press("End")
    seen.add(output.get_attribute("src"))
    pictures.get_by_role("radio", name="InstanceNorm").check()
    seen.add(output.get_attribute("src"))
    assert len(seen) == 3
    assert output.get_attribute("alt") == "a lake at noon, after InstanceNorm"
    expect(pictures.locator("figcaption").nth(2)).to_contain_text("standard deviation of red: 1")


def test_the_slider_of_groups_renames_groupnorm_and_the_last_figure_shows_gammas(page: Page) -> None:
    groups = section(page, "groups")
    groups.get_by_role("slider").press("End")
    expect(groups.locator(".nv-title", has_text="GroupNorm(6, 6)")).to_be_visible()
    same = section(page, "same")
    same.get_by_role("radio", name="gamma").check()
    expect(same.locator(".nv-params .nv-title:visible")).to_have_count(len(five_layers()))


def test_on_a_laptop_a_figure_stays_beside_its_text_and_on_a_phone_it_is_below(page: Page) -> None:
    text, beside = (section(page, "depth").locator(part) for part in (".nv-story-text", ".nv-story-beside"))

    def boxes() -> tuple:
        first, second = text.bounding_box(), beside.bounding_box()
        assert first
        assert second
        return first, second

    page.evaluate("scrollTo(0, 0)")
    left, right = boxes()
    assert right["x"] > left["x"] + left["width"]
    page.mouse.wheel(0, 150)
    page.wait_for_function("scrollY >= 150")
    moved_text, moved = boxes()
    assert moved["y"] - moved_text["y"] > right["y"] - left["y"] + 50  # it followed
    page.set_viewport_size(NARROW)
    above, below = boxes()
    assert below["y"] >= above["y"] + above["height"]
    page.wait_for_function("document.scrollingElement.scrollWidth === innerWidth")
    heights = page.locator(".nv-story-controls .nv-chip").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().height)"
    )
    assert len(heights) == 6
    assert min(heights) >= 44


@pytest.mark.parametrize("key", ["padding", "rms"])
def test_on_a_low_screen_both_panels_of_a_figure_are_seen_with_their_numbers(page: Page, key: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    below_header = 720 - 60
    figure = section(page, key).locator(".nv-story-figure")
    page.wait_for_function(
        f"figure => figure.getBoundingClientRect().height <= {below_header}", arg=figure.element_handle()
    )
    assert figure.locator(".nv-view svg text", has_text=re.compile(r"^−?\d+\.\d+$")).count() > 60


def test_on_paper_every_text_and_figure_has_its_place(page: Page) -> None:
    page.set_viewport_size({"width": 718, "height": 1000})
    page.emulate_media(media="print")
    page.wait_for_function(f"() => !({PRINTED})().length")  # the figures are drawn again for the paper
    expect(page.locator(".nv-story-next")).to_be_hidden()
    assert page.locator(".nv-story input:visible").count() == 0
    assert [section(page, key).locator("h2").is_visible() for key in KEYS] == [True] * len(KEYS)
