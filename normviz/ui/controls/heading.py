"""The heading of a page: its title, and in one line what the page shows."""

import streamlit as st

from normviz.lessons.pages import PAGES
from normviz.scene.view import View
from normviz.scene.visibility import Display

HEADING, HIDDEN_HEADING = "heading", "hidden_heading"  # keys in the page's styles


def draw_heading(page: str, view: View) -> None:
    """The heading; only screen readers find it in an embedded view or one with hidden parts."""
    is_shown = view.display == Display() and not st.context.is_embedded
    with st.container(key=HEADING if is_shown else HIDDEN_HEADING):
        st.title(f"{PAGES[page].title} :small[{PAGES[page].purpose}]", anchor=False)
