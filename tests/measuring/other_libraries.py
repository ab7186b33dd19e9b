"""Functions of JAX and layers of Flax, right ones and wrong ones."""

import jax
import jax.numpy as jnp
import numpy as np
import torch
from flax import linen

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
