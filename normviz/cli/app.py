"""``normviz app``: start the app, and open it in the reader's browser."""

import argparse
import os
import runpy
import signal
import socket
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from types import FrameType
from typing import NoReturn

from normviz.cli.terminal import on_signal
from normviz.texts.errors import NormvizError

LARGEST_PORT = 65535


def start(args: argparse.Namespace) -> None:
    """Start the app, and return when it is stopped. Raises NormvizError if Streamlit is not installed, or if the port or the address cannot be used."""
    if find_spec("streamlit") is None:
        raise NormvizError('the app needs Streamlit, which is not installed; run pip install "normviz[app]".')
    if args.port is not None and not 1 <= args.port <= LARGEST_PORT:
        raise NormvizError(
            "--port {port} is not a port; choose a number from 1 to {largest}.", port=args.port, largest=LARGEST_PORT
        )
    _try(args.address or os.environ.get("STREAMLIT_SERVER_ADDRESS") or "localhost", args.port or 0)
    sys.argv = ["normviz app", *_options(args, os.environ)]
    with on_signal(signal.SIGINT, _leave), on_signal(signal.SIGTERM, _leave):
        runpy.run_module("normviz.ui", run_name="__main__")


def _try(address: str, port: int) -> None:
    """Raise NormvizError if the app cannot listen there (0: at any port): Streamlit would not say what to do."""
    try:
        family = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0][0]
        socket.create_server((address, port), family=family).close()
    except OSError as error:
        raise NormvizError(
            "the app cannot listen at {place} ({reason}); choose another --port or --address.",
            place=f"{address}:{port}" if port else address,
            reason=str(error.strerror).split(" (")[0],  # Python adds the address
        ) from None


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """End the process at once: the server has not started yet, or it has stopped and raises the signal again."""
    os._exit(128 + number)


def _options(args: argparse.Namespace, environ: Mapping[str, str]) -> list[str]:
    """The arguments of Streamlit. What is not given is left to its variables, such as STREAMLIT_SERVER_PORT."""
    address = args.address or (None if "STREAMLIT_SERVER_ADDRESS" in environ else "localhost")
    host = f"[{address}]" if address and ":" in address else None  # an address of IPv6, as a link writes it
    given = {"--server.address": address, "--server.port": args.port, "--browser.serverAddress": host}
    options = [f"{name}={value}" for name, value in given.items() if value is not None]
    return options if args.no_browser or not has_display(environ, sys.platform) else [*options, "--", "--open"]


def has_display(environ: Mapping[str, str], platform: str) -> bool:
    """Whether a window can be opened.

    >>> has_display({}, "linux"), has_display({"DISPLAY": ":0"}, "linux"), has_display({}, "darwin")
    (False, True, True)
    """
    return platform in ("darwin", "win32") or any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
