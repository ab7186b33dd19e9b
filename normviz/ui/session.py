"""What the server remembers about a reader, and the language in which a page is shown.

It is one value of Streamlit's session state. A run can end wherever the state is asked for, because the reader has left or asked for another
page, and the next run may have begun by then. What takes long is therefore computed first, and the session is asked for again to be changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import streamlit as st

from normviz.texts.languages import matching_language
from normviz.texts.messages import in_language
from normviz.ui.request import COOKIE, language_of

if TYPE_CHECKING:  # the server listens before these are imported
    from normviz.lessons.page import InputRow, Page
    from normviz.scene.view import View

P = ParamSpec("P")
R = TypeVar("R")
SESSION = "normviz"  # in Streamlit's session state


@dataclass(frozen=True, slots=True)
class Drawn:
    """The controls that the browser shows.

    page    their page
    script  Streamlit's name for it
    frame   the keys of the rows, and what each row contains, as text
    looks   for each fragment of controls, a hash of everything that the server has sent about them, except their values;
            no entry if the browser may still show old ones
    """

    page: Page
    script: str
    frame: str
    looks: dict[str, int]


@dataclass(slots=True)
class Session:
    """A tab of a reader's browser.

    name          of the page that runs, in its address; None before the first run
    viewed        the view that the reader sees or has asked for, and the page of its settings; no page if the reader has left it
    changed       what changed the view after it was drawn: a control, the figure, or the page that was entered
    address       the query that was read or written last
    address_view  the view of that query
    sent          the last value that was sent to each control
    labels        the last labels that were sent to a control whose labels depend on the view
    arrived       the values of the controls in the last two different messages of the browser
    drawn         the controls that the browser shows; None while a page is being drawn
    rows          of controls of a page and a view, until they have been drawn
    turn          the number of the last event of the figures
    refused       the last reason that was logged why a link or a change was refused
    language      None before the first run
    """

    name: str | None = None
    viewed: tuple[Page | None, View] | None = None
    changed: str | None = None
    address: dict[str, str] = field(default_factory=dict)
    address_view: View | None = None
    sent: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, Sequence[str]] = field(default_factory=dict)
    arrived: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {})
    drawn: Drawn | None = None
    rows: tuple[Page, View, Sequence[InputRow]] | None = None
    turn: int = 0
    refused: str | None = None
    language: str | None = None


def session() -> Session:
    """The session of this run; ends the run here if the reader has left, or has asked for another page, meanwhile."""
    found: Session | None = st.session_state.get(SESSION)
    if found is None:
        found = st.session_state[SESSION] = Session()
    return found


# Streamlit runs the script, its fragments and its callbacks in a thread of the session, so each of them sets the language.


def in_session(function: Callable[Concatenate[Session, P], R]) -> Callable[P, R]:
    """The function, which gets the session as its first argument, in the session's language. For fragments."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        known = session()
        with in_language(known.language or _language(known)):
            return function(known, *args, **kwargs)

    return run


def at_link(function: Callable[Concatenate[Session, P], R]) -> Callable[P, R]:
    """The same for the script and for callbacks. A link changes the language, also for the pages that the reader opens next."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        known = session()
        with in_language(_language(known)):
            return function(known, *args, **kwargs)

    return run


def _language(known: Session) -> str:
    """The language of the session, after this link."""
    named = matching_language(st.query_params.get("lang", ""))
    if named or known.language is None:
        accepted = st.context.headers.get("Accept-Language") or st.context.locale or ""
        known.language = language_of(named or "", st.context.cookies.get(COOKIE, ""), accepted)
    return known.language
