"""How the lesson pages are laid out, on a laptop and on a phone: what belongs together stands together, and a thumb can hit it."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

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
WITHOUT_FIGURES = ("train_and_eval?show=devices", "gradients?show=backward", "questions", "questions?q=s0")
SMALLEST_TARGET = 40  # pixels that a thumb hits
SMALLEST_CODE = 12  # pixels

BOXES = """(found) => found.map(part => part.getBoundingClientRect()).map(box => [box.left, box.top, box.width, box.height])"""

# Words of a chart that lie on each other.
COLLISIONS = """(texts) => {
  const boxes = texts.filter(text => text.textContent.trim() && text.checkVisibility({ visibilityProperty: true }))
    .map(text => [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.width);
  const cross = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  return boxes.flatMap(([text, box], i) => boxes.slice(0, i).filter(([, other]) => cross(box, other)).map(([other]) => `${text} on ${other}`));
}"""

Opener = Callable[[str], Lesson]


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


def opener(name: str, tabs: dict[str, tuple[Lesson, Watch]]) -> Iterator[Opener]:
    view, watch = tabs[name]

    def go(address: str) -> Lesson:
        page, _, query = address.partition("?")
        view.page.goto(f"{view.server}/{page}?{query}")
        view.ready(figures=address not in WITHOUT_FIGURES)
        view.page.locator(".st-key-share").wait_for()  # a page's last part
        return view

    yield go
    watch.check()


@pytest.fixture
def laptop(tabs: dict[str, tuple[Lesson, Watch]]) -> Iterator[Opener]:
    yield from opener("laptop", tabs)


@pytest.fixture
def phone(tabs: dict[str, tuple[Lesson, Watch]]) -> Iterator[Opener]:
    yield from opener("phone", tabs)


# Compare


LAYERS = "compare?layers=LayerNorm([3,4,4]);BatchNorm2d(3);InstanceNorm2d(3);GroupNorm(1,3)"


def test_every_panel_says_whose_it_is(phone: Opener) -> None:
    view = phone(LAYERS)
    titles = view.find(".nv-stats .nv-title, .nv-params .nv-title").all_inner_texts()
    assert len(titles) == len(set(titles)) == 8


@pytest.mark.parametrize("row", ["stats", "params"])
def test_the_cells_of_a_row_stand_at_one_height(laptop: Opener, row: str) -> None:
    view = laptop(LAYERS)
    boxes = view.find(f".nv-{row} .nv-plot").evaluate_all(BOXES)
    assert len(boxes) == 4
    assert len({round(top) for _, top, _, _ in boxes}) == 1


def test_what_is_said_of_a_layer_stands_under_its_panels(laptop: Opener) -> None:
    view = laptop(LAYERS + "&at=1,2,0,3")
    panels = view.find(".nv-params .nv-panel").evaluate_all(BOXES)
    said = view.find(".nv-readout .nv-phrase").evaluate_all(BOXES)[1:]
    assert len(panels) == len(said) == 4
    for (left, _, wide, _), (start, _, _, _) in zip(panels, said, strict=True):
        assert left <= start < left + wide / 2


# Tables


@pytest.mark.parametrize("address", [*EXPERIMENTS, LAYERS, "gradients?show=backward"])
def test_on_a_laptop_no_table_is_cut_off(laptop: Opener, address: str) -> None:
    view = laptop(address)
    hidden = view.find("[class*=st-key-table_]").evaluate_all(
        "tables => tables.map(table => table.scrollWidth - table.clientWidth)"
    )
    assert set(hidden) <= {0}


def test_on_a_phone_the_first_column_stays_where_the_table_scrolls(phone: Opener) -> None:
    view = phone(LAYERS)
    table, first = view.find(".st-key-table_layer"), view.find(".st-key-table_layer td:first-child").first
    before = first.bounding_box()
    assert before
    assert before["width"] < SCREENS["phone"]["width"] / 2
    assert table.evaluate("table => { table.scrollLeft = 100; return table.scrollLeft; }") == 100
    assert first.bounding_box() == before
    background = first.evaluate("cell => getComputedStyle(cell).backgroundColor")
    assert background == "rgb(255, 255, 255)"


# Charts


@pytest.mark.parametrize("address", EXPERIMENTS)
def test_no_words_of_a_chart_lie_on_others(laptop: Opener, phone: Opener, address: str) -> None:
    for opened in (laptop, phone):
        view = opened(address)
        assert view.find(".nv-chart-plot svg text").evaluate_all(COLLISIONS) == []


# Controls


@pytest.mark.parametrize("address", ["", LAYERS, "gradients"])
def test_on_a_phone_all_sizes_stand_in_one_row(phone: Opener, address: str) -> None:
    view = phone(address)
    boxes = view.find(".st-key-controls [class*=st-key-size_]").evaluate_all(BOXES)
    assert len(boxes) == 4
    assert len({round(top) for _, top, _, _ in boxes}) == 1
    assert len({round(wide) for _, _, wide, _ in boxes}) == 1


@pytest.mark.parametrize("address", ["train_and_eval", "numerics", "gradients"])
def test_the_choices_of_an_experiment_keep_their_frames_where_they_wrap(phone: Opener, address: str) -> None:
    view = phone(address)
    choices = view.find(".st-key-show [role=radio]")
    assert len({round(top) for _, top, _, _ in choices.evaluate_all(BOXES)}) > 1
    frames = choices.evaluate_all(
        """all => all.map(getComputedStyle).map(style => ["Top", "Right", "Bottom", "Left"]
        .map(side => style[`border${side}Width`] + style[`border${side}Color`]))"""
    )
    for sides in frames:
        assert len(set(sides)) == 1
        assert not sides[0].startswith("0px")
        assert "rgba(0, 0, 0, 0)" not in sides[0]


TARGETS = {
    "questions?q=s0": "[data-testid=stRadioOption]",
    "questions": "[class*=st-key-ask_] button",
    "": ".st-key-answers a",
    "numerics": ".st-key-show [role=radio]",
}


@pytest.mark.parametrize("address", TARGETS)
def test_a_thumb_can_hit_it(phone: Opener, address: str) -> None:
    view = phone(address)
    view.find(TARGETS[address]).first.wait_for()
    boxes = view.find(TARGETS[address]).evaluate_all(BOXES)
    assert boxes
    assert min(high for _, _, _, high in boxes) >= SMALLEST_TARGET
    assert all(
        abs(top - other) >= SMALLEST_TARGET or left != beside
        for i, (left, top, _, _) in enumerate(boxes)
        for beside, other, _, _ in boxes[:i]
    )


@pytest.mark.parametrize("address", ["", LAYERS, "gradients?show=backward", "questions", "questions?q=s0&guess=one"])
def test_code_is_as_large_as_one_can_read(laptop: Opener, address: str) -> None:
    view = laptop(address)
    view.find("[data-testid=stMarkdownContainer] code").first.wait_for()
    sizes = view.find(".stMarkdown code, [data-testid=stMarkdownContainer] code").evaluate_all(
        "all => all.map(code => parseFloat(getComputedStyle(code).fontSize))"
    )
    assert sizes
    assert min(sizes) >= SMALLEST_CODE


# Questions


def test_one_question_leads_to_the_next(laptop: Opener) -> None:
    view = laptop("questions")
    second = view.find("[class*=st-key-ask_] button").nth(1).inner_text()
    view = laptop("questions?q=s0&guess=one")
    expect(view.find(READY)).to_have_count(1)
    view.page.get_by_role("button", name=f"Next: {second}").click()
    expect(view.page.get_by_role("heading", name=second)).to_be_visible()
    view.asks_for(guess=None)
    expect(view.find(".nv-view")).to_have_count(0)


def test_until_share_has_its_own_style_it_takes_no_room(phone: Opener) -> None:
    view = phone("questions")
    view.find(".nvs-opener").wait_for()
    removed = view.page.evaluate(
        """() => { const own = [...document.querySelectorAll("style")].filter(style => style.textContent.includes(".nvs-opener"));
        own.forEach(style => style.remove()); return own.length; }"""
    )
    assert removed
    assert view.page.evaluate(STRAIGHT)
