"""The route that hands out a view as one HTML file: ``export?page=compare&shape=2,3,4,4&layers=BatchNorm2d(3);LayerNorm([3,4,4])``.

All that it needs stands in the query, so any replica can answer. ``page`` is the page, or "questions"; ``theme`` and
``plotlyjs`` ("inline" or "cdn") are options; the rest is the page's own query, ``hide`` and ``caption`` included.
"""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor

from starlette.requests import Request
from starlette.responses import Response

from normviz.export.document import FOLLOW
from normviz.export.links import LONGEST_LINK, of_query
from normviz.export.output import Output
from normviz.layers.errors import NormvizError, echo, listed

PLACES = ("inline", "cdn")  # where plotly.js is: a link cannot name another script
AT_ONCE, MOST_ASKED = 2, 32
A_WHILE = "public, max-age=3600"  # a new version of the app may write another file
LONGEST_NAME = 80

_workers = ThreadPoolExecutor(AT_ONCE, "export")
_asked = 0  # requests that are being answered or wait


async def export(request: Request) -> Response:
    """The file; 400 with one line where the app would show a message, 503 where too many wait."""
    global _asked
    if _asked >= MOST_ASKED:
        return _line("The server is busy; ask again in a few seconds.", 503, {"Retry-After": "5"})
    _asked += 1
    try:
        if len(request.url.query) > LONGEST_LINK:
            raise NormvizError(f"the query is too long; give up to {LONGEST_LINK} letters.")
        loop = asyncio.get_running_loop()
        name, html = await loop.run_in_executor(_workers, _made, dict(request.query_params))
    except NormvizError as error:
        return _line(str(error), 400)
    finally:
        _asked -= 1
    headers = {"Cache-Control": A_WHILE, "Content-Disposition": f'attachment; filename="{name}"'}
    return Response(html, media_type="text/html", headers=headers | SAFE)


SAFE = {"X-Content-Type-Options": "nosniff"}


def _line(text: str, status: int, headers: dict[str, str] | None = None) -> Response:
    kept = {"Cache-Control": "no-store"} | SAFE | (headers or {})
    return Response(" ".join(text.split()) + "\n", status, media_type="text/plain", headers=kept)


def _made(query: dict[str, str]) -> tuple[str, str]:
    """The name of the file, and the file."""
    place = query.get("plotlyjs", PLACES[0])
    if place not in PLACES:
        raise NormvizError(f"plotlyjs={echo(place)} is unknown; choose {listed(PLACES)}.")
    page = query.get("page", "explore")
    output = of_query(page, query)
    caption = query.get("caption", "") if page == "questions" else ""  # of the other pages it is a part of the view
    html = output.to_html(theme=query.get("theme", FOLLOW), caption=caption, plotlyjs=place)
    return file_name(output), html


def file_name(output: Output) -> str:
    """A name that every system takes: small letters, digits and hyphens.

    >>> import normviz as nv
    >>> file_name(nv.explore("LayerNorm([3, 4, 4])"))
    'normviz-explore-layernorm-3-4-4-on-2-3-4-4.html'
    """
    about = output.title.split(" · ")[0] if output.title.count(" · ") == 2 or output.page == "questions" else ""
    words = re.findall(r"[a-z0-9]+", f"normviz-{output.page}-{about}".lower())
    return f"{'-'.join(words)[:LONGEST_NAME].strip('-')}.html"
