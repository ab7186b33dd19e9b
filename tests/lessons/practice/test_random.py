"""The generator of practice is fair, and Python and JavaScript draw the same numbers."""

from collections import Counter
from pathlib import Path

import pytest

from normviz.lessons.random import NUMBERS, Random, hash_text
from tests.support.javascript import evaluate

MODULE = Path(__file__).parents[3] / "normviz/lessons/practice/bank.ts"
SEEDS = [0, 1, 7, 2**31, NUMBERS - 1]
DRAWS = """(seeds, bounds) => seeds.map((seed) => {
  const random = new Random(seed);
  return [random.draw(), random.draw(), bounds.map((bound) => random.below(bound)), random.shuffled([..."abcdefg"])];
})"""


def test_python_and_javascript_draw_the_same_numbers():
    bounds = [1, 2, 3, 10, 4567, 2**31 + 1, NUMBERS]  # 2**31 + 1: almost half of all draws are repeated
    expected = []
    for seed in SEEDS:
        random = Random(seed)
        expected.append(
            [random.draw(), random.draw(), [random.below(bound) for bound in bounds], random.shuffled("abcdefg")]
        )
    assert evaluate(f"({DRAWS})(...args)", SEEDS, bounds, entry=MODULE) == expected


def test_a_text_is_a_seed_by_fnv_1a():
    assert [hash_text(""), hash_text("a"), hash_text("foobar")] == [0x811C9DC5, 0xE40C292C, 0xBF9CF968]


@pytest.mark.parametrize("bound", [2, 3, 7])
def test_every_number_below_a_bound_is_drawn_about_equally_often(bound):
    random = Random(bound)
    drawn = Counter(random.below(bound) for _ in range(6000))
    assert sorted(drawn) == list(range(bound))
    assert all(abs(count - 6000 / bound) < 5 * (6000 / bound) ** 0.5 for count in drawn.values())


def test_every_order_of_three_comes_up():
    random = Random(1)
    orders = Counter("".join(random.shuffled("abc")) for _ in range(1200))
    assert len(orders) == 6
    assert min(orders.values()) > 140
