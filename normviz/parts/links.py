"""Links to views of the app's pages."""

from dataclasses import dataclass
from typing import ClassVar

from normviz.parts.html import Body, escape, line
from normviz.parts.part import Part
from normviz.parts.titles import HOME
from normviz.texts.messages import _

ALWAYS_SHOWN = ("list", "choices")


def page_path(page: str) -> str:
    """The path of a page below the address of the app.

    >>> page_path("compare"), page_path("home")
    ('compare', '')
    """
    return "" if page == HOME else page


@dataclass(frozen=True)
class Link:
    """A link to the view that ``query`` (without "?") asks for on a page."""

    text: str
    page: str
    query: str = ""

    @property
    def address(self) -> str:
        """The address, relative to the address of the app.

        >>> Link("", "compare", "shape=2,3").address
        '/compare?shape=2,3'
        """
        return f"/{page_path(self.page)}{self._search}"

    @property
    def _search(self) -> str:
        return f"?{self.query}" if self.query else ""

    def html(self, body: Body, kind: str = "") -> str:
        """A link to where the view is for this document; "" if it is nowhere. The app replaces the address by its own."""
        address = body.address(self.address)
        if address is None:
            return ""
        return (
            f'<a class="nv-go{kind}" data-page="{escape(self.page)}" data-query="{escape(self._search)}" '
            f'href="{escape(address)}">{line(self.text)}</a>'
        )


@dataclass(frozen=True)
class Links(Part):
    """A list of links under a title. Links that lead nowhere, because there is no app, are not shown.

    title  as a message, or ""
    kind   "list": in two columns if there is room; "choices": other views, as buttons; "back", "next": one link
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


@dataclass(frozen=True)
class TourBar(Part):
    """The place of a view in a tour: its caption, and links to its neighbors, which the browser follows with the arrow keys.

    number, count  of the view in the tour, from 1; 0: the tour has not begun
    """

    title: str
    caption: str
    number: int
    count: int
    before: Link | None
    after: Link | None
    leave: Link | None

    def html(self, body: Body) -> str:
        links = [
            link.html(body, f" nv-tour-{kind}")
            for kind, link in (("back", self.before), ("next", self.after), ("leave", self.leave))
            if link
        ]
        place = _("{number} of {count}", number=self.number, count=self.count) if self.number else ""
        where = f'<span class="nv-tour-place">{escape(place)}</span>'
        return (
            f'<nav class="nv-tour" aria-label="{escape(_("Tour: {title}", title=self.title))}">'
            f'<p class="nv-tour-caption" role="status">{line(self.caption or self.title)}</p>'
            f'<div class="nv-tour-links">{where}{"".join(links)}</div></nav>'
        )

    def plain_text(self) -> str:
        return self.caption
