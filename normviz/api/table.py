"""The table of the normalizations of a model as HTML, which ``norms`` imports when it is shown: the parts of a page take long to load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, ClassVar

from normviz.measuring.models.norms import NormRow, number_heads
from normviz.parts.part import Part
from normviz.parts.titles import app_of_files
from normviz.scene.scene import query_of
from normviz.scene.view import link
from normviz.texts.errors import NormvizError, encodable
from normviz.texts.languages import with_language
from normviz.texts.messages import _, format_count

if TYPE_CHECKING:
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
