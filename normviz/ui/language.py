"""The language of a reader: the one that the link names, else the one chosen in the header, else the browser's.

It belongs to a session. Streamlit runs the script, its fragments and its callbacks in a thread of the session, so each of them sets it.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import streamlit as st

from normviz.texts.languages import accepted_language, matching_language
from normviz.texts.messages import in_language

P = ParamSpec("P")
R = TypeVar("R")
LANGUAGE = "normviz.language"
COOKIE = "normviz-language"  # what a reader chose in the header, until the browser is closed


def language_of(named: str, chosen: str, accepted: str) -> str:
    """The language of a reader.

    named     by the link
    chosen    in the header, as the cookie says
    accepted  by the browser: its Accept-Language header

    >>> language_of("", "", "en-US,en;q=0.9"), language_of("nonsense", "en", "")
    ('en', 'en')
    """
    return matching_language(named) or matching_language(chosen) or accepted_language(accepted)


def session_language() -> str:
    """The language of the session. A link changes it, also for the pages that the reader opens next."""
    named = matching_language(st.query_params.get("lang", ""))
    found: str | None = st.session_state.get(LANGUAGE)
    if named or found is None:
        accepted = st.context.headers.get("Accept-Language") or st.context.locale or ""
        found = st.session_state[LANGUAGE] = language_of(named or "", st.context.cookies.get(COOKIE, ""), accepted)
    return found


def localized(function: Callable[P, R]) -> Callable[P, R]:
    """The function, in the language of the session that calls it."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with in_language(session_language()):
            return function(*args, **kwargs)

    return run
