"""The view of a session: read from the URL, changed by callbacks, written back to the URL.

If a callback has run, the session's view takes precedence; otherwise the URL does. Thus two quick changes over a slow connection both
take effect, and Back and edited addresses work. All pages share one scene; each page has settings of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from normviz.lessons.events import Event, after
from normviz.lessons.page import Page
from normviz.lessons.pages import PAGES, view_of_link
from normviz.parts.titles import HOME
from normviz.scene.scene import Scene
from normviz.scene.view import Display, View
from normviz.ui.logs import log_refusal
from normviz.ui.session import Session, session

# What changed the view: a control redraws the page, the figure only itself; ENTERED: a page that keeps the scene of the previous page.
CONTROL, FIGURE, ENTERED = "control", "figure", "entered"
MOST_SENT = 200
MISSING = object()  # Streamlit looks for a key twice in ``key in st.session_state and st.session_state[key]``


def current(known: Session, page: Page) -> View:
    """The view of this run; writes the URL if a callback changed the view."""
    if known.changed:
        return _write_changes(known, page)
    view = _read_address(known, page)
    _note_problem(known, view)
    return view


def _note_problem(known: Session, view: View) -> None:
    if view.problem != known.refused:
        log_refusal(known, view.problem)


def _read_address(known: Session, page: Page) -> View:
    """The view of the address. If the address has not changed, its view stays: it holds a layer that returns with another tensor."""
    query = st.query_params.to_dict()
    view = known.address_view
    if view is None or query != known.address or known.viewed is None or known.viewed[0] is not page:
        view = view_of_link(page, query)
        session()  # the run may end here
    known.address, known.address_view, known.viewed = query, view, (page, view)
    return view


def latest(known: Session, page: Page) -> View:
    """The view for a fragment. A run of the page uses the view of ``current``; a run of only the fragment uses the view that a callback made.

    It never reads the scene from the URL.
    """
    return _write_changes(known, page) if known.changed else current_view(known, page)


def current_view(known: Session, page: Page) -> View:
    """The session's view with the settings of this page. A change is not written to the URL here; the page does that."""
    settings_of, view = _viewed(known)
    if settings_of is page:
        return view
    return replace(view, settings=page.own_settings(st.query_params.to_dict()))


def _viewed(known: Session) -> tuple[Page | None, View]:
    assert known.viewed is not None, "the session has no view before its first run"
    return known.viewed


def _write_changes(known: Session, page: Page) -> View:
    """The view that a callback made, with the settings of this page; writes it to the URL."""
    view = current_view(known, page)
    # Compare with the last address written: the browser's own address may be older.
    if view != known.address_view and (query := page.query(view)) != known.address:
        # In this order: another change may end the run at the first line, before the browser has received the address.
        st.query_params.from_dict(query)
        known.address = query
    known.address_view, known.viewed = view.without_problem(), (page, view)
    known.changed = None  # after the write, because another change may end the run there
    _note_problem(known, view)
    return view


def enter(known: Session, name: str, untouched: Sequence[Scene] = ()) -> None:
    """Set the page that runs. The settings of the previous page are dropped; a page that is entered without a query keeps its scene.

    untouched  scenes with which pages open: the reader has not chosen them, so the page opens with its own
    """
    query = st.query_params.to_dict()
    if (known.name != name or query) and known.changed == ENTERED:
        known.changed = None  # the reader left that page, or went to another address, before it was drawn
    if known.name not in (None, name) and known.viewed:
        view = known.viewed[1]
        known.viewed, known.address, known.address_view = (None, view), query, None
        if not query and view.scene not in untouched:
            display = Display(like=view.display.like, lang=view.display.lang)
            known.viewed = None, replace(view.without_problem(), display=display)
            _mark_changed(known, ENTERED)
    known.name = name


def come_back(known: Session, name: str | None, page: Page) -> None:
    """Call in a callback at the address of this page: the reader may have left it and come back, before the page in between was drawn.

    The view is then read from the address again.
    """
    if known.name in (None, name):
        return
    known.changed = None
    _read_address(known, page)
    known.name = name


def _mark_changed(known: Session, by: str) -> None:
    known.changed = by if known.changed in (None, by) else CONTROL


def change(
    known: Session, event: Event, page: Page | None = None, by: str = CONTROL, only_changes: bool = False
) -> None:
    """Call in a callback: the view becomes the one after the event.

    page          of the control whose callback this is: the session may be on its way to another page, which has other settings
    only_changes  ignore an event without effect
    """
    settings_of, view = (page, current_view(known, page)) if page else _viewed(known)
    changed = after(settings_of or PAGES[known.name or HOME], view, event)
    is_same = changed.without_problem() == view.without_problem()
    if only_changes and is_same and not changed.problem and not view.refused:
        return
    session()  # the run may end here
    known.viewed = settings_of, changed
    _mark_changed(known, by)


def sync_widget(known: Session, key: str, value: object) -> str:
    """Set the widget's value before it is created; returns the key.

    A widget that already has the value is not set again: that would undo an edit that has not reached the server yet.
    """
    if st.session_state.get(key, MISSING) != value:
        st.session_state[key] = value
    remember_sent(known, {key: value})
    return key


def remember_sent(known: Session, values: Mapping[str, object]) -> None:
    """The widgets with these keys show these values."""
    if len(known.sent) >= MOST_SENT:
        known.sent.clear()
    known.sent.update(values)


def sync_labels(known: Session, key: str, labels: Sequence[str], value: object) -> None:
    """Set the value again if its labels have changed: the browser holds the label of the chosen option."""
    if known.labels.get(key) != labels:
        st.session_state[key] = value
    known.labels[key] = labels


def note_message(known: Session) -> None:
    """Call first in a callback: remember the values of all widgets in this message of the browser, and in the one before."""
    found = {key: st.session_state.get(key, MISSING) for key in list(known.sent)}
    values = {key: value for key, value in found.items() if value is not MISSING}
    if values != known.arrived[1]:  # another callback of the same message has not noted it
        known.arrived = known.arrived[1], values


def is_late(known: Session, key: str) -> bool:
    """Whether this message reports an old value of the widget, because the browser does not have the server's new one yet.

    A message has the values of all widgets, so Streamlit takes the old value for a choice of the reader, who has changed another widget.
    """
    sent, (before, values) = known.sent, known.arrived

    def is_chosen(other: str) -> bool:
        return values[other] not in (sent[other], before.get(other, sent[other]))

    return key in values and values[key] == before.get(key) and any(map(is_chosen, values))


def widget_value(known: Session, key: str) -> Any:
    """The widget's value; the last one sent to it if its state is gone."""
    return st.session_state.get(key, known.sent.get(key))
