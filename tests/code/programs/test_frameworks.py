"""Keras and Flax compute what the generated programs and the questions say; only this file imports them, so that they are imported once."""

from __future__ import annotations

import inspect
import sys
from functools import reduce
from math import prod

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from normviz.analysis.description import describe
from normviz.analysis.examples import example
from normviz.code.programs import FLAX_LAYERS, FRAMEWORKS, AxisNumbers, code, framework_names
from normviz.layers.catalogue import KINDS
from normviz.layers.layer import Layer
from normviz.lessons.questions.facts import x_of
from normviz.lessons.questions.topics.frameworks import keras_updates
from normviz.lessons.questions.topics.statistics import REAL
from tests.code.programs.layer_table import LAYERS
from tests.code.programs.run_programs import (
    assert_agree,
    assert_output,
    call,
    on_values_of,
    run,
    run_together,
    with_random_values,
)
from tests.lessons.questions.statements.measure import facts
from tests.support.strategies import layers_that_fit, norms

ONCE = settings(max_examples=max(1, settings().max_examples // 60))
TOGETHER = 4  # layers of an example, which jax compiles as one


@pytest.fixture(scope="module", autouse=True)
def packages(tmp_path_factory):
    """Keras, jax and flax.nnx, as the generated programs import them. Keras writes its settings when it is imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERAS_BACKEND", "")  # the original value is restored at the end
        patch.delenv("KERAS_BACKEND")
        patch.setenv("KERAS_HOME", str(tmp_path_factory.mktemp("keras")))
        patch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # halves the time to compile
        before = imported()  # other tests of this process may have imported some
        e = describe("GroupNorm(2, 4)", (2, 4, 3, 5))
        programs = code(e, "keras"), code(e, "flax")
        framework_names(e)
        assert imported() == before  # normviz imports no framework
        found = {name: value for program in programs for name, value in run(program).items()}
        assert found["y"].shape == (2, 4, 3, 5)
        yield {name: found[name] for name in ("keras", "jax", "nnx")} | {"jnp": found["jax"].numpy}


def imported():
    return {"keras", "jax", "flax", "tensorflow"} & set(sys.modules)


def test_the_programs_run_as_pasted_with_keras_on_jax(packages):
    assert packages["keras"].backend.backend() == "jax"
    assert imported() == {"flax", "jax", "keras"}


@pytest.fixture(scope="module")
def programs(packages):
    """The description and the program of each row of the table, in each framework."""
    rows = [with_random_values(layer, shape) for layer, shape, *_ in LAYERS]
    cases = [(e, flavor) for e in rows for flavor in FRAMEWORKS]
    found = iter(run_together(cases))
    return [(e, {flavor: next(found) for flavor in FRAMEWORKS}) for e in rows]


@pytest.mark.parametrize("number", range(len(LAYERS)), ids=[f"{layer} on {shape}" for layer, shape, *_ in LAYERS])
def test_the_program_uses_the_layer_with_these_patterns_and_gives_the_output_and_the_counts(number, programs, packages):
    (e, by_flavor), (*_, keras, flax) = programs[number], LAYERS[number]
    count = next(row for row in framework_names(e) if row.key == "count")
    for flavor, prefix, name in (("keras", "keras.layers.", keras), ("flax", "nnx.", flax)):
        found = FRAMEWORKS[flavor].layer(AxisNumbers.of(e))
        assert (found.name if found else "") == (prefix + name if name else "")
        assert ("from scratch" in code(e, flavor)) == ("def normalize" in code(e, flavor)) == (not name)
        assert_output(by_flavor[flavor], e)
        if name:
            assert getattr(count, flavor) == PARAMETER_COUNTS[flavor](by_flavor[flavor]["layer"], packages)


def count_in_keras(layer, packages):
    every = layer.count_params()
    trainable = sum(prod(weight.shape) for weight in layer.trainable_weights)
    return str(every) if trainable == every else f"{every}: {trainable} trainable, {every - trainable} not trainable"


def count_in_flax(layer, packages):
    nnx, leaves = packages["nnx"], packages["jax"].tree.leaves
    learned, running = (
        sum(leaf.size for leaf in leaves(nnx.state(layer, kind))) for kind in (nnx.Param, nnx.BatchStat)
    )
    return f"{learned} in Param, {running} in BatchStat" if running else f"{learned} in Param"


PARAMETER_COUNTS = {"keras": count_in_keras, "flax": count_in_flax}


def test_the_table_has_every_layer_of_the_catalogue():
    assert {Layer.parse(layer).name for layer, *rest in LAYERS if isinstance(layer, str)} == set(KINDS)


@ONCE
@given(drawn=st.lists(layers_that_fit(), min_size=TOGETHER, max_size=TOGETHER))
def test_the_programs_of_any_layer_of_the_catalogue_give_its_output(packages, drawn):
    assert_agree([(with_random_values(*one), flavor) for one in drawn for flavor in FRAMEWORKS])


@ONCE
@given(drawn=st.lists(norms() | norms(running=True), min_size=TOGETHER, max_size=TOGETHER))
def test_the_programs_of_any_norm_give_its_output(packages, drawn):
    assert_agree([(with_random_values(*one), flavor) for one in drawn for flavor in FRAMEWORKS])


@pytest.mark.parametrize(
    "layer", ["LayerNorm([3, 5])", "BatchNorm2d(4).eval()", "Norm('n (k g) h w -> n g','c',sizes={'g': 2})"]
)
@pytest.mark.parametrize("flavor", FRAMEWORKS)
def test_a_program_gives_its_output_without_a_compiler_around_it_too(packages, layer, flavor):
    e = with_random_values(layer, (2, 4, 3, 5))
    assert_output(on_values_of(e, flavor), e)


def test_the_running_variance_is_biased_as_the_program_says(packages):
    e = with_random_values("BatchNorm2d(4)", (2, 4, 3, 5))
    biased = e.x.var(dim=(0, 2, 3), correction=0)
    module = e.layer.module()
    module(e.x)
    assert torch.allclose(module.running_var, 0.9 + 0.1 * biased * 30 / 29)
    for flavor, variance in (("keras", "moving_variance"), ("flax", "var")):
        text = code(e, flavor)
        assert f"# {variance} uses the biased variance, torch's running_var the unbiased one." in text
        program = run(text)
        program["x"] = packages["jnp"].asarray(e.x.numpy())
        before = np.asarray(getattr(program["layer"], variance)).copy()
        call(text, program)
        after = np.asarray(getattr(program["layer"], variance))
        assert np.allclose(after, 0.9 * before + 0.1 * biased.numpy(), rtol=1e-6)


def test_the_programs_are_exact_for_x_far_from_0(packages):
    """Flax's default, E[x^2] - E[x]^2, is off by more than 1 here."""
    e = with_random_values("LayerNorm(5, elementwise_affine=False)", (6, 5), offset=1e4)
    fast = packages["nnx"].LayerNorm(5, epsilon=1e-5, rngs=packages["nnx"].Rngs(0))
    error = np.asarray(fast(packages["jnp"].asarray(e.x.numpy()))) - e.trace.output.numpy()
    assert np.abs(error).max() > 1
    for flavor in FRAMEWORKS:
        assert_output(on_values_of(e, flavor), e)


def test_the_scale_of_keras_rms_normalization_is_on_the_last_axes_for_any_axis(packages):
    keras = packages["keras"]
    with pytest.raises(ValueError, match="Incompatible shapes"):
        keras.layers.RMSNormalization(axis=1)(np.ones((2, 3, 4), "float32"))
    layer = keras.layers.RMSNormalization(axis=1)
    layer.build((2, 3, 3))
    layer.scale.assign([1, 2, 3])
    first_row = np.asarray(layer(np.ones((1, 3, 3), "float32")))[0, 0]
    assert np.allclose(first_row, [1, 2, 3])  # one scale for each column; axis 1 would give [1, 1, 1]


FRAMEWORK_LAYERS = [(framework, layer) for framework in FRAMEWORKS.values() for layer in framework.layers]


@pytest.mark.parametrize(
    ("framework", "layer"), FRAMEWORK_LAYERS, ids=[layer.name for framework, layer in FRAMEWORK_LAYERS]
)
def test_defaults_and_names_are_those_of_the_packages(framework, layer, packages):
    first, *rest = layer.name.split(".")
    parameters = inspect.signature(reduce(getattr, rest, packages[first]).__init__).parameters
    assert {name: parameters[name].default for name in layer.defaults} == layer.defaults
    assert all(parameters[switch].default is True for switch in layer.parameters.values() if switch)
    assert ("momentum" in parameters) == bool(layer.running)
    assert ("use_fast_variance" in parameters) == (framework is FLAX_LAYERS)


# what the questions state about Keras

X = example("scales", (6, 3), ("n", "d")).numpy()


@pytest.fixture
def keras(packages):
    return packages["keras"]


def array(tensor):
    return np.asarray(tensor.value if hasattr(tensor, "value") else tensor)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("trainable", [True, False])
def test_when_keras_updates_its_statistics_and_which_it_uses(keras, training, trainable):
    layer = keras.layers.BatchNormalization()
    layer.build(X.shape)
    layer.trainable = trainable
    before = array(layer.moving_mean).copy()
    y = array(layer(X, training=training))
    moved = bool((array(layer.moving_mean) != before).any())
    uses_batch = bool(np.abs(y.mean(axis=0)).max() < 1e-3)
    assert moved == uses_batch == keras_updates(training, trainable)


def test_axis_is_kept_by_batch_normalization_and_reduced_by_layer_normalization(keras):
    f = facts("q19")
    x = example("scales", (2, 4, 4, 3), ("n", "h", "w", "c")).numpy()
    batch, layer = keras.layers.BatchNormalization(axis=-1), keras.layers.LayerNormalization(axis=-1)
    batched, layered = array(batch(x, training=True)), array(layer(x))
    assert batch.moving_mean.shape == (f["batch"],)
    assert np.abs(batched.mean(axis=(0, 1, 2))).max() < 1e-3 < np.abs(batched.mean(axis=-1)).max()
    assert np.abs(layered.mean(axis=-1)).max() < 1e-3 < np.abs(layered.mean(axis=(0, 1, 2))).max()
    assert layered.mean(axis=-1).size == f["layer"]


def test_keras_counts_four_parameters_per_channel(keras):
    f = facts("q25")
    layer = keras.layers.BatchNormalization(axis=1)
    layer.build((2, 4, 3, 3))
    assert layer.count_params() == f["keras"]
    assert sum(int(np.prod(weight.shape)) for weight in layer.trainable_weights) == f["learned"]


def test_momentum_is_the_weight_of_the_old_value(keras):
    f = facts("q11")
    layer = keras.layers.BatchNormalization(momentum=f["keras"])
    layer.build(X.shape)
    layer(X, training=True)
    np.testing.assert_allclose(array(layer.moving_mean), f["torch"] * X.mean(axis=0), rtol=1e-4)


@pytest.mark.parametrize("masked", [True, False])
def test_with_a_mask_padding_changes_neither_keras_nor_flax(packages, masked):
    """The outputs of the real tokens of two sequences of six and of two steps, padded to six and to twelve."""
    keras, nnx, jnp = packages["keras"], packages["nnx"], packages["jnp"]
    outputs = []
    for length in (6, 12):
        x = F.pad(x_of("q21"), (0, length - 6)).transpose(1, 2).numpy()
        mask = np.ones((2, length), bool)
        if masked:
            mask[:, 6:] = mask[1, REAL:] = False
        by_keras = keras.layers.BatchNormalization()(x, training=True, mask=mask)
        by_flax = nnx.BatchNorm(3, rngs=nnx.Rngs(0))(jnp.asarray(x), mask=jnp.asarray(mask)[..., None])
        outputs.append([np.asarray(y)[1, :REAL] for y in (by_keras, by_flax)])
    for short, long in zip(*outputs, strict=True):
        assert (np.abs(short - long).max() < 1e-5) == masked
