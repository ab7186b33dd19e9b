"""HTML of parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from normviz.lessons.glossary import Word, glossary, words_in
from normviz.lessons.parts.markup import escape, line
from normviz.texts.languages import with_language
from normviz.texts.messages import _


class HasHtml(Protocol):
    def html(self, body: Body) -> str: ...


@dataclass
class Body:
    """Collects the data of the figures while parts are written as HTML, and makes unique names for elements of the page.

    prefix     of these names, for a document with several bodies
    app        the address of the app, for links to its pages, "" in the app itself; None: there is no app to link to
    pages      the addresses of pages that are stored with the document, by their link in the app, such as "/questions?q=s0"
    tables     whether each figure has its numbers as a table, for places that run no scripts
    carries    whether all exercises of practice travel with the document, because no server chooses among them
    turn       the number of the last event that a server has received from the figures; None without a server
    words      of the glossary that may occur in the parts
    exercises  whether a part needs the script and the style of steps and exercises
    """

    prefix: str = ""
    app: str | None = None
    pages: Mapping[str, str] = field(default_factory=dict)
    tables: bool = False
    carries: bool = False
    turn: int | None = None
    exercises: bool = False
    figures: list[dict[str, Any]] = field(default_factory=list)
    names: int = 0
    words: dict[str, Word] = field(default_factory=dict)

    def html(self, parts: Iterable[HasHtml]) -> str:
        return "\n".join(part.html(self) for part in parts)

    def page(self, parts: Iterable[HasHtml]) -> str:
        """The parts as the browser's page finds them in a file."""
        divs = (f'<div class="nv-part" data-key="{key}">{html}</div>' for key, html in self.keyed(parts))
        return '<div class="nv-page">\n' + "\n".join(divs) + "\n</div>"

    def keyed(self, parts: Iterable[HasHtml]) -> list[tuple[str, str]]:
        """The HTML of each part, with a key that the part keeps when others come and go: its kind and its number among that kind."""
        counts: dict[str, int] = {}
        found = []
        for part in parts:
            kind = type(part).__name__.lower()
            counts[kind] = counts.get(kind, 0) + 1
            html = part.html(self)
            self.words |= {word.name: word for word in words_in(html)}
            found.append((f"{kind}{counts[kind]}", html))
        return found

    def figure(self, data: dict[str, Any], sends: bool = False, table: str = "") -> str:
        """An empty element that the page's script fills with the figure. It shows a message if the script does not run.

        sends  whether the figure sends what the reader does to the server, if there is one
        table  the numbers of the figure as HTML, for ``tables``
        """
        live: dict[str, Any] = {"turn": self.turn}
        if not sends or self.turn is None:
            live = {"alone": True, "editable": False} | ({"fixed": True} if sends and data.get("editable") else {})
        self.figures.append(data | live)
        unstyled = _("The figure needs JavaScript. In a notebook that is not trusted yet, run the cell.")
        return (
            f'<div class="nv-figure" data-figure="{len(self.figures) - 1}">'
            f'<div class="nv-unstyled"><p>{escape(unstyled)}</p>{table if self.tables else ""}</div>'
            '<div class="nv-root"></div></div>'
        )

    def terms(self, whole: bool = False) -> list[dict[str, Any]]:
        """The words of the glossary that may occur on the page, or all of them, as the page's script reads them."""
        words = glossary() if whole else self.words.values()
        return [{"forms": word.forms, "about": line(word.about)} for word in words]

    def address(self, link: str) -> str | None:
        """Where a link of the app leads from this document; None: nowhere."""
        if link in self.pages or self.app is None:
            return self.pages.get(link)
        # An address of the app names the language; within the app, the session has it.
        return f"{self.app}{with_language(link) if self.app else link}"

    def unique(self, prefix: str) -> str:
        """A name that is unique in this document."""
        self.names += 1
        return f"{self.prefix}{prefix}{self.names}"
