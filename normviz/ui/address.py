"""The address of the app as its readers see it."""

import re

from starlette.requests import Request

from normviz.parts.titles import app_of_environment

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
