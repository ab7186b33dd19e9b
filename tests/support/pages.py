"""Opens any page of the app, by its address or from another page."""

from __future__ import annotations

from urllib.parse import parse_qsl
from xml.etree.ElementTree import Element

from streamlit.testing.v1 import AppTest

from normviz.ui.server.routes import SHELL
from normviz.ui.session import SESSION
from tests.support.driver import _components, path, query
from tests.support.opened import Opened, opened
from tests.support.shown import figures, page_html, problems


def open_page(name: str, link: str | dict[str, str] = "") -> AppTest:
    """Open the page with the query ``link`` in a new session."""
    app = AppTest.from_file(str(SHELL), default_timeout=60)
    app._bidi_component_manager = _components()
    app.switch_page(path(name))
    pairs = link if isinstance(link, dict) else dict(part.split("=", 1) for part in filter(None, link.split("&")))
    for key, value in pairs.items():
        app.query_params[key] = value
    return app.run()


def go_to_page(app: AppTest, name: str) -> AppTest:
    """Change to another page through the list of pages, which sends no query."""
    app.query_params.clear()
    return app.switch_page(path(name)).run()


def follow(app: AppTest, link: Element) -> AppTest:
    """Open a link of the page in the same session, as a click does."""
    app.query_params.clear()
    for name, value in parse_qsl(link.attrib["data-query"].removeprefix("?")):
        app.query_params[name] = value
    return app.switch_page(path(link.attrib["data-page"])).run()


def check_no_errors(app: AppTest | Opened) -> None:
    """Assert that there is no traceback and no error message."""
    assert not app.exception, [error.message for error in app.exception]
    assert not problems(app)


def check_page(app: AppTest | Opened) -> None:
    """Assert that there is no error, and that the address alone gives the same page."""
    check_no_errors(app)
    is_opened = isinstance(app, Opened)
    again = opened(app.page.name, query(app)) if is_opened else open_page(app.session_state[SESSION].name, query(app))
    assert not again.exception
    assert page_html(again) == page_html(app)
    assert figures(again) == figures(app)
