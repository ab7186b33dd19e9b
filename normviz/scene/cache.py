"""The Descriptions of scenes, computed once for all pages, sessions and exports that show the same scene.

The cache is bounded in number and in bytes. Its values are shared: a page reads them and never writes into them. A view stores only
its Scene, so the cache alone keeps tensors in memory.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import prod

from torch import Tensor

from normviz.analysis.description import Description
from normviz.analysis.examples import example, initial_running_statistics, parameters
from normviz.analysis.forward import Values
from normviz.scene.own import OWN, Own

SMALL = 4096  # elements; with every step of the forward pass about 100 kB
MOST_SMALL, MOST_LARGE = 256, 2


def described(
    on_shape: Description, data: str, seed: int, values: tuple[float, ...] | None, params: str, own: Own | None = None
) -> Description:
    """The layer on example values, on x's own ``values``, or on what a reader of a notebook brings.

    on_shape  the layer on the shape of x, without values
    """
    return (_small if prod(on_shape.shape) <= SMALL else _large)(on_shape, data, seed, values, params, own)


def _described(
    on_shape: Description, data: str, seed: int, values: tuple[float, ...] | None, params: str, own: Own | None
) -> Description:
    own = own or Own()
    if values is not None:
        x = own.from_values(values, on_shape.shape)
    elif data == OWN and own.x is not None:
        x = own.x
    else:
        x = example(data, on_shape.shape, on_shape.axes, seed)
    if params == OWN and own.values is not None:
        return replace(on_shape, x=x, values=own.values)
    return replace(on_shape, x=x, values=_layer_values(on_shape, params, seed, x))


def _layer_values(on_shape: Description, params: str, seed: int, x: Tensor) -> Values:
    """The layer's values, of the dtype of x: gamma and beta as chosen, running statistics as in a new layer."""
    norm, values, gamma_shape = on_shape.norm, replace(on_shape, x=x).layer_values(), on_shape.counts.gamma_shape
    if gamma_shape is not None:
        gamma, beta = (value.to(x) for value in parameters(params, gamma_shape, seed))
        values = replace(values, gamma=gamma, beta=beta if norm.bias else None)
    if norm.running and values.running_mean is None:
        kept = [norm.axis_sizes(on_shape.shape)[name] for name in norm.pattern.right]
        mean, var = (value.to(x) for value in initial_running_statistics(kept))
        values = replace(values, running_mean=mean, running_var=var)
    return values


_small = lru_cache(maxsize=MOST_SMALL)(_described)
_large = lru_cache(maxsize=MOST_LARGE)(_described)
