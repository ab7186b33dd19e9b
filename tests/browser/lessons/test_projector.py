"""The view for a projector: a button on every page with a figure or a question, nothing covered, nothing that scrolls, and ways out."""

import pytest
from playwright.sync_api import expect

from normviz.parts.titles import EXPLORE, full_title
from tests.browser.files.test_tours import FIGURE
from tests.browser.lessons.lesson import Lesson

pytestmark = pytest.mark.browser

SHAPE = "shape=2,3,2,2&layer=LayerNorm([3,2,2])"
FIT = (  # everything of them fits into the window; each follows another page, so its title says when it is there
    f"?{SHAPE}",
    f"step_by_step?{SHAPE}&step=2",
    "train_and_eval?show=stream",
    f"gradients?{SHAPE}",
    "train_and_eval?show=training&batch=8",
    "numerics?show=shift",
    "train_and_eval?show=modes&shape=2,3,2,2&layer=BatchNorm2d(3)",
    "compare?shape=2,3,2,2&layers=LayerNorm([3,2,2]);BatchNorm2d(3)",
    "models?model=convnext_t",
    "compare?shape=2,4,3,5&cards=gamma",
    "questions?q=s0",
    "compare?shape=2,4,3,5&layers=BatchNorm2d(4);LayerNorm(5);RMSNorm(5);InstanceNorm2d(4);GroupNorm(2,4)",
    "practice?seed=7&level=1",
    "start?step=1",
    "all_layers?shape=2,4,3,5",
    "start?step=9",
    "teach?seed=7",
    f"?{SHAPE}&tour=normalized-shape",
)
NOTHING_SCROLLS = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  return main.scrollHeight === main.clientHeight && main.scrollWidth === main.clientWidth;
}"""
REACHES_DOWN = "() => innerHeight - document.querySelector('.nv-page').getBoundingClientRect().bottom < 24"
# The texts of the page over which another element lies, at the ends or in the middle of any of their lines.
COVERED = """() => [...document.querySelectorAll(":is(.nv-sentence, .nv-tour-caption, .nv-page h2, .nv-title, .nv-page a, .nv-leave)")].filter((element) => {
  const range = document.createRange();
  range.selectNodeContents(element);
  return element.checkVisibility() && [...range.getClientRects()].some(({ left, right, top, bottom }) => [left + 1, (left + right) / 2, right - 1].some((x) => {
    const found = document.elementFromPoint(x, (top + bottom) / 2);
    return top >= 0 && bottom <= innerHeight && !element.contains(found);
  }));
}).map((element) => element.outerHTML.slice(0, 80))"""
HEADER = "[data-testid=stHeader]"


def project(lesson: Lesson) -> None:
    lesson.page.get_by_role("button", name="Project", exact=True).click()
    lesson.wait_for_address(present="true")
    expect(lesson.find(".nv-present")).to_have_count(1)
    expect(lesson.find(HEADER)).to_be_hidden()
    lesson.ready(figures=False)


def expect_whole_page(lesson: Lesson) -> None:
    lesson.wait_for_address(present=None)
    expect(lesson.find(".nv-present")).to_have_count(0)
    expect(lesson.find(HEADER)).to_be_visible()


def test_a_link_shows_the_page_for_a_projector_and_escape_leads_to_the_page_with_the_button(
    lesson: Lesson, subtests: pytest.Subtests
) -> None:
    """The pages without an Escape have the button in test_layout.py."""
    for address in FIT:
        with subtests.test(address):
            lesson.visit(f"{address}&present=true")
            expect(lesson.page).to_have_title(full_title(address.partition("?")[0] or EXPLORE))
            expect(lesson.find(".nv-present")).to_have_count(1)
            expect(lesson.find(HEADER)).to_be_hidden()
            lesson.ready(figures=False)
            assert lesson.page.evaluate(COVERED) == []
            assert lesson.page.get_by_role("button", name="Share", exact=True).count() == 0
            lesson.page.wait_for_function(NOTHING_SCROLLS)
            if address == "start?step=1":  # its texts of 12 px are as large as on other pages
                scale = lesson.page.evaluate("document.querySelector('.nv-page').dataset.scale")
                assert float(scale) == pytest.approx(
                    lesson.page.evaluate("Math.min(innerWidth / 548, innerHeight / 308)")
                )
            if "tour" in address:  # its title does not show what the first stop asks
                assert lesson.page.evaluate(FIGURE)["veil"] == "hidden"
            if address == "start?step=1" or "tour" in address:
                lesson.page.keyboard.press("Escape")
                expect_whole_page(lesson)
                expect(lesson.page.get_by_role("button", name="Project", exact=True)).to_be_visible()


def test_back_and_a_small_button_leave_too_and_nothing_else_of_the_address_changes(lesson: Lesson) -> None:
    lesson.go_to("", f"?{SHAPE}&at=1,0,1,1")
    before = lesson.query
    project(lesson)
    assert lesson.query == before | {"present": "true"}
    lesson.page.go_back()
    expect_whole_page(lesson)
    assert lesson.query == before
    project(lesson)
    lesson.page.get_by_role("button", name="Leave the projector view").click()
    expect_whole_page(lesson)
    assert lesson.query == before


def test_escape_first_ends_what_the_figure_uses_it_for(lesson: Lesson) -> None:
    lesson.go_to("", f"?{SHAPE}&at=1,0,1,1")
    project(lesson)
    lesson.panel("stats").press("ArrowLeft")
    lesson.page.keyboard.press("Enter")
    lesson.wait_for_address(at="1,0,1,0")
    lesson.page.keyboard.press("Escape")
    lesson.wait_for_address(at="none", present="true")
    lesson.page.keyboard.press("Escape")
    expect_whole_page(lesson)


def test_figures_follow_the_height_of_the_window(lesson: Lesson) -> None:
    lesson.go_to("numerics", "?show=shift&present=true")
    chart, heights = lesson.find(".nv-chart-plot").first, []
    for height in (720, 1000, 600):
        lesson.page.set_viewport_size({"width": 1000, "height": height})  # the width limits the type, at each height
        lesson.page.wait_for_function(NOTHING_SCROLLS)
        lesson.page.wait_for_function(REACHES_DOWN)
        heights.append(chart.bounding_box()["height"])
    assert heights[1] - heights[0] == pytest.approx(280, abs=2)
    assert heights[0] - heights[2] == pytest.approx(120, abs=2)


def test_a_figure_of_several_panels_is_enlarged_and_fills_the_window(lesson: Lesson) -> None:
    """Side by side, three panels would leave half of the height empty; with the read-out in their line, the steps would be too high."""
    lesson.page.set_viewport_size({"width": 1920, "height": 1080})
    for page in ("gradients", "step_by_step"):
        lesson.go_to(page, "?shape=2,4,3,5&present=true")
        lesson.page.wait_for_function(NOTHING_SCROLLS)
        lesson.page.wait_for_function(
            "() => innerHeight - document.querySelector('.nv-page').getBoundingClientRect().bottom < 60"
        )
        assert lesson.page.evaluate("Number(document.querySelector('.nv-page').style.zoom)") > 1.7


def test_a_list_of_questions_and_an_embedded_view_have_no_such_button(lesson: Lesson) -> None:
    lesson.go_to_questions()
    expect(lesson.find(".nvs-opener")).to_be_visible()
    expect(lesson.find(".nvs-projector")).to_be_hidden()
    lesson.page.goto(f"{lesson.server}/?{SHAPE}&embed=true&present=true")
    lesson.ready()
    assert lesson.find(".nvs-projector, .nv-leave").count() == 0
    lesson.forget_app()
