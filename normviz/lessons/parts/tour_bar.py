"""The place of a view in a tour, with links to its neighbors."""

from __future__ import annotations

from dataclasses import dataclass

from normviz.layers.messages import _
from normviz.lessons.parts.html import Body
from normviz.lessons.parts.links import Link
from normviz.lessons.parts.markup import escape, line
from normviz.lessons.parts.part import Hides, Part


@dataclass(frozen=True)
class TourBar(Part):
    """The caption of a view, and links to the views before and after it. The browser follows them with the arrow keys.

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

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        return (self,)
