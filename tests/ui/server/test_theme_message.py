"""The theme that Streamlit sends at the start of a run is made once, and is the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import streamlit
from streamlit.config import CustomThemeCategories
from streamlit.proto.NewSession_pb2 import NewSession
from streamlit.runtime import app_session

from normviz.ui.server import theme_message

SECTIONS = ["theme", *(f"theme.{category.value}" for category in CustomThemeCategories)]


@pytest.fixture
def original() -> Iterator[object]:
    """Streamlit's own function, which is put back."""
    found = getattr(app_session, theme_message.NAME)
    assert not hasattr(found, "sections")
    yield found
    setattr(app_session, theme_message.NAME, found)


def test_the_version_is_the_one_that_was_checked():
    assert streamlit.__version__ == theme_message.CHECKED_VERSION


def messages(populate) -> list[bytes]:
    made = []
    for section in SECTIONS:
        message = NewSession()
        populate(message.custom_theme, section)
        made.append(message.SerializeToString())
    return made


def test_the_kept_message_is_that_of_streamlit(original):
    with_options = {
        "theme.primaryColor": "#123456",
        "theme.dark.textColor": "#abcdef",
        "theme.headingFontWeights": [600] * 6,
    }
    for name, value in with_options.items():
        app_session.config.set_option(name, value)
    try:
        expected = messages(original)
        theme_message.keep()
        kept = getattr(app_session, theme_message.NAME)
        assert kept is not original
        assert [messages(kept) for _ in range(2)] == [expected] * 2
        assert any(expected)
    finally:
        for name in with_options:
            app_session.config.set_option(name, None)


def test_streamlit_makes_each_section_once(original, monkeypatch):
    calls = []
    monkeypatch.setattr(app_session, theme_message.NAME, lambda message, section: calls.append(section))
    theme_message.keep()
    theme_message.keep()
    for _ in range(3):
        messages(getattr(app_session, theme_message.NAME))
    assert sorted(calls) == sorted(SECTIONS)


def test_another_version_of_streamlit_keeps_its_own_function(original, monkeypatch):
    monkeypatch.setattr(streamlit, "__version__", "1.99.0")
    theme_message.keep()
    assert getattr(app_session, theme_message.NAME) is original
