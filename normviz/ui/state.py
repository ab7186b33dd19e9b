"""One scene a session: read from the URL, changed by callbacks, written back to the URL.

Where the URL and the widgets differ: if a callback ran, the session's scene holds; otherwise the URL does. So two quick changes over a
slow line both arrive, and Back and edited addresses work. The scene goes along from page to page; each page has settings of its own
beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from normviz.scene.query import Reading
from normviz.scene.scene import Scene
from normviz.scene.settings import Field
from normviz.scene.view import View, read_view
from normviz.scene.visibility import Frame
from normviz.ui.logs import log_refusal

VIEW, CHANGED, PAGE = "normviz.scene.view", "normviz.changed", "normviz.page"
CONTROL, FIGURE = "control", "figure"  # what changed the view: then the whole page follows, or the figure alone
TOLD, MOST_TOLD = "normviz.controls", 200  # what each control was given to show
ADDRESS = "normviz.address"  # read or written last
OFFERED = "normviz.offered"  # the names of this run's controls


def current(fields: Sequence[Field] = ()) -> View:
    """The view of this run; writes the URL where a callback changed it."""
    st.session_state[OFFERED] = []
    if st.session_state.get(CHANGED):
        return _settled(fields)
    st.session_state[ADDRESS] = st.query_params.to_dict()
    view = st.session_state[VIEW] = read_view(st.session_state[ADDRESS], fields)
    log_refusal(view.problem)
    return view


def latest(fields: Sequence[Field] = ()) -> View:
    """The view of a fragment: after ``current`` the same; alone, what its own callback made. It never takes the browser's address.

    The browser may send what a control says along with a click on the figure, as the figure's alone: then the whole page runs.
    """
    if st.session_state.get(CHANGED) == CONTROL:
        st.rerun()
    if st.session_state.get(CHANGED):
        return _settled(fields)
    view: View = st.session_state[VIEW]
    return view


def held_scene() -> Scene:
    """The scene as it is; what a callback changed stays to be written by the page."""
    view: View = st.session_state[VIEW]
    return view.scene


def _settled(fields: Sequence[Field]) -> View:
    """What a callback made, with the settings of this page."""
    view: View = st.session_state[VIEW]
    usual = {field.name: field.usual for field in fields}
    view = replace(view, settings={name: view.settings.get(name, value) for name, value in usual.items()})
    # Not the browser's own address: what was written last may still be on its way there.
    if view != read_view(st.session_state[ADDRESS], fields):
        _write(view.query(fields))
    st.session_state[VIEW] = view
    del st.session_state[CHANGED]  # not before it is written: another change may end the run there
    log_refusal(view.problem)
    return view


def _write(query: dict[str, str]) -> None:
    if st.session_state[ADDRESS] != query:
        # In this order: another change may end the run at the first line, and then the browser has not heard of the address.
        st.query_params.from_dict(query)
        st.session_state[ADDRESS] = query


def enter(page: str) -> None:
    """Say which page runs. The scene comes along to a page that is entered without a query of its own."""
    before = st.session_state.get(PAGE)
    st.session_state[PAGE] = page
    if before not in (None, page) and not st.query_params.to_dict() and VIEW in st.session_state:
        st.session_state[VIEW] = replace(st.session_state[VIEW], settings={}, problem=None, frame=Frame())
        st.session_state[ADDRESS] = {}
        _changed(CONTROL)


def _changed(by: str) -> None:
    st.session_state[CHANGED] = by if st.session_state.get(CHANGED, by) == by else CONTROL


def answered() -> None:
    """Call in a fragment that shows no view: a change that was sent along with its own runs the whole page."""
    if st.session_state.get(CHANGED):
        st.rerun()


def change(to: Callable[..., Reading], *arguments: Any, by: str = CONTROL, **named: Any) -> None:
    """Call in a callback: the scene becomes ``to(scene, ...)``."""
    view: View = st.session_state[VIEW]
    reading = to(view.scene, *arguments, **named)
    st.session_state[VIEW] = replace(view, scene=reading.scene, problem=reading.problem)
    _changed(by)


def change_settings(problem: str | None = None, by: str = CONTROL, **values: Any) -> None:
    """Call in a callback: these settings of the page take these values; ``problem`` says what could not be."""
    view: View = st.session_state[VIEW]
    st.session_state[VIEW] = replace(view, settings={**view.settings, **values}, problem=problem)
    _changed(by)


def reset() -> None:
    """Call in a callback: the view becomes the usual one; what is hidden stays hidden."""
    st.session_state[VIEW] = replace(read_view({}), frame=st.session_state[VIEW].frame)
    _changed(CONTROL)


def shown(*names: str) -> bool:
    """Call before a control is made: does the link leave any of these names?"""
    view: View = st.session_state[VIEW]
    st.session_state[OFFERED] += [name for name in names if name not in st.session_state[OFFERED]]
    return not all(view.frame.hides(name) for name in names)


def offered() -> tuple[str, ...]:
    """The names of this run's controls, hidden ones too."""
    return tuple(st.session_state[OFFERED])


def controlled(key: str, value: Any) -> str:
    """Give the widget ``key`` the scene's value before it is made; returns the key.

    Where it has the value it is not told again: that would undo what the reader does meanwhile. So give the widget the same value as
    its default too: a browser that draws it anew starts from there, and would take any other for the reader's choice.
    """
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
    told = st.session_state.setdefault(TOLD, {})
    if len(told) >= MOST_TOLD:
        told.clear()
    told[key] = value
    return key


def value_of(key: str) -> Any:
    """What the reader chose in the widget ``key``; what it showed, where the widget went away before its word came."""
    return st.session_state[key] if key in st.session_state else st.session_state.get(TOLD, {}).get(key)
