"""What the server logs about errors: one line each, with the view in which the error occurred, and nothing about the visitor.

An invalid link or value is the visitor's to correct: level INFO, with the message that the visitor saw. An unexpected exception is ours to fix:
level ERROR, with the lines of normviz in its traceback, innermost first. The logged view is a link that reproduces the error. What Streamlit and
uvicorn log is one line each, too, and only a few lines of one kind are logged in a minute. The whole traceback is logged if Streamlit's
``logger.level`` is ``debug``.
"""

import logging
import re
import traceback
from collections.abc import Callable, Hashable
from pathlib import Path
from time import monotonic
from urllib.parse import urlencode

import streamlit as st

from normviz.texts.errors import NormvizError
from normviz.texts.messages import _, without_marks
from normviz.ui.session import Session, at_link

LOGGER = logging.getLogger("normviz")
MAX_LENGTH = 600  # characters of a message or a query
MAX_PLACES = 10  # lines of normviz in a traceback
PACKAGE = Path(__file__).resolve().parents[1]
SERVER = ("streamlit", "uvicorn", "websockets", "asyncio")  # whose loggers write to the same log
UNCAUGHT = "Uncaught app execution"  # what Streamlit logs for every exception of a page
MOST_LINES, MINUTE = 10, 60.0  # lines of one kind in s


class ViewFailed(Exception):  # noqa: N818 - Streamlit shows the name to the reader
    """Shown to the reader in place of a view that raised an exception."""


def start() -> None:
    """Log to standard error, and make one line of what Streamlit and the server log."""
    level = str(st.get_option("logger.level")).upper()
    LOGGER.setLevel(level)
    if LOGGER.handlers:
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s normviz: %(message)s"))
    LOGGER.addHandler(handler)
    LOGGER.propagate = False
    if LOGGER.isEnabledFor(logging.DEBUG):
        return
    others = [logging.getLogger(name) for name in logging.root.manager.loggerDict if name.split(".")[0] in SERVER]
    few_lines = FewLines()
    for each in (handler, *others):
        each.addFilter(few_lines)


class FewLines:
    """Filter of a log: each record is one printable line without a traceback, and MOST_LINES of one kind pass in a minute.

    A record's kind is its place in the code, and the kind of its exception: no visitor can make many kinds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self.seen: dict[Hashable, tuple[float, int]] = {}  # the start of a minute, and the number of lines since then

    def __call__(self, record: logging.LogRecord) -> bool:
        if record.msg == UNCAUGHT:  # an exception of a page, which is logged here already
            return False
        error = record.exc_info[1] if record.exc_info else None
        kind = record.pathname, record.lineno, getattr(record, "kind", type(error))
        begin, count = self.seen.get(kind, (self.clock(), 0))
        if self.clock() - begin >= MINUTE:
            begin, count = self.clock(), 0
        self.seen[kind] = begin, count + 1
        text = f"{record.getMessage()}: {type(error).__name__}: {error}" if error else record.getMessage()
        more = " (more lines of this kind are left out for a minute)" if count == MOST_LINES - 1 else ""
        record.msg, record.args, record.exc_info, record.stack_info = one_line(text) + more, (), None, None
        return count < MOST_LINES


def log_refusal(known: Session, problem: str | None) -> None:
    """Log why a link or a change was refused: once, however often the script runs."""
    if problem and known.refused != problem:
        LOGGER.info("refused: %s [%s]", one_line(without_marks(problem)), view_link(known))
    known.refused = problem


@at_link
def on_script_error(known: Session, error: Exception) -> bool:
    """Streamlit's ``on_script_error``: log one line, and show the reader a message without a traceback."""
    if isinstance(error, NormvizError):
        log_refusal(known, str(error))
        # Its punctuation is escaped for Markdown, because a message may quote a link.
        st.warning(re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", str(error)))
        return True
    if is_unreadable(error):
        problem = _("The server received a value that this page does not have. Reload the page.")
        log_refusal(known, f"{type(error).__name__}: {error}")
        st.warning(problem)
        return True
    _log(error, view_link(known))
    text = _(
        "an error in normviz prevented this view. It has been logged. "
        "Go back or choose another page; the address still describes the view that you asked for."
    )
    st.exception(ViewFailed(text))
    return True


def log_request_error(error: Exception, path: str) -> None:
    """Log why a request other than a run of a page failed."""
    _log(error, one_line(repr(path)))


def _log(error: Exception, where: str) -> None:
    kind = type(error).__name__
    LOGGER.error("%s: %s (%s) [%s]", kind, one_line(str(error)), _own_places(error), where, extra={"kind": kind})


def is_unreadable(error: Exception) -> bool:
    """Whether Streamlit could not read the value that a browser, or what pretends to be one, sent for a control."""
    return any(frame.name.startswith("deserialize") for frame in traceback.extract_tb(error.__traceback__))


def view_link(known: Session) -> str:
    """The page and the query of the view, without parameters that are not normviz's."""
    from normviz.lessons.pages import setting_names

    names = setting_names()
    settings = {name: value for name, value in st.query_params.to_dict().items() if name in names}
    query = urlencode(settings, safe=",()[];:'>")[:MAX_LENGTH]
    return f"/{known.name or ''}" + (f"?{query}" if query else "")


def one_line(text: str) -> str:
    r"""The text without what would begin another line, or colour it.

    >>> one_line("refused:\n\x1b[31mred")
    'refused: \\x1b[31mred'
    """
    short = " ".join(text[: 2 * MAX_LENGTH].split())[:MAX_LENGTH]
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in short)


def _own_places(error: Exception) -> str:
    """The lines of normviz in the traceback, innermost first."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE)]
    places = [f"{Path(frame.filename).relative_to(PACKAGE.parent)}:{frame.lineno}" for frame in reversed(own)]
    return " < ".join(places[:MAX_PLACES]) or "no line of normviz"
