"""Where an exported page loads plotly.js from: itself, a public CDN, or a file next to it."""

from __future__ import annotations

import gzip
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256, sha384

from plotly.offline import get_plotlyjs_version

from normviz.figures.bundle import plotly_js
from normviz.layers.errors import NormvizError, echo
from normviz.layers.messages import _

LONGEST = 500


@dataclass(frozen=True)
class PlotlyJs:
    """Where plotly.js is.

    address    for the browser; "" if the page embeds the script
    integrity  the hash that a script from the CDN must have
    embedded   the script itself, compressed, as text
    """

    address: str = ""
    integrity: str = ""
    embedded: str = ""


def plotlyjs(where: str) -> PlotlyJs:
    """ "inline", "cdn", or the address of the file as the page sees it, such as "lib/plotly.min.js".

    >>> plotlyjs("lib/plotly.min.js").address
    'lib/plotly.min.js'
    """
    if where == "inline":
        return PlotlyJs(embedded=_compressed())
    if where == "cdn":
        return PlotlyJs(f"https://cdn.plot.ly/plotly-{get_plotlyjs_version()}.min.js", _integrity())
    scheme = where.partition(":")[0].strip().lower() if ":" in where else ""
    if not where.strip() or len(where) > LONGEST or scheme not in ("", "http", "https", "file"):
        raise NormvizError(
            _(
                "plotlyjs={where} is not a location of plotly.js; write inline, cdn, or an address such as lib/plotly.min.js.",
                where=echo(where),
            )
        )
    return PlotlyJs(where)


@cache
def hashed_name() -> str:
    """A file name that changes when plotly.js does."""
    return f"plotly-{get_plotlyjs_version()}-{sha256(plotly_js()).hexdigest()[:12]}.min.js"


@cache
def _compressed() -> str:
    return b64encode(gzip.compress(plotly_js(), 9, mtime=0)).decode("ascii")


@cache
def _integrity() -> str:
    return f"sha384-{b64encode(sha384(plotly_js()).digest()).decode('ascii')}"
