"""The table of the norms of a model, and the channels of a diagnosis, as HTML: imported when they are shown, because the parts of a page load slowly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torch import Tensor

from normviz.measuring.diagnosis.causes import CHANNEL
from normviz.measuring.models.norms import NormRow, number_heads
from normviz.parts.html import escape
from normviz.parts.part import Link, Part
from normviz.parts.titles import app_of_files
from normviz.scene.scene import query_of
from normviz.scene.view import link
from normviz.texts.errors import NormvizError, encodable
from normviz.texts.languages import with_language
from normviz.texts.messages import _, format_count

if TYPE_CHECKING:
    from normviz.measuring.diagnosis.diagnose import DiagnosedLayer
    from normviz.parts.html import Body


CELL = "padding:2px 12px 2px 0;text-align:left;vertical-align:top"
NUMBER = "padding:2px 12px 2px 0;text-align:right;vertical-align:top"


def table(rows: Sequence[NormRow], names: Sequence[str], remarks: Sequence[str]) -> str:
    """The table, and below it the remarks: what it adds up to, and the notes."""
    columns = [_("name"), _("layer"), _("shape"), _("reduced axes"), *number_heads(), _("calls")]
    head = "".join(f'<th scope="col" style="{CELL}">{escape(column)}</th>' for column in columns)
    lines = "".join(f"<tr>{''.join(_cells(row, name))}</tr>" for row, name in zip(rows, names, strict=True))
    how = "" if app_of_files() or not rows else _("norms.explore(0) shows the linked view of the first row.")
    below = "".join(f'<div style="margin-top:4px">{escape(line)}</div>' for line in [*remarks, how] if line)
    return encodable(
        f'<div style="max-height:32em;overflow:auto"><table style="border-collapse:collapse">'
        f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>{below}"
    )


def _cells(row: NormRow, name: str) -> Iterator[str]:
    base = app_of_files()
    title = escape(row.title)
    if base and row.norm is not None:
        address = escape(with_language(f"{base}/{link(view_query(row))}"))
        title = f'<a href="{address}" target="_blank" rel="noopener">{title}</a>'
    yield f'<td style="{CELL}">{escape(name)}</td><td style="{CELL}">{title}</td>'
    yield from (f'<td style="{CELL}">{escape(text)}</td>' for text in (row.shapes_text, str(row.reduced)))
    yield from (f'<td style="{NUMBER}">{number}</td>' for number in (*row.numbers, format_count(row.calls)))


def view_query(row: NormRow) -> dict[str, str]:
    """The view Explore of a row, as the query of a link. Raises NormvizError for a normalization of another kind."""
    if row.norm is None:
        raise NormvizError(
            "there is no view of {layer}, which takes no mean or variance of a group; its departures say what it does.",
            layer=row.title,
        )
    names = "".join(parts[0] for parts in row.norm.pattern.left)
    return query_of(row.layer or row.norm, row.shape, "NHWC" if row.layer is not None and names == "nhwc" else "")


@dataclass(frozen=True)
class ModelTable(Part):
    """The table as a part of a page: as HTML, and as text."""

    table: str
    text: str
    name: ClassVar[str] = "table"

    def html(self, body: Body) -> str:
        return self.table

    def plain_text(self) -> str:
        return self.text


# The channels of a diagnosis.


MOST_CELLS = 64  # of a layer
SQUARE = "flex:1 1 0;height:18px;min-width:1px;max-width:24px"


@dataclass(frozen=True)
class ChannelMap(Part):
    """A row of cells for each norm with stored statistics: the darker, the further a channel is from the data. Its name opens its view."""

    layers: Sequence[DiagnosedLayer]
    name: ClassVar[str] = "panels"

    def html(self, body: Body) -> str:
        rows = "".join(
            f'<span style="overflow-wrap:anywhere">{self._name(one, body)}</span>'
            f'<span role="img" aria-label="{escape(_outside(one))}" style="display:flex;gap:1px;align-items:center">{"".join(_squares(one.deviation.moved))}</span>'
            for one in self.layers
            if one.deviation is not None
        )
        says = _(
            "A cell is a channel, or the worst of several: the darker, the further it moves the output before gamma and beta. At {most:g} standard deviation or more, it is darkest.",
            most=CHANNEL,
        )
        grid = "display:grid;grid-template-columns:minmax(0,max-content) minmax(55%,1fr);gap:3px 12px;max-width:900px;font-size:14px"
        return f'<div style="{grid}">{rows}</div><p class="nv-small">{escape(says)}</p>'

    def _name(self, one: DiagnosedLayer, body: Body) -> str:
        if one.layer is None:
            return escape(one.name or "-")
        query = link(query_of(one.layer, one.shape)).removeprefix("?")
        return Link(one.name or "-", "explore", query).html(body) or escape(one.name or "-")

    def plain_text(self) -> str:
        return "\n".join(_outside(one) for one in self.layers if one.deviation is not None)


def _outside(one: DiagnosedLayer) -> str:
    found = one.deviation
    assert found is not None, one
    return _("{name}: {n:,} of {all:,} beyond chance", name=one.name, n=len(found.outside), all=len(found.moved))


def _squares(moved: Tensor) -> Iterator[str]:
    """One for each channel; of many channels, for the largest of several."""
    size = -(-len(moved) // MOST_CELLS)
    for first in range(0, len(moved), size):
        part = moved[first : first + size].nan_to_num(CHANNEL, CHANNEL)
        worst = first + int(part.argmax())
        percent = round(100 * min(1.0, float(part.max()) / CHANNEL))
        color = f"color-mix(in srgb,var(--nv-accent) {percent}%,var(--nv-border))"
        yield f'<span style="{SQUARE};background:{color}" title="{worst}: {float(moved[worst]):.2g}"></span>'
