"""What one hostile visitor does to a server, and what another visitor sees beside it. Each function returns what was seen."""

from __future__ import annotations

import asyncio
import math
import re
import socket
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect as connect_async
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from bench.common import Server
from bench.protocol import Session
from tests.support.asgi import run_async

MB = 2**20
VIEW = "shape=2,3,4,4&layer=LayerNorm([3,4,4])"
UPLOADS, ENDLESS, HALVES, MESSAGES, READERS, LINES = 100, 60 * MB, 100, 6000, 8, 100
WEBSOCKETS = 10  # of one visitor
CHANGES = 20  # a second, of each websocket
REQUESTS = 50  # with many languages
NO_VALUES: tuple[tuple[str, str, object], ...] = (
    ("number_input", "double_value", math.nan),
    ("number_input", "double_value", math.inf),
    ("number_input", "string_value", "a text"),
    ("selectbox", "string_value", "no layer\n2026-01-01 00:00:00,000 ERROR normviz: forged"),
    ("selectbox", "double_value", 1.0),
)
NO_GZIP = "gzip;q=0", "gzip; q=0.0", "identity, gzip;q=0", "GZIP;Q=0.000"
LONGEST = 30.0  # s, that an attack lasts


def beside(server: Server, attack: Callable[[], str]) -> tuple[str, float]:
    """What an attack saw, and the longest time in seconds that another visitor waited for a change meanwhile."""

    async def changes() -> tuple[str, float]:
        other, longest, number = Session(server.websocket, "explore", VIEW), 0.0, 0
        await other.open()
        with ThreadPoolExecutor(1) as thread:
            running = thread.submit(attack)
            while not running.done():
                number += 1
                longest = max(longest, (await other.go(f"{VIEW}&seed={number}")).seconds)
                await asyncio.sleep(0.02)
        await other.close()
        return running.result(), longest

    seen, longest = run_async(changes())
    return seen, longest


def uploads(server: Server) -> str:
    """Files for the session of the visitor's own websocket."""
    statuses, before = Counter[int](), server.memory()
    with connect(server.websocket, subprotocols=["streamlit"], max_size=None) as websocket:  # type: ignore[list-item]
        websocket.send(_rerun())
        session = ""
        while not session:
            session = ForwardMsg.FromString(websocket.recv(decode=False)).new_session.initialize.session_id
        with urlopen(f"{server.address}/_stcore/health") as health:
            token = health.headers["Set-Cookie"].partition("=")[2].partition(";")[0]
        for number in range(UPLOADS):
            connection = HTTPConnection(urlsplit(server.address).netloc)
            body = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n%b\r\n--x--\r\n' % (
                b"a" * 900_000
            )
            headers = {
                "Content-Type": "multipart/form-data; boundary=x",
                "X-Xsrftoken": token,
                "Cookie": f"_streamlit_xsrf={token}",
            }
            with suppress(OSError, HTTPException):  # it is refused before it is read
                connection.request("PUT", f"/_stcore/upload_file/{session}/{number}", body, headers)
            with suppress(OSError, HTTPException):
                statuses[connection.getresponse().status] += 1
            connection.close()
    seen = ", ".join(f"{status} for {'each' if count == UPLOADS else count}" for status, count in statuses.items())
    return f"{seen}, {(server.memory() - before) / MB:+.0f} MB"


def endless(server: Server, start: bytes, more: bytes) -> str:
    """A request that never ends."""
    before, sent, answer = server.memory(), 0, b""
    with socket.create_connection(_place(server), timeout=LONGEST) as connection, suppress(ConnectionError):
        connection.sendall(start)
        while sent < ENDLESS and not answer:
            connection.sendall(more)
            sent += len(more)
            connection.setblocking(False)
            with suppress(BlockingIOError):
                answer = connection.recv(4096)
            connection.settimeout(LONGEST)
    status = answer[9:12].decode() or "nothing"
    return f"{status} after {sent / MB:.2f} MB, {(server.memory() - before) / MB:+.0f} MB"


def halves(server: Server) -> str:
    """Requests that stop in the middle."""
    begin = time.monotonic()
    connections = [socket.create_connection(_place(server), timeout=LONGEST) for _ in range(HALVES)]
    for connection in connections:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nA: ")
    closed = 0
    for connection in connections:
        connection.settimeout(max(0.1, begin + LONGEST - time.monotonic()))
        with suppress(TimeoutError):
            while connection.recv(4096):
                pass
            closed += 1
        connection.close()
    return f"{closed} are closed within {time.monotonic() - begin:.0f} s"


def burst(server: Server) -> str:
    """Many small messages at once in one websocket, then nothing."""
    message, begin = _rerun(), time.monotonic()
    with connect(server.websocket, subprotocols=["streamlit"], max_size=None) as connection:  # type: ignore[list-item]
        try:
            for _ in range(MESSAGES):
                connection.send(message)
            while time.monotonic() - begin < LONGEST:
                connection.recv(timeout=LONGEST)
        except ConnectionClosed as closed:
            code = closed.rcvd.code if closed.rcvd else "no code"
            return f"closed with {code} after {time.monotonic() - begin:.0f} s"
        except TimeoutError:
            pass
    return "all are taken"


async def _changes(server: Server, end: float) -> int:
    """Changes of one of many websockets of a visitor; the number sent before the end, or before it is closed."""
    sent = 0
    async with connect_async(server.websocket, subprotocols=["streamlit"], max_size=None) as connection:  # type: ignore[list-item]
        with suppress(ConnectionClosed):
            while time.monotonic() < end:
                await connection.send(_rerun())
                sent += 1
                with suppress(TimeoutError):
                    async with asyncio.timeout(1 / CHANGES):
                        while True:
                            await connection.recv()
    return sent


def many_websockets(server: Server) -> str:
    """Many websockets of one visitor, each with many changes a second."""

    async def all_of_them() -> list[int]:
        end = time.monotonic() + LONGEST / 3
        return await asyncio.gather(*(_changes(server, end) for _ in range(WEBSOCKETS)))

    return f"{sum(run_async(all_of_them())):,} changes are taken in turn"


def refused_gzip(server: Server) -> str:
    """Requests that refuse gzip, in several spellings."""
    script = re.findall(r"static/js/[\w.-]+\.js", urlopen(f"{server.address}/explore").read().decode())[0]
    asked = [(path, word) for path in ("explore", script, "_stcore/health", "nowhere") for word in NO_GZIP]
    compressed = 0
    for path, word in asked:
        connection = HTTPConnection(urlsplit(server.address).netloc)
        connection.request("GET", f"/{path}", headers={"Accept-Encoding": word})
        compressed += connection.getresponse().getheader("Content-Encoding") == "gzip"
        connection.close()
    return f"{compressed} of {len(asked)} responses are compressed"


def long_language(server: Server) -> str:
    """Headers of accepted languages that name ten thousand of them."""
    spent = []
    for header in ("es", ",".join(["xx-XX"] * 10_000)):
        before, connection = server.cpu(), HTTPConnection(urlsplit(server.address).netloc)
        for _ in range(REQUESTS):
            connection.request("GET", "/nowhere", headers={"Accept-Language": header})
            connection.getresponse().read()
        connection.close()
        spent.append(1000 * (server.cpu() - before) / REQUESTS)
    return f"{spent[1]:.1f} ms of processor for a request ({spent[0]:.1f} with a short header)"


def values_in_log(server: Server, log: Path) -> str:
    """Values that no control sends."""
    before = len(log.read_text(encoding="utf-8").splitlines())

    async def send(kind: str, field: str, value: object) -> None:
        session = Session(server.websocket, "explore", VIEW)
        await session.open()
        widget = next(widget for widget in session.widgets.values() if widget.kind == kind)
        await session.run({widget.id: (field, value)}, widget.fragment)
        await session.close()

    for sent in NO_VALUES:
        run_async(send(*sent))
    lines = log.read_text(encoding="utf-8").splitlines()[before:]
    informing = sum(" INFO " in line for line in lines)
    return f"{informing} lines at INFO, {len(lines) - informing} others"


def large_message(server: Server) -> str:
    """A message as large as none of the app."""
    with connect(server.websocket, subprotocols=["streamlit"], max_size=None) as connection:  # type: ignore[list-item]
        connection.send(b"a" * (MB // 2))
        try:
            while True:
                connection.recv(timeout=LONGEST)
        except ConnectionClosed as closed:
            return f"closed with {closed.rcvd.code if closed.rcvd else 'no code'}"


def same_file(server: Server) -> str:
    """Readers who ask for the same file at once."""
    before, begin = server.cpu(), time.monotonic()
    with ThreadPoolExecutor(READERS) as threads:
        jobs = [threads.submit(_status, f"{server.address}/export?{VIEW}&seed=7") for _ in range(READERS)]
    found = Counter(job.result() for job in jobs)
    return f"{found[200]} files after {time.monotonic() - begin:.1f} s, {server.cpu() - before:.1f} s of processor"


def busy_client(server: Server) -> str:
    """A client that keeps eight requests for different files running, and a reader of a small file at the same address."""
    end, seeds, waits, refused = time.monotonic() + LONGEST, iter(range(100, 10_000)), list[float](), 0

    def ask() -> None:
        while time.monotonic() < end:
            if _status(f"{server.address}/export?{VIEW}&seed={next(seeds)}") != 200:
                time.sleep(0.1)

    with ThreadPoolExecutor(READERS) as threads:
        for _ in range(READERS):
            threads.submit(ask)
        time.sleep(1)
        while time.monotonic() < end:
            begin = time.monotonic()
            if _status(f"{server.address}/export?page=gradients&fixed=true&plotlyjs=cdn&seed={next(seeds)}") == 200:
                waits.append(time.monotonic() - begin)
            else:
                refused += 1
                time.sleep(1)
    longest = f", the longest wait was {max(waits):.1f} s" if waits else ""
    return f"{len(waits)} files and {refused} times 503{longest}"


def log_lines(server: Server, log: Path) -> str:
    """Messages that are none, and one with a line of the log in it."""
    before, forged = len(log.read_text(encoding="utf-8").splitlines()), BackMsg()
    forged.rerun_script.fragment_id = "x\n2026-01-01 00:00:00,000 ERROR normviz: forged"
    for sent in (*[b""] * LINES, forged.SerializeToString()):
        with connect(server.websocket, subprotocols=["streamlit"]) as connection:  # type: ignore[list-item]
            connection.send(sent)
            connection.send(b"\xff")
            with suppress(ConnectionClosed, TimeoutError):
                while connection.recv(timeout=LONGEST):
                    pass
    lines = log.read_text(encoding="utf-8").splitlines()[before:]
    own = sum(line.startswith("2026-01-01") for line in lines)
    return f"{len(lines)} lines, {own} of them forged, {sum('.py' in line for line in lines)} with a path"


def _rerun() -> bytes:
    """A message that runs Explore."""
    message = BackMsg()
    message.rerun_script.query_string, message.rerun_script.page_name = VIEW, "explore"
    return message.SerializeToString()


def _place(server: Server) -> tuple[str, int]:
    address = urlsplit(server.address)
    return str(address.hostname), int(address.port or 80)


def _status(address: str) -> int:
    """The status of a response that was read to its end."""
    parts = urlsplit(address)
    connection = HTTPConnection(parts.netloc, timeout=120)
    connection.request("GET", f"{parts.path}?{parts.query}")
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status
