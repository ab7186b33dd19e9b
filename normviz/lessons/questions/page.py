"""Questions: what people really ask, what is often said, and the answer with the view that settles it."""

from __future__ import annotations

from collections.abc import Iterator

from normviz.lessons.pages import PAGES
from normviz.lessons.parts.part import Caption, Heading, Part, Text
from normviz.lessons.parts.prediction import Prediction
from normviz.lessons.questions.question import Question, answer, computed, prose
from normviz.lessons.questions.registry import QUESTIONS


def question_parts(asked: Question) -> Iterator[Part]:
    """The question, and a prediction whose answer has the figure that shows it."""
    words = prose(asked.key)
    yield Heading(words.title)
    yield Text(f"> {words.claim}")
    yield prediction(
        asked, (Text(answer(asked)), *PAGES[asked.page].answer_parts(asked.query), Caption(sources(asked)))
    )


def prediction(asked: Question, answer: tuple[Part, ...] = ()) -> Prediction:
    words = prose(asked.key)
    return Prediction(words.predict, words.options, computed(asked)["right"], answer)


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
