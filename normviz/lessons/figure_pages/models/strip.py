"""The normalizations of a model as a strip of bars, in the order in which they run, and as a table. Each leads to its view in Explore."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log2, prod
from typing import ClassVar

from normviz.layers.messages import _, ngettext
from normviz.lessons.figure_pages.models.recorded import FAMILIES, OTHER, RecordedLayer, RecordedModel, RecordedNorm
from normviz.lessons.parts.html import Body
from normviz.lessons.parts.links import Link
from normviz.lessons.parts.markup import escape
from normviz.lessons.parts.part import Part
from normviz.lessons.parts.text import align
from normviz.scene.query import link

HIGHEST, DEEPEST = 13, 17  # log2 of the most channels and positions that are drawn in full


@dataclass(frozen=True)
class Strip(Part):
    """One bar for each normalization: up, its channels; down, the positions of an example. Those that are not marked are gray.

    only_batch  whether only those are marked that average over the batch
    """

    model: RecordedModel
    title: str
    only_batch: bool = False
    name: ClassVar[str] = "panels"

    def html(self, body: Body) -> str:
        stages = "".join(self._stage(rows, body) for rows in self.model.stages)
        says = escape(_("A click on a bar opens its layer in Explore."))
        opens = f'<p class="nv-small">{says}</p>' if "<a " in stages else ""
        return (
            f'{self._legend()}<div class="nv-model" role="group" tabindex="0" aria-label="{escape(self.description)}">'
            f'<div class="nv-runs" aria-hidden="true">{stages}</div></div>' + opens
        )

    @property
    def description(self) -> str:
        """What the bars show, in a sentence."""
        stages = [f"{len(rows)} × {positions_text(rows[0].kind)}" for rows in self.model.stages]
        return ngettext(
            "{model}: {n} normalization. Number × positions of an example, in order: {stages}.",
            "{model}: {n} normalizations. Number × positions of an example, in order: {stages}.",
            len(self.model.rows),
            model=self.title,
            stages=", ".join(stages),
        )

    def plain_text(self) -> str:
        return self.description

    def _legend(self) -> str:
        items = [
            f'<li><span class="nv-family nv-family-{_number(family)}"></span>{escape(f"{n} {family}")}</li>'
            for family, n in self.model.families.items()
        ]
        if self.only_batch:
            items.append(f'<li><span class="nv-family nv-unmarked"></span>{escape(_("not over the batch"))}</li>')
        return f'<ul class="nv-families">{"".join(items)}</ul>'

    def _stage(self, rows: Sequence[RecordedNorm], body: Body) -> str:
        bars = "".join(self._bar(row, body) for row in rows)
        label = escape(positions_text(rows[0].kind))
        return f'<div class="nv-run" style="flex-grow:{len(rows)}"><div class="nv-norms">{bars}</div><span>{label}</span></div>'

    def _bar(self, row: RecordedNorm, body: Body) -> str:
        kind = row.kind
        faded = " nv-unmarked" if self.only_batch and not kind.averages_over_the_batch else ""
        up, down = (
            round(100 * log2(size + 1) / most, 1)
            for size, most in ((kind.channels, HIGHEST), (prod(kind.positions), DEEPEST))
        )
        look = (
            f'style="--nv-up:{min(up, 100)}%;--nv-down:{min(down, 100)}%" title="{escape(f"{row.name}: {kind.title}")}"'
        )
        query = link(kind.query)
        address = body.address(f"/{query}")
        classes = f"nv-norm nv-family-{_number(kind.family)}{faded}"
        if address is None:
            return f'<span class="{classes}" {look}></span>'
        return (
            f'<a class="nv-go {classes}" tabindex="-1" data-page="explore" data-query="{escape(query)}" '
            f'href="{escape(address)}" {look}></a>'
        )


@dataclass(frozen=True)
class NormTable(Part):
    """One line for each layer on a shape: how often it occurs, which elements share a mean and a variance, its parameters."""

    model: RecordedModel
    name: ClassVar[str] = "table"

    def html(self, body: Body) -> str:
        head = "".join(f'<th scope="col">{escape(text)}</th>' for text in self._head())
        lines = "".join(f"<tr>{self._cells(kind, rows, body)}</tr>" for kind, rows in self.model.kinds.items())
        return (
            '<div class="nv-table-box nv-norm-list" tabindex="0" role="group" '
            f'aria-label="{escape(_("The normalizations as a table"))}">'
            f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>"
        )

    def plain_text(self) -> str:
        lines = [[texts[0], kind.described.title, *texts[1:]] for kind, texts in self._lines()]
        return align([self._head(), *lines])

    def _head(self) -> list[str]:
        return [
            _("Normalization"),
            _("Layer"),
            _("Shape of x"),
            _("Mean and variance"),
            _("Over the batch"),
            _("Parameters"),
        ]

    def _lines(self) -> Iterator[tuple[RecordedLayer, list[str]]]:
        for kind, rows in self.model.kinds.items():
            yield kind, _texts(kind, rows)

    def _cells(self, kind: RecordedLayer, rows: Sequence[RecordedNorm], body: Body) -> str:
        name, shape, pattern, batch, parameters = map(escape, _texts(kind, rows))
        title = (
            _("{layer} with 1 + gamma", layer=f"`{kind.described.title}`")
            if kind.plus_one
            else f"`{kind.described.title}`"
        )
        layer = (
            Link(title, "explore", link(kind.query).removeprefix("?")).html(body)
            or f"<code>{escape(kind.described.title)}</code>"
        )
        return (
            f"<td>{name}</td><td>{layer}</td><td>{shape}</td><td><code>{pattern}</code></td><td>{batch}</td>"
            f'<td class="nv-number">{parameters}</td>'
        )


def _texts(kind: RecordedLayer, rows: Sequence[RecordedNorm]) -> list[str]:
    """Name, shape, pattern, whether it averages over the batch, and the number of parameters of all rows."""
    name = f"{rows[0].name} × {len(rows)}" if len(rows) > 1 else rows[0].name
    batch = _("yes") if kind.averages_over_the_batch else _("no")
    pattern = str(kind.described.norm.pattern).replace("->", "→")
    return [name, str(kind.shape), pattern, batch, f"{len(rows) * kind.parameters:,}"]


def positions_text(kind: RecordedLayer) -> str:
    """``56 × 56``; of an x without positions, 1.

    >>> positions_text(RecordedLayer("BatchNorm2d(64)", (2, 64, 56, 56)))
    '56 × 56'
    """
    return " × ".join(map(str, kind.positions)) or "1"


def _number(family: str) -> int:
    """The number of the family's color."""
    return (*FAMILIES, OTHER).index(family)
