"""What one client can take from the server: the paths that are open, the length of a request, the messages of a session."""

from __future__ import annotations

import asyncio
import re
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from threading import Thread
from typing import Any

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from normviz.texts.languages import languages
from normviz.texts.messages import _, in_language
from normviz.ui.server import limits
from normviz.ui.server.limits import KEY, LONGEST_HEAD, in_turn, wait_for_end_of_burst
from normviz.ui.server.routes import Headers, routes
from tests.support.asgi import ask, run_async

# Paths


def test_of_streamlits_routes_only_these_are_open() -> None:
    """An upload would stay in memory, and no page has one. The websocket is the fifth."""
    from app import app

    own = {route.path for route in routes()}
    paths = {str(getattr(route, "path", "")) for route in app._build_starlette_app().routes} - own - {""}
    assert {"/_stcore/upload_file/{session_id}/{file_id}", "/media/{file_id:path}", "/oauth2callback"} < paths
    opened = {path for path in paths if ask(app, re.sub(r"\{.*?\}", "x", path)).status != 404}
    assert opened == {"/_stcore/health", "/_stcore/host-config", "/_stcore/metrics"}


@pytest.mark.parametrize("path", ["/metrics", "/_stcore/metrics"])
def test_who_asks_through_a_proxy_gets_no_metrics(path: str) -> None:
    from app import app

    assert ask(app, path, x_forwarded_for="192.0.2.1").status == 404
    assert ask(app, path).status == 200
    assert ask(app, "/_stcore/health", x_forwarded_for="192.0.2.1").status == 200


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "path", ["/_stcore/upload_file/a/b", "/lab/_stcore/upload_file/a/b", "/_stcore/agent/interact"]
)
def test_a_closed_path_takes_nothing(method: str, path: str) -> None:
    from app import app

    assert ask(app, path, method).status == 404


# Requests

SHORT = 0.2  # s


@pytest.fixture(autouse=True)
def _own_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_turn", asyncio.Lock())


@pytest.fixture(autouse=True)
def _refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LINGER", 0.02)


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    """uvicorn with the limits, and a small app."""
    limits.limit_requests()
    config = uvicorn.Config(
        PlainTextResponse("found"), host="127.0.0.1", port=0, http="auto", lifespan="off", log_config=None
    )
    server = uvicorn.Server(config)
    thread = Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()
    server.should_exit = True
    thread.join()


def answer(address: tuple[str, int], *sent: bytes, most: int = 0) -> bytes:
    """What the server sends until it closes the connection; ``most`` bytes are sent after ``sent``, unless it has answered."""
    with socket.create_connection(address, timeout=60) as connection:
        for one in sent:
            connection.sendall(one)
        connection.setblocking(False)
        received, rest = b"", most
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                if rest > 0 and not received:
                    rest -= connection.send(b"a" * min(rest, 4096))
            except BlockingIOError:
                pass
            try:
                some = connection.recv(65536)
            except BlockingIOError:
                time.sleep(0.001)
                continue
            except ConnectionResetError:
                break
            if not some:
                break
            received += some
        return received


GET = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /", b"414 "),  # an address without an end
        (b"GET / HTTP/1.1\r\nA: ", b"431 "),  # a header without an end
        (b"GET / HTTP/1.1\r\nA", b"431 "),  # a name without an end
        (GET + b"A: b\r\n" * 50 + b"A: ", b"431 "),
        (b"A", b"40"),  # neither
    ],
)
def test_a_request_without_an_end_is_refused(address: tuple[str, int], sent: bytes, status: bytes) -> None:
    assert answer(address, sent, most=50 * LONGEST_HEAD).startswith(b"HTTP/1.1 " + status)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (GET + b"A: %b\r\n\r\n" % (b"a" * 60_000), b"200 "),
        (GET + b"A: %b\r\n\r\n" % (b"a" * LONGEST_HEAD), b"431 "),
        (GET + b"A: b\r\n" * 20_000 + b"\r\n", b"431 "),
        (b"GET /?a=%b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % (b"a" * 60_000), b"200 "),
        (b"GET /?a=%b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % (b"a" * LONGEST_HEAD), b"414 "),
        (
            b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 200000\r\n\r\n" + b"a" * 200_000,
            b"200 ",
        ),
    ],
)
def test_a_long_request_is_refused_as_a_whole_too(address: tuple[str, int], sent: bytes, status: bytes) -> None:
    received = answer(address, sent)
    assert received.startswith(b"HTTP/1.1 " + status)
    assert (b"found" in received) == (status == b"200 ")


CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"


@pytest.mark.parametrize(
    ("start", "more"), [(b"0\r\n", b"A: b\r\n"), (b"0\r\nA: ", b"a"), (b"3;a=", b"a")], ids=["trailers", "one", "chunk"]
)
def test_what_follows_a_body_has_an_end_too(address: tuple[str, int], start: bytes, more: bytes) -> None:
    """It would stay in memory for as long as a request may take."""
    part = more * (LONGEST_HEAD // 10 // len(more))
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(CHUNKED + start)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        sent = 0
        with suppress(ConnectionError):
            while sent < 10 * LONGEST_HEAD:
                connection.sendall(part)
                sent += len(part)
                time.sleep(0.005)
    assert LONGEST_HEAD - len(part) <= sent < 10 * LONGEST_HEAD


def test_empty_lines_without_a_request_are_no_fault_of_the_server(
    address: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    assert answer(address, b"\r\n" * LONGEST_HEAD).startswith(b"HTTP/1.1 431 ")
    assert caplog.messages == []


HALF = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n"


@pytest.mark.parametrize(
    ("sent", "status"), [(b"", b""), (b"GET / HT", b"408"), (HALF, b"408"), (HALF + b"\r\n123", b"200")]
)
def test_a_request_that_is_not_complete_in_time_is_closed(
    address: tuple[str, int], sent: bytes, status: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LONGEST_WAIT", SHORT)
    begin = time.monotonic()
    received = answer(address, sent)
    assert SHORT <= time.monotonic() - begin < 20
    assert received[9:12] == status


def test_a_client_that_comes_back_on_the_same_connection_is_served(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LONGEST_WAIT", SHORT)
    with socket.create_connection(address, timeout=60) as connection:
        for _again in range(2):
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"found" in connection.recv(65536)
            time.sleep(2 * SHORT)  # of uvicorn's five seconds
        connection.sendall(b"GET / HT")
        assert connection.recv(65536).startswith(b"HTTP/1.1 408")


# Messages of a session


class Visitor:
    """A websocket whose messages have all arrived, but for ``every`` seconds between them."""

    def __init__(self, message: dict[str, Any], every: float = 0.0) -> None:
        self.message, self.every, self.sent = message, every, list[dict[str, Any]]()
        headers = [(b"accept-language", b"zh-CN"), (b"cookie", b"normviz-language=es"), (KEY.encode(), b"one")]
        self.scope = {"type": "websocket", "headers": headers}
        self.receive_in_turn, self.send_until_closed = in_turn(self.scope, self.receive, self.send)

    async def receive(self) -> dict[str, Any]:
        if self.every:
            await asyncio.sleep(self.every)
        return dict(self.message)

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    async def take(self, number: int) -> int:
        """The number of messages that were taken before the connection was closed."""
        for taken in range(number):
            if (await self.receive_in_turn())["type"] == "websocket.disconnect":
                return taken
        return number


def rerun(query: str = "") -> dict[str, Any]:
    message = BackMsg()
    message.rerun_script.query_string = query
    return {"type": "websocket.receive", "bytes": message.SerializeToString()}


def test_a_burst_is_taken_in_turn_with_other_work() -> None:
    async def both() -> int:
        burst, turns = asyncio.create_task(Visitor(rerun()).take(limits.BURST)), 0
        while not burst.done():
            await asyncio.sleep(0)
            turns += 1
        return turns

    assert run_async(both()) >= limits.BURST


def test_of_all_sessions_one_message_is_taken_in_each_round_of_the_event_loop() -> None:
    """Otherwise, what is sent to others waits for a message of each of the websockets of one visitor."""

    async def rounds(sessions: int, messages: int) -> int:
        bursts = [asyncio.create_task(Visitor(rerun()).take(messages)) for _ in range(sessions)]
        found = 0
        while not all(burst.done() for burst in bursts):
            await asyncio.sleep(0)
            found += 1
        return found

    assert run_async(rounds(40, 5)) >= 40 * 5


def test_a_session_beyond_the_rate_is_slowed_then_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RATE", 1000)
    monkeypatch.setattr(limits, "MOST_SLOWED", 100)
    visitor, begin = Visitor(rerun()), time.monotonic()
    assert run_async(visitor.take(6000)) == limits.BURST + 100
    assert time.monotonic() - begin >= 100 / 1000
    toast, close = visitor.sent
    assert (close["type"], close["code"], close["reason"]) == (
        "websocket.close",
        1008,
        "More than 1000 messages a second.",
    )
    assert "too many changes" not in ForwardMsg.FromString(toast["bytes"]).delta.new_element.toast.body  # Spanish


def test_the_fastest_reader_is_never_slowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that is held at the fastest setting of a keyboard, here ten times as fast."""
    monkeypatch.setattr(limits, "RATE", 1000)
    monkeypatch.setattr(limits, "MOST_SLOWED", 0)
    monkeypatch.setattr(limits, "BURST", 20)
    assert run_async(Visitor(rerun(), every=1 / 660).take(200)) == 200


def test_in_a_burst_the_page_of_that_session_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, visitor = [100.0], Visitor(rerun())

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    def waits(key: str = "one") -> float:
        begin = clock[0]
        wait_for_end_of_burst({KEY: key})
        return clock[0] - begin

    monkeypatch.setattr(limits, "monotonic", lambda: clock[0])
    monkeypatch.setattr(limits, "sleep", sleep)
    monkeypatch.setattr(limits, "_bursts", {})
    run_async(visitor.take(limits.BURST // 2))
    assert waits() == 0
    run_async(visitor.take(2))
    assert (waits("another"), waits(), waits()) == (0, pytest.approx(limits.GAP), 0)
    monkeypatch.setattr(limits, "GAP", 60)  # as if more messages came all the time
    run_async(visitor.take(1))
    assert waits() == limits.LONGEST_BURST
    visitor.message = {"type": "websocket.disconnect"}
    run_async(Headers(take_one, "*")(visitor.scope, visitor.receive, visitor.send))
    assert waits() == 0


async def take_one(scope: Any, receive: Any, send: Any) -> None:
    """An app that takes a message from a websocket."""
    await receive()


async def close(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "websocket.close"})


async def fail(scope: Any, receive: Any, send: Any) -> None:
    raise ValueError


@pytest.mark.parametrize("app", [close, fail])
def test_nothing_is_kept_of_a_websocket_that_the_server_ends(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_bursts", {})
    visitor = Visitor(rerun())
    run_async(visitor.take(limits.BURST))
    assert list(limits._bursts) == ["one"]
    with suppress(ValueError):
        run_async(Headers(app, "*")(visitor.scope, visitor.receive, visitor.send))
    assert limits._bursts == {}


@pytest.mark.parametrize("name", languages())
def test_a_reader_who_is_disconnected_reads_why(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BURST", 0)
    monkeypatch.setattr(limits, "MOST_SLOWED", 0)
    visitor = Visitor(rerun(f"shape=2,3&lang={name}"))
    run_async(visitor.take(1))
    message = ForwardMsg.FromString(visitor.sent[0]["bytes"])
    with in_language(name):
        expected = _(
            "This page sent too many changes at once, so it was disconnected. It comes back by itself in a moment."
        )
    assert message.delta.new_element.toast.body == expected
    assert name == "en" or "disconnected" not in expected


def test_what_is_no_message_of_streamlit_closes_the_connection_without_an_error() -> None:
    visitor = Visitor({"type": "websocket.receive", "text": "hello"})
    assert run_async(visitor.take(9)) == 0
    run_async(visitor.send_until_closed({"type": "websocket.send", "bytes": b""}))
    assert [message.get("code") for message in visitor.sent] == [1003]
    invalid = Visitor({"type": "websocket.receive", "bytes": b"\xff"})
    assert run_async(invalid.take(9)) == 9  # Streamlit closes it
