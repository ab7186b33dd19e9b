"""``check`` of functions of JAX, and of layers of Flax and Keras."""

import os
import re
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest
import torch

import normviz as nv
from normviz.measuring.probe import is_number_array
from tests.support.cases import case


@pytest.fixture(scope="module")
def given() -> Iterator[ModuleType]:
    """Imported where it is needed: every process imports all files of tests, and one of them runs these."""
    jax = pytest.importorskip("jax")
    pytest.importorskip("flax.linen")
    optimized = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)  # nearly all of the time is spent in jax's compiler
    yield import_module("tests.measuring.other_libraries")
    jax.config.update("jax_disable_most_optimizations", optimized)


def test_right_functions_pass(given):
    for name, (fn, x, like) in given.RIGHT.items():
        with case(name):
            found = nv.check(given.bound(fn, x), x, like, layout=given.layout(x))
            assert found.ok, found


def test_wrong_functions_have_their_reasons(given):
    for name, (fn, x, like, what) in given.WRONG.items():
        with case(name):
            found = nv.check(given.bound(fn, x), x, like, layout=given.layout(x))
            assert [one.what for one in found.differences] == [what]


def test_gamma_and_beta_are_given_as_arrays_of_jax(given):
    layer_norm, TABLE, jnp = given.layer_norm, given.TABLE, given.jnp
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


def test_the_default_of_flax_loses_precision_far_from_zero_and_says_so(given):
    bound, linen, TABLE = given.bound, given.linen, given.TABLE
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


def test_arrays_of_numbers_are_those_of_floating_point(given):
    kinds = ("float32", "float16", "bfloat16", "int32", "bool")
    assert [is_number_array(given.jnp.ones(2, dtype=kind)) for kind in kinds] == [True, True, True, False, False]
