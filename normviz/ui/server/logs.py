"""What the server writes about errors: one line each, with the view that it happened on, and nothing about who asked.

A wish that cannot be met is the reader's to change: INFO, the words that the reader saw. What nobody expected is ours to mend:
ERROR, with our own lines that it went through, innermost first. The view is a link that brings it back. The whole traceback is
written where Streamlit's ``logger.level`` is ``debug``.
"""

from __future__ import annotations

import logging
import traceback
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from normviz.layers.errors import NormvizError
from normviz.ui.server.imports import loaded
from normviz.ui.text import literal

LOGGER = logging.getLogger("normviz")
ROOT = Path(__file__).resolve().parents[2]
LONGEST = 600  # characters of a message, or of a query
DEEPEST = 6  # of our own lines
PAGE, TOLD = "normviz.page", "normviz.told"
STREAMLIT_S = "streamlit.error_util"  # which would write a traceback for every one


class Sorry(Exception):  # noqa: N818 - the reader reads its name
    """What the reader sees in place of a view that failed."""


def start() -> None:
    """Write to standard error; and keep Streamlit from writing every traceback."""
    level = str(st.get_option("logger.level")).upper()
    LOGGER.setLevel(level)
    if not LOGGER.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s normviz: %(message)s"))
        LOGGER.addHandler(handler)
        LOGGER.propagate = False
    logging.getLogger(STREAMLIT_S).addFilter(_keep)


def _keep(record: logging.LogRecord) -> bool:
    return record.msg != "Uncaught app execution" or LOGGER.isEnabledFor(logging.DEBUG)


def refused(problem: str | None) -> None:
    """Write that a wish could not be met: once, however often the script runs."""
    if problem and st.session_state.get(TOLD) != problem:
        LOGGER.info("refused: %s [%s]", _line(problem), view())
    st.session_state[TOLD] = problem


def failed(error: Exception) -> bool:
    """Streamlit's ``on_script_error``: write one line, and tell the reader without a traceback."""
    if isinstance(error, NormvizError):
        refused(str(error))
        st.warning(literal(str(error)))
        return True
    LOGGER.error("%s: %s (%s) [%s]", type(error).__name__, _line(str(error)), _places(error), view())
    st.exception(
        Sorry(
            "this view could not be made, and that is our fault. It has been noted. "
            "Go back, or choose another page; the address still says what you wanted to see."
        )
    )
    return True


def view() -> str:
    """The page and the query of the view, without names that are not ours."""
    pages = loaded("normviz.lessons.pages").PAGES.values()
    names = {*loaded("normviz.scene.query").READERS, "q", *(field.name for page in pages for field in page.fields)}
    given = {name: value for name, value in st.query_params.to_dict().items() if name in names}
    query = urlencode(given, safe=",()[];:'>")[:LONGEST]
    return f"/{st.session_state.get(PAGE) or ''}" + (f"?{query}" if query else "")


def _line(text: str) -> str:
    return " ".join(text.split())[:LONGEST]


def _places(error: Exception) -> str:
    """Our own lines that it went through, innermost first."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(ROOT) and ".venv" not in frame.filename]
    places = [f"{Path(frame.filename).relative_to(ROOT)}:{frame.lineno}" for frame in reversed(ours)]
    return " < ".join(places[:DEEPEST]) or "no line of ours"
