"""A tensor of rank 4 as Plotly subplots with one heatmap per facet: n is the row, c the column."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots


def facets(values: Any, title: str, ids: bool = False) -> go.Figure:
    """``values`` (N, C, H, W) on one color scale, which starts at 0 for ids."""
    array = np.asarray(values)
    rows, columns = array.shape[:2]
    figure = make_subplots(rows, columns, horizontal_spacing=0.01, vertical_spacing=0.01)
    for n, c in product(range(rows), range(columns)):
        figure.add_trace(go.Heatmap(z=array[n, c], coloraxis="coloraxis"), n + 1, c + 1)
    if ids:
        colors = {"colorscale": "Viridis", "cmin": 0, "cmax": max(int(array.max()), 1)}
    else:
        most = float(np.abs(array).max()) or 1.0
        colors = {"colorscale": "RdBu", "cmin": -most, "cmax": most}
    figure.update_layout(title=title, height=340, coloraxis=colors, margin={"l": 10, "r": 10, "t": 40, "b": 10})
    figure.update_xaxes(showticklabels=False)
    figure.update_yaxes(showticklabels=False, autorange="reversed")
    return figure
