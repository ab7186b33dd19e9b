"""The questions of the four documents that started this: a forum thread, a course question, an annotated layer, an article."""

from __future__ import annotations

from normviz.lessons.questions.bank import (
    seed_0,
    seed_1,
    seed_2,
    seed_2_code,
    seed_2_limits,
    seed_3,
    seed_3_habits,
    seed_3_running,
)
from normviz.lessons.questions.question import Question

PARTS = (seed_0, seed_1, seed_2, seed_2_limits, seed_2_code, seed_3, seed_3_habits, seed_3_running)
QUESTIONS: tuple[Question, ...] = tuple(
    sorted((question for part in PARTS for question in part.QUESTIONS), key=lambda question: question.key)
)
