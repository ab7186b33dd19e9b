"""How the server process starts and stops."""

from __future__ import annotations

import os
import signal
import threading
import traceback
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from types import FrameType
from typing import Any

from normviz.ui import logs
from normviz.ui.server import runs
from normviz.ui.server.preload import import_future

GRACE = 3.0  # s; the documentation promises 5


@asynccontextmanager
async def lifespan(app: object) -> AsyncIterator[None]:
    """Set up the logs, and limit how long a slow visitor can delay the shutdown of the server."""
    logs.start()
    runs.lighten()
    import_future().add_done_callback(_exit_if_failed)
    replaced = _limit_stop_time() if threading.current_thread() is threading.main_thread() else {}
    yield
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
