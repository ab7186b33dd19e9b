"""Scripts as files that the browser keeps, and what a run of the app sends in their place.

A component's script is part of every run; as a file whose name says what is in it, it is sent once.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from normviz.linked import module, plotly_js, plotly_version, style
from normviz.ui.index import packs

FOREVER = "public, max-age=31536000, immutable"
STYLED = """
const style = document.createElement("style");
style.textContent = STYLE;
document.head.append(style);
"""
LOADER = """const path = "MODULE", load = (at) => import(new URL(at, document.baseURI));
const found = load(path).catch((error) => { if (location.pathname.endsWith("/")) return load(`../${path}`); throw error; });
export default (args) => {
  let gone, clean;
  found.then((module) => { gone || (clean = module.default(args)); }, (error) => {
    console.error(error);
    args.parentElement.textContent = "This did not load. Reload the page to try again.";
  });
  return () => { gone = true; clean?.(); };
};
"""


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
        return gzip.compress(self.content, 9, mtime=0)

    def loader(self) -> str:
        """The component's script: it loads the true one."""
        return LOADER.replace("MODULE", self.path)

    async def answer(self, request: Request) -> Response:
        packed = packs(request)
        headers = {"Cache-Control": FOREVER, "Vary": "Accept-Encoding"}
        if packed:
            headers["Content-Encoding"] = "gzip"
        return Response(self._gzipped if packed else self.content, media_type="text/javascript", headers=headers)


def styled(script: str, css: str) -> bytes:
    """The script, which brings its style along."""
    return (script + STYLED.replace("STYLE", json.dumps(css))).encode()


def _own(*names: str) -> str:
    return "\n".join((files(__package__) / name).read_text(encoding="utf-8") for name in names)


LINKED = Asset("linked", styled(module(), style()))
SHARE = Asset("share", styled(_own("links.js", "preview.js", "share.js"), _own("share.css")))
PLOTLY = Asset("plotly", plotly_js(), f"{plotly_version()}.min")
ASSETS = (LINKED, SHARE, PLOTLY)
