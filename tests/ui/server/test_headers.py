import logging
import re
import subprocess
import sys

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Send

from normviz.texts.errors import NormvizError
from normviz.ui import ROOT
from normviz.ui.assets import PLOTLY, CompressedFiles
from normviz.ui.logs import LOGGER
from normviz.ui.server import routes as server_routes
from normviz.ui.server.files import FewFiles
from normviz.ui.server.routes import Headers, frame_ancestors, middleware, routes
from tests.support.asgi import ask, run_async


def app_with_headers(response: Response | None = None, ancestors: str = "'self'") -> Headers:
    async def respond(request: object) -> Response:
        return response or Response("x")

    return Headers(Starlette(routes=[Route("/", respond)]), ancestors)


@pytest.mark.parametrize(
    ("setting", "sent"),
    [
        ("*", "* file:"),  # to a browser, * is every site, but not slides that are opened from disk
        ("'none'", "'none'"),
        ("none", "'none'"),  # what a shell makes of NORMVIZ_FRAME_ANCESTORS='none'
        ("self https://lms.example.edu", "'self' https://lms.example.edu"),
        ("self.example.edu", "self.example.edu"),
        ("'self'", "'self'"),
        ("'self' https://lms.example.edu", "'self' https://lms.example.edu"),
        ("  https://*.example.edu:8443   http://localhost:*  ", "https://*.example.edu:8443 http://localhost:*"),
        ("https: file:", "https: file:"),
        ("lms.example.edu/course/ [::1]:8501", "lms.example.edu/course/ [::1]:8501"),
    ],
)
def test_the_setting_is_a_list_of_sources(setting: str, sent: str) -> None:
    assert frame_ancestors({"NORMVIZ_FRAME_ANCESTORS": setting}) == sent


def test_every_site_may_frame_the_app_by_default() -> None:
    assert frame_ancestors({}) == "* file:"


@pytest.mark.parametrize(
    "setting",
    [
        "",
        " ",
        "'self'; script-src *",
        "'self'\nX-Evil: 1",
        "'self'\r",
        "'self'\thttps://a.example",
        "https://a.example,https://b.example",
        "'none' https://a.example",
        "none https://a.example",
        "'unsafe-inline'",
        "https://exämple.edu",
        "https://",
    ],
)
def test_an_invalid_list_of_sources_is_refused(setting: str) -> None:
    with pytest.raises(NormvizError, match=r"NORMVIZ_FRAME_ANCESTORS=.* must be a list of sources.*'self' https://lms"):
        frame_ancestors({"NORMVIZ_FRAME_ANCESTORS": setting})


def test_every_response_has_the_security_headers() -> None:
    headers = ask(app_with_headers(), "/").headers
    assert headers["content-security-policy"] == "frame-ancestors 'self'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "strict-origin-when-cross-origin"
    assert "camera=()" in headers["permissions-policy"]
    assert "clipboard" not in headers["permissions-policy"]
    assert "x-frame-options" not in headers
    assert ask(app_with_headers(), "/missing").headers["content-security-policy"] == "frame-ancestors 'self'"


def test_a_route_may_be_stricter() -> None:
    strict = Response("x", headers={"Content-Security-Policy": "default-src 'none'", "Referrer-Policy": "no-referrer"})
    headers = ask(app_with_headers(strict), "/").headers
    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'self'"
    assert headers["referrer-policy"] == "no-referrer"


def test_the_messages_of_a_websocket_are_passed_through_unchanged() -> None:
    connect, close = {"type": "websocket.connect"}, {"type": "websocket.close"}
    sent: list[object] = []

    async def inner(scope: object, receive: Receive, send: Send) -> None:
        assert await receive() == connect
        await send(close)

    async def receive() -> Message:
        return connect

    async def send(message: Message) -> None:
        sent.append(message)

    run_async(Headers(inner, "*")({"type": "websocket", "path": "/_stcore/stream", "headers": []}, receive, send))
    assert sent == [close]


@pytest.mark.parametrize(
    "path",
    [
        *["/", "/compare", f"/{PLOTLY.path}", "/_stcore/health", "/favicon.png", "/not/a/page"],
        *["/\0", "/gradients/\0", "/static/\0.js", f"/static/{'a' * 300}.js"],
    ],
)
def test_the_application_sends_the_headers_with_every_response(path: str) -> None:
    from app import app

    response = ask(app, path, accept_encoding="gzip")
    assert response.status < 500
    assert response.headers["content-security-policy"].endswith("frame-ancestors * file:")
    assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["/compare", "/", "/nowhere", f"/{PLOTLY.path}"])
def test_a_client_that_refuses_gzip_does_not_get_it(path: str) -> None:
    """Streamlit's middleware looks for the word alone."""
    from app import app

    headers = ask(app, path, accept_encoding="gzip;q=0, identity").headers
    assert "content-encoding" not in headers
    assert "gzip" in ask(app, "/compare", accept_encoding="gzip").headers["content-encoding"]


# Streamlit sends its page for each of these, without a content security policy.
@pytest.mark.parametrize(
    ("path", "root"),
    [
        ("/index.html", "./"),
        ("/a.b", "./"),
        ("/robots.txt", "./"),
        ("/compare/x", "../"),
        ("//compare", "../"),
        ("/_stcore/unknown", "../"),
        ("/a/b/c.html", "../../"),
        ("/\0", "./"),
    ],
)
def test_the_app_is_only_at_the_addresses_of_its_pages(path: str, root: str) -> None:
    from app import app

    response = ask(app, f"{path}?layer=GroupNorm(3,3)")
    assert response.status == 404
    assert f'href="{root}compare"' in response.body.decode()
    assert "script-src 'self'" in response.headers["content-security-policy"]


def test_html_without_a_policy_is_not_sent() -> None:
    async def respond(request: object) -> Response:
        return HTMLResponse("<script>1</script>")

    response = ask(Headers(Starlette(routes=[Route("/static/x.html", respond)]), "*"), "/static/x.html")
    assert (response.status, b"<script>1" in response.body) == (404, False)


def test_an_error_of_the_page_of_links_has_the_headers_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(request: object) -> Response:
        raise ImportError("torch")

    monkeypatch.setattr(server_routes, "no_page", fail)
    response = ask(Headers(Starlette(), "*"), "//a")
    assert (response.status, response.headers["content-security-policy"]) == (500, "frame-ancestors *")


def test_an_error_is_one_line_in_the_log_and_has_the_headers(caplog: pytest.LogCaptureFixture) -> None:
    async def inner(scope: object, receive: object, send: object) -> None:
        raise RuntimeError("broken\nline")

    with caplog.at_level(logging.ERROR, "normviz"):
        LOGGER.addHandler(caplog.handler)
        response = ask(Headers(inner, "'self'"), "/lib/a\tb")
        LOGGER.removeHandler(caplog.handler)
    assert (response.status, response.headers["content-security-policy"]) == (500, "frame-ancestors 'self'")
    assert re.fullmatch(
        r"RuntimeError: broken line \(.*normviz/ui/server/routes.py:\d+\) \['/lib/a\\tb'\]",
        caplog.records[0].getMessage(),
    )


def test_the_app_has_its_own_routes_and_the_headers_middleware() -> None:
    assert [each.cls for each in middleware()] == [Headers, FewFiles, CompressedFiles]
    assert routes()


def test_the_app_does_not_start_with_an_invalid_setting() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import app"],
        cwd=ROOT,
        env={"NORMVIZ_FRAME_ANCESTORS": "'self'; script-src *", "PATH": "", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode != 0
    assert "NormvizError: NORMVIZ_FRAME_ANCESTORS" in done.stderr.splitlines()[-1]
