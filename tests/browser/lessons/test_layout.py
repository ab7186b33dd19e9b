"""The layout of every page on a laptop and on a phone, in both themes: related things are together, and everything can be read and tapped."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from normviz.figures.palette import theme
from normviz.lessons.pages import PAGES
from normviz.lessons.questions.page import CORE, QUESTIONS
from normviz.lessons.questions.question import facts_of, prose
from tests.browser.lessons.lesson import FITS, NARROW, READY, STRAIGHT, WIDE, Lesson

pytestmark = pytest.mark.browser

Check = Callable[[Lesson], None]

LAYERS = "?shape=2,3,4,4&layers=LayerNorm([3,4,4]);BatchNorm2d(3);InstanceNorm2d(3);GroupNorm(1,3)&at=1,2,0,3"
SMALLEST_TARGET = 40  # pixels: the smallest touch target
SMALLEST_CODE = 12  # pixels

BOXES = """(found) => found.map(part => part.getBoundingClientRect()).map(box => [box.left, box.top, box.width, box.height])"""

# Do the figures have this color of text?
HAS_COLOR = """color => [...document.querySelectorAll(".nv-view")]
  .every(view => getComputedStyle(view).getPropertyValue("--nv-text") === color)"""

# Texts of a chart that overlap.
COLLISIONS = """(texts) => {
  const boxes = texts.filter(text => text.textContent.trim() && text.checkVisibility({ visibilityProperty: true }))
    .map(text => [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.width);
  const cross = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  return boxes.flatMap(([text, box], i) => boxes.slice(0, i).filter(([, other]) => cross(box, other)).map(([other]) => `${text} on ${other}`));
}"""


def lefts(found: Locator) -> list[float]:
    return [left for left, _, _, _ in found.evaluate_all(BOXES)]


def tops(found: Locator) -> list[int]:
    return [round(top) for _, top, _, _ in found.evaluate_all(BOXES)]


def widths(found: Locator) -> list[int]:
    return [round(width) for _, _, width, _ in found.evaluate_all(BOXES)]


def assert_no_chart_text_overlaps(view: Lesson) -> None:
    assert view.find(".nv-chart-plot svg text").evaluate_all(COLLISIONS) == []


def assert_no_table_is_cut_off(view: Lesson) -> None:
    hidden = view.find(".nv-table-box").evaluate_all(
        "tables => tables.map(table => table.scrollWidth - table.clientWidth)"
    )
    assert set(hidden) <= {0}


# What scrolls sideways: whether it is a box with a fade that has a name and takes the focus, how far its content lies below the fade at first,
# and after scrolling to the end.
SCROLLING = """() => [...document.querySelectorAll(".nv-page *")].filter(box => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1
    && /auto|scroll/.test(getComputedStyle(box).overflowX) && !box.matches("pre")).map(box => {
  const fade = getComputedStyle(box, "::after"), covered = () =>
    Math.round(box.firstElementChild.getBoundingClientRect().right - box.getBoundingClientRect().right + parseFloat(fade.width));
  const first = covered();
  box.scrollLeft = box.scrollWidth;
  const last = covered();
  box.scrollLeft = 0;
  return { named: !!box.getAttribute("aria-label"), focus: box.tabIndex, fades: fade.position === "sticky" && fade.backgroundImage.includes("gradient"), first, last };
})"""


def assert_what_is_cut_off_fades_until_it_is_scrolled_to_its_end(view: Lesson) -> None:
    for box in view.page.evaluate(SCROLLING):
        assert (box["named"], box["focus"], box["fades"], box["last"]) == (True, 0, True, 0), box
        assert box["first"] > 0, box


def assert_code_is_large_enough(view: Lesson, present: bool) -> None:
    sizes = view.find(".nv-page :is(p, li, td, th, label, a) code").evaluate_all(
        "all => all.map(code => parseFloat(getComputedStyle(code).fontSize))"
    )
    assert bool(sizes) >= present
    assert min(sizes, default=SMALLEST_CODE) >= SMALLEST_CODE


# On a phone


def unfold(view: Lesson) -> None:
    """Show the controls."""
    folded = view.find(".nv-fold[aria-expanded=false]")
    if folded.count():
        folded.click()


def assert_all_sizes_are_in_one_row(view: Lesson) -> None:
    unfold(view)
    sizes = view.find(".st-key-controls [class*=st-key-size_]")
    assert sizes.count() == 4
    assert len(set(tops(sizes))) == 1
    assert len(set(widths(sizes))) == 1


def assert_experiments_are_one_line_with_the_chosen_one_in_sight_above_the_sentence(view: Lesson) -> None:
    choices = view.find(".st-key-show [role=radio]")
    assert len(set(tops(choices))) == 1  # the figure, or its sentence, comes first
    left, _, width, _ = view.find(".st-key-show [aria-checked=true]").evaluate_all(BOXES)[0]
    assert left >= 0
    assert left + width <= NARROW["width"]
    (sentence,) = view.find(".nv-sentence").locator("visible=true").evaluate_all(BOXES)[:1]
    assert sentence[1] < NARROW["height"] / 2
    borders = choices.evaluate_all(
        """all => all.map(getComputedStyle).map(style => ["Top", "Right", "Bottom", "Left"]
        .map(side => style[`border${side}Width`] + style[`border${side}Color`]))"""
    )
    for sides in borders:
        assert len(set(sides)) == 1
        assert not sides[0].startswith("0px")
        assert "rgba(0, 0, 0, 0)" not in sides[0]


def large_enough(selector: str) -> Check:
    """Checks that these targets are large enough for a thumb."""

    def check(view: Lesson) -> None:
        view.find(selector).first.wait_for()
        boxes = view.find(selector).evaluate_all(BOXES)
        assert min(height for _, _, _, height in boxes) >= SMALLEST_TARGET
        for i, (left, top, _, _) in enumerate(boxes):
            for other_left, other_top, _, _ in boxes[:i]:
                assert abs(top - other_top) >= SMALLEST_TARGET or left != other_left

    return check


def assert_panels_are_named_and_a_table_scrolls_below_its_first_column(view: Lesson) -> None:
    titles = view.find(".nv-stats .nv-title").all_inner_texts()
    assert len(titles) == len(set(titles)) == 4
    table, first = view.find(".nv-table-box").first, view.find(".nv-table-box td:first-child").first
    before = first.bounding_box()
    assert before
    assert before["width"] < NARROW["width"] / 2
    assert table.evaluate("table => { table.scrollLeft = 100; return table.scrollLeft; }") == 100
    assert first.bounding_box() == before
    background = first.evaluate("cell => getComputedStyle(cell).backgroundColor")
    assert background == "rgb(16, 20, 31)"


def assert_the_share_button_takes_no_space_before_its_style_loads(view: Lesson) -> None:
    found = view.page.evaluate(
        """() => [...document.querySelectorAll("style")].filter(style => style.textContent.includes(".nvs-opener"))
        .map(style => style.disabled = true).length"""
    )
    assert found
    assert view.page.evaluate(STRAIGHT)
    view.page.evaluate("document.querySelectorAll('style').forEach(style => style.disabled = false)")


# Every page, with what is special on a phone.
PAGES: dict[str, list[Check]] = {
    "?layer=LayerNorm([3,4,4])": [assert_all_sizes_are_in_one_row, large_enough(".nv-asked-fold > summary")],
    f"compare{LAYERS}": [
        assert_all_sizes_are_in_one_row,
        assert_panels_are_named_and_a_table_scrolls_below_its_first_column,
    ],
    "step_by_step?step=3": [assert_all_sizes_are_in_one_row],
    **{
        f"{page}?show={name}": [
            assert_experiments_are_one_line_with_the_chosen_one_in_sight_above_the_sentence,
            large_enough(".st-key-show [role=radio]"),
        ]
        for page in ("train_and_eval", "gradients", "numerics")
        for name in [one.name for one in PAGES[page].experiments]
        if name != "training"
    },
    "train_and_eval?show=training&batch=2": [
        assert_experiments_are_one_line_with_the_chosen_one_in_sight_above_the_sentence,
        large_enough(".st-key-show [role=radio]"),
        large_enough(".nv-training-layer, .nv-training-slider input"),
    ],
    "models?model=sd_unet&mark=batch": [large_enough(".nv-asked-fold > summary")],
    "questions?of=models": [large_enough(".nv-links-list a")],
    "questions?q=s0": [large_enough(".nv-option")],
    "questions?q=s0&guess=one": [],
    "questions": [
        large_enough(".nv-links-path a, .nv-topic > summary"),
        assert_the_share_button_takes_no_space_before_its_style_loads,
    ],
    "practice?seed=7&level=1": [large_enough(".nv-practice button:not(.nv-set *, .nv-marking *)")],
}
WITH_CODE = ("?layer=LayerNorm([3,4,4])", "questions?q=s0&guess=one", "questions")
WITHOUT_FIGURES = (
    "models?model=sd_unet&mark=batch",
    "questions?q=s0",
    "questions?of=models",
    "questions",
    "practice?seed=7&level=1",
)


# The right edges of the column and of the rightmost text, control or figure on the page.
RIGHT_EDGES = """() => {
  const main = document.querySelector("[data-testid=stMainBlockContainer]"), column = main.getBoundingClientRect().right - parseFloat(getComputedStyle(main).paddingRight);
  const parts = ".nv-sentence, .nv-view, .nv-start-figure, .nv-practice-head, .nv-choices, .nv-links-path, .nv-topic";
  return [column, Math.max(...[...main.querySelectorAll(parts)].filter(part => part.checkVisibility()).map(part => part.getBoundingClientRect().right))].map(Math.round);
}"""
ONE_COLUMN = (
    "?layer=LayerNorm([3,4,4])",
    f"compare{LAYERS}",
    "questions",
    "practice?seed=7&level=1",
    "numerics?show=eps",
)


def assert_its_title_is_larger_than_its_sentence_and_it_ends_at_the_right_edge_of_all(view: Lesson) -> None:
    size = "found => found.map(text => parseFloat(getComputedStyle(text).fontSize))"
    (title,), others = view.find("h1").evaluate_all(size), view.find(".nv-sentence, h2").evaluate_all(size)
    assert title > max(others)
    assert view.page.evaluate(RIGHT_EDGES) == [1200, 1200]


SCREENS = ((WIDE, "light"), (NARROW, "dark"))


def test_every_page_fits_each_screen_and_can_be_read_and_tapped(
    lesson_in_any_window: Lesson, subtests: pytest.Subtests
) -> None:
    """A page is opened on the screen of the page before, so every second one becomes wider, and the others narrower."""
    assert set(ONE_COLUMN) < set(PAGES)
    for address in PAGES:
        with subtests.test(address):
            assert_it_fits_and_can_be_read_and_tapped(lesson_in_any_window, address)


def assert_it_fits_and_can_be_read_and_tapped(lesson: Lesson, address: str) -> None:
    show(lesson, address)
    for screen, scheme in sorted(SCREENS, key=lambda shown: shown[0] != lesson.page.viewport_size):
        lesson.page.emulate_media(color_scheme=scheme)
        lesson.resize(screen)
        lesson.page.wait_for_function(STRAIGHT)
        lesson.page.wait_for_function(HAS_COLOR, arg=theme(scheme).text)
        lesson.wait_until_drawn()
        assert (lesson.find(READY).locator("visible=true").count() > 0) == (address not in WITHOUT_FIGURES)
        assert lesson.find(".nv-problem").count() == 0
        if screen == WIDE:
            assert lesson.find(".nvs-projector").is_visible() == (address != "questions")
            if address in ONE_COLUMN:
                assert_its_title_is_larger_than_its_sentence_and_it_ends_at_the_right_edge_of_all(lesson)
        assert_no_chart_text_overlaps(lesson)
        assert_code_is_large_enough(lesson, present=address in WITH_CODE)
        on_a_phone = [*PAGES[address], assert_what_is_cut_off_fades_until_it_is_scrolled_to_its_end]
        for check in on_a_phone if screen == NARROW else [assert_no_table_is_cut_off]:
            check(lesson)


def show(view: Lesson, address: str) -> None:
    if address == "questions":
        view.go_to_questions()
    else:
        view.visit(address)
    view.find(".nvs-opener").wait_for()
    view.ready(figures=address not in WITHOUT_FIGURES)


# On a laptop


def test_start_here_has_a_title_larger_than_its_sentence_and_ends_at_the_right_edge_of_all_pages(
    lesson: Lesson,
) -> None:
    lesson.visit("start?step=1")
    lesson.find("h1, .nv-part").first.wait_for()
    lesson.wait_until_drawn()
    assert_its_title_is_larger_than_its_sentence_and_it_ends_at_the_right_edge_of_all(lesson)


def test_on_a_laptop_the_panels_of_a_row_are_aligned_and_each_text_is_below_its_layer(lesson: Lesson) -> None:
    lesson.go_to("compare", LAYERS)
    for row, cards in (("stats", "mean"), ("params", "gamma")):
        lesson.show_cards(cards)
        cells = lesson.find(f".nv-{row} .nv-plot")
        assert cells.count() == 4
        assert len(set(tops(cells))) == 1
        assert len(set(tops(lesson.find(f".nv-{row} .nv-title")))) == 1
    assert lesson.find(".nv-params .nv-key").all_inner_texts() == ["gamma no. 35", "same gamma", "", "same gamma"]
    panels, texts = lesson.find(".nv-params .nv-panel"), lefts(lesson.find(".nv-readout .nv-phrase"))[1:]
    assert len(texts) == 4
    for left, width, text in zip(lefts(panels), widths(panels), texts, strict=True):
        assert left <= text < left + width / 2


def test_the_bars_of_a_model_are_on_the_first_screen_and_each_opens_its_layer(lesson: Lesson) -> None:
    lesson.visit("models?model=convnext_t")
    bars = lesson.find(".nv-model .nv-norm")
    bars.nth(22).wait_for()
    assert max(top + height for _, top, _, height in bars.evaluate_all(BOXES)) < WIDE["height"]
    bars.nth(3).click()
    lesson.wait_for_address(layer="LayerNorm([96],eps=1e-06)", shape="2,56,56,96", layout="NHWC", model=None)


def test_a_question_links_to_the_next(lesson: Lesson) -> None:
    first, second = (QUESTIONS[key] for key in CORE[:2])
    lesson.go_to("questions", f"?q={first.key}&guess={facts_of(first)['right']}")
    lesson.page.get_by_role("link", name=f"Next: {prose(second.key).title}").click()
    expect(lesson.page.get_by_role("heading", name=prose(second.key).title)).to_be_visible()
    lesson.wait_for_address(q=second.key, guess=None)
    expect(lesson.find(".nv-answer")).not_to_have_attribute("open", "")


def test_the_figure_of_an_answer_stands_beside_the_options_in_the_place_of_the_tensor(lesson: Lesson) -> None:
    lesson.go_to("questions", "?q=s1b")
    expect(lesson.find(".nv-predict")).to_be_visible()
    before = lesson.find(".nv-predict").bounding_box()
    lesson.page.get_by_text("Show the answer").click()
    expect(lesson.find(".nv-shown .nv-view").first).to_have_attribute("data-state", "ready")
    expect(lesson.find(".nv-prediction > .nv-bare")).to_be_hidden()
    options, figure = lesson.find(".nv-predict").bounding_box(), lesson.find(".nv-shown .nv-view").first.bounding_box()
    assert before
    assert options
    assert figure
    assert (options["x"], options["width"]) == (before["x"], before["width"])  # nothing moves under the pointer
    assert options["x"] + options["width"] <= figure["x"]
    assert options["y"] <= figure["y"] < options["y"] + options["height"]


def test_the_figure_of_a_closed_answer_is_drawn_when_the_answer_is_opened(lesson: Lesson) -> None:
    lesson.go_to("questions", "?q=s0")
    figure = lesson.find(".nv-shown .nv-view").first
    expect(figure).to_have_attribute("data-state", "hidden")
    lesson.resize(NARROW)
    lesson.page.get_by_text("Show the answer").click()
    expect(figure).to_have_attribute("data-state", "ready")
    lesson.page.wait_for_function(FITS, arg=NARROW["width"])
