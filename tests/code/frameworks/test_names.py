"""The same idea in torch, Keras and Flax: its names, defaults and counts."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import assume, given

from normviz import explain
from normviz.analysis.explanation import describe
from normviz.code.framework_names import framework_names
from normviz.code.frameworks import FLAX_LAYERS
from normviz.code.generate import code
from normviz.layers.catalogue import KINDS
from normviz.layers.errors import NormvizError
from normviz.layers.norm import Norm
from tests.code.frameworks.running import FRAMEWORKS, the_class
from tests.strategies import layers_that_fit

COUNTERPARTS = [(framework, layer) for framework in FRAMEWORKS.values() for layer in framework.layers]


@pytest.mark.parametrize(("framework", "layer"), COUNTERPARTS, ids=[layer.name for _, layer in COUNTERPARTS])
def test_defaults_and_names_are_those_of_the_packages(framework, layer, packages):
    parameters = inspect.signature(the_class(layer.name, packages).__init__).parameters
    assert {name: parameters[name].default for name in layer.defaults} == layer.defaults
    assert all(parameters[switch].default is True for switch in layer.learns.values() if switch)
    assert ("momentum" in parameters) == bool(layer.running)
    assert ("use_fast_variance" in parameters) == (framework is FLAX_LAYERS)


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if kind.module], ids=lambda kind: kind.name)
def test_defaults_of_torch_are_those_of_the_package(kind):
    parameters = inspect.signature(kind.module).parameters
    for argument in kind.arguments:
        default = parameters[argument.name].default
        assert argument.default == default or default is inspect.Parameter.empty


NAMES_OF_BATCH_NORM = """
layer | nn.BatchNorm2d | keras.layers.BatchNormalization | nnx.BatchNorm
axes that are normalized | all but 1 | all but axis=1 | all but axis=1
axes of gamma and beta | axis 1 | axis=1 | axis=1
gamma and beta | weight (3,), bias (3,) | gamma (3,), beta (3,) | scale (3,), bias (3,)
False leaves them out | affine, bias | scale, center | use_scale, use_bias
eps | eps=1e-05 (default 1e-05) | epsilon=1e-05 (default 0.001) | epsilon=1e-05 (default 1e-05)
momentum | momentum=0.1 of the new value (default 0.1) | momentum=0.9 of the old value (default 0.99) | momentum=0.9 of the old value (default 0.99)
running mean and variance | running_mean, running_var | moving_mean, moving_variance | mean, var
running variance | unbiased | biased | biased
parameters | 6 parameters, 7 numbers in buffers | 12 parameters: 6 trainable, 6 not | 6 in Param, 6 in BatchStat
"""
NAMES_OF_LAYER_NORM = """
layer | nn.LayerNorm | keras.layers.LayerNormalization | nnx.LayerNorm
axes that are normalized | normalized_shape=[3, 4, 5] | axis=[1, 2, 3] | reduction_axes=(1, 2, 3)
axes of gamma and beta | normalized_shape=[3, 4, 5] | axis=[1, 2, 3] | feature_axes=(1, 2, 3)
gamma and beta | weight (3, 4, 5), bias (3, 4, 5) | gamma (3, 4, 5), beta (3, 4, 5) | scale (60,), bias (60,)
False leaves them out | elementwise_affine, bias | scale, center | use_scale, use_bias
eps | eps=1e-05 (default 1e-05) | epsilon=1e-05 (default 0.001) | epsilon=1e-05 (default 1e-06)
momentum | none | none | none
running mean and variance | none | none | none
running variance | none | none | none
parameters | 120 parameters | 120 parameters | 120 in Param
"""


@pytest.mark.parametrize(
    ("layer", "table"), [("BatchNorm2d(3)", NAMES_OF_BATCH_NORM), ("LayerNorm([3, 4, 5])", NAMES_OF_LAYER_NORM)]
)
def test_name_by_name(layer, table):
    names = framework_names(explain(layer, (2, 3, 4, 5)))
    lines = [f"{name.idea} | {name.torch} | {name.keras} | {name.flax}" for name in names]
    assert lines == table.strip().splitlines()


@pytest.mark.parametrize(
    ("layer", "idea", "cells"),
    [
        ("ChannelsFirstLayerNorm(4)", "layer", ("no layer", "keras.layers.LayerNormalization", "nnx.LayerNorm")),
        ("ChannelsFirstLayerNorm(4)", "axes that are normalized", ("no layer", "axis=1", "reduction_axes=1")),
        ("DimNorm(5, dim=0)", "axes of gamma and beta", ("no layer", "no layer", "feature_axes=-1")),
        ("RMSNorm(5)", "eps", ("eps=None (default None)", *["epsilon=2**-23 (default 1e-06)"] * 2)),
        ("RMSNorm(5)", "gamma and beta", ("weight (5,)", "scale (5,)", "scale (5,)")),
        ("BatchNorm2d(4, affine=False)", "gamma and beta", ("none", "none", "none")),
        ("BatchNorm2d(4, momentum=0.3)", "momentum", ("momentum=0.3 of the new value (default 0.1)", *["momentum=0.7 of the old value (default 0.99)"] * 2)),
        ("BatchNorm2d(4, momentum=None)", "momentum", ("momentum=None (default 0.1)", *["none such (default 0.99)"] * 2)),
        ("InstanceNorm2d(4, track_running_stats=True)", "running variance", ("unbiased", "none", "none")),
        ("InstanceNorm2d(4, affine=True)", "axes that are normalized", ("all but 0 and 1", "all but 0, and axis=1 in groups=4", "all but 0 and feature_axes=1")),
        ("GroupNorm(2, 4)", "axes that are normalized", ("all but 0, and axis 1 in num_groups=2", "all but 0, and axis=1 in groups=2", "all but 0, and the last in num_groups=2")),
    ],
)  # fmt: skip
def test_one_name(layer, idea, cells):
    name = next(name for name in framework_names(describe(layer, (2, 4, 3, 5))) if name.idea == idea)
    assert (name.torch, name.keras, name.flax) == cells


def test_the_names_of_a_pattern_that_keeps_no_axis():
    names = framework_names(describe(Norm("a b -> ", "b"), (4, 1)))
    assert [(name.torch, name.flax) for name in names[:3]] == [
        ("nn.BatchNorm1d", "nnx.LayerNorm"),
        ("all", "reduction_axes=(0, 1)"),
        ("axis 1", "feature_axes=-1"),
    ]


@given(layers_that_fit())
def test_the_names_are_the_same_ideas_for_every_layer(drawn):
    ideas = [name.idea for name in framework_names(explain("LayerNorm(3)", (2, 3)))]
    try:
        e = describe(*drawn)
    except NormvizError:
        assume(False)
    names = framework_names(e)
    assert [name.idea for name in names] == ideas
    assert all(cell for name in names for cell in (name.torch, name.keras, name.flax))


def test_names_and_programs_of_a_huge_shape_need_no_array():
    e = explain("LayerNorm([100000, 100000])", (10**5, 10**5, 10**5))
    assert "num_features=10000000000" in code(e, "flax")
    assert framework_names(e)[3].flax == "scale (10000000000,), bias (10000000000,)"
