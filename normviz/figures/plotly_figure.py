"""A linked view as one plain Plotly figure, a heatmap for each panel: for notebooks, and for Plotly's own tools."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import product
from math import ceil
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from normviz.figures.palette import FONT, GROUP_COLORS, Theme, stops, theme
from normviz.layers.errors import NormvizError
from normviz.layers.messages import _
from normviz.scene.grid import Grid

PER_ROW = 3
LARGEST_CELL, LARGEST_PANEL, NARROWEST = (66, 44), (400, 300), 320  # pixels
BETWEEN, ABOVE, TITLE = 80, 96, 50  # pixels: between columns; for a panel's heading; for the figure's title
LETTER, SMALLEST_FONT = 6.5, 8  # pixels

Data = Mapping[str, Any]  # a view's payload, or that of one of its panels


@dataclass(frozen=True)
class Cells:
    """The cells of each panel: the grid of the tensor, the numbers of drawn rows and columns, and their size in pixels."""

    drawing: Grid
    lines: int
    columns: int

    @property
    def width(self) -> float:
        return max(NARROWEST, min(LARGEST_CELL[0] * self.columns, LARGEST_PANEL[0]))

    @property
    def height(self) -> float:
        return min(LARGEST_CELL[1] * self.lines, LARGEST_PANEL[1])

    @property
    def cell(self) -> tuple[float, float]:
        return self.width / self.columns, self.height / self.lines


def panels_figure(data: Data, theme_name: str = "light") -> go.Figure:
    """The panels of a view; the selected element has a frame.

    data  the view's payload (``normviz.figures.payload``)

    Raises NormvizError for an unknown theme, and if every panel is hidden.
    """
    colors = theme(theme_name)
    drawing = drawing_of(data)
    cells = Cells(drawing, *drawing.flatten(np.zeros(drawing.extent)).shape)
    rows = _rows(data)
    figure = _subplots(rows, cells, colors)
    for number, row in enumerate(rows, 1):
        for place, panel in enumerate(row, 1):
            figure.add_trace(_heatmap(panel, cell_values(panel, data, drawing), cells.cell, colors), number, place)
            figure.add_annotation(**_heading(panel, cells.width, colors), row=number, col=place)
    _label_axes(figure, cells, colors)
    if data["at"] is not None and drawing.shows(tuple(data["at"])):
        _frame(figure, tuple(data["at"]), drawing, colors)
    title = {"text": f"<b>{escape(_title(data), quote=False)}</b>", "font": {"size": 17}}
    corner = {"x": 0.02, "y": 1, "yref": "container", "yanchor": "top", "pad": {"t": 20}}
    return figure.update_layout(title=title | corner)


def drawing_of(data: Data) -> Grid:
    """The grid that a view's payload describes."""
    given = data["grid"]
    indices = tuple(map(tuple, given["indices"]))
    return Grid(tuple(given["shape"]), tuple(data["axes"]), tuple(given["facets"]), given["row"], given["col"], indices)


def _title(data: Data) -> str:
    """The layer and the tensor's shape."""
    layer, shape = data.get("layer", ""), tuple(data["grid"]["shape"])
    if data.get("name", "x") != "x":
        return ""
    return (
        _("{layer} on x of shape {shape}", layer=layer, shape=shape) if layer else _("x of shape {shape}", shape=shape)
    )


def _rows(data: Data) -> list[list[Data]]:
    """The visible panels, at most PER_ROW in a row. Panels of different kinds (ids and values, statistics and parameters) are in different rows."""
    hidden = set(data.get("hidden", ()))

    def kind(panel: Data) -> str:
        return panel.get("row") or ("values" if panel["scale"] == "values" else "ids")

    panels = [each for each in data["panels"] if kind(each) != "cube" and not hidden & {each["key"], kind(each)}]
    if not panels:
        raise NormvizError(_("Every panel of this view is hidden; show one to get a figure."))
    blocks = [[each for each in panels if kind(each) == name] for name in dict.fromkeys(map(kind, panels))]
    return [block[first : first + PER_ROW] for block in blocks for first in range(0, len(block), PER_ROW)]


def _subplots(rows: list[list[Data]], cells: Cells, colors: Theme) -> go.Figure:
    """Empty axes, one pair for each panel."""
    down, across = len(rows), max(map(len, rows))
    width, height = across * (cells.width + BETWEEN) - BETWEEN, down * (cells.height + ABOVE) - ABOVE
    specs: list[list[dict[str, Any] | None]] = [
        [{} if place < len(row) else None for place in range(across)] for row in rows
    ]
    spacing = {"horizontal_spacing": BETWEEN / width, "vertical_spacing": ABOVE / height if down > 1 else 0}
    margin = {"l": 70, "r": 20, "t": TITLE + ABOVE, "b": 20}
    return make_subplots(down, across, specs=specs, **spacing).update_layout(
        template="none",
        width=width + margin["l"] + margin["r"],
        height=height + margin["t"] + margin["b"],
        margin=margin,
        paper_bgcolor=colors.background,
        plot_bgcolor=colors.background,
        font={"color": colors.text, "size": 12, "family": FONT},
    )


def _frame(figure: go.Figure, at: tuple[int, ...], drawing: Grid, colors: Theme) -> None:
    """A frame around the selected element, in every panel."""
    element = np.zeros(drawing.extent)
    element[drawing.place(at)] = 1
    ((y, x),) = np.argwhere(drawing.flatten(element) == 1) - 0.5
    line = {"color": colors.accent, "width": 3}
    figure.add_shape(type="rect", x0=x, x1=x + 1, y0=y, y1=y + 1, line=line, row="all", col="all")


def cell_values(panel: Data, data: Data, drawing: Grid) -> NDArray[np.float32]:
    """The values of the panel's cells: unpacked from the payload, or the ids of groups."""
    if panel["z"] is not None:
        return drawing.flatten(np.frombuffer(b64decode(panel["z"]["data"]), "<f4").reshape(panel["z"]["shape"]))
    if not panel["links"]:
        return drawing.flatten(np.zeros(drawing.extent))
    return drawing.flatten(group_ids(data.get("sharings", data)[panel["links"]]["axes"], drawing))


def group_ids(axes: Sequence[Data], drawing: Grid) -> NDArray[np.int64]:
    """The id of each drawn element's group: groups are numbered in row-major order of ``axes``."""
    ids = np.zeros(drawing.extent, np.int64)
    for place in axes:
        index = np.array(drawing.indices[place["axis"]]) // place["divide"] % place["modulo"]
        ids = ids * place["modulo"] + index.reshape([-1 if axis == place["axis"] else 1 for axis in range(ids.ndim)])
    return ids


def _heatmap(panel: Data, values: NDArray[np.float32], cell: tuple[float, float], colors: Theme) -> dict[str, Any]:
    is_id, gap = panel["scale"] != "values", 1 if min(cell) >= 6 else 0
    longest = len(str(panel["groups"])) if is_id else 6
    size = min(12, (cell[0] - 4) / (0.6 * longest), 0.6 * cell[1])
    number = "%{z:.0f}" if is_id else "%{z:.3~g}"
    text = (
        {"texttemplate": number, "textfont": {"size": size}}
        if size >= SMALLEST_FONT and panel["scale"] != "none"
        else {}
    )
    shown = {"z": values, "zmin": panel["low"], "zmax": panel["high"]}
    if panel["scale"] == "groups" and panel["groups"] > GROUP_COLORS:  # the colors repeat
        number = "%{text}"
        shown = {"z": values % GROUP_COLORS, "zmin": -0.5, "zmax": GROUP_COLORS - 0.5, "text": values}
        text = text and text | {"texttemplate": number}
    return {
        "type": "heatmap",
        "name": panel["title"],
        **shown,
        "colorscale": stops(colors, panel["scale"], panel["groups"]),
        "showscale": False,
        "xgap": gap,
        "ygap": gap,
        "hoverongaps": False,
        "hovertemplate": f"{number}<extra></extra>",
        **text,
    }


def _heading(panel: Data, wide: float, colors: Theme) -> dict[str, Any]:
    """The panel's title, pattern and caption above its cells, as a Plotly annotation."""
    small = " · ".join(filter(None, (panel["pattern"], panel["caption"])))
    title, caption = (
        "<br>".join(escape(line, quote=False) for line in wrap(text, int(wide / letter)))
        for text, letter in ((panel["title"], LETTER * 1.3), (small, LETTER))
    )
    return {
        "text": f"<b>{title}</b><br><span style='color:{colors.muted};font-size:12px'>{caption}</span>",
        "font": {"size": 14.5},
        **{"xref": "x domain", "yref": "y domain", "x": 0, "y": 1, "xanchor": "left", "yanchor": "bottom"},
        "yshift": 22,
        "align": "left",
        "showarrow": False,
    }


def _label_axes(figure: go.Figure, cells: Cells, colors: Theme) -> None:
    """Indices above the columns and beside the rows of every panel; rows run downwards."""
    columns, rows = _labels(cells.drawing)
    faceted = bool(cells.drawing.facets)
    x = _ticks(columns, cells.columns, faceted, cells.cell[0], max(map(len, columns), default=0) * LETTER + 6)
    y = _ticks(rows, cells.lines, faceted, cells.cell[1], 14)
    axis = {"showgrid": False, "zeroline": False, "ticks": "", "ticklabelstandoff": 4, "color": colors.muted}
    figure.update_xaxes(axis, side="top", range=[-0.5, cells.columns - 0.5], **x)
    figure.update_yaxes(axis, range=[cells.lines - 0.5, -0.5], **y)


def _labels(drawing: Grid) -> tuple[list[str], list[str]]:
    """The labels of the columns and of the rows, or, if there are facets, of the columns and of the rows of facets."""

    def names(axis: int) -> list[str]:
        return [f"{drawing.axes[axis]} = {i}" for i in drawing.indices[axis]]

    if not drawing.facets:
        return names(drawing.col), [] if drawing.row is None else names(drawing.row)
    first, *others = map(names, drawing.facets)
    if others:
        return [", ".join(indices) for indices in product(*others)], first
    across = drawing.facet_columns
    if across == len(first):
        return first, []
    indices = [name.split()[-1] for name in first]
    return [], [f"{first[i]} … {indices[min(i + across, len(first)) - 1]}" for i in range(0, len(first), across)]


def _ticks(names: list[str], lines: int, faceted: bool, pixels: float, needed: float) -> dict[str, Any]:
    """Tick labels in the middle of their cells, as many as fit. ``pixels``: the size of a cell; ``needed``: the size of a label."""
    step = (lines + faceted) / max(1, len(names))
    middles = [i * step + (step - 1 - faceted) / 2 for i in range(len(names))]
    every = ceil(needed / (step * pixels))
    return {"tickvals": middles[::every], "ticktext": names[::every]}
