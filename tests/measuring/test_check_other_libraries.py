"""``check`` of functions of JAX, and of layers of Flax and Keras."""

import os
import re

import numpy as np
import pytest
import torch

import normviz as nv
from normviz.measuring.probe import is_number_array

jax = pytest.importorskip("jax")
jnp = jax.numpy
linen = pytest.importorskip("flax.linen")

TABLE = jnp.asarray(np.random.default_rng(0).normal(size=(4, 6)), dtype=jnp.float32)
IMAGES = jnp.asarray(np.random.default_rng(1).normal(size=(2, 4, 5, 6)), dtype=jnp.float32)


def layer_norm(x, axis=-1, ddof=0):
    return (x - x.mean(axis, keepdims=True)) / jnp.sqrt(x.var(axis, keepdims=True, ddof=ddof) + 1e-5)


def bound(layer, x):
    """The layer of Flax with its parameters; another function as it is."""
    return layer.bind(layer.init(jax.random.PRNGKey(0), x)) if isinstance(layer, linen.Module) else layer


RIGHT = {
    "plain": (layer_norm, TABLE, "LayerNorm(6)"),
    "jitted": (jax.jit(layer_norm), TABLE, "LayerNorm(6)"),
    "a shape": (layer_norm, (4, 6), "LayerNorm(6)"),
    "jitted, a shape": (jax.jit(layer_norm), (4, 6), "LayerNorm(6)"),
    "vmap": (jax.vmap(lambda row: (row - row.mean()) / jnp.sqrt(row.var() + 1e-5)), TABLE, "LayerNorm(6)"),
    "bfloat16": (layer_norm, TABLE.astype(jnp.bfloat16), "LayerNorm(6)"),
    "converts a tensor": (lambda x: layer_norm(jnp.asarray(x.detach().numpy())), torch.randn(4, 6), "LayerNorm(6)"),
    "Flax LayerNorm": (linen.LayerNorm(epsilon=1e-5), TABLE, "LayerNorm(6)"),
    "Flax RMSNorm": (linen.RMSNorm(epsilon=1e-6), TABLE, "RMSNorm(6, eps=1e-6)"),
    "Flax GroupNorm": (linen.GroupNorm(3, epsilon=1e-5), IMAGES, "GroupNorm(3, 6)"),
    "Flax InstanceNorm": (linen.InstanceNorm(epsilon=1e-5), IMAGES, "InstanceNorm2d(6)"),
    "Flax BatchNorm": (linen.BatchNorm(use_running_average=True, epsilon=1e-5), IMAGES, "BatchNorm2d(6).eval()"),
}
WRONG = {
    "axis": (lambda x: layer_norm(x, 0), TABLE, "LayerNorm(6)", "statistics"),
    "ddof": (jax.jit(lambda x: layer_norm(x, ddof=1)), TABLE, "LayerNorm(6)", "variance"),
    "Flax's eps": (linen.LayerNorm(), TABLE, "LayerNorm(6)", "eps"),
    "groups": (linen.GroupNorm(2, epsilon=1e-5), IMAGES, "GroupNorm(3, 6)", "statistics"),
    "factor": (lambda x: 2 * layer_norm(x), (4, 6), "LayerNorm(6)", "factor"),
}


def layout(x):
    return "NHWC" if x is IMAGES else None


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_function_passes(name):
    fn, x, like = RIGHT[name]
    found = nv.check(bound(fn, x), x, like, layout=layout(x))
    assert found.ok, found


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_function_has_its_reason(name):
    fn, x, like, what = WRONG[name]
    assert [one.what for one in nv.check(bound(fn, x), x, like, layout=layout(x)).differences] == [what]


def test_gamma_and_beta_are_given_as_arrays_of_jax():
    params = {"gamma": jnp.ones(6), "beta": jnp.zeros(6)}
    assert nv.check(lambda x, gamma, beta: layer_norm(x) * gamma + beta, TABLE, "LayerNorm(6)", params=params)
    wrong = nv.check(lambda x, gamma, beta: layer_norm(x) * beta + gamma, TABLE, "LayerNorm(6)", params=params)
    assert [one.what for one in wrong.differences] == ["gamma", "beta"]


def test_a_function_that_returns_arrays_for_tensors_is_called_with_arrays():
    def rows(x):
        return np.stack([(row - row.mean()) / np.sqrt(row.var() + 1e-5) for row in np.asarray(x)])

    assert nv.check(rows, torch.randn(4, 6), "LayerNorm(6)").notes[0] == (
        "Your function was called with NumPy arrays, because it returns one."
    )


def test_the_default_of_flax_loses_precision_far_from_zero_and_says_so():
    far = TABLE + 3000
    found = nv.check(bound(linen.LayerNorm(epsilon=1e-5), far), far, "LayerNorm(6)")
    assert [one.what for one in found.differences] == ["precision"]
    near = nv.check(bound(linen.LayerNorm(epsilon=1e-5), TABLE), TABLE, "LayerNorm(6)")
    assert near.ok
    assert any("farther from zero" in note for note in near.notes)


os.environ.setdefault("KERAS_BACKEND", "jax")


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_a_layer_of_keras_is_measured_once_it_is_built():
    keras = pytest.importorskip("keras")
    layer = keras.layers.LayerNormalization(epsilon=1e-5)
    with pytest.raises(nv.NormvizError, match=re.escape("Call it once with an x before the check.")):
        nv.check(layer, (4, 6), "LayerNorm(6)")
    assert not layer.built
    layer.build((4, 6))
    assert nv.check(layer, (4, 6), "LayerNorm(6)")
    assert [one.what for one in nv.check(layer, (4, 6), "LayerNorm(6, eps=1e-3)").differences] == ["eps"]


def test_arrays_of_numbers_are_those_of_floating_point():
    kinds = ("float32", "float16", "bfloat16", "int32", "bool")
    assert [is_number_array(jnp.ones(2, dtype=kind)) for kind in kinds] == [True, True, True, False, False]
