"""One tab for the tests of the lesson pages, which loads the app once, at the address of a page below the root; and one without the app."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from normviz.export import assets
from normviz.export.assets import exercises_style, page_style
from normviz.figures.wire import sent
from normviz.lessons.pages import PAGES, page_data
from normviz.parts.html import Body
from normviz.parts.part import Part
from tests.browser.conftest import NewTab
from tests.browser.lessons.lesson import WIDE, Lesson
from tests.browser.watch import Watch
from tests.support.javascript import open_with_modules

Show = Callable[..., Page]


@pytest.fixture(scope="session")
def lesson_tab(new_tab: NewTab, server: str) -> Iterator[tuple[Lesson, Watch]]:
    """The tab, with Train and eval."""
    page = new_tab(viewport=WIDE)
    watch = Watch(page)
    yield Lesson(page, server).go_to("train_and_eval"), watch
    page.close()


@pytest.fixture
def lesson_in_any_window(lesson_tab: tuple[Lesson, Watch]) -> Iterator[Lesson]:
    """The tab with the window and the theme of the test before; the test fails if the browser reports an error."""
    view, watch = lesson_tab
    view.page.bring_to_front()
    yield view
    watch.check()


@pytest.fixture
def lesson(lesson_in_any_window: Lesson) -> Lesson:
    """The tab, wide and in the light theme."""
    lesson_in_any_window.page.set_viewport_size(WIDE)
    lesson_in_any_window.page.emulate_media(color_scheme="light")
    return lesson_in_any_window


@pytest.fixture(scope="session")
def blank(new_tab: NewTab) -> Iterator[tuple[Page, Watch]]:
    """A tab with the module of the page; it is loaded once."""
    tab = new_tab()
    watch = Watch(tab)
    html = PAGE.replace("STYLE", page_style() + exercises_style())
    open_with_modules(tab, html, {"plotly.js": assets.plotly_js()})
    yield tab, watch
    tab.close()


PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>page</title><style>STYLE</style>
<script src="plotly.js"></script><body><script type="module">
import { PageView } from "/parts/browser/page.ts";
import "/lessons/practice/practice.ts";
let view;
window.sent = [];
const host = {
  send: (name, value) => window.sent.push(name),
  address: (page, query) => `https://example.org/${page}${query}`,
  go: (page, query) => Boolean(window.sent.push(`go ${page}${query}`)),
  guess: (guess) => window.sent.push(`guess ${guess}`),
};
window.begin = () => {
  view?.destroy();
  document.body.innerHTML = "<div class='nv-doc' data-mounted='yes' data-mode='light'><div class='nv-page'></div></div>";
  window.sent.length = 0;
  view = new PageView(document.querySelector(".nv-page"), host);
};
window.show = (data) => view.set(data, "light");
window.view = () => view;
</script></body></html>"""


@pytest.fixture
def show(blank: tuple[Page, Watch]) -> Iterator[Show]:
    """Shows parts on the page of the test, and waits until they are drawn: ``show([Sentence("x")], guess="a")``."""
    tab, watch = blank
    tab.bring_to_front()
    tab.evaluate("begin()")

    def show_parts(parts: list[Part], **more: Any) -> Page:
        tab.evaluate("data => show(data)", sent(page_data(PAGES["explore"], Body(app=""), parts)) | more)
        return tab

    yield show_parts
    watch.check()
