"""A number that is too large, in every field of every page."""

import pytest

from normviz.scene.settings.page_settings import PAGE_SETTINGS, experiments
from tests.ui.driver import open_more, query
from tests.ui.pages import check_page, go_to_page, open_page
from tests.ui.shown import problems

WITH_EXPERIMENTS = ("train_and_eval", "numerics")  # each with other fields
VIEWS = [
    *[(name, {}) for name in PAGE_SETTINGS if name not in WITH_EXPERIMENTS],
    *[(name, {"show": show}) for name in WITH_EXPERIMENTS for show in experiments(name)],
]


@pytest.mark.parametrize(("name", "link"), VIEWS, ids=[" ".join([name, *link.values()]) for name, link in VIEWS])
def test_a_number_that_is_too_large_is_refused_and_another_page_opens(name, link):
    app = open_more(open_page(name, link))
    fields: dict[str, float | str] = {one.key: 2e12 for one in app.number_input}
    fields |= {one.key: "1e308" for one in app.text_input if one.key != "set_search"}
    for key, value in fields.items():
        app = app.get_by_key(key).set_value(value).run()
        assert not app.exception, [exception.message for exception in app.exception]
        assert len(problems(app)) == 1, key
        assert query(app).items() <= link.items()  # the address leaves out the first experiment
    check_page(go_to_page(app, "step_by_step" if name != "step_by_step" else "compare"))
