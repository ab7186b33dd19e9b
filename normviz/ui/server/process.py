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
from normviz.ui.server.preload import import_future

GRACE = 3.0  # s; 5 are promised


@asynccontextmanager
async def lifespan(app: object) -> AsyncIterator[None]:
    """While the server runs: logs as they should be, and a stop that no slow visitor can hold up."""
    logs.start()
    import_future().add_done_callback(_end_where_it_failed)
    replaced = _bound_the_stop() if threading.current_thread() is threading.main_thread() else {}
    yield
    for number, handler in replaced.items():
        signal.signal(number, handler)


def _end_where_it_failed(found: Future[None]) -> None:
    """An app that cannot be imported does not run."""
    if error := found.exception():
        traceback.print_exception(error)
        os._exit(1)


def _bound_the_stop() -> dict[int, Any]:
    """uvicorn waits for every visitor who is still reading; after GRACE seconds the process ends without them."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    for number, handler in handlers.items():
        if callable(handler):
            signal.signal(number, _and_end_in_time(handler))
    return {number: handler for number, handler in handlers.items() if callable(handler)}


def _and_end_in_time(handler: Any) -> Any:
    def stop(number: int, frame: FrameType | None) -> None:
        timer = threading.Timer(GRACE, os._exit, args=(128 + number,))
        timer.daemon = True
        timer.start()
        handler(number, frame)

    return stop
