"""The table of names in torch, Keras and Flax."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import assume, given

from normviz import explain
from normviz.analysis.description import describe
from normviz.code.programs import LABELS, ONLY_IF_RUNNING, framework_names
from normviz.layers.catalogue import KINDS
from normviz.layers.norm import Norm
from normviz.texts.errors import NormvizError
from tests.support.needs import HAS_BIAS
from tests.support.strategies import layers_that_fit


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if kind.module], ids=lambda kind: kind.name)
def test_defaults_of_torch_are_those_of_the_package(kind):
    parameters = inspect.signature(kind.module).parameters
    for argument in (one for one in kind.arguments if one.in_torch):
        default = parameters[argument.name].default
        assert argument.default == default or default is inspect.Parameter.empty


NAMES_OF_BATCH_NORM = """
layer | nn.BatchNorm2d | keras.layers.BatchNormalization | nnx.BatchNorm
normalized axes | all but 1 | all but axis=1 | all but axis=1
axes of gamma and beta | axis 1 | axis=1 | axis=1
gamma and beta | weight (3,), bias (3,) | gamma (3,), beta (3,) | scale (3,), bias (3,)
arguments that switch gamma and beta off | affine, bias | scale, center | use_scale, use_bias
eps | eps=1e-05 (default 1e-05) | epsilon=1e-05 (default 0.001) | epsilon=1e-05 (default 1e-05)
momentum | momentum=0.1 of the new value (default 0.1) | momentum=0.9 of the old value (default 0.99) | momentum=0.9 of the old value (default 0.99)
running mean and variance | running_mean, running_var | moving_mean, moving_variance | mean, var
kind of running variance | unbiased | biased | biased
number of parameters | 6, and 7 in buffers | 12: 6 trainable, 6 not trainable | 6 in Param, 6 in BatchStat
"""
NAMES_OF_LAYER_NORM = """
layer | nn.LayerNorm | keras.layers.LayerNormalization | nnx.LayerNorm
normalized axes | normalized_shape=[3, 4, 5] | axis=[1, 2, 3] | reduction_axes=(1, 2, 3)
axes of gamma and beta | normalized_shape=[3, 4, 5] | axis=[1, 2, 3] | feature_axes=(1, 2, 3)
gamma and beta | weight (3, 4, 5), bias (3, 4, 5) | gamma (3, 4, 5), beta (3, 4, 5) | scale (60,), bias (60,)
arguments that switch gamma and beta off | elementwise_affine, bias | scale, center | use_scale, use_bias
eps | eps=1e-05 (default 1e-05) | epsilon=1e-05 (default 0.001) | epsilon=1e-05 (default 1e-06)
running mean and variance | none | none | none
number of parameters | 120 | 120 | 120 in Param
"""


@pytest.mark.parametrize(
    ("layer", "table"), [("BatchNorm2d(3)", NAMES_OF_BATCH_NORM), ("LayerNorm([3, 4, 5])", NAMES_OF_LAYER_NORM)]
)
def test_the_table_by_hand(layer, table):
    table = table if HAS_BIAS else table.replace("affine, bias |", "affine |", 1) if "Batch" in layer else table
    rows = framework_names(explain(layer, (2, 3, 4, 5)))
    lines = [f"{row.label} | {row.torch} | {row.keras} | {row.flax}" for row in rows]
    assert lines == table.strip().splitlines()


@pytest.mark.parametrize(
    ("layer", "key", "cells"),
    [
        ("ChannelsFirstLayerNorm(4)", "layer", ("no layer", "keras.layers.LayerNormalization", "nnx.LayerNorm")),
        ("ChannelsFirstLayerNorm(4)", "normalized_axes", ("no layer", "axis=1", "reduction_axes=1")),
        ("DimNorm(5, dim=0)", "parameter_axes", ("no layer", "no layer", "feature_axes=-1")),
        ("RMSNorm(5)", "eps", ("eps=None (default None)", *["epsilon=2**-23 (default 1e-06)"] * 2)),
        ("RMSNorm(5)", "parameters", ("weight (5,)", "scale (5,)", "scale (5,)")),
        ("BatchNorm2d(4, affine=False)", "parameters", ("none", "none", "none")),
        ("BatchNorm2d(4, momentum=0.3)", "momentum", ("momentum=0.3 of the new value (default 0.1)", *["momentum=0.7 of the old value (default 0.99)"] * 2)),
        ("BatchNorm2d(4, momentum=None)", "momentum", ("momentum=None (default 0.1)", *["does not exist (default 0.99)"] * 2)),
        ("InstanceNorm2d(4, track_running_stats=True)", "running_variance", ("unbiased", "none", "none")),
        ("InstanceNorm2d(4, affine=True)", "normalized_axes", ("all but 0 and 1", "all but 0, and axis=1 in groups=4", "all but 0 and feature_axes=1")),
        ("GroupNorm(2, 4)", "normalized_axes", ("all but 0, and axis 1 in num_groups=2", "all but 0, and axis=1 in groups=2", "all but 0, and the last axis in num_groups=2")),
        (Norm("a b c d -> ", "b"), "layer", ("no layer", "no layer", "nnx.LayerNorm")),
    ],
)  # fmt: skip
def test_one_row(layer, key, cells):
    row = next(row for row in framework_names(describe(layer, (2, 4, 3, 5))) if row.key == key)
    assert (row.torch, row.keras, row.flax) == cells


@pytest.mark.parametrize("layer", ["LayerNorm(5)", "GroupNorm(2, 4)", "InstanceNorm2d(4)", "RMSNorm(5)"])
def test_the_table_of_a_layer_without_running_statistics_says_so_in_one_row(layer):
    rows = framework_names(describe(layer, (2, 4, 3, 5)))
    assert [row.label for row in rows if "running" in row.label] == ["running mean and variance"]
    assert "momentum" not in {row.key for row in rows}


def test_a_norm_that_keeps_no_axis():
    rows = framework_names(describe(Norm("a b -> ", "b"), (4, 1)))
    assert [(row.torch, row.flax) for row in rows[:3]] == [
        ("nn.BatchNorm1d", "nnx.LayerNorm"),
        ("all", "reduction_axes=(0, 1)"),
        ("axis 1", "feature_axes=-1"),
    ]


@given(layers_that_fit())
def test_every_layer_has_every_row_that_applies(drawn):
    try:
        e = describe(*drawn)
    except NormvizError:
        assume(False)
    rows = framework_names(e)
    running = next(row for row in rows if row.key == "running")
    stores = {running.torch, running.keras, running.flax} - {"none", "no layer"}
    assert [row.key for row in rows] == [key for key in LABELS if stores or key not in ONLY_IF_RUNNING]
    assert all(cell for row in rows for cell in (row.label, row.torch, row.keras, row.flax))


def test_a_huge_shape_needs_no_array():
    e = explain("LayerNorm([100000, 100000])", (10**5, 10**5, 10**5))
    assert "num_features=10000000000" in e.code("flax")
    assert framework_names(e)[3].flax == "scale (10000000000,), bias (10000000000,)"
