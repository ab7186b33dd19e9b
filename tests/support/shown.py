"""Reads what a page shows from the data of its components: its HTML, its figures, and the data of Share."""

from __future__ import annotations

import json
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder

from streamlit.testing.v1 import AppTest

from tests.support.opened import Opened, refuse

VOID = ("br", "hr", "img", "input")
MARKS = {"code": "`", "strong": "**"}


def components(app: AppTest | Opened) -> list[dict[str, Any]]:
    """The data of the page's components, which must be JSON without NaN."""
    if isinstance(app, Opened):
        return [app.data]
    return [json.loads(found.proto.json, parse_constant=refuse)[0] for found in app.get("bidi_component")]


def page_data(app: AppTest | Opened) -> dict[str, Any]:
    """The data of the component with the figure and Share."""
    return components(app)[0]


def figures(app: AppTest | Opened) -> list[dict[str, Any]]:
    """The data of the page's figures."""
    return [figure for data in components(app) for figure in data["figures"]]


def page_html(app: AppTest | Opened) -> str:
    """The HTML of the page's parts."""
    return "\n".join(html for _key, html in _parts(app))


def html_of_view(app: AppTest | Opened) -> str:
    """The HTML of the page's parts without error messages, which depend on what was entered before."""
    return "\n".join(html for key, html in _parts(app) if not key.startswith("problem"))


def _parts(app: AppTest | Opened) -> list[list[str]]:
    return [part for data in components(app) for part in data["parts"]]


def elements(app: AppTest, kind: str) -> list[Element]:
    """The elements of a tag or a class, in order."""
    return [found for found in tree(page_html(app)).iter() if kind in (found.tag, *found.get("class", "").split())]


def texts(app: AppTest | Opened) -> str:
    """The texts of the page as simple Markdown, one line for each row of a table."""
    return "\n".join(markdown(found) for found in tree(page_html(app)))


def captions(app: AppTest | Opened) -> list[str]:
    return [markdown(found) for found in elements(app, "nv-small")]


def problems(app: AppTest | Opened) -> list[str]:
    """The error messages about the view."""
    return [markdown(found) for found in elements(app, "nv-problem")]


def notes(app: AppTest | Opened) -> list[str]:
    """The messages in boxes that are no errors."""
    return [markdown(found) for found in elements(app, "nv-note-box") if "nv-problem" not in found.get("class", "")]


def tabs(app: AppTest | Opened) -> dict[str, str]:
    """The text of every tab, by its label, without buttons."""
    return {found.get("aria-label", ""): text(found, without="button") for found in elements(app, "nv-tab")}


def table(app: AppTest | Opened) -> list[list[str]]:
    """The cells of all rows of the page's tables."""
    return [[markdown(cell) for cell in row] for row in elements(app, "tr")]


def tree(html: str) -> Element:
    """The elements of a text of HTML."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.root()


def text(element: Element, without: str = "") -> str:
    return _text(element, lambda inside: "" if inside.tag == without else text(inside, without))


def markdown(element: Element) -> str:
    """The text with the marks of Markdown for code and emphasis."""
    mark, inner = MARKS.get(element.tag, ""), _text(element, markdown)
    return f"| {' | '.join(map(markdown, element))} |" if element.tag == "tr" else f"{mark}{inner}{mark}"


def _text(element: Element, inner: Callable[[Element], str]) -> str:
    return (element.text or "") + "".join(inner(inside) + (inside.tail or "") for inside in element)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.builder = TreeBuilder()
        self.builder.start("html", {})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.builder.start(tag, {name: value or "" for name, value in attrs})
        if tag in VOID:
            self.builder.end(tag)

    def handle_endtag(self, tag: str) -> None:
        self.builder.end(tag)

    def handle_data(self, data: str) -> None:
        self.builder.data(data)

    def root(self) -> Element:
        self.builder.end("html")
        return self.builder.close()
