"""The session state, without running a page."""

import pytest

from normviz.lessons.pages import PAGES
from normviz.ui import state
from normviz.ui.session import Session, session


@pytest.fixture
def controls(monkeypatch):
    """The values of the controls, by their keys."""
    held = {}
    monkeypatch.setattr(state.st, "session_state", held)
    return held


def test_a_control_returns_the_chosen_value(controls):
    known = Session()
    key = state.sync_widget(known, "layout", "NLC")
    controls[key] = "ND"
    assert state.widget_value(known, key) == "ND"


def test_a_late_message_of_a_removed_control_changes_nothing(controls):
    """A reader changes a control, and opens another page before the server has received the change."""
    known = Session()
    key = state.sync_widget(known, "layout", "NLC")
    del controls[key]
    assert state.widget_value(known, key) == "NLC"


def test_the_shown_values_of_only_a_few_controls_are_kept(controls):
    known = Session()
    for number in range(1000):
        state.sync_widget(known, f"control_{number}", number)
    assert state.widget_value(known, "control_999") == 999
    assert len(known.sent) <= state.MOST_SENT


def test_the_next_run_writes_the_address_of_an_interrupted_run(controls, monkeypatch):
    class CutOffError(Exception):
        pass

    written = []

    class Address(dict):
        def to_dict(self):
            return {}

        def from_dict(self, query):
            if not written:
                written.append(None)
                raise CutOffError
            written.append(query)

    monkeypatch.setattr(state.st, "query_params", Address())
    known = session()
    state.current(known, PAGES["explore"])
    state.change(known, {"name": "input", "key": "size_c", "value": 5})
    with pytest.raises(CutOffError):
        state.current(known, PAGES["explore"])
    assert state.current(known, PAGES["explore"]).scene.shape == (2, 5, 3, 5)
    assert written[-1]["shape"] == "2,5,3,5"
    assert state.current(known, PAGES["explore"]).scene.shape == (2, 4, 3, 5)  # from now on the address decides
