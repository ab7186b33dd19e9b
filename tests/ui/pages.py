"""Opens any page of the app as a reader would: by its own address, or from another page."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

from streamlit.testing.v1 import AppTest

from normviz.ui.paths import ROOT
from normviz.ui.server.routes import SHELL
from normviz.ui.state import PAGE
from tests.ui.driver import _components, query


def page(name: str, link: str | dict[str, str] = "") -> AppTest:
    """The page at ``link``, on a fresh server."""
    app = AppTest.from_file(str(SHELL), default_timeout=60)
    app._bidi_component_manager = _components()
    app.switch_page(path(name))
    pairs = link if isinstance(link, dict) else dict(part.split("=", 1) for part in filter(None, link.split("&")))
    for key, value in pairs.items():
        app.query_params[key] = value
    return app.run()


def gone(app: AppTest, name: str) -> AppTest:
    """From one page to another by the list of pages, which gives no query."""
    app.query_params.clear()
    return app.switch_page(path(name)).run()


def path(name: str) -> str:
    return str(ROOT / "pages" / f"{name}.py")


def figures(app: AppTest) -> list[dict[str, Any]]:
    """What the page's views were given; JSON alone, without NaN, as a browser needs it."""
    given = [json.loads(found.proto.json, parse_constant=_refused)[0] for found in app.get("bidi_component")]
    return [data for data in given if data["kind"] not in ("share", "open", "tabs")]


def tabs(app: AppTest) -> dict[str, str]:
    """The text of every tab, by its label."""
    reader = _Tabs()
    for found in app.get("bidi_component"):
        data = json.loads(found.proto.json)[0]
        reader.feed(data["html"] if data["kind"] == "tabs" else "")
    return reader.texts


class _Tabs(HTMLParser):
    """Reads what stands in panels of tabs, buttons left out."""

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


def _refused(constant: str) -> float:
    raise AssertionError(f"{constant} is no JSON")


def texts(app: AppTest) -> str:
    """All Markdown of the page."""
    return "\n".join(part.value for part in app.markdown)


def complete(app: AppTest) -> None:
    """No traceback, no warning, and the page's address alone brings the same page back."""
    assert not app.exception, [error.message for error in app.exception]
    assert not app.warning
    again = page(app.session_state[PAGE], query(app))
    assert not again.exception
    assert not again.warning
    assert [part.value for part in again.subheader] == [part.value for part in app.subheader]
    assert texts(again) == texts(app)
    assert figures(again) == figures(app)
