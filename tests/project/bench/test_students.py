"""The students of the load test: the page that each of them uses, and the values of their controls."""

from collections import Counter

import pytest
from streamlit.proto.ButtonGroup_pb2 import ButtonGroup
from streamlit.proto.NumberInput_pb2 import NumberInput
from streamlit.proto.Selectbox_pb2 import Selectbox
from streamlit.proto.Slider_pb2 import Slider

from bench.protocol import Widget
from bench.students import PAGES, QUESTIONS, seat
from normviz.lessons.questions.question import prose


def test_a_hundred_students_are_distributed_over_the_pages_as_stated() -> None:
    assert sum(share for share, _ in PAGES.values()) == 100
    seats = Counter(seat("normviz", number)[0] for number in range(100))
    assert seats == {page: share for page, (share, _) in PAGES.items()}


def test_the_questions_of_the_students_exist() -> None:
    assert all(prose(question).options for question in QUESTIONS)


def test_a_page_is_the_path_of_an_address() -> None:
    number = next(number for number in range(100) if seat("normviz", number)[0] == "compare")
    assert seat("normviz", number)[1:] == ("compare", "")


def button_group() -> ButtonGroup:
    group = ButtonGroup(id="g", default=[1])
    for name in ("a", "b"):
        group.options.add(content=name)
    return group


FIRST = [
    ("number_input", NumberInput(id="n", default=3.0), "double_value", 3.0),
    ("number_input", NumberInput(id="n", default=3.0, value=5.0, set_value=True), "double_value", 5.0),
    ("slider", Slider(id="s", default=[2.0]), "double_array_value", [2.0]),
    ("slider", Slider(id="s", default=[1.0], options=["a", "b"]), "string_array_value", ["b"]),
    ("selectbox", Selectbox(id="x", default=1, options=["a", "b"]), "string_value", "b"),
    ("selectbox", Selectbox(id="x", options=["a", "b"], raw_value="a", set_value=True), "string_value", "a"),
    ("button_group", button_group(), "string_array_value", ["b"]),
]


@pytest.mark.parametrize(("kind", "element", "field", "first"), FIRST)
def test_the_first_value_of_a_control_is_the_one_that_it_shows(
    kind: str, element: object, field: str, first: object
) -> None:
    widget = Widget(kind, "id", "label", element)
    assert (widget.field, widget.first()) == (field, first)
