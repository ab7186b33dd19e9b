"""Opening every lesson page, and changing from one page to another, without a browser."""

import pytest

from normviz.lessons.pages import PAGES
from normviz.lessons.questions.page import questions_of_page
from normviz.lessons.questions.question import prose
from tests.support.driver import open_explore, query, scene, send_event, sentence_text, set_control
from tests.support.lessons import LESSONS, asked_questions, compared_layers
from tests.support.pages import check_page, follow, go_to_page, open_page
from tests.support.shown import elements, figures, markdown, problems


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
    assert compared_layers(app) == ["LayerNorm([4])", "BatchNorm1d(4)", "GroupNorm(2, 4)"]
    app = set_control(app, "layers", ["RMSNorm([4])", "BatchNorm1d(4)"])
    app = go_to_page(set_control(app, "size_d", 5), "explore")
    assert query(app) == {"shape": "2,5", "layer": "LayerNorm([5])", "at": "1,3"}
    assert sentence_text(app).startswith("`LayerNorm([5])` on (2, 5): ")


@pytest.mark.parametrize("name", LESSONS[:-1])
def test_a_page_ends_with_a_fold_of_one_question_and_links_to_its_others_and_its_lesson_plan(name):
    app = open_page(name)
    (key,) = asked_questions(app)
    (section,) = elements(app, "nv-asked")
    title, *_others = section.iter("h2")
    assert markdown(title) == prose(key).title
    assert [part.get("class") for part in section.iter("details")] == ["nv-asked-fold", "nv-answer"]
    *_in_answer, link, plan = section.iter("a")
    assert (link.attrib["data-query"], plan.attrib["data-query"]) == (f"?of={name}", f"?plan={name}")
    listed = [link for links in elements(follow(app, link), "nv-links-list") for link in links.iter("a")]
    assert [link.attrib["data-query"] for link in listed] == [f"?q={one.key}" for one in questions_of_page(PAGES[name])]


@pytest.mark.parametrize("link", ["", "hide=questions", "present=true", "hide=controls"])
def test_the_question_can_be_hidden(link):
    assert len(asked_questions(open_page("compare", link))) == (not link)


def test_the_question_follows_a_change_of_the_layer():
    app = open_explore("shape=2,4,5,3&layer=BatchNorm2d(4)")
    assert asked_questions(app) == ["s2e"]
    assert asked_questions(set_control(app, "family", "GroupNorm")) == ["q8"]
