"""The controls under "More": other layouts, the data, gamma and beta, eps, affine, bias, train and eval.

They are made when the popover is opened, and forgotten when it is closed. Opening and closing run this fragment alone, and never the
page: so neither can be mistaken for a change, nor undo one that is on its way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from normviz.layers.axes import parse_layout
from normviz.layers.layer import Layer
from normviz.scene import edits
from normviz.scene.query import Reading
from normviz.scene.scene import Scene
from normviz.ui.state import answered, change, controlled, held_scene, shown, value_of

OPEN = "more"
ANY_WHOLE = 2**53 - 1  # the largest that a browser holds exactly
LAYOUTS = ("ND", "NLC", "NCL", "LNC", "NCHW", "NHWC", "NCDHW", "D", "CL", "CHW", "CDHW")
DATA_NAMES = {
    "normal": "normal (seeded)",
    "counting": "counting 0, 1, 2, …",
    "scales": "per-channel scales",
    "images": "small pictures",
}
PARAMETER_NAMES = {"init": "1 and 0", "index": "their index", "random": "random"}
EPS_CHOICES = ("0.001", "1e-05", "1e-06", "1e-08", "1e-12")
FLAGS = {
    "affine": "affine: gamma, beta",
    "elementwise_affine": "elementwise_affine",
    "bias": "bias: beta",
    "track_running_stats": "track_running_stats",
}


def names(scene: Scene) -> list[str]:
    """What each of the controls is called where a link hides it."""
    found = ["layout", "data", *(["seed"] if _seeded(scene) else []), *(["parameters"] if _learns(scene) else [])]
    if isinstance(scene.layer, Layer):
        given = scene.layer.given
        found += ["eps", *(name for name in FLAGS if name in given), *(["mode"] if _has_modes(scene.layer) else [])]
    return found


def _seeded(scene: Scene) -> bool:
    return scene.data in ("normal", "scales", "images") and scene.values is None


def _learns(scene: Scene) -> bool:
    return scene.sharing.counts.gamma_shape is not None


def _has_modes(layer: Layer) -> bool:
    return "track_running_stats" in layer.given


@st.fragment
def more() -> None:
    """The popover."""
    answered()
    with (
        st.popover("More", icon=":material/tune:", key=OPEN, on_change="rerun") as popover,
        st.container(key="more_body"),
    ):
        if popover.open:
            controls(held_scene())


def controls(scene: Scene) -> None:
    tensor, layer = st.columns(2, gap="medium")
    with tensor:
        _tensor(scene)
    with layer:
        if isinstance(scene.layer, Layer):
            _layer(scene.layer)


def _tensor(scene: Scene) -> None:
    if shown("layout"):
        _select("Layout", "more_layout", _with(LAYOUTS, scene.layout), scene.layout, _layout_name, edits.with_layout)
    values = "edited" if scene.values is not None else scene.data
    options = {**({"edited": "edited by hand"} if values == "edited" else {}), **DATA_NAMES}
    if shown("data"):
        _select("Values of x", "data", tuple(options), values, options.__getitem__, _with_data)
    if _seeded(scene) and shown("seed"):
        _seed(scene)
    if _learns(scene) and shown("parameters"):
        _select(
            "Values of gamma and beta",
            "params",
            tuple(PARAMETER_NAMES),
            scene.params,
            PARAMETER_NAMES.__getitem__,
            lambda scene, name: edits.with_fields(scene, params=name),
        )


def _change(to: Callable[..., Reading], *arguments: Any, **named: Any) -> None:
    """Change the scene, and run the whole page: the fragment alone would show it in the popover only.

    A control that goes away may say once more what it showed. That is no change, and must not undo a Back that comes with it.
    """
    scene = held_scene()
    reading = to(scene, *arguments, **named)
    if reading.scene != scene or reading.problem:
        change(lambda _: reading)


def _with(options: tuple[str, ...], value: str) -> tuple[str, ...]:
    return options if value in options else (*options, value)


def _layout_name(layout: str) -> str:
    return f"({', '.join(parse_layout(layout, sum(letter.isalpha() for letter in layout))).upper()})"


def _with_data(scene: Scene, name: str) -> Any:
    return edits.with_fields(scene) if name == "edited" else edits.with_fields(scene, data=name, values=None)


def _select(
    label: str, name: str, options: tuple[str, ...], value: str, shown: Callable[[str], str], to: Callable[..., Any]
) -> None:
    key = controlled(name, value)
    st.selectbox(
        label,
        options,
        options.index(value),
        format_func=shown,
        key=key,
        on_change=lambda: _change(to, value_of(key)),
    )


def _seed(scene: Scene) -> None:
    key = controlled("seed", scene.seed)
    st.number_input(
        "Seed",
        min_value=-ANY_WHOLE,
        max_value=ANY_WHOLE,
        value=scene.seed,
        step=1,
        key=key,
        on_change=lambda: _change(edits.with_seed, value_of(key)),
    )


def _layer(layer: Layer) -> None:
    if shown("eps"):
        _eps(layer)
    learns = layer.affine
    for name, label in FLAGS.items():
        if name in layer.given and shown(name):
            key = controlled(name, layer.given[name])
            st.toggle(
                label,
                value=layer.given[name],
                key=key,
                disabled=name == "bias" and not learns,
                on_change=_flag,
                args=(name, key),
            )
    if _has_modes(layer):
        if shown("mode"):
            _mode(layer.training)
    elif shown("eps"):
        st.caption("train() and eval() do the same for this layer.")


def _mode(training: bool) -> None:
    key = controlled("training", training)
    st.segmented_control(
        "Mode",
        [True, False],
        format_func=lambda training: "train()" if training else "eval()",
        default=training,
        key=key,
        required=True,
        on_change=_flag,
        args=("training", key),
    )


def _flag(name: str, key: str) -> None:
    _change(edits.with_arguments, **{name: value_of(key)})


def _eps(layer: Layer) -> None:
    value, none = _eps_text(layer.given["eps"]), layer.kind.eps_may_be_none
    options = _with((*(("None",) if none else ()), *EPS_CHOICES), value)
    key = controlled("eps", value)
    st.selectbox(
        "eps",
        options,
        options.index(value),
        key=key,
        accept_new_options=True,
        help="Added to the variance inside the square root. None: the machine epsilon." if none else None,
        on_change=lambda: _change(edits.with_eps, value_of(key)),
    )


def _eps_text(eps: float | None) -> str:
    return repr(eps)
