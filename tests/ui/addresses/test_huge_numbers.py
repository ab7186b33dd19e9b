"""A number that is too large, in every field of every page."""

import pytest

from normviz.lessons.pages import PAGES
from tests.support.driver import open_more, query
from tests.support.pages import check_page, go_to_page, open_page
from tests.support.shown import problems

WITH_EXPERIMENTS = ("train_and_eval", "numerics")  # each with other fields
VIEWS = [
    *[(name, {}) for name in PAGES if name not in WITH_EXPERIMENTS],
    *[(name, {"show": show}) for name in WITH_EXPERIMENTS for show in [one.name for one in PAGES[name].experiments]],
]


@pytest.mark.parametrize(("name", "link"), VIEWS, ids=[" ".join([name, *link.values()]) for name, link in VIEWS])
def test_numbers_that_are_too_large_are_refused_and_another_page_opens(name, link):
    app = open_more(open_page(name, link))
    fields: dict[str, float | str] = {one.key: 2e12 for one in app.number_input}
    fields |= {one.key: "1e308" for one in app.text_input if one.key != "set_search"}
    unchanged = link | PAGES[name].view(link).query(PAGES[name].settings)
    for number, (key, value) in enumerate(fields.items(), start=1):
        app = app.get_by_key(key).set_value(value).run()
        assert not app.exception, [exception.message for exception in app.exception]
        assert len(problems(app)) == number, key  # one for each field, which keeps what was entered
        assert query(app).items() <= unchanged.items()
    check_page(go_to_page(app, "step_by_step" if name != "step_by_step" else "compare"))
