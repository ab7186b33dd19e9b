"""The figures as a Streamlit component. Clicks and edits in a linked view change the view on the server."""

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
    """Mount a linked view. Without events, a selection in it sends nothing to the server.

    ``turn`` is the number of the last click that the server received, so that the view can ignore an answer to an older one.
    """
    state = {"turn": st.session_state.get(TURN, 0)} if events else {"editable": False, "alone": True}
    callbacks: dict[str, Any] = {f"on_{name}_change": CALLBACKS[name] for name in events}
    _mount(key=KEY, data=as_component_data(data | {"plotly": PLOTLY.path} | state), **callbacks)


def chart(lines: Lines, alt: str, key: str) -> None:
    """Mount a chart; ``alt`` describes it in a sentence."""
    _mount(key=key, data=as_component_data(chart_payload(lines, alt) | {"plotly": PLOTLY.path}))


def tabs(html: str, key: str) -> None:
    """Mount the HTML of all tabs, with a single message to the browser."""
    _mount(key=key, data=as_component_data({"kind": "tabs", "html": html}))


def _select() -> None:
    event = _event("select")
    if event is not None:
        change(edits.with_selected, _index(event.get("at")), by=FIGURE)


def _edit() -> None:
    event = _event("edit")
    index = _index(event.get("at")) if event else None
    value = event.get("value") if event else None
    if index is not None and isinstance(value, int | float) and not isinstance(value, bool):
        change(edits.with_value, index, value)  # not by=FIGURE: the control shows that x is edited


def _step() -> None:
    event = _event("step")
    step = event.get("step") if event else None
    if type(step) is int:
        change_settings(step=min(max(step, 0), LAST_STEP), by=FIGURE)


def _event(name: str) -> dict[str, Any] | None:
    value = (st.session_state.get(KEY) or {}).get(name)  # no state if the view was removed before its event arrived
    if not isinstance(value, Mapping):
        return None
    if type(value.get("turn")) is int:
        st.session_state[TURN] = max(value["turn"], st.session_state.get(TURN, 0))  # several may arrive at once
    return dict(value)


def _index(at: Any) -> tuple[int, ...] | None:
    return tuple(at) if isinstance(at, list | tuple) and all(type(i) is int for i in at) else None


CALLBACKS = {"select": _select, "edit": _edit, "step": _step}
