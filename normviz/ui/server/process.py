"""The server process: how it starts, opens a browser and stops, what it imports in the background, and what it changes in Streamlit."""

import asyncio
import gc
import os
import signal
import socket
import sys
import threading
import traceback
import webbrowser
from collections.abc import AsyncIterator, Callable, Container, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from copy import deepcopy
from functools import _lru_cache_wrapper, cache, wraps
from importlib import import_module
from itertools import islice
from pkgutil import walk_packages
from time import sleep
from types import FrameType, FunctionType, ModuleType
from typing import Any, ParamSpec, TypeVar

import streamlit
import streamlit as st
from streamlit import runtime
from streamlit.cursor import Cursor
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.NewSession_pb2 import Config, CustomThemeConfig
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import ScriptRunner, ScriptRunnerEvent, script_runner
from streamlit.web.server.server_util import get_display_address, get_url

from normviz import ui
from normviz.ui import logs
from normviz.ui.load import client_of, return_memory, runs, use_few_arenas
from normviz.ui.server import files
from normviz.ui.server.limits import wait_for_end_of_burst

P = ParamSpec("P")
R = TypeVar("R")

# Opens the reader's browser as soon as the server listens: `streamlit run app.py -- --open`.


OPEN = "--open"
POLL = 0.05  # s


def open_if_asked() -> None:
    """Start to wait for the server, if an argument of the app asks for it."""
    if OPEN in sys.argv[1:]:
        threading.Thread(target=_open, daemon=True).start()


def _open() -> None:
    """Open the app. A machine without a browser is not an error: the address is printed, too."""
    host = get_display_address(st.get_option("server.address") or "localhost")
    while True:
        with suppress(OSError), socket.create_connection((host, st.get_option("server.port")), timeout=1):
            break
        sleep(POLL)
    with suppress(webbrowser.Error):
        webbrowser.open(get_url(f"[{host}]" if ":" in host else host))


GRACE = 3.0  # s; the documentation promises 5


@asynccontextmanager
async def lifespan(app: object) -> AsyncIterator[None]:
    """Set up the logs, open files and memory, and limit how long a slow visitor can delay the shutdown of the server."""
    logs.start()
    files.start()
    use_few_arenas()
    lighten()
    watch = asyncio.create_task(watch_sessions()) if is_checked() else None
    import_future().add_done_callback(_exit_if_failed)
    open_if_asked()
    replaced = _limit_stop_time() if threading.current_thread() is threading.main_thread() else {}
    yield
    if watch:
        watch.cancel()
    for number, handler in replaced.items():
        signal.signal(number, handler)


def _exit_if_failed(imports: Future[None]) -> None:
    """End the process if the app cannot be imported."""
    if error := imports.exception():
        traceback.print_exception(error)
        os._exit(1)


def _limit_stop_time() -> dict[int, Any]:
    """End the process after GRACE seconds, because uvicorn waits until every visitor has read the response. Returns the replaced handlers."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    for number, handler in handlers.items():
        if callable(handler):
            signal.signal(number, _with_time_limit(handler))
    return {number: handler for number, handler in handlers.items() if callable(handler)}


def _with_time_limit(handler: Any) -> Any:
    def stop(number: int, frame: FrameType | None) -> None:
        timer = threading.Timer(GRACE, os._exit, args=(128 + number,))
        timer.daemon = True
        timer.start()
        handler(number, frame)

    return stop


# Imports torch, plotly and the pages in a thread, so that the server listens at once. The first visitor's browser fetches Streamlit's own
# files meanwhile. Other threads get these modules from here, because a module that one thread is importing can be incomplete in another.

NOT_PRELOADED = ("server", "__main__")  # what starts the preloading
_thread = ThreadPoolExecutor(1, "preload")


@cache
def import_future() -> Future[None]:
    """Start the imports at the first call; the future is done when all of them are."""
    return _thread.submit(_import_all)


def import_ready(module: str) -> ModuleType:
    """The module, as soon as everything is imported. Raises the exception of an import that failed."""
    import_future().result()
    return import_module(module)


def _import_all() -> None:
    gc.disable()  # modules stay in memory: each collection would only walk through torch's objects again
    try:
        for _, name, _ in walk_packages(ui.__path__, f"{ui.__name__}."):
            if name.split(".")[2] not in NOT_PRELOADED:
                import_module(name)
        import_module("normviz.analysis.forward").use_one_thread()
        gc.freeze()
    finally:
        gc.enable()


# Lighter runs of Streamlit's script.
#
# - At the start of every run, Streamlit sends the theme and the options. It makes them again for each run and looks at every configuration
#   option six times, which is more work than many of our runs. They do not change while the server runs, so they are kept.
# - A callback that calls ``st.rerun`` ends its run before anything is drawn. The browser is not told about such a run.
# - Each fragment keeps copies of the places around it, and is drawn at copies of them. Python's own way to copy looks at each field.
# - Each session has an event loop of three files, which it keeps for a while after its visitor has left. It never runs: it is there for
#   libraries that ask for one in the thread of a script. All sessions share one.
# - Runs of pages have few places, of which each address has its share (``load.py``): ten websockets that sent 20 changes a second each made
#   others wait for half a minute. In a burst of one websocket, a page runs only now and then (``limits.py``).
# - Values of widgets that no page has are dropped, and so is a session some time after its visitor has left (below).
#
# This replaces private functions of Streamlit, so it is only done for the version that we have checked; with another version everything works
# as well, only slower, and with more open files.

CHECKED_VERSION = "1.67.0"
MESSAGES: dict[str, type[Config | CustomThemeConfig]] = {
    "_populate_theme_msg": CustomThemeConfig,
    "_populate_config_msg": Config,
}
EVENTS = "_on_scriptrunner_event"  # the method of a session that receives the events of its script
REQUEST = "request_rerun"  # the method of a session that receives the browser's messages
START = "normviz_start"  # the start of a run that the session has not received yet
RUN = "exec_func_with_error_handling"  # the function that runs a script with its callbacks
LOOP, CLOSE_LOOP = "_script_event_loop", "_close_script_event_loop"  # of a session, and the function that closes it


def is_checked() -> bool:
    """Whether the installed Streamlit is the version that we have checked."""
    return streamlit.__version__ == CHECKED_VERSION


def lighten() -> None:
    """Replace Streamlit's functions, once."""
    if not is_checked():
        return
    for name, message in MESSAGES.items():
        fill = getattr(app_session, name)
        if not hasattr(fill, "once"):
            setattr(app_session, name, _filled_once(fill, message))
    Cursor.__deepcopy__ = _copied  # type: ignore[attr-defined]
    for method, replace in ((EVENTS, _without_empty_runs), (REQUEST, only_known)):
        function = getattr(app_session.AppSession, method)
        if not hasattr(function, "__wrapped__"):
            setattr(app_session.AppSession, method, replace(function))
    run = getattr(script_runner, RUN)
    if not hasattr(run, "__wrapped__"):
        setattr(script_runner, RUN, _in_its_place(run))
    if not hasattr(app_session.AppSession, LOOP):
        setattr(app_session.AppSession, LOOP, _SharedLoop())
        setattr(app_session, CLOSE_LOOP, lambda loop: None)


class _SharedLoop:
    """The event loop of a session: one for all. One that a session makes for itself is closed."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()

    def __get__(self, session: object, kind: type) -> asyncio.AbstractEventLoop:
        return self.loop

    def __set__(self, session: object, made: asyncio.AbstractEventLoop) -> None:
        made.close()


def _in_its_place(run: Callable[P, R]) -> Callable[P, R]:
    """The function, which waits until the visitor's burst of messages is over and the address has a place to run."""

    @wraps(run)
    def run_in_its_place(*args: P.args, **kwargs: P.kwargs) -> R:
        wait_for_end_of_burst(st.context.headers)
        with runs.place(client_of(st.context.headers, st.context.ip_address)):
            return run(*args, **kwargs)

    return run_in_its_place


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


def _copied(cursor: Cursor, memo: dict[int, Any]) -> Cursor:
    """A deep copy of a place on the page. Made by its class, it takes less memory. Only while something is computed, it has elements of its own."""
    copied = type(cursor)(cursor.root_container, cursor.parent_path)  # type: ignore[arg-type]
    copied._index, copied._transient_index = cursor.index, cursor._transient_index  # type: ignore[attr-defined]
    if cursor.transient_elements:
        copied._transient_elements = deepcopy(cursor.transient_elements, memo)
    return copied


def _without_empty_runs(receive: Callable[..., None]) -> Callable[..., None]:
    """Keep the start of a run of fragments until its next event. If that event says that another run replaces this one, drop both."""

    @wraps(receive)
    def receive_later(session: object, runner: ScriptRunner | None, event: ScriptRunnerEvent, **values: object) -> None:
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


# Memory that sessions hold: values that a browser sends for widgets that no page has, and what is left of visitors who have left.


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
