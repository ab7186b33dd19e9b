"""What the questions state about Keras, checked with Keras itself (JAX backend); normviz does not import it."""

from __future__ import annotations

import importlib
import warnings

import numpy as np
import pytest

from normviz.analysis.examples import example
from normviz.lessons.questions.bank.frameworks import keras_updates
from normviz.lessons.questions.facts import keras_default
from tests.lessons.questions.statements.measure import facts

X = example("scales", (6, 3), ("n", "d")).numpy()


@pytest.fixture(scope="module")
def keras(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        patch.setenv("KERAS_BACKEND", "jax")
        patch.setenv("KERAS_HOME", str(tmp_path_factory.mktemp("keras")))
        yield importlib.import_module("keras")


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


def test_the_defaults_are_those_of_keras(keras):
    layer = keras.layers.BatchNormalization()
    assert (layer.momentum, layer.epsilon) == (keras_default("momentum"), keras_default("epsilon"))
