"""The real packages, for the tests of this folder."""

import importlib
import warnings

import pytest


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
