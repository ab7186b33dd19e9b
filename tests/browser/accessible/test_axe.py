"""axe-core finds nothing: every page of the app, Share, More, dialogs, the presenter's view, files and the site, in both themes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from normviz.export.links import output_of_query, tour_output
from normviz.export.site import build
from normviz.lessons.pages import PAGES
from normviz.lessons.tours import tours
from tests.browser.accessible.axe import check, violations
from tests.browser.conftest import new_context
from tests.browser.share.panel import EMBEDDED, Panel, show_boxes

pytestmark = pytest.mark.browser

# Small tensors: axe-core looks at every text of every cell.
QUERIES = {
    "explore": "shape=2,3,2,2&at=0,0,0,0",
    "compare": "shape=2,3&layers=LayerNorm(3);BatchNorm1d(3)",
    "step_by_step": "shape=2,3&layer=LayerNorm(3)",
    "questions": "q=s0",
    "home": "lang=en",
    "practice": "seed=7&count=2",
    "start": "step=3",
    "gradients": "shape=2,3&layer=LayerNorm(3)&at=0,0",
}
READY = ".nv-map-grid, .nv-view[data-state=ready]:not(:has(.nv-cells)), .nv-toy .nv-shared, .nv-model, .nv-start-step:not([hidden]), .nv-exercise, .nv-prediction, .nv-way, blockquote"


def test_every_page_of_the_app(tab, subtests):
    view, watch = tab
    for name, query in [*((name, QUERIES.get(name, "hide=")) for name in PAGES), ("teach", "plan=explore")]:
        with subtests.test(name, query=query):
            view.visit(f"{name}?{query}")
            view.find(READY).first.wait_for()
            view.wait_until_drawn()
            if name == "questions":
                view.find(".nv-answer > summary").click()
            check(view.page)
            watch.check()


def test_a_narrow_page_whose_tables_scroll(tab):
    view, _watch = tab
    view.page.set_viewport_size({"width": 390, "height": 844})
    view.visit("compare?hide=")
    view.find(READY).first.wait_for()
    view.wait_until_drawn()
    assert violations(view.page) == []
    view.page.set_viewport_size({"width": 1280, "height": 720})


def test_more_and_share_and_the_dialogs_of_a_figure(look):
    view = look("?shape=2,3&layer=LayerNorm(3)&at=0,0&open=values,worked")
    view.more()
    assert violations(view.page) == []
    view.less()
    for key in ("t", "?"):
        view.panel("x").press(key)
        view.page.get_by_role("dialog").wait_for()
        assert violations(view.page, context="[role=dialog], dialog[open]") == []
        view.page.keyboard.press("Escape")
    view.page.route(EMBEDDED, show_boxes)
    panel = Panel(view)
    check(view.page)
    panel.dialog.get_by_role("button", name="Close").click()
    view.page.unroute(EMBEDDED)


def test_a_view_for_a_projector_and_an_embedded_one(look):
    for query in ("?present=1&shape=2,3&layer=LayerNorm(3)", "?hide=code,text&shape=2,3&layer=LayerNorm(3)"):
        check(look(query).page)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index and a question of the site, an exported view, Start here, and a tour; without plotly.js, which axe does not need."""
    folder = tmp_path_factory.mktemp("accessible")
    build(folder, only=["s0"])
    view = output_of_query("explore", {"shape": "2,3", "layer": "LayerNorm(3)", "at": "0,0"})
    start, tour = output_of_query("start", {}), tour_output(tours()["normalized-shape"])
    for name, output in (("view", view), ("start", start), ("tour", tour)):
        (folder / f"{name}.html").write_text(output.to_html(plotlyjs="none.js"), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def offline(browser: Browser) -> Iterator[Page]:
    context = new_context(browser, offline=True)
    yield context.new_page()
    context.close()


def test_files_of_every_kind(files, offline, subtests):
    for name in ("index", "question-s0", "view", "tour"):
        with subtests.test(name):
            offline.goto((files / f"{name}.html").as_uri())
            offline.locator(".nv-view[data-state=ready], .nv-links a, .nv-prediction").first.wait_for()
            check(offline)


def test_steps_of_start_here_with_their_answers(files, offline, subtests):
    for step in (7, 8, 9):
        with subtests.test(step):
            offline.goto(f"{(files / 'start.html').as_uri()}?step={step}")
            offline.get_by_role("button", name="Show me").click()
            offline.locator(".nv-start-done:visible").wait_for()
            check(offline)
