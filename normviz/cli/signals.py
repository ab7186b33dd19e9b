"""Signals of the operating system, such as Ctrl-C."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def on_signal(number: int, handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Handle a signal in another way for a while; only the main thread of a process can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)
