"""Routes of the app besides the Streamlit script: the first HTML of every page, readiness, exports and scripts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from normviz.ui.assets import ASSETS
from normviz.ui.paths import PAGE_SCRIPTS
from normviz.ui.server.index import index
from normviz.ui.server.preload import import_future, import_ready
from normviz.ui.server.ready import ready

SHELL = Path(__file__).with_name("shell.py")
EXPORT = "export"

Handler = Callable[[Request], Awaitable[Response]]


def routes() -> list[Route]:
    """The app's routes, at the root and below Streamlit's base path."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    # With a base path, Streamlit has no page at the root.
    at_the_root = [Route(f"/{path}", handler) for path, handler in (SERVED if base else SERVED + pages())]
    return at_the_root + [Route(f"/{base}/{path}", handler) for path, handler in SERVED + pages() if base]


def pages() -> list[tuple[str, Handler]]:
    """The path of every page, and of the app itself."""
    return [(path, index) for path in ("", *sorted(page.stem for page in PAGE_SCRIPTS.glob("*.py")))]


async def _export(request: Request) -> Response:
    """Responds as soon as everything is imported."""
    await asyncio.wrap_future(import_future())
    handler: Handler = import_ready("normviz.ui.share.export").export
    return await handler(request)


# Path below the base path, handler.
SERVED: list[tuple[str, Handler]] = [
    *((asset.path, asset.respond) for asset in ASSETS),
    (EXPORT, _export),
    ("readyz", ready),
]
