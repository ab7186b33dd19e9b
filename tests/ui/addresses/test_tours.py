"""A link that names only a stop of a tour opens the stop's page."""

import pytest

from normviz.lessons.tours import tours
from normviz.ui.server.first_page import first_page
from normviz.ui.session import SESSION
from tests.support.driver import query
from tests.support.pages import check_no_errors, open_page
from tests.support.shown import elements, markdown

TOUR = tours()["from-batchnorm-to-layernorm"]


@pytest.mark.parametrize(
    ("name", "number", "page"),
    [("explore", 1, "explore"), ("home", 1, "explore"), ("home", 8, "compare"), ("numerics", 1, "explore")],
)
def test_the_app_goes_to_the_page_of_the_stop_and_keeps_the_query(name, number, page):
    given = {"tour": TOUR.name, "stop": str(number), "present": "true"}
    app = open_page(name, given)
    check_no_errors(app)
    assert (app.session_state[SESSION].name, query(app)) == (page, given)
    (caption,) = elements(app, "nv-tour-caption")
    assert markdown(caption) == TOUR.stops[number - 1].caption


def test_the_first_html_does_not_show_a_page_that_the_app_leaves_at_once():
    link = f"tour={TOUR.name}&stop=8"
    assert first_page("explore", link, False) == ""
    assert TOUR.stops[7].caption in first_page("compare", link, False)
