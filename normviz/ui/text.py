"""Text on a page: messages, and the few styles of our own."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import streamlit as st

from normviz.figures import THEMES

if TYPE_CHECKING:
    from normviz.view import View

GROUND = f".stApp {{ --normviz-ground: light-dark({THEMES['light'].background}, {THEMES['dark'].background}); }}\n"


def styles() -> None:
    """The few rules that the theme's settings cannot say."""
    st.html(f"<style>{GROUND}{_css('app')}{_css('embed') if st.context.is_embedded else ''}</style>")


@cache
def _css(name: str) -> str:
    return (files(__package__) / f"{name}.css").read_text(encoding="utf-8")


def literal(text: str) -> str:
    """The text as Markdown that shows it as it is: a message may quote what a link says."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def problem(text: str | None) -> None:
    """What was wrong with the wish, if anything."""
    if text:
        st.warning(literal(text), icon=":material/error:")


def notices(view: View) -> None:
    """What is legal but seldom meant."""
    if view.frame.hides("notes") or view.frame.hides("text"):
        return
    for note in view.scene.sharing.notes:
        st.info(literal(note), icon=":material/info:")
