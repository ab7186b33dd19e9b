"""A view in an iframe on a page of another site: cookies blocked, sandboxed, narrow, and below a base path."""

import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Frame, Page, expect

from tests.browser.conftest import SCREEN
from tests.browser.scripts import SETTLED
from tests.browser.test_layout import MISPLACED
from tests.browser.test_share import READY, Panel, tag
from tests.browser.view import View
from tools.servers import app_server

pytestmark = pytest.mark.browser

SANDBOX = 'sandbox="allow-scripts allow-same-origin"'
SHORT = "hide=questions,table,code,x,normalized,output,facts,worked"

# The hidden height inside the frame that needs scrolling, in px.
SCROLLED = """() => [document.documentElement, document.querySelector("[data-testid=stMain]")]
  .map(part => [part.scrollHeight - part.clientHeight, part.scrollWidth - part.clientWidth])"""

# Third-party storage: is access granted, and is a partitioned cookie kept?
KEPT = """async () => { document.cookie = "probe=1; SameSite=None; Secure";
  return [await document.hasStorageAccess(), document.cookie.includes("probe")]; }"""


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def other_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder, and its address on another site: 127.0.0.1 is not localhost."""
    folder = tmp_path_factory.mktemp("elsewhere")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def open_in_frame(page: Page, other_site: tuple[Path, str]):
    """The frame on a page of another site that has only the snippet, after its figures are drawn."""

    def frame(snippet: str, width: int = 700, name: str = "page.html") -> Frame:
        folder, address = other_site
        (folder / name).write_text(
            f'<!doctype html><link rel="icon" href="data:,"><div style="width: {width}px">{snippet}</div>',
            encoding="utf-8",
        )
        page.set_viewport_size({"width": max(400, width + 40), "height": 900})
        page.bring_to_front()
        page.goto(f"{address}/{name}")
        page.frame_locator("iframe").locator(READY).first.wait_for()
        (_, inside) = page.frames
        inside.wait_for_function(SETTLED)
        return inside

    return frame


@pytest.fixture(scope="module")
def snippets(new_tab, server):
    """The snippet of Share for an address and a choice: ``snippets("compare", "Figure alone", narrow=True)``."""
    view = View(new_tab(), server)
    known: dict[tuple[str, str, bool], str] = {}
    shown: list[tuple[str, Panel]] = []

    def panel_of(address: str) -> Panel:
        view.page.bring_to_front()  # a background tab does not measure its size
        if not shown or shown[-1][0] != address:
            view.visit(address)
            view.page.locator(READY).first.wait_for()
            view.wait_until_drawn()
            shown.append((address, Panel(view)))
        return shown[-1][1]

    def read_snippet(address: str, preset: str = "In short", narrow: bool = False) -> str:
        wanted = (address, preset, narrow)
        if wanted not in known:
            panel = panel_of(address)
            panel.preset(preset)
            panel.dialog.get_by_role("radio", name="Narrow" if narrow else "Full width").check()
            panel.measured()
            known[wanted] = panel.text("iframe")
        return known[wanted]

    yield read_snippet
    view.page.close()


def test_the_browser_blocks_third_party_cookies(open_in_frame, server):
    frame = open_in_frame(f'<iframe src="{server}/?embed=true" width="700" height="900"></iframe>')
    assert frame.evaluate(KEPT) == [False, False]


@pytest.mark.parametrize("sandboxed", [False, True], ids=["plain", "sandboxed"])
def test_it_loads_hovers_clicks_and_changes_a_control(open_in_frame, snippets, server, sandboxed):
    snippet = snippets("?layer=LayerNorm([3,4,4])&at=none")
    assert tag(snippet)["src"].startswith(server)
    frame = open_in_frame(snippet.replace("<iframe", f"<iframe {SANDBOX}") if sandboxed else snippet)
    line, cells = frame.locator(".nv-readout"), frame.locator(".nv-panel-stats .nv-over")
    expect(line).to_contain_text("Point at an element")
    box = cells.bounding_box()
    spot = {"x": box["width"] / 2, "y": box["height"] * 0.75}
    cells.hover(position=spot)
    expect(line).to_contain_text("shares its mean")
    assert frame.locator(".nv-panel-stats .nv-veil").get_attribute("d")
    cells.click(position=spot)
    expect(frame.locator(".nv-panel-stats .nv-frame")).to_have_attribute("visibility", "visible")
    frame.get_by_role("radiogroup", name="normalized_shape").get_by_role("radio", name="W", exact=True).click()
    expect(frame.locator(".st-key-sentence")).to_contain_text("24 means")
    frame.wait_for_function("location.search.includes('LayerNorm') && location.search.includes('at=1')")
    address = frame.evaluate("location.search")  # frame.url is updated a moment after a change
    assert "embed=true" in address
    assert "hide=" in address
    expect(frame.get_by_role("button", name="Share", exact=True)).to_have_count(0)


EMBEDDED = [
    ("?", "Figure alone", False),
    ("?", "In short", True),
    ("?shape=4,6&layer=BatchNorm1d(6)", "Figure alone", True),
    ("compare?layers=BatchNorm2d(3);GroupNorm(1,3)", "Without controls", False),
    ("step_by_step?step=1", "In short", True),
    ("gradients?show=column", "In short", True),
    ("numerics?show=eps", "Figure alone", True),
    ("train_and_eval?show=stream", "Everything", True),
]


@pytest.mark.parametrize(("address", "preset", "narrow"), EMBEDDED)
def test_with_the_height_of_the_snippet_nothing_scrolls_and_nothing_is_cut_off(
    open_in_frame, snippets, address, preset, narrow
):
    snippet = snippets(address, preset, narrow)
    frame = open_in_frame(snippet)
    assert tag(snippet)["width"] == ("320" if narrow else "100%")
    for hidden, beside in frame.evaluate(SCROLLED):
        assert max(hidden, beside) <= 0
    if "numerics" not in address and "train" not in address:  # the panels of a linked view
        assert frame.evaluate(MISPLACED) == []
    content = frame.evaluate("() => document.querySelector('[data-testid=stMainBlockContainer]').offsetHeight")
    spare = frame.evaluate("innerHeight") - content
    assert spare < (20 if narrow else 50 + 0.1 * content)


def test_a_frame_with_less_height_scrolls(open_in_frame, snippets):
    """Proves that the test above can fail."""
    snippet = snippets("?", narrow=True)
    height = tag(snippet)["height"]
    frame = open_in_frame(snippet.replace(f'height="{height}"', f'height="{int(height) - 60}"'))
    assert max(hidden for hidden, _ in frame.evaluate(SCROLLED)) > 30


STILL = """width => { const views = [...document.querySelectorAll(".nv-view")];
  return innerWidth === width && document.querySelector("[data-testid=stApp]").dataset.testScriptState === "notRunning"
    && views.every(({ clientWidth, dataset }) => dataset.state === "ready" && Number(dataset.width ?? clientWidth) === clientWidth); }"""
COLUMNS = (320, 345, 470, 500, 630, 700, 727, 730, 790, 867, 870, 960, 1150, 1280)
FULL_WIDTH = [
    ("?", "In short"),
    ("compare?layers=BatchNorm2d(3);GroupNorm(1,3);LayerNorm([3,4,4])", "In short"),
    ("step_by_step?step=1", "Without controls"),
    ("gradients?show=column", "In short"),
    ("numerics?show=eps", "Everything"),
]
PLAIN = re.compile(r'<div[^>]*>|</div>|style="[^"]*"')


@pytest.mark.parametrize(
    ("address", "preset", "stripped"), [*((*view, False) for view in FULL_WIDTH), (*FULL_WIDTH[1], True)]
)
def test_at_full_width_nothing_scrolls_in_a_column_of_any_width(open_in_frame, snippets, address, preset, stripped):
    """Also on a page that keeps only the attributes; then some space stays empty."""
    snippet = snippets(address, preset)
    frame = open_in_frame(PLAIN.sub("", snippet).replace("<iframe", '<iframe frameborder="0"') if stripped else snippet)
    frame.page.set_viewport_size({"width": 1320, "height": 900})
    heights = []
    for width in COLUMNS[::3] if stripped else COLUMNS:
        frame.page.locator("body > div").evaluate("(column, width) => (column.style.width = `${width}px`)", width)
        frame.wait_for_function(STILL, arg=width)
        assert [max(scrolled) <= 0 for scrolled in frame.evaluate(SCROLLED)] == [True, True], width
        heights.append(frame.evaluate("innerHeight"))
    assert (len(set(heights)) == 1) == stripped
    assert max(heights) == int(tag(snippet)["height"])


def test_the_link_to_the_full_app_opens_a_new_tab(open_in_frame, snippets, server):
    frame = open_in_frame(snippets("?layer=LayerNorm([3,4,4])&at=none"))
    offer = frame.get_by_role("link", name="Open the full app")
    with frame.page.expect_popup() as opened:
        offer.click()
    tab = opened.value
    tab.locator(READY).wait_for()
    assert tab.url == f"{server}/?at=none"
    assert tab.evaluate("window.opener") is None
    tab.close()


@pytest.fixture(scope="module")
def lab() -> Iterator[str]:
    """The address of an app with the base path /lab."""
    with app_server(base="lab") as address:
        yield address


def test_with_a_base_path_plotly_loads_and_links_are_right(page, lab, open_in_frame):
    requests = []
    page.on("response", lambda answer: requests.append((answer.url, answer.status)))
    for path, link in (("", "/?at=none"), ("/", "/?at=none"), ("/compare", "/compare?at=none")):
        page.set_viewport_size(SCREEN)
        page.goto(f"{lab}{path}?at=none")
        page.locator(READY).first.wait_for()
        page.wait_for_function(SETTLED)
        panel = Panel(View(page, lab))
        assert panel.text("Link") == f"{lab}{link}"
        assert panel.text("Notebook cell").splitlines()[2] == f'nv.open("{link}")'
        file = panel.dialog.get_by_role("link", name="HTML file").get_attribute("href")
        assert file.startswith(f"{lab}/export?page=")
        panel.measured()
    assert {status for url, status in requests if url.startswith(f"{lab}/lib/plotly-")} == {200}
    frame = open_in_frame(panel.text("iframe"))
    assert frame.url.startswith(f"{lab}{link}")
    assert max(hidden for hidden, _ in frame.evaluate(SCROLLED)) <= 0
    offer = frame.get_by_role("link", name="Open the full app").get_attribute("href")
    assert offer == f"{lab}{link}"
