"""The theme and the options that Streamlit sends at the start of a run are made once, and are the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import streamlit
from streamlit.config import CustomThemeCategories
from streamlit.proto.NewSession_pb2 import NewSession
from streamlit.runtime import app_session

from normviz.ui.server import runs

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
    yield found
    vars(app_session).update(found)


def current() -> Functions:
    return {name: getattr(app_session, name) for name in runs.MESSAGES}


def messages(functions: Functions) -> list[bytes]:
    """The theme with each section, and the options, as they are sent."""
    made = [NewSession() for _ in range(len(SECTIONS) + 1)]
    functions["_populate_config_msg"](made[0].config)
    for message, section in zip(made[1:], SECTIONS, strict=True):
        functions["_populate_theme_msg"](message.custom_theme.light, section)
    return [message.SerializeToString() for message in made]


def test_the_version_is_the_one_that_was_checked():
    assert streamlit.__version__ == runs.CHECKED_VERSION


def test_the_messages_are_those_of_streamlit(originals):
    before = {name: app_session.config.get_option(name) for name in OPTIONS}
    for name, value in OPTIONS.items():
        app_session.config.set_option(name, value)
    try:
        expected = messages(originals)
        runs.lighten()
        assert [messages(current()) for _ in range(2)] == [expected] * 2
    finally:
        for name, value in before.items():
            app_session.config.set_option(name, value)
    assert sum(map(bool, expected)) >= 3  # the options, and two sections of the theme; other sections are not sent
    assert not all(expected)


def test_each_message_is_made_once(originals, monkeypatch):
    calls = []
    for name in runs.MESSAGES:
        monkeypatch.setattr(app_session, name, lambda message, *section: calls.append(section))
    runs.lighten()
    runs.lighten()
    for _ in range(3):
        messages(current())
    assert sorted(calls) == sorted([(), *((section,) for section in SECTIONS)])


def test_another_version_of_streamlit_keeps_its_own_functions(originals, monkeypatch):
    monkeypatch.setattr(streamlit, "__version__", "1.99.0")
    runs.lighten()
    assert current() == originals
