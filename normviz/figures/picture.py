"""Panels as one plain Plotly figure: for notebooks, papers, slides and everything that is not a browser of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from normviz.analysis.explanation import Explanation
from normviz.figures.cube import Cube, Point, Projected, Tables, filled, labels, painted
from normviz.figures.labels import plain, printed, words, wrapped
from normviz.figures.layout import ABOVE, Laid, lay_out
from normviz.figures.palette import Theme, stops, theme
from normviz.figures.panels import Panel, sharing_panels
from normviz.scene.grid import Grid, grid

FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"  # as wide everywhere
COLUMN = {1: 720, 2: 480, 3: 432}  # pixels of a panel, by how many stand in a row
NARROW, BETWEEN, AROUND = 290, 24, 20
SMALLEST_FRAME = 6  # pixels
TITLE, HEAD, LINE = 34, 24, 16  # pixels: of the picture's title, a panel's, a line of its caption


@dataclass(frozen=True)
class Marked:
    """The selected element, and whom it shares with.

    at      its index in the window that is drawn
    tables  for each sharing, by ``Panel.links``, one table of ids for each axis of the window (``sharing.stat_tables``)
    """

    at: tuple[int, ...]
    tables: Mapping[str, Tables]


def picture(
    panels: Sequence[Panel | Cube],
    drawing: Grid,
    theme_name: str = "light",
    across: int = 3,
    *,
    title: str = "",
    marked: Marked | None = None,
) -> go.Figure:
    """The panels in rows of ``across``, linked by nothing but their ids; values and cubes begin a row of their own.

    panels   all of one tensor, laid flat by ``drawing``
    title    stands over all of them, as it is
    marked   whose peers stay open, and all else is veiled; None veils nothing

    Raises NormvizError for an unknown theme.
    """
    colours = theme(theme_name)
    rows = list(_rows(panels, max(1, across)))
    most = max(count for _, count in rows)
    column = COLUMN.get(most, NARROW)
    width = 2 * AROUND + most * column + (most - 1) * BETWEEN
    placed, height = [], AROUND + (TITLE if title else 0)
    for row, count in rows:
        room = (width - 2 * AROUND - (count - 1) * BETWEEN) / count
        cells = [_laid(panel, drawing, min(room, 1.3 * column)) for panel in row]
        headings = [_heading(panel, room, colours) for panel in row]
        head = max(high for _, high in headings) + (0 if isinstance(row[0], Cube) else ABOVE)
        for number, (panel, laid, (heading, _)) in enumerate(zip(row, cells, headings, strict=True)):
            placed.append((panel, laid, heading, AROUND + number * (room + BETWEEN), height, height + head))
        height += int(head + max(laid.height + laid.below for laid in cells)) + BETWEEN
    height += AROUND - BETWEEN
    figure = _empty(width, height, colours)
    if title:
        _write(figure, f"<b>{plain(title)}</b>", AROUND, AROUND, 17, colours.text)
    for number, (panel, laid, heading, left, top, cells_top) in enumerate(placed, 1):
        _write(figure, heading, left, top, 14.5, colours.text)
        match panel, laid:
            case Panel(), Laid():
                axes = _axes(figure, number, laid, (left, cells_top), (width, height))
                for trace in _traces(panel, drawing, laid, colours, marked):
                    figure.add_trace(trace | axes)
                if marked:
                    _mark(figure, panel, drawing, laid, colours, marked, number)
            case Cube(), Projected():
                _draw(figure, panel, laid, (left, cells_top), (width, height), colours, marked)
    return figure


def explanation_figure(e: Explanation, theme_name: str = "light") -> go.Figure:
    """The two sharing panels of ``e``, side by side."""
    drawing = grid(e.shape, e.axes)
    return picture(sharing_panels(e, drawing), drawing, theme_name, 2)


def heatmap(panel: Panel, colours: Theme) -> dict[str, Any]:
    """The panel's Plotly heatmap trace, without positions."""
    return {
        "type": "heatmap",
        "z": panel.z,
        "zmin": panel.low,
        "zmax": panel.high,
        "colorscale": stops(colours, panel.scale, panel.groups),
        "showscale": False,
        "hoverinfo": "skip",
        "xgap": 1,
        "ygap": 1,
    }


def _rows(panels: Sequence[Panel | Cube], across: int) -> Iterator[tuple[list[Panel | Cube], int]]:
    """The panels of every row, and into how many columns it is divided."""
    for _, alike in groupby(panels, lambda panel: panel.scale if panel.scale in ("values", "cube") else "ids"):
        block = list(alike)
        for first in range(0, len(block), across):
            yield block[first : first + across], min(across, len(block))


def _laid(panel: Panel | Cube, drawing: Grid, room: float) -> Laid | Projected:
    return Projected(panel.box, room) if isinstance(panel, Cube) else lay_out(panel, drawing, room)


def _heading(panel: Panel | Cube, room: float, colours: Theme) -> tuple[str, float]:
    """A panel's title and caption, broken to ``room`` pixels, and their height."""
    title = wrapped(panel.title, room, 8.6)
    said = wrapped(" · ".join(filter(None, (panel.pattern, panel.caption))), room, 6.3)
    small = f"<span style='color:{colours.muted};font-size:12px'>{'<br>'.join(said)}</span>"
    return f"<b>{'<br>'.join(title)}</b><br>{small}", HEAD * len(title) + LINE * len(said)


def _empty(width: float, height: float, colours: Theme) -> go.Figure:
    figure = go.Figure()
    figure.update_layout(
        template="none",
        width=width,
        height=height,
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        paper_bgcolor=colours.background,
        plot_bgcolor=colours.background,
        font={"color": colours.text, "size": 12, "family": FONT},
    )
    return figure


def _write(
    figure: go.Figure,
    text: str,
    left: float,
    top: float,
    size: float,
    colour: str,
    corner: tuple[str, str] = ("left", "top"),
) -> None:
    """Text whose upper left corner, or another, is at a pixel."""
    where = {"x": 0, "y": 1, "xref": "paper", "yref": "paper", "xanchor": corner[0], "yanchor": corner[1]}
    figure.add_annotation(
        text=text,
        **where,
        xshift=left,
        yshift=-top,
        align="left",
        showarrow=False,
        borderpad=0,
        font={"size": size, "color": colour},
    )


def _axes(
    figure: go.Figure, number: int, laid: Laid, corner: tuple[float, float], whole: tuple[float, float]
) -> dict[str, str]:
    """Axes on which a cell of the panel is one unit, wide enough for its words, and their names for its traces.

    corner  where the cells' room begins, in pixels from the upper left; ``whole`` is the picture's size
    """
    (left, top), (width, height), (wide, high) = corner, whole, laid.cell
    right, bottom = left + laid.left + laid.width + laid.right, top + laid.height + laid.below
    suffix = "" if number == 1 else str(number)
    figure.update_layout(
        {
            f"xaxis{suffix}": {
                "domain": [left / width, min(1.0, right / width)],
                "range": [-laid.left / wide, laid.x[-1] + laid.right / wide],
                "anchor": f"y{suffix}",
                "visible": False,
            },
            f"yaxis{suffix}": {
                "domain": [max(0.0, 1 - bottom / height), 1 - (top - ABOVE) / height],
                "range": [laid.y[-1] + laid.below / high, -ABOVE / high],
                "anchor": f"x{suffix}",
                "visible": False,
            },
        }
    )
    return {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}


def _traces(panel: Panel, drawing: Grid, laid: Laid, colours: Theme, marked: Marked | None) -> Iterator[dict[str, Any]]:
    """The cells, the veil over those that are no peers, what is printed in them, and the names around."""
    veiled = _veiled(panel, drawing, marked)
    edges = {"x": laid.x, "y": laid.y, "meta": panel.key}
    yield (
        heatmap(panel, colours)
        | edges
        | {
            "xgap": laid.gap,
            "ygap": laid.gap,
            "name": panel.title,
            "hoverinfo": "z",
        }
    )
    if veiled is not None:
        cover = {"z": np.where(veiled, 0.0, np.nan), "zmin": 0, "zmax": 1, "showscale": False, "hoverinfo": "skip"}
        yield {"type": "heatmap", "name": "veil", "colorscale": [(0, colours.veil), (1, colours.veil)]} | edges | cover
    numbers = printed(panel, laid, colours, veiled)
    if numbers:
        yield numbers
    yield words(panel, drawing, laid, colours)


def _draw(
    figure: go.Figure,
    cube: Cube,
    on: Projected,
    corner: Point,
    whole: Point,
    colours: Theme,
    marked: Marked | None,
) -> None:
    """A cube whose upper left corner is at a pixel, the group of the selected element filled."""
    (left, top), (width, height) = corner, whole

    def at(point: Point) -> str:
        return f"{(left + point[0]) / width:.6f},{1 - (top + point[1]) / height:.6f}"

    faces = filled(cube.box, marked.tables[cube.links], marked.at) if marked else []
    shapes = [
        {"type": "path", "name": cube.key, "xref": "paper", "yref": "paper", "path": path, **looks}
        for lines, looks in painted(on, faces, colours)
        if (path := "".join(f"M{'L'.join(map(at, line))}{'Z' if 'fillcolor' in looks else ''}" for line in lines))
    ]
    figure.update_layout(shapes=[*figure.layout.shapes, *shapes])
    for (x, y), side, name in labels(on, cube.names):
        _write(figure, plain(name), left + x, top + y, 12, colours.muted, (side, "middle"))


def _veiled(panel: Panel, drawing: Grid, marked: Marked | None) -> NDArray[np.bool_] | None:
    """Which drawn cells are no peers of the selected element; None where nothing is veiled."""
    tables = marked.tables.get(panel.links) if marked else None
    if marked is None or tables is None:
        return None
    ids = reduce(np.add.outer, [np.asarray(table) for table in tables])
    others = drawing.lay(ids != ids[marked.at])
    return others == 1


def _mark(
    figure: go.Figure, panel: Panel, drawing: Grid, laid: Laid, colours: Theme, marked: Marked, number: int
) -> None:
    """An outline around the peers, and a frame around the selected element."""
    axis = "" if number == 1 else str(number)
    on = {"xref": f"x{axis}", "yref": f"y{axis}"}
    veiled = _veiled(panel, drawing, marked)
    if veiled is not None:
        path = _outline(~veiled & ~np.isnan(panel.z), laid)
        figure.add_shape(type="path", path=path, **on, line={"color": colours.text, "width": 1.5})
    drawn = drawing.lay(np.arange(int(np.prod(drawing.extent))).reshape(drawing.extent))
    row, column = np.argwhere(drawn == np.ravel_multi_index(marked.at, drawing.extent))[0]
    for colour, grow in ((colours.card, 2.5), (colours.accent, 0.0)):
        wide, high = (max(0.0, SMALLEST_FRAME / size - 1) / 2 + grow / size for size in laid.cell)
        figure.add_shape(
            type="rect",
            **on,
            x0=laid.x[column] - wide,
            x1=laid.x[column + 1] + wide,
            y0=laid.y[row] - high,
            y1=laid.y[row + 1] + high,
            line={"color": colour, "width": 3},
        )


def _outline(open_cells: NDArray[np.bool_], laid: Laid) -> str:
    """One path along every edge between a cell that is open and one that is not."""
    padded = np.pad(open_cells, 1)
    path = []
    for row, column in np.argwhere(padded[1:, 1:-1] != padded[:-1, 1:-1]):
        path.append(f"M{laid.x[column]:.4g},{laid.y[row]:.4g}L{laid.x[column + 1]:.4g},{laid.y[row]:.4g}")
    for row, column in np.argwhere(padded[1:-1, 1:] != padded[1:-1, :-1]):
        path.append(f"M{laid.x[column]:.4g},{laid.y[row]:.4g}L{laid.x[column]:.4g},{laid.y[row + 1]:.4g}")
    return "".join(path)
