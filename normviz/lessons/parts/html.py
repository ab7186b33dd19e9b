"""HTML of parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from normviz.layers.messages import _
from normviz.lessons.parts.markup import escape


class HasHtml(Protocol):
    def html(self, body: Body) -> str: ...


@dataclass
class Body:
    """Collects the data of the figures while parts are written as HTML, and makes unique names for elements of the page."""

    figures: list[dict[str, Any]] = field(default_factory=list)
    names: int = 0

    def html(self, parts: Iterable[HasHtml]) -> str:
        return "\n".join(part.html(self) for part in parts)

    def figure(self, data: dict[str, Any], alt: str) -> str:
        """An empty element that the page's script fills with the figure. It shows a message if the script does not run."""
        self.figures.append(data)
        unstyled = _("The figure needs JavaScript. In a notebook that is not trusted yet, run the cell.")
        return (
            f'<div class="nv-figure" data-figure="{len(self.figures) - 1}" aria-label="{escape(alt)}">'
            f'<p class="nv-unstyled">{escape(unstyled)}</p><div class="nv-root"></div></div>'
        )

    def unique(self, prefix: str) -> str:
        """A name that is unique in this body."""
        self.names += 1
        return f"{prefix}{self.names}"
