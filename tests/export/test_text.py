"""Parts as plain text."""

import normviz as nv
from normviz.lessons.parts.part import Caption, Code, Details, Heading, Note, Sentence, Table, Tabs, Text
from normviz.lessons.parts.text import plain, text


def test_marks_are_left_out():
    assert plain("**2** of `x`, see [the page](https://example.org)") == "2 of x, see the page"


def test_a_table_stands_in_columns():
    rows = ({"layer": "LayerNorm(3)", "means": 1200, "bias": True}, {"layer": "RMSNorm(3)", "means": 7, "bias": None})
    assert text([Table(rows)]).splitlines() == [
        "layer         means  bias",
        "LayerNorm(3)  1,200  yes",
        "RMSNorm(3)    7      –",
    ]
    assert text([Table(rows, corner="layer")]).splitlines() == [
        "       LayerNorm(3)  RMSNorm(3)",
        "means  1,200         7",
        "bias   yes           –",
    ]


def test_an_empty_table_says_nothing():
    assert text([Table(()), Sentence("One")]) == "One"


def test_parts_come_in_the_order_of_reading():
    parts = [Heading("A"), Note("**as it is**"), Details("More", (Text("within"),)), Caption("end")]
    assert text(parts).split("\n\n") == ["A", "**as it is**", "More:", "within", "end"]


def test_of_several_codes_the_first_is_shown_and_of_other_tabs_all():
    codes = Tabs((("torch", (Code("import torch"),)), ("NumPy", (Code("import numpy"),))))
    assert text([codes]) == "torch:\n\nimport torch"
    others = Tabs((("a", (Text("one"),)), ("b", (Text("two"),))))
    assert text([others]) == "a:\n\none\n\nb:\n\ntwo"


def test_every_page_says_something_by_itself():
    for output in (nv.compare(["BatchNorm2d(3)", "LayerNorm([3,4,4])"]), nv.steps("LayerNorm(4)", (2, 4)), nv.gradients("LayerNorm(4)", (2, 4)), nv.train_and_eval(), nv.numerics(), nv.questions()):  # fmt: skip
        assert len(str(output).splitlines()) > 5
        assert "<" not in str(output).replace("<=", "").replace("< ", "")
