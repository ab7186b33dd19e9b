"""The page of questions: the list with its search, and one question - predict first, then the answer and its figure."""

from __future__ import annotations

from itertools import groupby

import streamlit as st

from normviz.layers.errors import NormvizError
from normviz.layers.layer import Layer
from normviz.lessons.pages import PAGES
from normviz.lessons.questions.page import prediction
from normviz.lessons.questions.question import Prose, Question, answer, prose
from normviz.lessons.questions.registry import found, of_page, question
from normviz.scene.settings import text
from normviz.scene.view import View
from normviz.ui.paths import PAGE_SCRIPTS
from normviz.ui.render import show
from normviz.ui.state import change_settings, controlled, shown, value_of
from normviz.ui.text import problem

FIELDS = (text("q", 20), text("guess", 40), text("search", 80))
MOST_LINKS = 4


def listing(view: View) -> None:
    """All questions, or those that the search finds."""
    if shown("search"):
        _search(view.settings["search"])
    hits = found(view.settings["search"])
    if not hits:
        st.info("No question has these words. Try fewer, such as gamma or eval.")
    for topic, group in groupby(in_order(hits), key=lambda hit: hit.topic):
        _topic(topic, list(group))


def _search(words: str) -> None:
    st.text_input(
        "Search",
        words,
        key=controlled("search", words),
        placeholder="gamma, momentum, batch of one, …",
        max_chars=80,
        width=420,
        on_change=lambda: change_settings(search=value_of("search").strip()),
    )


def _topic(topic: str, questions: list[Question]) -> None:
    """One heading and its questions, in two columns."""
    st.subheader(topic, anchor=False)
    half = -(-len(questions) // 2)
    for column, part in zip(st.columns(2), (questions[:half], questions[half:]), strict=True):
        with column.container(gap=None):
            for one_question in part:
                key = one_question.key
                st.button(prose(key).title, key=f"ask_{key}", type="tertiary", on_click=_ask, args=(key,), wrap=True)


def in_order(hits: list[Question]) -> list[Question]:
    """The questions topic by topic, as they are listed."""
    topics = list(dict.fromkeys(hit.topic for hit in hits))
    return sorted(hits, key=lambda hit: topics.index(hit.topic))


def _ask(key: str) -> None:
    change_settings(q=key, guess="")


def one(view: View) -> None:
    """One question."""
    try:
        asked = question(view.settings["q"])
    except NormvizError as error:
        problem(None if view.problem else str(error))
        listing(view)
        return
    words, guess = prose(asked.key), view.settings["guess"]
    unread = _unread(asked, guess)
    answered = bool(guess) and not unread
    if shown("questions"):
        st.button("All questions", icon=":material/arrow_back:", type="tertiary", on_click=_ask, args=("",))
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.subheader(words.title, anchor=False)
        st.markdown(f"> {words.claim}")
        if shown("guess"):
            _predict(asked, words, guess)
        if unread and not view.problem:
            problem(unread)
        if answered:
            _answer(asked, guess)
            if shown("questions"):
                _next(asked)
    with right:
        if answered:
            show(PAGES[asked.page].answer_parts(asked.query), live=False)
        else:
            with st.container(key="awaited"):
                st.caption("The figure comes with the answer. What do you expect?")


def _unread(asked: Question, guess: str) -> str | None:
    """Why the guess cannot be read, if it cannot."""
    try:
        if guess:
            prediction(asked).is_right(guess)
    except NormvizError as error:
        return str(error)
    return None


def _predict(asked: Question, words: Prose, guess: str) -> None:
    key = f"guess_{asked.key}"
    if words.options:
        options = list(words.options)
        st.radio(
            words.predict,
            options,
            options.index(guess) if guess in options else None,
            format_func=lambda option: words.options[option],
            key=controlled(key, guess if guess in options else None),
            on_change=lambda: change_settings(guess=value_of(key) or ""),
        )
        return
    st.text_input(
        words.predict,
        guess,
        key=controlled(key, guess),
        max_chars=40,
        placeholder="a number",
        on_change=lambda: change_settings(guess=value_of(key).strip()),
    )


def _answer(asked: Question, guess: str) -> None:
    st.markdown(f"{prediction(asked).verdict(guess)} {answer(asked)}")
    st.page_link(
        PAGE_SCRIPTS / f"{asked.page}.py",
        label=f"Open in {PAGES[asked.page].title}",
        icon=":material/open_in_new:",
        query_params=_pairs(asked.query),
    )
    names = [f"[{source.name}]({source.address})" if source.address else source.name for source in asked.asked]
    st.caption(f"Asked in: {'; '.join(names)}")


def _next(asked: Question) -> None:
    """The question that stands after this one in the list."""
    rest = in_order(found(""))
    after = rest[(rest.index(asked) + 1) % len(rest)].key
    st.button(
        f"Next: {prose(after).title}",
        icon=":material/arrow_forward:",
        key=f"ask_{after}",
        type="tertiary",
        on_click=_ask,
        args=(after,),
        wrap=True,
    )


def _pairs(query: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in query.split("&")) if query else {}


def now_you_can_answer(page: str, view: View) -> None:
    """Two lines at a page's end: the questions that it settles, those about what shows first."""
    family = view.scene.layer.kind.family if isinstance(view.scene.layer, Layer) else "Norm"
    shows = f"show={view.settings['show']}" if "show" in view.settings else family

    def far(one_question: Question) -> tuple[bool, bool]:
        return shows not in one_question.query, family not in one_question.query

    settled = sorted(of_page(page), key=far)[:MOST_LINKS]
    if not settled or not shown("questions"):
        return
    st.caption("You should now be able to answer:")
    with st.container(key="answers", gap="xsmall"):
        for one_question in settled:
            st.page_link(
                PAGE_SCRIPTS / "questions.py",
                label=prose(one_question.key).title,
                icon=":material/help:",
                query_params={"q": one_question.key},
            )
