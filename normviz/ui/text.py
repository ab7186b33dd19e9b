"""Text on a page: messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from normviz.scene.view import View


def literal(text: str) -> str:
    """The text as Markdown that shows it as it is: a message may quote what a link says."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def problem(text: str | None) -> None:
    """What was wrong with the wish, if anything."""
    if text:
        st.warning(literal(text), icon=":material/error:")


def notices(view: View) -> None:
    """What is legal but seldom meant."""
    if view.display.hides("notes") or view.display.hides("text"):
        return
    for note in view.scene.sharing.notes:
        st.info(literal(note), icon=":material/info:")
