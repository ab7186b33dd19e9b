"""The page of questions as parts: the list, and one question with its answer and the figure that shows it."""

from __future__ import annotations

from collections.abc import Iterator

from normviz.layers.messages import _
from normviz.lessons.pages import PAGES
from normviz.lessons.parts.part import Caption, Heading, Part, Text
from normviz.lessons.parts.prediction import Prediction
from normviz.lessons.questions.question import Question, answer, facts_of, prose
from normviz.lessons.questions.registry import QUESTIONS, by_topic


def question_parts(question: Question) -> Iterator[Part]:
    """The question, and a prediction whose answer has the figure that shows it."""
    text = prose(question.key)
    yield Heading(text.title)
    yield Text(f"> {text.claim}")
    figure = PAGES[question.page].answer_parts(question.query)
    yield prediction(question, (Text(answer(question)), *figure, Caption(sources(question))))


def prediction(question: Question, answer: tuple[Part, ...] = ()) -> Prediction:
    """What to predict, and the parts of the answer that it opens."""
    text = prose(question.key)
    return Prediction(text.predict, text.options, facts_of(question)["right"], answer)


def sources(question: Question) -> str:
    """The sources of the question, with links."""
    return _("Sources: {sources}", sources="; ".join(source.markdown for source in question.sources))


def questions_parts() -> Iterator[Part]:
    """The list of all questions, topic by topic."""
    for topic, questions in by_topic(list(QUESTIONS.values())).items():
        yield Heading(topic.title)
        yield Text("\n".join(f"- {prose(question.key).title}" for question in questions))
