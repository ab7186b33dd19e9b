"""Headers of every HTTP response: which pages may embed the app in a frame, and browser features that it does not use.

``NORMVIZ_FRAME_ANCESTORS`` lists the pages that may embed it: ``*`` (the default) is all of them, ``'none'`` is none; otherwise sources as
in https://www.w3.org/TR/CSP3/#directive-frame-ancestors, separated by spaces. X-Frame-Options is not sent, because it cannot hold a list.
For a browser, ``*`` does not include files: slides opened from disk need ``file:`` too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import _
from normviz.ui.assets import CompressedFiles

SETTING = "NORMVIZ_FRAME_ANCESTORS"
ALL_PAGES = "*"
_HOST = r"(\*|(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:(\d{1,5}|\*))?(/[a-z0-9/_.~%-]*)?"
SOURCE = re.compile(rf"'self'|[a-z][a-z0-9+.-]*:|([a-z][a-z0-9+.-]*://)?{_HOST}", re.IGNORECASE)
POLICY = "Content-Security-Policy"
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",  # another site sees the host, not the view
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",  # the clipboard stays allowed
}


def frame_ancestors(environ: Mapping[str, str] = os.environ) -> str:
    """The sources of the setting, checked.

    Raises NormvizError if it is not a list of sources.

    >>> frame_ancestors({"NORMVIZ_FRAME_ANCESTORS": "'self'  https://lms.example.edu"})
    "'self' https://lms.example.edu"
    """
    text = environ.get(SETTING, ALL_PAGES)
    sources = text.split(" ")
    known = [source for source in sources if source]
    if known != ["'none'"] and (not known or not all(map(SOURCE.fullmatch, known))):
        raise NormvizError(
            _(
                "{setting}={text} must be a list of sources, separated by spaces; "
                "write * for all pages, 'none' for no page, or for example {setting}=\"'self' https://lms.example.edu\".",
                setting=SETTING,
                text=echo(text),
            )
        )
    return "* file:" if known == [ALL_PAGES] else " ".join(known)


class Headers:
    """ASGI middleware: adds the headers to every HTTP response."""

    def __init__(self, app: ASGIApp, ancestors: str) -> None:
        self.app, self.ancestors = app, ancestors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in ALWAYS.items():
                    headers.setdefault(name, value)
                policy = headers.get(POLICY)  # a route may have set its own
                headers[POLICY] = f"{policy + '; ' if policy else ''}frame-ancestors {self.ancestors}"
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def middleware() -> list[Middleware]:
    """The middleware before Streamlit. Raises NormvizError if the setting is invalid, so that the app does not start."""
    return [Middleware(Headers, ancestors=frame_ancestors()), Middleware(CompressedFiles)]
