"""Scripts as compressed files that the browser caches, the preview image, and the short loader that a run of the app sends instead of its script.

A component's script would be sent with every run; a file whose name contains a hash of its content is sent once. Streamlit sends its own files
as they are, which takes four times as long on a slow line.
"""

import gzip
import json
import re
from asyncio import to_thread
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from normviz.export.assets import bundle, exercises_style, page_style, plotly_js, share_style
from normviz.texts.languages import languages

GZIP = re.compile(r"\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?")  # q=0 means not accepted
LEVEL = 6  # compression level: the first visitor waits for gzip, and level 9 saves only 0.2 % more
FOREVER = "public, max-age=31536000, immutable"
MEDIA_TYPES = {"js": "text/javascript", "png": "image/png"}
ADD_STYLE = """
const style = document.createElement("style");
style.textContent = STYLE;
document.head.append(style);
"""
# The component's script: it loads the file that the data names, which depends on the reader's language.
LOADER = """const found = {}, get = (at) => import(new URL(at, document.baseURI));
const load = (path) => get(path).catch((error) => { if (location.pathname.endsWith("/")) return get(`../${path}`); throw error; });
export default ({ data: [data], ...rest }) => {
  let gone, clean;
  (found[data.script] ??= load(data.script)).then((module) => { gone || (clean = module.default({ ...rest, data })); }, (error) => {
    console.error(error);
    rest.parentElement.textContent = data.failed;
  });
  return () => { gone = true; clean?.(); };
};
"""


def accepts_gzip(request: Request) -> bool:
    """Whether the client accepts gzip."""
    return any(map(GZIP.fullmatch, request.headers.get("accept-encoding", "").lower().split(",")))


def is_known(request: Request, tag: str) -> bool:
    """Whether the client has the response with this ETag."""
    known = request.headers.get("if-none-match", "").split(",")
    return tag.removeprefix("W/") in (one.strip().removeprefix("W/") for one in known)


@dataclass(frozen=True)
class Asset:
    """A script, or a picture.

    name     of the file, without hash
    content  UTF-8, if it is a script
    kind     "js" or "png"
    """

    name: str
    content: bytes
    kind: str = "js"

    @cached_property
    def path(self) -> str:
        """The path relative to the page."""
        return f"lib/{self.name}-{sha256(self.content).hexdigest()[:16]}.{self.kind}"

    @cached_property
    def _gzipped(self) -> bytes:
        return gzip.compress(self.content, LEVEL, mtime=0)

    async def respond(self, request: Request) -> Response:
        gzipped = self.kind == "js" and accepts_gzip(request)
        headers = {"Cache-Control": FOREVER, "Vary": "Accept-Encoding"}
        if gzipped:
            headers["Content-Encoding"] = "gzip"
        content = await to_thread(lambda: self._gzipped) if gzipped else self.content
        return Response(content, media_type=MEDIA_TYPES[self.kind], headers=headers)


PLOTLY = Asset("plotly", plotly_js())
PREVIEW = Asset("preview", Path(__file__).with_name("preview.png").read_bytes(), kind="png")  # made by tools/preview.py


@cache
def component(language: str) -> Asset:
    """The script of the page in a language, with code that adds its style."""
    style = ADD_STYLE.replace("STYLE", json.dumps(page_style() + share_style() + exercises_style()))
    return Asset("normviz", (bundle("app", language) + style).encode())


def assets() -> Iterator[Asset]:
    """The files, the most wanted first; a script is made when it is wanted."""
    yield from (PLOTLY, PREVIEW)
    yield from map(component, languages())


async def respond(request: Request) -> Response:
    """The file of the path; 404 if there is none."""
    path = f"lib/{request.path_params['name']}"
    asset = next((one for one in assets() if one.path == path), None)
    return await asset.respond(request) if asset else PlainTextResponse("Not Found", status_code=404)


STREAMLIT = (Path(st.__file__).parent / "static" / "static").resolve()
COMPRESSED = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
KEPT = 128  # Streamlit's files in memory; a page needs about 80


class CompressedFiles:
    """ASGI middleware: sends Streamlit's scripts and styles compressed. Their names contain a hash of their content."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_read = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        path = _streamlit_file(scope["path"]) if is_read else None
        if path is None or not accepts_gzip(Request(scope)):
            return await self.app(scope, receive, send)
        content, kind = await to_thread(_gzipped, path), COMPRESSED[path.suffix]
        headers = {"Cache-Control": FOREVER, "Vary": "Accept-Encoding", "Content-Encoding": "gzip"}
        await Response(content, media_type=kind, headers=headers)(scope, receive, send)


def _streamlit_file(address: str) -> Path | None:
    """The file of Streamlit that the address names, below any base path; None if it is none that we compress."""
    _base, static, name = address.rpartition("/static/")
    if not static:
        return None
    try:
        path = (STREAMLIT / name.lstrip("/")).resolve()
        return path if path.suffix in COMPRESSED and path.is_relative_to(STREAMLIT) and path.is_file() else None
    except (OSError, ValueError):  # no name of a file
        return None


@lru_cache(KEPT)
def _gzipped(path: Path) -> bytes:
    return gzip.compress(path.read_bytes(), LEVEL, mtime=0)
