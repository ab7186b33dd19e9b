"""Messages above the figure, and text that Markdown must not interpret."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from normviz.scene.view import View


def literal(text: str) -> str:
    """The text with its punctuation escaped for Markdown, because a message may quote a link.

    >>> literal("a*b")
    'a\\\\*b'
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def show_problem(text: str | None) -> None:
    """Show the error in the link, if any."""
    if text:
        st.warning(literal(text), icon=":material/error:")


def show_notes(view: View) -> None:
    """Show the notes about a layer that is legal but rarely intended."""
    if view.display.hides("notes") or view.display.hides("text"):
        return
    for note in view.scene.sharing.notes:
        st.info(literal(note), icon=":material/info:")
