"""Scripts as files that the browser keeps, and what a run of the app sends in their place.

A component's script is part of every run; as a file whose name says what is in it, it is sent once.
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
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from normviz.figures.bundle import bundle, module, plotly_js, plotly_version, read_css, style

GZIP = re.compile(r"\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?")  # q=0 is a refusal
LEVEL = 6  # of gzip: plotly.js is packed while the first visitor waits, and level 9 saves 0.2 % more
FOREVER = "public, max-age=31536000, immutable"
STYLED = """
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


def packs(request: Request) -> bool:
    """Whether whoever asks can unpack gzip."""
    return any(map(GZIP.fullmatch, request.headers.get("accept-encoding", "").lower().split(",")))


def as_component_data(data: dict[str, Any]) -> list[dict[str, Any]]:
    """A component's data as its loader takes them: Streamlit looks through a dict for dataframes, and imports pandas for that."""
    return [data]


@dataclass(frozen=True)
class Asset:
    """A script.

    name     the file's
    content  UTF-8
    version  stands in the name; by default a hash of the content
    """

    name: str
    content: bytes
    version: str = ""

    @cached_property
    def path(self) -> str:
        """Where it is, relative to the page."""
        return f"lib/{self.name}-{self.version or sha256(self.content).hexdigest()[:16]}.js"

    @cached_property
    def _gzipped(self) -> bytes:
        return gzip.compress(self.content, LEVEL, mtime=0)

    def loader(self) -> str:
        """The component's script: it loads the true one."""
        return LOADER.replace("MODULE", self.path)

    async def answer(self, request: Request) -> Response:
        packed = packs(request)
        headers = {"Cache-Control": FOREVER, "Vary": "Accept-Encoding"}
        if packed:
            headers["Content-Encoding"] = "gzip"
        content = await to_thread(lambda: self._gzipped) if packed else self.content
        return Response(content, media_type="text/javascript", headers=headers)


def styled(script: str, css: str) -> bytes:
    """The script, which brings its style along."""
    return (script + STYLED.replace("STYLE", json.dumps(css))).encode()


SHARE_FOLDER = Path(__file__).with_name("share")
LINKED = Asset("linked", styled(module(), style()))
SHARE = Asset("share", styled(bundle(SHARE_FOLDER / "share.js"), read_css(SHARE_FOLDER / "share.css")))
PLOTLY = Asset("plotly", plotly_js(), f"{plotly_version()}.min")
ASSETS = (LINKED, SHARE, PLOTLY)
