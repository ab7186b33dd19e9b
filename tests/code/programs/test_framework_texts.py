"""The text of the Keras and Flax programs."""

from __future__ import annotations

import pytest

from normviz import explain

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
# var uses the biased variance, torch's running_var the unbiased one.
layer = nnx.BatchNorm(
    num_features=3,
    axis=1,  # the axis that is kept
    use_running_average=False,
    momentum=0.9,  # the weight of the old value; torch's 0.1 is the weight of the new value
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
# Keras has no layer that computes this; written from scratch with keras.ops.
# 2**-23: the machine epsilon of float32, which torch uses for eps=None in float32
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
def test_the_program_by_hand(layer, flavor, text):
    assert explain(layer, (2, 3, 4, 5)).code(flavor) == text.strip()
