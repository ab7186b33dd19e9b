"""Parts as HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from normviz.figures.payload.chart import chart_payload
from normviz.lessons.parts.markup import block, escape, line
from normviz.lessons.parts.part import (
    Beside,
    Caption,
    Chart,
    Code,
    Details,
    Heading,
    Legend,
    Note,
    Panels,
    Part,
    Sentence,
    Table,
    Tabs,
    Text,
)

# It is read where a front end takes the scripts away, or does not run them.
UNSTYLED = (
    '<p class="nv-unstyled">The figure needs JavaScript. In a notebook that is not trusted yet, run the cell.</p>'
)


@dataclass
class Body:
    """The HTML of parts, and the data of their figures, in order."""

    figures: list[dict[str, Any]] = field(default_factory=list)
    tabs: int = 0

    def html(self, parts: Iterable[Part]) -> str:
        return "\n".join(DRAWN[type(part)](self, part) for part in parts)

    def figure(self, data: dict[str, Any], alt: str) -> str:
        """The place of a figure; the page's script draws it there."""
        self.figures.append(data)
        return (
            f'<div class="nv-figure" data-figure="{len(self.figures) - 1}" aria-label="{escape(alt)}">{UNSTYLED}'
            '<div class="nv-root"></div></div>'
        )

    def tabbed(self, part: Tabs) -> str:
        """Tabs whose parts all stand in the page; the first is shown."""
        self.tabs += 1
        name = f"t{self.tabs}"
        heads, bodies = [], []
        for number, (label, parts) in enumerate(part.tabs):
            chosen = number == 0
            own = f"{name}-{number}"
            heads.append(
                f'<button type="button" role="tab" data-tab="{own}" aria-selected="{str(chosen).lower()}" '
                f'tabindex="{0 if chosen else -1}">{escape(label)}</button>'
            )
            hidden = "" if chosen else " hidden"
            bodies.append(
                f'<div class="nv-tab" role="tabpanel" data-panel="{own}" aria-label="{escape(label)}"{hidden}>{self.html(parts)}</div>'
            )
        return (
            f'<div class="nv-tabs"><div class="nv-heads" role="tablist">{"".join(heads)}</div>{"".join(bodies)}</div>'
        )


def _code(body: Body, part: Code) -> str:
    return f'<div class="nv-code"><button type="button" class="nv-copy">Copy</button><pre tabindex="0"><code>{escape(part.text)}</code></pre></div>'


def _beside(body: Body, part: Beside) -> str:
    left, right = part.shares
    return (
        f'<div class="nv-beside-parts" style="--nv-left:{left}fr;--nv-right:{right}fr">'
        f"<div>{body.html(part.left)}</div><div>{body.html(part.right)}</div></div>"
    )


def _details(body: Body, part: Details) -> str:
    return f'<details class="nv-more"><summary>{line(part.title)}</summary>{body.html(part.parts)}</details>'


DRAWN: dict[type[Part], Callable[[Body, Any], str]] = {
    Sentence: lambda body, part: f'<p class="nv-sentence">{line(part.text)}</p>',
    Heading: lambda body, part: f"<h2>{line(part.text)}</h2>",
    Text: lambda body, part: f'<div class="nv-text">{block(part.text)}</div>',
    Caption: lambda body, part: f'<div class="nv-small">{block(part.text)}</div>',
    Legend: lambda body, part: f'<p class="nv-legend">{escape(part.text)}</p>',
    Note: lambda body, part: f'<p class="nv-note-box">{escape(part.text)}</p>',
    Panels: lambda body, part: body.figure(part.data | {"alone": True, "editable": False}, "figure"),
    Chart: lambda body, part: body.figure(chart_payload(part.lines, part.alt), part.alt),
    Table: lambda body, part: f'<div class="nv-table-box">{block(part.markdown)}</div>',
    Code: _code,
    Tabs: Body.tabbed,
    Details: _details,
    Beside: _beside,
}
