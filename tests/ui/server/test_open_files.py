"""The open files of the server: the limit is raised, and near the limit visitors are told."""

from __future__ import annotations

import re
import runpy
import sys
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from starlette.applications import Starlette

from normviz.texts.languages import languages
from normviz.ui.server import files
from normviz.ui.server.files import FewFiles
from normviz.ui.server.routes import middleware, routes
from tests.support.asgi import ask, run_async

INFINITY = 2**63 - 1  # as on macOS


def limits(soft: int, hard: int, most: int = INFINITY) -> SimpleNamespace:
    """The module resource of a system whose kernel allows ``most`` files."""
    now = [soft, hard]

    def set_limit(_kind: int, wanted: tuple[int, int]) -> None:
        if wanted[0] > min(most, now[1]):
            raise ValueError("Invalid argument")
        now[:] = wanted

    return SimpleNamespace(RLIMIT_NOFILE=7, RLIM_INFINITY=INFINITY, getrlimit=lambda _: tuple(now), setrlimit=set_limit)


@pytest.mark.parametrize(
    ("soft", "hard", "most", "raised"),
    [
        (1024, 524_288, INFINITY, 524_288),
        (1024, 1024, INFINITY, 1024),
        (256, INFINITY, 245_760, 65_536),  # macOS
        (256, INFINITY, 10_240, 10_240),  # an older one
        (100_000, INFINITY, 245_760, 100_000),
        (INFINITY, INFINITY, INFINITY, INFINITY),
        (256, 4096, 512, 256),  # a sandbox that allows less than it says
    ],
)
def test_the_limit_is_raised_to_the_most_that_is_allowed(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, most: int, raised: int
) -> None:
    system = limits(soft, hard, most)
    monkeypatch.setattr(files, "resource", system)
    files.raise_limit()
    assert system.getrlimit(0) == (raised, hard)
    assert files.limit() == (None if raised == INFINITY else raised)


def test_windows_has_no_such_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    there = runpy.run_path(files.__file__)
    there["raise_limit"]()
    assert there["limit"]() is None
    assert there["share"]() == 0


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "limit", lambda: 100)
    monkeypatch.setattr(files, "count", lambda: 84)


@pytest.fixture
def app() -> Starlette:
    return Starlette(routes=routes(), middleware=middleware())


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("language", languages())
def test_a_visitor_for_whom_there_is_no_file_gets_a_page_that_tries_again(app: Starlette, language: str) -> None:
    response = ask(app, f"/explore?lang={language}&embed_options=dark_theme")
    html = response.body.decode()
    assert response.status == 503
    assert response.headers["retry-after"] == "5"
    assert response.headers["connection"] == "close"
    assert response.headers["cache-control"] == "no-store"
    assert '<meta http-equiv="refresh" content="5">' in html
    title = re.findall("<h1>(.*?)</h1>", html)
    assert title == [{"en": "The server is full", "es": "El servidor está lleno", "pt": "O servidor está cheio", "zh": "服务器已满"}[language]]  # fmt: skip


@pytest.mark.usefixtures("full")
def test_a_session_for_which_there_is_no_file_is_refused_with_503_so_that_a_proxy_asks_the_next_server() -> None:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def fail(*_: object) -> None:
        raise AssertionError("it was passed on")

    run_async(FewFiles(fail)({"type": "websocket"}, fail, send))  # type: ignore[arg-type]
    assert [message["type"] for message in sent] == ["websocket.http.response.start", "websocket.http.response.body"]
    assert sent[0]["status"] == 503
    assert (b"retry-after", b"5") in sent[0]["headers"]


@pytest.mark.parametrize(("used", "connection"), [(41, None), (42, "close"), (83, "close")])
def test_from_half_of_the_files_on_no_connection_stays_open_after_its_response(
    app: Starlette, full: None, monkeypatch: pytest.MonkeyPatch, used: int, connection: str | None
) -> None:
    monkeypatch.setattr(files, "count", lambda: used)
    response = ask(app, "/explore")
    assert (response.status, response.headers.get("connection")) == (200, connection)


def test_the_files_are_counted_once_for_a_request(app: Starlette, monkeypatch: pytest.MonkeyPatch) -> None:
    count = Mock(return_value=1)
    monkeypatch.setattr(files, "count", count)
    for path in ("/explore", "/nowhere"):
        ask(app, path)
    assert count.call_count == 2


@pytest.mark.parametrize(
    ("error", "used", "is_full"),
    [
        (FileNotFoundError(2, "No such file"), None, False),  # nobody is refused where the system does not list them
        (PermissionError(13, "Permission denied"), None, False),
        (OSError(24, "Too many open files"), 100, True),
    ],
)
def test_open_files_that_cannot_be_listed(
    monkeypatch: pytest.MonkeyPatch, error: OSError, used: int | None, is_full: bool
) -> None:
    def fail(folder: str) -> list[str]:
        raise error

    monkeypatch.setattr(files, "limit", lambda: 100)
    monkeypatch.setattr(files.os, "listdir", fail)
    assert (files.count(), files.share() >= 1) == (used, is_full)


@pytest.mark.parametrize(("limit", "visitors"), [(32, 7), (256, 223), (1024, 943), (65_536, 61_423)])
def test_most_files_are_for_visitors(monkeypatch: pytest.MonkeyPatch, limit: int, visitors: int) -> None:
    own = 17
    monkeypatch.setattr(files, "limit", lambda: limit)
    for used, is_full in ((own + visitors - 1, False), (own + visitors, True)):
        monkeypatch.setattr(files, "count", lambda used=used: used)
        assert (files.share() >= 1) is is_full


@pytest.mark.usefixtures("full")
def test_the_metrics_are_the_files_and_their_limit(app: Starlette) -> None:
    response = ask(app, "/metrics")
    lines = response.body.decode().splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["process_open_fds 84", "process_max_fds 100"]


def test_a_websocket_and_a_response_pass_unchanged_while_there_are_files() -> None:
    seen: list[object] = []

    async def inner(scope: object, receive: object, send: object) -> None:
        seen.append((scope, receive, send))

    arguments = ({"type": "websocket"}, object(), object())
    run_async(FewFiles(inner)(*arguments))  # type: ignore[arg-type]
    assert seen == [arguments]
