"""The front page in a session: where its address leads, what it keeps of a view, and the groups of the header."""

import json

import pytest
import streamlit as st
from streamlit.runtime.context import ContextProxy

from normviz.lessons.pages import PAGES
from normviz.parts.titles import LEARN, LOOK_UP, TEACH
from normviz.ui.session import SESSION
from tests.support.driver import query, scene
from tests.support.pages import check_no_errors, go_to_page, open_page
from tests.support.shown import elements, page_data, problems


@pytest.mark.parametrize("given", [{"shape": "2,4"}, {"lang": "es", "layer": "LayerNorm(3)"}, {"hide": "code"}])
def test_its_address_with_a_view_opens_explore_with_that_view(given):
    app = open_page("home", given)
    assert not app.exception
    assert (app.session_state[SESSION].name, query(app)) == ("explore", given)


def test_a_name_that_no_link_has_gets_its_message_there():
    app = open_page("home", "shap=2,4")
    assert app.session_state[SESSION].name == "explore"
    assert problems(app) == ["'shap' is not a setting of a link. Did you mean shape?"]


def test_embedded_it_is_explore(monkeypatch):
    monkeypatch.setattr(ContextProxy, "is_embedded", True)
    assert open_page("home").session_state[SESSION].name == "explore"


@pytest.mark.parametrize("given", ["", "lang=es", "utm_source=mail"])
def test_other_addresses_are_the_front_page(given):
    app = open_page("home", given)
    check_no_errors(app)
    assert app.session_state[SESSION].name == ""
    assert [field.attrib["name"] for field in elements(app, "input") if field.attrib["type"] == "text"] == ["typed"]
    assert page_data(app)["share"] is None
    assert len(page_data(app)["languages"]) > 1


def test_it_has_no_view_in_its_address_and_the_next_page_keeps_the_view():
    app = open_page("explore", "shape=2,3,5&layer=LayerNorm(5)")
    go_to_page(app, "home")
    check_no_errors(app)
    assert (app.session_state[SESSION].name, query(app)) == ("", {})
    go_to_page(app, "explore")
    assert scene(app).shape == (2, 3, 5)


@pytest.mark.parametrize("chosen", ["at=0,1,2,1", "shape=2,3,5&layer=LayerNorm(5)&at=0,1,2"])
def test_the_tensor_of_another_page_chooses_no_exercises(chosen):
    app = open_page("explore", chosen)
    go_to_page(app, "practice")
    check_no_errors(app)
    assert sets(app) == sets(open_page("practice"))
    kept = query(app)
    assert kept["level"] == "rising"
    assert sets(open_page("practice", kept)) == sets(app)  # after a reload
    assert sets(open_page("practice", chosen)) == sets(app)  # a link that names a tensor alone


def sets(app) -> list[object]:
    """The sets of exercises that the page shows."""
    return [
        json.loads(one.attrib["data-practice"])["set"] for one in elements(app, "div") if "data-practice" in one.attrib
    ]


def test_what_is_typed_becomes_the_view_in_the_address():
    app = open_page("explore", {"typed": "LayerNorm(96) on 8,96,56,56"})
    assert query(app) == {"shape": "8,96,56,56", "layer": "LayerNorm([96])"}
    assert "expected input with shape [*, 96]" in problems(app)[0]
    refused = open_page("explore", {"typed": "hello(3)"})
    assert problems(refused)[0].startswith("'hello(3)': what is read here is a layer, such as LayerNorm(96)")
    assert scene(refused) == scene(open_page("explore"))


def test_the_header_has_three_groups_and_each_page_is_in_one(monkeypatch):
    found = []
    navigation = st.navigation
    monkeypatch.setattr(st, "navigation", lambda pages, **options: found.append(pages) or navigation(pages, **options))
    for page, group in (("practice", LEARN), ("explore", LOOK_UP), ("teach", TEACH)):
        assert page_data(open_page(page))["group"] == group
    groups = {
        title: [page.url_path for page in pages if page.visibility == "visible"] for title, pages in found[-1].items()
    }
    assert {title: pages for title, pages in groups.items() if pages} == {
        "Learn": ["start", "story", "questions", "practice"],
        "Look up": ["explore", "train_and_eval", "numerics", "models"],
        "Teach": ["teach"],
    }
    assert [name for name, page in PAGES.items() if not page.group] == ["home"]
