"""Charts in the colours of a theme, for a picture: the same chart as the app's, without its page."""

from __future__ import annotations

import plotly.graph_objects as go

from normviz.figures.charts import Lines
from normviz.figures.labels import plain
from normviz.figures.palette import Theme, by_meaning, theme
from normviz.figures.picture import FONT

WIDTH, HEIGHT = 760, 340
UNDER = 24  # pixels that the app leaves to the page below a chart
TITLE = 30  # pixels


def themed(chart: Lines, theme_name: str = "light", *, title: str = "") -> go.Figure:
    """A chart as a Plotly figure whose colours, named by their meaning, are those of the theme.

    title  stands over the chart, as it is

    Raises NormvizError for an unknown theme.
    """
    colours = theme(theme_name)
    figure = chart.figure()
    for trace in figure.data:
        _paint(trace, colours)
    axis = {"gridcolor": colours.border, "zerolinecolor": colours.border, "linecolor": colours.border}
    figure.update_xaxes(**axis, color=colours.muted, automargin=True)
    figure.update_yaxes(**axis, color=colours.muted, automargin=True)
    figure.update_layout(
        width=WIDTH,
        height=chart.layout.get("height", HEIGHT) + UNDER + (TITLE if title else 0),
        margin={"l": 60, "r": 20, "t": 44 + (TITLE if title else 0), "b": 72},
        paper_bgcolor=colours.background,
        plot_bgcolor=colours.background,
        font={"color": colours.text, "size": 13, "family": FONT},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 12}},
    )
    if title:
        place = {"x": 0, "xref": "paper", "y": 1, "yref": "container", "yanchor": "top", "pad": {"t": 16}}
        figure.update_layout(title={"text": f"<b>{plain(title)}</b>", "font": {"size": 16}, **place})
    return figure


def _paint(trace: go.Scatter | go.Bar, colours: Theme) -> None:
    name = (trace.meta or {}).get("colour")
    if not name:
        return
    found = by_meaning(name, colours)
    if trace.type == "scatter" and "lines" in (trace.mode or ""):
        trace.line.color = found
    if trace.type == "bar" or "markers" in (trace.mode or ""):
        trace.marker.color = found
