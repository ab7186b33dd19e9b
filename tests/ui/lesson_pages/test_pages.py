"""Opening every lesson page, and changing from one page to another, without a browser."""

import re

import pytest

from normviz.lessons.pages import MOST_LINKS, PAGES
from normviz.lessons.questions.question import prose
from normviz.lessons.questions.registry import QUESTIONS, questions_of_page
from tests.ui.support.driver import open_explore, query, scene, send_event, sentence_text, set_control
from tests.ui.support.lessons import LESSONS, compared_layers, question_links
from tests.ui.support.pages import check_page, go_to_page, open_page
from tests.ui.support.shown import figures, markdown, problems


@pytest.mark.parametrize("name", LESSONS)
def test_a_page_opens_without_a_query(name):
    app = open_page(name)
    assert not app.exception
    assert not problems(app)
    assert query(app) == {}
    assert bool(figures(app)) == (name != "questions")


@pytest.mark.parametrize("name", LESSONS[:-1])
def test_a_lesson_keeps_the_scene_of_explore(name):
    explore = set_control(set_control(open_explore(), "layout", "NLC"), "family", "RMSNorm")
    before = scene(explore)
    app = go_to_page(send_event(explore, "select", {"at": [1, 0, 2]}), name)
    check_page(app)
    assert (scene(app).shape, scene(app).layer, scene(app).at) == (before.shape, before.layer, (1, 0, 2))


def test_explore_and_compare_share_the_scene_but_not_the_layers_of_compare():
    app = go_to_page(set_control(open_explore("shape=2,6"), "size_d", 4), "compare")
    assert compared_layers(app) == ["LayerNorm([4])", "BatchNorm1d(4)", "InstanceNorm1d(2)", "GroupNorm(2, 4)"]
    app = set_control(app, "layers", ["RMSNorm([4])", "BatchNorm1d(4)"])
    app = go_to_page(set_control(app, "size_d", 5), "explore")
    assert query(app) == {"shape": "2,5", "layer": "LayerNorm([5])", "at": "1,3"}
    assert sentence_text(app).startswith("`LayerNorm([5])` on (2, 5): ")


@pytest.mark.parametrize("name", LESSONS[:-1])
def test_a_page_ends_with_links_to_its_questions(name):
    links = question_links(open_page(name))
    linked = [QUESTIONS[link.attrib["data-query"].removeprefix("?q=")] for link in links]
    assert 0 < len(set(linked)) == len(linked) == min(MOST_LINKS, len(questions_of_page(PAGES[name])))
    assert {question.page.name for question in linked} == {name}
    assert [(link.attrib["href"], markdown(link)) for link in links] == [
        (f"/questions?q={question.key}", prose(question.key).title) for question in linked
    ]


@pytest.mark.parametrize(
    ("name", "show"),
    list(
        dict.fromkeys(
            (one.page.name, *re.findall(r"show=\w+", one.query)) for one in QUESTIONS.values() if "show=" in one.query
        )
    ),
)
def test_the_questions_about_the_shown_experiment_come_first(name, show):
    first = question_links(open_page(name, show))[0]
    assert show in QUESTIONS[first.attrib["data-query"].removeprefix("?q=")].query
