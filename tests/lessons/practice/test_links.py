"""Links that readers have kept give the exercises that they gave before kinds of exercises were added: twenty of them."""

import json
from pathlib import Path

import pytest

from normviz.lessons.pages import PAGES, page_view
from normviz.lessons.practice.page import Practice
from tests.support.needs import whole

KEPT = json.loads(Path(__file__).with_name("links.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("link", KEPT)
@whole
def test_a_kept_link_has_the_same_exercises_in_the_same_order(link):
    (part,) = (
        one for one in page_view(PAGES["practice"], PAGES["practice"].view(link)).parts if isinstance(one, Practice)
    )
    assert " ".join(one.id for one in part.chosen.exercises()) == KEPT[link]


def test_twenty_links_are_kept():
    assert len(KEPT) == 20
