"""The parts of the page Compare: the cards, the five rows, and where the names in other frameworks are."""

import pytest

from normviz.lessons.pages import PAGES
from normviz.parts.html import Body
from normviz.parts.part import Caption, Panels, Table, Tabs, flat

LAYERS = "shape=2,4,3,5&layers=BatchNorm2d(4);LayerNorm([4,3,5])"


def part(query, kind, page="compare"):
    """The only part of this kind."""
    (found,) = [one for one in flat(PAGES[page].parts(PAGES[page].view(query))) if isinstance(one, kind)]
    return found


@pytest.mark.parametrize("cards", ["mean", "gamma", "cube"])
def test_a_link_says_what_is_drawn_of_each_layer_and_the_figure_has_all_of_it(cards):
    data = part(f"{LAYERS}&cards={cards}", Panels).data
    assert data.cards == cards
    assert {panel.row for panel in data.panels} == {"stats", "params", "cube"}


def test_the_first_cards_are_those_of_the_mean():
    assert part(LAYERS, Panels).data.cards == part(f"{LAYERS}&cards=what", Panels).data.cards == "mean"
    assert (
        PAGES["compare"].view(f"{LAYERS}&cards=what").problem == "cards='what' is unknown; choose mean, gamma or cube."
    )


def test_a_layer_that_torch_does_not_have_is_named():
    query = "shape=2,5,4&layout=NLC&layers=ChannelsLastBatchNorm(4);LayerNorm(4)"
    texts = [one.text for one in PAGES["compare"].parts(PAGES["compare"].view(query)) if isinstance(one, Caption)]
    assert texts == ["torch.nn has no `ChannelsLastBatchNorm`. Explore shows the code."]
    assert not [one for one in PAGES["compare"].parts(PAGES["compare"].view(LAYERS)) if isinstance(one, Caption)]


def test_the_table_begins_with_five_rows_and_opens_to_all():
    table = part(LAYERS, Table)
    heads, *rows = table.cells()
    assert heads == ["", "`BatchNorm2d(4)`", "`LayerNorm([4, 3, 5])`"]
    assert rows[:5] == [
        ["number of statistics", "4", "2"],
        ["elements per statistic", "30", "60"],
        ["parameters", "8", "120"],
        ["train = eval?", "no", "yes"],
        ["depends on the batch?", "yes", "no"],
    ]
    assert ["statistics pattern", "`n c h w -> c`", "`n c h w -> n`"] in rows
    html = table.html(Body())
    assert html.endswith(f'<details class="nv-all-rows"><summary>All {len(rows)} rows</summary></details>')
    assert "<details" not in Table(("a",), ((1,),)).html(Body())


def test_the_names_in_other_frameworks_are_with_the_code_of_explore():
    label, (table,) = part("shape=2,4,3,5&layer=BatchNorm2d(4)", Tabs, "explore").tabs[-1]
    assert label == "torch, Keras and Flax"
    assert table.rows[0] == ("layer", "nn.BatchNorm2d", "keras.layers.BatchNormalization", "nnx.BatchNorm")
