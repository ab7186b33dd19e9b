import logging
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from normviz.ui import logs
from tests.support.driver import open_explore, query
from tests.support.shown import problems


class LogLines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.all: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.all.append(self.format(record))


@pytest.fixture
def lines() -> Iterator[list[str]]:
    handler, level = LogLines(), logs.LOGGER.level
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logs.LOGGER.addHandler(handler)
    logs.LOGGER.setLevel(logging.INFO)
    yield handler.all
    logs.LOGGER.removeHandler(handler)
    logs.LOGGER.setLevel(level)


def test_a_refused_setting_writes_one_line_with_its_view(lines: list[str]) -> None:
    app = open_explore("shape=2,3,4,4&layer=GroupNorm(2,3)")
    (problem,) = problems(app)
    refusal = problem.removesuffix(" Shown instead: GroupNorm(1, 3) on (2, 3, 4, 4).")
    assert lines == [f"INFO refused: {refusal} [/explore?shape=2,3,4,4&layer=GroupNorm(2,3)]"]
    app.run()
    assert len(lines) == 1  # the script ran again with the same settings


def test_unknown_query_names_are_not_logged(lines: list[str]) -> None:
    open_explore("shape=0&email=ada@example.org&utm_id=7")
    assert len(lines) == 1
    assert lines[0].endswith("[/explore?shape=0]")


def test_the_logged_view_has_what_the_link_hides_its_caption_and_its_version(lines: list[str]) -> None:
    open_explore("shape=0&hide=layer,data&caption=Row 2&v=1")
    assert len(lines) == 1
    assert lines[0].endswith("[/explore?shape=0&hide=layer,data&caption=Row+2&v=1]")


def test_a_link_cannot_add_a_second_line(lines: list[str]) -> None:
    open_explore("shape=1\n2026-01-01 ERROR forged\r" + "x" * 5000)
    assert len(lines) == 1
    assert len(lines[0].splitlines()) == 1
    assert len(lines[0]) < 2 * logs.MAX_LENGTH + 100


def test_a_valid_view_writes_nothing(lines: list[str]) -> None:
    app = open_explore("shape=2,3&layer=LayerNorm(3)")
    assert query(app)
    assert lines == []


def raise_unexpected_error() -> None:
    import streamlit as st

    from normviz.code.programs import torch_call
    from normviz.ui.logs import on_script_error

    st.query_params.from_dict({"shape": "2,3", "name": "Ada"})
    try:
        torch_call(None)  # type: ignore[arg-type]
    except AttributeError as error:
        st.session_state["handled"] = on_script_error(error)


def test_an_unexpected_error_writes_one_line_with_its_location_and_shows_a_message(lines: list[str]) -> None:
    app = AppTest.from_function(raise_unexpected_error).run()
    assert len(lines) == 1
    assert lines[0].startswith("ERROR ")
    assert "AttributeError: 'NoneType' object has no attribute" in lines[0]
    assert "(normviz/code/programs.py:" in lines[0]
    assert lines[0].endswith("[/?shape=2,3]")
    assert app.session_state["handled"] is True
    (shown,) = app.exception
    assert shown.proto.type == "ViewFailed"
    assert "an error in normviz prevented this view" in shown.message
    assert list(shown.stack_trace) == []


def raise_normviz_error() -> None:
    from normviz.texts.errors import NormvizError
    from normviz.ui.logs import on_script_error

    assert on_script_error(NormvizError("C=6 cannot be split; use *3*."))


def test_an_uncaught_normviz_error_is_shown_as_a_warning(lines: list[str]) -> None:
    app = AppTest.from_function(raise_normviz_error).run()
    assert [warning.value for warning in app.warning] == [r"C\=6 cannot be split\; use \*3\*\."]
    assert not app.exception
    assert lines == ["INFO refused: C=6 cannot be split; use *3*. [/]"]


def test_the_traceback_of_streamlit_is_logged_only_at_debug_level() -> None:
    record = logging.LogRecord(logs.STREAMLIT_LOGGER, logging.ERROR, "", 0, "Uncaught app execution", (), None)
    before = logs.LOGGER.level
    try:
        logs.LOGGER.setLevel(logging.INFO)
        assert not logs._is_wanted(record)
        logs.LOGGER.setLevel(logging.DEBUG)
        assert logs._is_wanted(record)
    finally:
        logs.LOGGER.setLevel(before)
