"""The story in a browser: scrolling sets its figures, before the app has loaded, too; pointer and keyboard reach each; it fits a phone and paper."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

import normviz as nv
from normviz.lessons.story.figures import PADDED, five_layers, numbers, padded_output
from normviz.lessons.story.page import SECTIONS, story
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
PRINTED = """() => [...document.querySelectorAll(".nv-story-text, .nv-story-still")]
  .filter((part) => !part.checkVisibility() || part.getBoundingClientRect().right > innerWidth).map((part) => part.className)"""
STATES = """() => [...document.querySelectorAll(".nv-story-figure")]
  .map((figure) => `${figure.closest("section").dataset.key}: ${figure.dataset.state}`)"""
TOLD = {f"{section.key}: {step}" for section in story().sections[:-1] for step in section.figure.steps}


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
    expect(padding.locator(".nv-readout code")).to_have_text("x[0, 0, 1]")  # the one that the text follows
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


def test_the_pictures_change_with_the_contrast(page: Page) -> None:
    pictures = section(page, "pictures").locator(".nv-story-figure")
    lake, batch, instance = (pictures.locator("img").nth(i) for i in range(3))
    assert instance.get_attribute("alt") == "a lake at noon, after InstanceNorm"
    expect(pictures.locator("figcaption").nth(2)).to_have_text("1")
    before = [one.get_attribute("src") for one in (lake, batch)]
    pictures.get_by_role("slider").press("End")
    assert all(one.get_attribute("src") not in (None, was) for one, was in zip((lake, batch), before, strict=True))


@pytest.fixture
def moving(browser: Browser, file: Page) -> Iterator[Page]:
    """The file, for a reader who likes motion."""
    context = new_context(browser, reduced_motion="no-preference", viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(file.url)
    expect(page.locator(READY)).to_have_count(6)
    yield page
    context.close()


def test_scrolling_alone_shows_the_state_of_each_paragraph_and_moves_nothing_else(moving: Page) -> None:
    seen, bottom = set(moving.evaluate(STATES)), moving.evaluate("document.scrollingElement.scrollHeight")
    for top in range(0, bottom, 40):
        moving.evaluate(
            "top => { scrollTo(0, top); return new Promise((go) => requestAnimationFrame(() => setTimeout(go))); }", top
        )
        seen.update(moving.evaluate(STATES))
    assert TOLD - seen == set()
    assert moving.evaluate("document.scrollingElement.scrollHeight") == pytest.approx(bottom, abs=2)
    moving.evaluate("scrollTo(0, 0)")
    expect(section(moving, "depth").locator(".nv-story-figure")).to_have_attribute("data-state", "0.5")


def test_a_control_takes_over_until_the_next_paragraph_and_a_number_shows_its_state(moving: Page) -> None:
    batch, figure = section(moving, "batch"), section(moving, "batch").locator(".nv-story-figure")
    steps, numbers = batch.locator(".nv-story-step"), batch.locator(".nv-story-number")
    place = "(step, y) => scrollBy(0, step.getBoundingClientRect().top - y)"
    steps.nth(1).evaluate(place, 320)
    expect(figure).to_have_attribute("data-state", "4")
    figure.get_by_role("slider").press("ArrowRight")
    expect(figure).to_have_attribute("data-state", "6")
    steps.nth(1).evaluate(place, 315)  # the same paragraph
    moving.wait_for_timeout(100)
    expect(figure).to_have_attribute("data-state", "6")
    numbers.nth(0).hover()
    expect(figure).to_have_attribute("data-state", "8")
    numbers.nth(2).focus()
    expect(figure).to_have_attribute("data-state", "2")
    expect(batch.get_by_role("slider")).to_have_attribute("aria-valuetext", "2")
    numbers.nth(1).click()
    expect(figure).to_have_attribute("data-state", "4")
    steps.nth(2).evaluate(place, 300)
    expect(figure).to_have_attribute("data-state", "2")


def test_without_motion_nothing_follows_and_each_state_has_a_small_picture(page: Page) -> None:
    expect(page.locator(READY)).to_have_count(6)
    before = page.evaluate(STATES)
    page.evaluate("scrollTo(0, 2500)")
    page.wait_for_timeout(100)
    assert page.evaluate(STATES) == before
    for size in (WIDE, NARROW):
        page.set_viewport_size(size)
        assert page.locator(".nv-story-still:visible").count() == len(TOLD)
    assert page.locator(".nv-story-still img").evaluate_all("all => all.filter((one) => !one.naturalWidth).length") == 0


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
    assert page.locator(".nv-story-figure:visible").count() == 0  # its states are small pictures
    assert [section(page, key).locator("h2").is_visible() for key in KEYS] == [True] * len(KEYS)
