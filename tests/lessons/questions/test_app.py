"""Questions without a browser: the list, the search, and a question with its prediction."""

import pytest

from normviz.lessons.pages import PAGES, page_view, view_of_link
from normviz.lessons.questions.page import CORE, QUESTIONS, READING_ORDER, by_topic
from normviz.lessons.questions.question import facts_of, prose
from normviz.parts.html import Body
from tests.lessons.questions.searching import search
from tests.support.driver import query
from tests.support.lessons import CHOICE, NUMBER
from tests.support.pages import check_no_errors, check_page, follow, open_page
from tests.support.shown import elements, figures, markdown, page_data, page_html, problems, text


def links(app):
    """The links of the list that are shown, without those to tours."""
    shown = [item for listed in elements(app, "nv-links-list") for item in listed if "hidden" not in item.attrib]
    return [link for item in shown for link in item.iter("a") if link.attrib["data-page"] == "questions"]


def titles(app):
    return [markdown(link) for link in links(app)]


def headings(app):
    return [markdown(heading) for heading in elements(app, "h2")]


def single_link(app, kind):
    """The link of a paragraph: "nv-back" leads to the list, "nv-next" to the figure's page and to the next question."""
    return [link for paragraph in elements(app, kind) for link in paragraph.iter("a")]


def test_the_list_begins_with_the_core_path_and_has_all_questions_in_closed_topics():
    app = open_page("questions")
    check_page(app)
    path, best = elements(app, "nv-links-path")
    assert len(best) == 0  # nothing is searched for
    assert [item.attrib["data-question"] for item in path] == list(CORE)
    assert sorted(titles(app)) == sorted(prose(key).title for key in QUESTIONS)
    topics = elements(app, "nv-topic")
    named = [markdown(heading) for topic in topics for heading in topic.iter("h3")]
    assert named == [topic.title for topic in by_topic(list(QUESTIONS.values()))]
    assert not any("open" in topic.attrib for topic in topics)
    assert headings(app)[:3] == ["The core path", "Best matches", "All questions by topic"]  # the second is hidden
    assert all("hidden" in section.attrib for section in elements(app, "nv-best"))


@pytest.mark.parametrize("words", ["gamma", "  GAMMA  eval ", "momentum"])
def test_the_search_of_the_address_lists_the_questions_with_all_its_words(words):
    app = open_page("questions", {"search": words})
    check_page(app)
    assert page_data(app)["search"] == words
    assert sorted(titles(app)) == sorted(prose(one.key).title for one in search(words))
    assert 0 < len(titles(app)) < len(QUESTIONS)
    (nothing,) = elements(app, "nv-none")
    assert "hidden" in nothing.attrib
    assert "hidden" in elements(app, "nv-path")[0].attrib
    assert {("open" in topic.attrib, "hidden" in topic.attrib) for topic in elements(app, "nv-topic")} == {
        (True, False),
        (False, True),
    }


def test_a_search_without_results_shows_a_message_and_all_questions():
    app = open_page("questions", "search=zzzz")
    check_page(app)
    assert sorted(titles(app)) == sorted(prose(key).title for key in QUESTIONS)
    assert not any("hidden" in topic.attrib or "open" in topic.attrib for topic in elements(app, "nv-topic"))
    (nothing,) = elements(app, "nv-none")
    assert "hidden" not in nothing.attrib


def test_a_search_finds_words_typed_with_or_without_accents():
    plain, accented = (
        titles(open_page("questions", f"search={words}&lang=pt")) for words in ("variancia", "variância")
    )
    assert plain == accented != []


def test_the_field_of_the_search_can_be_hidden():
    app = open_page("questions", "hide=search&search=gamma")
    check_page(app)
    assert not elements(app, "nv-search")
    assert len(titles(app)) == len(search("gamma"))


def test_a_question_opens_from_the_list_and_closes_again():
    app = open_page("questions")
    (link,) = [link for link in links(app) if markdown(link) == prose(CHOICE.key).title]
    app = follow(app, link)
    check_page(app)
    assert query(app) == {"q": CHOICE.key}
    assert headings(app) == [prose(CHOICE.key).title]
    app = follow(app, single_link(app, "nv-back")[0])
    check_page(app)
    assert query(app) == {}
    assert len(titles(app)) == len(QUESTIONS)


def next_question(app):
    """The last link of a question; after it, the page has its lesson plan."""
    *_others, link, plan = single_link(app, "nv-next")
    assert plan.get("data-page") == "teach"
    return link


def test_the_last_link_of_a_question_opens_the_next_one():
    rest = READING_ORDER[len(CORE) :]
    for key, following in ((CORE[0], CORE[1]), (rest[0], rest[1]), (rest[-1], None)):
        app = open_page("questions", f"q={key}")
        assert query(follow(app, next_question(app))) == ({"q": following} if following else {})


def test_the_last_question_of_the_core_path_leads_to_practice():
    link = next_question(open_page("questions", f"q={CORE[-1]}"))
    assert link.get("data-page") == "practice"


def test_a_question_of_the_core_path_says_its_place():
    place = f"Core path, question 3 of {len(CORE)}"
    assert place in [text(small) for small in elements(open_page("questions", f"q={CORE[2]}"), "nv-small")]
    assert "Core path" not in page_html(open_page("questions", f"q={READING_ORDER[-1]}"))


@pytest.mark.parametrize("question", [CHOICE, NUMBER], ids=["choice", "number"])
def test_the_app_shows_the_page_of_the_question(question):
    app = open_page("questions", f"q={question.key}")
    check_no_errors(app)
    (closed,) = elements(app, "nv-answer")
    assert "open" not in closed.attrib
    body = Body(app="")
    assert page_html(app) == "\n".join(html for _, html in body.keyed(of_address(question).parts))
    assert len(figures(app)) == len(body.figures) > 0
    assert page_data(app)["guess"] == ""


def of_address(question):
    return page_view(PAGES["questions"], view_of_link(PAGES["questions"], f"q={question.key}"))


@pytest.mark.parametrize("question", [CHOICE, NUMBER], ids=["choice", "number"])
def test_the_guess_of_the_address_reaches_the_browser(question):
    guess = str(facts_of(question)["right"])
    app = open_page("questions", {"q": question.key, "guess": guess})
    check_page(app)
    assert page_data(app)["guess"] == guess


def test_other_pages_have_no_guess():
    assert "guess" not in page_data(open_page("explore"))


def test_a_link_opens_the_page_that_shows_the_answer():
    app = open_page("questions", f"q={CHOICE.key}")
    drawn = figures(app)[0]["panels"]
    shown = follow(app, single_link(app, "nv-next")[0])
    assert not shown.exception
    assert not problems(shown)
    assert view_of_link(CHOICE.page, query(shown)).problem is None
    assert figures(shown)[0]["panels"] == drawn


def test_links_of_a_question_stay_in_the_tab_and_do_not_claim_to_leave_it():
    for link in elements(open_page("questions", f"q={CHOICE.key}"), "nv-go"):
        assert "target" not in link.attrib
        assert "\u2197" not in markdown(link)


def test_the_figure_of_a_question_changes_nothing_on_the_server():
    app = open_page("questions", "q=s0&guess=one")
    (figure,) = figures(app)
    assert figure["alone"]
    assert not figure["editable"]
    assert figure["moments"] is None  # no room for the distribution


@pytest.mark.parametrize("typed", ["abc", "1/2", "4 8", "<b>", "--"])
def test_a_guess_that_is_not_a_number_gives_one_message_and_no_answer(typed):
    app = open_page("questions", {"q": NUMBER.key, "guess": typed})
    assert not app.exception
    assert problems(app) == [f"{typed!r} is not a number; write one, such as 48."]
    assert page_data(app)["guess"] == ""
    (closed,) = elements(app, "nv-answer")
    assert "open" not in closed.attrib
    assert text(elements(app, "nv-verdict")[0]) == ""


def test_an_unknown_page_gives_a_message_and_all_questions():
    app = open_page("questions", "of=nowhere")
    assert "of='nowhere' is unknown; choose" in problems(app)[0]
    assert elements(app, "nv-path")
