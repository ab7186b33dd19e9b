"""What the app changes in Streamlit: messages that are made once, copies of places, empty runs that are not sent, and one event loop for all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from types import SimpleNamespace

import pytest
import streamlit
from streamlit.config import CustomThemeCategories
from streamlit.cursor import Cursor, LockedCursor, RunningCursor
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.NewSession_pb2 import NewSession
from streamlit.runtime import app_session
from streamlit.runtime.script_data import ScriptData
from streamlit.runtime.scriptrunner import ScriptRunnerEvent, script_runner

from normviz.ui.load import Places
from normviz.ui.server import process
from normviz.ui.server.files import count
from tests.support.asgi import run_async

SECTIONS = ["theme", *(f"theme.{category.value}" for category in CustomThemeCategories)]
OPTIONS = {
    "theme.primaryColor": "#123456",
    "theme.dark.textColor": "#abcdef",
    "theme.headingFontWeights": [600] * 6,
    "client.toolbarMode": "minimal",
}
Functions = dict[str, Callable[..., None]]


@pytest.fixture
def originals() -> Iterator[Functions]:
    """Streamlit's own functions, which are put back."""
    found = current()
    assert not any(hasattr(function, "once") for function in found.values())
    session, close = app_session.AppSession, getattr(app_session, process.CLOSE_LOOP)
    run = getattr(script_runner, process.RUN)
    methods = {name: getattr(session, name) for name in (process.EVENTS, process.REQUEST)}
    yield found
    vars(app_session).update(found | {process.CLOSE_LOOP: close})
    setattr(script_runner, process.RUN, run)
    for name, method in methods.items():
        setattr(session, name, method)
    if process.LOOP in vars(session):
        getattr(session, process.LOOP).close()
        delattr(session, process.LOOP)
    if hasattr(Cursor, "__deepcopy__"):
        del Cursor.__deepcopy__


def current() -> Functions:
    return {name: getattr(app_session, name) for name in process.MESSAGES}


def messages(functions: Functions) -> list[bytes]:
    """The theme with each section, and the options, as they are sent."""
    made = [NewSession() for _ in range(len(SECTIONS) + 1)]
    functions["_populate_config_msg"](made[0].config)
    for message, section in zip(made[1:], SECTIONS, strict=True):
        functions["_populate_theme_msg"](message.custom_theme.light, section)
    return [message.SerializeToString() for message in made]


def test_the_version_is_the_one_that_was_checked():
    assert streamlit.__version__ == process.CHECKED_VERSION


def test_the_messages_are_those_of_streamlit(originals):
    before = {name: app_session.config.get_option(name) for name in OPTIONS}
    for name, value in OPTIONS.items():
        app_session.config.set_option(name, value)
    try:
        expected = messages(originals)
        process.lighten()
        assert [messages(current()) for _ in range(2)] == [expected] * 2
    finally:
        for name, value in before.items():
            app_session.config.set_option(name, value)
    assert sum(map(bool, expected)) >= 3  # the options, and two sections of the theme; other sections are not sent
    assert not all(expected)


def test_each_message_is_made_once(originals, monkeypatch):
    calls = []
    for name in process.MESSAGES:
        monkeypatch.setattr(app_session, name, lambda message, *section: calls.append(section))
    process.lighten()
    process.lighten()
    for _ in range(3):
        messages(current())
    assert sorted(calls) == sorted([(), *((section,) for section in SECTIONS)])


def test_another_version_of_streamlit_keeps_its_own_functions(originals, monkeypatch):
    monkeypatch.setattr(streamlit, "__version__", "1.99.0")
    before = dict(vars(app_session.AppSession))
    process.lighten()
    assert current() == originals
    assert dict(vars(app_session.AppSession)) == before


def test_a_run_has_a_place_of_its_visitors_address(originals, monkeypatch):
    places = Places(1)
    context = SimpleNamespace(headers={"x-forwarded-for": "192.0.2.1"}, ip_address="10.0.0.1")
    monkeypatch.setattr(process, "runs", places)
    monkeypatch.setattr(process.st, "context", context)
    monkeypatch.setattr(script_runner, process.RUN, lambda run, word: (run(), word))
    process.lighten()
    assert getattr(script_runner, process.RUN)(lambda: dict(places._taken), "ran") == ({"192.0.2.1": 1}, "ran")
    assert not places._taken


def contents(cursor: Cursor) -> dict[str, object]:
    return vars(cursor) | {"_transient_elements": list(cursor.transient_elements.items())}


@pytest.mark.parametrize("is_busy", [False, True])
def test_a_copy_of_a_place_is_that_of_streamlit_and_moves_alone(originals, is_busy):
    place = RunningCursor(0, (2, 1))
    places = {0: place, 1: place.open_block(), 2: place.lock_element()}
    if is_busy:
        place.transient_elements[3] = Element()
    expected = {key: contents(copied) for key, copied in deepcopy(places).items()}
    process.lighten()
    both = deepcopy([places, place])
    assert {key: contents(copied) for key, copied in both[0].items()} == expected
    assert [type(copied) for copied in both[0].values()] == [RunningCursor, RunningCursor, LockedCursor]
    assert both[0][0] is both[1] is not place
    both[1].transient_elements[5] = Element()
    both[1].lock_element()
    assert contents(place) == expected[0]


class Received:
    """A session that lists the events of its script that it receives."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def _on_scriptrunner_event(self, runner: object, event: ScriptRunnerEvent, **values: object) -> None:
        self.events.append(event.name)


RUN = {"fragment_ids_this_run": ["one"]}
START, MESSAGE, RERUN, END = (
    ScriptRunnerEvent.SCRIPT_STARTED,
    ScriptRunnerEvent.ENQUEUE_FORWARD_MSG,
    ScriptRunnerEvent.SCRIPT_STOPPED_FOR_RERUN,
    ScriptRunnerEvent.FRAGMENT_STOPPED_WITH_SUCCESS,
)


@pytest.mark.parametrize(
    ("sent", "received"),
    [
        ([START, RERUN, START, MESSAGE, END], [START, MESSAGE, END]),
        ([START, MESSAGE, RERUN], [START, MESSAGE, RERUN]),
        ([START, END], [START, END]),
        ([START, RERUN], []),
    ],
)
def test_a_run_of_fragments_that_ends_for_another_before_it_sends_anything_is_not_passed_on(sent, received):
    session, runner = Received(), SimpleNamespace()
    receive = process._without_empty_runs(Received._on_scriptrunner_event)
    for event in sent:
        receive(session, runner, event, **(RUN if event is START else {}))
    assert session.events == [event.name for event in received]


def test_the_start_of_a_whole_run_is_passed_on_at_once():
    session, runner = Received(), SimpleNamespace()
    process._without_empty_runs(Received._on_scriptrunner_event)(session, runner, START, fragment_ids_this_run=None)
    assert session.events == [START.name]


async def files_of_sessions(number: int) -> tuple[int, int]:
    """The files that sessions open, and that are left when they have left."""
    before, nobody = count() or 0, SimpleNamespace(remove_session_files=lambda _: None)
    script = ScriptData("app.py", False)
    sessions = [app_session.AppSession(script, nobody, None, None, {}) for _ in range(number)]
    opened = count() or 0
    for session in sessions:
        session.shutdown()
    return opened - before, (count() or 0) - before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not list the open files")
def test_a_session_has_no_file_besides_its_connection(originals):
    assert run_async(files_of_sessions(10))[0] >= 30  # if Streamlit's own sessions have none, the shared loop can go
    process.lighten()
    assert run_async(files_of_sessions(10)) == (0, 0)
