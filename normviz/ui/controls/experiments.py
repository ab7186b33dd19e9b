"""The controls of the pages that show experiments: which one, and what it is set to."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from normviz.analysis.rounding.groups import DTYPES
from normviz.layers.errors import NormvizError
from normviz.lessons.gradients import derivatives
from normviz.lessons.gradients import page as gradients
from normviz.lessons.numerics import numbers, zero_variance
from normviz.lessons.numerics import page as numerics
from normviz.lessons.train_and_eval import experiments
from normviz.lessons.train_and_eval import page as train_and_eval
from normviz.scene.settings import Field
from normviz.scene.view import View
from normviz.ui.controls.row import controls as scene_controls
from normviz.ui.state import change_settings, controlled, shown, value_of

TRAINING = {
    "stream": ("batch_size", "momentum", "drift", "steps"),
    "batches": (),
    "sequences": ("count", "longest"),
    "devices": ("devices",),
}
NUMERICS = {
    "variance": ("dtype", "distance"),
    "eps": ("dtype", "spread"),
    "constant": ("dtype", "value"),
    "single": ("dtype", "scale"),
    "placement": ("eps",),
}
LABELS = {
    "batch_size": "batch size (2 to 1,024)",
    "momentum": "momentum (0 to 1, or none)",
    "drift": "mean drifts by (−10 to 10)",
    "steps": "steps (1 to 500)",
    "count": "sequences (2 to 256)",
    "longest": "longest (1 to 100)",
    "devices": f"devices (2 to {experiments.MOST_DEVICES})",
    "distance": "distance from zero (10⁰ to 10⁷)",
    "spread": "spread (10⁻¹² to 10³)",
    "value": f"every element of x (−{zero_variance.LARGEST_CONSTANT:,} to {zero_variance.LARGEST_CONSTANT:,})",
    "scale": f"standard deviation of x (0 to {zero_variance.LARGEST_SCALE:,})",
    "eps": f"eps ({numbers.SMALLEST_EPS:g} to 1)",
}
WIDTHS = {"value": 300, "scale": 300, "eps": 300}


def training_controls(view: View) -> None:
    _experiment(view, train_and_eval.TITLES)
    if view.settings["show"] == "modes":
        scene_controls(view.scene)
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="controls"):
        for name in filter(shown, TRAINING[view.settings["show"]]):
            _number(view, train_and_eval.FIELDS, name)


def gradients_controls(view: View) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="experiment"):
        _experiment(view, gradients.TITLES)
        if shown("input"):
            _input(view)
    scene_controls(view.scene)


def _input(view: View) -> None:
    st.selectbox(
        "Values of x",
        list(derivatives.INPUTS),
        list(derivatives.INPUTS).index(view.settings["input"]),
        format_func=derivatives.INPUTS.__getitem__,
        key=controlled("input", view.settings["input"]),
        width=220,
        help="On the last two, derivatives vanish inside the group.",
        on_change=lambda: change_settings(input=value_of("input") or view.settings["input"]),
    )


def numerics_controls(view: View) -> None:
    _experiment(view, numerics.TITLES)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="controls"):
        for name in filter(shown, NUMERICS[view.settings["show"]]):
            if name == "dtype":
                _dtype(view)
            elif name in numerics.POWERS:
                _power(view, name)
            else:
                _number(view, numerics.FIELDS, name)


def _experiment(view: View, titles: dict[str, str]) -> None:
    if not shown("experiment"):
        return
    st.segmented_control(
        "Experiment",
        list(titles),
        format_func=titles.__getitem__,
        default=view.settings["show"],
        key=controlled("show", view.settings["show"]),
        required=True,
        wrap=True,
        on_change=lambda: change_settings(show=value_of("show") or view.settings["show"]),
    )


def _dtype(view: View) -> None:
    st.segmented_control(
        "dtype of x",
        list(DTYPES),
        default=view.settings["dtype"],
        key=controlled("dtype", view.settings["dtype"]),
        required=True,
        on_change=lambda: change_settings(dtype=value_of("dtype") or view.settings["dtype"]),
    )


def _power(view: View, name: str) -> None:
    key = controlled(f"set_{name}", view.settings[name])
    low, high = numerics.POWERS[name]
    st.select_slider(
        LABELS[name],
        range(low, high + 1),
        view.settings[name],
        format_func=numbers.power,
        key=key,
        width=360,
        on_change=lambda: change_settings(**{name: value_of(key)}),
    )


def _number(view: View, fields: Sequence[Field], name: str) -> None:
    field = next(field for field in fields if field.name == name)
    written = field.write(view.settings[name])
    key = controlled(f"set_{name}", written)

    def apply() -> None:
        try:
            change_settings(**{name: field.read(value_of(key).strip())})
        except NormvizError as error:
            change_settings(problem=str(error))

    st.text_input(LABELS[name], written, key=key, width=WIDTHS.get(name, 190), max_chars=20, on_change=apply)
