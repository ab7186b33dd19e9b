"""A page as a Streamlit component. Clicks and edits in its figures change the view on the server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from normviz.figures.wire import Json, Payload, sent
from normviz.lessons.events import EVENTS
from normviz.lessons.pages import DrawnPage, PageView, page_data
from normviz.lessons.share.panel import SharePayload, app_link, report_address, share_data
from normviz.parts.html import Body
from normviz.parts.part import Part
from normviz.scene.view import Display, View
from normviz.texts.languages import find_language, languages
from normviz.texts.messages import _, language
from normviz.ui.assets import LOADER, PLOTLY, component
from normviz.ui.controls import redraw
from normviz.ui.session import Session, at_link
from normviz.ui.state import CONTROL, FIGURE, change, note_message


@dataclass(frozen=True)
class OnScreen(Payload):
    """How the app shows a page.

    present    for a projector: the figure fills the screen
    group      the title of the page's group in the header, or ""
    projector  the reader can change ``present``
    """

    present: bool
    group: str
    projector: bool


@dataclass(frozen=True)
class Frame(Payload):
    """What is around a page.

    languages  the name of each in a link, its name in the language itself, and its tag
    """

    share: SharePayload | None
    languages: list[tuple[str, str, str]]


@dataclass(frozen=True)
class Header(Payload):
    """What the controls have chosen, and links as HTML."""

    summary: str | None
    greeting: str


@dataclass(frozen=True)
class ReaderLanguage(Payload):
    """Its name in a link, and its attributes in HTML."""

    name: str
    tag: str
    direction: str


@dataclass(frozen=True)
class Scripts(Payload):
    """Where the scripts are, and the message if they do not load."""

    script: str
    failed: str
    plotly: str
    language: ReaderLanguage


KEY = "page"
REPORT_TO = report_address()  # raises an error if the setting is invalid, so that the app does not start
# Streamlit's own styles reach a component only outside a shadow root, and so does plotly.js.
_mount = st.components.v2.component(
    "normviz_page", html='<div class="nv-doc nv-app"></div>', js=LOADER, isolate_styles=False
)


def show_page(known: Session, shown: PageView) -> None:
    """The parts of the page, Share, the summary of the controls and the greeting; in an embedded view, or one with hidden parts, a link to the full app.

    The figures return the number of the last event that the server received (``turn``), so that they can ignore a response to an older one.
    """
    page, view = shown.page, shown.view
    body = Body(app="", turn=known.turn)
    data = data_of(shown, page_data(page, body, shown.parts), bool(st.context.is_embedded))
    if st.context.is_embedded or view.display.hide:
        data["open"] = sent(app_link(shown))
    if has_frame(view):
        share = share_data(shown) if page.group else None  # the address of the front page has no view
        data |= sent(Frame(share, [(name, one.name, one.tag) for name, one in languages().items()]))
    if not st.context.is_embedded:
        links = page.greeting(view) if view.display == Display() else ()
        summary = None if view.display.hide else page.summary(view)
        data |= sent(Header(summary, " ".join(link.html(body) for link in links)))
    _show(data, KEY, **CALLBACKS)


def data_of(shown: PageView, drawn: DrawnPage, embedded: bool) -> dict[str, Json]:
    """What the browser draws of a page. A reader can switch the view for a projector on and off, except in an embedded view."""
    page, view = shown.page, shown.view
    group, projector = _(page.group) if page.group else "", shown.has_figure and not embedded
    return sent(drawn) | sent(OnScreen(view.display.present, group, projector)) | page.data(view)


def has_frame(view: View) -> bool:
    """Whether Share, the languages and the report of an error are around the page."""
    return not st.context.is_embedded and not view.display.present


def show_more(shown: PageView, parts: Sequence[Part]) -> None:
    """Parts of the page that do not depend on the selected element, and a button that reports an error."""
    data = sent(page_data(shown.page, Body(prefix="more-", app=""), parts))
    if has_frame(shown.view):
        data["report"] = REPORT_TO
    _show(data, "more_parts")


def _show(data: dict[str, Json], key: str, **callbacks: Any) -> None:
    """In a list: Streamlit would search a dict for DataFrames, and import pandas for that."""
    name, shown = language.get(), find_language(language.get())
    failed = _("This did not load. Reload the page to try again.")
    scripts = Scripts(component(name).path, failed, PLOTLY.path, ReaderLanguage(name, shown.tag, shown.direction))
    _mount(key=key, data=[data | sent(scripts)], **callbacks)


def _change(name: str, known: Session) -> None:
    """What a reader did on a figure changes the view."""
    event = (st.session_state.get(KEY) or {}).get(name)  # no state if the view was removed before its event arrived
    if not isinstance(event, Mapping):
        return
    if type(event.get("turn")) is int:
        known.turn = max(event["turn"], known.turn)  # several may arrive at once
    note_message(known)
    changes_controls = name in ("edit", "scale", "toggle")  # of x, of gamma and beta, of the layer
    change(known, {**event, "name": name}, by=CONTROL if changes_controls or name == "present" else FIGURE)
    if changes_controls:
        redraw(known)
    if name == "present":  # the controls and the heading go, or come back
        st.rerun()


# Controls send the other events. All sessions share the callbacks.
CALLBACKS = {f"on_{name}_change": at_link(partial(_change, name)) for name in EVENTS if name not in ("input", "reset")}
