"""What the server logs about errors: one line each, with the view in which the error occurred, and nothing about the visitor.

An invalid link is the reader's to correct: level INFO, with the message that the reader saw. An unexpected exception is ours to fix: level
ERROR, with the lines of normviz in its traceback, innermost first. The logged view is a link that reproduces the error. The whole traceback
is logged if Streamlit's ``logger.level`` is ``debug``.
"""

import logging
import re
import traceback
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from normviz.texts.errors import NormvizError
from normviz.texts.messages import _, without_marks
from normviz.ui.session import Session, at_link

LOGGER = logging.getLogger("normviz")
MAX_LENGTH = 600  # characters of a message or a query
MAX_PLACES = 10  # lines of normviz in a traceback
PACKAGE = Path(__file__).resolve().parents[1]
STREAMLIT_LOGGER = "streamlit.error_util"  # logs a traceback for every exception


class ViewFailed(Exception):  # noqa: N818 - Streamlit shows the name to the reader
    """Shown to the reader in place of a view that raised an exception."""


def start() -> None:
    """Log to standard error, and suppress Streamlit's tracebacks."""
    level = str(st.get_option("logger.level")).upper()
    LOGGER.setLevel(level)
    if not LOGGER.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s normviz: %(message)s"))
        LOGGER.addHandler(handler)
        LOGGER.propagate = False
    logging.getLogger(STREAMLIT_LOGGER).addFilter(_is_wanted)


def _is_wanted(record: logging.LogRecord) -> bool:
    return record.msg != "Uncaught app execution" or LOGGER.isEnabledFor(logging.DEBUG)


def log_refusal(known: Session, problem: str | None) -> None:
    """Log why a link or a change was refused: once, however often the script runs."""
    if problem and known.refused != problem:
        LOGGER.info("refused: %s [%s]", _one_line(without_marks(problem)), view_link(known))
    known.refused = problem


@at_link
def on_script_error(known: Session, error: Exception) -> bool:
    """Streamlit's ``on_script_error``: log one line, and show the reader a message without a traceback."""
    if isinstance(error, NormvizError):
        log_refusal(known, str(error))
        # Its punctuation is escaped for Markdown, because a message may quote a link.
        st.warning(re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", str(error)))
        return True
    LOGGER.error("%s: %s (%s) [%s]", type(error).__name__, _one_line(str(error)), _own_places(error), view_link(known))
    text = _(
        "an error in normviz prevented this view. It has been logged. "
        "Go back or choose another page; the address still describes the view that you asked for."
    )
    st.exception(ViewFailed(text))
    return True


def log_request_error(error: Exception, path: str) -> None:
    """Log why a request other than a run of a page failed."""
    LOGGER.error(
        "%s: %s (%s) [%s]", type(error).__name__, _one_line(str(error)), _own_places(error), _one_line(repr(path))
    )


def view_link(known: Session) -> str:
    """The page and the query of the view, without parameters that are not normviz's."""
    from normviz.lessons.pages import setting_names

    names = setting_names()
    settings = {name: value for name, value in st.query_params.to_dict().items() if name in names}
    query = urlencode(settings, safe=",()[];:'>")[:MAX_LENGTH]
    return f"/{known.name or ''}" + (f"?{query}" if query else "")


def _one_line(text: str) -> str:
    return " ".join(text.split())[:MAX_LENGTH]


def _own_places(error: Exception) -> str:
    """The lines of normviz in the traceback, innermost first."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE)]
    places = [f"{Path(frame.filename).relative_to(PACKAGE.parent)}:{frame.lineno}" for frame in reversed(own)]
    return " < ".join(places[:MAX_PLACES]) or "no line of normviz"
