"""Ends of a process by code that a command runs: ``python -m tests.cli.endings`` tries each, and prints what the command would say, as JSON."""

import atexit
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from normviz.cli.terminal import say
from normviz.cli.watching import guarded, watched
from normviz.texts.errors import NormvizError


def _raise(error: BaseException) -> None:
    raise error


def _send(number: int) -> None:
    os.kill(os.getpid(), number)
    time.sleep(5)


def _end_in_a_thread() -> None:
    threading.Thread(target=os._exit, args=(0,)).start()
    time.sleep(5)


def _go_on_in_a_fork() -> None:
    if os.fork():
        os._exit(0)


# What the code does, and how the command says it
ENDINGS: dict[str, tuple[Callable[[], object], str]] = {
    "os._exit(0)": (lambda: os._exit(0), "exit code 0"),
    "os._exit(1)": (lambda: os._exit(1), "exit code 1"),
    "os.abort": (os.abort, "SIGABRT"),
    "SIGKILL": (lambda: _send(signal.SIGKILL), "SIGKILL"),
    "SIGTERM": (lambda: _send(signal.SIGTERM), "SIGTERM"),
    "SIGINT": (lambda: _send(signal.SIGINT), "SIGINT"),
    "os.execv": (lambda: os.execv("/bin/echo", ["echo", "result"]), "exit code 0"),
    "a thread": (_end_in_a_thread, "exit code 0"),
    "a fork that goes on": (_go_on_in_a_fork, "exit code 0"),
    "closed files": (lambda: os.closerange(1, 100), "exit code 0"),
    "KeyboardInterrupt": (lambda: _raise(KeyboardInterrupt()), "KeyboardInterrupt"),
    "SystemExit": (lambda: _raise(SystemExit(0)), "SystemExit"),
}
GOES_ON: dict[str, Callable[[], object]] = {
    **{str(code): lambda: os.write(1, b"printed by the code\n") for code in range(3)},
    "fork": os.fork,
    "atexit": lambda: atexit.register(os._exit, 1),
    "sys.stdout": lambda: setattr(sys, "stdout", io.StringIO()),
}


def command(name: str) -> int:
    """A command that runs the code of this name."""

    def run() -> int:
        with guarded("code"):
            ENDINGS[name][0]() if name in ENDINGS else GOES_ON[name]()
        sys.stdout.write("result\n")
        sys.stdout.flush()
        return int(name) if name.isdecimal() else 0

    def explained() -> int:
        try:
            return run()
        except NormvizError as error:
            say(str(error))
            return 2

    try:
        return watched(explained, "code")
    except NormvizError as error:
        say(str(error))
        return 2


def _tried(name: str) -> list[object]:
    ran = subprocess.Popen([sys.executable, "-m", __spec__.name, name], stdout=-1, stderr=-1, text=True)
    out, err = ran.communicate(timeout=30)
    return [ran.returncode, out, err]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background of a shell ignores it
        sys.exit(command(sys.argv[1]))
    print(json.dumps({name: _tried(name) for name in (*ENDINGS, *GOES_ON)}))
