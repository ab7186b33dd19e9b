"""Keeps the theme and the options that Streamlit sends at the start of every run.

Streamlit makes these messages anew for each run: it looks at every configuration option six times, which is more work than many of our runs.
The options do not change while the server runs. This replaces two private functions of Streamlit, so it is only done for the version that
we have checked; with another version everything works as well, only slower.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit
from streamlit.proto.NewSession_pb2 import Config, CustomThemeConfig
from streamlit.runtime import app_session

CHECKED_VERSION = "1.67.0"
MESSAGES: dict[str, type[Config | CustomThemeConfig]] = {
    "_populate_theme_msg": CustomThemeConfig,
    "_populate_config_msg": Config,
}


def keep() -> None:
    """Let Streamlit fill each message, or each section of one, only once."""
    if streamlit.__version__ == CHECKED_VERSION:
        for name, message in MESSAGES.items():
            fill = getattr(app_session, name)
            if not hasattr(fill, "once"):
                setattr(app_session, name, _filled_once(fill, message))


def _filled_once(fill: Callable[..., None], kind: type[Config | CustomThemeConfig]) -> Callable[..., None]:
    @cache
    def once(*section: str) -> Any:
        message = kind()
        fill(message, *section)
        return message

    def filled(message: Any, *section: str) -> None:
        if once(*section).ByteSize():  # an empty section is not sent
            message.MergeFrom(once(*section))

    filled.once = once  # type: ignore[attr-defined]
    return filled
