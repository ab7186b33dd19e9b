"""Exercises as the questions of a quiz: a number, or one of several options. What is marked on a figure becomes a choice."""

from dataclasses import dataclass

from normviz.lessons.practice.confusions import feedback
from normviz.lessons.practice.exercise import TOLERANCE, Exercise
from normviz.lessons.practice.picture import spoken, svg
from normviz.lessons.practice.settings import MARK, NUMBER
from normviz.texts.messages import _


@dataclass(frozen=True)
class Option:
    """An option of a choice, and the feedback for it."""

    text: str
    feedback: str
    right: bool


@dataclass(frozen=True)
class Item:
    """One question of a quiz.

    picture            SVG of x; of a large x, each axis without its middle
    solution           SVG with the answer marked; "" if the answer is not a set
    spoken             what the picture shows, as text
    options            of a choice; empty if the answer is a number
    number, tolerance  the answer, if it is a number
    mistakes           wrong numbers, with their feedback
    link               the address of the view that settles it; "" if there is no app
    """

    id: str
    prompt: str
    picture: str
    solution: str
    spoken: str
    options: tuple[Option, ...]
    number: float
    tolerance: float
    mistakes: tuple[tuple[float, str], ...]
    explanation: str
    link: str

    @property
    def answer(self) -> str:
        """The right answer as text."""
        return next((option.text for option in self.options if option.right), f"{self.number:g}")


def item(exercise: Exercise, app: str = "") -> Item:
    """The exercise as a question; ``app`` is the address of the app that its link opens."""
    is_number = exercise.about.form == NUMBER
    options = [
        Option(exercise.text_of(value), feedback(confusion, exercise.case) if confusion else _("Right."), not confusion)
        for confusion, value in exercise.choices
    ]
    mistakes = [
        (float(value), feedback(key, exercise.case))
        for key, value in exercise.wrong
        if not isinstance(value, str | tuple)
    ]
    assert not is_number or not isinstance(exercise.answer, str | tuple)
    return Item(
        exercise.id,
        exercise.prompt_of_choice,
        svg(exercise),
        svg(exercise, answered=True) if exercise.about.form == MARK else "",
        spoken(exercise),
        () if is_number else tuple(options),
        float(exercise.answer) if is_number else 0.0,  # type: ignore[arg-type]
        TOLERANCE if exercise.values else 0.0,
        tuple(mistakes) if is_number else (),
        exercise.explanation,
        f"{app.rstrip('/')}{exercise.link}" if app else "",
    )
