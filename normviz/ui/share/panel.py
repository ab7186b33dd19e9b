"""The data of the Share panel: the view as a link, an iframe, Markdown, a notebook cell, a file. The panel itself is a browser module."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import streamlit as st

from normviz.layers.messages import N_, _
from normviz.lessons.compare.page import layers_of
from normviz.lessons.pages import PAGES
from normviz.lessons.questions.question import prose
from normviz.lessons.questions.registry import QUESTIONS
from normviz.scene.settings.page_settings import experiments
from normviz.scene.settings.scene_settings import compact
from normviz.scene.settings.setting import Setting, write_settings
from normviz.scene.view import View
from normviz.scene.visibility import BESIDE_THE_FIGURE, CONTROLS, FIGURE, PANELS, PARTS
from normviz.ui.assets import SHARE, as_component_data
from normviz.ui.state import control_names

GROUPS = ((N_("Controls"), CONTROLS), (N_("Page"), PARTS), (N_("Figure"), PANELS))
EXPERIMENTS = ("train_and_eval", "gradients", "numerics")
# Hidden in an embedded view by default.
HIDDEN_IN_SHORT = BESIDE_THE_FIGURE | {"x", "normalized", "output", "table", "code", "details", "questions"}
FUNCTIONS = {"explore": "explain", "step_by_step": "steps", "gradients": "gradients"}  # pages of one layer on one x

_mount = st.components.v2.component(
    "normviz_share", html='<div class="nvs-root"></div>', js=SHARE.loader(), isolate_styles=False
)


def share(page: str, view: View, settings: Sequence[Setting], parts: Collection[str] = ()) -> None:
    """The Share button and its panel; in an embedded view, or one with hidden parts, a link to the full app.

    parts  names of the page's parts, besides its controls
    """
    data = {"page": page, "query": _pairs(view, settings)}
    if st.context.is_embedded or view.display.hidden:
        _mount(key="open", data=as_component_data(data | {"kind": "open"}))
    if not st.context.is_embedded:
        _mount(key="share", data=as_component_data(data | _panel(page, view, parts)))


def _pairs(view: View, settings: Sequence[Setting]) -> list[list[str]]:
    """The query without ``hide`` and ``caption``."""
    query = view.scene.query() | write_settings(settings, view.settings)
    return [[name, value] for name, value in query.items()]


def _panel(page: str, view: View, parts: Collection[str]) -> dict[str, Any]:
    there = {*control_names(), *parts}
    return {
        "kind": "share",
        "title": title(page, view),
        "groups": [
            {
                "title": _(group),
                "names": [_choice(name, label, there) for name, label in labels.items() if name in there],
            }
            for group, labels in GROUPS
        ],
        "short": [name for name in sorted(HIDDEN_IN_SHORT & there) if name != "table" or _has_figure(there)],
        "hidden": [name for name in sorted(there) if view.display.hides(name)],
        "caption": view.display.caption,
        "hint": _hint(page, view),
    }


def _choice(name: str, label: str, there: Collection[str]) -> dict[str, Any]:
    """``figure``: the part is also shown with "Figure alone"."""
    return {"name": name, "label": _(label), "figure": name in FIGURE or (name == "table" and not _has_figure(there))}


def _has_figure(there: Collection[str]) -> bool:
    """Without a figure, the page's tables take its place."""
    return "panels" in there


def title(page: str, view: View) -> str:
    """What the view shows, in one line: the title of the iframe."""
    if page == "questions":
        asked = view.settings["q"]
        return prose(asked).title if asked in QUESTIONS else _("Questions on normalization layers")
    name = PAGES[page].title
    if page in EXPERIMENTS:
        name = f"{name}: {_(experiments(page)[view.settings['show']])}"
    if page != "compare" and page not in FUNCTIONS:
        return name
    layer = ", ".join(layers_of(view)[0]) if page == "compare" else str(view.scene.layer)
    return _("{page}: {layer} on a {shape} tensor", page=name, layer=layer, shape=view.scene.shape)


def _hint(page: str, view: View) -> str:
    """The call of the same function on an x of the reader's own; "" if the page is not a function of x."""
    if page == "compare":
        layers = ", ".join(f'"{layer}"' for layer in layers_of(view)[0])
        return f"nv.compare([{layers}], x)"
    return f'nv.{FUNCTIONS[page]}("{compact(view.scene.layer)}", x)' if page in FUNCTIONS else ""
