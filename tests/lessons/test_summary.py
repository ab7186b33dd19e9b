"""The few words that stand in place of the controls on a narrow screen."""

import pytest

from normviz.lessons.pages import PAGES
from tests.support.needs import needs_half

SUMMARIES = [
    ("explore", "", "LayerNorm([4, 3, 5]) on (2, 4, 3, 5)"),
    ("step_by_step", "shape=2,6&layer=BatchNorm1d(6)", "BatchNorm1d(6) on (2, 6)"),
    ("compare", "shape=3,4&layers=BatchNorm1d(4);LayerNorm(4)", "2 layers on (3, 4)"),
    ("train_and_eval", "show=modes&layer=BatchNorm2d(3)", "BatchNorm2d(3) on (2, 3, 4, 5)"),
    ("numerics", "", "float32 \u00b7 distance from zero: 10\u2076"),
    pytest.param("numerics", "show=eps&dtype=float16", "float16 \u00b7 spread: 10\u207b\u2074", marks=needs_half),
    ("teach", "count=7&level=2", "Exercises: 7 \u00b7 2: sequences and images"),
    ("questions", "", ""),
]


@pytest.mark.parametrize(("page", "query", "words"), SUMMARIES)
def test_the_summary_names_the_layer_and_the_tensor_or_what_else_the_reader_chooses(page, query, words):
    assert PAGES[page].summary(PAGES[page].view(query)) == words
