"""Streamlit refuses a page with two inputs of one key."""

from collections import Counter

import pytest

from normviz.lessons.pages import PAGES


@pytest.mark.parametrize("query", ["", "layer=Norm('n c h w -> n c','c h w')&shape=2,4,3,5"])
@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_each_input_has_a_key_of_its_own(page, query):
    rows = page.app_rows(page.view(query))
    keys = Counter(one.key for row in rows for group in (*row.groups, *row.more) for one in group)
    assert [key for key, number in keys.items() if number > 1] == []
