"""The command: it runs what its arguments name. Its exit code:

0: done; 1: a checked function differs; 2: the request is invalid or failed, and one line on stderr explains it; 130 or 143: interrupted or stopped.
"""

import argparse
import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from types import FrameType
from typing import NoReturn

from normviz.cli.arguments import ALL, check_package, parsed
from normviz.cli.terminal import Stopped, on_signal, say
from normviz.cli.watching import watched
from normviz.texts.errors import NormvizError, NormvizWarning
from normviz.texts.languages import parse_language
from normviz.texts.messages import _, in_language

WRONG, INTERRUPTED = 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; its exit code. Without ``argv``, the process is the command's own."""
    try:
        with on_signal(signal.SIGTERM, _stop):
            return _code_of(lambda: _run(sys.argv[1:] if argv is None else argv, is_process=argv is None))
    except KeyboardInterrupt:
        return _failed(_("interrupted; no file is half-written."), INTERRUPTED)
    except Stopped:
        return _failed(_("stopped; no file is half-written."), 128 + signal.SIGTERM)
    finally:
        # All is written: Ctrl-C would only interrupt what torch does at the end.
        if argv is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(argv: Sequence[str], is_process: bool) -> int:
    with warnings.catch_warnings():
        args = parsed(argv)
        if is_process and args.run.startswith("normviz.cli.checking:"):
            return watched(partial(_code_of, partial(_result, args)), args.code)
        return _result(args)


def _result(args: argparse.Namespace) -> int:
    warnings.simplefilter("ignore", NormvizWarning)  # the page shows it too
    with in_language(_language_of(args)):
        check_package(args)
        code = _loaded(args.run)(args) or 0
    sys.stdout.flush()
    return code


def _code_of(run: Callable[[], int]) -> int:
    """The exit code of ``run``, whose errors are explained."""
    try:
        return run()
    except NormvizError as error:
        return _failed(str(error), WRONG)
    except UnicodeEncodeError:
        return _failed(_("an argument is not text; write it in UTF-8."), WRONG)
    except BrokenPipeError:  # the program that reads the output, such as head, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python writes the rest when it exits
        return 0
    except OSError as error:
        file, reason = error.filename or _("the output"), error.strerror or error
        return _failed(_("{file}: {reason}; make room, or write to another place.", file=file, reason=reason), WRONG)
    except MemoryError:
        return _failed(_("there is not enough memory for this; give a smaller shape."), WRONG)


def _failed(message: str, code: int) -> int:
    say(message)
    return code


def _stop(number: int, frame: FrameType | None) -> None:
    """End the command with an exception, so that unfinished files are removed."""
    raise Stopped


def _loaded(name: str) -> Callable[[argparse.Namespace], int | None]:
    """The function ``module:function``, which computes with one thread.

    Ctrl-C while torch is imported ends the process without unwinding: an interrupted import may fail with any error, and nothing is
    written yet.
    """
    module, _colon, function = name.partition(":")
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with on_signal(signal.SIGINT, _leave) if is_usual else nullcontext():
        run: Callable[[argparse.Namespace], int | None] = getattr(import_module(module), function)
    if "torch" in sys.modules:
        import_module("normviz.analysis.forward").use_one_thread()
    return run


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    print("normviz: interrupted; no file is half-written.", file=sys.stderr, flush=True)
    os._exit(128 + number)


def _language_of(args: argparse.Namespace) -> str:
    """The language that the arguments name; "" if they name none, or all."""
    named = getattr(args, "lang", None)
    return parse_language(named) if named and not (named == ALL and args.run.endswith(":site")) else ""
