import logging
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from normviz.ui import logs
from tests.ui.driver import opened, query, warned


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.all: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.all.append(self.format(record))


@pytest.fixture
def lines() -> Iterator[list[str]]:
    handler, level = Lines(), logs.LOGGER.level
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logs.LOGGER.addHandler(handler)
    logs.LOGGER.setLevel(logging.INFO)
    yield handler.all
    logs.LOGGER.removeHandler(handler)
    logs.LOGGER.setLevel(level)


def test_a_wish_that_cannot_be_met_is_one_line_with_its_view(lines: list[str]) -> None:
    app = opened("shape=2,3,4,4&layer=GroupNorm(2,3)")
    (problem,) = warned(app)
    assert lines == [f"INFO refused: {problem} [/?shape=2,3,4,4&layer=GroupNorm(2,3)]"]
    app.run()
    assert len(lines) == 1  # the script ran again, and nothing new was wished


def test_names_that_are_not_ours_are_not_written(lines: list[str]) -> None:
    opened("shape=0&email=ada@example.org&utm_id=7")
    assert len(lines) == 1
    assert lines[0].endswith("[/?shape=0]")


def test_no_text_of_a_link_makes_a_second_line(lines: list[str]) -> None:
    opened("shape=1\n2026-01-01 ERROR forged\r" + "x" * 5000)
    assert len(lines) == 1
    assert len(lines[0].splitlines()) == 1
    assert len(lines[0]) < 2 * logs.MAX_LENGTH + 100


def test_a_view_that_can_be_made_writes_nothing(lines: list[str]) -> None:
    app = opened("shape=2,3&layer=LayerNorm(3)")
    assert query(app)
    assert lines == []


def unexpected() -> None:
    import streamlit as st

    from normviz.code.generate import torch_call
    from normviz.ui.logs import on_script_error

    st.query_params.from_dict({"shape": "2,3", "name": "Ada"})
    try:
        torch_call(None)  # type: ignore[arg-type]
    except AttributeError as error:
        st.session_state["told"] = on_script_error(error)


def test_what_nobody_expected_is_one_line_with_our_places_and_the_reader_is_told(lines: list[str]) -> None:
    app = AppTest.from_function(unexpected).run()
    assert len(lines) == 1
    assert lines[0].startswith("ERROR ")
    assert "AttributeError: 'NoneType' object has no attribute" in lines[0]
    assert "(normviz/code/generate.py:" in lines[0]
    assert lines[0].endswith("[/?shape=2,3]")
    assert app.session_state["told"] is True
    (told,) = app.exception
    assert told.proto.type == "ViewFailed"
    assert "an error in normviz prevented this view" in told.message
    assert list(told.stack_trace) == []


def refusing() -> None:
    from normviz.layers.errors import NormvizError
    from normviz.ui.logs import on_script_error

    assert on_script_error(NormvizError("C=6 cannot be split; use *3*."))


def test_a_refusal_that_no_page_caught_is_the_reader_s(lines: list[str]) -> None:
    app = AppTest.from_function(refusing).run()
    assert warned(app) == ["C=6 cannot be split; use *3*."]
    assert not app.exception
    assert lines == ["INFO refused: C=6 cannot be split; use *3*. [/]"]


def test_streamlit_s_own_traceback_is_written_only_where_someone_debugs() -> None:
    record = logging.LogRecord(logs.STREAMLIT_LOGGER, logging.ERROR, "", 0, "Uncaught app execution", (), None)
    before = logs.LOGGER.level
    try:
        logs.LOGGER.setLevel(logging.INFO)
        assert not logs._is_wanted(record)
        logs.LOGGER.setLevel(logging.DEBUG)
        assert logs._is_wanted(record)
    finally:
        logs.LOGGER.setLevel(before)
