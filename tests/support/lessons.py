"""The lesson pages, and the parts that tests read from them."""

from normviz.lessons.questions.page import QUESTIONS
from normviz.lessons.questions.question import prose
from tests.support.shown import elements, figures

LESSONS = ("compare", "step_by_step", "train_and_eval", "gradients", "questions")


def compared_layers(app):
    """The layers that Compare's figure shows."""
    return [layer["name"] for layer in figures(app)[0]["layers"]]


def asked_questions(app):
    """The keys of the questions with which the page ends."""
    return [
        box.attrib["data-question"]
        for section in elements(app, "nv-asked")
        for box in section.iter("div")
        if "data-question" in box.attrib
    ]


CHOICE = next(question for question in QUESTIONS.values() if prose(question.key).options)
NUMBER = next(question for question in QUESTIONS.values() if not prose(question.key).options)
