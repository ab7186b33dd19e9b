"""What a link hides, and the caption that it adds."""

import pytest

from normviz.lessons.pages import PAGES
from normviz.lessons.train_and_eval.training import Training
from normviz.parts.part import (
    Beside,
    Caption,
    Chart,
    Code,
    Details,
    Legend,
    Note,
    Panels,
    Sentence,
    Table,
    Tabs,
    Text,
    flat,
    hideable_names,
    visible_parts,
)
from normviz.scene.view import PANELS, PARTS, Display

TABLE = Table(("a",), ((1,),))
SMALL = [Sentence("s"), Text("t"), Details("d", (Text("in"), TABLE)), Text("over", of="table"), TABLE, Tabs((("c", (Code("x"), TABLE)),)), Caption("agrees", of="code")]  # fmt: skip


def kinds(parts):
    return [type(part).__name__ for part in parts]


BY_HAND = [
    ((), ["Sentence", "Text", "Details", "Text", "Table", "Tabs", "Caption"]),
    (("sentence",), ["Text", "Details", "Text", "Table", "Tabs", "Caption"]),
    (("text",), ["Sentence", "Details", "Text", "Table", "Tabs", "Caption"]),
    (("table",), ["Sentence", "Text", "Details", "Tabs", "Caption"]),
    (("code",), ["Sentence", "Text", "Details", "Text", "Table"]),
    (("text", "table"), ["Sentence", "Tabs", "Caption"]),
    (("all",), ["Table"]),
    (("all", "table"), []),
    (("controls", "layer"), ["Sentence", "Text", "Details", "Text", "Table", "Tabs", "Caption"]),
]


@pytest.mark.parametrize(("hidden", "left"), BY_HAND)
def test_the_parts_that_are_not_hidden(hidden, left):
    assert kinds(visible_parts(SMALL, Display(hidden))) == left


def test_if_one_of_two_columns_is_hidden_the_other_takes_its_place():
    chart = Chart("c", None, "alt")
    assert visible_parts([Beside((chart,), (TABLE,))], Display(("table",))) == [chart]
    assert visible_parts([Beside((chart,), (TABLE,))], Display(("all",))) == [chart]
    assert visible_parts([Beside((chart,), (TABLE,))], Display(("panels",))) == [TABLE]
    assert visible_parts([Beside((chart,), (TABLE,))], Display(("panels", "table"))) == []


def test_the_caption_is_below_the_last_figure():
    parts = PAGES["explore"].visible(PAGES["explore"].view({"caption": "Row <2>."}))
    at = parts.index(Legend("Row <2>."))
    assert isinstance(parts[at - 1], Panels)
    assert visible_parts([TABLE, Text("t")], Display((), "c")) == [TABLE, Legend("c"), Text("t")]
    assert visible_parts([Note("n")], Display(("all",), "c")) == [Note("n"), Legend("c")]


def views():

    yield from (("explore", {}), ("compare", {}), ("step_by_step", {}), ("explore", {"shape": "1025,1024"}))
    yield "step_by_step", {"layer": "RMSNorm([3,4,4])"}
    yield from (
        ("train_and_eval", {"show": show, "layer": "BatchNorm2d(3)"})
        for show in [one.name for one in PAGES["train_and_eval"].experiments]
    )
    yield from (("gradients", {"show": show}) for show in [one.name for one in PAGES["gradients"].experiments])
    yield from (("numerics", {"show": show}) for show in [one.name for one in PAGES["numerics"].experiments])


@pytest.fixture(scope="module", params=list(views()), ids=str)
def shown(request):
    page, query = request.param
    return page, query, list(PAGES[page].parts(PAGES[page].view(query)))


def test_everything_on_a_page_has_a_name_that_hides_it(shown):
    _, _, parts = shown
    assert hideable_names(parts) <= {*PARTS, *PANELS}
    for panels in (part for part in flat(parts) if isinstance(part, Panels)):
        keys = {panel.row or panel.key for panel in panels.data.panels}
        assert panels.data.kind == "steps" or keys <= panels.panel_names


def test_each_name_hides_its_part_and_nothing_else(shown):
    _, _, parts = shown
    before = hideable_names(parts)
    for name in before & set(PARTS):
        left = visible_parts(parts, Display((name,)))
        assert name not in hideable_names(part for part in left if not isinstance(part, Panels))
        assert before - hideable_names(left) <= {name, "details", *PANELS, "table"} | (
            before if name == "details" else set()
        )
    for name in before & set(PANELS):
        hidden = [
            list(part.data.hidden) for part in flat(visible_parts(parts, Display((name,)))) if isinstance(part, Panels)
        ]
        assert [name] in hidden


def test_a_page_that_shows_only_its_figure_is_not_empty(shown):
    _, _, parts = shown
    left = visible_parts(parts, Display(("all",)))
    assert left
    assert {type(part) for part in left} <= {Panels, Chart, Training, Table, Note, Beside}
    for panels in (part for part in left if isinstance(part, Panels)):
        assert set(panels.data.hidden) <= {"distribution", "facts", "worked", "table", "loops"}
