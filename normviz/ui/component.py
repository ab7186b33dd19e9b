"""The linked heatmap as a Streamlit component: clicks and edits come back as changes of the view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from normviz.figures.payload.chart import chart_payload
from normviz.scene import edits
from normviz.scene.settings.page_settings import LAST_STEP
from normviz.ui.assets import LINKED, PLOTLY, as_component_data
from normviz.ui.state import FIGURE, change, change_settings

if TYPE_CHECKING:
    from normviz.figures.charts import Lines

KEY, TURN = "linked", "normviz.turn"
# Streamlit's own styles reach a component only outside a shadow root, and so does plotly.js.
_mount = st.components.v2.component(
    "normviz_linked", html='<div class="nv-root"></div>', js=LINKED.loader(), isolate_styles=False
)


def linked_view(data: dict[str, Any], events: Sequence[str]) -> None:
    """Mount a linked view. Without events it keeps its selection to itself.

    ``turn`` numbers the last click that was heard, so that the view can tell an answer to it from an older one.
    """
    told = {"turn": st.session_state.get(TURN, 0)} if events else {"editable": False, "alone": True}
    heard: dict[str, Any] = {f"on_{name}_change": CALLBACKS[name] for name in events}
    _mount(key=KEY, data=as_component_data(data | {"plotly": PLOTLY.path} | told), **heard)


def chart(lines: Lines, alt: str, key: str) -> None:
    """A plain chart; ``alt`` says in a sentence what it shows."""
    _mount(key=key, data=as_component_data(chart_payload(lines, alt) | {"plotly": PLOTLY.path}))


def tabs(html: str, key: str) -> None:
    """Tabs whose parts all stand in the HTML: one message to the browser, whatever is in them."""
    _mount(key=key, data=as_component_data({"kind": "tabs", "html": html}))


def _selected() -> None:
    sent = _sent("select")
    if sent is not None:
        change(edits.with_selected, _index(sent.get("at")), by=FIGURE)


def _edited() -> None:
    sent = _sent("edit")
    index = _index(sent.get("at")) if sent else None
    value = sent.get("value") if sent else None
    if index is not None and isinstance(value, int | float) and not isinstance(value, bool):
        change(edits.with_value, index, value)  # the controls, too: x is none of the examples now


def _stepped() -> None:
    sent = _sent("step")
    step = sent.get("step") if sent else None
    if type(step) is int:
        change_settings(step=min(max(step, 0), LAST_STEP), by=FIGURE)


def _sent(name: str) -> dict[str, Any] | None:
    value = (st.session_state.get(KEY) or {}).get(name)  # none where the view went away before its word came
    if not isinstance(value, Mapping):
        return None
    if type(value.get("turn")) is int:
        st.session_state[TURN] = value["turn"]
    return dict(value)


def _index(at: Any) -> tuple[int, ...] | None:
    return tuple(at) if isinstance(at, list | tuple) and all(type(i) is int for i in at) else None


CALLBACKS = {"select": _selected, "edit": _edited, "step": _stepped}
