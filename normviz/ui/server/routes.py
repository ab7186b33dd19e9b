"""Routes of the app besides the Streamlit script: the first HTML of every page, readiness, exports and scripts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import streamlit as st
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from normviz.ui import assets
from normviz.ui.server.index import index, no_page, page_names
from normviz.ui.server.preload import import_future, import_ready
from normviz.ui.server.ready import ready

SHELL = Path(__file__).with_name("shell.py")
EXPORT, HOME = "export", "explore"

Handler = Callable[[Request], Awaitable[Response]]


def routes() -> list[Route]:
    """The app's routes, at the root and below Streamlit's base path."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    # With a base path, Streamlit has no page at the root.
    below = [*served(), *pages(), (HOME, _home), ("{word:page}", no_page)]
    at_the_root = [Route(f"/{path}", handler) for path, handler in (served() if base else below)]
    return at_the_root + [Route(f"/{base}/{path}", handler) for path, handler in below if base]


def pages() -> list[tuple[str, Handler]]:
    """The path of every page; Explore is the app itself."""
    return [(path, index) for path in ("", *page_names()) if path != HOME]


async def _home(request: Request) -> Response:
    """The page Explore has the address of the app. Relative, so that it holds behind a proxy that adds a base path."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"./{query}", status_code=307)


class _Word(Convertor[str]):
    """A path that could be the name of a page: the paths of Streamlit and of files have a point, a slash or an underscore at the start."""

    regex = "[A-Za-z0-9-][A-Za-z0-9_-]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("page", _Word())


async def _export(request: Request) -> Response:
    """Responds as soon as everything is imported."""
    await asyncio.wrap_future(import_future())
    handler: Handler = import_ready("normviz.ui.export").export
    return await handler(request)


def served() -> list[tuple[str, Handler]]:
    """The path below the base path, and the handler, of everything besides pages."""
    return [("lib/{name}", assets.respond), (EXPORT, _export), ("readyz", ready)]
