"""What a search for words must find, as a test expects it."""

from normviz.lessons.questions.page import QUESTIONS
from normviz.lessons.questions.question import Question, search_text
from normviz.texts.messages import without_accents


def matches(question: Question, words: str) -> bool:
    """Whether the question, its options or its answer contain all words of a search."""
    text = search_text(question)
    return all(word in text for word in without_accents(words.lower()).split())


def search(words: str) -> list[Question]:
    """The questions that contain all words of the search; all questions if the search is empty."""
    return [question for question in QUESTIONS.values() if matches(question, words)]
