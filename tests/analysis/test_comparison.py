import re

import pytest
from hypothesis import assume, example, given

from normviz.analysis.comparison import compare, sentence, suggestions
from normviz.analysis.description import describe
from normviz.analysis.invariance import invariances
from normviz.layers.catalogue import KINDS
from normviz.layers.layer import Layer, is_in_torch
from normviz.layers.norm import Norm
from normviz.texts.errors import NormvizError
from tests.support.strategies import layers_that_fit, random_tensor, shapes

BY_HAND = """
layer                  | LayerNorm([3]) | BatchNorm1d(3) | BatchNorm1d(3).eval() | RMSNorm([3]) | Norm('n d ->', '')
stats                  | n d -> n       | n d -> d       | n d -> d (running)    | n d -> n     | n d ->
params                 | d              | d              | d                     | d            | one for all
statistics             | 2              | 3              | 3                     | 2            | 1
elements_per_statistic | 3              | 2              | 2                     | 3            | 6
gamma_shape            | (3,)           | (3,)           | (3,)                  | (3,)         | ()
beta_shape             | (3,)           | (3,)           | (3,)                  | None         | ()
parameters             | 6              | 6              | 6                     | 3            | 2
buffers                | 0              | 7              | 7                     | 0            | 0
train_equals_eval      | True           | False          | False                 | True         | no mode
batch_dependent        | False          | True           | False                 | False        | True
add                    | True           | True           | False                 | False        | True
add_feature            | False          | True           | False                 | False        | False
add_example            | True           | False          | False                 | False        | False
scale                  | True           | True           | False                 | True         | True
scale_feature          | False          | True           | False                 | False        | False
scale_example          | True           | False          | False                 | True         | False
shuffle                | True           | True           | True                  | True         | True
"""


def test_the_table_of_a_matrix():
    lines = [[cell.strip() for cell in line.split("|")] for line in BY_HAND.strip().splitlines()]
    headers, *columns = zip(*lines, strict=True)
    columns = [list(column) for column in columns]
    rows = compare([column[0] for column in columns], (2, 3), "ND").rows()
    assert [tuple(row) for row in rows] == [headers] * 5
    assert [[str(cell) for cell in row.values()] for row in rows] == columns


def test_cells_are_plain_values():
    x = compare(["LayerNorm(4)", "InstanceNorm2d(3)"], (2, 3, 4, 4), "NCHW")
    assert {type(cell) for row in x.rows() for cell in row.values()} == {str, int, bool, type(None)}
    assert x.rows()[1]["params"] is None


def test_layers_are_given_as_text_or_as_values():
    layers = ["LayerNorm(3)", Layer.parse("BatchNorm1d(3)"), Norm("n d ->", "")]
    x = compare(layers, (2, 3), "ND")
    assert [e.title for e in x.descriptions] == ["LayerNorm([3])", "BatchNorm1d(3)", "Norm('n d ->', '')"]
    assert (x.shape, x.layout) == ((2, 3), "ND")


def test_all_compute_with_the_same_x():
    x = random_tensor((2, 3), seed=0)
    assert all(
        e.x.data_ptr() == x.data_ptr() for e in compare(["LayerNorm(3)", "BatchNorm1d(3)"], x, "ND").descriptions
    )


def test_a_layout_that_is_not_the_layers_own():
    x = compare(["BatchNorm1d(3)", "LayerNorm(4)"], (2, 3, 4), "NLC")
    assert [row["stats"] for row in x.rows()] == ["n l c -> l", "n l c -> n l"]


def test_counts_of_any_size():
    rows = compare(["LayerNorm([1000, 1000000])", "BatchNorm1d(1000)"], (10**9, 1000, 10**6), "NCL").rows()
    assert [row["statistics"] for row in rows] == [10**9, 1000]
    assert [row["elements_per_statistic"] for row in rows] == [10**9, 10**15]


REFUSED = [
    (["LayerNorm(3)"], "a comparison takes 2 to 6 layers and got 1; add 1."),
    ([], "a comparison takes 2 to 6 layers and got 0; add 2."),
    (["LayerNorm(3)"] * 8, "a comparison takes 2 to 6 layers and got 8; remove 2."),
    ("LayerNorm(3)", "a comparison takes 2 to 6 layers and got 'LayerNorm(3)'; give a list of them."),
    (["LayerNorm(3)", "BatchNorm1d(4)"], 'BatchNorm1d(4): torch refuses: "running_mean should contain 3 elements not 4".'),
    (["LayerNorm(3)", "BatchNorm2d(3)"], 'BatchNorm2d(3): torch refuses: "expected 4D input (got 2D input)".'),
    (["LayerNorm(3)", "LayrNorm(3)"], "'LayrNorm' is not a layer of the catalogue"),
    (["LayerNorm(3)", Norm("n c -> n")], "Norm('n c -> n'): layout=ND and the pattern 'n c -> n' name the axes differently"),
    (["LayerNorm(3)", Norm("n c d -> n")], "Norm('n c d -> n'): the pattern 'n c d -> n' has rank 3 and x has rank 2"),
    (["LayerNorm(3)", "what\n" * 50], "is not a layer; write a constructor"),
    ([f"LayerNorm({[2] * 60})"] * 2, "LayerNorm([2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2…: torch refuses"),
    (["LayerNorm(3)", 3], "3: layer=3 is not a layer"),
]  # fmt: skip


@pytest.mark.parametrize(("layers", "words"), REFUSED)
def test_invalid_comparisons(layers, words):
    with pytest.raises(NormvizError, match=re.escape(words)) as refused:
        compare(layers, (2, 3), "ND")
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 700


def test_more_axes_than_can_be_measured():
    with pytest.raises(NormvizError, match=r"LayerNorm\(\[2\]\): invariances are measured on up to"):
        compare(["LayerNorm(2)"] * 2, (2,) * 14, "ABDEFGHIJKLMOP")


def test_the_sentence_counts_the_others():
    layers = [
        "BatchNorm2d(3)",
        "BatchNorm2d(3).eval()",
        "LayerNorm([3, 4, 4])",
        "RMSNorm(4)",
        Norm("n c h w -> n c h w"),
    ]
    assert sentence(compare(layers, (2, 3, 4, 4), "NCHW"), (1, 2, 0, -1)) == (
        "x[1, 2, 0, 3] shares its mean with **31** others under `BatchNorm2d(3)`, "
        "**31** others under `BatchNorm2d(3).eval()` (a running mean), **47** others under `LayerNorm([3, 4, 4])`, "
        "**3** others under `RMSNorm([4])` (a mean square) and **0** others under `Norm('n c h w -> n c h w')`."
    )


def test_the_sentence_of_one_other_and_of_many():
    large = compare(["BatchNorm1d(3)", "LayerNorm(3)"], (10**6, 3), "ND")
    assert "**999,999** others under `BatchNorm1d(3)` and **2** others under" in sentence(large, (0, 0))
    assert "**1** other under" in sentence(compare(["BatchNorm1d(3)", "LayerNorm(3)"], (2, 3), "ND"), (0, 0))


@given(layers_that_fit())
def test_the_sentence_counts_what_the_figure_shows(drawn):
    layer, shape = drawn
    try:
        e = describe(layer, shape)
    except NormvizError:
        assume(False)
    at = tuple(size - 1 for size in shape)
    told = re.findall(r"\*\*([\d,]+)\*\*", sentence(compare([layer, layer], shape, e.layout), at))
    assert told == [f"{len(e.peers(at)):,}"] * 2


def test_an_index_outside_x_is_refused():
    with pytest.raises(NormvizError, match=r"index \(2, 0\) is not an element of a tensor of shape \(2, 3\)"):
        sentence(compare(["BatchNorm1d(3)", "LayerNorm(3)"], (2, 3), "ND"), (2, 0))


SUGGESTED = [
    ((5,), "D", "LayerNorm([5]) RMSNorm([5]) DimNorm(5, dim=0)"),
    (
        (2, 4), "ND",
        "BatchNorm1d(4) LayerNorm([4]) LayerNorm([2, 4]) RMSNorm([4]) RMSNorm([2, 4]) "
        "GroupNorm(1, 4) GroupNorm(2, 4) ChannelsFirstLayerNorm(4) DimNorm(4, dim=0) DimNorm(4, dim=1) GroupNorm(4, 4)",
    ),
    (
        (2, 3, 4), "NLC",
        "ChannelsLastBatchNorm(4) LayerNorm([4]) LayerNorm([3, 4]) LayerNorm([2, 3, 4]) RMSNorm([4]) RMSNorm([3, 4]) "
        "RMSNorm([2, 3, 4]) ChannelsLastInstanceNorm(4) ChannelsLastGroupNorm(1, 4) ChannelsLastGroupNorm(2, 4) "
        "ChannelsLastGroupNorm(4, 4) DimNorm(4, dim=0) DimNorm(4, dim=1) DimNorm(4, dim=2)",
    ),
    (
        (2, 12, 3, 3), "NCHW",
        "BatchNorm2d(12) LayerNorm([3]) LayerNorm([3, 3]) LayerNorm([12, 3, 3]) LayerNorm([2, 12, 3, 3]) "
        "RMSNorm([3]) RMSNorm([3, 3]) RMSNorm([12, 3, 3]) RMSNorm([2, 12, 3, 3]) InstanceNorm2d(12) "
        "GroupNorm(1, 12) GroupNorm(2, 12) GroupNorm(3, 12) GroupNorm(4, 12) GroupNorm(6, 12) ChannelsFirstLayerNorm(12) "
        "DimNorm(3, dim=0) DimNorm(3, dim=1) DimNorm(3, dim=2) DimNorm(3, dim=3)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "layout", "texts"), SUGGESTED)
def test_suggestions(shape, layout, texts):
    assert list(suggestions(shape, layout)) == list(filter(is_in_torch, re.findall(r"\w+\(.*?\)", texts)))


@given(shapes(largest=3))
@example((1, 1, 1, 1))
@example((1, 10**12))
def test_every_suggestion_is_the_text_of_a_layer_that_fits(shape):
    layout = KINDS["LayerNorm"].layout(len(shape))
    found = suggestions(shape, layout)
    assert found
    assert len(set(found)) == len(found)
    for text in found:
        assert str(Layer.parse(text)) == text
        assert describe(text, shape, layout=layout).shape == shape


def test_suggestions_for_an_invalid_shape():
    with pytest.raises(NormvizError, match="must be a size"):
        suggestions((0, 3), "ND")
    with pytest.raises(NormvizError, match="has rank 3 and x has rank 2"):
        suggestions((2, 3), "NCL")


def test_the_marks_are_the_measurements():
    x = compare(["GroupNorm(2, 4)", "BatchNorm2d(4)"], (2, 4, 3, 3), "NCHW")
    for e, row in zip(x.descriptions, x.rows(), strict=True):
        measured = {i.key: i.holds for i in invariances(e)}
        assert row["batch_dependent"] is not measured.pop("others")
        assert dict(list(row.items())[-len(measured) :]) == measured
