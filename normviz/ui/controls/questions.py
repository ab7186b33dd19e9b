"""The page of questions: the list with its search, and one question with a prediction before its answer and figure."""

from __future__ import annotations

import streamlit as st

from normviz.layers.errors import NormvizError
from normviz.layers.layer import Layer
from normviz.layers.messages import _
from normviz.lessons.pages import PAGES
from normviz.lessons.questions.page import prediction, sources
from normviz.lessons.questions.question import Prose, Question, answer, prose
from normviz.lessons.questions.registry import QUESTIONS, by_topic, find_question, questions_of_page, search
from normviz.scene.scene import PATTERN_FAMILY
from normviz.scene.settings.page_settings import LONGEST_GUESS, LONGEST_SEARCH, SEARCH
from normviz.scene.view import View
from normviz.ui.paths import PAGE_SCRIPTS
from normviz.ui.render import show
from normviz.ui.state import change_settings, is_visible, sync_widget, widget_value
from normviz.ui.text import show_problem

MOST_LINKS = 4


def show_list(view: View) -> None:
    """All questions, or those that the search finds."""
    if is_visible("search"):
        _search_field(view.settings["search"])
    found = search(view.settings["search"])
    if not found:
        st.info(_("No question contains these words. Try fewer, such as gamma or eval."))
    for topic, questions in by_topic(found).items():
        st.subheader(topic.title, anchor=False)
        half = -(-len(questions) // 2)
        for column, part in zip(st.columns(2), (questions[:half], questions[half:]), strict=True):
            with column.container(gap=None):
                for question in part:
                    _open_button(prose(question.key).title, question)


def _search_field(words: str) -> None:
    st.text_input(
        SEARCH.input_label,
        words,
        key=sync_widget("search", words),
        placeholder=_("gamma, momentum, batch of one, …"),
        max_chars=LONGEST_SEARCH,
        width=420,
        on_change=lambda: change_settings(search=widget_value("search").strip()),
    )


def _open_button(label: str, question: Question, icon: str | None = None) -> None:
    key = question.key
    st.button(label, key=f"ask_{key}", icon=icon, type="tertiary", on_click=_open, args=(key,), wrap=True)


def _open(key: str) -> None:
    change_settings(q=key, guess="")


def show_question(view: View) -> None:
    """The question of the link."""
    try:
        question = find_question(view.settings["q"])
    except NormvizError as error:
        show_problem(None if view.problem else str(error))
        show_list(view)
        return
    guess = view.settings["guess"]
    guess_problem = _guess_problem(question, guess)
    answered = bool(guess) and not guess_problem
    if is_visible("questions"):
        st.button(_("All questions"), icon=":material/arrow_back:", type="tertiary", on_click=_open, args=("",))
    left, right = st.columns([2, 3], gap="large")
    with left:
        _ask(question, guess)
        if guess_problem and not view.problem:
            show_problem(guess_problem)
        if answered:
            _answer(question, guess)
            if is_visible("questions"):
                _next(question)
    with right:
        if answered:
            show(PAGES[question.page].answer_parts(question.query), live=False)
        else:
            with st.container(key="awaited"):
                st.caption(_("The figure comes with the answer. What do you expect?"))


def _guess_problem(question: Question, guess: str) -> str | None:
    """The error message of a guess that is neither an option nor a number."""
    try:
        if guess:
            prediction(question).is_right(guess)
    except NormvizError as error:
        return str(error)
    return None


def _ask(question: Question, guess: str) -> None:
    prompt = prose(question.key)
    st.subheader(prompt.title, anchor=False)
    st.markdown(f"> {prompt.claim}")
    if is_visible("guess"):
        _predict(question, prompt, guess)


def _predict(question: Question, prompt: Prose, guess: str) -> None:
    key = f"guess_{question.key}"
    if prompt.options:
        options = list(prompt.options)
        st.radio(
            prompt.predict,
            options,
            options.index(guess) if guess in options else None,
            format_func=lambda option: prompt.options[option],
            key=sync_widget(key, guess if guess in options else None),
            on_change=lambda: change_settings(guess=widget_value(key) or ""),
        )
        return
    st.text_input(
        prompt.predict,
        guess,
        key=sync_widget(key, guess),
        max_chars=LONGEST_GUESS,
        placeholder=_("a number"),
        on_change=lambda: change_settings(guess=widget_value(key).strip()),
    )


def _answer(question: Question, guess: str) -> None:
    st.markdown(f"{prediction(question).verdict(guess)} {answer(question)}")
    st.page_link(
        PAGE_SCRIPTS / f"{question.page}.py",
        label=_("Open in {page}", page=PAGES[question.page].title),
        icon=":material/open_in_new:",
        query_params=_query_pairs(question.query),
    )
    st.caption(sources(question))


def _next(question: Question) -> None:
    """A button that opens the next question of the list."""
    questions = list(QUESTIONS.values())
    following = questions[(questions.index(question) + 1) % len(questions)]
    _open_button(_("Next: {title}", title=prose(following.key).title), following, ":material/arrow_forward:")


def _query_pairs(query: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in query.split("&")) if query else {}


def now_you_can_answer(page: str, view: View) -> None:
    """Links to questions that the page answers; questions about the current view come first."""
    family = view.scene.layer.kind.family if isinstance(view.scene.layer, Layer) else PATTERN_FAMILY
    topic = f"show={view.settings['show']}" if "show" in view.settings else family

    def distance(question: Question) -> tuple[bool, bool]:
        return topic not in question.query, family not in question.query

    questions = sorted(questions_of_page(page), key=distance)[:MOST_LINKS]
    if not questions or not is_visible("questions"):
        return
    st.caption(_("You should now be able to answer:"))
    with st.container(key="answers", gap="xsmall"):
        for question in questions:
            st.page_link(
                PAGE_SCRIPTS / "questions.py",
                label=prose(question.key).title,
                icon=":material/help:",
                query_params={"q": question.key},
            )
