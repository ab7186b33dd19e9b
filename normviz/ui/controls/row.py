"""The row of controls: the tensor, the layer, and what decides who shares what. The rest is under "More"."""

from __future__ import annotations

from typing import Any

import streamlit as st

from normviz.layers.axes import parse_layout
from normviz.layers.catalogue import FAMILIES, KINDS
from normviz.layers.errors import NormvizError
from normviz.layers.fit import divisors, kind_for
from normviz.layers.layer import Layer
from normviz.scene import edits
from normviz.scene.query import Reading
from normviz.scene.scene import MOST_VALUES, Scene
from normviz.ui.controls import more
from normviz.ui.state import change, controlled, reset, shown, value_of

FIRST_LAYOUTS = ("ND", "NLC", "NCHW")
SHOWN_FAMILIES = ("LayerNorm", "RMSNorm", "BatchNorm", "InstanceNorm", "GroupNorm", "ChannelsFirstLayerNorm", "DimNorm")
OWN = "Norm"
NAMES = {"ChannelsFirstLayerNorm": "LayerNorm, C first", "DimNorm": "One axis (dim)", OWN: "Your own pattern"}
MOST_SEGMENTS = 6
FAMILY_NAMES = "normviz.families"


def controls(scene: Scene) -> None:
    """The row. Each control changes the scene in its callback; what it shows is the scene's."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall", key="controls"):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall", key="choices"):
            tensor_controls(scene)
            if shown("layer"):
                _family(scene)
            if isinstance(scene.layer, Layer):
                _arguments(scene, scene.layer)
        if shown("more") and shown(*more.names(scene)):
            more.more()  # the second child always: by its place the browser asks for it
        reset_button()
    if not isinstance(scene.layer, Layer) and shown("pattern"):
        _own_pattern(scene)
    if scene.grid.partial and shown("window"):
        _window(scene)


def tensor_controls(scene: Scene) -> None:
    """The layout and the sizes."""
    if shown("tensor"):
        _layout(scene)
    if shown("sizes"):
        for axis, size in zip(scene.axes, scene.shape, strict=True):
            _size(axis, size)


def reset_button() -> None:
    if not shown("reset"):
        return
    st.button("Back to the start", icon=":material/restart_alt:", key="reset", help="Back to the start", on_click=reset)


def _layout(scene: Scene) -> None:
    options = [*FIRST_LAYOUTS, *([] if scene.layout in FIRST_LAYOUTS else [scene.layout])]
    st.segmented_control(
        "Tensor",
        options,
        help=f"Values are computed up to {MOST_VALUES:,} elements; counts and patterns hold for any size.",
        format_func=lambda layout: ", ".join(parse_layout(layout, _rank(layout))).upper(),
        default=scene.layout,
        key=controlled("layout", scene.layout),
        required=True,
        on_change=lambda: change(edits.with_layout, value_of("layout")),
    )


def _rank(layout: str) -> int:
    return sum(letter.isalpha() for letter in layout)


def _size(axis: str, size: int) -> None:
    key = f"size_{axis}"
    st.number_input(
        axis.upper(),
        min_value=-more.ANY_WHOLE,  # the core tells what is wrong with a size
        max_value=more.ANY_WHOLE,
        value=size,
        step=1,
        key=controlled(key, size),
        width=76 if size < 1000 else 120,
        on_change=lambda: change(edits.with_size, axis, value_of(key)),
    )


def _family(scene: Scene) -> None:
    now = scene.layer.kind.family if isinstance(scene.layer, Layer) else OWN
    able = [family for family in SHOWN_FAMILIES if family == now or _takes(family, scene)]
    options = [*able, *([now] if now not in (*able, OWN) else []), OWN]
    names = [_name(family, scene) for family in options]
    if st.session_state.get(FAMILY_NAMES) != names:
        st.session_state["family"] = now  # the browser holds the name of what is chosen, and names differ by rank
    st.session_state[FAMILY_NAMES] = names
    st.selectbox(
        "Layer",
        options,
        options.index(now),
        format_func=lambda family: _name(family, scene),
        key=controlled("family", now),
        width=168,
        on_change=lambda: change(_with_family, value_of("family")),
    )


def _with_family(scene: Scene, chosen: str) -> Reading:
    """``chosen`` is a name of another rank where the browser has not heard yet: BatchNorm2d for what is BatchNorm1d now."""
    family = KINDS[chosen].family if chosen in KINDS else chosen
    same = isinstance(scene.layer, Layer) and scene.layer.kind.family == family
    return edits.with_fields(scene) if same else edits.with_family(scene, family)


def _takes(family: str, scene: Scene) -> bool:
    return any(kind.takes_rank(len(scene.shape)) for kind in FAMILIES[family])


def _name(family: str, scene: Scene) -> str:
    if family in NAMES:
        return NAMES[family]
    try:
        return kind_for(family, scene.axes).name
    except NormvizError:
        return family


def _arguments(scene: Scene, layer: Layer) -> None:
    """The argument that decides the pattern, offered as what it can be."""
    if not {"normalized_shape", "num_groups", "dim"} & set(layer.given) or not shown("arguments"):
        return
    if "normalized_shape" in layer.given:
        _trailing_axes(scene, layer)
    if "num_groups" in layer.given:
        _choice("num_groups", "num_groups", divisors(layer.given["num_channels"]), layer.given["num_groups"])
    if "dim" in layer.given:
        axes = list(range(len(scene.shape)))
        _choice("dim", "dim", axes, layer.given["dim"] % len(axes), lambda axis: f"{axis} ({scene.axes[axis].upper()})")


def _trailing_axes(scene: Scene, layer: Layer) -> None:
    chosen, rank = layer.given["normalized_shape"], len(scene.shape)
    depths = [depth for depth in range(rank, 0, -1) if depth < rank or rank <= 2 or depth == len(chosen)]
    key = controlled("depth", len(chosen))

    def apply() -> None:
        depth = value_of(key)
        change(edits.with_arguments, normalized_shape=None if depth is None else list(scene.shape[rank - depth :]))

    _segments(
        f"normalized_shape = {list(chosen)}",
        depths,
        len(chosen),
        key,
        lambda depth: ", ".join(axis.upper() for axis in scene.axes[rank - depth :]),
        apply,
    )


def _choice(name: str, label: str, options: list[int], value: int, shown: Any = str) -> None:
    key = controlled(name, value)
    _segments(label, options, value, key, shown, lambda: change(edits.with_arguments, **{name: value_of(key)}))


def _segments(label: str, options: list[int], value: int, key: str, shown: Any, apply: Any) -> None:
    if len(options) <= MOST_SEGMENTS:
        st.segmented_control(label, options, default=value, format_func=shown, key=key, required=True, on_change=apply)
    else:
        st.selectbox(label, options, options.index(value), format_func=shown, key=key, on_change=apply, width=140)


def _own_pattern(scene: Scene) -> None:
    norm = scene.sharing.norm
    statistics, parameters = edits.pattern_text(norm), "none" if norm.params is None else norm.params

    def apply() -> None:
        wanted = value_of("own_params").strip()
        change(
            edits.with_pattern_text,
            value_of("own_stats"),
            None if wanted.lower() in ("none", "-") else wanted,
        )

    with st.container(horizontal=True, gap="small", key="pattern"):
        st.text_input(
            "Statistics: kept axes right of the arrow",
            statistics,
            key=controlled("own_stats", statistics),
            help="To split an axis, give a size: n (g k) h w -> n g; g=2",
            width=330,
            max_chars=200,
            on_change=apply,
        )
        st.text_input(
            "Parameters: the axes of gamma, or none",
            parameters,
            key=controlled("own_params", parameters),
            width=330,
            max_chars=100,
            on_change=apply,
        )


def _window(scene: Scene) -> None:
    """Of a tensor that is not drawn whole: which part is."""
    drawing = scene.grid
    with st.container(horizontal=True, gap="medium", key="window"):
        for axis in drawing.partial:
            first, length, size = drawing.start[axis], drawing.extent[axis], scene.shape[axis]
            step = length if size - length >= length else 1
            value = _steps_up(first, step)
            key = controlled(f"from_{scene.axes[axis]}", value)
            st.slider(
                f"Drawn: {scene.axes[axis].upper()} {first:,} to {first + length - 1:,} of {size:,}",
                0,
                _steps_up(size - length, step),
                value,
                step,
                key=key,
                width=260,
                on_change=_move,
                args=(axis, key),
            )


def _steps_up(number: int, step: int) -> int:
    """The next multiple of ``step``: a slider's last step may lead beyond the last window."""
    return -(-number // step) * step


def _move(axis: int, key: str) -> None:
    first = value_of(key)
    change(lambda scene: _moved(scene, axis, first))


def _moved(scene: Scene, axis: int, first: int) -> Reading:
    return edits.with_window(scene, axis, first)
