import re
import warnings

import numpy as np
import pytest
import torch
from torch import nn

from normviz import Layer, Norm, NormvizError, NormvizWarning, explain
from tests.support.needs import cases_in_torch
from tests.support.strategies import random_tensor

SAME = [nn.LayerNorm([3, 4]), "LayerNorm([3, 4])", "nn.LayerNorm([3, 4])", Layer.parse("LayerNorm([3, 4])"), Norm("n l c -> n", "l c"), "Norm('n l c -> n', 'l c')"]  # fmt: skip


@pytest.mark.parametrize("layer", SAME, ids=map(str, SAME))
def test_a_layer_may_be_given_in_any_form(layer):
    e, usual = explain(layer, (2, 3, 4)), explain(SAME[0], (2, 3, 4))
    assert (e.norm, e.counts, e.axes) == (usual.norm, usual.counts, usual.axes)
    assert np.array_equal(e.stat_ids, usual.stat_ids)


SHAPES = [
    (2, 3),
    [2, 3],
    torch.Size([2, 3]),
    np.zeros((2, 3)).shape,
    (np.int64(2), np.int32(3)),
    torch.zeros(2, 3),
    np.zeros((2, 3)),
]


@pytest.mark.parametrize("x", SHAPES, ids=range(len(SHAPES)))
def test_x_may_be_a_shape_or_values(x):
    e = explain("LayerNorm(3)", x)
    assert e.shape == (2, 3)
    assert {type(size) for size in e.shape} == {int}
    assert e.counts.statistics == 2


LAYOUTS = [
    ("LayerNorm(3)", (3,), "D"),
    ("LayerNorm(3)", (2, 3), "ND"),
    ("LayerNorm(3)", (2, 4, 3), "NLC"),
    ("LayerNorm(3)", (2, 4, 5, 3), "NCHW"),
    ("LayerNorm(3)", (2, 4, 4, 4, 3), "NCDHW"),
    ("LayerNorm(3)", (2, 4, 4, 4, 4, 3), "ND1D2D3D4D5"),
    ("BatchNorm1d(3)", (2, 3), "ND"),
    ("BatchNorm1d(3)", (2, 3, 4), "NCL"),
    ("GroupNorm(3, 3)", (2, 3, 4), "NCL"),
    ("GroupNorm(3, 3)", (2, 3, 4, 4, 4, 4), "NCD1D2D3D4"),
    ("InstanceNorm1d(3)", (2, 3, 4), "NCL"),
    ("InstanceNorm1d(3)", (3, 4), "CL"),
    ("InstanceNorm2d(3)", (3, 4, 4), "CHW"),
    ("InstanceNorm3d(3)", (3, 4, 4, 4), "CDHW"),
    (Norm("a (b c) -> a", sizes={"b": 1}), (2, 3), "AD"),
]


@pytest.mark.parametrize(("layer", "shape", "layout"), LAYOUTS)
def test_the_default_layout_follows_from_the_layer_and_the_rank(layer, shape, layout):
    assert explain(layer, shape).layout == layout


@pytest.mark.parametrize("layout", ["NHWC", "nhwc", "LNCD", "ABXY", "D1D2D3D4"])
def test_a_given_layout_names_the_axes_and_changes_nothing_else(layout):
    e, usual = explain("LayerNorm([4, 5])", (2, 3, 4, 5), layout=layout), explain("LayerNorm([4, 5])", (2, 3, 4, 5))
    assert e.layout == layout.upper()
    assert e.counts == usual.counts
    assert np.array_equal(e.stat_ids, usual.stat_ids)
    assert np.array_equal(e.param_ids, usual.param_ids)


def test_a_layout_for_a_norm_must_be_its_own():
    assert explain(Norm("n c -> n"), (2, 3), layout="NC").layout == "NC"
    message = "layout=ND and the pattern 'n c -> n' name the axes differently; omit layout, or write the pattern with the letters of the layout."
    with pytest.raises(NormvizError, match=re.escape(message)):
        explain(Norm("n c -> n"), (2, 3), layout="ND")


def test_a_layout_of_another_rank_is_refused():
    with pytest.raises(
        NormvizError, match="the layout NCHW has rank 4 and x has rank 2; write one letter for each axis of x"
    ):
        explain("LayerNorm(3)", (2, 3), layout="NCHW")


NO_LAYER = [3, None, {"LayerNorm": 3}, b"LayerNorm(3)"]


@pytest.mark.parametrize("layer", NO_LAYER, ids=map(str, NO_LAYER))
def test_other_values_than_layers_are_refused(layer):
    message = "is not a layer; give a torch.nn module, its text such as 'LayerNorm([3, 4, 4])', or a Norm."
    with pytest.raises(NormvizError, match=f"^layer=.*{re.escape(message)}$"):
        explain(layer, (2, 3))


NO_SHAPE = [
    ((), "x=() is not a shape; give sizes such as (2, 3, 4, 4), or a tensor of rank 1 or more."),
    ((2, 3.0), "x=(2, 3.0) is not a shape"),
    ((2, "3"), "x=(2, '3') is not a shape"),
    ((True, 3), "x=(True, 3) is not a shape"),
    ([[2, 3]], "x=[[2, 3]] is not a shape"),
    (torch.tensor(1.0), "x=tensor(1.) is not a shape; give sizes such as (2, 3, 4, 4), or a tensor of rank 1 or more."),
    ((2, 0), "the shape (2, 0) must have 1 to 64 sizes, each from 1 to 1,099,511,627,776."),
    ((2, -3), "the shape (2, -3) must have 1 to 64 sizes"),
    ((2, 2**41), "the shape (2, 2199023255552) must have 1 to 64 sizes"),
    ((2, 10**5000), "the shape a value too long to print must have 1 to 64 sizes"),
    ((1,) * 65, "must have 1 to 64 sizes"),
    (torch.zeros(0, 3), "the shape (0, 3) must have 1 to 64 sizes"),
]


@pytest.mark.parametrize(("x", "message"), NO_SHAPE, ids=range(len(NO_SHAPE)))
def test_invalid_shapes_are_refused(x, message):
    with pytest.raises(NormvizError, match=re.escape(message)):
        explain("LayerNorm(3)", x)


@pytest.mark.parametrize("rank", [1, 20, 64])
def test_any_rank_that_torch_has(rank):
    shape = (1,) * (rank - 1) + (3,)
    e = explain(nn.LayerNorm(3, dtype=torch.float64), random_tensor(shape, 0))
    assert e.counts.statistics == 1
    assert e.agreement < 1e-12
    assert e.peers((0,) * rank) == [(0,) * (rank - 1) + (1,), (0,) * (rank - 1) + (2,)]


NOTES = [
    ("BatchNorm1d(3)", (2, 3, 4), "NLC", "BatchNorm1d uses axis 1 of x as the channel axis; in NLC that is L (size 3). To use C as the channels, permute x to NCL, or use ChannelsLastBatchNorm(4)."),
    ("InstanceNorm1d(3)", (2, 3, 4), "LNC", "in LNC that is N (size 3). To use C as the channels, permute x to NCL."),
    ("BatchNorm2d(3)", (2, 3, 4, 5), "NHWC", "in NHWC that is H (size 3). To use C as the channels, permute x to NCHW, or use ChannelsLastBatchNorm(5)."),
    ("BatchNorm2d(3)", (2, 3, 4, 5), "CNHW", "in CNHW that is N (size 3). To use C as the channels, permute x to NCHW."),
    ("BatchNorm1d(3)", (2, 3), "LN", "BatchNorm1d uses axis 1 of x as the channel axis; in LN that is N (size 3)."),
    ("GroupNorm(3, 3)", (2, 3, 4), "NLC", "GroupNorm uses axis 1 of x as the channel axis"),
    ("InstanceNorm2d(2)", (2, 3, 4), "HWC", "InstanceNorm2d uses axis 0 of x as the channel axis; in HWC that is H (size 2). To use C as the channels, permute x to CHW."),
    ("InstanceNorm1d(2)", (2, 3), "NC", "InstanceNorm1d uses axis 0 of x as the channel axis; in NC that is N (size 2). To use C as the channels, permute x to CN."),
    ("ChannelsFirstLayerNorm(3)", (2, 3, 4), "NLC", "permute x to NCL."),
    ("DimNorm(5)", (2, 3, 4, 5), "NCHW", "DimNorm uses axis 3 of x as the channel axis; in NCHW that is W (size 5). To use C as the channels, permute x to NHWC."),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "shape", "layout", "note"), NOTES)
def test_another_axis_in_the_place_of_the_channels_gives_a_warning(layer, shape, layout, note):
    with pytest.warns(NormvizWarning, match=re.escape(note)) as caught:
        e = explain(layer, shape, layout=layout)
    assert caught[0].filename == __file__
    assert e.notes == (str(caught[0].message),)
    assert e.counts.statistics


SAME_SIZE = "{} normalizes over the last axis of x, here {}, and C has the same size, 4. To normalize over C, use "
LAST_OF_THE_SAME_SIZE = [
    ("LayerNorm(4)", (2, 4, 3, 4), "NCHW", SAME_SIZE.format("LayerNorm([4])", "W") + "ChannelsFirstLayerNorm(4, eps=1e-05) or LayerNorm([4]) on x.movedim(1, -1), shape (2, 3, 4, 4)."),
    ("RMSNorm(4)", (2, 4, 4, 4), "NCHW", SAME_SIZE.format("RMSNorm([4])", "W") + "RMSNorm([4]) on x.movedim(1, -1), shape (2, 4, 4, 4)."),
    ("LayerNorm(4)", (2, 4, 4), "NCL", SAME_SIZE.format("LayerNorm([4])", "L") + "ChannelsFirstLayerNorm(4, eps=1e-05) or LayerNorm([4]) on x.movedim(1, -1), shape (2, 4, 4)."),
    ("LayerNorm(4)", (4, 3, 4), "CHW", SAME_SIZE.format("LayerNorm([4])", "W") + "LayerNorm([4]) on x.movedim(0, -1), shape (3, 4, 4)."),
]  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize(("layer", "shape", "layout", "note"), LAST_OF_THE_SAME_SIZE)
def test_a_last_axis_as_large_as_the_channels_gives_a_warning(layer, shape, layout, note):
    with pytest.warns(NormvizWarning, match=re.escape(note)):
        assert explain(layer, shape, layout=layout).notes == (note,)


UNUSUAL = [
    ("BatchNorm2d(64, 0.8)", (2, 64, 3, 5), "eps=0.8 is added to the variance, and is as large as many variances; 1e-5 is usual. If it is the momentum, write momentum=0.2."),
    ("LayerNorm(5, eps=0.9)", (2, 5), "eps=0.9 is added to the variance, and is as large as many variances; 1e-5 is usual."),
    ("BatchNorm2d(4, momentum=0.99)", (2, 4, 3, 5), "momentum=0.99 is the weight of the new batch in torch"),
    ("InstanceNorm1d(64)", (4, 80, 300), "InstanceNorm1d has num_features=64, and the axis of the channels of x, axis 1, has size 80."),
    ("InstanceNorm1d(20)", (32, 20), "InstanceNorm1d has num_features=20, and the axis of the channels of x, axis 0, has size 32."),
    ("LayerNorm(1)", (3, 1), "Each mean is that of one element: x - mean is 0, and the output does not depend on x."),
    ("RMSNorm(1)", (3, 1), "Each mean square is that of one element: without eps, the output depends only on the sign of x."),
]  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize(("layer", "shape", "note"), UNUSUAL)
def test_what_is_legal_and_seldom_intended_gives_a_warning(layer, shape, note):
    with pytest.warns(NormvizWarning, match=re.escape(note)):
        assert len(explain(layer, shape).notes) == 1


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        ("BatchNorm2d(4, momentum=1.0)", (2, 4, 3, 5)),
        ("BatchNorm2d(4, 0.01)", (2, 4, 3, 5)),
        ("BatchNorm1d(1).eval()", (1, 1)),
    ],
)
def test_what_is_usual_gives_none(layer, shape):
    assert explain(layer, shape).notes == ()


QUIET = [
    ("BatchNorm1d(3)", (2, 3, 4), None),
    ("BatchNorm1d(3)", (2, 3), None),
    ("BatchNorm1d(3)", (2, 3), "ND"),
    ("BatchNorm1d(3)", (2, 3, 4), "NDL"),
    ("InstanceNorm1d(2)", (2, 3), None),
    ("LayerNorm(4)", (2, 3, 4), "NCL"),
    ("LayerNorm(4)", (2, 4, 4), "NLC"),
    ("LayerNorm(4)", (2, 3, 4, 4), "NCHW"),
    ("LayerNorm([4, 4])", (2, 4, 4, 4), "NCHW"),
    ("LayerNorm(4)", (4, 4), "ND"),
    ("DimNorm(4)", (2, 3, 4), None),
    (Norm("n l c -> l", "l"), (2, 3, 4), None),
]


@pytest.mark.parametrize(("layer", "shape", "layout"), QUIET)
def test_usual_layouts_have_no_notes(layer, shape, layout):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert explain(layer, shape, layout=layout).notes == ()
