"""Tests wait until a page is complete, and read it at one moment, so that redraws in the meantime do not matter."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest
from playwright.sync_api import Route, expect

from tests.browser.scripts import SETTLED
from tests.browser.share.panel import READY
from tests.browser.view import View, peers

pytestmark = pytest.mark.browser

T = TypeVar("T")
AT = (1, 2, 2, 2)
TIMES, REDRAWS, MOST = 10, 5, 1000  # reads at least, redraws in the meantime, reads at most

# The view is redrawn in every frame, as when the window is resized, until nvRestless is false.
RESTLESS = """() => {
  const view = document.querySelector(".nv-view");
  let narrower = 0;
  window.nvRestless = true;
  const next = () => {
    view.style.marginRight = `${(narrower = 1 - narrower)}px`;
    if (window.nvRestless) requestAnimationFrame(next);
  };
  next();
}"""
FRAMES = """() => {
  window.nvDrawn = 0;
  new MutationObserver(() => window.nvDrawn++).observe(document.querySelector(".nv-view"), { attributeFilter: ["data-width"] });
}"""


@pytest.fixture
def changing_view(look_file: Callable[[str], View]) -> Iterator[View]:
    """A view that is redrawn all the time."""
    view = look_file(f"?layer=BatchNorm2d(3)&at={','.join(map(str, AT))}")
    view.page.evaluate(FRAMES)
    view.page.evaluate(RESTLESS)
    yield view
    view.page.evaluate(
        "window.nvRestless = false"
    )  # the tab stays open, and would keep a processor busy for all other tests


def read_during_redraws(view: View, read: Callable[[], T]) -> list[T]:
    """What is read again and again, until the view has been redrawn often enough."""
    found: list[T] = []
    while len(found) < TIMES or view.page.evaluate("window.nvDrawn") < REDRAWS:
        found.append(read())
        assert len(found) < MOST, "the view is not redrawn"
    return found


def test_marked_and_open_elements_are_read_correctly_during_redraws(changing_view: View) -> None:
    wanted = peers(changing_view.scene, "stats", AT)
    found = read_during_redraws(
        changing_view, lambda: (changing_view.marked("stats"), changing_view.open_elements("stats"))
    )
    assert found == [(AT, wanted)] * len(found)


def test_a_page_is_not_complete_while_streamlit_loads_the_script_of_a_control(view: View) -> None:
    """Until then, it shows a placeholder of another height. In a test of a frame, four of them made the page 112 px too short."""
    page, held = view.page, list[Route]()
    page.route("**/static/js/Slider.*", lambda route: held.append(route))
    page.goto(f"{view.server}/train_and_eval?show=stream")
    placeholders = page.get_by_test_id("stSkeleton")
    expect(placeholders).to_have_count(4)
    page.locator(READY).first.wait_for()
    page.wait_for_function("() => !document.querySelector('[data-waiting], .nv-view:not([data-state=ready])')")
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    assert not page.evaluate(SETTLED)
    for route in held:
        route.continue_()
    page.unroute_all()
    view.wait_until_drawn()
    expect(placeholders).to_have_count(0)
