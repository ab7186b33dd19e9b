"""What a reader does with a control or on a figure: one function gives the view after it, in the app, in a notebook and in a file."""

import pytest

from normviz.lessons.events import EVENTS, after, entering
from normviz.lessons.pages import PAGES

EXPLORE, STEPS, COMPARE = PAGES["explore"], PAGES["step_by_step"], PAGES["compare"]
TRAIN_AND_EVAL, TRAINING = PAGES["train_and_eval"], "show=training"
LAYERS = "shape=2,3&layers=LayerNorm(3);BatchNorm1d(3)"
SHAPE = "shape=2,3&layer=LayerNorm(3)"
LARGE = "shape=2,64,4,4&layer=BatchNorm2d(64)"

# The page, the query before, the event, and what the query has afterwards.
CASES = [
    (EXPLORE, SHAPE, {"name": "select", "at": [1, 0]}, {"at": "1,0"}),
    (EXPLORE, SHAPE, {"name": "select", "at": None}, {"at": "none"}),
    (EXPLORE, "shape=1,2&layer=LayerNorm(2)&values=1,2", {"name": "edit", "at": [0, 1], "value": 5}, {"values": "1,5"}),
    (EXPLORE, LARGE, {"name": "move", "start": [0, 8, 0, 0]}, {"from": "0,8,0,0"}),
    (STEPS, SHAPE, {"name": "step", "step": 4}, {"step": "4"}),
    (STEPS, SHAPE, {"name": "step", "step": 99}, {"step": "6"}),  # the last step
    (COMPARE, LAYERS, {"name": "cards", "cards": "gamma"}, {"cards": "gamma"}),
    (COMPARE, f"{LAYERS}&cards=cube", {"name": "cards", "cards": "mean"}, {"cards": "mean"}),
    (
        TRAIN_AND_EVAL,
        TRAINING,
        {"name": "train", "norm": "none", "batch": "2"},
        {"show": "training", "norm": "none", "batch": "2"},
    ),
    (TRAIN_AND_EVAL, f"{TRAINING}&batch=8", {"name": "train", "norm": "what", "batch": "3"}, {"batch": "2"}),
    (EXPLORE, SHAPE, {"name": "input", "key": "size_d", "value": 5}, {"shape": "2,5"}),
    (EXPLORE, SHAPE, {"name": "input", "key": "layout", "value": 4}, {"shape": "2,4,3,5"}),  # the number of an option
    (EXPLORE, SHAPE, {"name": "scale", "gamma": 1.8, "beta": -0.5}, {"gamma": "1.8", "beta": "-0.5"}),
    (EXPLORE, SHAPE, {"name": "scale", "gamma": 2, "beta": None}, {"gamma": "2", "beta": None}),
    (EXPLORE, f"{SHAPE}&gamma=2&beta=1", {"name": "scale", "gamma": None, "beta": None}, {"gamma": None, "beta": None}),
    (EXPLORE, SHAPE, {"name": "present", "present": True}, {"present": "true"}),
    (EXPLORE, f"{SHAPE}&hide=code", {"name": "reset"}, {"hide": "code"}),
    (
        EXPLORE,
        SHAPE,
        {"name": "toggle", "row": "gamma", "axis": "d"},
        {"layer": "LayerNorm([3],elementwise_affine=False)"},
    ),
    (EXPLORE, SHAPE, {"name": "present", "present": True}, {"present": "true"}),
    (
        EXPLORE,
        f"{SHAPE}&present=true&hide=code",
        {"name": "present", "present": False},
        {"present": None, "hide": "code"},
    ),
]


@pytest.mark.parametrize(("page", "query", "event", "then"), CASES)
def test_an_event_changes_the_view(page, query, event, then):
    view = page.view(query)
    found = after(page, view, event)
    assert found.problem is None
    written = page.whole_query(found)
    assert {name: written.get(name) for name in then} == then
    assert found != view


def test_every_kind_of_event_is_in_the_table():
    assert {event["name"] for _page, _query, event, _then in CASES} == set(EVENTS)


def test_an_input_of_the_page_gives_the_same_view_by_its_key_and_as_a_value():
    view = EXPLORE.view(SHAPE)
    shown = {one.key: one for row in EXPLORE.input_rows(view) for one in row.all_inputs}["family"]
    options = list(shown.widget.options)
    by_key = after(EXPLORE, view, {"name": "input", "key": "family", "value": options.index("BatchNorm")})
    assert by_key == after(EXPLORE, view, entering(shown, "BatchNorm")) != view


WRONG = [
    {}, {"name": "what"}, {"name": "select"}, {"name": "select", "at": "0,0"}, {"name": "select", "at": [0.5, 0]},
    {"name": "edit", "at": [0, 0], "value": True}, {"name": "edit", "at": [0, 0], "value": "1"}, {"name": "edit", "at": [0, 0], "value": 10**400},
    {"name": "move", "start": None}, {"name": "step", "step": True}, {"name": "step", "step": 1}, {"name": "cards", "cards": 1}, {"name": "cards", "cards": "cube"},
    {"name": "scale"}, {"name": "scale", "gamma": "a", "beta": None}, {"name": "scale", "gamma": [1], "beta": None},
    {"name": "move", "start": None}, {"name": "step", "step": True}, {"name": "step", "step": 1},
    {"name": "input", "key": "none", "value": 1}, {"name": "input", "key": "layout", "value": 99}, {"name": "input", "key": "layout"},
    {"name": "input", "key": "layer", "value": 5}, {"name": "input", "key": "layer", "value": ["a"]},
    {"name": "toggle"}, {"name": "toggle", "row": "what", "axis": "n"}, {"name": "toggle", "row": "mean", "axis": ["n"]},
    {"name": "train"}, {"name": "train", "norm": "none"}, {"name": "train", "norm": "none", "batch": "2"},
    {"name": "present"}, {"name": "present", "present": "true"}, {"name": "present", "present": 1},
]  # fmt: skip


@pytest.mark.parametrize("event", WRONG, ids=str)
def test_an_event_that_is_not_valid_changes_nothing(event):
    view = EXPLORE.view(SHAPE)
    assert after(EXPLORE, view, event) is view
