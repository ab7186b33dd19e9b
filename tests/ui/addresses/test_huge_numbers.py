"""A number that is too large, in every field of every page."""

import pytest

from normviz.lessons.pages import PAGES
from normviz.scene.setting import Number, TextField
from tests.support.driver import open_more, query, set_control
from tests.support.opened import opened
from tests.support.pages import check_page, go_to_page, open_page
from tests.support.shown import problems

WITH_EXPERIMENTS = ("train_and_eval", "numerics")  # each with other fields
VIEWS = [
    *[(name, {}) for name in PAGES if name not in WITH_EXPERIMENTS],
    *[(name, {"show": show}) for name in WITH_EXPERIMENTS for show in [one.name for one in PAGES[name].experiments]],
]


@pytest.mark.parametrize(("name", "link"), VIEWS, ids=[" ".join([name, *link.values()]) for name, link in VIEWS])
def test_numbers_that_are_too_large_are_refused(name, link):
    page = opened(name, link)
    numbers = [one.key for one in page.inputs.values() if isinstance(one.widget, Number)]
    texts = [one.key for one in page.inputs.values() if isinstance(one.widget, TextField) and one.key != "set_search"]
    enter_too_large(page, name, link, numbers, texts)


@pytest.mark.parametrize(("name", "link"), [("explore", {}), ("numerics", {"show": "placement"})])
def test_the_app_refuses_numbers_that_are_too_large_and_another_page_opens(name, link):
    app = open_more(open_page(name, link))
    texts = [one.key for one in app.text_input]
    app = enter_too_large(app, name, link, [one.key for one in app.number_input], texts)
    check_page(go_to_page(app, "step_by_step"))


def enter_too_large(app, name, link, numbers, texts):
    """Enter a number that is too large in each field: each keeps what was entered, and has a message."""
    unchanged = link | PAGES[name].view(link).query(PAGES[name].settings)
    fields = dict.fromkeys(numbers, 2e12) | dict.fromkeys(texts, "1e308")
    for number, (key, value) in enumerate(fields.items(), start=1):
        app = set_control(app, key, value)
        assert not app.exception, [exception.message for exception in app.exception]
        assert len(problems(app)) == number, key
        assert query(app).items() <= unchanged.items()
    return app
