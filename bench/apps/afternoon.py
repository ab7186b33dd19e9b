"""Explore, written in an afternoon: the same panels as Plotly subplots in ``st.plotly_chart``, one heatmap per facet.

``?size=4,4,32,32`` selects the tensor. Ids and values come from normviz, so both apps show the same.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from normviz.analysis.sentences import sentence
from normviz.code.programs import code
from normviz.scene.view import read

LAYERS = ("LayerNorm", "RMSNorm", "BatchNorm2d", "InstanceNorm2d", "GroupNorm")
DEPTHS = {3: "C, H, W", 2: "H, W", 1: "W"}


def facets(values: Any, title: str, ids: bool = False) -> go.Figure:
    """``values`` (N, C, H, W) on one color scale, which starts at 0 for ids: n is the row, c the column."""
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


st.set_page_config(layout="wide")
given = [int(size) for size in st.query_params.get("size", "2,3,4,4").split(",")]
shape = [
    int(column.number_input(axis, 1, 64, size, key=f"size_{axis.lower()}"))
    for column, axis, size in zip(st.columns(4), "NCHW", given, strict=True)
]
left, right = st.columns(2)
name, arguments = left.selectbox("Layer", LAYERS, key="family"), f"{shape[1]}"
if name in ("LayerNorm", "RMSNorm"):
    with right:
        depth = st.segmented_control(
            "normalized_shape", list(DEPTHS), default=3, format_func=DEPTHS.__getitem__, required=True, key="depth"
        )
    arguments = str(shape[4 - depth :])
elif name == "GroupNorm":
    arguments = f"1, {shape[1]}"
scene = read({"shape": ",".join(map(str, shape)), "layer": f"{name}({arguments})"}).scene
e = scene.description
st.subheader(sentence(scene.shape_description))
left, right = st.columns(2)
left.plotly_chart(facets(e.stat_ids, "Which elements share a mean and a variance?", ids=True), key="stats")
if e.param_ids is not None:
    right.plotly_chart(facets(e.param_ids, "Which elements share a gamma and a beta?", ids=True), key="params")
values = {"x": e.x, "normalized": e.trace.normalized, "output": e.trace.output}
for column, (title, value) in zip(st.columns(3), values.items(), strict=True):
    column.plotly_chart(facets(value, title), key=title)
st.code(code(e, "torch"))
