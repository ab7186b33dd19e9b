"""Parts: tables by hand, and every kind of part is known wherever parts are drawn."""

import pytest

from normviz.layers.errors import NormvizError
from normviz.lessons.parts import part as module
from normviz.lessons.parts.html import DRAWN as IN_HTML
from normviz.lessons.parts.part import (
    Beside,
    Caption,
    Code,
    Details,
    Note,
    Part,
    Sentence,
    Table,
    Tabs,
    Text,
    flat,
    refusable,
)
from normviz.lessons.parts.text import text
from normviz.ui.render import DRAWN as IN_THE_APP

KINDS = {
    kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Part) and kind is not Part
}


@pytest.mark.parametrize("drawn", [IN_THE_APP, IN_HTML], ids=["app", "html"])
def test_every_kind_of_part_can_be_drawn(drawn):
    assert set(drawn) == KINDS


TABLES = [
    (Table(()), ""),
    (Table(({"way": "two passes", "NaN": False},)), "| way | NaN |\n| --- | --- |\n| two passes | no |"),
    (Table(({"elements": 1000, "gamma": None},)), "| elements | gamma |\n| --- | --- |\n| 1,000 | – |"),
    (Table(({"statistics pattern": "n c -> n"},)), "| statistics pattern |\n| --- |\n| `n c -> n` |"),
    (Table(({"words": "a|b"},)), "| words |\n| --- |\n| a\\|b |"),
    (
        Table(({"layer": "A", "means": 2}, {"layer": "B", "means": 3}), corner="layer"),
        "| | `A` | `B` |\n| --- | --- | --- |\n| means | 2 | 3 |",
    ),
]


@pytest.mark.parametrize(("table", "markdown"), TABLES, ids=range(len(TABLES)))
def test_a_table_as_markdown(table, markdown):
    assert table.markdown == markdown


def test_parts_within_parts_are_found():
    inner = (Text("a"), Code("b"))
    parts = [
        Sentence("s"),
        Tabs((("one", inner[:1]), ("two", inner[1:]))),
        Details("d", (Beside((Caption("c"),), ()),)),
    ]
    assert [part for part in flat(parts) if isinstance(part, Text | Code | Caption)] == [*inner, Caption("c")]


def test_what_is_refused_becomes_a_note():
    def refuse() -> Part:
        raise NormvizError("too many groups")

    assert refusable(refuse) == Note("too many groups")
    assert refusable(lambda: Text("a")) == Text("a")


TEXTS = [
    ([Sentence("**2** means of `x`")], "2 means of x"),
    ([Text("see [torch](https://pytorch.org)"), Note("n")], "see torch\n\nn"),
    ([Table(({"layer": "A", "means": 2}, {"layer": "B", "means": 13}), corner="layer")], "       A  B\nmeans  2  13"),
    (
        [Table(({"way": "Welford", "error": 0.5}, {"way": "two", "error": 1}))],
        "way      error\nWelford  0.5\ntwo      1",
    ),
    ([Details("More **of it**", (Text("inside"),))], "More of it:\n\ninside"),
]


@pytest.mark.parametrize(("parts", "plain"), TEXTS, ids=range(len(TEXTS)))
def test_parts_as_plain_text(parts, plain):
    assert text(parts) == plain
