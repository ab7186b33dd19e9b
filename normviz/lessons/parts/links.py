"""Links to views of the app's pages, and a search among them as one types."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from normviz.layers.messages import N_, _, ngettext
from normviz.lessons.parts.html import Body
from normviz.lessons.parts.markup import escape, line
from normviz.lessons.parts.part import Hides, Part
from normviz.lessons.parts.text import plain

EXAMPLES = N_("gamma, batch of one, or an error message of torch")
NOTHING_FOUND = N_("No question has these words. Try fewer, such as gamma or eval.")

ALWAYS_SHOWN = ("list", "choices")


@dataclass(frozen=True)
class Link:
    """A link to the view that ``query`` (without "?") asks for on a page."""

    text: str
    page: str
    query: str = ""

    def html(self, body: Body, kind: str = "") -> str:
        """A link to where the view is for this document; "" if it is nowhere. The app replaces the address by its own."""
        search = f"?{self.query}" if self.query else ""
        address = body.address(f"/{'' if self.page == 'explore' else self.page}{search}")
        if address is None:
            return ""
        return (
            f'<a class="nv-go{kind}" data-page="{escape(self.page)}" data-query="{escape(search)}" '
            f'href="{escape(address)}">{line(self.text)}</a>'
        )


@dataclass(frozen=True)
class Links(Part):
    """A list of links under a title. Links that lead nowhere, because there is no app, are not shown.

    title  as a message, or ""
    kind   "list": the questions of a topic, in two columns if there is room; "questions": those that the view answers; "choices": other
           views, as buttons; "back", "next": one link
    """

    links: tuple[Link, ...]
    title: str = ""
    kind: str = "list"
    name: ClassVar[str] = "questions"

    @property
    def hidden_by(self) -> str:
        return "" if self.kind in ALWAYS_SHOWN else self.name

    def html(self, body: Body) -> str:
        links = [html for html in (link.html(body) for link in self.links) if html]
        if not links:
            return ""
        title = f'<p class="nv-small">{escape(_(self.title))}</p>' if self.title else ""
        if self.kind in ("back", "next"):
            return f'<p class="nv-{self.kind}">{links[0]}</p>'
        items = "".join(f"<li>{html}</li>" for html in links)
        return f'{title}<ul class="nv-links nv-links-{self.kind}">{items}</ul>'

    def plain_text(self) -> str:
        return "\n".join(f"- {link.text}" for link in self.links) if self.kind in ALWAYS_SHOWN else ""

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        return (self,) if self.kind in ALWAYS_SHOWN else super().without_hidden(hides)


@dataclass(frozen=True)
class Entry:
    """A link to a question.

    key    of the question: the browser ticks it when the reader has answered it
    words  by which a search finds it, in lower case
    """

    link: Link
    key: str
    words: str


@dataclass(frozen=True)
class LinkSearch(Part):
    """Links under headings. While a reader types, only the links whose words contain every typed word are shown.

    topics     the heading and the entries of each
    typed      the search in the page's address
    longest    the number of characters that can be typed
    found      what the search leads to besides the links
    has_field  whether the reader can search
    """

    topics: tuple[tuple[str, tuple[Entry, ...]], ...]
    typed: str
    longest: int
    found: tuple[Part, ...] = ()
    has_field: bool = True
    name: ClassVar[str] = "search"

    @property
    def children(self) -> tuple[Part, ...]:
        return self.found

    def html(self, body: Body) -> str:
        """The page's script hides and shows links with ``data-words``; without scripts, those of the address are shown."""
        has_links = any(self._finds(entry) for _title, entries in self.topics for entry in entries)
        topics = "".join(self._topic(title, entries, body) for title, entries in self.topics)
        none = f'<p class="nv-note-box nv-none"{_hidden(has_links or bool(self.found))}>{escape(_(NOTHING_FOUND))}</p>'
        found = f'<div class="nv-found">{body.html(self.found)}</div>' if self.found else ""
        return f"{self._field(body) if self.has_field else ''}{found}{topics}{none}"

    def _finds(self, entry: Entry) -> bool:
        return all(word in entry.words for word in self.typed.lower().split())

    def _field(self, body: Body) -> str:
        name = body.unique("search")
        count = sum(len(entries) for _title, entries in self.topics)
        label = ngettext("Search {n} question", "Search {n} questions", count)
        return (
            f'<div class="nv-search"><label for="{name}">{escape(label)}</label><input id="{name}" type="search" '
            f'maxlength="{self.longest}" autocomplete="off" placeholder="{escape(_(EXAMPLES))}">'
            '<p class="nv-small" role="status"></p></div><p class="nv-small nv-progress"></p>'
        )

    def _topic(self, title: str, entries: tuple[Entry, ...], body: Body) -> str:
        items = "".join(self._item(entry, body) for entry in entries)
        is_empty = not any(map(self._finds, entries))
        return (
            f'<section class="nv-topic"{_hidden(is_empty)}><h2>{line(title)}</h2>'
            f'<ul class="nv-links nv-links-list">{items}</ul></section>'
        )

    def _item(self, entry: Entry, body: Body) -> str:
        shown = entry.link.html(body) or line(entry.link.text)
        return f'<li data-question="{escape(entry.key)}" data-words="{escape(entry.words)}"{_hidden(not self._finds(entry))}>{shown}</li>'

    def plain_text(self) -> str:
        found = [(title, [entry for entry in entries if self._finds(entry)]) for title, entries in self.topics]
        lists = [
            "\n".join([plain(title), "", *(f"- {plain(entry.link.text)}" for entry in entries)])
            for title, entries in found
            if entries
        ]
        return "\n\n".join([*(part.plain_text() for part in self.found), *lists]) or _(NOTHING_FOUND)

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        return (replace(self, has_field=False),) if hides(self, self.name) else (self,)


def _hidden(is_hidden: bool) -> str:
    return " hidden" if is_hidden else ""
