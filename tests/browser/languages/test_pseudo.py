"""All pages in two languages for tests: one with accents and longer words, and one that is written from right to left."""

import os
from collections.abc import Iterator

import pytest

from normviz.lessons.pages import PAGES
from tests.browser.conftest import NewTab
from tests.browser.languages.reading import Reading, read_page
from tests.browser.lessons.lesson import NARROW, STRAIGHT, WIDE, Lesson
from tests.browser.watch import Watch
from tools.pseudo import write_locale
from tools.servers import app_server

pytestmark = pytest.mark.browser

VIEWS = [
    *PAGES,
    "questions?q=s0",
    "explore?layer=LayerNorm(9)",
    "numerics?show=single",
    "train_and_eval?show=modes",
    "explore?tour=normalized-shape&stop=2",
]
CLEAN = Reading([], [], [])

# What is laid out from the right, and what from the left: tensors and code are not mirrored.
SIDES = """() => {
  const side = (selector) => getComputedStyle(document.querySelector(selector)).direction;
  const left = (selector) => document.querySelector(selector).getBoundingClientRect().left;
  return {
    page: document.documentElement.dir,
    sentence: side(".nv-sentence"), plot: side(".nv-panel .nv-over"), code: side(".nv-page code"),
    mirrored: left("[data-testid=stTopNav]") > left(".nvs-corner") && left(".nv-panel-stats") > left(".nv-panel-params"),
  };
}"""


@pytest.fixture(scope="module")
def pseudo(new_tab: NewTab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lesson]:
    """A tab of an app that has the pseudo-languages."""
    locale = write_locale(tmp_path_factory.mktemp("locale"))
    with app_server(env={**os.environ, "NORMVIZ_LOCALE": str(locale)}) as address:
        page = new_tab(viewport=WIDE)
        yield Lesson(page, address)
        page.close()


@pytest.fixture
def watched(pseudo: Lesson) -> Iterator[Lesson]:
    """That tab, wide; a test fails if the browser reports an error."""
    watch = Watch(pseudo.page)
    pseudo.page.bring_to_front()
    pseudo.page.set_viewport_size(WIDE)
    yield pseudo
    watch.check()


def show(view: Lesson, address: str, language: str) -> None:
    view.visit(f"{address}{'&' if '?' in address else '?'}lang={language}")
    name = address.partition("?")[0] or "explore"
    view.ready(figures=PAGES[name].uses in ("tensor", "scene") and name != "all_layers")  # it has a map
    view.page.wait_for_function("language => document.documentElement.lang === language", arg=language)


def test_every_text_is_translated_and_has_room_for_words_that_are_40_percent_longer(
    watched: Lesson, subtests: pytest.Subtests
) -> None:
    """A view is opened on the screen of the view before."""
    for address in VIEWS:
        with subtests.test(address):
            show(watched, address, "xa")
            for screen in sorted((WIDE, NARROW), key=lambda shown: shown != watched.page.viewport_size):
                watched.resize(screen)
                watched.page.wait_for_function(STRAIGHT)
                assert read_page(watched.page) == CLEAN, screen


def test_more_and_share_are_translated_too(watched: Lesson) -> None:
    show(watched, "explore", "xa")
    watched.find(".st-key-more button").click()
    watched.find(".st-key-more_body label").first.wait_for()
    assert read_page(watched.page) == CLEAN
    watched.page.keyboard.press("Escape")
    watched.find(".nvs-opener").click()
    watched.find("dialog[open] textarea, dialog[open] input, dialog[open] code").first.wait_for()
    assert read_page(watched.page) == CLEAN
    watched.page.keyboard.press("Escape")


def test_from_right_to_left_the_page_is_mirrored_and_tensors_and_code_are_not(watched: Lesson) -> None:
    show(watched, "explore", "xr")
    assert watched.page.evaluate(SIDES) == {
        "page": "rtl",
        "sentence": "rtl",
        "plot": "ltr",
        "code": "ltr",
        "mirrored": True,
    }
    for screen in (WIDE, NARROW):
        watched.resize(screen)
        watched.page.wait_for_function(STRAIGHT)
        found = read_page(watched.page)
        assert (found.cut, found.over) == ([], [])
