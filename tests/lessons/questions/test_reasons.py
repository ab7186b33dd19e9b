"""Why wrong options tempt: where a reason names another layer, that layer does what the option says."""

from __future__ import annotations

import re

import pytest

from normviz.analysis.description import describe
from normviz.lessons.questions.facts import count_gammas, normal, output
from normviz.lessons.questions.page import QUESTIONS
from normviz.lessons.questions.question import prose
from tests.lessons.questions.statements.measure import nearly_equal, unit_variance, zero_mean

IMAGES = (2, 3, 4, 4)
NAMES_A_LAYER = re.compile(
    r"\bThat is (?:the count of )?(?:`|BatchNorm|LayerNorm)|BatchNorm would|True (?:of|in|if|where)"
)
TOPICS = {"statistics", "parameters", "dependence", "shapes"}


def means(layer: str, *shape: int) -> int:
    return describe(layer, shape).counts.statistics


def share_both(layer: str, one: tuple[int, ...], other: tuple[int, ...], *shape: int) -> bool:
    e = describe(layer, shape)
    return other in e.peers(one) and other in e.parameter_peers(one)


def keeps(layer: str, factor: float) -> bool:
    """Whether the output stays almost the same when all of x is multiplied."""
    x = normal(*IMAGES).double()
    return bool((output(layer, factor * x) - output(layer, x)).abs().max() < 1e-4)


def unchanged_in_eval_mode() -> bool:
    x = normal(4, 6)
    other = x.clone()
    other[1:] = 3 * x[1:] + 1
    return output("BatchNorm1d(6).eval()", x)[0].equal(output("BatchNorm1d(6).eval()", other)[0])


CLAIMS = {
    ("s1a", "columns"): lambda: means("BatchNorm1d(6)", 4, 6) == 6,
    ("s1a", "one"): lambda: means("LayerNorm([4, 6])", 4, 6) == 1,
    ("s2e", "place"): lambda: zero_mean(output("BatchNorm1d(6)", normal(4, 6)), 0),
    ("s2e", "example"): lambda: zero_mean(output("LayerNorm([3, 2, 2])", normal(4, 3, 2, 2)), (1, 2, 3)),
    ("s2f", "channel"): lambda: means("BatchNorm2d(3)", *IMAGES) == 3,
    ("s2f", "plane"): lambda: means("LayerNorm([4, 4])", *IMAGES) == means("InstanceNorm2d(3)", *IMAGES) == 6,
    ("s1f", "same"): lambda: (
        zero_mean(output("BatchNorm1d(3)", normal(6, 3)), 0)
        and unit_variance(output("BatchNorm1d(3)", normal(6, 3)), 0)
    ),
    ("s0", "one"): lambda: means("LayerNorm([3, 4, 4])", *IMAGES) == IMAGES[0],
    ("s0e", "element"): lambda: count_gammas("LayerNorm([3, 4, 4])", IMAGES) == 3 * 4 * 4,
    ("s0e", "place"): lambda: describe("LayerNorm([4, 4])", IMAGES).norm.gamma_axes == ("h", "w"),
    ("s0d", "neighbour"): lambda: share_both("BatchNorm2d(3)", (0, 0, 1, 2), (0, 0, 1, 3), 2, 3, 4, 5),
    ("q5", "kept"): lambda: (
        describe("BatchNorm1d(2)", (2, 2, 3)).norm.gamma_axes
        == describe("BatchNorm1d(2)", (2, 2, 3)).norm.pattern.right
    ),
    ("q5", "channel"): lambda: (
        describe("GroupNorm(1, 2)", (2, 2, 3)).norm.gamma_axes == ("c",)
        and nearly_equal(output("GroupNorm(1, 2)", normal(2, 2, 3)), output("LayerNorm([2, 3])", normal(2, 2, 3)))
    ),
    ("s3i", "neither"): unchanged_in_eval_mode,
    ("s0h", "both"): lambda: keeps("LayerNorm([3, 4, 4])", 4) and keeps("LayerNorm([4, 4])", 4),
    ("q1", "image"): lambda: means("LayerNorm([4, 3, 4])", 2, 4, 3, 4) == 2,
    ("q20", "steps"): lambda: describe("BatchNorm1d(4)", (2, 4, 6), layout="NLC").norm.pattern.right == ("l",),
    ("s2j", "none"): lambda: count_gammas("BatchNorm2d(3)", IMAGES) == count_gammas("GroupNorm(1, 3)", IMAGES) == 3,
    ("s3f", "flat"): lambda: tuple(normal(2, 3, 4).mean(-1).shape) == (2, 3),
}


@pytest.mark.parametrize(("key", "option"), CLAIMS)
def test_what_a_reason_says_of_another_layer_is_true(key, option):
    assert option in prose(key).reasons
    assert CLAIMS[key, option]()


@pytest.mark.rule(
    "A reason that names another layer is checked with torch: add the key of the question and of the option to CLAIMS in this file"
)
def test_every_reason_that_names_what_an_option_describes_is_checked():
    naming = {
        (key, option)
        for key, question in QUESTIONS.items()
        if question.topic.key in TOPICS
        for option, reason in prose(key).reasons.items()
        if NAMES_A_LAYER.search(reason)
    }
    assert len(naming) > 12
    assert naming - set(CLAIMS) == set()
