"""The view for a projector is a setting of the address, which the reader switches on and off; embedded views have no switch."""

import pytest

from normviz.lessons import pages
from normviz.lessons.pages import PAGES, page_view
from normviz.parts.html import Body
from normviz.ui.page import data_of
from tests.support.driver import open_explore, query, send_event
from tests.support.pages import open_page
from tests.support.shown import components, page_data

SHAPE = "shape=2,3&layer=LayerNorm([3])"
QUERY = {"shape": "2,3", "layer": "LayerNorm([3])", "at": "1,0"}


def test_the_event_shows_the_figure_alone_and_leaves_it_again():
    app = open_explore(f"{SHAPE}&at=1,0")
    before = page_data(app)
    assert (before["present"], before["projector"]) == (False, True)
    assert before["share"]
    assert app.get("button_group")
    send_event(app, "present", {"present": True})
    assert query(app) == QUERY | {"present": "true"}
    during = page_data(app)
    assert (during["present"], during["projector"]) == (True, True)
    assert "share" not in during
    assert not app.get("button_group")
    assert not any("report" in data for data in components(app))
    send_event(app, "present", {"present": False})
    assert query(app) == QUERY
    assert page_data(app) == before
    assert app.get("button_group")


@pytest.mark.parametrize("page", ["practice", "start"])
def test_a_page_without_controls_can_be_shown_too(page):
    app = open_page(page)
    send_event(app, "present", {"present": True})
    assert query(app) == PAGES[page].query(PAGES[page].view("")) | {"present": "true"}
    assert page_data(app)["present"]


def test_an_embedded_view_cannot_be_switched():
    shown = page_view(PAGES["explore"], PAGES["explore"].view(SHAPE))
    assert [
        data_of(shown, pages.page_data(shown.page, Body(app=""), shown.parts), embedded)["projector"]
        for embedded in (False, True)
    ] == [True, False]
