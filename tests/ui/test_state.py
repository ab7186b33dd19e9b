"""The session's state, where a run of a page would be too much."""

import pytest

from normviz.scene import edits
from normviz.ui import state


@pytest.fixture
def session(monkeypatch):
    held = {}
    monkeypatch.setattr(state.st, "session_state", held)
    return held


def test_a_control_says_what_was_chosen(session):
    key = state.sync_widget("layout", "NLC")
    session[key] = "ND"
    assert state.widget_value(key) == "ND"


def test_the_late_word_of_a_control_that_is_gone_changes_nothing(session):
    """Two quick steps of a reader: a control is changed, and another page chosen before the server has heard of it."""
    key = state.sync_widget("layout", "NLC")
    del session[key]
    assert state.widget_value(key) == "NLC"


def test_what_controls_showed_is_kept_for_a_few(session):
    for number in range(1000):
        state.sync_widget(f"control_{number}", number)
    assert state.widget_value("control_999") == 999
    assert len(session[state.SENT]) <= state.MOST_SENT


def test_a_change_whose_run_is_cut_off_before_the_address_is_written_is_written_by_the_next(session, monkeypatch):
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
    state.current()
    state.change(edits.with_size, "c", 5)
    with pytest.raises(CutOffError):
        state.current()
    assert state.current().scene.shape == (2, 5, 4, 4)
    assert written[-1]["shape"] == "2,5,4,4"
    assert state.current().scene.shape == (2, 3, 4, 4)  # now the address holds
