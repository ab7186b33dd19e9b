"""Keeps the theme that Streamlit sends at the start of every run.

Streamlit makes this message anew for each run: it looks at every configuration option six times, which is more work than many of our runs.
The options do not change while the server runs. This replaces a private function of Streamlit, so it is only done for the version that we
have checked; with another version everything works as well, only slower.
"""

from __future__ import annotations

from functools import cache

import streamlit
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

CHECKED_VERSION = "1.67.0"
NAME = "_populate_theme_msg"


def keep() -> None:
    """Make the message of each section once."""
    if streamlit.__version__ != CHECKED_VERSION:
        return
    populate = getattr(app_session, NAME)
    if hasattr(populate, "sections"):
        return  # it is kept already

    @cache
    def made(section: str) -> CustomThemeConfig:
        theme = CustomThemeConfig()
        populate(theme, section)
        return theme

    def kept(message: CustomThemeConfig, section: str = "theme") -> None:
        theme = made(section)
        if theme.ByteSize():  # otherwise the section would be present, but empty
            message.MergeFrom(theme)

    kept.sections = made  # type: ignore[attr-defined]
    setattr(app_session, NAME, kept)
