"""Sends requests to an ASGI application without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import unquote

T = TypeVar("T")


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, from an event loop in another thread: Playwright's loop may be running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@dataclass(frozen=True)
class Response:
    status: int
    headers: dict[str, str]
    body: bytes


def ask(app: Any, path: str, method: str = "GET", **headers: str) -> Response:
    """The response to one request; ``path`` may have a query; ``accept_encoding="gzip"`` sends that header."""
    path, _, query = path.partition("?")
    sent: list[Any] = []

    request_sent = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if request_sent.is_set():
            await asyncio.Event().wait()  # the client stays connected until the response is complete
        request_sent.set()
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    run_async(app(scope, receive, send))
    start = sent[0]
    found = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    return Response(start["status"], found, b"".join(message.get("body", b"") for message in sent[1:]))
