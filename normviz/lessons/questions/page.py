"""Questions: what people really ask, what is often said, and the answer with the view that settles it."""

from __future__ import annotations

from collections.abc import Iterator

from normviz.lessons.pages import PAGES
from normviz.lessons.parts.part import Caption, Details, Heading, Part, Text
from normviz.lessons.questions.question import Question, answer, prose
from normviz.lessons.questions.registry import QUESTIONS

EXPECT = "What do you expect? Then open the answer."
PREDICTED = "As you predicted."
UNPREDICTED = ("You expected: {}.", "It is not so.")
UNREAD = "{} is no number; write one, such as 48."


def question_parts(asked: Question) -> Iterator[Part]:
    """The question, what to predict, and - when asked for - the answer and its figure."""
    words = prose(asked.key)
    yield Heading(words.title)
    yield Text(f"> {words.claim}")
    yield Text(words.predict)
    if words.options:
        yield Text("\n".join(f"- {option}" for option in words.options.values()))
    yield Details(EXPECT, (Text(answer(asked)), *PAGES[asked.page].figure(asked.query), Caption(sources(asked))))


def sources(asked: Question) -> str:
    """Where it was asked."""
    names = [f"[{source.name}]({source.address})" if source.address else source.name for source in asked.asked]
    return f"Asked in: {'; '.join(names)}"


def questions_parts() -> Iterator[Part]:
    """All questions under their topics."""
    topics = dict.fromkeys(one.topic for one in QUESTIONS.values())
    for topic in topics:
        yield Heading(topic)
        yield Text("\n".join(f"- {prose(key).title}" for key, one in QUESTIONS.items() if one.topic == topic))
