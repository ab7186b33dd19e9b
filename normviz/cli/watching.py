"""Commands that run code of somebody else, ``normviz check`` and ``normviz norms``: what that code does is never the result of the command.

``guarded`` keeps what the code prints out of the result, and makes an error of what it raises to end the program. ``watched`` runs the whole
command in a child process, which sees the other ends: os._exit, a signal, another program in its place.
"""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout, suppress
from types import FrameType
from typing import NoReturn

from normviz.cli.terminal import Stopped, on_signal, say
from normviz.texts.errors import NormvizError
from normviz.texts.messages import _

FAILED = 2
_exit, _write = os._exit, os.write  # the code may replace those of the module


@contextmanager
def guarded(name: str) -> Iterator[None]:
    """Run code of somebody else, which ``name`` names. What it prints goes to stderr; a process that it forks ends here.

    Raises NormvizError if the code raises what ends a program, such as SystemExit.
    """
    own = os.getpid()
    try:
        with redirect_stdout(sys.stderr):
            yield
    except (Exception, KeyboardInterrupt, Stopped):
        raise
    except BaseException as error:
        raise NormvizError(_raises(name, error)) from error
    finally:
        if os.getpid() != own:
            _exit(0)


def _raises(name: str, error: BaseException) -> str:
    kind = type(error).__name__
    return _("{name} raises {kind}, which ends a program; take out what does, such as exit().", name=name, kind=kind)


def watched(run: Callable[[], int], name: str) -> int:
    """The exit code of ``run`` in a child process. A signal, such as that of Ctrl-C, ends it.

    Raises NormvizError if the code that ``name`` names ends the child process, and what a signal raises here. Without child processes, as on
    Windows, and where no further one is allowed, ``run`` runs here.
    """
    sys.stdout.flush()
    try:
        alive, parent = os.pipe()  # its end tells the child that the parent has ended
        reported, report = os.pipe()
        child = os.fork()
    except (AttributeError, OSError):
        return run()
    if child == 0:
        os.close(parent)
        _be_child(run, name, alive, report)
    os.close(report)
    received: list[int] = []

    def forward(number: int, frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL if received else number)
        received.append(number)

    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # as in a background job of a shell
    with nullcontext() if ignored else on_signal(signal.SIGINT, forward), on_signal(signal.SIGTERM, forward):
        end = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.set_blocking(reported, False)
    with suppress(BlockingIOError):  # a process that the code forked holds the pipe
        if code := os.read(reported, 1):
            return code[0]
    if received:
        print(end="\r\033[K" if sys.stderr.isatty() else "", file=sys.stderr)  # a progress bar
        raise Stopped if received[0] == signal.SIGTERM else KeyboardInterrupt
    how = _("exit code {code}", code=end) if end >= 0 else signal.Signals(-end).name
    raise NormvizError(
        "{name} ended the process before there was a result ({how}); take out what does, such as os._exit().",
        name=name,
        how=how,
    )


def _be_child(run: Callable[[], int], name: str, alive: int, report: int) -> NoReturn:
    """Run, report the exit code, and end: what the code has registered for the end of the process does not run."""
    own, code = os.getpid(), FAILED

    def end_with_parent() -> None:
        os.read(alive, 1)
        _exit(FAILED)

    def end(number: int, frame: FrameType | None) -> NoReturn:
        signal.signal(number, signal.SIG_DFL)
        os.kill(own, number)
        _exit(FAILED)

    try:
        threading.Thread(target=end_with_parent, daemon=True).start()
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, end)
        # The result goes where stdout goes, and what the code writes there goes to stderr.
        sys.stdout = os.fdopen(os.dup(1), "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors)
        os.dup2(2, 1)
        code = run()
    except KeyboardInterrupt as error:  # Ctrl-C raises none here
        say(_raises(name, error))
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(OSError):  # the code closed it
            if os.getpid() == own:
                _write(report, bytes([code]))
        _exit(0)
