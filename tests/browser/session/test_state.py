"""The address is the state: reload, Back, an edited address, a slow connection, and invalid values."""

import re

import pytest
from playwright.sync_api import Dialog, expect

from tests.browser.conftest import new_context
from tests.browser.explore.test_explore import WARNING
from tests.browser.session.line import Line
from tests.browser.view import View
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

SLOW = 0.3  # seconds, in each direction


def test_a_reload_keeps_the_state(look):
    view = look("?shape=2,4,4,4&layer=GroupNorm(2,4)&params=index")
    view.click("stats", (1, 3, 2, 1))
    view.wait_for_view(at="1,3,2,1")
    view.write("N", "3")
    view.wait_for_view(shape="3,4,4,4")
    before = view.query
    view.page.reload()
    view.wait_for_scene()
    assert view.query == before
    assert view.marked("stats") == (1, 3, 2, 1)
    assert view.scene.params == "index"


def test_back_undoes_one_change_and_forward_redoes_it(look):
    view = look("?shape=2,3,4,4")
    queries = [view.query]
    view.segment("Layer", "RMSNorm")
    queries.append(view.wait_for_view(layer="RMSNorm([3,4,4])").query)
    view.write("C", "5")
    queries.append(view.wait_for_view(shape="2,5,4,4").query)
    view.click("stats", (0, 0, 0, 0))
    queries.append(view.wait_for_view(at="0,0,0,0").query)
    view.more()  # hovering changes nothing
    view.less()
    for query in queries[-2::-1]:
        view.page.go_back()
        view.wait_for_view(**{name: query.get(name) for name in ("shape", "layer", "at")})
        assert view.query == query
        assert view.marked("stats") == view.scene.at
    for query in queries[1:]:
        view.page.go_forward()
        view.wait_for_view(**query)
        assert view.query == query


def test_back_works_when_it_also_closes_a_popover(look):
    view = look("?at=1,1,1,1")
    for again in range(3):
        view.click("stats", (0, 0, 0, again))
        view.wait_for_view(at=f"0,0,0,{again}")
        view.more()
        view.page.evaluate('() => { document.querySelector(".st-key-more button").click(); history.back(); }')
        view.wait_for_view(at="1,1,1,1")


def test_an_edited_address_changes_the_view(look):
    view = look("?layer=BatchNorm2d(3)")
    view.choose("Tensor", "N, D")
    view.wait_for_view(shape="4,6")
    view.open("?shape=3,5&layer=nn.LayerNorm(5, bias=False)&at=2,4")
    assert view.scene.shape == (3, 5)
    assert view.marked("stats") == (2, 4)
    assert view.field("D").input_value() == "5"


def test_selecting_the_selected_element_adds_no_history_entry_and_a_second_click_clears_it(look):
    view = look("?layer=BatchNorm2d(3)&at=0,0,0,0")
    view.click("stats", (1, 1, 1, 1))
    view.wait_for_view(at="1,1,1,1")
    steps = view.page.evaluate("history.length")
    view.panel("params").focus()
    view.page.keyboard.press("Enter")  # a second click would clear it
    view.page.go_back()
    view.wait_for_view(at="0,0,0,0")
    assert view.page.evaluate("history.length") == steps
    expect(view.find(".nv-readout")).to_contain_text("x[0, 0, 0, 0]")
    assert view.marked("stats") == (0, 0, 0, 0)
    view.click("params", (0, 0, 0, 0))
    view.wait_for_view(at="none")
    assert view.marked("stats") is None
    view.page.go_back()
    view.wait_for_view(at="0,0,0,0")


# Records where the frame of the selected element is in every painted frame. The clock stands still meanwhile, so that the speed of the server does not matter.
RECORD_FRAMES = """() => {
  const seen = [], clock = Date.now, now = clock();
  let stopped = false;
  Date.now = () => now;
  window.stopRecording = () => { stopped = true; Date.now = clock; return seen; };
  const record = () => {
    const mark = document.querySelector(".nv-panel-stats .nv-frame");
    if (stopped) return;
    if (mark) seen.push(`${mark.getAttribute("x")},${mark.getAttribute("y")}`);
    requestAnimationFrame(record);
  };
  record();
}"""


@pytest.fixture(scope="module")
def slow_tab(browser, server):
    """A tab of a first-time visitor, whose connection can be slowed down and records the requests."""
    with Line(server) as line:
        watch = Watch(new_context(browser).new_page())
        yield View(watch.page, line.address).open(), line, watch
        watch.page.context.close()


def test_plotly_js_is_requested_once_per_visit_and_not_again_on_a_reload(slow_tab):
    view, line, watch = slow_tab
    line.delay = 0
    view.segment("Layer", "RMSNorm")
    view.wait_for_view(layer="RMSNorm([4,3,5])")
    assert line.request_count("plotly") == 1
    view.page.reload()
    view.wait_for_scene()
    view.open("?shape=4,6")
    assert line.request_count("plotly") == 1
    assert line.request_count("/lib/plotly-") == 1  # the file of the app, not that of Streamlit's chart component
    assert line.request_count("/_stcore/stream") == 3
    watch.check()


class TestOverASlowLine:
    """A delay of 300 ms in each direction: the second change is made before the first is answered."""

    @pytest.fixture
    def slow(self, slow_tab):
        view, line, watch = slow_tab
        line.delay = 0
        view.go("?shape=2,3,4,4")
        line.delay = SLOW
        yield view
        watch.check()

    def test_two_quick_changes_are_both_applied(self, slow):
        """Two controls; a click and a control; a click, and a control that moves the selected element."""
        slow.segment("Layer", "RMSNorm")
        slow.write("C", "5")
        slow.wait_for_view(layer="RMSNorm([5,4,4])", shape="2,5,4,4")
        slow.click("stats", (0, 1, 2, 3))
        slow.segment("Layer", "BatchNorm")
        slow.wait_for_view(at="0,1,2,3", layer="BatchNorm2d(5)")
        assert slow.marked("params") == (0, 1, 2, 3)
        slow.click("stats", (0, 0, 1, 1))
        slow.choose("Tensor", "N, D")
        slow.wait_for_view(shape="4,6")
        expect(slow.find(".nv-readout")).to_contain_text(str(list(slow.scene.at)))
        assert slow.marked("stats") == slow.scene.at

    def test_a_change_that_is_undone_at_once_leaves_address_and_view_in_agreement(self, slow):
        slow.segment("Layer", "RMSNorm")
        slow.segment("Layer", "LayerNorm")
        slow.write("H", "3")
        slow.wait_for_view(shape="2,3,3,4", layer="LayerNorm([3,3,4])")
        slow.page.go_back()  # to the start, or to RMSNorm if the server answered that before the reader went on
        slow.page.wait_for_function("!location.search.includes('shape=2%2C3%2C3%2C4')")
        assert slow.query["shape"] == "2,3,4,4"
        assert slow.query.get("layer") in (None, "LayerNorm([3,4,4])", "RMSNorm([3,4,4])")
        slow.wait_for_scene()

    def test_quick_changes_back_to_an_earlier_view_work(self, slow):
        """Streamlit's front end drops cached messages after some runs; an answer that refers to a dropped message would end the session."""
        slow.click("stats", (0, 0, 0, 0))
        slow.wait_for_view(at="0,0,0,0")
        slow.click("stats", (0, 0, 0, 1))
        slow.wait_for_view(at="0,0,0,1")
        with slow.expect_message():  # two runs, one for each click
            slow.click("stats", (1, 1, 1, 1))
        slow.click("stats", (0, 0, 0, 0))
        slow.wait_for_view(at="0,0,0,0")
        slow.click("stats", (0, 2, 2, 2))
        slow.wait_for_view(at="0,2,2,2")

    def test_the_frame_marks_the_last_of_two_quick_clicks(self, slow):
        slow.page.evaluate(RECORD_FRAMES)
        slow.click("stats", (0, 0, 0, 0))
        slow.click("stats", (1, 0, 3, 0))
        slow.wait_for_view(at="1,0,3,0")
        seen = slow.page.evaluate("window.stopRecording()")
        places = [place for place, before in zip(seen, [None, *seen], strict=False) if place != before]
        assert len(places) == len(set(places)) > 1, places  # the frame never moves back in between
        assert slow.marked("stats") == (1, 0, 3, 0)


HOSTILE = [
    # the query, and the quoted value if it is not the first one
    ("?layer=<script>alert(1)</script>", ""),
    ("?data=<img src=x onerror=alert(1)>", ""),
    ("?layer=![x](https://example.invalid/x.png) **`$x$`:red[y]**", ""),
    ("?shape=0,-1&at=%00&values=nan&seed=1e9&params=x", ""),
    ("?at=9,9,9,9", "(9, 9, 9, 9)"),
]


def test_an_invalid_address_gives_one_warning_as_text_and_a_view(look):
    view = look("?")
    requests: list[str] = []
    dialogs: list[str] = []
    view.page.on("request", lambda request: requests.append(request.url))

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    view.page.on("dialog", dismiss)
    warning = view.find(WARNING)
    for query, quoted in HOSTILE:
        view.go(query)
        expect(warning).to_have_count(1)
        text = re.sub(r"\s", "", warning.inner_text())
        assert re.sub(r"\s", "", quoted or next(iter(view.query.values()))) in text
        assert warning.locator("script, img, strong, em, code, .katex").count() == 0
    view.go("?")
    expect(warning).to_have_count(0)
    assert not dialogs
    assert not [url for url in requests if not url.startswith((view.server, "blob:"))]
