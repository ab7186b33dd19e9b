"""The page "Numerics" in the app: its controls and messages. Its views are in ``tests/lessons/numerics``."""

import re

import pytest

from normviz.analysis.rounding import DTYPES
from normviz.lessons.pages import PAGES
from tests.support.driver import query, sentence_text
from tests.support.lessons import asked_questions
from tests.support.needs import cases_in_torch
from tests.support.pages import check_page, open_page
from tests.support.shown import elements, figures, problems, texts


def chart(app):
    (data,) = figures(app)
    return data["figure"]


def check(app):
    """Assert: no traceback, one large sentence with numbers, one chart with an alt text, and the address alone gives the same page."""
    check_page(app)
    (sentence,) = elements(app, "nv-sentence")
    assert sentence.find("strong") is not None
    assert chart(app)["alt"].endswith(".")


def test_without_a_query_it_shows_a_negative_variance():
    app = open_page("numerics")
    check(app)
    assert "gives a variance of −131,072" in sentence_text(app)
    assert "output is NaN" in [trace["name"] for trace in chart(app)["data"]]
    assert "| **✗ E[x²] − E[x]²** | −131,072 |" in texts(app)
    assert app.get_by_key("dtype").options == list(DTYPES)


def test_the_page_is_listed_and_ends_with_a_question():
    assert PAGES["numerics"].title == "Numerics"
    assert asked_questions(open_page("numerics")) == ["q24"]


def test_an_invalid_address_gives_one_warning_and_the_nearest_view():
    app = open_page("numerics", "show=placement&eps=**")
    assert not app.exception
    assert problems(app) == ["eps='**' must be a number from 1e-12 to 1."]
    nearest = open_page("numerics", "show=placement")
    assert (sentence_text(app), chart(app)) == (sentence_text(nearest), chart(nearest))


TURNED = [
    # the link, the control, its new value, the resulting address
    ("", "show", "eps", {"show": "eps"}),
    ("", "dtype", "float16", {"dtype": "float16"}),
    ("", "set_distance", 3, {"distance": "1e3"}),
    ("distance=1e3", "set_distance", 6, {}),
    ("show=eps", "set_spread", -12, {"show": "eps", "spread": "1e-12"}),
    ("show=constant", "set_value", "-0.5", {"show": "constant", "value": "-0.5"}),
    ("show=single&dtype=float16", "set_scale", "10", {"show": "single", "dtype": "float16", "scale": "10"}),
    ("show=placement", "set_eps", " 1e-3 ", {"show": "placement", "eps": "0.001"}),
]


@cases_in_torch
@pytest.mark.parametrize(("link", "key", "value", "address"), TURNED)
def test_a_control_changes_the_sentence_and_the_address_and_states_its_limits(link, key, value, address):
    app = open_page("numerics", link)
    before = sentence_text(app)
    (limited,) = [*app.text_input, *app.select_slider]
    assert re.search(r"\(.+ to .+\)", limited.label)
    app = app.get_by_key(key).set_value(value).run()
    check(app)
    assert sentence_text(app) != before
    assert query(app) == address


@pytest.mark.parametrize(
    ("link", "key", "text", "message"),
    [
        ("show=constant", "set_value", "1e9", "value='1e9' must be a number from -65,504 to 65,504."),
        ("show=single", "set_scale", "", "scale='' must be a number from 0 to 10,000."),
        ("show=placement", "set_eps", "0", "eps='0' must be a number from 1e-12 to 1."),
    ],
)
def test_an_invalid_entry_gives_a_warning_and_keeps_the_view(link, key, text, message):
    app = open_page("numerics", link)
    before = sentence_text(app)
    app = app.get_by_key(key).set_value(text).run()
    assert not app.exception
    assert problems(app) == [message]
    assert sentence_text(app) == before
