"""Journeys of a reader, each written once, where engines differ: pointer and finger, keys and focus, drags, fields, the dark theme, history, files.

They are made in Firefox and in WebKitGTK, and in Chromium in `tests/browser`; every page is drawn in all three.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest

from normviz.export.site import build
from normviz.figures.palette import theme
from normviz.lessons.questions.page import find_question
from normviz.lessons.questions.question import facts_of, prose
from normviz.lessons.start.page import LESSON_STEPS
from normviz.parts.titles import HOME, TITLES, full_title
from normviz.scene import edits
from normviz.scene.scene import Scene
from normviz.scene.view import read
from tests.browser.agreement import assert_readout
from tests.browser.readout import Readout
from tests.browser.view import peers
from tests.engines.reader import PHONE, READY, Reader

pytestmark = pytest.mark.browser

IMAGES = "shape=2,3,2,2&layer=BatchNorm2d(3)&params=random&at=1,2,0,1"
ROWS = "shape=3,4&layer=LayerNorm(4)&data=counting&at=0,3&open=values"
STRAIGHT = "() => document.scrollingElement.scrollWidth <= innerWidth && (document.querySelector('[data-testid=stMain]')?.scrollWidth ?? 0) <= innerWidth"
DOT = ".nv-strips [role=slider]"


# Every page

# The visible figures, as the size of what is drawn in them.
FIGURES = """() => [...document.querySelectorAll(".nv-view")].filter((view) => view.checkVisibility())
  .map((view) => Math.min(...["width", "height"].map((side) => Math.max(0, ...[...view.querySelectorAll("svg, canvas")].map((part) => part.getBoundingClientRect()[side])))))"""
# The visible text, without the lists of the system, and without a chart's ticks, whose number follows from the font.
TEXT = """() => {
  const walker = document.createTreeWalker(document.querySelector("[data-testid=stMain]"), NodeFilter.SHOW_TEXT), found = [];
  while (walker.nextNode()) {
    const { data, parentElement: part } = walker.currentNode;
    if (!part.closest("select, script, style, .main-svg, .nv-story-still") && part.checkVisibility({ visibilityProperty: true })) found.push(data);
  }
  return found.join("").replace(/\\s+/g, "").replaceAll(location.host, "");
}"""
WITHOUT_FIGURES = {HOME, "start", "all_layers", "models", "questions", "practice", "teach"}
# The addresses have a query: one without would keep the view of the page before.
PAGES = {name: f"{name}?hide=" for name in TITLES} | {
    "models": "models?model=convnext_t",
    "practice": "practice?seed=7",
}
first_seen: dict[str, str] = {}  # the text of each page in the first engine that showed it
BESIDE = """() => {
  const bars = document.querySelector(".nv-model"), labels = [...document.querySelectorAll(".nv-model-axes > span")], range = new Range();
  const end = (label) => (range.selectNodeContents(label), range.getBoundingClientRect().right);
  return labels.length === 2 && labels.every((label) => end(label) < bars.getBoundingClientRect().left);
}"""


@pytest.mark.parametrize("engine", ["chromium", "firefox", "webkit"], indirect=True)
def test_every_page_is_drawn_with_the_same_text_as_in_the_other_engines(
    reader: Reader, subtests: pytest.Subtests
) -> None:
    for name in TITLES:
        with subtests.test(name):
            if name == HOME:
                reader.open(name)
            else:
                reader.visit(PAGES[name])
            reader.wait("title => document.title === title", full_title(name))
            if name != HOME:
                reader.sees("h1", str(TITLES[name][0]))
            reader.wait(READY)
            assert reader.texts(".nv-problem, [data-testid=stException]") == []
            sizes = reader.evaluate(FIGURES)
            assert bool(sizes) == (name not in WITHOUT_FIGURES)
            assert min(sizes, default=100) >= 40
            assert reader.evaluate(STRAIGHT)
            if name == "models":
                reader.wait(BESIDE, what="names of the axes beside the bars")
            text = reader.evaluate(TEXT)
            assert len(text) > 100
            assert text == first_seen.setdefault(name, text)


# A figure


def test_the_pointer_names_an_element_and_opens_its_group(reader: Reader) -> None:
    scene = reader.explore(IMAGES)
    reader.engine.move(*reader.spot(scene, "stats", (0, 1, 1, 0)))
    assert_readout(Readout(reader.names((0, 1, 1, 0))), scene, (0, 1, 1, 0))
    assert reader.open_elements(scene, "stats") == peers(scene, "stats", (0, 1, 1, 0))
    reader.engine.move(1, 1)
    reader.names((1, 2, 0, 1))  # the selected one


def test_a_click_selects_an_element_and_another_one_moves_the_selection(reader: Reader) -> None:
    scene = reader.explore(IMAGES)
    for index in ((0, 1, 1, 0), (1, 0, 0, 0)):
        reader.click_at(*reader.spot(scene, "stats", index))
        scene = reader.goes_to(at=",".join(map(str, index)))
        assert scene.at == index


def test_keys_move_through_a_figure_and_select(reader: Reader) -> None:
    scene = reader.explore(IMAGES)
    reader.focus(".nv-panel-stats .nv-over")
    reader.press("Home")
    here = reader.evaluate("() => document.querySelector('.nv-readout').innerText")
    reader.press("ArrowRight")
    reader.wait("before => document.querySelector('.nv-readout').innerText !== before", here)
    index = Readout(reader.texts(".nv-readout")[0]).index
    reader.press("n")
    reader.wait(
        "([index]) => !document.querySelector('.nv-readout').innerText.includes(index)",
        [f"[{', '.join(map(str, index))}]"],
    )
    follower = Readout(reader.texts(".nv-readout")[0]).index
    assert follower in scene.description.peers(index)
    reader.press("Enter")
    reader.goes_to(at=",".join(map(str, follower)))
    reader.press("Escape")
    reader.reaches(at="none")


def test_a_cell_is_dragged_to_another_value_and_its_group_follows(reader: Reader) -> None:
    scene = reader.explore(ROWS)
    reader.drag(*reader.spot(scene, "x", (1, 1)), 0, -23)  # x is up to 11: 200 px are a change by 22
    dragged = changed(scene, (1, 1), 7.5)
    reader.shows(dragged)
    assert_readout(Readout(reader.names((1, 1))), dragged, (1, 1))
    reader.engine.up()
    reader.goes_to(values=dragged.query()["values"], at="1,1")


def changed(scene: Scene, index: tuple[int, ...], value: float) -> Scene:
    return edits.with_value(scene, index, value).scene


def test_a_toggle_of_an_axis_changes_the_layer_and_keeps_the_focus(reader: Reader) -> None:
    reader.explore("shape=2,6,3,3&layer=GroupNorm(2,6)&at=0,0,0,0")
    reader.click("button[data-axis]", "N, examples")
    scene = reader.goes_to(layer="Norm('n (g k) h w -> g','c',sizes={'g': 2})")
    assert scene.description.counts.statistics == 2
    reader.wait("() => document.activeElement.matches('[data-axis=n][aria-pressed=true]')")


# The dot


def test_the_dot_is_dragged_and_its_group_follows_and_undo_takes_it_back(reader: Reader) -> None:
    before = reader.explore(IMAGES)
    x, y = reader.target(f"{DOT} circle")
    first = value(reader)
    reader.drag(x, y, 120)
    reader.wait(
        "first => Number(document.querySelector('.nv-strips [role=slider]').getAttribute('aria-valuenow')) > first + 0.5",
        first,
    )
    dragged = changed(before, (1, 2, 0, 1), value(reader))
    reader.shows(dragged)
    assert reader.evaluate("() => String(getSelection())") == ""  # no text is marked on the way
    reader.engine.up()
    reader.goes_to(values=dragged.query()["values"])
    reader.click("button", "Undo")
    reader.goes_to(values=None)


def value(reader: Reader) -> float:
    return float(reader.attribute(DOT, "aria-valuenow"))


def test_keys_move_the_dot_and_ctrl_z_takes_the_last_change_back(reader: Reader) -> None:
    before = reader.explore(ROWS)
    reader.focus(DOT)
    end = float(reader.attribute(DOT, "aria-valuemax"))
    reader.press("End")
    scene = reader.goes_to(values=changed(before, (0, 3), end).query()["values"])
    last = value(reader)
    reader.press("PageDown")
    reader.wait(
        "last => Number(document.querySelector('.nv-strips [role=slider]').getAttribute('aria-valuenow')) < last", last
    )
    reader.goes_to(values=changed(before, (0, 3), value(reader)).query()["values"])
    reader.press("Control+z")
    reader.goes_to(values=scene.query()["values"])


# The controls


def test_a_number_is_typed_and_changed_with_an_arrow_key(reader: Reader) -> None:
    reader.explore(IMAGES)
    reader.write("input[aria-label=C]", "4")
    reader.goes_to(shape="2,4,2,2", layer="BatchNorm2d(4)")
    reader.press("ArrowUp", "Enter")
    reader.goes_to(shape="2,5,2,2", layer="BatchNorm2d(5)")


def test_a_layer_is_typed_into_its_field(reader: Reader) -> None:
    reader.explore(IMAGES)
    reader.click(".st-key-more button")
    reader.write(".st-key-layer input", "GroupNorm(3, 6) on (2, 6, 2, 2)")
    scene = reader.goes_to(layer="GroupNorm(3,6)", shape="2,6,2,2")
    assert scene.description.counts.statistics == 6
    reader.press("Escape")
    reader.loses(".st-key-layer")


def test_an_option_of_a_list_and_a_switch_in_more(reader: Reader) -> None:
    reader.explore(IMAGES)
    reader.click(".st-key-more button")
    reader.click(".st-key-data input")
    reader.click("[role=option]", "counting 0, 1, 2, …")
    reader.goes_to(data="counting")
    reader.click(".st-key-affine label")
    assert reader.goes_to(layer="BatchNorm2d(3,affine=False)").description.counts.parameters == 0
    reader.press("Escape")
    reader.loses(".st-key-data")


def test_a_slider_is_moved_with_keys(reader: Reader) -> None:
    reader.explore(ROWS)
    reader.click("button", "Show all four")
    reader.focus(".nv-slider input")
    reader.press("ArrowRight", "ArrowRight")
    reader.goes_to(gamma="1.2")
    assert reader.texts(".nv-slider output")[0] == "1.2 for every element"
    reader.click("button", "The layer's own")
    reader.goes_to(gamma=None)


# The lessons


def test_the_first_step_of_start_here_is_done_with_keys_and_leads_on(reader: Reader) -> None:
    reader.open("start")
    reader.sees(".nv-start-step h2", LESSON_STEPS[0].prose.title)
    reader.focus(".nv-start-step input[type=range]")
    reader.press("ArrowLeft")
    reader.focus(".nv-start-step [role=switch]")
    reader.press("Space")
    reader.click(".nv-start-foot button", "Next")
    reader.sees(".nv-start-step h2", LESSON_STEPS[1].prose.title)
    reader.wait("title => document.activeElement.innerText === title", LESSON_STEPS[1].prose.title)
    reader.load(f"{reader.server}/start")  # the browser remembers the step
    reader.sees(".nv-start-step h2", LESSON_STEPS[1].prose.title)
    reader.click("button", "Start again")
    reader.sees(".nv-start-step h2", LESSON_STEPS[0].prose.title)


# The way to a view, and back


def test_share_has_the_link_of_the_view_and_a_preview_of_it(reader: Reader) -> None:
    scene = reader.explore(IMAGES)
    reader.click("button", "Share")
    reader.sees("dialog", "Share this view")
    link = reader.wait("() => document.querySelector('dialog textarea')?.value")
    assert read(dict(parse_qsl(urlsplit(link).query))).scene == scene
    preview = """() => [...document.querySelectorAll("dialog iframe")].map((frame) => frame.contentDocument?.querySelector(".nv-view[data-state=ready] .nv-readout")?.innerText)
      .find((text) => text?.includes("[1, 2, 0, 1]"))"""
    reader.wait(preview)
    reader.press("Escape")
    reader.loses("dialog")
    reader.wait("() => document.activeElement.innerText === 'Share'")


def test_back_and_forward_go_through_the_changes(reader: Reader) -> None:
    scenes = [reader.explore(IMAGES)]
    for name in ("LayerNorm", "InstanceNorm"):
        reader.click(".st-key-family [role=radio]", name)
        reader.wait("name => new URLSearchParams(location.search).get('layer').startsWith(name)", name)
        scenes.append(reader.shows())
    for delta, number in ((-1, 1), (-1, 0), (1, 1), (1, 2)):
        reader.travel(delta)
        reader.shows(scenes[number])
        assert reader.scene == scenes[number]
    assert reader.texts(".st-key-family [aria-checked=true]") == ["InstanceNorm"]


# From disk, without a server


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("disk") / "a site"
    build(place, only=["explore", "s0"])
    return place.as_uri()


def test_the_site_leads_to_a_question_and_to_a_page_that_answers_the_pointer_the_keys_and_its_controls(
    reader: Reader, site: str
) -> None:
    reader.load(f"{site}/index.html")
    reader.write("input[type=search]", "gamma beta")
    reader.click(".nv-topic a[href='question-s0.html']")
    options, right = prose("s0").options, facts_of(find_question("s0"))["right"]
    reader.click(".nv-option", options[right])
    reader.click("summary", "Check")
    reader.sees(".nv-verdict", "Your prediction is correct.")
    reader.sees(".nv-view[data-state=ready] .nv-readout")
    reader.travel(-1)
    reader.wait(f"() => location.pathname.endsWith('/index.html') && ({READY})()", what="the index at rest")
    reader.click("a", "Explore")
    reader.sees(".nv-sentence", "LayerNorm")
    scene = reader.shows(read({}).scene)
    reader.engine.move(*reader.spot(scene, "stats", (0, 1, 1, 0)))
    assert_readout(Readout(reader.names((0, 1, 1, 0))), scene, (0, 1, 1, 0))
    reader.focus(".nv-panel-stats .nv-over")
    reader.press("End", "ArrowLeft")
    reader.wait("() => !document.querySelector('.nv-readout').innerText.includes('[0, 1, 1, 0]')")
    reader.choose("select.nv-control-field", "BatchNorm2d")
    reader.shows(read({"layer": "BatchNorm2d(4)"}).scene)
    reader.travel(-1)
    reader.shows(scene)


# Other readers


def test_on_a_phone_a_tap_selects_and_nothing_is_wider_than_the_screen(reader: Reader) -> None:
    reader.engine.screen(*PHONE, touch=True)
    reader.open(f"explore?{IMAGES}")
    scene = reader.shows()
    assert reader.evaluate("() => [innerWidth, innerHeight]") == list(PHONE)
    assert reader.evaluate(STRAIGHT)
    for index in ((0, 1, 1, 0), (1, 0, 0, 0)):
        reader.click_at(*reader.spot(scene, "stats", index))
        scene = reader.goes_to(at=",".join(map(str, index)))
    assert "InstanceNorm" not in reader.address
    reader.click(".nv-fold")
    reader.click(".st-key-family [role=radio]", "InstanceNorm")
    reader.goes_to(layer="InstanceNorm2d(3)")
    assert reader.evaluate(STRAIGHT)


def test_a_reader_who_prefers_dark_gets_dark_pages_and_figures(reader: Reader) -> None:
    reader.engine.prefer("dark")
    reader.open(f"explore?{IMAGES}")
    dark = theme("dark")
    scene = reader.shows()
    colors = "() => [getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor, getComputedStyle(document.querySelector('.nv-view')).getPropertyValue('--nv-text')]"
    reader.wait(f"wanted => String(({colors})()) === String(wanted)", [rgb(dark.background), dark.text])
    reader.engine.move(*reader.spot(scene, "stats", (0, 1, 1, 0)))
    reader.names((0, 1, 1, 0))


def rgb(color: str) -> str:
    return f"rgb({', '.join(str(int(color[at : at + 2], 16)) for at in (1, 3, 5))})"
