"""The Keras and Flax programs, run by the real packages (Keras on the jax backend); neither is imported by normviz."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from normviz import explain
from normviz.code.framework_names import FRAMEWORK_FLAVORS

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
from normviz.code.framework_names import framework_names
e = explain("BatchNorm2d(3)", (2, 3, 4, 5))
e.code("keras"), e.code("flax"), framework_names(e)
print(sorted({"keras", "jax", "flax", "tensorflow"} & set(sys.modules)))
import jax
print(sorted({"keras", "jax", "flax", "tensorflow"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.split("\n")[:2] == ["[]", "['jax']"], done.stderr
