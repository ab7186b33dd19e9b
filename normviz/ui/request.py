"""What a request says of its reader: the address at which the reader sees the app, and the language that the reader wants."""

import re

from starlette.requests import HTTPConnection, Request

from normviz.parts.titles import app_of_environment
from normviz.texts.languages import accepted_language, matching_language

SCHEMES = ("http", "https")
HOST = re.compile(r"[\w.-]+(:\d{1,5})?|\[[0-9a-fA-F:.]+\](:\d{1,5})?", re.ASCII)


def app_address(request: Request) -> str:
    """NORMVIZ_URL, or the address of the request, also behind a proxy that ends https; "" if its host is not valid."""
    if configured := app_of_environment():
        return configured
    proxied = request.headers.get("x-forwarded-proto", "").split(",")[0].strip().lower()
    scheme, host = proxied if proxied in SCHEMES else request.url.scheme, host_of(request)
    return f"{scheme}://{host}{request.url.path.rpartition('/')[0]}" if host else ""


def host_of(request: Request) -> str:
    """The host, and perhaps the port, that the request names; "" if it is not valid."""
    host = request.headers.get("host", "")
    return host if HOST.fullmatch(host) else ""


# The language of a reader: the one that the link names, else the one chosen in the header, else the browser's.


LONGEST = 1000  # characters of the Accept-Language header that are read
COOKIE = "normviz-language"  # what a reader chose in the header, until the browser is closed


def language_of(named: str, chosen: str, accepted: str) -> str:
    """The language of a reader.

    named     by the link
    chosen    in the header, as the cookie says
    accepted  by the browser: its Accept-Language header

    >>> language_of("", "", "en-US,en;q=0.9"), language_of("nonsense", "en", "")
    ('en', 'en')
    """
    return matching_language(named) or matching_language(chosen) or accepted_language(accepted[:LONGEST])


def language_of_request(request: HTTPConnection, named: str) -> str:
    """The language of the reader who sent a request; ``named`` by the link."""
    return language_of(named, request.cookies.get(COOKIE, ""), request.headers.get("accept-language", ""))
