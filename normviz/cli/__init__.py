"""The command ``normviz``: a view as one HTML file or as an image, and all lessons as a static site."""

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from types import FrameType
from typing import NoReturn

from normviz.cli.signals import on_signal

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; its exit code.

    Ctrl-C while torch is imported ends the process without unwinding: an interrupted import may fail with any error, and nothing is written
    yet.
    """
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with on_signal(signal.SIGINT, _leave) if is_usual else nullcontext():
        from normviz.cli.command import main as command
    return command(argv)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    print("normviz: interrupted; no file is half-written.", file=sys.stderr, flush=True)
    os._exit(128 + number)
