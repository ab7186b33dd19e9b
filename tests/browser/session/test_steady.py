"""A change never makes the page flash, never changes the scroll position, and never rebuilds the view."""

import base64
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, WebSocketRoute
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.conftest import POLL, SCREEN
from tests.browser.scripts import PAINTED
from tests.browser.view import View
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

# Checks in every frame until it is stopped: is the view the same element, opaque, drawn, and at the same position?
SAMPLE = """() => {
  const view = document.querySelector(".nv-view"), main = document.querySelector("[data-testid=stMain]");
  const seen = { frames: 0, faults: [], scrolled: [] };
  const opacity = (part) => { let all = 1; for (; part; part = part.parentElement) all *= getComputedStyle(part).opacity; return all; };
  const fault = (is, what) => is && seen.faults.push(`frame ${seen.frames}: ${what}`);
  const look = () => {
    if (seen.done) return;
    seen.frames++;
    fault(!view.isConnected || document.querySelector(".nv-view") !== view, "another view");
    const headline = document.querySelector(".nv-how-many:not([hidden])") ?? document.querySelector(".nv-sentence"); // a prediction may stand in its place
    for (const part of [view, headline, document.querySelector(".st-key-controls")])
      fault(!part || opacity(part) < 1 || part.getBoundingClientRect().height < 20, `${part?.className} is faint or gone`);
    for (const key of ["stats", "params"]) {
      const picture = view.querySelector(`.nv-panel-${key} .nv-plot image`);
      fault(!picture?.getAttribute("href") && !picture?.getAttribute("xlink:href"), `${key} is blank`);
      fault(!view.querySelector(`.nv-panel-${key} .nv-over`).getBoundingClientRect().height, `${key} has no height`);
    }
    if (seen.scrolled.at(-1) !== main.scrollTop) seen.scrolled.push(main.scrollTop);
    requestAnimationFrame(look);
  };
  window.nvSeen = seen;
  look();
}"""


@contextmanager
def assert_steady(view: View) -> Iterator[None]:
    """Assert that no frame has a fault, and that the scroll position does not change."""
    view.page.evaluate(SAMPLE)
    yield
    seen = view.page.evaluate("() => { window.nvSeen.done = true; return window.nvSeen; }")
    assert seen["frames"] > 1
    assert not seen["faults"], seen["faults"][:5]
    assert len(seen["scrolled"]) == 1, seen["scrolled"]


def scroll(view: View, to: int) -> None:
    view.page.evaluate(
        "to => document.querySelector('[data-testid=stMain]').scrollTo({ top: to, behavior: 'instant' })", to
    )


CHANGES = {
    # the start address, the action, and the resulting address
    "size": ("?shape=2,3,4,4", lambda view: view.write("C", "4"), {"shape": "2,4,4,4"}),
    "layer": ("?shape=2,3,4,4", lambda view: view.segment("Layer", "GroupNorm"), {"layer": "GroupNorm(3,3)"}),
    "tensor": ("?", lambda view: view.choose("Tensor", "N, L, C"), {"shape": "2,5,4"}),
    "element": ("?shape=2,3,4,4", lambda view: view.click("stats", (0, 0, 3, 3)), {"at": "0,0,3,3"}),
    "a note comes": ("?shape=2,4,4,4&layer=GroupNorm(2,4)", lambda view: view.write("C", "5"), {"shape": "2,5,4,4"}),
    "a note goes": ("?shape=2,4,3&layer=BatchNorm1d(4)&layout=NLC", lambda view: view.segment("Layer", "LayerNorm"), {"layer": "LayerNorm([3])"}),
    "a warning goes": ("?shape=2,3,4,4&data=x", lambda view: view.segment("Layer", "RMSNorm"), {"layer": "RMSNorm([3,4,4])"}),
    "a slider comes": ("?shape=2,3,128,4", lambda view: view.write("C", "128"), {"shape": "2,128,128,4"}),
}  # fmt: skip


def test_a_change_keeps_the_view_opaque_drawn_and_in_place(look):
    start, act, query = CHANGES["tensor"]
    view = look(start)
    scroll(view, 40)  # the controls are still visible
    with assert_steady(view):
        act(view)
        view.wait_for_view(**query)
    scroll(view, 0)


def test_a_click_far_down_keeps_the_scroll_position(look):
    view = look("?open=values")
    view.spot("output", (1, 1, 1, 1))
    view.panel("output").hover()
    with assert_steady(view):
        for index in ((1, 1, 1, 1), (0, 2, 2, 3)):
            view.page.mouse.click(*view.spots("output")[index])
            view.wait_for_view(at=",".join(map(str, index)))
    scroll(view, 0)


def test_no_painted_frame_is_blank(look):
    """Every frame that Chromium paints during a change has the colors of the panel."""
    view = look("?layer=BatchNorm2d(3)&at=none")
    view.page.set_viewport_size({"width": 1280, "height": 1000})  # the whole panel
    view.wait_until_drawn()
    view.page.screenshot()  # frames from loading are discarded
    session = view.page.context.new_cdp_session(view.page)
    frames: list[str] = []

    def keep(frame: dict) -> None:
        frames.append(frame["data"])
        session.send("Page.screencastFrameAck", {"sessionId": frame["sessionId"]})

    session.on("Page.screencastFrame", keep)
    session.send("Page.startScreencast", {"format": "png"})
    view.choose("Tensor", "N, L, C")
    view.wait_for_view(shape="2,5,3")
    view.write("C", "6")
    view.wait_for_view(shape="2,5,6")
    view.choose("Tensor", "N, C, H, W")
    view.wait_for_view(shape="2,6,3,5")
    session.send("Page.stopScreencast")
    session.detach()
    box = view.panel("stats").bounding_box()
    view.page.set_viewport_size(SCREEN)
    area = [round(box[side]) for side in ("x", "y")]
    for frame in frames:
        picture = Image.open(io.BytesIO(base64.b64decode(frame))).convert("RGB")
        panel = np.asarray(picture.crop((*area, area[0] + 480, area[1] + 280)), dtype=int)
        assert (np.ptp(panel, axis=2) > 20).mean() > 0.1  # gray does not count as a color
    assert frames


# Adds a part to the page, and changes the text of one.
CHANGE = """() => {
  const block = document.querySelector("[data-testid=stVerticalBlock]"), part = document.createElement("p"), styled = (at) => getComputedStyle(at).color;
  styled(document.body);
  block.append(part);
  styled(part);
  part.textContent = "x";
  styled(part);
  part.remove();
  styled(document.body);
}"""


def test_a_small_change_does_not_style_the_whole_page_again(look):
    """A selector with ``:has()`` can make the browser style every element again at each change of the page."""
    view = look("?shape=2,3,4,4")
    session, events, ended = view.page.context.new_cdp_session(view.page), list[dict](), list[dict]()
    session.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    session.on("Tracing.tracingComplete", lambda data: ended.append(data))
    categories = {"includedCategories": ["devtools.timeline"], "excludedCategories": ["*"]}
    session.send("Tracing.start", {"traceConfig": categories, "transferMode": "ReportEvents"})
    view.page.evaluate(CHANGE)
    session.send("Tracing.end")
    while not ended:
        view.page.wait_for_timeout(POLL)
    session.detach()
    styled = [event["args"]["elementCount"] for event in events if event["name"] == "UpdateLayoutTree"]
    assert 0 < sum(styled) < view.page.evaluate("document.querySelectorAll('*').length") / 4, styled


MOST_FRAMES = 5000  # until the end of a run


def type_of(message: str | bytes) -> str | None:
    return ForwardMsg.FromString(message).WhichOneof("type") if isinstance(message, bytes) else None


class HeldMessages:
    """Between server and page: ``with hold:`` holds back the messages of a run, and then delivers them one by one, each painted."""

    def __init__(self, page: Page) -> None:
        self._held: list[tuple[WebSocketRoute, str | bytes]] = []
        self._page, self._holding = page, False
        page.route_web_socket(re.compile("/_stcore/stream"), self._connect)

    def __enter__(self) -> None:
        self._holding = True

    def __exit__(self, *_: object) -> None:
        self._holding = False
        while self._held:
            socket, message = self._held[0]
            socket.send(message)
            self._page.evaluate(PAINTED)
            self._held.pop(0)

    def deliver_together(self) -> None:
        """Wait for the end of a run, and deliver all of it before the next frame."""
        for _ in range(MOST_FRAMES):
            if any(type_of(message) == "script_finished" for _, message in self._held):
                break
            self._page.evaluate(PAINTED)
        else:
            pytest.fail("the run has no end")
        for socket, message in self._held:
            socket.send(message)
        self._held.clear()

    def _connect(self, socket: WebSocketRoute) -> None:
        def receive(message: str | bytes) -> None:
            if self._held or (self._holding and type_of(message) == "delta"):
                self._held.append((socket, message))
            else:
                socket.send(message)

        socket.connect_to_server().on_message(receive)


# Stale elements are not transparent and have no fading transition; by default Streamlit fades them after half a second.
UNFADED = """() => [...document.querySelectorAll("[data-stale=true]")].map((element) => getComputedStyle(element))
  .every(({ opacity, transitionProperty, transitionDuration }) => opacity === "1" && (transitionProperty === "none" || transitionDuration === "0s"))"""


@pytest.fixture(scope="module")
def held_tab(new_tab, server):
    """A tab in which the answers of the server can be held back."""
    watch = Watch(new_tab())
    hold = HeldMessages(watch.page)
    yield View(watch.page, server).open(), hold, watch
    watch.page.close()


def test_an_answer_that_arrives_late_and_in_pieces_is_shown_only_when_complete(held_tab, subtests):
    view, hold, watch = held_tab
    for change, (start, act, query) in CHANGES.items():
        with subtests.test(change):
            view.go(start)
            scroll(view, 40)  # the controls are still visible
            with assert_steady(view):
                with hold:
                    act(view)
                    view.page.locator("[data-stale=true] .nv-view").wait_for()
                    assert view.page.evaluate(UNFADED)
                view.wait_for_view(**query)
            scroll(view, 0)
            watch.check()


# Counts frames, and records in which one the figure changes for the first time, and in which one the parts below it.
FRAMES = """() => {
  const seen = (window.nvFrames = { frame: 0 });
  const record = (key, target, options) => new MutationObserver(() => (seen[key] ??= seen.frame)).observe(target, options);
  record("figure", document.querySelector(".nv-view"), { attributeFilter: ["data-drawn"] });
  record("below", [...document.querySelectorAll(".nv-doc")].at(-1), { childList: true, subtree: true, characterData: true });
  const count = () => (seen.frame++, requestAnimationFrame(count));
  requestAnimationFrame(count);
}"""


def test_the_figure_does_not_wait_for_the_parts_below_it(held_tab):
    view, hold, watch = held_tab
    view.go("?shape=2,3,4,4")
    view.page.evaluate(FRAMES)
    with hold:
        view.write("C", "4")
        hold.deliver_together()
    view.wait_for_view(shape="2,4,4,4")
    seen = view.page.evaluate("nvFrames")
    assert seen["figure"] < seen["below"]
    watch.check()
