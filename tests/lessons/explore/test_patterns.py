"""Patterns that a reader types on the Explore page."""

import pytest

from normviz import explain
from tests.support.driver import check, open_explore, query, sentence_text, set_control, shown_counts
from tests.support.opened import in_the_app_too
from tests.support.pages import open_page
from tests.support.shown import problems


def test_a_custom_pattern_can_be_typed():
    app = set_control(open_explore("shape=2,3,4,4"), "layer", "Norm")
    check(app)
    assert sentence_text(app).startswith("`Norm('n c h w -> n', 'c h w')` on (2, 3, 4, 4): ")
    app = set_control(app, "own_stats", "n c h w -> n h w")
    check(app)
    app = set_control(app, "own_params", "c")
    check(app)
    counts = explain("Norm('n c h w -> n h w', 'c')", (2, 3, 4, 4)).counts
    assert shown_counts(app)[:4] == [counts.statistics, counts.statistics, counts.elements_per_statistic, 3]
    app = set_control(app, "own_params", "none")
    check(app)
    assert sentence_text(app).endswith("no gamma and no beta.")
    app = set_control(app, "own_params", "")
    check(app)
    assert "one of each for all 96 elements" in sentence_text(app)


BAD_PATTERNS = [
    ("own_stats", "n c h w", "is not a pattern"),
    ("own_stats", "n c h w -> x", "names 'x', which is not an axis of x"),
    ("own_stats", "n c -> n", "has rank 2 and x has rank 4"),
    ("own_stats", "n (g k) h w -> n g", "the sizes of g and k in (g k) are unknown"),
    ("own_stats", "", "is not a pattern"),
    ("own_params", "x", "names 'x', which is not an axis of x"),
    ("own_params", "c c", "names 'c' twice"),
    ("own_params", "<script>", "is not an axis name"),
]


@pytest.mark.parametrize(("opens", "key", "text", "words"), in_the_app_too(BAD_PATTERNS, 0, open_page))
def test_an_invalid_pattern_stays_with_one_warning_and_changes_nothing_else(opens, key, text, words):
    app = opens("explore", "layer=Norm('n c h w -> n','c')")
    before = sentence_text(app)
    app = set_control(app, key, text)
    assert not app.exception
    (warning,) = problems(app)
    assert words in warning
    assert app.get_by_key(key).value == text
    assert sentence_text(app) == before
    assert query(app)["layer"] == "Norm('n c h w -> n','c')"


def test_the_groups_can_be_removed_from_the_pattern_of_a_group_norm():
    app = set_control(open_explore("shape=2,4,3&layer=GroupNorm(2,4)"), "layer", "Norm")
    check(app)
    app = set_control(app, "own_stats", "n c l -> n")
    check(app)
    assert not problems(app)
