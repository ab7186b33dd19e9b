"""Every kind of part: its HTML, its plain text, and the parts in it."""

import re
from dataclasses import dataclass, replace

import pytest

from normviz.figures.charts import Lines
from normviz.figures.wire import Payload
from normviz.parts.html import Body, block, text
from normviz.parts.part import (
    Beside,
    Caption,
    Chart,
    Code,
    Details,
    Heading,
    Legend,
    Note,
    Part,
    Sentence,
    Table,
    Tabs,
    Text,
    flat,
    part_or_note,
)
from normviz.texts.errors import NormvizError

HEADS, ROWS = ("layer", "means"), (("A", 2), ("B", 13))

TABLES = [
    (Table(("NaN",), ((False,), (True,))), [["NaN"], ["no"], ["yes"]]),
    (Table(("means", "gamma"), ((1000, None),)), [["means", "gamma"], ["1,000", "–"]]),
    (Table(("layer",), (("n c -> n",),), code=(0,)), [["layer"], ["`n c -> n`"]]),
    (Table(HEADS, ROWS, (0,), transposed=True), [["", "`A`", "`B`"], ["means", "2", "13"]]),
]


@pytest.mark.parametrize(("table", "cells"), TABLES, ids=range(len(TABLES)))
def test_the_cells_of_a_table_are_markdown(table, cells):
    assert table.cells() == cells


TABLE = Table(("a|b", "", "**c**"), (("`d|e`", "", "*f*"), ("g", "<", "h")))


@pytest.mark.parametrize("table", [TABLE, replace(TABLE, transposed=True)], ids=["rows", "columns"])
def test_a_table_is_that_of_its_cells_in_markdown(table):
    heads, *rows = ([cell.replace("|", "\\|") for cell in cells] for cells in table.cells())
    markdown = "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows))
    html = block(markdown).replace("<th></th>", "<td></td>")
    if table.transposed:
        html = re.sub(r"<tr>\n<td>(.+)</td>", r'<tr>\n<th scope="row">\1</th>', html)
    assert html in table.html(Body())


HTML = [
    (Sentence("**2** means"), '<p class="nv-sentence"><strong>2</strong> means</p>'),
    (Heading("`x` < 1"), "<h2><code>x</code> &lt; 1</h2>"),
    (Text("a\n\nb"), '<div class="nv-text"><p>a</p>\n<p>b</p></div>'),
    (Caption("c"), '<div class="nv-small"><p>c</p></div>'),
    (Legend("**c** <"), '<p class="nv-legend">**c** &lt;</p>'),
    (Note("**n**"), '<p class="nv-note-box">**n**</p>'),
    (Details("d", (Sentence("s"),)), '<details class="nv-more"><summary>d</summary><p class="nv-sentence">s</p></details>'),
]  # fmt: skip


@pytest.mark.parametrize(("part", "html"), HTML, ids=range(len(HTML)))
def test_a_part_as_html(part, html):
    assert part.html(Body()) == html


def test_only_the_first_of_several_tabs_is_visible():
    html = Body().html([Tabs((("one", (Code("1"),)), ("two", (Code("2"),))))])
    assert html.count('aria-selected="true"') == 1
    assert html.count('aria-selected="false"') == html.count(" hidden>") == 1


def test_a_figure_leaves_its_data_in_the_body():
    body = Body()
    html = body.html([Chart("key", Lines([], {}), "a < b"), Chart("key", Lines([], {}), "c")])
    assert re.findall(r'data-figure="(\d)"', html) == ["0", "1"]
    assert [figure["figure"]["alt"] for figure in body.figures] == ["a < b", "c"]


TEXTS = [
    ([Sentence("**2** means of `x`"), Heading("A")], "2 means of x\n\nA"),
    ([Text("see [torch](https://pytorch.org)"), Note("**n**"), Caption("end")], "see torch\n\n**n**\n\nend"),
    ([Table(HEADS, ROWS, (0,))], "layer  means\nA      2\nB      13"),
    ([Table(HEADS, ROWS, (0,), transposed=True)], "       A  B\nmeans  2  13"),
    ([Table(HEADS, ()), Sentence("One")], "One"),
    ([Details("More **of it**", (Text("inside"),))], "More of it:\n\ninside"),
    ([Beside((Text("left"),), (Text("right"),))], "left\n\nright"),
    ([Tabs((("a", (Text("one"),)), ("b", (Text("two"),))))], "a:\n\none\n\nb:\n\ntwo"),
    ([Tabs((("torch", (Code("import torch"),)), ("NumPy", (Code("import numpy"),))))], "torch:\n\nimport torch"),
]


@pytest.mark.parametrize(("parts", "plain"), TEXTS, ids=range(len(TEXTS)))
def test_parts_as_plain_text(parts, plain):
    assert text(parts) == plain


def test_parts_within_parts_are_found():
    one, two, three = Text("a"), Code("b"), Caption("c")
    parts = [Sentence("s"), Tabs((("one", (one,)), ("two", (two,)))), Details("d", (Beside((three,), ()),))]
    assert [part for part in flat(parts) if isinstance(part, Text | Code | Caption)] == [one, two, three]


def test_an_error_becomes_a_note():
    def refuse() -> Part:
        raise NormvizError("too many groups")

    assert part_or_note(refuse) == Note("too many groups")
    assert part_or_note(lambda: Text("a")) == Text("a")


class Plot(Text):
    """A kind of part that no medium knows."""


def test_a_new_kind_of_part_needs_one_class():
    assert Body().html([Plot("new")]) == '<div class="nv-text"><p>new</p></div>'
    assert text([Plot("new")]) == "new"


@dataclass(frozen=True)
class Editable(Payload):
    editable: bool = True


FIGURES = [
    # the turn of the app, whether the figure sends; what the browser gets for an x that the app can edit
    (3, True, {"editable": True, "turn": 3}),
    (3, False, {"editable": False, "alone": True}),  # in the answer to a question
    (None, True, {"editable": False, "alone": True, "fixed": True}),  # in a file
]


@pytest.mark.parametrize(("turn", "sends", "data"), FIGURES)
def test_only_the_app_computes_with_edited_values_and_a_file_says_so(turn, sends, data):
    body = Body(turn=turn)
    body.figure(Editable(), sends=sends, editable=True)
    assert body.figures == [data]
