"""The Explanations of scenes, made once for all who look at the same: pages, sessions, exports.

What is kept is bounded in number and in bytes, and belongs to nobody: a page reads it and never writes into it. Views keep their Scene
alone, so that a tensor stays in memory no longer than somebody looks at one of the last.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import prod

from normviz.analysis.examples import example, from_values, initial_running_statistics, parameters
from normviz.analysis.explanation import Explanation, describe
from normviz.analysis.forward import Values
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm

SMALL = 4096  # elements; with every step of the forward pass about a hundred kB
MOST_SMALL, MOST_LARGE, MOST_SHAPES = 256, 2, 1024


def described(layer: Layer | Norm, shape: tuple[int, ...], layout: str) -> Explanation:
    """The layer on the shape alone. Raises NormvizError as ``explain`` does."""
    return _described(layer, shape, layout)


def explained(sharing: Explanation, data: str, seed: int, values: tuple[float, ...] | None, params: str) -> Explanation:
    """The layer on example values, or on x's own ``values``."""
    return (_small if prod(sharing.shape) <= SMALL else _large)(sharing, data, seed, values, params)


@lru_cache(maxsize=MOST_SHAPES)
def _described(layer: Layer | Norm, shape: tuple[int, ...], layout: str) -> Explanation:
    return describe(layer, shape, layout=layout)


def _explained(
    sharing: Explanation,
    data: str,
    seed: int,
    values: tuple[float, ...] | None,
    params: str,
) -> Explanation:
    x = example(data, sharing.shape, sharing.axes, seed) if values is None else from_values(values, sharing.shape)
    return replace(sharing, x=x, values=_held(sharing, params, seed))


def _held(sharing: Explanation, params: str, seed: int) -> Values:
    """What the layer holds: gamma and beta as chosen, running statistics as a fresh layer has them."""
    norm, held, gamma_shape = sharing.norm, sharing.layer_values(), sharing.counts.gamma_shape
    if gamma_shape is not None:
        gamma, beta = parameters(params, gamma_shape, seed)
        held = replace(held, gamma=gamma, beta=beta if norm.bias else None)
    if norm.running and held.running_mean is None:
        kept = [norm.axis_sizes(sharing.shape)[name] for name in norm.pattern.right]
        mean, var = initial_running_statistics(kept)
        held = replace(held, running_mean=mean, running_var=var)
    return held


_small = lru_cache(maxsize=MOST_SMALL)(_explained)
_large = lru_cache(maxsize=MOST_LARGE)(_explained)
