"""Makes the runs of Streamlit's script lighter.

- At the start of every run, Streamlit sends the theme and the options. It makes them again for each run and looks at every configuration
  option six times, which is more work than many of our runs. They do not change while the server runs, so they are kept.
- A callback that calls ``st.rerun`` ends its run before anything is drawn. The browser is not told about such a run.

This replaces private functions of Streamlit, so it is only done for the version that we have checked; with another version everything works
as well, only slower.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import streamlit
from streamlit.proto.NewSession_pb2 import Config, CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.scriptrunner import ScriptRunner, ScriptRunnerEvent

CHECKED_VERSION = "1.67.0"
MESSAGES: dict[str, type[Config | CustomThemeConfig]] = {
    "_populate_theme_msg": CustomThemeConfig,
    "_populate_config_msg": Config,
}
EVENTS = "_on_scriptrunner_event"  # the method of a session that receives the events of its script
START = "normviz_start"  # the start of a run that the session has not received yet


def lighten() -> None:
    """Replace Streamlit's functions, once."""
    if streamlit.__version__ != CHECKED_VERSION:
        return
    for name, message in MESSAGES.items():
        fill = getattr(app_session, name)
        if not hasattr(fill, "once"):
            setattr(app_session, name, _filled_once(fill, message))
    receive = getattr(app_session.AppSession, EVENTS)
    if not hasattr(receive, "__wrapped__"):
        setattr(app_session.AppSession, EVENTS, _without_empty_runs(receive))


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


def _without_empty_runs(receive: Callable[..., None]) -> Callable[..., None]:
    """Keep the start of a run of fragments until its next event. If that event says that another run replaces this one, drop both."""

    @wraps(receive)
    def receive_later(session: Any, runner: ScriptRunner | None, event: ScriptRunnerEvent, **values: Any) -> None:
        if event == ScriptRunnerEvent.SCRIPT_STARTED and values.get("fragment_ids_this_run"):
            setattr(runner, START, values)
            return
        start = vars(runner).pop(START, None) if runner else None
        if start and event == ScriptRunnerEvent.SCRIPT_STOPPED_FOR_RERUN:
            return
        if start:
            receive(session, runner, ScriptRunnerEvent.SCRIPT_STARTED, **start)
        receive(session, runner, event, **values)

    return receive_later
