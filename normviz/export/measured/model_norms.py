"""``nv.norms``: the normalizations of a model, whose rows open their views: as links in a notebook's table, or with ``explore``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from html import escape
from os import environ
from typing import Any

from torch import nn

from normviz.export.links import output_of_query
from normviz.export.output import APP, Output
from normviz.measuring.models.norms import NormRow, Norms
from normviz.measuring.models.norms import norms as norms_of
from normviz.scene.view import link
from normviz.texts.languages import with_language
from normviz.texts.messages import _

CELL = "padding:2px 12px 2px 0;text-align:left;vertical-align:top"
NUMBER = "padding:2px 12px 2px 0;text-align:right;vertical-align:top"


def norms(model: nn.Module, *inputs: Any, **kwargs: Any) -> ModelNorms:
    """The normalizations that run in ``model(*inputs, **kwargs)``, in order: found by what they do, not by the names of their classes.

    The model and its inputs may be on ``torch.device("meta")``: nothing is computed then, and a large model takes seconds. Nothing is
    changed: the model's buffers, mode and gradients and the random states are as before. A forward pass that fails gives the rows up to
    the failure, which ``failure`` explains.

    Raises NormvizError if ``model`` is not a module, or is lazy.

    >>> import torch
    >>> found = norms(nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)), torch.randn(2, 3, 8, 8))
    >>> found[0].name, found[0].layer, found[0].shape, found[0].reduced
    ('1', 'BatchNorm2d(8)', (2, 8, 6, 6), (0, 2, 3))
    >>> print(found.summary)
    1 normalization, 16 parameters, 6.7 % of the model
    """
    found = norms_of(model, *inputs, **kwargs)
    return ModelNorms(**{one.name: getattr(found, one.name) for one in fields(found)})


@dataclass(frozen=True, repr=False)
class ModelNorms(Norms):
    """The normalizations of a model, as a table in a notebook. Made by ``norms``."""

    def explore(self, index: int) -> Output:
        """The linked view of one row. Raises NormvizError if the app has none, such as for more than 12 axes."""
        return output_of_query("explore", view_query(self.rows[index]))

    def _repr_html_(self) -> str:
        return _table(self)


def _table(norms: Norms) -> str:
    """The table, what it adds up to, and the notes."""
    columns = [_("name"), _("layer"), _("shape"), _("reduced axes"), _("statistics"), _("parameters"), _("calls")]
    head = "".join(f'<th scope="col" style="{CELL}">{escape(column)}</th>' for column in columns)
    rows = "".join(f"<tr>{''.join(_cells(row, name))}</tr>" for row, name in zip(norms.rows, norms.names, strict=True))
    how = "" if environ.get(APP) or not norms.rows else _("norms.explore(0) shows the linked view of the first row.")
    below = [norms.summary, *norms.remarks, how]
    lines = "".join(f'<div style="margin-top:4px">{escape(line)}</div>' for line in below if line)
    return (
        f'<div style="max-height:32em;overflow:auto"><table style="border-collapse:collapse">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{lines}"
    )


def _cells(row: NormRow, name: str) -> Iterator[str]:
    base = environ.get(APP, "").rstrip("/")
    title = escape(row.title)
    if base:
        address = escape(with_language(f"{base}/{link(view_query(row))}"))
        title = f'<a href="{address}" target="_blank" rel="noopener">{title}</a>'
    yield f'<td style="{CELL}">{escape(name)}</td><td style="{CELL}">{title}</td>'
    yield from (f'<td style="{CELL}">{escape(str(value))}</td>' for value in (row.shape, row.reduced))
    yield from (f'<td style="{NUMBER}">{number:,}</td>' for number in (row.statistics, row.parameters, row.calls))


def view_query(row: NormRow) -> dict[str, str]:
    """The view Explore of a row, as the query of a link."""
    query = {"shape": ",".join(map(str, row.shape)), "layer": (row.layer or repr(row.norm)).replace(", ", ",")}
    layout = _layout(row)
    return query if layout is None else query | {"layout": layout}


def _layout(row: NormRow) -> str | None:
    """The layout of images with the channels last; None for that of the layer."""
    names = tuple(parts[0] for parts in row.norm.pattern.left)
    return "NHWC" if row.layer is not None and names == ("n", "h", "w", "c") else None
