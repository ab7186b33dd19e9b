import pytest
from hypothesis import assume, given

from normviz.analysis.description import describe
from normviz.analysis.invariance import depends_on_batch, train_equals_eval
from normviz.layers.norm import Norm
from normviz.texts.errors import NormvizError
from tests.support.strategies import layers_that_fit

MODES = [
    ("BatchNorm2d(3)", (2, 3, 4, 4), False),
    ("BatchNorm2d(3).eval()", (2, 3, 4, 4), False),
    ("BatchNorm2d(3, momentum=None)", (2, 3, 4, 4), False),
    ("BatchNorm2d(3, momentum=0.0)", (2, 3, 4, 4), False),
    ("BatchNorm2d(3, track_running_stats=False)", (2, 3, 4, 4), True),
    ("SyncBatchNorm(3)", (2, 3, 4, 4), False),
    ("InstanceNorm2d(3)", (2, 3, 4, 4), True),
    ("InstanceNorm2d(3, track_running_stats=True)", (2, 3, 4, 4), False),
    ("LayerNorm([3, 4, 4])", (2, 3, 4, 4), True),
    ("RMSNorm(4)", (2, 3, 4, 4), True),
    ("GroupNorm(3, 3)", (2, 3, 4, 4), True),
    ("ChannelsFirstLayerNorm(3)", (2, 3, 4, 4), True),
    ("DimNorm(4, dim=0)", (2, 3, 4, 4), True),
    (Norm("n c h w -> c", "c"), (2, 3, 4, 4), True),
    (Norm("n c h w -> c", "c", running=True), (2, 3, 4, 4), True),
    ("BatchNorm1d(3).eval()", (1, 3), False),  # for a batch of one, two examples are measured
    ("InstanceNorm1d(3, track_running_stats=True).eval()", (2, 3, 1), False),  # torch raises an error in training
]


@pytest.mark.parametrize(("layer", "shape", "equal"), MODES)
def test_train_and_eval(layer, shape, equal):
    assert train_equals_eval(describe(layer, shape)) is equal


@given(layers_that_fit())
def test_the_modes_differ_if_there_are_running_statistics(drawn):
    layer, shape = drawn
    try:
        e = describe(layer, shape)
    except NormvizError:
        assume(False)
    assert train_equals_eval(e) == (not layer.tracks)


BATCHES = [
    ("BatchNorm2d(3)", (1, 3, 4, 4), "NCHW", True),  # although this batch has one example
    ("BatchNorm2d(3).eval()", (2, 3, 4, 4), "NCHW", False),
    ("LayerNorm([3, 4, 4])", (2, 3, 4, 4), "NCHW", False),
    ("LayerNorm([2, 3, 4, 4])", (2, 3, 4, 4), "NCHW", True),
    ("DimNorm(4, dim=0)", (2, 3, 5, 4), "NHWC", True),
    ("BatchNorm1d(3)", (2, 3, 4), "LNC", False),  # it uses axis 1 as channels; here these are the examples
    ("InstanceNorm2d(3)", (3, 4, 4), "CHW", None),
]


@pytest.mark.parametrize(("layer", "shape", "layout", "depends"), BATCHES)
def test_which_layers_depend_on_the_batch(layer, shape, layout, depends):
    assert depends_on_batch(describe(layer, shape, layout=layout)) is depends
