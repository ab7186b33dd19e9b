"""The view of a session: read from the URL, changed by callbacks, written back to the URL.

If a callback has run, the session's view takes precedence; otherwise the URL does. Thus two quick changes over a slow connection both
take effect, and Back and edited addresses work. All pages share one scene; each page has settings of its own. The view is stored together with
the page of its settings, because a run can end at any access to the session's state. If they were stored separately, one could still belong to
the previous page.
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
from normviz.scene.setting import read_settings
from normviz.scene.view import Display, View
from normviz.ui.logs import PAGE, log_refusal

VIEW, CHANGED = "normviz.view", "normviz.changed"  # VIEW: the page of the settings, or None, and the view
# What changed the view: a control redraws the page, the figure only itself; ENTERED: a page that keeps the scene of the previous page.
CONTROL, FIGURE, ENTERED = "control", "figure", "entered"
SENT, MOST_SENT = "normviz.controls", 200  # the last value sent to each widget
ARRIVED = "normviz.arrived"  # the values of the widgets in the last two different messages of the browser
LABELS = "normviz.labels"  # the last labels sent to a widget whose labels depend on the view
MISSING = object()  # Streamlit looks for a key twice in ``key in st.session_state and st.session_state[key]``
ADDRESS, ADDRESS_VIEW = "normviz.address", "normviz.address_view"  # the query last read or written, and its view


def current(page: Page) -> View:
    """The view of this run; writes the URL if a callback changed the view."""
    if is_changed():
        return _write_changes(page)
    view = _read_address(page)
    log_refusal(view.problem)
    return view


def _read_address(page: Page) -> View:
    """The view of the address. If the address has not changed, its view stays: it holds a layer that returns with another tensor."""
    query = st.query_params.to_dict()
    view: View | None = st.session_state.get(ADDRESS_VIEW)
    if view is None or query != st.session_state.get(ADDRESS) or st.session_state[VIEW][0] is not page:
        view = view_of_link(page, query)
    st.session_state[ADDRESS], st.session_state[ADDRESS_VIEW] = query, view
    st.session_state[VIEW] = page, view
    return view


def latest(page: Page) -> View:
    """The view for a fragment. A run of the page uses the view of ``current``; a run of only the fragment uses the view that a callback made.

    It never reads the scene from the URL.
    """
    return _write_changes(page) if is_changed() else current_view(page)


def is_changed(by: str | None = None) -> bool:
    """True if a callback has changed the view and no fragment has drawn it yet. With ``by``: only if that source changed it."""
    changed = st.session_state.get(CHANGED)
    return changed is not None and by in (None, changed)


def current_view(page: Page) -> View:
    """The session's view with the settings of this page. A change is not written to the URL here; the page does that."""
    view: View
    settings_of, view = st.session_state[VIEW]
    if settings_of is page:
        return view
    return replace(view, settings=read_settings(page.settings, st.query_params.to_dict())[0])


def _write_changes(page: Page) -> View:
    """The view that a callback made, with the settings of this page; writes it to the URL."""
    view = current_view(page)
    # Compare with the last address written: the browser's own address may be older.
    if view != st.session_state.get(ADDRESS_VIEW) and (query := page.query(view)) != st.session_state[ADDRESS]:
        # In this order: another change may end the run at the first line, before the browser has received the address.
        st.query_params.from_dict(query)
        st.session_state[ADDRESS] = query
    st.session_state[ADDRESS_VIEW] = view.without_problem()
    st.session_state[VIEW] = page, view
    del st.session_state[CHANGED]  # deleted after the write, because another change may end the run there
    log_refusal(view.problem)
    return view


def enter(page: str, untouched: Sequence[Scene] = ()) -> None:
    """Set the page that runs. The settings of the previous page are dropped; a page that is entered without a query keeps its scene.

    Another message may end the run at any access to the session's state. PAGE comes last, so that the next run enters the page again.

    untouched  scenes with which pages open: the reader has not chosen them, so the page opens with its own
    """
    before, query = st.session_state.get(PAGE), st.query_params.to_dict()
    if (before != page or query) and st.session_state.get(CHANGED) == ENTERED:
        del st.session_state[CHANGED]  # the reader left that page, or went to another address, before it was drawn
    if before not in (None, page) and VIEW in st.session_state:
        view = st.session_state[VIEW][1]
        st.session_state[VIEW] = None, view
        st.session_state[ADDRESS], st.session_state[ADDRESS_VIEW] = query, None
        if not query and view.scene not in untouched:
            display = Display(like=view.display.like, lang=view.display.lang)
            st.session_state[VIEW] = None, replace(view.without_problem(), display=display)
            _mark_changed(ENTERED)
    st.session_state[PAGE] = page


def come_back(name: str, page: Page) -> None:
    """Call in a callback at the address of this page: the reader may have left it and come back, before the page in between was drawn.

    The view is then read from the address again.
    """
    if st.session_state.get(PAGE) in (None, name):
        return
    st.session_state.pop(CHANGED, None)
    _read_address(page)
    st.session_state[PAGE] = name  # set last, as in ``enter``


def _mark_changed(by: str) -> None:
    st.session_state[CHANGED] = by if st.session_state.get(CHANGED, by) == by else CONTROL


def change(event: Event, page: Page | None = None, by: str = CONTROL, only_changes: bool = False) -> None:
    """Call in a callback: the view becomes the one after the event.

    page          of the control whose callback this is: the session may be on its way to another page, which has other settings
    only_changes  ignore an event without effect
    """
    settings_of, view = (page, current_view(page)) if page else st.session_state[VIEW]
    changed = after(settings_of or PAGES[st.session_state[PAGE] or HOME], view, event)
    is_same = changed.without_problem() == view.without_problem()
    if only_changes and is_same and not changed.problem and not view.refused:
        return
    st.session_state[VIEW] = settings_of, changed
    _mark_changed(by)


def sync_widget(key: str, value: Any) -> str:
    """Set the widget's value before it is created; returns the key.

    A widget that already has the value is not set again: that would undo an edit that has not reached the server yet.
    """
    if st.session_state.get(key, MISSING) != value:
        st.session_state[key] = value
    remember_sent({key: value})
    return key


def remember_sent(values: Mapping[str, Any]) -> None:
    """The widgets with these keys show these values."""
    sent = st.session_state.setdefault(SENT, {})
    if len(sent) >= MOST_SENT:
        sent.clear()
    sent.update(values)


def sync_labels(key: str, labels: Sequence[str], value: Any) -> None:
    """Set the value again if its labels have changed: the browser holds the label of the chosen option."""
    sent = st.session_state.setdefault(LABELS, {})
    if sent.get(key) != labels:
        st.session_state[key] = value
    sent[key] = labels


def note_message() -> None:
    """Call first in a callback: remember the values of all widgets in this message of the browser, and in the one before."""
    found = {key: st.session_state.get(key, MISSING) for key in st.session_state.get(SENT, {})}
    values = {key: value for key, value in found.items() if value is not MISSING}
    now = st.session_state.get(ARRIVED, ({}, {}))[1]
    if values != now:  # another callback of the same message has not noted it
        st.session_state[ARRIVED] = now, values


def is_late(key: str) -> bool:
    """Whether this message reports an old value of the widget, because the browser does not have the server's new one yet.

    A message has the values of all widgets, so Streamlit takes the old value for a choice of the reader, who has changed another widget.
    """
    sent, (before, values) = st.session_state.get(SENT, {}), st.session_state[ARRIVED]

    def is_chosen(other: str) -> bool:
        return values[other] not in (sent[other], before.get(other, sent[other]))

    return key in values and values[key] == before.get(key) and any(map(is_chosen, values))


def widget_value(key: str) -> Any:
    """The widget's value; the last one sent to it if its state is gone."""
    return st.session_state.get(key, st.session_state.get(SENT, {}).get(key))
