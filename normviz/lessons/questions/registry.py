"""All questions, in the order in which they are listed."""

from __future__ import annotations

from importlib import import_module

from normviz.layers.errors import NormvizError, echo
from normviz.lessons.questions.question import Question, matches

GROUPS = (
    "seed_questions",
    "statistics_questions",
    "layer_questions",
    "shape_questions",
    "running_questions",
    "device_questions",
    "number_questions",
    "framework_questions",
)


def _all() -> dict[str, Question]:
    found = [
        question for group in GROUPS for question in import_module(f"normviz.lessons.questions.bank.{group}").QUESTIONS
    ]
    assert len({question.key for question in found}) == len(found)
    return {question.key: question for question in found}


QUESTIONS: dict[str, Question] = _all()


def question(key: str) -> Question:
    """The question of that key. Raises NormvizError for another."""
    if key not in QUESTIONS:
        raise NormvizError(f"q={echo(key)} is no question; leave q out to see them all.")
    return QUESTIONS[key]


def found(search: str) -> list[Question]:
    """The questions in which all words of the search stand; all of them for an empty search."""
    return [one for one in QUESTIONS.values() if matches(one, search)]


def of_page(page: str) -> list[Question]:
    """The questions that a page's figures settle."""
    return [one for one in QUESTIONS.values() if one.page == page]
