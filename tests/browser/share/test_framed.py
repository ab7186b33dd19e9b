"""A view in an iframe on a page of another site: cookies blocked, sandboxed, narrow. tests/deploy has one below a base path."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Frame, Page, expect

from tests.browser.conftest import NewTab
from tests.browser.explore.test_layout import MISPLACED
from tests.browser.scripts import SETTLED
from tests.browser.share.frame import PAGE, FramePage, block_cookies_of_frames, site
from tests.browser.share.panel import READY, Panel, boxes_in_preview
from tests.browser.view import View
from tests.browser.watch import Watch
from tests.support.snippets import tag

pytestmark = pytest.mark.browser

SANDBOX = 'sandbox="allow-scripts allow-same-origin"'
START = "?shape=2,3,4,4&layer=LayerNorm([3,4,4])&at=none"

# The hidden height inside the frame that needs scrolling, in px.
SCROLLED = """() => [document.documentElement, document.querySelector("[data-testid=stMain]")]
  .map(part => [part.scrollHeight - part.clientHeight, part.scrollWidth - part.clientWidth])"""

# Third-party storage: is access granted, and is a partitioned cookie kept?
KEPT = """async () => { document.cookie = "probe=1; SameSite=None; Secure";
  return [await document.hasStorageAccess(), document.cookie.includes("probe")]; }"""


@pytest.fixture(scope="module")
def framing_tab(
    new_tab: NewTab, server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[FramePage, Watch]]:
    """A page of another site, in one tab."""
    watch, folder = Watch(new_tab()), tmp_path_factory.mktemp("elsewhere")
    block_cookies_of_frames(watch.page)
    with site(folder) as address:
        yield FramePage(View(watch.page, server), folder, address), watch
    watch.page.close()


@pytest.fixture
def framed(framing_tab: tuple[FramePage, Watch]) -> Iterator[FramePage]:
    """A page of another site, in a tab that the tests share."""
    page, watch = framing_tab
    yield page
    watch.check()


@pytest.fixture(scope="module")
def view_of_snippets(new_tab: NewTab, server: str) -> Iterator[View]:
    """The app in a tab of its own."""
    view = View(new_tab(), server).open()
    yield view
    view.page.close()


@pytest.fixture(scope="module")
def snippets(view_of_snippets: View) -> Callable[..., str]:
    """The snippet of Share for an address and a choice: ``snippets("compare", "Figure alone", narrow=True)``."""
    view = view_of_snippets
    known: dict[tuple[str, str, bool], str] = {}

    def open_panel(address: str) -> Panel:
        view.page.bring_to_front()  # a background tab does not measure its size
        view.visit(address)
        view.page.locator(READY).first.wait_for()
        view.wait_until_drawn()
        return Panel(view)

    def choose(address: str, preset: str, narrow: bool) -> Panel:
        """Open the panel and choose; only the preview of the last choice loads the app."""
        if not narrow and preset == "In short":
            return open_panel(address)
        with boxes_in_preview(view.page):
            panel = open_panel(address)
            if narrow:
                panel.preset(preset)
        panel.narrow() if narrow else panel.preset(preset)
        return panel

    def read_snippet(address: str, preset: str = "In short", narrow: bool = False) -> str:
        wanted = (address, preset, narrow)
        if wanted not in known:
            panel = choose(*wanted)
            panel.measured()
            known[wanted] = panel.text("iframe")
        return known[wanted]

    return read_snippet


@pytest.fixture
def narrow(snippets: Callable[..., str]) -> str:
    """The narrow snippet of a view on Explore."""
    return snippets(START, narrow=True)


NARROW = [
    (START, "In short"),
    ("?shape=4,6&layer=BatchNorm1d(6)", "Figure alone"),
    ("gradients?show=column", "In short"),
    ("train_and_eval?show=stream", "Everything"),
]


def assert_it_fits(frame: Frame, address: str, slack: float) -> None:
    """Nothing scrolls, nothing is cut off, and at most ``slack`` px stay empty."""
    assert_nothing_scrolls(frame)
    if "numerics" not in address and "train" not in address:  # the panels of a linked view
        assert frame.evaluate(MISPLACED) == []
    assert frame.evaluate("innerHeight") - content_height(frame) < slack


def assert_nothing_scrolls(frame: Frame) -> None:
    assert [max(scrolled) <= 0 for scrolled in frame.evaluate(SCROLLED)] == [True, True]


def content_height(frame: Frame) -> int:
    return int(frame.evaluate("document.querySelector('[data-testid=stMainBlockContainer]').offsetHeight"))


def test_in_a_narrow_frame_nothing_scrolls_and_nothing_is_cut_off(framed, snippets, narrow, subtests):
    for address, preset in NARROW:
        with subtests.test(address, preset=preset):
            snippet = snippets(address, preset, narrow=True)
            assert tag(snippet)["width"] == "320"
            assert_it_fits(framed.show(snippet), address, slack=20)
    # A frame with less height scrolls, so the assertions above can fail.
    height = tag(narrow)["height"]
    frame = framed.show(narrow.replace(f'height="{height}"', f'height="{int(height) - 60}"'))
    assert max(hidden for hidden, _ in frame.evaluate(SCROLLED)) > 30


# Is the page complete, and are its figures drawn for this width?
STILL = f"width => innerWidth === width && ({SETTLED})()"
COLUMNS = (320, 345, 470, 500, 630, 700, 727, 730, 790, 867, 870, 960, 1150, 1280)
COMPARE = ("compare?shape=2,3,4,4&layers=BatchNorm2d(3);GroupNorm(1,3);LayerNorm([3,4,4])", "In short")
FULL_WIDTH = [
    (*COMPARE, COLUMNS),
    ("step_by_step?step=1", "Without controls", COLUMNS[::3]),
    ("numerics?show=eps", "Everything", (320, *COLUMNS[1::4])),
]
PLAIN = re.compile(r'<div[^>]*>|</div>|style="[^"]*"')


def heights_in_columns(framed: FramePage, frame: Frame, widths: Sequence[int]) -> list[int]:
    """The height of the frame in columns of these widths; in none of them anything scrolls."""
    framed.page.set_viewport_size({"width": 1320, "height": 900})
    heights = []
    for width in widths:
        framed.page.locator("body > div").evaluate("(column, width) => (column.style.width = `${width}px`)", width)
        frame.wait_for_function(STILL, arg=width)
        assert_nothing_scrolls(frame)
        heights.append(frame.evaluate("innerHeight"))
    return heights


def test_at_full_width_nothing_scrolls_in_a_column_of_any_width(framed, snippets, subtests):
    for address, preset, columns in FULL_WIDTH:
        with subtests.test(address, preset=preset):
            snippet = snippets(address, preset)
            assert tag(snippet)["width"] == "100%"
            frame = framed.show(snippet)
            assert_it_fits(frame, address, slack=50 + 0.1 * content_height(frame))
            heights = heights_in_columns(framed, frame, columns)
            assert len(set(heights)) > 1
            assert max(heights) == int(tag(snippet)["height"])


def test_without_the_style_nothing_scrolls_either_and_some_space_stays_empty(framed, snippets):
    """On a page that keeps only the attributes."""
    snippet = snippets(*COMPARE)
    frame = framed.show(PLAIN.sub("", snippet).replace("<iframe", '<iframe frameborder="0"'))
    assert set(heights_in_columns(framed, frame, COLUMNS[::6])) == {int(tag(snippet)["height"])}


# The first HTML has the exercise, too, before Streamlit's container is there.
FITS = """() => {
  const content = document.querySelector("[data-testid=stMainBlockContainer]");
  return content && Math.abs(innerHeight - content.getBoundingClientRect().height) <= 1;
}"""


@pytest.fixture
def exercise(view_of_snippets: View) -> str:
    """The narrow snippet of a question."""
    view = view_of_snippets
    view.page.bring_to_front()
    view.visit("questions?q=s0&guess=one")
    view.find(".nv-verdict").wait_for()
    with boxes_in_preview(view.page):
        panel = Panel(view)
    panel.narrow()
    panel.measured()
    assert panel.dialog.get_by_role("button", name="Exercise").get_attribute("aria-pressed") == "true"
    return panel.text("iframe")


def test_the_frame_of_an_exercise_is_closed_and_grows_with_its_answer(framed: FramePage, exercise: str) -> None:
    plain, _, script = exercise.partition("\n")
    assert script.startswith("<script>")
    assert "guess" not in tag(plain)["src"]
    (framed.folder / "page.html").write_text(PAGE.format(700, exercise), encoding="utf-8")
    framed.view.forget_app()
    framed.page.goto(f"{framed.address}/page.html")
    answer = framed.page.frame_locator("iframe").get_by_text("Show the answer")
    answer.wait_for()
    (_, frame) = framed.page.frames
    frame.wait_for_function(FITS)
    closed = frame.evaluate("innerHeight")
    answer.click()
    framed.page.frame_locator("iframe").locator(READY).first.wait_for()
    frame.wait_for_function(FITS)
    assert_nothing_scrolls(frame)
    opened = frame.evaluate("innerHeight")
    assert closed < opened / 2
    assert opened <= int(tag(plain)["height"]) <= opened + 40  # without scripts, the answer has room


@pytest.fixture
def exercises(view_of_snippets: View) -> str:
    """The narrow snippet of a set of two exercises."""
    view = view_of_snippets
    view.page.bring_to_front()
    view.visit("practice?seed=7&count=2")
    view.find(".nv-exercise-prompt").wait_for()
    panel = Panel(view)
    panel.narrow()
    expect(panel.note).to_contain_text("The frame grows with each exercise, its answer and the summary")
    assert panel.dialog.get_by_role("button", name="Exercise").get_attribute("aria-pressed") == "true"
    assert panel.dialog.get_by_role("button", name="Everything").get_attribute("aria-pressed") == "false"
    return panel.text("iframe")


def test_the_frame_of_a_set_grows_with_each_exercise_its_answer_and_the_summary(
    framed: FramePage, exercises: str
) -> None:
    (framed.folder / "page.html").write_text(PAGE.format(700, exercises), encoding="utf-8")
    framed.view.forget_app()
    framed.page.goto(f"{framed.address}/page.html")
    inside = framed.page.frame_locator("iframe")
    heights = []
    for name in ("Show the answer", "Next exercise", "Show the answer", "Summary", ""):
        inside.get_by_role("button", name=name or "Copy the summary").wait_for()
        (_, frame) = framed.page.frames
        frame.wait_for_function(FITS)
        assert_nothing_scrolls(frame)
        heights.append(frame.evaluate("innerHeight"))
        if name:
            inside.get_by_role("button", name=name).click()
    assert heights[0] < heights[1]
    assert heights[2] < heights[3]


def test_with_cookies_blocked_a_sandboxed_frame_loads_hovers_clicks_and_changes_a_control(framed, narrow, server):
    assert tag(narrow)["src"].startswith(server)
    frame = framed.load(narrow.replace("<iframe", f"<iframe {SANDBOX}"))
    assert frame.evaluate(KEPT) == [False, False]
    line, cells = frame.locator(".nv-readout"), frame.locator(".nv-panel-stats .nv-over")
    expect(line).to_contain_text("Point at an element")
    box = cells.bounding_box()
    spot = {"x": box["width"] / 2, "y": box["height"] * 0.75}
    cells.hover(position=spot)
    expect(line).to_contain_text("shares its mean")
    assert frame.locator(".nv-panel-stats .nv-veil").get_attribute("d")
    cells.click(position=spot)
    expect(frame.locator(".nv-panel-stats .nv-frame")).to_have_attribute("visibility", "visible")
    frame.get_by_role("radiogroup", name="Layer").get_by_role("radio", name="RMSNorm", exact=True).click()
    expect(frame.locator(".nv-sentence")).to_contain_text("RMSNorm([3, 4, 4])")
    frame.wait_for_function("location.search.includes('RMSNorm') && location.search.includes('at=1')")
    address = frame.evaluate("location.search")  # frame.url is updated a moment after a change
    assert "embed=true" in address
    assert "hide=" in address
    expect(frame.get_by_role("button", name="Share", exact=True)).to_have_count(0)


def test_slides_opened_from_disk_can_frame_the_app_and_its_link_opens_the_full_app_in_a_new_tab(
    page: Page, narrow: str, server: str, tmp_path: Path
) -> None:
    slides = tmp_path / "slides.html"
    slides.write_text(PAGE.format(700, narrow), encoding="utf-8")
    page.goto(slides.as_uri())
    inside = page.frame_locator("iframe")
    expect(inside.locator(".nv-sentence")).to_contain_text("means")
    expect(inside.locator(".nv-root svg").first).to_be_visible()
    offer = inside.get_by_role("link", name="Open the full app")
    with page.expect_popup() as opened:
        offer.click()
    tab = opened.value
    tab.locator(READY).wait_for()
    assert tab.url == f"{server}/explore{START}"
    assert tab.evaluate("window.opener") is None
    tab.close()
