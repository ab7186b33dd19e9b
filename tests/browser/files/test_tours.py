"""Tours in a browser: the arrow keys, a clicker and Back go through the views of a file and of the app."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from normviz.export.links import tour_output
from normviz.lessons.tours import tours
from normviz.parts.html import bare
from tests.browser.conftest import new_context
from tests.browser.view import View
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

TOUR = tours()["from-batchnorm-to-layernorm"]
READY = ".nv-view[data-state=ready]:not(:has(.nv-cells))"
PROJECTOR = {"width": 1280, "height": 800}


# What a reader sees of a figure that the caption asks about
FIGURE = """() => {
  const style = (part) => getComputedStyle(document.querySelector(`.nv-panel-stats ${part}`));
  return { veil: style(".nv-veil").visibility, labels: style(".nv-labels").visibility, filter: style(".nv-plot").filter };
}"""


def expect_stop(page: Page, number: int, address: str) -> None:
    expect(page.locator(".nv-tour-place")).to_have_text(f"{number} of {len(TOUR.stops)}")
    expect(page.locator(".nv-tour-caption")).to_have_text(bare(TOUR.stops[number - 1].caption))
    page.wait_for_function("text => location.href.includes(text)", arg=address)


@pytest.fixture(scope="module")
def tour_tab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    """A tab without a network that shows the file of a tour."""
    file = tmp_path_factory.mktemp("tour") / "tour.html"
    file.write_text(tour_output(TOUR).to_html(), encoding="utf-8")
    context = new_context(browser, offline=True, viewport=PROJECTOR)
    watch = Watch(context.new_page())
    watch.page.goto(file.as_uri())
    yield watch
    watch.check()
    context.close()


def test_a_file_goes_through_its_views_with_the_keys_of_a_clicker(tour_tab):
    page = tour_tab.page
    page.locator(READY).wait_for()
    for key, number in (("ArrowRight", 2), ("PageDown", 3), ("PageUp", 2), ("ArrowLeft", 1), ("ArrowRight", 2)):
        page.keyboard.press(key)
        expect_stop(page, number, f"#stop={number}")
    page.locator(".nv-panel-stats .nv-over").click()  # the figure has the focus, and uses the arrow keys itself
    page.keyboard.press("PageDown")
    expect_stop(page, 3, "#stop=3")
    assert page.get_by_role("link", name="Next").get_attribute("href") == "#stop=4"
    page.keyboard.press("PageUp")
    page.get_by_role("link", name="Next").click()
    expect_stop(page, 3, "#stop=3")
    page.go_back()
    expect_stop(page, 2, "#stop=2")
    page.goto(f"{page.url.partition('#')[0]}#stop={len(TOUR.stops)}")
    expect_stop(page, len(TOUR.stops), "#stop=8")
    expect(page.locator(".nv-panel.nv-cube")).to_have_count(4)
    page.keyboard.press("ArrowRight")  # after the last view
    expect_stop(page, len(TOUR.stops), "#stop=8")
    page.locator(READY).wait_for()
    tour_tab.check()


def test_a_figure_on_a_projector_fills_the_screen_and_nothing_scrolls(tour_tab):
    page = tour_tab.page
    page.goto(f"{page.url.partition('#')[0]}#stop=1")
    heights = []
    for height in (560, 1000):  # above, this tensor is as large as the width allows
        page.set_viewport_size({"width": 1280, "height": height})
        page.reload()
        page.locator(READY).wait_for()
        heights.append(page.locator(".nv-panel-stats").bounding_box()["height"])
        assert page.evaluate("document.scrollingElement.scrollHeight - innerHeight") <= 0
    assert heights[1] > heights[0]
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.wait_for_function("document.querySelector('.nv-view').getBoundingClientRect().width > 1800")
    tour_tab.check()


def test_the_app_goes_through_a_tour_by_name_without_loading_again(tab: tuple[View, Watch]):
    view, watch = tab
    page = watch.page
    page.set_viewport_size(PROJECTOR)
    view.visit(f"?tour={TOUR.name}")
    expect(page.locator(".nv-tour-caption, .nv-tour").first).to_contain_text(TOUR.title)
    expect(page.locator(".st-key-controls input")).to_have_count(0)  # a title, not a page to set up
    page.evaluate("window.loadedOnce = true")
    page.get_by_role("link", name="Start", exact=True).click()
    expect_stop(page, 1, "stop=1")
    expect(page.locator("[data-testid=stHeader]")).to_be_hidden()
    page.locator(READY).wait_for()
    shapes = {view.query["shape"]}
    for stop in range(2, len(TOUR.stops) + 1):
        page.keyboard.press("ArrowRight")
        expect_stop(page, stop, f"stop={stop}")
        shapes.add(view.query["shape"])
    assert shapes == {"2,4,3,5"}  # one tensor, on which no two axes are mixed up
    for stop in range(len(TOUR.stops) - 1, 0, -1):
        page.keyboard.press("PageUp")
        expect_stop(page, stop, f"stop={stop}")
    assert page.evaluate(FIGURE) == {"veil": "hidden", "labels": "visible", "filter": "contrast(0) opacity(0.25)"}
    page.keyboard.press("Space")  # the answer
    assert page.evaluate(FIGURE) == {"veil": "visible", "labels": "visible", "filter": "none"}
    page.keyboard.press("Escape")
    expect(page.locator(".nv-tour")).to_have_count(0)
    expect(page.get_by_role("radiogroup", name="Layer")).to_be_visible()
    page.wait_for_function("!location.search.includes('tour') && location.search.includes('BatchNorm2d')")
    assert page.evaluate("window.loadedOnce")
    page.locator(READY).first.wait_for()
    watch.check()
