"""What the server keeps of a session: the values of the widgets that it has drawn, and for how long after its visitor has left."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from streamlit import runtime
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.memory_session_storage import MemorySessionStorage, TTLCache
from streamlit.testing.v1 import AppTest

from normviz.layers.axes import Pattern, _parse
from normviz.scene.view import LONGEST_QUERY
from normviz.ui.server import process
from normviz.ui.server.first_page import first_page
from normviz.ui.server.process import LONGEST, MOST_NEW, drop_sessions_that_left, known_values, only_known


def message(values: dict[str, str]) -> ClientState:
    state = ClientState(query_string="shape=2,3", page_script_hash="abc", fragment_id="f")
    state.context_info.locale = "es"
    for key, value in values.items():
        state.widget_states.widgets.add(id=key, string_value=value)
    return state


def values(state: ClientState) -> dict[str, str]:
    return {value.id: value.string_value for value in state.widget_states.widgets}


@pytest.mark.parametrize(
    ("sent", "drawn", "kept"),
    [
        ({"layer": "a", "nobody": "b"}, {"layer"}, {"layer": "a"}),
        ({"layer": "a", "size": "b"}, {"size", "layer", "more"}, {"layer": "a", "size": "b"}),
        ({"nobody": "a"}, {"layer"}, {}),
        ({}, {"layer"}, {}),
    ],
)
def test_the_values_of_widgets_that_no_page_has_are_dropped(
    sent: dict[str, str], drawn: set[str], kept: dict[str, str]
) -> None:
    found = known_values(message(sent), drawn, is_new=False)
    assert values(found) == kept
    rest = found.query_string, found.page_script_hash, found.fragment_id, found.context_info.locale
    assert rest == ("shape=2,3", "abc", "f", "es")


def test_a_browser_that_comes_from_another_server_brings_the_values_of_its_page() -> None:
    sent = {f"widget{number}": "a" for number in range(1000)}
    kept = values(known_values(message(sent), set(), is_new=True))
    assert kept == dict(list(sent.items())[:MOST_NEW])


def test_a_text_is_cut_at_the_longest_that_a_field_takes() -> None:
    assert LONGEST == LONGEST_QUERY
    assert values(known_values(message({"layer": "x" * 50_000}), {"layer"}, is_new=False)) == {"layer": "x" * LONGEST}
    assert values(known_values(message({"layer": "x" * LONGEST}), {"layer"}, is_new=False)) == {"layer": "x" * LONGEST}


def test_texts_in_a_list_are_cut_too() -> None:
    state = ClientState()
    state.widget_states.widgets.add(id="layers").string_array_value.data.extend(["x" * 50_000, "y"])
    (kept,) = known_values(state, {"layers"}, is_new=False).widget_states.widgets
    assert list(kept.string_array_value.data) == ["x" * LONGEST, "y"]


def test_of_a_field_that_declares_less_the_session_keeps_less() -> None:
    app = AppTest.from_string("import streamlit as st; st.text_input('a', max_chars=20, key='a')").run()
    app.text_input(key="a").set_value("x" * 5000).run()
    assert app.session_state["a"] == "x" * 20


def test_the_session_gets_the_message_without_them() -> None:
    received: list[ClientState | None] = []
    drawn: dict[str, object] = {}
    state = SimpleNamespace(_new_widget_state=SimpleNamespace(widget_metadata=drawn))
    session = SimpleNamespace(session_state=state, request_rerun=received.append)
    request = only_known(lambda session, state: session.request_rerun(state))  # type: ignore[attr-defined]
    for state in (message({"a": "1"}), message({"a": "2", "b": "3"}), None):
        request(session, state)  # type: ignore[arg-type]
        drawn["a"] = "its metadata"
    assert [state and values(state) for state in received] == [{"a": "1"}, {"a": "2"}, None]


def test_sessions_that_have_left_are_dropped_in_time_and_their_memory_is_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    storage, returned, seconds = MemorySessionStorage(), list[bool](), [0.0]
    assert isinstance(storage._cache, TTLCache)
    storage._cache = TTLCache(storage._cache.maxsize, storage._cache.ttl, timer=lambda: seconds[0])
    manager = SimpleNamespace(_session_storage=storage, list_sessions=lambda: ["active", *storage.list()])
    monkeypatch.setattr(runtime, "get_instance", lambda: SimpleNamespace(_session_mgr=manager))
    monkeypatch.setattr(process, "return_memory", lambda: returned.append(True))
    for name in "abc":
        storage.save(SimpleNamespace(session=SimpleNamespace(id=name)))  # type: ignore[arg-type]
    assert (drop_sessions_that_left(2), returned) == (4, [])
    seconds[0] = 119
    assert (drop_sessions_that_left(4), returned) == (4, [])
    seconds[0] = 121
    _parse.cache_clear()
    first_page("explore", "", False)
    pattern = Pattern.parse("n c -> n")
    assert (drop_sessions_that_left(4), returned) == (1, [True])
    assert storage._cache.currsize == 0
    assert first_page.kept.cache_info().currsize  # there is a visitor, who may want it
    assert Pattern.parse("n c -> n") is pattern
    manager.list_sessions = storage.list
    assert (drop_sessions_that_left(1), returned) == (0, [True, True])
    assert _parse.cache_info().currsize == first_page.kept.cache_info().currsize == 0
