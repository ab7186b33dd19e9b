"""Every page has one heading of the first level: its title, and in one line what it shows."""

from normviz.lessons.pages import PAGES
from normviz.parts.titles import HOME
from tests.support.driver import open_explore
from tests.support.pages import go_to_page


def test_every_page_has_one_title_that_says_what_it_shows():
    app = open_explore()
    for name, page in PAGES.items():
        (title,) = go_to_page(app, name).title
        asked = "Who shares a mean, and who shares a gamma?"
        assert title.value == (asked if name == HOME else f"{page.title} :small[{page.purpose}]")


def test_a_view_with_hidden_parts_has_its_title_too():
    (title,) = open_explore("hide=all").title
    assert title.value.startswith("Explore")
