"""The same panels, written in an afternoon: Plotly subplots in ``st.plotly_chart``.

``?page=compare&size=4,4,32,32`` selects the page and the tensor. Ids and values come from normviz, so both apps show the same.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from bench.apps.subplots import facets
from normviz.analysis.running.stream import Stream, run
from normviz.analysis.sentences import sentence
from normviz.analysis.steps import steps
from normviz.code.generate import code
from normviz.lessons import gradients as differentiating
from normviz.lessons import numerics_variance
from normviz.lessons import train_and_eval as running
from normviz.lessons.questions.question import answer, prose
from normviz.lessons.questions.registry import find_question
from normviz.lessons.questions_page import prediction
from normviz.scene.scene import Scene, default_at
from normviz.scene.view import read

LAYERS = ("LayerNorm", "RMSNorm", "BatchNorm2d", "InstanceNorm2d", "GroupNorm")


def sizes() -> list[int]:
    given = [int(size) for size in st.query_params.get("size", "2,3,4,4").split(",")]
    columns = st.columns(4)
    return [
        int(column.number_input(axis, 1, 64, size, key=f"size_{axis.lower()}"))
        for column, axis, size in zip(columns, "NCHW", given, strict=True)
    ]


def call(name: str, shape: list[int], depth: int = 3) -> str:
    arguments = {
        "LayerNorm": shape[4 - depth :],
        "RMSNorm": shape[4 - depth :],
        "GroupNorm": f"1, {shape[1]}",
    }
    return f"{name}({arguments.get(name, shape[1])})"


def scene_of(shape: list[int], layer: str) -> Scene:
    return read({"shape": ",".join(map(str, shape)), "layer": layer}).scene


def chosen() -> Scene:
    """The tensor and one layer on it."""
    shape = sizes()
    left, right = st.columns(2)
    name = left.selectbox("Layer", LAYERS, key="family")
    depth = 3
    if name in ("LayerNorm", "RMSNorm"):
        names = {3: "C, H, W", 2: "H, W", 1: "W"}
        with right:
            depth = st.segmented_control(
                "normalized_shape", [3, 2, 1], default=3, format_func=names.__getitem__, required=True, key="depth"
            )
    return scene_of(shape, call(name, shape, depth))


def explore() -> None:
    scene = chosen()
    e = scene.description
    st.subheader(sentence(scene.shape_description))
    left, right = st.columns(2)
    left.plotly_chart(facets(e.stat_ids, "Which elements share a mean and a variance?", ids=True), key="stats")
    if e.param_ids is not None:
        right.plotly_chart(facets(e.param_ids, "Which elements share a gamma and a beta?", ids=True), key="params")
    values = {"x": e.x, "normalized": e.trace.normalized, "output": e.trace.output}
    for column, (name, value) in zip(st.columns(3), values.items(), strict=True):
        column.plotly_chart(facets(value, name), key=name)
    st.code(code(e, "torch"))


def compare() -> None:
    shape = sizes()
    texts = [call(name, shape) for name in ("LayerNorm", "BatchNorm2d", "InstanceNorm2d", "GroupNorm")]
    for column, text in zip(st.columns(4), texts, strict=True):
        e = scene_of(shape, text).description
        column.plotly_chart(facets(e.stat_ids, text, ids=True), key=f"stats {text}")
        if e.param_ids is not None:
            column.plotly_chart(facets(e.param_ids, "gamma and beta", ids=True), key=f"params {text}")


def step_by_step() -> None:
    scene = chosen()
    e = scene.description
    st.subheader(sentence(scene.shape_description))
    for place, one in enumerate(steps(e)):
        if place % 2 == 0:
            columns = st.columns(2)
        columns[place % 2].plotly_chart(facets(one.values.expand(e.shape), one.title), key=one.key)
    st.code(code(e, "loops"))


def train_and_eval() -> None:
    batch = int(st.text_input("batch size", "8", key="set_batch_size"))
    momentum = float(st.text_input("momentum", "0.1", key="set_momentum"))
    stream = Stream(batch, momentum, 0.0, 60, 0)
    found = run(stream)
    st.subheader(running.stream_sentence(stream, found))
    left, right = st.columns(2)
    left.plotly_chart(running.mean_over_time(found).figure(), key="mean")
    right.plotly_chart(running.variance_over_time(found).figure(), key="variance")


def gradients() -> None:
    scene = chosen()
    e = scene.description
    at = default_at(scene.shape, scene.axes)
    form, _ = differentiating.column(e, at)
    st.subheader(differentiating.column_sentence(e, at, form))
    panels = list(differentiating.column_panels(form))
    for place, panel in enumerate(panels):
        if place % 2 == 0:
            columns = st.columns(2)
        columns[place % 2].plotly_chart(facets(panel.values, panel.title), key=panel.key)


def rounding() -> None:
    dtype = st.segmented_control(
        "dtype of x", ["float32", "float64", "float16", "bfloat16"], default="float32", required=True, key="dtype"
    )
    found = numerics_variance.estimates(dtype, 0)
    st.subheader(numerics_variance.variance_sentence(found, 6))
    st.plotly_chart(numerics_variance.variance_errors(found, 6).figure(), key="errors")
    table = numerics_variance.variance_table(found, 6)
    st.table([dict(zip(table.heads, row, strict=True)) for row in table.rows])


def questions() -> None:
    asked = find_question(st.query_params.get("q", "s0"))
    words = prose(asked.key)
    st.subheader(words.title)
    guess = st.radio(words.predict, list(words.options), format_func=words.options.__getitem__, index=None, key="guess")
    if guess is None:
        return
    st.markdown(f"**{'Right' if prediction(asked).is_right(guess) else 'Not right'}**")
    st.markdown(answer(asked))
    e = read(dict(pair.split("=", 1) for pair in asked.query.split("&"))).scene.description
    left, right = st.columns(2)
    left.plotly_chart(facets(e.stat_ids, "Which elements share a mean and a variance?", ids=True), key="stats")
    if e.param_ids is not None:
        right.plotly_chart(facets(e.param_ids, "Which elements share a gamma and a beta?", ids=True), key="params")
    values = {"x": e.x, "normalized": e.trace.normalized, "output": e.trace.output}
    for column, (name, value) in zip(st.columns(3), values.items(), strict=True):
        column.plotly_chart(facets(value, name), key=name)


PAGES: dict[str, Callable[[], None]] = {
    "explore": explore,
    "compare": compare,
    "step_by_step": step_by_step,
    "train_and_eval": train_and_eval,
    "gradients": gradients,
    "numerics": rounding,
    "questions": questions,
}

st.set_page_config(layout="wide")
PAGES[st.query_params.get("page", "explore")]()
