"""Every statement of an answer that is true or false, checked with torch; its numbers are in test_facts_by_hand."""

from __future__ import annotations

import pytest

from normviz.lessons.questions.page import QUESTIONS
from tests.lessons.questions.statements import (
    bugs,
    code,
    dependence,
    frameworks,
    numbers,
    parameters,
    running_statistics,
    shapes,
    small_batches,
    statistics,
    train_and_eval,
)

BY_TOPIC = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        statistics,
        parameters,
        dependence,
        shapes,
        train_and_eval,
        running_statistics,
        small_batches,
        numbers,
        code,
        frameworks,
        bugs,
    )
}


@pytest.mark.rule(
    "What an answer states is checked with torch: a function named by the key of the question, in tests/lessons/questions/statements/TOPIC.py, returns each statement with its truth"
)
@pytest.mark.parametrize("key", QUESTIONS)
def test_what_the_answer_states_is_true(key):
    statements = getattr(BY_TOPIC[QUESTIONS[key].topic.key], key)()
    assert statements
    assert [statement for statement, is_true in statements.items() if not is_true] == []
