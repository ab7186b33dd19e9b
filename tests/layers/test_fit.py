import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from normviz.analysis.description import describe
from normviz.layers.axes import divisors, parse_layout
from normviz.layers.catalogue import FAMILIES, KINDS
from normviz.layers.fit import default_layer, kind_for, refit
from normviz.layers.layer import Layer
from normviz.texts.errors import NormvizError
from tests.support.needs import cases_in_torch, needs_rms_norm
from tests.support.strategies import layers_that_fit, shapes

FITTED = [
    # the layer, the new shape and layout, the layer changed to take them
    ("LayerNorm([3, 4, 4])", (2, 5, 6, 6), "NCHW", "LayerNorm([5, 6, 6])"),
    ("LayerNorm([4, 4])", (2, 5, 6, 7), "NCHW", "LayerNorm([6, 7])"),
    ("LayerNorm([4, 4])", (5,), "D", "LayerNorm([5])"),
    ("LayerNorm([4], eps=0.5, bias=False)", (2, 3), "ND", "LayerNorm([3], eps=0.5, bias=False)"),
    ("RMSNorm(4)", (2, 5, 6), "NLC", "RMSNorm([6])"),
    ("BatchNorm2d(3)", (2, 5, 6), "NCL", "BatchNorm1d(5)"),
    ("BatchNorm2d(3, momentum=None).eval()", (2, 5), "ND", "BatchNorm1d(5, momentum=None).eval()"),
    ("BatchNorm1d(3)", (2, 5, 6, 7, 8), "NCDHW", "BatchNorm3d(5)"),
    ("SyncBatchNorm(3)", (2, 5, 6, 7), "NCHW", "SyncBatchNorm(5)"),
    ("InstanceNorm2d(3, affine=True)", (5, 6), "CL", "InstanceNorm1d(5, affine=True)"),
    ("InstanceNorm2d(3)", (5, 6, 7), "CHW", "InstanceNorm2d(5)"),
    ("InstanceNorm2d(3)", (5, 6, 7), "NCL", "InstanceNorm1d(6)"),
    ("InstanceNorm2d(3)", (5, 6, 7, 8), "CDHW", "InstanceNorm3d(5)"),
    ("GroupNorm(2, 4)", (2, 6, 5), "NCL", "GroupNorm(2, 6)"),
    ("GroupNorm(4, 8)", (2, 6, 5), "NCL", "GroupNorm(3, 6)"),
    ("GroupNorm(4, 8)", (2, 7, 5), "NCL", "GroupNorm(1, 7)"),
    ("GroupNorm(2, 4)", (2, 7, 5), "NCL", "GroupNorm(1, 7)"),
    ("ChannelsFirstLayerNorm(3)", (2, 5), "NC", "ChannelsFirstLayerNorm(5)"),
    ("DimNorm(3, dim=2)", (2, 5, 6), "NLC", "DimNorm(6, dim=2)"),
    ("DimNorm(3, dim=2)", (2, 5), "ND", "DimNorm(5)"),
    ("DimNorm(3, dim=-2)", (2, 5), "ND", "DimNorm(5, dim=-2)"),
]


@pytest.mark.parametrize(("layer", "shape", "layout", "expected"), FITTED)
def test_refit_changes_only_the_sizes(layer, shape, layout, expected):
    assert str(refit(Layer.parse(layer), shape, parse_layout(layout, len(shape)))) == expected


OF_FAMILY = [
    ("LayerNorm", (2, 3, 4, 5), "NCHW", "LayerNorm([3, 4, 5])"),
    ("LayerNorm", (3,), "D", "LayerNorm([3])"),
    ("RMSNorm", (2, 3), "ND", "RMSNorm([3])"),
    ("BatchNorm", (2, 3, 4, 5), "NCHW", "BatchNorm2d(3)"),
    ("SyncBatchNorm", (2, 3, 4, 5), "NCHW", "SyncBatchNorm(3)"),
    ("InstanceNorm", (2, 3, 4), "CHW", "InstanceNorm2d(2)"),
    ("GroupNorm", (2, 6, 4, 5), "NCHW", "GroupNorm(2, 6)"),
    ("GroupNorm", (2, 3, 4, 5), "NCHW", "GroupNorm(3, 3)"),
    ("LayerNorm", (2, 5, 4), "NLC", "LayerNorm([4])"),
    ("LayerNorm", (2, 3, 5, 4), "NHWC", "LayerNorm([4])"),
    ("LayerNorm", (2, 4, 5), "NCL", "LayerNorm([4, 5])"),
    ("RMSNorm", (2, 5, 4), "NLC", "RMSNorm([4])"),
    ("BatchNorm", (2, 5, 4), "NLC", "ChannelsLastBatchNorm(4)"),
    ("InstanceNorm", (2, 3, 5, 4), "NHWC", "ChannelsLastInstanceNorm(4)"),
    ("GroupNorm", (2, 2, 3, 3, 4), "NDHWC", "ChannelsLastGroupNorm(2, 4)"),
    ("ChannelsFirstLayerNorm", (2, 3, 4), "NCL", "ChannelsFirstLayerNorm(3)"),
    ("DimNorm", (2, 3), "ND", "DimNorm(3, dim=0)"),
]


@cases_in_torch
@pytest.mark.parametrize(("family", "shape", "layout", "expected"), OF_FAMILY)
def test_the_default_layer_of_a_family(family, shape, layout, expected):
    assert str(default_layer(family, shape, parse_layout(layout, len(shape)))) == expected


NO_LAYER = [
    ("BatchNorm", "D", "BatchNorm takes an x of rank 2, 3, 4 or 5, and this x has rank 1, layout D."),
    ("BatchNorm", "ABCDEF", "BatchNorm takes an x of rank 2, 3, 4 or 5, and this x has rank 6, layout ABCDEF."),
    ("InstanceNorm", "D", "InstanceNorm takes an x of rank 2, 3, 4 or 5, and this x has rank 1, layout D."),
    ("GroupNorm", "D", "GroupNorm takes an x of rank 2 or higher, and this x has rank 1, layout D."),
    ("SyncBatchNorm", "D", "SyncBatchNorm takes an x of rank 2 or higher, and this x has rank 1, layout D."),
]


@pytest.mark.parametrize(("family", "layout", "message"), NO_LAYER)
def test_a_rank_that_no_layer_of_the_family_takes_raises_an_error(family, layout, message):
    with pytest.raises(NormvizError, match=re.escape(message)):
        kind_for(family, parse_layout(layout, len(layout)))


@given(layers_that_fit(), shapes())
def test_a_refitted_layer_takes_the_shape(drawn, shape):
    layer, _ = drawn
    axes = parse_layout("NCDHWL"[: len(shape)], len(shape))
    try:
        found = refit(layer, shape, axes)
    except NormvizError:
        assert not any(kind.takes_rank(len(shape)) for kind in FAMILIES[layer.kind.family])
        return
    assert found.kind.family == layer.kind.family
    assert found.training == layer.training
    for name, value in layer.given.items():
        if name in ("eps", "affine", "elementwise_affine", "bias", "momentum", "track_running_stats"):
            assert found.given[name] == value
    assert takes(found, shape)


@given(layers_that_fit())
def test_refit_does_not_change_a_layer_that_fits(drawn):
    layer, shape = drawn
    assert refit(layer, shape, parse_layout(layer.kind.layout(len(shape)), len(shape))) == layer


@pytest.mark.parametrize("family", FAMILIES)
@given(shape=shapes())
def test_the_default_layer_takes_the_shape(family, shape):
    assume(any(kind.takes_rank(len(shape)) for kind in FAMILIES[family]))
    assert takes(default_layer(family, shape, parse_layout("NCDHWL"[: len(shape)], len(shape))), shape)


def takes(layer, shape):
    """Also if torch refuses only because a group has one value, which no size of the layer can fix."""
    try:
        describe(layer, shape)
    except NormvizError as refused:
        return "Expected more than 1" in str(refused)
    return True


@pytest.mark.parametrize(
    ("size", "numbers"), [(1, [1]), (6, [1, 2, 3, 6]), (7, [1, 7]), (36, [1, 2, 3, 4, 6, 9, 12, 18, 36])]
)
def test_divisors(size, numbers):
    assert divisors(size) == numbers


MANY_DIVISORS = 963_761_198_400  # 6,720: more than any other number below 2^40
LARGEST_PRIME = 2**40 - 87


def test_divisors_of_large_sizes():
    assert divisors(2**40) == [2**power for power in range(41)]
    assert divisors(LARGEST_PRIME) == [1, LARGEST_PRIME]
    assert len(divisors(MANY_DIVISORS)) == 6720


@given(st.integers(1, 3000))
def test_divisors_are_all_that_divide(size):
    assert divisors(size) == [number for number in range(1, size + 1) if size % number == 0]


def test_every_kind_has_a_family():
    assert {kind.family for kind in KINDS.values()} == set(FAMILIES)


@needs_rms_norm
def test_an_unknown_family_is_answered_with_the_families():
    families = (
        "LayerNorm, RMSNorm, BatchNorm, SyncBatchNorm, InstanceNorm, GroupNorm, ChannelsFirstLayerNorm or DimNorm"
    )
    with pytest.raises(NormvizError, match=re.escape(f"'Conv' is not a family of layers; choose {families}.")):
        kind_for("Conv", ("n", "c"))
