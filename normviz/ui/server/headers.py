"""Headers of every HTTP answer: who may frame the app, and what a browser should not do with it.

``NORMVIZ_FRAME_ANCESTORS`` says who may frame it: ``*`` (the default) is everyone, ``'none'`` nobody; else sources as in
https://www.w3.org/TR/CSP3/#directive-frame-ancestors, separated by spaces. X-Frame-Options is never sent: it knows no list.
To a browser ``*`` is every site; slides that are opened from disk need ``file:`` beside it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from normviz.layers.errors import NormvizError, echo

SETTING = "NORMVIZ_FRAME_ANCESTORS"
EVERYONE = "*"
_HOST = r"(\*|(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:(\d{1,5}|\*))?(/[a-z0-9/_.~%-]*)?"
SOURCE = re.compile(rf"'self'|[a-z][a-z0-9+.-]*:|([a-z][a-z0-9+.-]*://)?{_HOST}", re.IGNORECASE)
POLICY = "Content-Security-Policy"
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",  # another site learns the host, not the view
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",  # copying stays allowed
}


def frame_ancestors(environ: Mapping[str, str] = os.environ) -> str:
    """Who may frame the app, as the setting says.

    Raises NormvizError where it is no list of sources.

    >>> frame_ancestors({"NORMVIZ_FRAME_ANCESTORS": "'self'  https://lms.example.edu"})
    "'self' https://lms.example.edu"
    """
    text = environ.get(SETTING, EVERYONE)
    sources = text.split(" ")
    known = [source for source in sources if source]
    if known != ["'none'"] and (not known or not all(map(SOURCE.fullmatch, known))):
        raise NormvizError(
            f"{SETTING}={echo(text)} must be a list of sources, separated by spaces; "
            f"write * for everyone, 'none' for nobody, or for example {SETTING}=\"'self' https://lms.example.edu\"."
        )
    return "* file:" if known == [EVERYONE] else " ".join(known)


class Headers:
    """ASGI middleware: adds the headers to every HTTP answer, and lets everything else pass."""

    def __init__(self, app: ASGIApp, ancestors: str) -> None:
        self.app, self.ancestors = app, ancestors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in ALWAYS.items():
                    headers.setdefault(name, value)
                policy = headers.get(POLICY)  # a route may have one of its own
                headers[POLICY] = f"{policy + '; ' if policy else ''}frame-ancestors {self.ancestors}"
            await send(message)

        await self.app(scope, receive, sending if scope["type"] == "http" else send)


def middleware() -> list[Middleware]:
    """What stands before Streamlit. Raises NormvizError where the setting is wrong: the app does not start."""
    return [Middleware(Headers, ancestors=frame_ancestors())]
