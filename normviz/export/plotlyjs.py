"""Where an exported page loads plotly.js from: itself, a public CDN, or a file next to it."""

from __future__ import annotations

import gzip
import sys
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256, sha384
from typing import Any

from plotly.offline import get_plotlyjs_version

from normviz.figures.bundle import plotly_js
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import _

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


# Which output of a notebook embeds plotly.js: the first one, and each later run of its cell.


@dataclass(frozen=True)
class CellRun:
    """One run of a cell, by the identifiers of the front end; empty if it has none."""

    cell: str = ""
    message: str = ""

    @classmethod
    def now(cls) -> CellRun:
        """The current run in this process's Jupyter kernel."""
        ipython = sys.modules.get("IPython")
        shell: Any = ipython.get_ipython() if ipython else None
        parent: dict[str, Any] = getattr(shell, "get_parent", dict)() or {}
        return cls(
            str(parent.get("metadata", {}).get("cellId") or ""), str(parent.get("header", {}).get("msg_id") or "")
        )


_first: CellRun | None = None


def embeds_plotly(run: CellRun) -> bool:
    """True if this output embeds plotly.js: the first of the process, and the first of each re-run of its cell."""
    global _first
    again = _first is not None and run.cell == _first.cell != "" and run.message != _first.message
    if _first is not None and not again:
        return False
    _first = run
    return True
