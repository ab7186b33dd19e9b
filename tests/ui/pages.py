"""Opens any page of the app, by its address or from another page."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

from streamlit.testing.v1 import AppTest

from normviz.ui.logs import PAGE
from normviz.ui.paths import ROOT
from normviz.ui.server.routes import SHELL
from tests.ui.driver import _components, query


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


def path(name: str) -> str:
    return str(ROOT / "pages" / f"{name}.py")


def figures(app: AppTest) -> list[dict[str, Any]]:
    """The data of the page's figures, which must be JSON without NaN."""
    given = [json.loads(found.proto.json, parse_constant=_raise_not_json)[0] for found in app.get("bidi_component")]
    return [data for data in given if data["kind"] not in ("share", "open", "tabs")]


def tabs(app: AppTest) -> dict[str, str]:
    """The text of every tab, by its label."""
    reader = _Tabs()
    for found in app.get("bidi_component"):
        data = json.loads(found.proto.json)[0]
        reader.feed(data["html"] if data["kind"] == "tabs" else "")
    return reader.texts


class _Tabs(HTMLParser):
    """Reads the text in the panels of tabs, without buttons."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self.open: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        label = named.get("aria-label") if named.get("role") == "tabpanel" else None
        if label is not None:
            self.texts[label] = ""
        self.open.append((tag, label or (self.open[-1][1] if self.open else "")))

    def handle_endtag(self, tag: str) -> None:
        self.open.pop()

    def handle_data(self, data: str) -> None:
        tag, label = self.open[-1]
        if label and tag != "button":
            self.texts[label] += data


def _raise_not_json(constant: str) -> float:
    raise AssertionError(f"{constant} is not JSON")


def texts(app: AppTest) -> str:
    """All Markdown texts of the page."""
    return "\n".join(part.value for part in app.markdown)


def check_page(app: AppTest) -> None:
    """Assert that there is no traceback and no warning, and that the address alone gives the same page."""
    assert not app.exception, [error.message for error in app.exception]
    assert not app.warning
    again = open_page(app.session_state[PAGE], query(app))
    assert not again.exception
    assert not again.warning
    assert [part.value for part in again.subheader] == [part.value for part in app.subheader]
    assert texts(again) == texts(app)
    assert figures(again) == figures(app)
