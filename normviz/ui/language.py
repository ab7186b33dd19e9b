"""The language of a reader: the one that the link names, else the one chosen in the header, else the browser's."""

from starlette.requests import HTTPConnection

from normviz.texts.languages import accepted_language, matching_language

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
