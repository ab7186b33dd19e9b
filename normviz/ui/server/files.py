"""The files that the server has open. Each visitor's connection is one, and the system allows a number of them, often 1,024.

The server raises its limit to the most that it may, tells browsers to close connections that they do not need when half of the files are
open, and refuses new visitors while there are still files left to tell them.
"""

import logging
import os
from contextlib import suppress
from errno import EMFILE, ENFILE
from http import HTTPStatus

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None  # type: ignore[assignment]

FOLDER = "/dev/fd"  # lists the open files of the process that reads it
# To try where there is no hard limit: the kernel has one all the same, and 10,240 is that of macOS.
LIMITS = (65_536, 10_240)
BUSY = 2  # from one in BUSY of the files, connections are closed after their response
RESERVE = 16  # one in RESERVE of the files is kept for responses to those who are refused
LEAST_RESERVE = 16
REFUSED = "ASGI callable returned without completing handshake."
AGAIN = 5  # s, until a visitor who was refused comes again
FULL = "normviz_is_full"  # in the scope of a request, for the response to a page


def start() -> None:
    """Raise the limit, and do not log a visitor who is refused: uvicorn takes that for an error of the application."""
    raise_limit()
    logging.getLogger("uvicorn.error").addFilter(lambda record: record.msg != REFUSED)


def raise_limit() -> None:
    """Set the number of files that this process may open to the most that it may set."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for limit in LIMITS if hard == resource.RLIM_INFINITY else (hard,):
        with suppress(ValueError, OSError):  # more than the kernel allows
            if limit > soft != resource.RLIM_INFINITY:
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
            return


def limit() -> int | None:
    """The number of files that this process may open; None if there is no limit."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if resource else None
    return None if resource is None or soft == resource.RLIM_INFINITY else soft


def count() -> int | None:
    """The number of open files; None if the system does not list them."""
    try:
        return len(os.listdir(FOLDER)) - 1  # without the one that lists them
    except OSError as error:
        return limit() if error.errno in (EMFILE, ENFILE) else None  # no file is left to list them


def share() -> float:
    """The open files as a share of those that visitors may have; at 1, new ones are refused."""
    most, used = limit(), count()
    return 0.0 if most is None or used is None else used / (most - max(most // RESERVE, min(LEAST_RESERVE, most // 4)))


class FewFiles:
    """ASGI middleware: refuses a visitor's session when few files are left, and then lets no connection stay open after its response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        used = share()
        scope[FULL] = used >= 1
        if scope["type"] == "websocket" and scope[FULL]:  # a proxy asks the next server; the browser comes again
            headers = {"Retry-After": str(AGAIN)}
            response = PlainTextResponse("", status_code=HTTPStatus.SERVICE_UNAVAILABLE, headers=headers)
            return await response(scope, receive, send)

        async def send_and_close(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        await self.app(scope, receive, send_and_close if used >= 1 / BUSY else send)


async def metrics(request: Request) -> Response:
    """The open files and their limit in the names and the format of Prometheus, without those that the system does not tell."""
    found = {"process_open_fds": count(), "process_max_fds": limit()}
    text = "".join(f"# TYPE {name} gauge\n{name} {value}\n" for name, value in found.items() if value is not None)
    return PlainTextResponse(text, headers={"Cache-Control": "no-store"}, media_type="text/plain; version=0.0.4")
