import json
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


def read_not_a_number() -> None:
    import streamlit as st
    from streamlit.elements.widgets.number_input import NumberInputSerde
    from streamlit.proto.NumberInput_pb2 import NumberInput

    from normviz.ui.logs import on_script_error

    try:
        NumberInputSerde(1, NumberInput.INT, 1, 9).deserialize(float("nan"))
    except ValueError as error:
        st.session_state["handled"] = on_script_error(error)


def test_a_value_that_streamlit_cannot_read_is_the_visitors_fault(lines: list[str]) -> None:
    app = AppTest.from_function(read_not_a_number).run()
    assert [warning.value for warning in app.warning] == [
        "The server received a value that this page does not have. Reload the page."
    ]
    assert app.session_state["handled"] is True
    assert lines == ["INFO refused: ValueError: cannot convert float NaN to integer [/]"]


# What Streamlit and the server log


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def record(message: str, *values: object, line: int = 1, error: Exception | None = None) -> logging.LogRecord:
    found = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("streamlit.web", logging.WARNING, "/srv/web.py", line, message, values, found)  # type: ignore[arg-type]


def test_a_line_of_streamlit_cannot_forge_another_one() -> None:
    hostile = record("no fragment %s", "x\n2026-01-01 ERROR normviz: forged\x1b[31m\u2028red")
    assert logs.FewLines()(hostile)
    formatted = logging.Formatter("%(message)s").format(hostile)
    assert formatted == r"no fragment x 2026-01-01 ERROR normviz: forged\x1b[31m red"


def test_a_traceback_is_one_line_without_a_path() -> None:
    try:
        json.loads("[")
    except ValueError as error:
        failed = record("cannot read %s", "it", error=error)
    assert logs.FewLines()(failed)
    assert (
        logging.Formatter().format(failed)
        == "cannot read it: JSONDecodeError: Expecting value: line 1 column 2 (char 1)"
    )


def test_ten_lines_of_one_kind_are_logged_in_a_minute() -> None:
    clock = Clock()
    few_lines = logs.FewLines(clock)
    visitors = [record("no fragment %s", number) for number in range(30)]
    assert [few_lines(each) for each in visitors] == [True] * 10 + [False] * 20
    assert visitors[8].msg == "no fragment 8"
    assert visitors[9].msg == "no fragment 9 (more lines of this kind are left out for a minute)"
    assert few_lines(record("another kind", line=2))
    assert few_lines(record("no fragment %s", 1, error=ValueError()))  # with an exception it is another kind
    clock.now = 61
    assert [few_lines(record("no fragment %s", number)) for number in range(11)] == [True] * 10 + [False]


def test_our_own_exceptions_are_kinds_of_their_own() -> None:
    few_lines = logs.FewLines()
    errors = [KeyError("a")] * 12 + [ValueError("b")]
    passed = []
    handler = LogLines()
    handler.addFilter(few_lines)
    handler.addFilter(lambda each: passed.append(each.msg) or True)  # type: ignore[func-returns-value]
    logs.LOGGER.addHandler(handler)
    for error in errors:
        logs.log_request_error(error, "/")
    logs.LOGGER.removeHandler(handler)
    assert len(passed) == 11
    assert passed[-1] == "ValueError: b (no line of normviz) ['/']"


def test_a_page_that_failed_is_not_logged_again_by_streamlit() -> None:
    assert not logs.FewLines()(record("Uncaught app execution", error=ValueError()))


def test_the_loggers_of_the_server_are_limited_unless_the_whole_traceback_is_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for level, is_limited in (("info", True), ("debug", False)):
        monkeypatch.setattr(logs, "LOGGER", logging.Logger("normviz"))
        monkeypatch.setattr(logs.st, "get_option", lambda _, level=level: level)
        logger = logging.getLogger(f"streamlit.of_a_test.{level}")
        logs.start()
        assert bool(logger.filters) == is_limited
        for name in list(logging.root.manager.loggerDict):
            each = logging.getLogger(name)
            each.filters[:] = [one for one in each.filters if not isinstance(one, logs.FewLines)]
