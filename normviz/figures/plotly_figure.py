"""A linked view as one plain Plotly figure, a heatmap for each panel: for notebooks, and for Plotly's own tools."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby, pairwise, product
from math import ceil
from textwrap import wrap

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from normviz.figures import palette, payload
from normviz.scene.grid import Grid
from normviz.texts.errors import NormvizError
from normviz.texts.messages import _

PER_ROW = 3
LARGEST_CELL, LARGEST_PANEL, NARROWEST = (66, 44), (400, 300), 320  # pixels
BETWEEN, ABOVE, TITLE = 80, 96, 50  # pixels: gap between columns, height of a panel's heading and of the figure's title
LETTER, SMALLEST_FONT, FONT_SIZE = 6.5, 8, 12  # pixels
LONGEST = 6  # letters of a value
MOST_NAMED = 200  # more groups have no name in their cells


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


def panels_figure(data: payload.LinkedPayload, theme_name: str = "light") -> go.Figure:
    """The panels of a view; the selected element has a frame.

    data  the view's payload (``normviz.figures.payload``)

    Raises NormvizError for an unknown theme, and if every panel is hidden.
    """
    colors = palette.theme(theme_name)
    drawing = data.grid
    cells = Cells(drawing, *drawing.flatten(np.zeros(drawing.extent)).shape)
    rows = _rows(data)
    figure = _subplots(rows, cells, colors)
    for number, row in enumerate(rows, 1):
        for place, panel in enumerate(row, 1):
            figure.add_trace(
                _heatmap(panel, cell_values(panel, data), _sharing(panel, data), cells.cell, colors), number, place
            )
            figure.add_annotation(**_heading(panel, cells.width, colors), row=number, col=place)
    _label_axes(figure, cells, colors)
    if data.at is not None and drawing.shows(data.at):
        _frame(figure, data.at, drawing, colors)
    title = {"text": f"<b>{escape(_title(data), quote=False)}</b>", "font": {"size": 17}}
    corner = {"x": 0.02, "y": 1, "yref": "container", "yanchor": "top", "pad": {"t": 20}}
    return figure.update_layout(title=title | corner)


def _title(data: payload.LinkedPayload) -> str:
    """The layer and the tensor's shape; "" if the figure shows another tensor."""
    layer, shape = "" if isinstance(data, payload.ComparePayload) else data.layer, data.grid.shape
    if isinstance(data, payload.ValuesPayload) and data.name != "x":
        return ""
    return (
        _("{layer} on x of shape {shape}", layer=layer, shape=shape) if layer else _("x of shape {shape}", shape=shape)
    )


def _rows(data: payload.LinkedPayload) -> list[list[payload.PanelData]]:
    """The visible panels, at most PER_ROW in a row. Panels of different kinds (ids and values, statistics and parameters) are in different rows."""
    hidden = set(data.hidden)

    def kind(panel: payload.PanelData) -> str:
        return panel.row or ("values" if panel.scale == "values" else "ids")

    heatmaps = [each for each in data.panels if isinstance(each, payload.PanelData)]
    panels = [each for each in heatmaps if not hidden & {each.key, kind(each)}]
    if not panels:
        raise NormvizError("Every panel of this view is hidden; show one to get a figure.")
    blocks = [[each for each in panels if kind(each) == name] for name in dict.fromkeys(map(kind, panels))]
    return [block[first : first + PER_ROW] for block in blocks for first in range(0, len(block), PER_ROW)]


def _subplots(rows: list[list[payload.PanelData]], cells: Cells, colors: palette.Theme) -> go.Figure:
    """Empty axes, one pair for each panel."""
    down, across = len(rows), max(map(len, rows))
    width, height = across * (cells.width + BETWEEN) - BETWEEN, down * (cells.height + ABOVE) - ABOVE
    specs: list[list[dict[str, object] | None]] = [
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
        font={"color": colors.text, "size": 12, "family": palette.FONT},
    )


def _frame(figure: go.Figure, at: tuple[int, ...], drawing: Grid, colors: palette.Theme) -> None:
    """A frame around the selected element, in every panel."""
    element = np.zeros(drawing.extent)
    element[drawing.place(at)] = 1
    ((y, x),) = np.argwhere(drawing.flatten(element) == 1) - 0.5
    line = {"color": colors.accent, "width": 3}
    figure.add_shape(type="rect", x0=x, x1=x + 1, y0=y, y1=y + 1, line=line, row="all", col="all")


def cell_values(panel: payload.PanelData, data: payload.LinkedPayload) -> NDArray[np.float32]:
    """The values of the panel's cells, or the ids of groups."""
    drawing = data.grid
    if panel.z is not None:
        return drawing.flatten(panel.z)
    sharing = _sharing(panel, data)
    return drawing.flatten(group_ids(sharing.axes, drawing) if sharing else np.zeros(drawing.extent))


def _sharing(panel: payload.PanelData, data: payload.LinkedPayload) -> payload.Statistics | payload.GammaAndBeta | None:
    sharings = (
        data.sharings if isinstance(data, payload.ComparePayload) else {"stats": data.stats, "params": data.params}
    )
    return sharings.get(panel.links)


def group_ids(axes: Sequence[payload.NamedAxis], drawing: Grid) -> NDArray[np.int64]:
    """The id of each drawn element's group: groups are numbered in row-major order of ``axes``."""
    ids = np.zeros(drawing.extent, np.int64)
    for place in axes:
        index = np.array(drawing.indices[place.axis]) // place.divide % place.modulo
        ids = ids * place.modulo + index.reshape([-1 if axis == place.axis else 1 for axis in range(ids.ndim)])
    return ids


def group_name(sharing: payload.Statistics | payload.GammaAndBeta, number: int) -> str:
    """What a figure calls a group: a number alone could be read as a value."""
    if isinstance(sharing, payload.GammaAndBeta):
        return _("gamma {n}", n=number)
    return _("mean {n}", n=number) if sharing.center or sharing.running else _("mean square {n}", n=number)


def _written_once(names: list[list[str]], cell: tuple[float, float]) -> list[list[str]]:
    """Each name once: in the middle of the first row of its group, if it fits."""
    written, seen = [[""] * len(line) for line in names], {""}
    for row, line in enumerate(names):
        column = 0
        for name, run in groupby(line):
            across = len(list(run))
            if name not in seen and across * cell[0] >= len(name) * LETTER + 4 and cell[1] >= FONT_SIZE + 2:
                written[row][column + (across - 1) // 2] = name
            seen.add(name)
            column += across
    return written


def _names(
    values: NDArray[np.float32], sharing: payload.Statistics | payload.GammaAndBeta | None, cell: tuple[float, float]
) -> dict[str, object]:
    """The names of groups for the pointer, and in the cells."""
    if sharing is None:
        return {"hoverinfo": "skip"}
    names = {number: group_name(sharing, int(number)) for number in np.unique(values[~np.isnan(values)])}
    everywhere = [[names.get(number, "") for number in line] for line in values]
    found: dict[str, object] = {"hovertext": everywhere, "hovertemplate": "%{hovertext}<extra></extra>"}
    if len(names) > MOST_NAMED:
        return found
    written = _written_once(everywhere, cell)
    return found | {"text": written, "texttemplate": "%{text}", "textfont": {"size": FONT_SIZE}}


def _heatmap(
    panel: payload.PanelData,
    values: NDArray[np.float32],
    sharing: payload.Statistics | payload.GammaAndBeta | None,
    cell: tuple[float, float],
    colors: palette.Theme,
) -> dict[str, object]:
    is_id, gap = panel.scale != "values", 1 if min(cell) >= 6 else 0
    ids = np.unique(values[~np.isnan(values)]) if is_id else np.array([])  # each drawn group has a color of its own
    cells = np.where(np.isnan(values), np.nan, np.searchsorted(ids, values)) if is_id else values
    low, high = (-0.5, len(ids) - 0.5) if is_id else (panel.low, panel.high)
    size, number = min(FONT_SIZE, (cell[0] - 4) / (0.6 * LONGEST), 0.6 * cell[1]), "%{z:.3~g}"
    fitting = {"texttemplate": number, "textfont": {"size": size}} if size >= SMALLEST_FONT else {}
    of_values = {"hovertemplate": f"{number}<extra></extra>"} | fitting
    if panel.scale == "groups" and len(ids) > palette.GROUP_COLORS:  # the colors repeat
        cells, low, high = cells % palette.GROUP_COLORS, -0.5, palette.GROUP_COLORS - 0.5
    colored = {"z": cells, "zmin": low, "zmax": high}
    return {
        "type": "heatmap",
        "name": panel.title,
        **colored,
        "colorscale": palette.stops(colors, panel.scale, len(ids)),
        "showscale": False,
        "xgap": gap,
        "ygap": gap,
        "hoverongaps": False,
        **(_names(values, sharing, cell) if is_id else of_values),
    }


def _heading(panel: payload.PanelData, wide: float, colors: palette.Theme) -> dict[str, object]:
    """The panel's title, pattern and caption above its cells, as a Plotly annotation."""
    small = " · ".join(filter(None, (panel.pattern, panel.caption)))
    title, caption = (
        "<br>".join(escape(line, quote=False) for line in wrap(text, int(wide / letter)))
        for text, letter in ((panel.title, LETTER * 1.3), (small, LETTER))
    )
    return {
        "text": f"<b>{title}</b><br><span style='color:{colors.muted};font-size:12px'>{caption}</span>",
        "font": {"size": 14.5},
        **{"xref": "x domain", "yref": "y domain", "x": 0, "y": 1, "xanchor": "left", "yanchor": "bottom"},
        "yshift": 22,
        "align": "left",
        "showarrow": False,
    }


def _label_axes(figure: go.Figure, cells: Cells, colors: palette.Theme) -> None:
    """Indices above the columns and next to the rows of every panel; rows run downwards."""
    columns, rows = _labels(cells)
    x = _ticks(columns, cells.cell[0], max(map(len, columns.values()), default=0) * LETTER + 6)
    y = _ticks(rows, cells.cell[1], 14)
    axis = {"showgrid": False, "zeroline": False, "ticks": "", "ticklabelstandoff": 4, "color": colors.muted}
    figure.update_xaxes(axis, side="top", range=[-0.5, cells.columns - 0.5], **x)
    figure.update_yaxes(axis, range=[cells.lines - 0.5, -0.5], **y)


def _labels(cells: Cells) -> tuple[dict[float, str], dict[float, str]]:
    """The labels of the columns and of the rows, or, if there are facets, of the columns and of the lines of facets, by position."""
    drawing = cells.drawing

    def names(axis: int) -> list[str]:
        return [f"{drawing.axes[axis]} = {i}" for i in drawing.indices[axis]]

    def lines(axis: int) -> dict[float, str]:
        gaps = drawing.gaps(axis)
        return {i + sum(gap <= i for gap in gaps): name for i, name in enumerate(names(axis))}

    if not drawing.facets:
        return lines(drawing.col), {} if drawing.row is None else lines(drawing.row)
    found = drawing.layout
    first, *others = drawing.facets
    one_axis = found.facets == drawing.extent[first]
    bands = [""] if one_axis else names(first)
    facets = [", ".join(indices) for indices in product(*map(names, [first] if one_axis else others))]
    wide, high = (cells.columns + 1) / found.across, (cells.lines + 1) / found.down
    if found.lines == 1:
        return _middles(facets, wide), _middles(bands if bands[0] else [], high)
    runs = [facets[first : first + found.across] for first in range(0, found.together, found.across)]
    parts = [f"{run[0]} … {run[-1].split()[-1]}" for run in runs]
    return {}, _middles([", ".join(filter(None, (band, part))) for band in bands for part in parts], high)


def _middles(names: list[str], step: float) -> dict[float, str]:
    """The names by the middles of facets, with a gap after each."""
    return {i * step + (step - 2) / 2: name for i, name in enumerate(names)}


def _ticks(labels: dict[float, str], pixels: float, needed: float) -> dict[str, object]:
    """As many labels as fit. ``pixels``: the size of a cell; ``needed``: the size of a label."""
    places = list(labels)
    apart = min((after - before for before, after in pairwise(places)), default=1)
    every = ceil(needed / (apart * pixels))
    return {"tickvals": places[::every], "ticktext": list(labels.values())[::every]}
