"""A table: columns by key, and rows of values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from normviz.layers.messages import _
from normviz.lessons.parts.html import Body
from normviz.lessons.parts.markup import block, escape
from normviz.lessons.parts.part import Part
from normviz.lessons.parts.text import align, plain

Row = Mapping[str, object]
FIRST_CELL = re.compile(r"<tr>(\s*)<td>(.+?)</td>")


@dataclass(frozen=True)
class Column:
    """A column: the key of its values in a row, its label (marked with ``N_``), and whether the values are code."""

    key: str
    label: str
    code: bool = False

    @property
    def head(self) -> str:
        return _(self.label).replace("|", "\\|") if self.label else ""

    def cell(self, row: Row) -> str:
        """The row's value as Markdown; empty if the row has none."""
        value = row.get(self.key, "")
        if value is None or isinstance(value, bool):
            return {True: _("yes"), False: _("no"), None: "–"}[value]
        if isinstance(value, int):
            return f"{value:,}"
        text = str(value).replace("|", "\\|")
        return f"`{text}`" if self.code and text else text


@dataclass(frozen=True)
class Table(Part):
    """One line for each row. A ``transposed`` table has one column for each row; the values of its first column are the heads.

    ``key`` names the table on the page.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    key: str = "rows"
    transposed: bool = False
    name: ClassVar[str] = "table"

    def cells(self) -> list[list[str]]:
        """The cells as Markdown, the heads first."""
        lines = [[column.head, *map(column.cell, self.rows)] for column in self.columns]
        if self.transposed:
            return [["", *lines[0][1:]], *lines[1:]]
        return [list(cells) for cells in zip(*lines, strict=True)]

    @property
    def markdown(self) -> str:
        if not self.rows:
            return ""
        heads, *body = self.cells()
        return "\n".join(_line(cells) for cells in (heads, ["---"] * len(heads), *body))

    def html(self, body: Body) -> str:
        html = block(self.markdown).replace("<th></th>", "<td></td>")  # the corner of a table names nothing
        if self.transposed:
            html = FIRST_CELL.sub(r'<tr>\1<th scope="row">\2</th>', html)
        # The arrow keys scroll it where it is wider than the page.
        return f'<div class="nv-table-box" tabindex="0" role="group" aria-label="{escape(_("Table"))}">{html}</div>'

    def plain_text(self) -> str:
        return align([list(map(plain, cells)) for cells in self.cells()]) if self.rows else ""


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
