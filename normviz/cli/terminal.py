"""What a command tells besides its result, and what Ctrl-C does."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from normviz.texts.messages import without_marks


def say(message: str) -> None:
    """Print one line on stderr."""
    line = "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(without_marks(message).split()))
    print(f"normviz: {line}", file=sys.stderr)


# Signals of the operating system, such as Ctrl-C.


class Stopped(BaseException):
    """The process received SIGTERM."""


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
