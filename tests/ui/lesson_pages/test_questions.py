"""Questions without a browser: the list, the search, and predicting before the answer is shown."""

from urllib.parse import parse_qsl

import pytest

from normviz.lessons.questions.question import answer, facts_of, prose
from normviz.lessons.questions.registry import QUESTIONS, by_topic, search
from tests.ui.driver import query, sentence_text, set_control, warning_texts
from tests.ui.lessons import CHOICE, NUMBER, note_texts
from tests.ui.pages import check_page, figures, open_page, texts


def titles(app):
    return [button.label for button in app.button if button.key and button.key.startswith("ask_")]


def wrong_guess(question):
    right = facts_of(question)["right"]
    options = prose(question.key).options
    return next(option for option in options if option != right) if options else f"{float(right) + 1:g}"


def test_all_questions_are_listed_under_their_topics():
    app = open_page("questions")
    check_page(app)
    assert sorted(titles(app)) == sorted(prose(key).title for key in QUESTIONS)
    assert [part.value for part in app.subheader] == [topic.title for topic in by_topic(list(QUESTIONS.values()))]


@pytest.mark.parametrize("words", ["gamma", "  GAMMA  eval ", "momentum"])
def test_the_search_lists_the_questions_with_all_its_words(words):
    app = set_control(open_page("questions"), "search", words)
    check_page(app)
    assert query(app) == {"search": words.strip()}
    assert sorted(titles(app)) == sorted(prose(one.key).title for one in search(words))
    assert 0 < len(titles(app)) < len(QUESTIONS)


def test_a_search_without_results_shows_a_message():
    app = open_page("questions", "search=zzzz")
    check_page(app)
    assert titles(app) == []
    assert len(note_texts(app)) == 1


def test_a_question_opens_from_the_list_and_closes_again():
    app = open_page("questions").button(key=f"ask_{CHOICE.key}").click().run()
    check_page(app)
    assert query(app) == {"q": CHOICE.key}
    assert sentence_text(app) == prose(CHOICE.key).title
    app = app.button[0].click().run()
    check_page(app)
    assert query(app) == {}
    assert len(titles(app)) == len(QUESTIONS)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=lambda question: question.key)
def test_a_question_asks_first_and_answers_after_a_prediction(question):
    before = open_page("questions", f"q={question.key}")
    assert not before.exception
    assert not before.warning
    assert figures(before) == []
    assert answer(question) not in texts(before)
    assert before.get("page_link") == []
    control = f"guess_{question.key}"
    for guess, verdict in (
        (str(facts_of(question)["right"]), "Your prediction is correct"),
        (
            wrong_guess(question),
            f"You predicted: {prose(question.key).options.get(wrong_guess(question), wrong_guess(question))}",
        ),
    ):
        app = set_control(before, control, guess)
        assert not app.exception, [error.message for error in app.exception]
        assert not app.warning
        assert query(app) == {"q": question.key, "guess": guess}
        assert f"**{verdict}" in texts(app)
        assert answer(question) in texts(app)
        (link,) = app.get("page_link")
        assert dict(parse_qsl(link.proto.query_string)) == dict(parse_qsl(question.query))
        figures(app)


@pytest.mark.parametrize("question", [CHOICE, NUMBER], ids=["choice", "number"])
def test_an_answered_question_has_its_own_address(question):
    check_page(set_control(open_page("questions", f"q={question.key}"), f"guess_{question.key}", wrong_guess(question)))


def test_a_link_opens_the_page_that_shows_the_answer():
    app = open_page("questions", f"q={CHOICE.key}&guess={facts_of(CHOICE)['right']}")
    (link,) = app.get("page_link")
    shown = open_page(CHOICE.page, dict(parse_qsl(link.proto.query_string)))
    assert not shown.exception
    assert not shown.warning
    assert figures(shown)[0]["panels"] == figures(app)[0]["panels"]


def test_the_figure_of_a_question_changes_nothing_on_the_server():
    app = open_page("questions", "q=s0&guess=one")
    (figure,) = figures(app)
    assert figure["alone"]
    assert not figure["editable"]


@pytest.mark.parametrize("typed", ["abc", "1/2", "4 8", "<b>", "--"])
def test_a_guess_that_is_not_a_number_gives_one_warning_and_no_answer(typed):
    app = set_control(open_page("questions", f"q={NUMBER.key}"), f"guess_{NUMBER.key}", typed)
    assert not app.exception
    (warning,) = warning_texts(app)
    assert warning == f"{typed!r} is not a number; write one, such as 48."
    assert answer(NUMBER) not in texts(app)
    assert figures(app) == []
    app = set_control(app, f"guess_{NUMBER.key}", f" {facts_of(NUMBER)['right']} ")
    check_page(app)
    assert "Your prediction is correct" in texts(app)
