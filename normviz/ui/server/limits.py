"""What one client can take from the server: which paths are open, how long a request may be, and how many messages a session may send.

These limits hold without a proxy, too.
"""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from time import monotonic, sleep
from urllib.parse import parse_qsl

import streamlit as st
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from starlette.requests import HTTPConnection
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.RootContainer_pb2 import RootContainer
from streamlit.proto.Toast_pb2 import Toast
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from normviz.texts.messages import _, in_language
from normviz.ui.request import language_of_request

# Paths

PATHS = re.compile(
    r"[A-Za-z0-9-][\w-]*|lib/.+|favicon\.png|static/.+|_stcore/(health|host-config|metrics|stream)", re.ASCII
)


def is_open(path: str) -> bool:
    """Whether something can be at a path: a page, a file, or what Streamlit's front end asks for.

    Streamlit has more, which the app does not use, such as uploads, which it keeps in memory.

    >>> is_open("/explore"), is_open("/_stcore/health"), is_open("/_stcore/upload_file/1/2"), is_open("//explore")
    (True, True, False, False)
    """
    base = f"/{str(st.get_option('server.baseUrlPath') or '').strip('/')}/".replace("//", "/")
    below = path.removeprefix(base) if path.startswith(base) else path[1:]
    return not below or PATHS.fullmatch(below) is not None


def is_hidden(request: HTTPConnection) -> bool:
    """Whether it asks for the numbers of visitors and files through a proxy, which names the visitor: they are for the host's own monitoring."""
    return request.url.path.endswith("/metrics") and "x-forwarded-for" in request.headers


# Requests

LONGEST_HEAD = 2**16  # bytes of the request line and the headers
LONGEST_WAIT = 10.0  # s until a request is complete
LINGER = 1.0  # s in which a client that still sends can read why it is refused
LARGEST_MESSAGE = 2**16  # bytes of a message of a websocket


class LimitedRequests(HttpToolsProtocol):
    """uvicorn's protocol, which has no limits of its own: it reads a line or a header of any length, and waits for its end as long as the client likes.

    head     bytes of the request line and the headers so far; later, bytes that follow the last part of the body, such as trailers
    in_body  whether the headers are complete and the request is not
    timer    ends a request that is not complete in time
    """

    url = b""  # uvicorn sets it when a request begins; empty lines may come before
    head = 0
    in_body = False
    timer: asyncio.TimerHandle | None = None
    is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.config.ws_max_size = LARGEST_MESSAGE  # for the websocket that this connection may become
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.is_refused:
            return
        if self.timer is None:
            self._start_timer()
        self.head += len(data)
        super().data_received(data)
        if self.head > LONGEST_HEAD:
            self._refuse_head()

    def on_headers_complete(self) -> None:
        if len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > LONGEST_HEAD:
            self._refuse_head()
            raise ValueError("the parser stops")
        self.head, self.in_body = 0, True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self.head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self.head, self.in_body = 0, False
        self._stop_timer()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        if not self.is_refused:
            super().send_400_response(msg)

    def _start_timer(self) -> None:
        self.timer = self.loop.call_later(LONGEST_WAIT, self._refuse, HTTPStatus.REQUEST_TIMEOUT)

    def _stop_timer(self) -> None:
        if self.timer:
            self.timer.cancel()
            self.timer = None

    def _refuse_head(self) -> None:
        is_line = len(self.url) > LONGEST_HEAD // 2
        self._refuse(HTTPStatus.REQUEST_URI_TOO_LONG if is_line else HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def _refuse(self, status: HTTPStatus) -> None:
        if self.is_refused or self.transport.is_closing():
            return
        self._stop_timer()
        self.is_refused = True
        if self.head and not self.in_body:  # the client has asked for something, and no response has begun
            line = f"HTTP/1.1 {status.value} {status.phrase}\r\n"
            self.transport.write(f"{line}connection: close\r\ncontent-length: 0\r\n\r\n".encode())
        self.loop.call_later(LINGER, self.transport.close)


def limit_requests() -> None:
    """Let uvicorn use the limited protocol, however it was started: it has chosen its own before it imports the app."""
    HttpToolsProtocol.__new__ = lambda *_, **__: object.__new__(LimitedRequests)  # type: ignore[assignment, method-assign]


# Messages of a session. Streamlit takes all that have arrived before anything else runs, and each of them ends the run for the last one and starts
# another. In a burst, a page therefore runs only now and then, for the last message so far: runs that nobody sees would take the others' time.

RATE = 100  # messages a second; a key that is held sends 30, at the fastest setting of a keyboard 66
BURST = 50  # messages that may come faster; after half of them, the page waits for the end of the burst
GAP = 0.1  # s without a message, which end a burst
LONGEST_BURST = 0.5  # s, after which the page runs all the same
MOST_SLOWED = 1000  # messages that are slowed to the rate, one after the other, before the connection is closed
SHOWN = 20  # s for which the reader sees why
KEY = "sec-websocket-key"  # the header that names a websocket
_turn = asyncio.Lock()  # which each message of any session takes
_bursts: dict[str, float] = {}  # until when no page of a websocket runs


def in_turn(scope: Scope, receive: Receive, send: Send) -> tuple[Receive, Send]:
    """``receive`` and ``send`` of a websocket that takes its messages in turn with all other work, at the rate."""
    credit, slowed, is_closed = float(BURST), 0, False
    key = HTTPConnection(scope).headers.get(KEY, "")

    async def receive_in_turn() -> Message:
        nonlocal credit, slowed
        begin = monotonic()
        message = await receive()
        waited = monotonic() - begin
        async with _turn:  # of all sessions, one message in each round of the event loop
            await asyncio.sleep(0)
        if message["type"] == "websocket.disconnect":
            return message
        if message.get("text") is not None:
            return await close(1003, "Streamlit's messages are binary.")
        credit = min(credit + waited * RATE, BURST) - 1
        slowed = slowed + 1 if credit < 0 else 0
        if credit < BURST / 2:
            _bursts[key] = monotonic() + GAP
        if slowed > MOST_SLOWED and "bytes" in message:
            await send({"type": "websocket.send", "bytes": _farewell(scope, message["bytes"])})
            return await close(1008, f"More than {RATE} messages a second.")
        if slowed:
            await asyncio.sleep(1 / RATE)
            credit += 1
        return message

    async def close(code: int, reason: str) -> Message:
        nonlocal is_closed
        is_closed = True
        await send({"type": "websocket.close", "code": code, "reason": reason})
        return {"type": "websocket.disconnect", "code": code}

    async def send_until_closed(message: Message) -> None:
        if not is_closed:
            await send(message)

    return receive_in_turn, send_until_closed


def forget_burst(scope: Scope) -> None:
    """Call when the websocket has ended, whoever closed it."""
    _bursts.pop(HTTPConnection(scope).headers.get(KEY, ""), None)


def wait_for_end_of_burst(headers: Mapping[str, str]) -> None:
    """Wait, in the thread of a page, until the websocket with these headers has no more messages at once."""
    end = monotonic() + LONGEST_BURST
    while (left := min(_bursts.get(headers.get(KEY, ""), 0.0), end) - monotonic()) > 0:
        sleep(left)


def _farewell(scope: Scope, last: bytes) -> bytes:
    """Streamlit's message that tells the reader why the connection is closed, in the language of the page that sent ``last``."""
    query: dict[str, str] = {}
    with suppress(DecodeError):
        query = dict(parse_qsl(BackMsg.FromString(last).rerun_script.query_string))
    message = ForwardMsg()
    message.metadata.delta_path.extend([RootContainer.EVENT, 0])
    with in_language(language_of_request(HTTPConnection(scope), query.get("lang", ""))):
        text = _(
            "This page sent too many changes at once, so it was disconnected. It comes back by itself in a moment."
        )
    message.delta.new_element.toast.MergeFrom(Toast(body=text, duration=SHOWN))
    return message.SerializeToString()
