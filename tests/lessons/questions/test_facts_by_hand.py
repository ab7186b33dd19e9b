"""The facts of the questions from the four documents, derived a second time: counts by hand, the rest with torch alone."""

from __future__ import annotations

from math import sqrt

import pytest
import torch
from torch import nn

from normviz.lessons.questions.page import QUESTIONS
from tests.lessons.questions.by_hand import BY_HAND
from tests.lessons.questions.derived import DERIVED
from tests.lessons.questions.statements.measure import facts
from tests.lessons.questions.test_documents import SETTLED, WITHOUT_STATEMENT

# Rounding errors: at most this much.
ROUNDING = {
    "s1g": {"gap": 1e-13},
    "q27": {"sync": 1e-13},
    "s2r": {"gap": 1e-6},
    "s3": {"twin": 1e-12},
    "s3c": {"gap": 1e-5},
    "s3d": {"three": 1e-5},
    "s3e": {"equal": 1e-12},
    "s3l": {"single": 1e-5, "double": 1e-14},
}

# Random samples: within a sixth of the expected value.
DRAWN = {
    "s2b": {"first_error": 2 / sqrt(32), "last_error": 2 / sqrt(2)},
    "s2c": {"small_spread": 2 / sqrt(4), "large_spread": 2 / sqrt(64), "measured": 4},
}


KEYS = [key for key in QUESTIONS if key in SETTLED | WITHOUT_STATEMENT]


@pytest.mark.parametrize("key", KEYS)
@torch.no_grad()
def test_every_fact_is_derived_a_second_time(key):
    derived, found = DERIVED[key]() if key in DERIVED else {}, facts(key)
    by_hand, rounding, drawn = (table.get(key, {}) for table in (BY_HAND, ROUNDING, DRAWN))
    assert sorted([*by_hand, *rounding, *drawn, *derived]) == sorted(found)
    assert [name for name, value in by_hand.items() if not equal(found[name], value)] == []
    assert {name: found[name] for name in derived} == pytest.approx(derived, rel=1e-3)
    assert all(0 <= found[name] <= most for name, most in rounding.items())
    assert {name: found[name] for name in drawn} == pytest.approx(drawn, rel=1 / 6)


def equal(one: object, other: object) -> bool:
    """Equal values of one type; NaN equals NaN, and floats may differ in their last digits."""
    if isinstance(one, float):
        return one == pytest.approx(other, rel=1e-12, abs=0, nan_ok=True)
    return one == other and isinstance(one, type(other))


def test_a_convolution_makes_the_channels_of_question_s3b():
    y = nn.Conv2d(3, 8, 3)(torch.zeros(2, 3, 6, 6))
    assert y.shape == (2, 8, 4, 4)
    assert nn.BatchNorm2d(8)(y).shape == y.shape
