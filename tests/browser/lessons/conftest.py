"""One tab for the tests of the lesson pages. It loads the app once, at the address of a page below the root."""

from collections.abc import Iterator

import pytest

from tests.browser.conftest import NewTab
from tests.browser.lessons.lesson import WIDE, Lesson
from tests.browser.watch import Watch


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
