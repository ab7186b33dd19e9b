"""Models of Flax, and an input of theirs."""

import jax
from flax import linen, nnx

X = jax.random.normal(jax.random.key(0), (4, 6))


class Own(linen.Module):
    @linen.compact
    def __call__(self, x):
        gamma = self.param("gamma", linen.initializers.ones, (x.shape[-1],))
        return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-3) * gamma


class OfLinen(linen.Module):
    @linen.compact
    def __call__(self, x, train):
        x = linen.BatchNorm(use_running_average=not train, name="bn")(linen.Dense(8)(x))
        x = linen.Dropout(0.5, deterministic=not train)(x)
        return Own(name="own")(linen.relu(x))


class OfNnx(nnx.Module):
    def __init__(self):
        self.bn = nnx.BatchNorm(6, epsilon=1e-3, rngs=nnx.Rngs(0))
        self.blocks = nnx.List([nnx.RMSNorm(6, rngs=nnx.Rngs(0))])

    def __call__(self, x):
        return self.blocks[0](self.bn(x))
