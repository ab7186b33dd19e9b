"""The page list around every page."""

import streamlit as st

from normviz.figures.brand import FAVICON, wordmark
from normviz.lessons.pages import PAGES
from normviz.ui.paths import PAGE_SCRIPTS
from normviz.ui.state import enter


def show() -> None:
    """Run the page that the address names."""
    st.set_page_config(
        page_title="normviz",
        page_icon=FAVICON,
        layout="wide",
        menu_items={
            "About": "**normviz** shows which elements of a tensor share a mean, a variance, a gamma and a beta."
        },
    )
    embedded = st.context.is_embedded  # the figures alone, for a slide or a course page
    if not embedded:
        st.logo(wordmark(), size="medium")
    titles = {name: page.title for name, page in PAGES.items()} | {"questions": "Questions"}
    page = st.navigation(
        [
            st.Page(PAGE_SCRIPTS / f"{name}.py", title=title, default=name == "explore")
            for name, title in titles.items()
        ],
        position="hidden" if embedded else "top",
    )
    enter(page.url_path)
    page.run()
    _come_back()


@st.fragment(run_every=86_400)
def _come_back() -> None:
    """Nothing. But only where something runs by the clock does Streamlit's front end run the script when its server was lost and
    another has answered; otherwise the reader's next click would be the first that the new server hears, and it would not know of what.
    """
