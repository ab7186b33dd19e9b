"""Every lesson page as it opens, without a browser, and the way from one to another."""

import re

import pytest

from normviz.lessons.questions.question import prose
from normviz.lessons.questions.registry import QUESTIONS, questions_of_page
from normviz.ui.controls.questions import MOST_LINKS
from tests.ui.driver import opened, query, said, scene, sent, turned
from tests.ui.lessons import LESSONS, layers
from tests.ui.pages import complete, figures, gone, page


@pytest.mark.parametrize("name", LESSONS)
def test_a_page_opens_bare(name):
    app = page(name)
    assert not app.exception
    assert not app.warning
    assert query(app) == {}
    assert bool(figures(app)) == (name != "questions")


@pytest.mark.parametrize("name", LESSONS[:-1])
def test_the_scene_goes_along_from_explore(name):
    explore = turned(turned(opened(), "layout", "NLC"), "family", "RMSNorm")
    before = scene(explore)
    app = gone(sent(explore, "select", {"at": [1, 0, 2]}), name)
    complete(app)
    assert (scene(app).shape, scene(app).layer, scene(app).at) == (before.shape, before.layer, (1, 0, 2))


def test_from_explore_to_compare_and_back_the_scene_stays_and_the_layers_of_compare_are_left_there():
    app = gone(turned(opened("shape=2,6"), "size_d", 4), "compare")
    assert layers(app) == ["LayerNorm([4])", "BatchNorm1d(4)", "InstanceNorm1d(2)", "GroupNorm(1, 4)"]
    app = turned(app, "layers", ["RMSNorm([4])", "BatchNorm1d(4)"])
    app = gone(turned(app, "size_d", 5), "explore")
    assert query(app) == {"shape": "2,5", "layer": "LayerNorm([5])", "at": "1,3"}
    assert said(app).startswith("`LayerNorm([5])` on (2, 5): ")


@pytest.mark.parametrize("name", LESSONS[:-1])
def test_at_its_end_a_page_leads_to_the_questions_that_it_settles(name):
    links = [link.proto for link in page(name).get("page_link")]
    asked = [QUESTIONS[link.query_string.removeprefix("q=")] for link in links]
    assert 0 < len(set(asked)) == len(asked) == min(MOST_LINKS, len(questions_of_page(name)))
    assert {question.page for question in asked} == {name}
    assert [(link.page, link.label) for link in links] == [
        ("questions", prose(question.key).title) for question in asked
    ]


@pytest.mark.parametrize(
    ("name", "show"),
    list(
        dict.fromkeys(
            (one.page, *re.findall(r"show=\w+", one.query)) for one in QUESTIONS.values() if "show=" in one.query
        )
    ),
)
def test_the_questions_about_what_shows_come_first(name, show):
    first = page(name, show).get("page_link")[0].proto
    assert show in QUESTIONS[first.query_string.removeprefix("q=")].query
