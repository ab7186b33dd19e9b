"""Which layer of Keras and Flax does what a layer of torch does, asked of the real packages."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
import torch
from hypothesis import assume, given

from normviz.analysis.explanation import describe
from normviz.code.axis_numbers import Placement
from normviz.code.framework_names import FRAMEWORK_FLAVORS, framework_names
from normviz.code.frameworks import FLAX_LAYERS, KERAS_LAYERS
from normviz.code.generate import code
from normviz.layers.catalogue import KINDS
from normviz.layers.errors import NormvizError
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from tests.code.frameworks.running import FEW, FRAMEWORKS, assert_runs_and_agrees, call, ran, with_random_values
from tests.strategies import layers_that_fit, norms

# layer, shape of x, Keras's layer, Flax's layer; "" where the framework has none
WHO_DOES_IT = [
    ("LayerNorm(5)", (5,), "LayerNormalization", "LayerNorm"),
    ("LayerNorm(5)", (2, 5), "LayerNormalization", "LayerNorm"),
    ("LayerNorm(5, eps=0.001, bias=False)", (2, 3, 5), "LayerNormalization", "LayerNorm"),
    ("LayerNorm(5, elementwise_affine=False)", (2, 3, 5), "LayerNormalization", "LayerNorm"),
    ("LayerNorm([4, 5])", (2, 3, 4, 5), "LayerNormalization", "LayerNorm"),
    ("LayerNorm([3, 4, 5], bias=False)", (2, 3, 4, 5), "LayerNormalization", "LayerNorm"),
    ("RMSNorm(5)", (2, 3, 5), "RMSNormalization", "RMSNorm"),
    ("RMSNorm([4, 5], eps=0.001)", (2, 3, 4, 5), "RMSNormalization", "RMSNorm"),
    ("RMSNorm(5, elementwise_affine=False)", (2, 3, 5), "", "RMSNorm"),
    ("BatchNorm1d(5)", (6, 5), "BatchNormalization", "BatchNorm"),
    ("BatchNorm1d(3, momentum=0.3)", (2, 3, 5), "BatchNormalization", "BatchNorm"),
    ("BatchNorm1d(3, momentum=None)", (2, 3, 5), "BatchNormalization", "BatchNorm"),
    ("BatchNorm2d(3)", (2, 3, 4, 5), "BatchNormalization", "BatchNorm"),
    ("BatchNorm2d(3, bias=False)", (2, 3, 4, 5), "BatchNormalization", "BatchNorm"),
    ("BatchNorm2d(3, affine=False)", (2, 3, 4, 5), "BatchNormalization", "BatchNorm"),
    ("BatchNorm2d(3).eval()", (2, 3, 4, 5), "BatchNormalization", "BatchNorm"),
    ("BatchNorm2d(3, affine=False).eval()", (2, 3, 4, 5), "BatchNormalization", "BatchNorm"),
    ("BatchNorm2d(3, track_running_stats=False).eval()", (2, 3, 4, 5), "BatchNormalization", "BatchNorm"),
    ("BatchNorm3d(3, eps=0.001)", (2, 3, 2, 4, 5), "BatchNormalization", "BatchNorm"),
    ("SyncBatchNorm(3)", (2, 3, 4, 5), "BatchNormalization", "BatchNorm"),
    ("InstanceNorm1d(3)", (2, 3, 5), "LayerNormalization", "InstanceNorm"),
    ("InstanceNorm1d(3)", (3, 5), "LayerNormalization", "LayerNorm"),
    ("InstanceNorm1d(3, affine=True)", (3, 5), "", "LayerNorm"),
    ("InstanceNorm2d(3, affine=True)", (2, 3, 4, 5), "GroupNormalization", "InstanceNorm"),
    ("InstanceNorm2d(3, affine=True, bias=False)", (2, 3, 4, 5), "GroupNormalization", "InstanceNorm"),
    ("InstanceNorm2d(3, track_running_stats=True)", (2, 3, 4, 5), "LayerNormalization", "InstanceNorm"),
    ("InstanceNorm2d(3, track_running_stats=True).eval()", (2, 3, 4, 5), "BatchNormalization", "BatchNorm"),
    ("InstanceNorm1d(3, affine=True, track_running_stats=True).eval()", (3, 5), "BatchNormalization", "BatchNorm"),
    ("InstanceNorm3d(3, affine=True)", (2, 3, 2, 4, 5), "GroupNormalization", "InstanceNorm"),
    ("GroupNorm(2, 4)", (2, 4, 3, 5), "GroupNormalization", "GroupNorm"),
    ("GroupNorm(2, 4)", (2, 4), "GroupNormalization", "GroupNorm"),
    ("GroupNorm(1, 4)", (2, 4, 3, 5), "GroupNormalization", "GroupNorm"),
    ("GroupNorm(4, 4, bias=False)", (2, 4, 3, 5), "GroupNormalization", "GroupNorm"),
    ("GroupNorm(2, 4, affine=False)", (2, 4, 3, 5), "GroupNormalization", "GroupNorm"),
    ("ChannelsFirstLayerNorm(3)", (2, 3, 4, 5), "LayerNormalization", "LayerNorm"),
    ("DimNorm(5)", (2, 3, 4, 5), "LayerNormalization", "LayerNorm"),
    ("DimNorm(5, dim=0)", (2, 3, 4, 5), "", "LayerNorm"),
    ("DimNorm(5, dim=0)", (6, 5), "BatchNormalization", "BatchNorm"),
    # channels last
    (Norm("n h w c -> c", "c"), (2, 4, 5, 3), "BatchNormalization", "BatchNorm"),
    (Norm("n h w c -> n c", "c"), (2, 4, 5, 3), "GroupNormalization", "InstanceNorm"),
    (Norm("n h w c -> n c"), (2, 4, 5, 3), "LayerNormalization", "InstanceNorm"),
    (Norm("n h w (g k) -> n g", "c", sizes={"g": 2}), (2, 4, 5, 6), "GroupNormalization", "GroupNorm"),
    (Norm("n h w c -> n h w", "c", bias=False), (2, 4, 5, 3), "LayerNormalization", "LayerNorm"),
    # other patterns
    (Norm("n c h w -> n", "c"), (2, 3, 4, 5), "GroupNormalization", "LayerNorm"),
    (Norm("n c h w -> n", "c h"), (2, 3, 4, 5), "", "LayerNorm"),
    (Norm("n c h w -> n h w", "c", center=False, bias=False), (2, 3, 4, 3), "", "RMSNorm"),
    (Norm("n d -> n", "d", center=False), (2, 5), "", ""),
    (Norm("n c h w ->", ""), (2, 3, 4, 5), "", "LayerNorm"),
    (Norm("n c h w -> n c h w", "c"), (2, 3, 4, 5), "", "LayerNorm"),
    (Norm("n c h w -> n", "w h c"), (2, 3, 4, 5), "", ""),
    (Norm("n (k g) h w -> n g", "c", sizes={"g": 2}), (2, 4, 3, 5), "", ""),
    (Norm("(n m) c -> m c", "c", sizes={"m": 2}), (4, 3), "", ""),
    (Norm("n (g h k) w -> n g h", "c", sizes={"g": 2, "h": 3}), (2, 12, 5), "GroupNormalization", "GroupNorm"),
    (Norm("n l c -> l c", "c"), (4, 5, 3), "", "LayerNorm"),
    (Norm("n l c -> l c", "l c", running=True), (4, 5, 3), "", ""),
    (Norm("n l c -> l c", running=True), (4, 5, 3), "", ""),
    (Norm("n c -> n", "n"), (2, 3), "", "LayerNorm"),
    (Norm("n c -> n", "n", running=True), (2, 3), "BatchNormalization", "BatchNorm"),
    (Norm("n c -> c", "c", center=False, running=True, bias=False), (2, 3), "", ""),
]


def test_every_layer_of_the_catalogue_is_tried():
    names = {Layer.parse(layer).name for layer, *_ in WHO_DOES_IT if isinstance(layer, str)}
    assert names == set(KINDS)


@pytest.mark.parametrize(("layer", "shape", "keras", "flax"), WHO_DOES_IT)
def test_the_frameworks_layer_is_found_by_the_patterns_and_gives_the_trace(layer, shape, keras, flax, packages):
    e = with_random_values(layer, shape)
    for flavor, prefix, name in (("keras", "keras.layers.", keras), ("flax", "nnx.", flax)):
        found = FRAMEWORKS[flavor].layer(Placement.of(e))
        assert (found.name if found else "") == (prefix + name if name else "")
        text = code(e, flavor)
        assert ("from scratch" in text) == ("def normalize" in text) == (not name)
        assert_runs_and_agrees(e, flavor)


@FEW
@given(drawn=layers_that_fit())
def test_any_layer_of_the_catalogue_agrees(packages, drawn):
    layer, shape = drawn
    try:
        e = with_random_values(layer, shape)
    except NormvizError as refused:
        assume("Expected more than 1" not in str(refused))
        raise
    for flavor in FRAMEWORK_FLAVORS:
        assert_runs_and_agrees(e, flavor)


@FEW
@given(drawn=norms() | norms(running=True))
def test_any_norm_agrees(packages, drawn):
    e = with_random_values(*drawn)
    for flavor in FRAMEWORK_FLAVORS:
        assert_runs_and_agrees(e, flavor)


def test_the_running_variance_is_biased_where_the_program_says_so(packages):
    e = with_random_values("BatchNorm2d(3)", (2, 3, 4, 5))
    biased = e.x.var(dim=(0, 2, 3), correction=0)
    module = e.layer.module()
    module(e.x)
    assert torch.allclose(module.running_var, 0.9 + 0.1 * biased * 40 / 39)
    for flavor, variance in (("keras", "moving_variance"), ("flax", "var")):
        text = code(e, flavor)
        assert f"# {variance} takes in the biased variance, torch's running_var the unbiased one." in text
        made = ran(text)
        made["x"] = packages["jnp"].asarray(e.x.numpy())
        before = np.asarray(getattr(made["layer"], variance)).copy()
        call(text, made)
        after = np.asarray(getattr(made["layer"], variance))
        assert np.allclose(after, 0.9 * before + 0.1 * biased.numpy(), rtol=1e-6)


def test_an_offset_does_no_harm_to_either_program(packages):
    """Flax's default, E[x^2] - E[x]^2, is off by more than 1 here."""
    e = with_random_values("LayerNorm(8, elementwise_affine=False)", (2, 8), offset=1e4)
    fast = packages["nnx"].LayerNorm(8, epsilon=1e-5, rngs=packages["nnx"].Rngs(0))
    error = np.asarray(fast(packages["jnp"].asarray(e.x.numpy()))) - e.trace.output.numpy()
    assert np.abs(error).max() > 1
    for flavor in FRAMEWORK_FLAVORS:
        assert_runs_and_agrees(e, flavor)


def test_keras_lays_the_scale_of_rms_normalization_along_the_last_axes(packages):
    """Why only the last axes are given to it: elsewhere its scale is refused, or meets the wrong elements."""
    keras = packages["keras"]
    with pytest.raises(ValueError, match="Incompatible shapes"):
        keras.layers.RMSNormalization(axis=1)(np.ones((2, 3, 4), "float32"))
    layer = keras.layers.RMSNormalization(axis=1)
    layer.build((2, 3, 3))
    layer.scale.assign([1, 2, 3])
    first_row, *_ = np.asarray(layer(np.ones((1, 3, 3), "float32")))[0]
    assert np.allclose(first_row, [1, 2, 3])  # one scale a column: axis 1 would make it [1, 1, 1]


@pytest.mark.parametrize(("layer", "shape"), [case[:2] for case in WHO_DOES_IT])
def test_parameters_are_counted_as_the_packages_count(layer, shape, packages):
    e = describe(layer, shape)
    cells = {name.idea: name for name in framework_names(e)}["parameters"]
    made = {flavor: ran(code(e, flavor)).get("layer") for flavor in FRAMEWORK_FLAVORS}
    if made["keras"] is not None:
        trainable = sum(prod(weight.shape) for weight in made["keras"].trainable_weights)
        assert int(cells.keras.split()[0]) == made["keras"].count_params()
        assert cells.keras == KERAS_LAYERS.counted(trainable, made["keras"].count_params() - trainable)
    if made["flax"] is not None:
        nnx, leaves = packages["nnx"], packages["jax"].tree.leaves
        learn, run = (
            sum(leaf.size for leaf in leaves(nnx.state(made["flax"], kind))) for kind in (nnx.Param, nnx.BatchStat)
        )
        assert cells.flax == FLAX_LAYERS.counted(learn, run)
