"""The controls of Compare: the tensor, the layers on it, and the ready-made sets."""

from __future__ import annotations

import streamlit as st

from normviz.analysis.comparison import MOST, suggestions
from normviz.lessons.compare.page import layers_of, ready_set
from normviz.lessons.compare.ready_sets import READY_SETS
from normviz.scene import edits
from normviz.scene.fit_layers import chosen
from normviz.scene.scene import Scene
from normviz.scene.view import View
from normviz.ui.controls.row import reset_button, tensor_controls
from normviz.ui.state import change, change_settings, controlled, shown, value_of

OWN = ""


def comparing(view: View) -> None:
    """The row."""
    scene, (layers, _) = view.scene, layers_of(view)
    showing = ready_set(scene, layers)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall", key="controls"):
        tensor_controls(scene)
        if shown("set"):
            _sets(showing.key if showing else OWN)
        reset_button()
    if shown("layers"):
        _layers(scene, layers)


def _sets(showing: str) -> None:
    options = [OWN, *READY_SETS]
    st.selectbox(
        "Ready-made sets",
        options,
        options.index(showing),
        format_func=lambda key: READY_SETS[key].title if key else "your own",
        key=controlled("set", showing),
        width=270,
        on_change=_take_set,
    )


def _layers(scene: Scene, layers: tuple[str, ...]) -> None:
    options = list(dict.fromkeys([*layers, *suggestions(scene.shape, scene.layout)]))
    st.multiselect(
        f"Layers (2 to {MOST}; type your own, such as Norm('n c h w -> n h w', 'c'))",
        options,
        list(layers),
        key=controlled("layers", list(layers)),
        accept_new_options=True,
        max_selections=MOST,
        on_change=_take_layers,
        args=(scene,),
    )


def _take_layers(scene: Scene) -> None:
    """Take what fits; what does not is named once, and not kept in the address."""
    taken = value_of("layers")
    layers, wrong = chosen(taken, scene) if taken else ((), None)  # none: the usual ones, whatever the tensor becomes
    change_settings(problem=wrong, layers=layers)


def _take_set() -> None:
    if value_of("set") in READY_SETS:
        ready = READY_SETS[value_of("set")]
        change(lambda scene: edits.on_tensor(scene, ready.shape, ready.layout))
        change_settings(layers=ready.layers)
