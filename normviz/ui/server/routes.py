"""Routes beside the Streamlit script: the first HTML of every page, readiness, exports, and scripts: once a visit, never on a reload."""

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
    """The app's own routes, at the root and below Streamlit's base path."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    # Below a base path Streamlit has no page at the root.
    found = [Route(f"/{path}", handler) for path, handler in (SERVED if base else SERVED + pages())]
    return found + [Route(f"/{base}/{path}", handler) for path, handler in SERVED + pages() if base]


def pages() -> list[tuple[str, Handler]]:
    """The address of every page, and of the app itself."""
    return [(path, index) for path in ("", *sorted(page.stem for page in PAGE_SCRIPTS.glob("*.py")))]


async def _export(request: Request) -> Response:
    """Answers once all is imported."""
    await asyncio.wrap_future(import_future())
    answer: Handler = import_ready("normviz.ui.share.export").export
    return await answer(request)


# The path below the base, and what answers.
SERVED: list[tuple[str, Handler]] = [
    *((asset.path, asset.answer) for asset in ASSETS),
    (EXPORT, _export),
    ("readyz", ready),
]
