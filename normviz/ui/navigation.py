"""The navigation around every page."""

from functools import cache

import streamlit as st

from normviz.figures.brand import FAVICON, wordmark
from normviz.lessons.pages import PAGES
from normviz.lessons.parts.links import HOME
from normviz.scene.scene import Scene
from normviz.texts.messages import _
from normviz.ui import PAGE_SCRIPTS
from normviz.ui.controls import begin_run
from normviz.ui.language import localized
from normviz.ui.state import enter


@localized
def show() -> None:
    """Run the page of the address."""
    st.set_page_config(
        page_title="normviz",
        page_icon=FAVICON,
        layout="wide",
        menu_items={
            "About": _("**normviz** shows which elements of a tensor share a mean, a variance, a gamma and a beta.")
        },
    )
    embedded = st.context.is_embedded  # the app is in a slide or in a course page
    if not embedded:
        st.logo(wordmark(), size="medium")
    page = st.navigation(
        [st.Page(PAGE_SCRIPTS / f"{name}.py", title=page.title, default=name == HOME) for name, page in PAGES.items()],
        position="hidden" if embedded else "top",
    )
    st.set_page_config(page_title=f"{page.title} · normviz")
    begin_run()
    enter(page.url_path, _opening_scenes())
    page.run()
    _keep_alive()


@cache
def _opening_scenes() -> list[Scene]:
    """The scenes with which the pages open."""
    return [page.view({}).scene for page in PAGES.values()]


@st.fragment(run_every=86_400)
def _keep_alive() -> None:
    """Keep-alive: Streamlit runs the script again on another server after a failover only if a ``run_every`` fragment exists.

    Otherwise the first message to the new server would be the reader's next click, on a page that this server has never run.
    """
