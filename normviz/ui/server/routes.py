"""The app's HTTP besides the Streamlit script: the first HTML of every page, readiness, exports and scripts, and the headers of all responses.

``NORMVIZ_FRAME_ANCESTORS`` lists the pages that may embed the app in a frame: ``*`` (the default) is all of them, ``'none'`` is none; otherwise
sources as in https://www.w3.org/TR/CSP3/#directive-frame-ancestors, separated by spaces. X-Frame-Options is not sent, because it cannot hold a
list. For a browser, ``*`` does not include files: slides opened from disk need ``file:`` too.
"""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from time import monotonic

import streamlit as st
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from normviz.parts.titles import HOME
from normviz.texts.errors import NormvizError, echo
from normviz.ui import assets
from normviz.ui.assets import CompressedFiles, accepts_gzip
from normviz.ui.logs import log_request_error
from normviz.ui.server.files import FewFiles, metrics
from normviz.ui.server.index import index, no_page, page_names
from normviz.ui.server.limits import forget_burst, in_turn, is_hidden, is_open, limit_requests
from normviz.ui.server.process import import_future, import_ready

SHELL = Path(__file__).with_name("shell.py")
EXPORT = "export"

Handler = Callable[[Request], Awaitable[Response]]


def routes() -> list[Route]:
    """The app's routes, at the root and below Streamlit's base path."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    # With a base path, Streamlit has no page at the root.
    besides: list[tuple[str, Handler]] = [
        ("lib/{name}", assets.respond),
        (EXPORT, _export),
        ("readyz", ready),
        ("metrics", metrics),
    ]
    below = [*besides, *pages(), (HOME, _home), ("{word:page}", no_page)]
    at_the_root = [Route(f"/{path}", handler) for path, handler in (besides if base else below)]
    return at_the_root + [Route(f"/{base}/{path}", handler) for path, handler in below if base]


def pages() -> list[tuple[str, Handler]]:
    """The path of every page; the front page has the address of the app."""
    return [(path, index) for path in ("", *page_names()) if path != HOME]


async def _home(request: Request) -> Response:
    """The front page has the address of the app. Relative, so that it holds behind a proxy that adds a base path."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"./{query}", status_code=307)


class _Word(StringConvertor):
    """A path that could be the name of a page: the paths of Streamlit and of files have a point, a slash or an underscore at the start."""

    regex = "[A-Za-z0-9-][A-Za-z0-9_-]*"


register_url_convertor("page", _Word())


async def _export(request: Request) -> Response:
    """Responds as soon as everything is imported."""
    await asyncio.wrap_future(import_future())
    handler: Handler = import_ready("normviz.ui.export").export
    return await handler(request)


# The headers of every HTTP response.

SETTING = "NORMVIZ_FRAME_ANCESTORS"
ALL_PAGES = "*"
_HOST = r"(\*|(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:(\d{1,5}|\*))?(/[a-z0-9/_.~%-]*)?"
SOURCE = re.compile(rf"'self'|[a-z][a-z0-9+.-]*:|([a-z][a-z0-9+.-]*://)?{_HOST}", re.IGNORECASE)
KEYWORDS = {"none": "'none'", "self": "'self'"}  # a shell and Compose's .env remove the quotes
POLICY = "Content-Security-Policy"
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",  # another site sees the host, not the view
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",  # the clipboard stays allowed
}


def frame_ancestors(environ: Mapping[str, str] = os.environ) -> str:
    """The sources of the setting, checked; ``none`` and ``self`` are keywords without their quotes, too.

    Raises NormvizError if it is not a list of sources.

    >>> frame_ancestors({"NORMVIZ_FRAME_ANCESTORS": "'self'  https://lms.example.edu"})
    "'self' https://lms.example.edu"
    """
    text = environ.get(SETTING, ALL_PAGES)
    known = [KEYWORDS.get(source, source) for source in text.split(" ") if source]
    if known != ["'none'"] and (not known or not all(map(SOURCE.fullmatch, known))):
        raise NormvizError(
            "{setting}={text} must be a list of sources, separated by spaces; "
            "write * for all pages, none for no page, or for example {setting}=\"'self' https://lms.example.edu\".",
            setting=SETTING,
            text=echo(text),
        )
    return "* file:" if known == [ALL_PAGES] else " ".join(known)


class Headers:
    """ASGI middleware: adds the headers to every HTTP response, also to one for a path or an error that nothing below handles.

    HTML without a content security policy is Streamlit's own page. It would run the app at any path, such as /index.html or /a/b, without
    the policy. There is no such page.
    """

    def __init__(self, app: ASGIApp, ancestors: str) -> None:
        self.app, self.ancestors = app, ancestors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            try:
                return await self.app(scope, *in_turn(scope, receive, send))
            finally:
                forget_burst(scope)
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        request, has_started = Request(scope), False
        is_refused = not is_open(scope["path"]) or is_hidden(request)
        if not accepts_gzip(request):  # Streamlit's middleware looks for the word alone, also in "gzip;q=0"
            del MutableHeaders(scope=scope)["accept-encoding"]

        async def send_with_headers(message: Message) -> None:
            nonlocal has_started
            if message["type"] == "http.response.start":
                has_started, headers = True, MutableHeaders(scope=message)
                for name, value in ALWAYS.items():
                    headers.setdefault(name, value)
                policy = headers.get(POLICY)  # a route may have set its own
                headers[POLICY] = f"{policy + '; ' if policy else ''}frame-ancestors {self.ancestors}"
            await send(message)

        async def send_unless_refused(message: Message) -> None:
            nonlocal is_refused
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                is_refused = headers.get("content-type", "").startswith("text/html") and POLICY not in headers
            if not is_refused:
                await send_with_headers(message)

        try:
            if not is_refused:
                await self.app(scope, receive, send_unless_refused)
            if is_refused:
                response: Response = await no_page(Request(scope, receive))
                await response(scope, receive, send_with_headers)
        except Exception as error:
            if has_started:
                raise
            log_request_error(error, scope["path"])
            response = PlainTextResponse("Internal Server Error", status_code=500)
            await response(scope, receive, send_with_headers)


def middleware() -> list[Middleware]:
    """The middleware before Streamlit. Raises NormvizError if the setting is invalid, so that the app does not start."""
    limit_requests()
    return [Middleware(Headers, ancestors=frame_ancestors()), Middleware(FewFiles), Middleware(CompressedFiles)]


# Readiness: whether everything is imported and torch computes a known layer correctly.

KNOWN = (1, 2, 3, 4), (0, 0, 10, 10)
# Means 2.5 and 5, variances 1.25 and 25.
EXPECTED = tuple(x / 5**0.5 for x in (-3, -1, 1, 3)), (-1, -1, 1, 1)
CLOSE = 1e-4  # eps is 1e-5, the smaller variance 1.25
FRESH = 5.0  # s during which a result is reused
PATIENCE = 2.0  # s, until the computation counts as failed


def wrong_result() -> str | None:
    """The error in ``LayerNorm(4)`` of known numbers, computed by its pattern and by torch's own layer; None if both are correct."""
    import numpy as np

    from normviz.analysis.description import describe

    e = describe("LayerNorm(4)", np.array(KNOWN, dtype=np.float32))
    error = float(np.abs(e.trace.output.detach().numpy() - EXPECTED).max())
    if not error < CLOSE:
        return f"LayerNorm(4) of known numbers is wrong by {error:.3g}"
    difference = e.agreement
    if difference is not None and difference < CLOSE:
        return None
    return f"torch's LayerNorm(4) differs from its pattern by {difference}"


class Readiness:
    """Runs ``check`` in a thread, at most once in ``fresh`` seconds and never twice at a time.

    ``check()`` returns None or the reason why the process is not ready; an exception is a reason too.
    """

    def __init__(
        self,
        check: Callable[[], str | None] = wrong_result,
        fresh: float = FRESH,
        patience: float = PATIENCE,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.check, self.fresh, self.patience, self.clock = check, fresh, patience, clock
        self._found: str | None = None
        self._until = float("-inf")
        self._running: asyncio.Task[None] | None = None

    async def reason(self) -> str | None:
        """Why the process is not ready; None if it is ready."""
        if self._running is None:
            if self.clock() < self._until:
                return self._found
            self._running = asyncio.create_task(self._check())
        done, _ = await asyncio.wait({self._running}, timeout=self.patience)
        return self._found if done else f"torch has not answered for {self.patience:g} s"

    async def _check(self) -> None:
        try:
            self._found = await asyncio.to_thread(self.check)
        except Exception as error:  # any exception is a reason
            self._found = f"{type(error).__name__}: {error}"
        finally:
            self._until, self._running = self.clock() + self.fresh, None


def _import_problem(imports: Future[None]) -> str | None:
    """Why the pages cannot be shown; None if everything is imported."""
    if not imports.done():
        return "torch is being imported"
    error = imports.exception()
    return f"{type(error).__name__}: {error}" if error else None


_this_process = Readiness()


async def ready(request: Request) -> Response:
    """200 if everything is imported and torch computes correctly, otherwise 503 with the reason."""
    reason = _import_problem(import_future()) or await _this_process.reason()
    return PlainTextResponse(
        "ready\n" if reason is None else f"not ready: {reason}\n",
        status_code=200 if reason is None else 503,
        headers={"Cache-Control": "no-store"},
    )
