"""Share: the view as a link, an iframe, Markdown, a notebook cell, a file. The panel itself is a module in the browser."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import streamlit as st

from normviz.layers.messages import _
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
from normviz.ui.state import offered

GROUPS = (("Controls", CONTROLS), ("Page", PARTS), ("Figure", PANELS))
EXPERIMENTS = ("train_and_eval", "gradients", "numerics")
LONG = BESIDE_THE_FIGURE | {
    "x",
    "normalized",
    "output",
    "table",
    "code",
    "details",
    "questions",
}  # what an embed does without
FUNCTIONS = {"explore": "explain", "step_by_step": "steps", "gradients": "gradients"}  # of one layer on one x


_mount = st.components.v2.component(
    "normviz_share", html='<div class="nvs-root"></div>', js=SHARE.loader(), isolate_styles=False
)


def share(page: str, view: View, settings: Sequence[Setting], parts: Collection[str] = ()) -> None:
    """The button and its panel; in an embedded view, or one with hidden parts, the way to the full app.

    ``parts`` are the names of what the page shows beside its controls.
    """
    data = {"page": page, "query": _pairs(view, settings)}
    if st.context.is_embedded or view.display.hidden:
        _mount(key="open", data=as_component_data(data | {"kind": "open"}))
    if not st.context.is_embedded:
        _mount(key="share", data=as_component_data(data | _panel(page, view, parts)))


def _pairs(view: View, settings: Sequence[Setting]) -> list[list[str]]:
    """The query without the frame."""
    query = view.scene.query() | write_settings(settings, view.settings)
    return [[name, value] for name, value in query.items()]


def _panel(page: str, view: View, parts: Collection[str]) -> dict[str, Any]:
    there = {*offered(), *parts}
    return {
        "kind": "share",
        "title": title(page, view),
        "groups": [
            {"title": group, "names": [_choice(name, label, there) for name, label in labels.items() if name in there]}
            for group, labels in GROUPS
        ],
        "short": [name for name in sorted(LONG & there) if name != "table" or _has_figure(there)],
        "hidden": [name for name in sorted(there) if view.display.hides(name)],
        "caption": view.display.caption,
        "hint": _hint(page, view),
    }


def _choice(name: str, label: str, there: Collection[str]) -> dict[str, Any]:
    """``figure``: it stays where the figure stands alone."""
    return {"name": name, "label": _(label), "figure": name in FIGURE or (name == "table" and not _has_figure(there))}


def _has_figure(there: Collection[str]) -> bool:
    """Or are the page's tables its figure?"""
    return "panels" in there


def title(page: str, view: View) -> str:
    """What the view shows, in one line: the title of an iframe."""
    if page == "questions":
        asked = view.settings["q"]
        return prose(asked).title if asked in QUESTIONS else "Questions on normalization layers"
    named, on = PAGES[page].title, f"on a {view.scene.shape} tensor"
    if page == "compare":
        return f"{named}: {', '.join(layers_of(view)[0])} {on}"
    if page in EXPERIMENTS:
        named = f"{named}: {_(experiments(page)[view.settings['show']])}"
    return f"{named}: {view.scene.layer} {on}" if page in FUNCTIONS else named


def _hint(page: str, view: View) -> str:
    """How the same is called on an x of one's own; "" where the page is no function of x."""
    if page == "compare":
        layers = ", ".join(f'"{layer}"' for layer in layers_of(view)[0])
        return f"nv.compare([{layers}], x)"
    return f'nv.{FUNCTIONS[page]}("{compact(view.scene.layer)}", x)' if page in FUNCTIONS else ""
