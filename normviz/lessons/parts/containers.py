"""The parts of a page that contain other parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from normviz.lessons.parts.html import Body
from normviz.lessons.parts.markup import escape, line
from normviz.lessons.parts.part import Code, Hides, Part, without_hidden
from normviz.lessons.parts.text import plain, text


@dataclass(frozen=True)
class Tabs(Part):
    """Labels, and the parts that each tab shows. They are hidden together."""

    tabs: tuple[tuple[str, tuple[Part, ...]], ...]
    name: ClassVar[str] = "code"

    @property
    def children(self) -> tuple[Part, ...]:
        return tuple(part for _label, parts in self.tabs for part in parts)

    @property
    def names(self) -> frozenset[str]:
        return frozenset({self.name})

    def html(self, body: Body) -> str:
        """All tabs are in the HTML; the first one is visible."""
        name = body.unique("t")
        heads, panels = [], []
        for number, (label, parts) in enumerate(self.tabs):
            key, selected = f"{name}-{number}", number == 0
            heads.append(
                f'<button type="button" role="tab" data-tab="{key}" aria-selected="{str(selected).lower()}" '
                f'tabindex="{0 if selected else -1}">{escape(label)}</button>'
            )
            panels.append(
                f'<div class="nv-tab" role="tabpanel" data-panel="{key}" aria-label="{escape(label)}"'
                f"{'' if selected else ' hidden'}>{body.html(parts)}</div>"
            )
        return (
            f'<div class="nv-tabs"><div class="nv-heads" role="tablist">{"".join(heads)}</div>{"".join(panels)}</div>'
        )

    def plain_text(self) -> str:
        """All tabs; if they are versions of the same code, only the first."""
        has_code = any(isinstance(part, Code) for part in self.tabs[0][1])
        return text(Details(label, parts) for label, parts in (self.tabs[:1] if has_code else self.tabs))


@dataclass(frozen=True)
class Details(Part):
    """A collapsible section, closed at first."""

    title: str
    parts: tuple[Part, ...]
    name: ClassVar[str] = "details"

    @property
    def children(self) -> tuple[Part, ...]:
        return self.parts

    def html(self, body: Body) -> str:
        return f'<details class="nv-more"><summary>{line(self.title)}</summary>{body.html(self.parts)}</details>'

    def plain_text(self) -> str:
        return "\n\n".join(filter(None, (f"{plain(self.title)}:", text(self.parts))))

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        parts = without_hidden(self.parts, hides)
        return (replace(self, parts=parts),) if parts and not hides(self, self.hidden_by) else ()


@dataclass(frozen=True)
class Beside(Part):
    """Two columns if there is room; ``widths`` is their ratio."""

    left: tuple[Part, ...]
    right: tuple[Part, ...]
    widths: tuple[int, int] = (1, 1)

    @property
    def children(self) -> tuple[Part, ...]:
        return (*self.left, *self.right)

    def html(self, body: Body) -> str:
        left, right = self.widths
        return (
            f'<div class="nv-beside-parts" style="--nv-left:{left}fr;--nv-right:{right}fr">'
            f"<div>{body.html(self.left)}</div><div>{body.html(self.right)}</div></div>"
        )

    def plain_text(self) -> str:
        return text(self.children)

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        left, right = without_hidden(self.left, hides), without_hidden(self.right, hides)
        return (replace(self, left=left, right=right),) if left and right else (*left, *right)
