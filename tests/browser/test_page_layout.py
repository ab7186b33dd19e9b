"""The layout of the lesson pages on a laptop and on a phone: related things are together, and everything can be read and tapped."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, expect

from normviz.lessons.questions.question import facts_of, prose
from normviz.lessons.questions.registry import QUESTIONS
from normviz.scene.settings.page_settings import experiments
from tests.browser.conftest import NewTab
from tests.browser.test_lessons import READY, STRAIGHT, Lesson
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

SCREENS = {"laptop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
EXPERIMENTS = [
    *(f"train_and_eval?show={name}" for name in experiments("train_and_eval")),
    *(f"numerics?show={name}" for name in experiments("numerics")),
]
LAYERS = "compare?layers=LayerNorm([3,4,4]);BatchNorm2d(3);InstanceNorm2d(3);GroupNorm(1,3)&at=1,2,0,3"
START = "?layer=LayerNorm([3,4,4])"
WITHOUT_FIGURES = ("train_and_eval?show=devices", "gradients?show=backward", "questions", "questions?q=s0")
SMALLEST_TARGET = 40  # pixels: the smallest touch target
SMALLEST_CODE = 12  # pixels

BOXES = """(found) => found.map(part => part.getBoundingClientRect()).map(box => [box.left, box.top, box.width, box.height])"""

# Texts of a chart that overlap.
COLLISIONS = """(texts) => {
  const boxes = texts.filter(text => text.textContent.trim() && text.checkVisibility({ visibilityProperty: true }))
    .map(text => [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.width);
  const cross = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  return boxes.flatMap(([text, box], i) => boxes.slice(0, i).filter(([, other]) => cross(box, other)).map(([other]) => `${text} on ${other}`));
}"""

Show = Callable[[str], Lesson]


@pytest.fixture(scope="module")
def tabs(new_tab: NewTab, server: str) -> Iterator[dict[str, tuple[Lesson, Watch]]]:
    """One tab for each screen."""
    opened = {}
    for name, screen in SCREENS.items():
        tab = new_tab(viewport=screen, touch=name == "phone")
        opened[name] = Lesson(tab, server), Watch(tab)
    yield opened
    for view, _ in opened.values():
        view.page.close()


def pages_in(view: Lesson, watch: Watch) -> Iterator[Show]:
    def show(address: str) -> Lesson:
        view.visit(address)
        view.page.locator(".st-key-share").wait_for()  # the last part of a page
        return view.ready(figures=address not in WITHOUT_FIGURES)

    yield show
    watch.check()


@pytest.fixture
def laptop(tabs: dict[str, tuple[Lesson, Watch]]) -> Iterator[Show]:
    yield from pages_in(*tabs["laptop"])


@pytest.fixture
def phone(tabs: dict[str, tuple[Lesson, Watch]]) -> Iterator[Show]:
    yield from pages_in(*tabs["phone"])


def lefts(found: Locator) -> list[float]:
    return [left for left, _, _, _ in found.evaluate_all(BOXES)]


def tops(found: Locator) -> list[int]:
    return [round(top) for _, top, _, _ in found.evaluate_all(BOXES)]


def widths(found: Locator) -> list[int]:
    return [round(width) for _, _, width, _ in found.evaluate_all(BOXES)]


def assert_no_chart_text_overlaps(view: Lesson) -> None:
    assert view.find(".nv-chart-plot svg text").evaluate_all(COLLISIONS) == []


def assert_no_table_is_cut_off(view: Lesson) -> None:
    hidden = view.find("[class*=st-key-table_]").evaluate_all(
        "tables => tables.map(table => table.scrollWidth - table.clientWidth)"
    )
    assert set(hidden) <= {0}


def assert_code_is_large_enough(view: Lesson) -> None:
    sizes = view.find(".stMarkdown code, [data-testid=stMarkdownContainer] code").evaluate_all(
        "all => all.map(code => parseFloat(getComputedStyle(code).fontSize))"
    )
    assert min(sizes, default=SMALLEST_CODE) >= SMALLEST_CODE


@pytest.mark.parametrize("address", [*EXPERIMENTS, LAYERS, "gradients?show=backward"])
def test_on_a_laptop_tables_charts_and_code_can_be_read(laptop: Show, address: str) -> None:
    view = laptop(address)
    assert_no_table_is_cut_off(view)
    assert_no_chart_text_overlaps(view)
    assert_code_is_large_enough(view)


@pytest.mark.parametrize("address", EXPERIMENTS)
def test_on_a_phone_no_text_of_a_chart_overlaps(phone: Show, address: str) -> None:
    assert_no_chart_text_overlaps(phone(address))


@pytest.mark.parametrize("address", [START, "questions", "questions?q=s0&guess=one"])
def test_code_in_text_is_large_enough(laptop: Show, address: str) -> None:
    view = laptop(address)
    view.find("[data-testid=stMarkdownContainer] code").first.wait_for()
    assert_code_is_large_enough(view)


# Compare


def test_on_a_laptop_the_panels_of_a_row_are_aligned_and_each_text_is_below_its_layer(laptop: Show) -> None:
    view = laptop(LAYERS)
    for row in ("stats", "params"):
        cells = view.find(f".nv-{row} .nv-plot")
        assert cells.count() == 4
        assert len(set(tops(cells))) == 1
    panels, texts = view.find(".nv-params .nv-panel"), lefts(view.find(".nv-readout .nv-phrase"))[1:]
    assert len(texts) == 4
    for left, width, text in zip(lefts(panels), widths(panels), texts, strict=True):
        assert left <= text < left + width / 2


def test_on_a_phone_panels_are_named_and_a_table_scrolls_below_its_first_column(phone: Show) -> None:
    view = phone(LAYERS)
    titles = view.find(".nv-stats .nv-title, .nv-params .nv-title").all_inner_texts()
    assert len(titles) == len(set(titles)) == 8
    table, first = view.find(".st-key-table_layer"), view.find(".st-key-table_layer td:first-child").first
    before = first.bounding_box()
    assert before
    assert before["width"] < SCREENS["phone"]["width"] / 2
    assert table.evaluate("table => { table.scrollLeft = 100; return table.scrollLeft; }") == 100
    assert first.bounding_box() == before
    background = first.evaluate("cell => getComputedStyle(cell).backgroundColor")
    assert background == "rgb(255, 255, 255)"


# Controls


@pytest.mark.parametrize("address", [START, LAYERS, "gradients?show=column"])
def test_on_a_phone_all_sizes_are_in_one_row(phone: Show, address: str) -> None:
    sizes = phone(address).find(".st-key-controls [class*=st-key-size_]")
    assert sizes.count() == 4
    assert len(set(tops(sizes))) == 1
    assert len(set(widths(sizes))) == 1


@pytest.mark.parametrize("address", ["train_and_eval?show=stream", "numerics?show=eps", "gradients?show=column"])
def test_on_a_phone_the_experiments_wrap_and_each_keeps_its_border(phone: Show, address: str) -> None:
    choices = phone(address).find(".st-key-show [role=radio]")
    assert len(set(tops(choices))) > 1
    borders = choices.evaluate_all(
        """all => all.map(getComputedStyle).map(style => ["Top", "Right", "Bottom", "Left"]
        .map(side => style[`border${side}Width`] + style[`border${side}Color`]))"""
    )
    for sides in borders:
        assert len(set(sides)) == 1
        assert not sides[0].startswith("0px")
        assert "rgba(0, 0, 0, 0)" not in sides[0]


TARGETS = {
    "questions?q=s0": "[data-testid=stRadioOption]",
    "questions": "[class*=st-key-ask_] button",
    START: ".st-key-answers a",
    "numerics?show=eps": ".st-key-show [role=radio]",
}


@pytest.mark.parametrize("address", TARGETS)
def test_targets_are_large_enough_for_a_thumb(phone: Show, address: str) -> None:
    targets = phone(address).find(TARGETS[address])
    targets.first.wait_for()
    boxes = targets.evaluate_all(BOXES)
    assert min(height for _, _, _, height in boxes) >= SMALLEST_TARGET
    for i, (left, top, _, _) in enumerate(boxes):
        for other_left, other_top, _, _ in boxes[:i]:
            assert abs(top - other_top) >= SMALLEST_TARGET or left != other_left


# Questions


def test_a_question_links_to_the_next(laptop: Show) -> None:
    first, second = list(QUESTIONS.values())[:2]
    view = laptop(f"questions?q={first.key}&guess={facts_of(first)['right']}")
    expect(view.find(READY).first).to_be_visible()
    view.page.get_by_role("button", name=f"Next: {prose(second.key).title}").click()
    expect(view.page.get_by_role("heading", name=prose(second.key).title)).to_be_visible()
    view.wait_for_address(q=second.key, guess=None)
    expect(view.find(".nv-view")).to_have_count(0)


def test_the_share_button_takes_no_space_before_its_style_loads(phone: Show) -> None:
    view = phone("questions")
    view.find(".nvs-opener").wait_for()
    removed = view.page.evaluate(
        """() => { const own = [...document.querySelectorAll("style")].filter(style => style.textContent.includes(".nvs-opener"));
        own.forEach(style => style.remove()); return own.length; }"""
    )
    assert removed
    assert view.page.evaluate(STRAIGHT)
