"""What a notebook shows of ``explain``, ``check`` and ``norms``. Their results import this when it is needed: it takes longer than they do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape
from typing import ClassVar

import plotly.graph_objects as go

from normviz.analysis.comparison import Comparison
from normviz.analysis.description import Description
from normviz.export.app import app_of_environment
from normviz.export.arguments import FigureTheme
from normviz.export.output import Output, output_of_query, output_of_view, view_of
from normviz.figures.payload import view_payload
from normviz.figures.plotly_figure import panels_figure
from normviz.layers.axes import layout_text
from normviz.lessons.compare.page import panels
from normviz.lessons.explore import page as exploring
from normviz.measuring.check import Check, expect, norm_of, with_usual_formula
from normviz.measuring.models.norms import NormRow, Norms
from normviz.parts.html import Body
from normviz.parts.part import Caption, Panels, Part, Text
from normviz.scene.grid import grid, start_with
from normviz.scene.view import link
from normviz.texts.errors import encodable
from normviz.texts.languages import with_language
from normviz.texts.messages import _, format_count, join_sentences, ngettext

CELL = "padding:2px 12px 2px 0;text-align:left;vertical-align:top"
NUMBER = "padding:2px 12px 2px 0;text-align:right;vertical-align:top"


def figure_of_layer(e: Description, theme: FigureTheme) -> go.Figure:
    """Both panels as one plain Plotly figure."""
    return panels_figure(view_payload(replace(e, x=None), grid(e.shape, e.axes, ())), theme)


def output_of_layer(e: Description) -> Output:
    """The Explore page of the layer."""
    view = view_of(e)
    return output_of_view("explore", view, parts=exploring.parts(e, view.scene, exploring.toggles_of(view)))


def output_of_check(check: Check) -> Output:
    """The text, and the groups of the function next to the expected ones."""
    parts: list[Part] = [Text(check.text)]
    shown = [one for one in (_as_layer(check), check.expected) if one is not None]
    if shown:
        e, at = shown[0], (0,) * len(shown[0].shape)  # patterns that differ differ at the first element
        drawing = grid(e.shape, e.axes, start_with(at, e.shape, e.axes))
        figure = panels(Comparison(tuple(shown)), drawing, at)
        if len(shown) == 2 and isinstance(figure, Panels):
            figure = replace(figure, data=figure.data | {"differs": ["stats0", "stats1"]})
        parts.append(figure)
    if len(shown) == 2:
        parts.append(Caption(_peers_text(*shown)))
        marks = _(
            "Dark lines mark the elements in which the two groups differ. Point at another element to compare its groups."
        )
        parts.append(Caption(marks))
    return Output(tuple(parts), _("What your function computes"), "compare", None)


def _as_layer(check: Check) -> Description | None:
    """The function as a layer, whatever its eps and variance are; None if no pattern describes its groups."""
    found, norm, known = check.measured, check.norm, check.norm or check.expected
    if known is None:
        return None
    if norm is None and found is not None and found.formula is not None:
        norm = norm_of(with_usual_formula(found), known.axes)
    shape = found.shape if found is not None else check.expected.shape if check.expected is not None else None
    return None if norm is None or shape is None else expect(norm, shape, layout_text(known.axes), _("your function"))


def _peers_text(own: Description, expected: Description) -> str:
    """How many elements share their statistics with the first one, and how many of them should not or are missing."""
    masks = [e.stat_ids == e.stat_ids.flat[0] for e in (own, expected)]
    peers, wanted = (int(mask.sum()) - 1 for mask in masks)
    in_yours = ngettext(
        "In your function, the first element of x shares its statistics with {n:,} other.",
        "In your function, the first element of x shares its statistics with {n:,} others.",
        peers,
    )
    under = ngettext(
        "Under {layer}, it shares them with {n:,} other.",
        "Under {layer}, it shares them with {n:,} others.",
        wanted,
        layer=expected.title,
    )
    differ = int((masks[0] != masks[1]).sum())
    other = ngettext("The groups differ in {n:,} element.", "The groups differ in {n:,} elements.", differ)
    return join_sentences([in_yours, under, other])


def output_of_row(row: NormRow) -> Output:
    """The linked view of a row. Raises NormvizError if the app has none."""
    return output_of_query("explore", view_query(row))


def table(norms: Norms) -> str:
    """The table, what it adds up to, and the notes."""
    columns = [_("name"), _("layer"), _("shape"), _("reduced axes"), _("statistics"), _("parameters"), _("calls")]
    head = "".join(f'<th scope="col" style="{CELL}">{escape(column)}</th>' for column in columns)
    rows = "".join(f"<tr>{''.join(_cells(row, name))}</tr>" for row, name in zip(norms.rows, norms.names, strict=True))
    how = (
        "" if app_of_environment() or not norms.rows else _("norms.explore(0) shows the linked view of the first row.")
    )
    below = [norms.summary, *norms.remarks, how]
    lines = "".join(f'<div style="margin-top:4px">{escape(line)}</div>' for line in below if line)
    return encodable(
        f'<div style="max-height:32em;overflow:auto"><table style="border-collapse:collapse">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{lines}"
    )


def _cells(row: NormRow, name: str) -> Iterator[str]:
    base = app_of_environment()
    title = escape(row.title)
    if base:
        address = escape(with_language(f"{base}/{link(view_query(row))}"))
        title = f'<a href="{address}" target="_blank" rel="noopener">{title}</a>'
    yield f'<td style="{CELL}">{escape(name)}</td><td style="{CELL}">{title}</td>'
    yield from (f'<td style="{CELL}">{escape(text)}</td>' for text in (row.shapes_text, str(row.reduced)))
    yield from (
        f'<td style="{NUMBER}">{format_count(number)}</td>' for number in (row.statistics, row.parameters, row.calls)
    )


@dataclass(frozen=True)
class ModelTable(Part):
    """The table as a part of a page."""

    norms: Norms
    name: ClassVar[str] = "table"

    def html(self, body: Body) -> str:
        return table(self.norms)

    def plain_text(self) -> str:
        return str(self.norms)


def output_of_norms(norms: Norms) -> Output:
    """The table alone."""
    return Output((ModelTable(norms),), f"{norms.summary} · normviz", "models", None)


def view_query(row: NormRow) -> dict[str, str]:
    """The view Explore of a row, as the query of a link."""
    query = {"shape": ",".join(map(str, row.shape)), "layer": (row.layer or repr(row.norm)).replace(", ", ",")}
    names = "".join(parts[0] for parts in row.norm.pattern.left)
    return query | ({"layout": "NHWC"} if row.layer is not None and names == "nhwc" else {})
