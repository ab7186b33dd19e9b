"""A page as a value: the same view gives the same page, without Streamlit."""

import json
from dataclasses import replace

import pytest

from normviz.figures.wire import sent
from normviz.lessons.pages import (
    PAGES,
    PageView,
    page_data,
    page_view,
    parts_up_to_the_figure,
    up_to_the_figure,
    view_of_link,
)
from normviz.lessons.questions.page import QUESTIONS, questions_of_page
from normviz.lessons.questions.question import answer
from normviz.parts.html import Body
from normviz.parts.part import AskedQuestion, Code, Legend, Link, Panels, Part, Problem, Sentence
from tests.support.needs import cases_in_torch, whole

QUERIES = [
    ("explore", ""),
    ("explore", "shape=2,6&layer=BatchNorm1d(6)&at=1,2"),
    ("explore", "shape=4096,4096&layer=LayerNorm(4096)"),
    ("explore", "hide=code,layer&caption=Row 2"),
    ("compare", "shape=3,4&layers=BatchNorm1d(4);LayerNorm(4)"),
    ("step_by_step", "layer=RMSNorm(4)&step=3"),
    ("train_and_eval", "show=batches"),
    ("train_and_eval", "show=modes&layer=BatchNorm2d(3)"),
    ("gradients", "show=matrix"),
    ("numerics", "show=eps"),
    ("questions", ""),
    ("questions", "q=s0&guess=one"),
    ("start", ""),
    ("start", "step=3"),
]


def page_of(name: str, query: str) -> PageView:
    return page_view(PAGES[name], view_of_link(PAGES[name], query))


def shown(name: str, parts: list[Part]) -> str:
    """What the browser receives, as JSON without NaN."""
    return json.dumps(sent(page_data(PAGES[name], Body(app=""), parts)), allow_nan=False)


@pytest.mark.parametrize(("name", "query"), QUERIES)
def test_the_same_view_gives_the_same_page(name, query):
    one, other = page_of(name, query), page_of(name, query)
    assert shown(name, one.parts) == shown(name, other.parts)
    assert (one.view, one.hideable, one.page.title) == (other.view, other.hideable, PAGES[name].title)
    assert [row.names for row in one.rows] == [row.names for row in other.rows]


@cases_in_torch
@pytest.mark.parametrize(("name", "query"), QUERIES)
def test_the_query_of_a_page_reads_back_as_its_view(name, query):
    made = page_of(name, query)
    assert view_of_link(PAGES[name], made.query) == made.view


@pytest.mark.parametrize(("name", "query"), [*QUERIES, ("explore", "hide=tensor"), ("train_and_eval", "hide=all")])
def test_a_page_without_rows_knows_its_whole_query(name, query):
    """After a click on a figure, the app makes a page without rows."""
    made = page_of(name, query)
    assert replace(made, rows=()).whole_query == made.whole_query == PAGES[name].whole_query(made.view)


@pytest.mark.parametrize(("name", "query"), QUERIES)
def test_a_click_needs_only_the_parts_up_to_the_figure(name, query):
    made = page_of(name, query)
    if made.view.display.hide or made.view.display.caption:
        return  # then the app shows the whole page after a click
    assert shown(name, parts_up_to_the_figure(PAGES[name], made.view)) == shown(name, up_to_the_figure(made.parts))


def test_nothing_below_the_figure_is_computed_for_a_click():
    def parts():
        yield Sentence("above")
        yield Panels({}, ())
        raise AssertionError

    assert [type(part) for part in up_to_the_figure(parts())] == [Sentence, Panels]


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("explore", "layer=BatchNorm2d(3)"),
        ("compare", ""),
        ("step_by_step", "step=2"),
        ("train_and_eval", "show=modes&layer=BatchNorm2d(3)"),
        ("gradients", "show=column"),
        ("gradients", "show=matrix"),
        ("gradients", "show=parameters"),
    ],
)
def test_the_parts_below_the_figure_do_not_depend_on_the_selected_element(name, query):
    one, other = (page_of(name, f"{query}&at={at}") for at in ("0,0,0,0", "1,2,2,1"))
    first = len(up_to_the_figure(one.parts))
    assert any(isinstance(part, Panels) for part in one.parts[:first])
    assert len(one.parts) > first
    assert shown(name, one.parts[first:]) == shown(name, other.parts[first:])


def test_the_error_in_a_link_is_the_first_part_and_cannot_be_hidden():
    made = page_of("explore", "layer=GroupNorm(2,3)&hide=all")
    assert isinstance(made.parts[0], Problem)
    assert not any(isinstance(part, Problem) for part in page_of("explore", "").parts)


def test_hidden_parts_are_left_out_and_stay_in_the_list_of_names():
    made = page_of("explore", "hide=sentence,code&caption=Row 2")
    kinds = {type(part) for part in made.parts}
    assert not {Sentence, Code} & kinds
    assert Legend in kinds
    assert made.hideable >= {"sentence", "code", "panels", "layer", "reset"}


ASKING = [
    name for name in PAGES if name not in ("home", "start", "story", "all_layers", "questions", "practice", "teach")
]


@pytest.mark.parametrize("name", ASKING)
def test_a_page_ends_with_a_question_that_can_be_answered_there(name):
    last = page_of(name, "").parts[-1]
    assert isinstance(last, AskedQuestion)
    assert last.asked.key in QUESTIONS
    assert last.others[0] == Link("All questions of this page", "questions", f"of={name}")


@pytest.mark.parametrize("name", [name for name in ASKING if PAGES[name].experiments])
@whole
def test_no_two_experiments_end_with_the_same_question(name):
    asked = [
        page_of(name, f"show={show}").parts[-1].asked.key for show in [one.name for one in PAGES[name].experiments]
    ]
    assert len(set(asked)) == len(asked)
    for show, key in zip([one.name for one in PAGES[name].experiments], asked, strict=True):
        if f"show={show}" in QUESTIONS[key].query:
            continue
        shown_elsewhere = {one.key for one in questions_of_page(PAGES[name]) if f"show={show}" in one.query}
        assert not shown_elsewhere  # an experiment with questions of its own asks one of them


ABOUT_LAYERS = [
    ("explore", "shape=2,3,4,4&layer=LayerNorm([3,4,4])", "s0"),
    ("explore", "shape=2,4,5,3&layer=BatchNorm2d(4)", "s2e"),
    ("explore", "shape=2,4,5,3&layer=GroupNorm(2,4)", "q8"),
    ("explore", "shape=2,4,5,3&layer=InstanceNorm2d(4)", "s0f"),
    ("explore", "shape=2,5,4&layer=RMSNorm(4)", "s2o"),
    ("explore", "shape=4,6&layer=LayerNorm(6)", "s1"),
    ("compare", "shape=4,6&layers=LayerNorm(6);BatchNorm1d(6)", "s1b"),
    ("compare", "shape=4,3,5&layers=Norm('n l c -> l c', 'l c');ChannelsLastBatchNorm(5)", "s3"),
    ("step_by_step", "shape=4,6&layer=BatchNorm1d(6)", "s1f"),
    ("train_and_eval", "show=modes&shape=4,6&layer=LayerNorm(6)", "s1c"),
    ("train_and_eval", "show=modes&shape=4,6&layer=BatchNorm1d(6)", "q16"),
    ("models", "model=resnet50", "s3i"),
    ("models", "model=convnext_t", "q3"),
    ("models", "model=llama3_8b", "q28"),
    ("models", "model=own&own=nn.GroupNorm(2,4) on 2,4,3,3", "q8"),
]


@pytest.mark.parametrize(("name", "query", "key"), ABOUT_LAYERS)
@whole
def test_the_question_is_about_the_layers_of_the_view(name, query, key):
    assert page_of(name, query).parts[-1].asked.key == key


@whole
def test_every_question_of_a_page_can_be_asked():
    assert {key for page in PAGES.values() for key in page.answers} <= QUESTIONS.keys()


def test_the_answer_is_that_of_the_question_and_leads_to_its_figure():
    asked = page_of("explore", "shape=2,3,4,4&layer=LayerNorm([3,4,4])").parts[-1].asked
    text, links = asked.answer
    assert (text.text, links.links[0].query) == (answer(QUESTIONS["s0"]), "q=s0")


def test_a_document_from_which_no_link_leads_to_the_questions_has_none():
    last = page_of("explore", "").parts[-1]
    assert 'class="nv-asked"' in last.html(Body(app=""))
    assert 'class="nv-asked"' in last.html(Body(pages={"/questions?of=explore": "index.html"}))
    assert last.html(Body()) == ""


def test_a_page_without_questions_asks_none():
    for name in ("start", "questions", "practice"):
        assert not any(isinstance(part, AskedQuestion) for part in page_of(name, "").parts)


def test_all_layers_asks_about_its_layer_and_leads_to_all_questions():
    last = page_of("all_layers", "layer=GroupNorm(2,4)").parts[-1]
    assert isinstance(last, AskedQuestion)
    assert (last.others[0].page, last.others[0].query) == ("questions", "")
    assert "GroupNorm" in last.title
