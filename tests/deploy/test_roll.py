"""No view depends on one server: replicas are killed and restarted while a class works, and every visitor keeps the view."""

import re
import time
from urllib.error import HTTPError

import pytest
from playwright.sync_api import Page

from normviz.lessons.pages import PAGES
from normviz.scene.view import link
from normviz.ui.assets import PLOTLY
from normviz.ui.server.routes import EXPORT
from tests.browser.conftest import PATIENCE
from tests.browser.share.panel import READY, Panel, boxes_in_preview
from tests.browser.view import View
from tests.deploy.sessions import Session, Sessions
from tests.deploy.stack import Stack
from tests.deploy.visits import Visits, get

PROMISED = (
    5.0  # seconds until a visitor whose server was killed has the view again; or the time of a start on a busy machine
)
VISITORS = 12
PATHS = [
    "",
    "compare",
    "readyz",
    PLOTLY.path,
    f"{EXPORT}?shape=2,3&layer=LayerNorm(3)&plotlyjs=cdn&fixed=true",
    "_stcore/health",
]  # everything that a page requests


def queries(number: int) -> list[dict[str, str]]:
    """Queries of views with different texts."""
    layers = ("LayerNorm([3,4])", "LayerNorm(4)", "GroupNorm(2,4)", "BatchNorm2d(4)", "InstanceNorm2d(4)")
    shapes = ("{},4,3,4", "{},4,3,4", "{},4,3,2", "{},4,3,2", "{},4,5,2")
    return [{"shape": shapes[i % 5].format(2 + i // 5), "layer": layers[i % 5]} for i in range(number)]


def recovered_sessions(sessions: Sessions, promised: float) -> list[Session]:
    """Wait until every visitor has the view again in time; return the visitors that had lost their server."""
    sessions.wait_for_views(4 * promised)
    lost = [each for each in sessions.all if each.lost]
    assert max((each.slowest for each in lost), default=0.0) < promised
    assert sessions.wrong == []
    return lost


def test_visitors_keep_their_views_when_a_replica_is_killed_or_restarted(nginx: str, tab: Page | None) -> None:
    with Stack() as stack, Sessions(stack.url, queries(VISITORS)) as sessions:
        one, other = stack.replicas
        promised = max(PROMISED, one.start_time, other.start_time)
        sessions.wait_for_views(PATIENCE / 1000)
        assert len({each.shown for each in sessions.all}) == VISITORS
        on_one, on_other = one.connections(), other.connections()
        assert on_one + on_other == VISITORS
        if not on_one:
            one, other, on_one = other, one, on_other
        view = View(tab, stack.url).open("?shape=2,4,3,3&layer=GroupNorm(2,4)") if tab else None

        with Visits(stack.url, PATHS) as visits:
            sessions.reset_measurements()
            one.kill()
            killed = time.monotonic()
            assert len(recovered_sessions(sessions, promised)) == on_one  # and nobody else

            one.start()
            one.wait()
            sessions.reset_measurements()
            assert other.stop() < promised
            assert recovered_sessions(sessions, promised)

            sessions.run(PATIENCE / 1000)  # every visitor continues to work, now on the restarted server
            assert recovered_sessions(sessions, promised)
        assert visits.count > 20
        assert [failed for started, failed in visits.failed if started > killed] == []

        if view:
            view.wait_for_scene()  # the view from before
            view.click("stats", (1, 2, 0, 1))
            view.wait_for_view(shape="2,4,3,3", layer="GroupNorm(2,4)", at="1,2,0,1")


def test_with_a_base_path_everything_works_and_a_missing_replica_is_skipped(nginx: str, tab: Page | None) -> None:
    with Stack("lab", missing=1) as stack:
        assert stack.url.endswith("/lab")
        for path in PATHS * 3:
            response = get(f"{stack.url}/{path}")
            assert response.status == 200
            assert response.headers["content-security-policy"].endswith("frame-ancestors * file:")
        _check_files(stack.url)
        for path in ("_stcore/metrics", "metrics"):  # how many visitors there are
            with pytest.raises(HTTPError, match="404"):
                get(f"{stack.url}/{path}")
        with Sessions(stack.url, queries(5)) as sessions:
            sessions.wait_for_views(PATIENCE / 1000)
            assert sessions.wrong == []
        if tab:
            files: list[str] = []
            tab.on("response", lambda response: files.append(response.url) if "plotly" in response.url else None)
            view = View(tab, stack.url).open("?at=none")
            assert files == [f"{stack.url}/{PLOTLY.path}"]
            check_share(view, "explore", view.query)
            view.visit("compare?at=none")
            tab.locator(READY).first.wait_for()
            view.wait_until_drawn()
            with boxes_in_preview(tab):
                check_share(view, "compare", {"at": "none"})


def check_share(view: View, name: str, query: dict[str, str]) -> None:
    """The panel of Share writes links below the base path, and its preview shows the app."""
    panel, whole = Panel(view), link(PAGES[name].whole_query(PAGES[name].view(query)))
    assert panel.text("Link") == f"{view.server}/{name}{whole}"
    assert panel.text("Notebook cell").splitlines()[2] == f'nv.open("/{name}{whole}")'
    file = panel.dialog.get_by_role("link", name="HTML file").get_attribute("href") or ""
    assert file.startswith(f"{view.server}/export?page=")
    panel.narrow()
    panel.measured()
    (_, frame) = view.page.frames
    assert frame.url == panel.text("Only its address")
    assert frame.url.startswith(f"{view.server}/{name}{whole}&")
    if name == "explore":
        offer = frame.get_by_role("link", name="Open the full app").get_attribute("href")
        assert offer == f"{view.server}/explore{link(query)}"
    panel.dialog.get_by_role("button", name="Close").click()


def _check_files(url: str) -> None:
    """Streamlit's files are compressed and cached by name; the page is revalidated."""
    page = get(f"{url}/", Accept_Encoding="gzip")
    assert page.headers["cache-control"] == "private, no-cache"
    script = re.search(rb'src="\./(static/js/[^"]+)"', page.body)
    assert script is not None
    file = get(f"{url}/{script[1].decode()}", Accept_Encoding="gzip")
    assert file.headers["content-encoding"] == "gzip"
    assert "immutable" in file.headers["cache-control"]
    assert get(f"{url}/{script[1].decode()}").body == file.body
    assert get(f"{url}/{PLOTLY.path}", Accept_Encoding="gzip").body == get(f"{url}/{PLOTLY.path}").body
