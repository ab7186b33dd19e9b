"""The few words that stand in place of the controls on a narrow screen."""

import pytest

from normviz.lessons.pages import PAGES

SUMMARIES = [
    ("explore", "", "LayerNorm([4, 3, 5]) on (2, 4, 3, 5)"),
    ("step_by_step", "shape=2,6&layer=BatchNorm1d(6)", "BatchNorm1d(6) on (2, 6)"),
    ("compare", "shape=3,4&layers=BatchNorm1d(4);LayerNorm(4)", "2 layers on (3, 4)"),
    ("train_and_eval", "show=modes&layer=BatchNorm2d(3)", "BatchNorm2d(3) on (2, 3, 4, 5)"),
    ("numerics", "show=eps", ""),
    ("questions", "", ""),
]


@pytest.mark.parametrize(("page", "query", "words"), SUMMARIES)
def test_the_summary_names_the_layer_and_the_tensor_if_the_reader_chooses_them(page, query, words):
    assert PAGES[page].summary(PAGES[page].view(query)) == words
