"""The command ``normviz``: a view as one HTML file or as an image, and all lessons as a static site."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; its exit code. Ctrl-C while torch is imported ends the process."""
    with _interrupt_ends_at_once():
        from normviz.cli.command import main as command
    return command(argv)


@contextmanager
def _interrupt_ends_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process without unwinding: an interrupted import may fail with any error, and nothing is written yet."""
    default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not default or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    print("normviz: interrupted; no file is half-written.", file=sys.stderr, flush=True)
    os._exit(128 + number)
