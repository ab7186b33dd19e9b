"""A page as a Streamlit component. Clicks and edits in its figures change the view on the server."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from normviz.lessons.events import EVENTS
from normviz.lessons.pages import PageView, page_data
from normviz.lessons.share.panel import app_link, report_address, share_data
from normviz.parts.html import Body
from normviz.parts.part import Part
from normviz.scene.view import Display, View
from normviz.texts.languages import find_language, languages
from normviz.texts.messages import _, language
from normviz.ui.assets import LOADER, PLOTLY, component
from normviz.ui.controls import redraw
from normviz.ui.session import localized, session
from normviz.ui.state import CONTROL, FIGURE, change, note_message

KEY = "page"
REPORT_TO = report_address()  # raises an error if the setting is invalid, so that the app does not start
# Streamlit's own styles reach a component only outside a shadow root, and so does plotly.js.
_mount = st.components.v2.component(
    "normviz_page", html='<div class="nv-doc nv-app"></div>', js=LOADER, isolate_styles=False
)


def show_page(shown: PageView) -> None:
    """The parts of the page, Share, the summary of the controls and the greeting; in an embedded view, or one with hidden parts, a link to the full app.

    The figures return the number of the last event that the server received (``turn``), so that they can ignore a response to an older one.
    """
    page, view = shown.page, shown.view
    body = Body(app="", turn=session().turn)
    data = data_of(shown, body, bool(st.context.is_embedded))
    if st.context.is_embedded or view.display.hide:
        data["open"] = app_link(shown)
    if has_frame(view):
        data["share"] = share_data(shown) if page.group else None  # the address of the front page has no view
        data["languages"] = [(name, one.name, one.tag) for name, one in languages().items()]
    if not st.context.is_embedded:
        data["summary"] = None if view.display.hide else page.summary(view)
        links = page.greeting(view) if view.display == Display() else ()
        data["greeting"] = " ".join(link.html(body) for link in links)
    _show(data, KEY, **CALLBACKS)


def data_of(shown: PageView, body: Body, embedded: bool) -> dict[str, Any]:
    """What the browser draws of a page. A reader can switch the view for a projector on and off, except in an embedded view."""
    page, view = shown.page, shown.view
    data = page_data(page, body, shown.parts) | {
        "present": view.display.present,
        "group": _(page.group) if page.group else "",
    }
    return data | {"projector": shown.has_figure and not embedded} | page.data(view)


def has_frame(view: View) -> bool:
    """Whether Share, the languages and the report of an error are around the page."""
    return not st.context.is_embedded and not view.display.present


def show_more(shown: PageView, parts: Sequence[Part]) -> None:
    """Parts of the page that do not depend on the selected element, and a button that reports an error."""
    data = page_data(shown.page, Body(prefix="more-", app=""), parts)
    if has_frame(shown.view):
        data["report"] = REPORT_TO
    _show(data, "more_parts")


def _show(data: dict[str, Any], key: str, **callbacks: Any) -> None:
    """In a list: Streamlit would search a dict for DataFrames, and import pandas for that."""
    name, shown = language.get(), find_language(language.get())
    script = {"script": component(name).path, "failed": _("This did not load. Reload the page to try again.")}
    reader = {"name": name, "tag": shown.tag, "direction": shown.direction}
    _mount(key=key, data=[data | script | {"plotly": PLOTLY.path, "language": reader}], **callbacks)


def _change(name: str) -> None:
    """What a reader did on a figure changes the view."""
    event = (st.session_state.get(KEY) or {}).get(name)  # no state if the view was removed before its event arrived
    if not isinstance(event, Mapping):
        return
    if type(event.get("turn")) is int:
        known = session()
        known.turn = max(event["turn"], known.turn)  # several may arrive at once
    note_message()
    changes_controls = name in ("edit", "scale", "toggle")  # of x, of gamma and beta, of the layer
    change({**event, "name": name}, by=CONTROL if changes_controls or name == "present" else FIGURE)
    if changes_controls:
        redraw()
    if name == "present":  # the controls and the heading go, or come back
        st.rerun()


# Controls send the other events. All sessions share the callbacks.
CALLBACKS = {
    f"on_{name}_change": localized(partial(_change, name)) for name in EVENTS if name not in ("input", "reset")
}
