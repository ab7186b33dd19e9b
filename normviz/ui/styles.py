"""The few styles of our own."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import streamlit as st

from normviz.figures import THEMES

GROUND = f".stApp {{ --normviz-ground: light-dark({THEMES['light'].background}, {THEMES['dark'].background}); }}\n"


def styles() -> None:
    """The few rules that the theme's settings cannot say."""
    st.html(f"<style>{GROUND}{_css('app')}{_css('embed') if st.context.is_embedded else ''}</style>")


@cache
def _css(name: str) -> str:
    return (files(__package__) / f"{name}.css").read_text(encoding="utf-8")
