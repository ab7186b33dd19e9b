"""The Keras and Flax programs, run by the real packages (Keras on the jax backend); neither is imported by normviz."""

from __future__ import annotations

import importlib
import inspect
import os
import subprocess
import sys
import warnings
from dataclasses import replace
from functools import reduce
from math import prod

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings

from normviz import explain
from normviz.catalogue import KINDS
from normviz.compute import Values, lay
from normviz.counterparts import FLAX_LAYERS, KERAS_LAYERS
from normviz.errors import NormvizError
from normviz.explanation import Explanation, describe
from normviz.frameworks import FRAMEWORK_FLAVORS, framework_names
from normviz.layers import Layer
from normviz.norm import Norm
from normviz.placement import Placement
from tests.strategies import layers_that_fit, norms, random_tensor

FRAMEWORKS = dict(zip(FRAMEWORK_FLAVORS, (KERAS_LAYERS, FLAX_LAYERS), strict=True))
FEW = settings(max_examples=settings().max_examples // 8)  # jax compiles each operation for each shape

BY_HAND = [
    (
        "LayerNorm([3, 4, 5])",
        "keras",
        """
import os

os.environ["KERAS_BACKEND"] = "jax"  # read when keras is imported
import keras

x = keras.random.normal((2, 3, 4, 5))
layer = keras.layers.LayerNormalization(axis=[1, 2, 3], epsilon=1e-05)
y = layer(x)
""",
    ),
    (
        "BatchNorm2d(3)",
        "flax",
        """
import jax
from flax import nnx

x = jax.random.normal(jax.random.key(0), (2, 3, 4, 5))
# var takes in the biased variance, torch's running_var the unbiased one.
layer = nnx.BatchNorm(
    num_features=3,
    axis=1,  # the axis that is kept
    use_running_average=False,
    momentum=0.9,  # of the old value, as torch's 0.1 is of the new one
    epsilon=1e-05,
    use_fast_variance=False,  # the default is E[x^2] - E[x]^2
    rngs=nnx.Rngs(0),
)
y = layer(x)
""",
    ),
    (
        "RMSNorm(5, elementwise_affine=False)",
        "keras",
        """
# No layer of Keras does this: from scratch, with keras.ops.
# 2**-23: float32's machine epsilon, torch's eps=None
import os

os.environ["KERAS_BACKEND"] = "jax"  # read when keras is imported
import keras
from keras import ops


def normalize(x):
    mean_square = ops.mean(ops.square(x), axis=(3,), keepdims=True)
    normalized = x / ops.sqrt(mean_square + 2**-23)
    return normalized


x = keras.random.normal((2, 3, 4, 5))
y = normalize(x)
""",
    ),
]


@pytest.mark.parametrize(("layer", "flavor", "text"), BY_HAND, ids=[f"{b[0]} {b[1]}" for b in BY_HAND])
def test_the_program_is_what_one_would_write(layer, flavor, text):
    assert explain(layer, (2, 3, 4, 5)).code(flavor) == text.strip()


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
        text = e.code(flavor)
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
        text = e.code(flavor)
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


@pytest.mark.parametrize(("layer", "shape"), [case[:2] for case in WHO_DOES_IT])
def test_parameters_are_counted_as_the_packages_count(layer, shape, packages):
    e = describe(layer, shape)
    cells = {name.idea: name for name in framework_names(e)}["parameters"]
    made = {flavor: ran(e.code(flavor)).get("layer") for flavor in FRAMEWORK_FLAVORS}
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
    assert "num_features=10000000000" in e.code("flax")
    assert framework_names(e)[3].flax == "scale (10000000000,), bias (10000000000,)"


@pytest.mark.parametrize("flavor", FRAMEWORK_FLAVORS)
def test_the_program_runs_as_pasted(flavor, tmp_path):
    text = explain("GroupNorm(2, 4)", (2, 4, 3, 5)).code(flavor)
    env = {**os.environ, "KERAS_HOME": str(tmp_path)}
    env.pop("KERAS_BACKEND", None)
    done = subprocess.run([sys.executable, "-c", f"{text}\nprint(y.shape)"], env=env, capture_output=True, text=True)
    assert done.stdout.strip() == "(2, 4, 3, 5)", done.stderr


def test_normviz_imports_neither_framework():
    script = """
import sys
from normviz import explain
from normviz.frameworks import framework_names
e = explain("BatchNorm2d(3)", (2, 3, 4, 5))
e.code("keras"), e.code("flax"), framework_names(e)
print(sorted({"keras", "jax", "flax", "tensorflow"} & set(sys.modules)))
import jax
print(sorted({"keras", "jax", "flax", "tensorflow"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.split("\n")[:2] == ["[]", "['jax']"], done.stderr


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Keras on jax, jax and flax.nnx; imported once, as it takes seconds. Keras writes its settings at import."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        patch.setenv("KERAS_BACKEND", "jax")
        patch.setenv("KERAS_HOME", str(tmp_path_factory.mktemp("keras")))
        patch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # compiles in half the time
        names = {"keras": "keras", "jax": "jax", "jnp": "jax.numpy", "nnx": "flax.nnx"}
        yield {name: importlib.import_module(module) for name, module in names.items()}


def the_class(name, packages):
    first, *rest = name.split(".")
    return reduce(getattr, rest, packages[first])


def with_random_values(layer, shape, offset=0.0) -> Explanation:
    """The layer on random float32 numbers, with random gamma, beta and running statistics."""
    e = describe(layer, random_tensor(shape, 1, torch.float32, offset))
    sizes = e.norm.axis_sizes(shape)
    kept = tuple(sizes[name] for name in e.norm.pattern.right) if e.norm.running else None
    shapes = (e.counts.gamma_shape, e.counts.beta_shape, kept, kept)
    values = [None if s is None else random_tensor(s, seed, torch.float32) for seed, s in enumerate(shapes, 2)]
    if kept is not None:
        values[3] = values[3].square() + 0.1
    return replace(e, values=Values(*values))


def ran(text):
    names = {"__name__": "__code__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        exec(compile(text, "<code>", "exec"), names)
    return names


def call(text, names):
    """The program's last line, once more."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        exec(text.splitlines()[-1], names)
    return np.asarray(names["y"])


def assert_runs_and_agrees(e, flavor):
    """The program, given x, gamma, beta and running statistics, makes of them what the trace does."""
    jnp = importlib.import_module("jax.numpy")
    text, layer = e.code(flavor), FRAMEWORKS[flavor].layer(Placement.of(e))
    made = ran(text)
    assert made["y"].shape == made["x"].shape == e.shape
    held = {name: value.numpy() for name, value in vars(e.values).items() if value is not None}
    theirs = dict(zip(layer.learns, ("gamma", "beta"), strict=False)) if layer else {}
    theirs |= dict(zip(layer.running, ("running_mean", "running_var"), strict=False)) if layer else {}
    for name, ours in theirs.items():
        if ours in held:
            put(getattr(made["layer"], name), held.pop(ours))
    for name, value in held.items():
        assert made[name].shape == value.shape
        made[name] = jnp.asarray(value)
    made["x"] = jnp.asarray(e.x.numpy())
    found = call(text, made)
    assert found.dtype == np.float32
    assert np.all(np.abs(found - e.trace.output.numpy()) <= tolerance(e))


def put(variable, value):
    """A layer's own variable, in its own shape: Flax's are flat."""
    value = value.reshape(variable.shape)
    if hasattr(variable, "assign"):
        variable.assign(value)
    else:
        variable[...] = value


def tolerance(e):
    """Some roundings of float32 in every term, largest where x * inv - mean * inv, which is how Keras does it, cancels."""
    trace, ones = e.trace, torch.ones(())
    gamma, beta = (ones if value is None else lay(e.norm, e.shape, value) for value in (e.values.gamma, e.values.beta))
    terms = (e.x.abs() + trace.mean.abs()) / torch.sqrt(trace.var + trace.eps) * gamma.abs() + beta.abs()
    return 16 * np.finfo(np.float32).eps * terms.numpy()
