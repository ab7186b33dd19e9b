"""The parts of a page as plain values, and links to views. Each part has methods for its HTML, its plain text, the parts in it and the names that hide it.

The app, exported files, the static site and notebooks show the same parts by their HTML. A new kind of part is one class.

Texts are simple Markdown: ``**strong**``, `` `code` ``, links, lists. Numbers in a sentence are in ``**``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from normviz.analysis.description import Description
from normviz.figures.charts import chart_payload
from normviz.figures.payload import LinkedPayload, PanelValues, StepsPayload, ValuesPayload, ViewPayload, values_payload
from normviz.figures.wire import sent
from normviz.parts.html import Body, align, block, escape, finished, line, plain_table
from normviz.scene.grid import Grid
from normviz.scene.view import PANELS
from normviz.texts.errors import NormvizError
from normviz.texts.messages import _, plain

if TYPE_CHECKING:
    from normviz.figures.charts import Lines
from normviz.parts.titles import HOME

Hides = Callable[["Part", str], bool]
Index = tuple[int, ...]


@dataclass(frozen=True)
class Part(ABC):
    """One part of a page. ``name`` is the value of ``hide=`` that hides it: ``hide=code``. Without a name, it cannot be hidden."""

    name: ClassVar[str] = ""

    @property
    def hidden_by(self) -> str:
        return self.name

    @property
    def children(self) -> tuple[Part, ...]:
        return ()

    @property
    def names(self) -> frozenset[str]:
        """The names that hide the part or something in it."""
        return frozenset({self.hidden_by}).union(*(part.names for part in self.children))

    @abstractmethod
    def html(self, body: Body) -> str: ...

    @abstractmethod
    def plain_text(self) -> str: ...

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        """The part without everything that ``hides(part, name)`` hides; empty if nothing is left."""
        return () if self.hidden_by and hides(self, self.hidden_by) else (self,)


@dataclass(frozen=True)
class _Markdown(Part):
    text: str

    def plain_text(self) -> str:
        return plain(self.text)


@dataclass(frozen=True)
class Sentence(_Markdown):
    """The largest text of a page.

    selected  the index of the selected element in ``[ ]``, if nothing else in the text depends on it: a file then follows the reader
    """

    selected: str = ""
    name: ClassVar[str] = "sentence"

    def html(self, body: Body) -> str:
        marked = f'[<span class="nv-selected">{escape(self.selected)}</span>]'
        text = line(self.text)
        return f'<p class="nv-sentence">{text.replace(f"[{self.selected}]", marked, 1) if self.selected else text}</p>'


@dataclass(frozen=True)
class HowMany(Part):
    """In the app, before the headline of a layer that the reader has picked: a prediction of the number of means, or of mean squares."""

    right: int
    center: bool = True
    name: ClassVar[str] = "prediction"

    def html(self, body: Body) -> str:
        if body.turn is None:
            return ""
        question = _("How many means?") if self.center else _("How many mean squares?")
        return (
            f'<form class="nv-how-many" data-right="{self.right}" hidden>'
            f'<label>{escape(question)} <input type="number" min="0" required autocomplete="off"></label>'
            f'<button class="nv-button">{escape(_("Check"))}</button>'
            f'<button class="nv-button nv-skip" type="button">{escape(_("Skip"))}</button></form>'
        )

    def plain_text(self) -> str:
        return ""


@dataclass(frozen=True)
class Heading(_Markdown):
    name: ClassVar[str] = "text"

    def html(self, body: Body) -> str:
        return f"<h2>{line(self.text)}</h2>"


@dataclass(frozen=True)
class _Paragraph(_Markdown):
    """``of``: the name of the part that the text belongs to; both are hidden together."""

    of: str = ""
    name: ClassVar[str] = "text"

    @property
    def hidden_by(self) -> str:
        return self.of or self.name


@dataclass(frozen=True)
class Text(_Paragraph):
    """A paragraph or a list."""

    def html(self, body: Body) -> str:
        return f'<div class="nv-text">{block(self.text)}</div>'


@dataclass(frozen=True)
class Caption(_Paragraph):
    """Small print."""

    def html(self, body: Body) -> str:
        return f'<div class="nv-small">{block(self.text)}</div>'


@dataclass(frozen=True)
class _Literal(Part):
    """Text without Markdown: it quotes a link, or is code."""

    text: str

    def plain_text(self) -> str:
        return self.text


@dataclass(frozen=True)
class Legend(_Literal):
    """The caption that a link adds below the figure."""

    name: ClassVar[str] = "caption"

    def html(self, body: Body) -> str:
        return f'<p class="nv-legend">{escape(self.text)}</p>'


class _Box(_Literal):
    """A message in a box."""

    name: ClassVar[str] = "notes"

    def html(self, body: Body) -> str:
        return f'<p class="nv-note-box">{escape(self.text)}</p>'


class Note(_Box):
    """Why something is not shown."""


class LayerNote(_Box):
    """A note about a layer that is legal but rarely intended."""

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        return () if hides(self, "notes") or hides(self, "text") else (self,)


@dataclass(frozen=True)
class Problem(_Literal):
    """An error message about the view. It cannot be hidden."""

    def html(self, body: Body) -> str:
        return f'<p class="nv-note-box nv-problem" role="alert">{finished(escape(self.text))}</p>'


@dataclass(frozen=True)
class Panels(Part):
    """A linked view.

    data    what is drawn (``normviz.figures.payload``), without theme or plotly.js
    events  the events that it sends: any of "select", "edit", "scale", "toggle", "step", "cards" and, for a tensor that is not drawn whole, "move"
    """

    data: LinkedPayload
    events: tuple[str, ...]
    name: ClassVar[str] = "panels"

    def __eq__(self, other: object) -> bool:
        """Figures are equal if the browser gets the same: arrays have no single truth value."""
        return isinstance(other, Panels) and (self.events, sent(self.data)) == (other.events, sent(other.data))

    @property
    def names(self) -> frozenset[str]:
        return super().names | self.panel_names

    @property
    def panel_names(self) -> frozenset[str]:
        """The names of the panels and of the boxes next to them."""
        data, names = self.data, {"readout"}
        if isinstance(data, StepsPayload):
            names |= {"stepper", "formula", "worked", "loops"}
        else:
            names |= {panel.row or panel.key for panel in data.panels} & set(PANELS)
        if isinstance(data, ViewPayload):
            names |= {"facts", "worked", "table"} if data.values else {"facts"}
        if isinstance(data, ViewPayload | StepsPayload) and data.moments is not None:
            names.add("distribution")
        if data.grid.partial and not (isinstance(data, ValuesPayload) and data.name != "x"):
            names.add("window")
        return frozenset(names)

    def html(self, body: Body) -> str:
        lines = [line for lines in self._texts() for line in lines]
        table = plain_table(lines) if body.tables else ""
        return body.figure(self.data, sends=bool(self.events), editable=self.data.editable, table=table)

    def plain_text(self) -> str:
        return "\n\n".join(filter(None, map(align, self._texts())))

    def _texts(self) -> tuple[list[list[str]], ...]:
        """The titles and captions of the panels, and the counts, line by line."""
        counts = self.data.facts if isinstance(self.data, ViewPayload) else []
        return (
            [[panel.title, panel.pattern, panel.caption] for panel in self.data.panels],
            [[count.label, count.value, count.note] for count in counts],
        )

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        if hides(self, self.hidden_by):
            return ()
        hidden = sorted(name for name in self.panel_names if hides(self, name))
        return (replace(self, data=replace(self.data, hidden=hidden)) if hidden else self,)


@dataclass(frozen=True)
class Chart(Part):
    """A line or bar chart; ``alt`` describes it in a sentence."""

    key: str
    lines: Lines
    alt: str
    name: ClassVar[str] = "panels"

    def html(self, body: Body) -> str:
        return body.figure(chart_payload(self.lines, self.alt))

    def plain_text(self) -> str:
        return ""


class Code(_Literal):
    name: ClassVar[str] = "code"

    def html(self, body: Body) -> str:
        copy = escape(_("Copy"))
        return f'<div class="nv-code"><button type="button" class="nv-copy">{copy}</button><pre tabindex="0"><code>{escape(self.text)}</code></pre></div>'


def without_hidden(parts: Iterable[Part], hides: Hides) -> tuple[Part, ...]:
    return tuple(visible for part in parts for visible in part.without_hidden(hides))


def flat(parts: Iterable[Part]) -> Iterator[Part]:
    """Every part, and every part in it."""
    for part in parts:
        yield part
        yield from flat(part.children)


def part_or_note(make: Callable[[], Part]) -> Part:
    """The part, or a Note with the error if it cannot be made, for example for a layer that torch does not have."""
    try:
        return make()
    except NormvizError as error:
        return Note(str(error))


def value_part(
    e: Description, drawing: Grid, at: Index | None, values: Iterable[PanelValues], of_element: bool = False
) -> Part:
    """Linked heatmaps of values of x's shape, or a Note with the error.

    at          the selected element, or None
    of_element  whether the values belong to the selected element, so that selecting another one needs a server
    """
    return part_or_note(
        lambda: Panels(values_payload(e, drawing, list(values), at=at, of_element=of_element), ("select",))
    )


# Links to views of the app's pages.


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
