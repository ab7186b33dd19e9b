"""Memory that sessions hold: values that a browser sends for widgets that no page has, and what is left of visitors who have left.

Like the rest of what the app changes in Streamlit, this is only done for the version that we have checked (``process.py``).
"""

import asyncio
import sys
from collections.abc import Callable, Container, Iterable
from functools import _lru_cache_wrapper, wraps
from itertools import islice
from types import FunctionType

from streamlit import runtime
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.app_session import AppSession

from normviz.ui.load import return_memory

MOST_NEW = 100  # values from a browser whose widgets another server has drawn; a page has about 30
# Characters of a text: of a whole address, and so of every setting in it. Streamlit cuts what a field of its own declares, ``max_chars``.
LONGEST = 8192
PERIOD = 15.0  # s between two searches for visitors who have left

Request = Callable[[AppSession, ClientState | None], None]


def known_values(state: ClientState, known: Container[str], is_new: bool) -> ClientState:
    """A copy of a message with the values of known widgets, no text of which is longer than a field takes.

    It is a copy, because a message keeps all of its memory as long as any value of it is in use.

    is_new  the server has not drawn any widget of this session yet
    """
    values: Iterable[WidgetState] = state.widget_states.widgets
    kept = list(islice(values, MOST_NEW) if is_new else (value for value in values if value.id in known))
    state.ClearField("widget_states")
    copy = ClientState()
    copy.CopyFrom(state)
    copy.widget_states.widgets.extend(kept)
    for value in copy.widget_states.widgets:
        if len(value.string_value) > LONGEST:
            value.string_value = value.string_value[:LONGEST]
        texts = value.string_array_value.data
        if any(len(text) > LONGEST for text in texts):
            texts[:] = [text[:LONGEST] for text in texts]
    return copy


def only_known(request: Request) -> Request:
    """``AppSession.request_rerun``, which drops the values of widgets that the session has never drawn."""

    @wraps(request)
    def request_known(session: AppSession, state: ClientState | None) -> None:
        drawn = session.session_state._new_widget_state.widget_metadata
        request(session, state and known_values(state, drawn, is_new=not drawn))

    return request_known


def drop_sessions_that_left(sessions: int) -> int:
    """The number of sessions now. If there were more, their memory is given back to the system; after the last one, that of the caches, too.

    Streamlit keeps a session for 30 s (`disconnectedSessionTTL`) after its visitor has left, and looks for its end only when another one leaves.
    """
    manager = runtime.get_instance()._session_mgr
    manager._session_storage._cache.expire()  # type: ignore[attr-defined]
    left = len(manager.list_sessions())
    if left < sessions:
        if not left:
            forget()
        return_memory()
    return left


def forget() -> None:
    """Empty the caches that have a limit: they hold what the visitors asked for. The others hold what every page needs."""
    for name, module in [*sys.modules.items()]:
        for value in vars(module).values() if name.startswith("normviz.") else ():
            cached = vars(value).get("kept") if isinstance(value, FunctionType) else value  # of cache_by_language
            if isinstance(cached, _lru_cache_wrapper) and cached.cache_parameters()["maxsize"]:
                cached.cache_clear()


async def watch_sessions() -> None:
    """Look for sessions that have ended, until it is cancelled."""
    sessions = 0
    while True:
        await asyncio.sleep(PERIOD)
        sessions = drop_sessions_that_left(sessions)
