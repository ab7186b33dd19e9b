"""Lesson plans: one for each page, from questions that have what a plan shows, in each language, and with links to and from the page."""

import re
from dataclasses import replace

import pytest

from normviz.lessons.page import Plan
from normviz.lessons.pages import GROUPS, PAGES, page_view, view_of_link
from normviz.lessons.questions.page import KEYS, QUESTIONS, prediction
from normviz.lessons.questions.question import answer, prose, reasons
from normviz.lessons.teach import page as plan_module
from normviz.lessons.teach.page import EACH, FIRST, asked_in, teach_page
from normviz.parts.html import Body
from normviz.parts.part import AskedQuestion, Link, Links, flat, text
from normviz.parts.titles import HOME, VIEWS
from normviz.texts.languages import languages
from normviz.texts.messages import in_language, without_marks
from tests.support.needs import needs_rms_norm

PLANS = {name: page.plan for name, page in PAGES.items() if page.plan}
# The questions that torch 2.2 cannot answer.
NEWER = {"s0g", "q45", "q26", "q22", "s2o", "q23", "q15", "q46", "q48", "s2m", "q28", "q30", "q31"}


def parts_of(page):
    return page_view(PAGES["teach"], view_of_link(PAGES["teach"], f"plan={page}")).parts


@pytest.mark.parametrize("absent", [set(), NEWER], ids=["installed", "torch 2.2"])
def test_each_page_but_the_teachers_own_has_a_plan_from_three_questions_that_differ(absent, monkeypatch):
    monkeypatch.setattr(plan_module, "QUESTIONS", {key: one for key, one in QUESTIONS.items() if key not in absent})
    listed = {page.name for group in GROUPS.values() for page in group}
    assert set(PLANS) == {*PAGES} - {HOME, "teach"} == (listed | {*VIEWS}) - {"teach"}
    for page, plan in PLANS.items():
        assert len({one.key for one in asked_in(plan)}) == len(asked_in(plan)) == 3, page
        assert set("|".join(plan.keys).split("|")) <= set(KEYS), page
        first = asked_in(plan)[0]
        tempting = set(reasons(first))
        assert tempting < set(prose(first.key).options), page  # a wrong option that tempts, and a right one


def test_the_plan_that_a_page_declares_is_listed_and_shown():
    toy = replace(
        PAGES["models"], name="toy", label="Toy", plan=Plan("Students square numbers.", 7, ("s1a", "s2e", "s3i"))
    )
    page = teach_page([toy, replace(toy, name="without", plan=None)])
    links = [link for one in flat(page.parts(page.view({}))) if isinstance(one, Links) for link in one.links]
    assert [link for link in links if "plan=" in link.query] == [Link("Toy", "teach", "plan=toy")]
    said = text(page.parts(page.view({"plan": "toy"})))
    assert "Lesson plan: Toy" in said
    assert "Students square numbers." in said
    assert page.view({"plan": "without"}).problem


def bare(markdown):
    return re.sub(r"[`*]", "", without_marks(markdown))


@pytest.mark.parametrize("lang", languages())
def test_a_plan_has_the_goal_the_minutes_what_to_ask_and_the_answers_with_their_numbers(lang):
    with in_language(lang):
        for page, plan in PLANS.items():
            said, first = text(parts_of(page)), asked_in(plan)[0]
            assert str(plan.minutes + FIRST + 2 * EACH) in said
            plain = bare(said)
            for expected in (
                prose(first.key).claim,
                *reasons(first).values(),
                *(prose(one.key).predict for one in asked_in(plan)),
            ):
                assert bare(expected) in plain, (page, expected)
            assert all(bare(answer(one).split("\n\n")[-1]) in plain for one in asked_in(plan)), page
            assert not re.search(r"\{\w+\}", said), page


def test_the_answer_of_a_plan_is_the_right_option():
    """By hand: LayerNorm([3, 4, 4]) has a gamma for each of the 48 elements that it normalizes together."""
    said = text(parts_of("explore"))
    assert "D. one for each normalized element" in said
    assert "Answer: D. One for each normalized element" in said
    assert prediction(asked_in(PLANS["explore"])[0]).is_right("elements")


@needs_rms_norm
def test_the_answer_of_the_plan_of_gradients_is_the_right_option():
    assert "C. that of BatchNorm1d(3)" in text(parts_of("gradients"))
    assert "Answer: C. It depends on the layer." in text(parts_of("gradients"))


@pytest.mark.parametrize("page", PLANS)
def test_the_page_leads_to_its_plan_and_the_plan_to_views_without_an_error(page):
    shown = page_view(PAGES[page], view_of_link(PAGES[page], "")).parts
    foot = [link for one in shown if isinstance(one, AskedQuestion) for link in one.others]
    foot += [link for one in shown if isinstance(one, Links) for link in one.links]
    assert [link.address for link in foot if link.page == "teach"] == [f"/teach?plan={page}"]
    assert f'href="/teach?plan={page}"' in Body(app="").page(shown)
    assert "plan=" not in Body(app=None).page(shown)  # a file has no plan to lead to
    links = [link for one in flat(parts_of(page)) if isinstance(one, Links) for link in one.links]
    assert Link(PAGES[page].title, page) in links
    for link in links:
        assert PAGES[link.page].problem(view_of_link(PAGES[link.page], link.query)) is None, link
