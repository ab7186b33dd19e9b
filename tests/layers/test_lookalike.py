from math import prod

import pytest

from normviz.analysis.description import describe
from normviz.layers.axes import parse_layout
from normviz.layers.fit import is_lookalike, lookalike
from normviz.layers.layer import Layer

LOOKALIKES = [
    # a layer on a tensor, and its look-alike
    ("LayerNorm(768)", (32, 128, 768), "NLC", "LayerNorm([4])", (2, 4, 4)),
    ("LayerNorm([96, 56, 56])", (8, 96, 56, 56), "NCHW", "LayerNorm([4, 3, 3])", (2, 4, 3, 3)),
    ("LayerNorm(96)", (8, 56, 56, 96), "NHWC", "LayerNorm([4])", (2, 3, 3, 4)),
    ("BatchNorm2d(64)", (2, 64, 4, 4), "NCHW", "BatchNorm2d(4)", (2, 4, 3, 3)),
    ("BatchNorm2d(3).eval()", (100, 3, 40, 40), "NCHW", "BatchNorm2d(3).eval()", (2, 3, 3, 3)),
    ("GroupNorm(32, 128)", (8, 128, 56, 56), "NCHW", "GroupNorm(2, 4)", (2, 4, 3, 3)),
    ("GroupNorm(1, 128)", (8, 128, 56, 56), "NCHW", "GroupNorm(1, 4)", (2, 4, 3, 3)),
    ("GroupNorm(128, 128)", (8, 128, 56, 56), "NCHW", "GroupNorm(4, 4)", (2, 4, 3, 3)),
    ("GroupNorm(1, 3)", (8, 3, 56, 56), "NCHW", "GroupNorm(1, 3)", (2, 3, 3, 3)),
    ("GroupNorm(2, 2)", (8, 2, 56, 56), "NCHW", "GroupNorm(2, 2)", (2, 2, 3, 3)),
    ("LayerNorm(7)", (1, 2, 9, 9, 7), "NCDHW", "LayerNorm([3])", (1, 2, 4, 3, 3)),
    ("LayerNorm(7)", (9, 9, 9, 9, 9, 7), "ND1D2D3D4D5", "LayerNorm([2])", (2, 2, 2, 2, 2, 2)),
    ("RMSNorm(128)", (1, 32, 4096, 128), "NCHW", "RMSNorm([3])", (1, 4, 3, 3)),
    ("DimNorm(128, dim=1)", (8, 56, 56, 128), "NHWC", "DimNorm(4, dim=1)", (2, 3, 3, 4)),
    (
        "Norm('n (g k) h w -> n g', 'c', sizes={'g': 32})",
        (8, 128, 56, 56),
        "NCHW",
        "Norm('n (g k) h w -> n g', 'c', sizes={'g': 2})",
        (2, 4, 3, 3),
    ),
]


@pytest.mark.parametrize(("text", "shape", "layout", "small_text", "small_shape"), LOOKALIKES)
def test_a_lookalike_has_the_kind_and_the_pattern_of_the_layer_on_few_elements(
    text, shape, layout, small_text, small_shape
):
    axes, layer = parse_layout(layout, len(shape)), Layer.parse(text)
    small, few = lookalike(layer, shape, axes)
    assert (str(small) if isinstance(small, Layer) else repr(small), few) == (small_text, small_shape)
    assert prod(few) < 100
    true, seen = describe(layer, shape, layout=layout), describe(small, few, layout=layout)
    assert seen.norm.stats == true.norm.stats
    assert seen.norm.params == true.norm.params
    assert is_lookalike((layer, shape), small, few, axes)
    assert not is_lookalike((layer, (*shape, 2)), small, few, axes)
    assert lookalike(small, few, axes) == (small, few)


def test_a_layer_that_does_not_take_the_rank_has_no_lookalike():
    layer = Layer.parse("GroupNorm(1, 3)")
    assert not is_lookalike((layer, (3,)), layer, (3,), ("d",))
