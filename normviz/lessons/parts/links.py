"""Links to views of the app's pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from normviz.layers.messages import _
from normviz.lessons.parts.html import Body
from normviz.lessons.parts.markup import escape, line
from normviz.lessons.parts.part import Hides, Part


@dataclass(frozen=True)
class Link:
    """A link to the view that ``query`` (without "?") asks for on a page."""

    text: str
    page: str
    query: str = ""

    def html(self, address: str, kind: str = "") -> str:
        """``address``: the root of the app. The app itself replaces it with its own."""
        search = f"?{self.query}" if self.query else ""
        path = "" if self.page == "explore" else self.page
        return (
            f'<a class="nv-go{kind}" data-page="{escape(self.page)}" data-query="{escape(search)}" '
            f'href="{escape(f"{address}/{path}{search}")}">{line(self.text)}</a>'
        )


@dataclass(frozen=True)
class Links(Part):
    """A list of links under a title. Without an app, it is not shown.

    title  as a message, or ""
    kind   "list": the questions of a topic, in two columns if there is room; "questions": those that the view answers; "back", "next": one link
    """

    links: tuple[Link, ...]
    title: str = ""
    kind: str = "list"
    name: ClassVar[str] = "questions"

    @property
    def hidden_by(self) -> str:
        return "" if self.kind == "list" else self.name

    def html(self, body: Body) -> str:
        if body.app is None:
            return ""
        title = f'<p class="nv-small">{escape(_(self.title))}</p>' if self.title else ""
        if self.kind in ("back", "next"):
            return f'<p class="nv-{self.kind}">{self.links[0].html(body.app)}</p>'
        items = "".join(f"<li>{link.html(body.app)}</li>" for link in self.links)
        return f'{title}<ul class="nv-links nv-links-{self.kind}">{items}</ul>'

    def plain_text(self) -> str:
        return "\n".join(f"- {link.text}" for link in self.links) if self.kind == "list" else ""

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        return (self,) if self.kind == "list" else super().without_hidden(hides)
