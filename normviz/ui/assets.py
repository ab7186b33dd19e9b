"""Scripts as files that the browser caches, and the short loader that a run of the app sends instead.

A component's script would be sent with every run; a file whose name contains a hash of its content is sent once.
"""

from __future__ import annotations

import gzip
import json
import re
from asyncio import to_thread
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from normviz.figures.bundle import bundle, plotly_js, plotly_version
from normviz.lessons.page.style import page_style, share_style

GZIP = re.compile(r"\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?")  # q=0 means not accepted
LEVEL = 6  # of gzip: the first visitor waits for it, and level 9 saves only 0.2 % more
FOREVER = "public, max-age=31536000, immutable"
ADD_STYLE = """
const style = document.createElement("style");
style.textContent = STYLE;
document.head.append(style);
"""
LOADER = """const path = "MODULE", load = (at) => import(new URL(at, document.baseURI));
const found = load(path).catch((error) => { if (location.pathname.endsWith("/")) return load(`../${path}`); throw error; });
export default ({ data: [data], ...rest }) => {
  let gone, clean;
  found.then((module) => { gone || (clean = module.default({ ...rest, data })); }, (error) => {
    console.error(error);
    rest.parentElement.textContent = "This did not load. Reload the page to try again.";
  });
  return () => { gone = true; clean?.(); };
};
"""


def accepts_gzip(request: Request) -> bool:
    """Whether the client accepts gzip."""
    return any(map(GZIP.fullmatch, request.headers.get("accept-encoding", "").lower().split(",")))


@dataclass(frozen=True)
class Asset:
    """A script file.

    name     of the file, without version
    content  UTF-8
    version  part of the path; by default a hash of the content
    """

    name: str
    content: bytes
    version: str = ""

    @cached_property
    def path(self) -> str:
        """The path relative to the page."""
        return f"lib/{self.name}-{self.version or sha256(self.content).hexdigest()[:16]}.js"

    @cached_property
    def _gzipped(self) -> bytes:
        return gzip.compress(self.content, LEVEL, mtime=0)

    def loader(self) -> str:
        """The component's script, which loads this file."""
        return LOADER.replace("MODULE", self.path)

    async def respond(self, request: Request) -> Response:
        gzipped = accepts_gzip(request)
        headers = {"Cache-Control": FOREVER, "Vary": "Accept-Encoding"}
        if gzipped:
            headers["Content-Encoding"] = "gzip"
        content = await to_thread(lambda: self._gzipped) if gzipped else self.content
        return Response(content, media_type="text/javascript", headers=headers)


def with_style(script: str, css: str) -> bytes:
    """The script, with code that adds the style to the page."""
    return (script + ADD_STYLE.replace("STYLE", json.dumps(css))).encode()


SCRIPT = Path(__file__).parent / "browser" / "component.js"
COMPONENT = Asset("normviz", with_style(bundle(SCRIPT), page_style() + share_style()))
PLOTLY = Asset("plotly", plotly_js(), f"{plotly_version()}.min")
ASSETS = (COMPONENT, PLOTLY)
