"""How a view follows the data that the server sends while newer choices are on their way."""

from pathlib import Path

import pytest

from normviz import explain
from normviz.figures.payload import compare_payload
from normviz.scene.grid import grid
from tests.support.javascript import evaluate

# Events: a step chosen in the browser ("on", "back"), data of the server (its step, and the number of the newest choice that it has
# received), or a time in ms that passes; then the step that is shown.
EVENTS = [
    ([(1, 0)], 1),
    ([(1, 0), "on"], 2),
    ([(1, 0), "on", (2, 1)], 2),
    ([(1, 0), "on", (1, 0)], 2),  # data that the server made before it received the choice
    ([(1, 0), "on", "on", (2, 1)], 3),  # the response to the first of two quick choices
    ([(1, 0), "on", "on", (2, 1), (3, 2)], 3),
    ([(1, 0), "on", "on", (3, 2)], 3),
    ([(1, 0), "on", (2, 1), (1, 1)], 1),  # Back in the browser
    ([(1, 0), "on", (2, 1), (1, 1), (2, 1)], 2),  # and Forward
    ([(4, 0), (0, 0)], 0),  # another address
    ([(1, 0), "back", (0, 1), (1, 1), "back", (0, 2)], 0),
    ([(1, 0), "on", 2999, (1, 0)], 2),
    ([(1, 0), "on", 3001, (1, 0)], 1),  # without a response in time, the server's data is used again
    ([(1, 0), "on", (1, 0), 3001], 1),  # also data that came earlier
    ([(6, 5), "back", (6, 5), (5, 6)], 5),  # a view that replaces another one continues its numbers
]
VIEWS = Path(__file__).with_name("views.ts")


@pytest.mark.parametrize(("events", "step"), EVENTS)
def test_a_newer_choice_is_kept_until_the_server_responds_to_it(events, step):
    assert evaluate("follow(args[0])", events, entry=VIEWS) == step


def test_copies_of_a_page_number_their_choices_together():
    assert evaluate("countedTogether()", entry=VIEWS) == [True, False, 8, True, 0]


def test_without_a_server_the_selection_stays_until_the_data_has_a_different_one():
    assert evaluate("selectedAlone(args[0])", [([0], [1]), ([0], None), ([2], None)], entry=VIEWS) == [[1], [1], [2]]


def test_a_chart_is_named_by_its_text():
    assert evaluate("chartLabel('two lines')", entry=VIEWS) == "two lines"


def test_a_view_that_is_removed_while_it_is_drawn_reports_no_error():
    assert evaluate("errorsOfRemoved()", entry=VIEWS) == ["purged"]  # the one that stayed


@pytest.mark.parametrize(
    ("layer", "shape", "cards", "across"),
    [
        ("LayerNorm([4, 5, 2])", (3, 4, 5, 2), 4, 4),  # high: one line fills the window
        ("LayerNorm([4, 3, 5])", (2, 4, 3, 5), 4, 2),  # wide
        ("LayerNorm([4, 3, 5])", (2, 4, 3, 5), 5, 3),  # three lines of cards would be too low
        ("LayerNorm(6)", (4, 6), 3, 3),
    ],
)
def test_projected_cards_stand_in_two_columns_where_they_are_larger(layer, shape, cards, across):
    e = explain(layer, shape)
    data = compare_payload([e, e], grid(e.shape, e.axes))
    script = "cardsAcross(args[0].grid, args[1], args[1] > 4 ? 3 : args[1], 1216, 720)"
    assert evaluate(script, data, cards) == across
