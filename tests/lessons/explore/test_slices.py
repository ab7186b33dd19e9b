"""The slices that are drawn of a tensor too large to be drawn whole."""

import pytest

from tests.support.driver import check, figure_data, open_explore, query, scene, send_event, sentence_text
from tests.support.shown import captions


def test_the_reader_moves_the_slices_and_the_counts_are_of_the_whole_tensor():
    app = open_explore("shape=2,64,4,4&layer=BatchNorm2d(64)")
    before = sentence_text(app)
    app = send_event(app, "move", {"start": [0, 40, 0, 0]})
    check(app)
    assert query(app)["from"] == "0,40,0,0"
    assert sentence_text(app) == before
    assert figure_data(app)["grid"]["indices"] == [[0, 1], [40, 41, 42, 63], [0, 1, 2, 3], [0, 1, 2, 3]]
    assert figure_data(app)["at"] == [1, 63, 0, 3]


MOVES = [
    # start asked for, the start of what is drawn
    ([9999, 9999], (994, 994)),
    ([-1, 10**30], (0, 994)),
    ([1], (0, 0)),
    (["1", 2], (0, 0)),
    (None, (0, 0)),
]


@pytest.mark.parametrize(("start", "drawn"), MOVES)
def test_slices_stay_within_the_tensor(start, drawn):
    app = send_event(open_explore("shape=1000,1000"), "move", {"start": start})
    check(app)
    assert scene(app).grid.start == drawn


def test_a_tensor_that_no_memory_holds_has_a_schematic_with_values():
    app = open_explore(f"shape=2,{2**40}")
    check(app)
    data = figure_data(app)
    assert data["grid"]["indices"] == [[0, 1], [0, 1, 2, 3, 4, 2**40 - 1]]
    assert [panel["key"] for panel in data["panels"]] == ["stats", "params", "x", "normalized", "output"]
    assert (data["group"]["count"], data["stats"]["size"]) == (2**18, 2**40)
    assert any(
        f"from a sample of the elements of the group, **{2**18:,}** of **{2**40:,}**." in text for text in captions(app)
    )
