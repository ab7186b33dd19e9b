"""The events of Explore's figure: clicks, edits and invalid ones."""

import pytest
import torch

from tests.support.driver import (
    check,
    expected,
    figure_data,
    open_explore,
    open_more,
    query,
    scene,
    send_event,
    sentence_text,
    set_control,
)
from tests.support.shown import problems


@pytest.mark.parametrize("at", [[0, 0, 0, 0], [1, 0, 3, 2], None])
def test_a_click_on_an_element_selects_it(at):
    app = send_event(open_explore("layer=BatchNorm2d(3)"), "select", {"at": at})
    check(app)
    assert figure_data(app)["at"] == at
    assert query(app)["at"] == ("none" if at is None else ",".join(map(str, at)))


def test_an_edited_value_changes_the_address_and_every_number():
    app = send_event(open_explore("shape=2,3&data=counting"), "edit", {"at": [0, 2], "value": 5.5})
    check(app)
    assert query(app)["values"] == "0,1,5.5,3,4,5"
    assert figure_data(app)["at"] == [0, 2]
    x = torch.tensor([[0, 1, 5.5], [3, 4, 5]])
    assert scene(app).description.trace.mean.tolist() == x.mean(1, keepdim=True).tolist()
    assert open_more(app).selectbox(key="data").value == "edited"
    app = set_control(app, "data", "counting")
    check(app)
    assert "values" not in query(app)


def test_up_to_128_elements_can_be_edited():
    assert figure_data(open_explore("shape=8,16"))["editable"]
    app = open_explore("shape=3,43")
    assert not figure_data(app)["editable"]
    app = send_event(app, "edit", {"at": [0, 0], "value": 1})
    assert problems(app) == ["only tensors of up to 128 elements can be edited; make the tensor smaller."]


HOSTILE_EVENTS = [
    ("select", {"at": [9, 9, 9, 9]}),
    ("select", {"at": [0]}),
    ("select", {"at": ["x", None, [], {}]}),
    ("select", {"at": [1e400, 0, 0, 0]}),
    ("select", {"at": "0,0,0,0"}),
    ("select", {}),
    ("select", "x"),
    ("select", [1, 2]),
    ("edit", {"at": [9, 9], "value": 1}),
    ("edit", {"at": [0, 0], "value": 1e400}),
    ("edit", {"at": [0, 0], "value": 10**400}),
    ("edit", {"at": [0, 0], "value": "1"}),
    ("edit", {"at": [0, 0], "value": True}),
    ("edit", {"at": None, "value": 1}),
    ("edit", {}),
    ("edit", 5),
]


def test_invalid_events_are_ignored_and_the_controls_still_work():
    app = open_explore("shape=2,3")
    for size, (event, value) in enumerate(HOSTILE_EVENTS, 4):
        was = sentence_text(app)
        app = send_event(app, event, value)
        assert not app.exception, (event, value)
        assert sentence_text(app) == was, (event, value)
        assert "values" not in query(app)
        if size % 4 == 0:
            app = set_control(app, "size_d", size)
            assert scene(app).shape == (2, size), (event, value)
            assert sentence_text(app) == expected(scene(app)) != was
    check(app)
