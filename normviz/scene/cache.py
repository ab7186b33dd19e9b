"""The Explanations of scenes, computed once for all pages, sessions and exports that show the same scene.

The cache is bounded in number and in bytes. Its values are shared: a page reads them and never writes into them. A view stores only
its Scene, so the cache alone keeps tensors in memory.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import prod

from normviz.analysis.examples import example, from_values, initial_running_statistics, parameters
from normviz.analysis.explanation import Explanation
from normviz.analysis.forward import Values

SMALL = 4096  # elements; with every step of the forward pass about 100 kB
MOST_SMALL, MOST_LARGE = 256, 2


def explained(sharing: Explanation, data: str, seed: int, values: tuple[float, ...] | None, params: str) -> Explanation:
    """The layer on example values, or on x's own ``values``."""
    return (_small if prod(sharing.shape) <= SMALL else _large)(sharing, data, seed, values, params)


def _explained(
    sharing: Explanation, data: str, seed: int, values: tuple[float, ...] | None, params: str
) -> Explanation:
    x = example(data, sharing.shape, sharing.axes, seed) if values is None else from_values(values, sharing.shape)
    return replace(sharing, x=x, values=_layer_values(sharing, params, seed))


def _layer_values(sharing: Explanation, params: str, seed: int) -> Values:
    """The layer's values: gamma and beta as chosen, running statistics as in a new layer."""
    norm, values, gamma_shape = sharing.norm, sharing.layer_values(), sharing.counts.gamma_shape
    if gamma_shape is not None:
        gamma, beta = parameters(params, gamma_shape, seed)
        values = replace(values, gamma=gamma, beta=beta if norm.bias else None)
    if norm.running and values.running_mean is None:
        kept = [norm.axis_sizes(sharing.shape)[name] for name in norm.pattern.right]
        mean, var = initial_running_statistics(kept)
        values = replace(values, running_mean=mean, running_var=var)
    return values


_small = lru_cache(maxsize=MOST_SMALL)(_explained)
_large = lru_cache(maxsize=MOST_LARGE)(_explained)
