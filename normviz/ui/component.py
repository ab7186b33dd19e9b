"""A page as a Streamlit component. Clicks and edits in its figures change the view on the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from normviz.lessons.explore import greeting
from normviz.lessons.pages import Page, page_data
from normviz.lessons.parts.html import Body
from normviz.lessons.parts.part import Part
from normviz.lessons.share import app_link, report_address, share_data
from normviz.lessons.summary import summary
from normviz.scene import edits
from normviz.scene.page_settings import LAST_STEP
from normviz.scene.visibility import Display
from normviz.texts.messages import _, language
from normviz.ui.assets import LOADER, PLOTLY, component
from normviz.ui.controls.redraw import redraw
from normviz.ui.language import choices, language_data, localized
from normviz.ui.state import FIGURE, change, change_settings

KEY, TURN = "page", "normviz.turn"
REPORT_TO = report_address()  # raises an error if the setting is invalid, so that the app does not start
# Streamlit's own styles reach a component only outside a shadow root, and so does plotly.js.
_mount = st.components.v2.component(
    "normviz_page", html='<div class="nv-doc nv-app"></div>', js=LOADER, isolate_styles=False
)


def show_page(page: Page) -> None:
    """The parts of the page, Share, the summary of the controls and the greeting; in an embedded view, or one with hidden parts, a link to the full app.

    The figures return the number of the last event that the server received (``turn``), so that they can ignore a response to an older one.
    """
    body = Body(app="", turn=st.session_state.get(TURN, 0))
    data = data_of(page, body)
    if st.context.is_embedded or page.view.display.hidden:
        data["open"] = app_link(page)
    if not st.context.is_embedded:
        data["share"] = share_data(page)
        data["languages"] = choices()
        data["summary"] = None if page.view.display.hidden else summary(page.name, page.view)
        links = greeting(page.view) if page.name == "explore" and page.view.display == Display() else ()
        data["greeting"] = " ".join(link.html(body) for link in links)
    _show(data, KEY, **{f"on_{name}_change": callback for name, callback in CALLBACKS.items()})


def data_of(page: Page, body: Body) -> dict[str, Any]:
    """What the browser draws of a page."""
    data = page_data(page.name, body, page.parts) | {"present": page.view.display.present}
    if page.name == "questions":
        data["guess"] = "" if page.has_problem else page.view.settings["guess"]
        data["search"] = page.view.settings["search"]
    return data


def show_more(page: Page, parts: Sequence[Part]) -> None:
    """Parts of the page that do not depend on the selected element, and a button that reports an error, except in an embedded view."""
    data = page_data(page.name, Body(prefix="more-", app=""), parts)
    if not st.context.is_embedded:
        data["report"] = REPORT_TO
    _show(data, "more_parts")


def _show(data: dict[str, Any], key: str, **callbacks: Any) -> None:
    """In a list: Streamlit would search a dict for DataFrames, and import pandas for that."""
    script = {"script": component(language.get()).path, "failed": _("This did not load. Reload the page to try again.")}
    _mount(key=key, data=[data | script | {"plotly": PLOTLY.path, "language": language_data()}], **callbacks)


def _select() -> None:
    event = _event("select")
    if event is not None:
        change(edits.with_selected, _index(event.get("at")), by=FIGURE)


def _move() -> None:
    event = _event("move")
    start = _index(event.get("start")) if event else None
    if start is not None:
        change(edits.with_start, start, by=FIGURE)


def _edit() -> None:
    event = _event("edit")
    index = _index(event.get("at")) if event else None
    value = event.get("value") if event else None
    if index is not None and isinstance(value, int | float) and not isinstance(value, bool):
        change(edits.with_value, index, value)  # not by=FIGURE: the control shows that x is edited
        redraw()


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


CALLBACKS = {
    name: localized(callback)
    for name, callback in [("select", _select), ("edit", _edit), ("move", _move), ("step", _step)]
}
