"""Four ways to compute a variance, and what each loses far from zero.

Every number between two steps is of the type itself. Means are torch's own reductions in that type, ``x.mean()`` as one writes it: they
add in pairs, and hold a half-precision sum in float32 and round it once, so what goes wrong is the method, not the adding. Welford's
method has no reduction: it rounds after every step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan

import torch
from torch import Tensor

from normviz.analysis.checks import read_number
from normviz.analysis.rounding.groups import (
    DISTANCES,
    LARGEST_DISTANCE,
    OWN,
    exact_output,
    exact_variance,
    own_output,
    read_eps,
    root_mean_square,
    sequence,
)
from normviz.layers.errors import NormvizError

MOST_DISTANCES = 16


def one_pass(x: Tensor) -> Tensor:
    """E[x^2] - E[x]^2: two large numbers, almost equal far from zero, so that what is left is their rounding.

    x   (..., n), any floating-point type.

    Returns the biased variance along the last axis, of x's type: it may be negative.
    Source: the layer of labml's annotated LayerNorm computes it so.

    >>> one_pass(torch.tensor([1.0, 2.0, 3.0, 4.0])).item(), one_pass(torch.tensor([4096.0, 4097.0])).item()
    (1.25, 0.0)
    """
    return x.square().mean(-1) - x.mean(-1).square()


def two_passes(x: Tensor) -> Tensor:
    """E[(x - E[x])^2]: the mean first, then the squares of what is left.

    >>> two_passes(torch.tensor([4096.0, 4097.0])).item()
    0.25
    """
    return (x - x.mean(-1, keepdim=True)).square().mean(-1)


def welford(x: Tensor) -> Tensor:
    """Welford's running mean M and sum of squares S, one number at a time: M += (x - M_old) / k, S += (x - M_old)(x - M).

    Source: Welford 1962, "Note on a Method for Calculating Corrected Sums of Squares and Products".

    >>> welford(torch.tensor([4096.0, 4097.0])).item()
    0.25
    """
    mean = squares = torch.zeros_like(x[..., 0])
    for count, value in enumerate(x.unbind(-1), 1):
        gap = value - mean
        mean = mean + gap / count
        squares = squares + gap * (value - mean)
    return squares / x.shape[-1]


def shifted(x: Tensor) -> Tensor:
    """``one_pass`` of x - K, with the first number as K: near zero nothing cancels.

    >>> shifted(torch.tensor([4096.0, 4097.0])).item()
    0.25
    """
    return one_pass(x - x[..., :1])


METHODS: dict[str, Callable[[Tensor], Tensor]] = {
    "E[x²] − E[x]²": one_pass,
    "two passes": two_passes,
    "Welford": welford,
    "shifted data": shifted,
}
FLAX = "Flax"


def flax_fast(x: Tensor) -> Tensor:
    """max(0, E[x^2] - E[x]^2) in float32 at least: Flax's default, ``use_fast_variance=True``, by its formula.

    x   (..., n), any floating-point type. A float64 x stays float64, as in JAX with ``jax_enable_x64``; without it JAX has none.

    Source: flax.linen.normalization, ``_compute_stats``.
    """
    return one_pass(x.to(torch.promote_types(x.dtype, torch.float32))).clamp(min=0)


@dataclass(frozen=True)
class Estimate:
    """What one way of computing makes of one sequence.

    method        a name of ``METHODS``, "Flax", or a torch layer of ``groups.OWN``
    dtype         the type of the sequence, and of the arithmetic where the method is of ``METHODS``
    distance      of the sequence from zero
    var           the variance; a torch layer's is read back from its output's range: ((max x - min x) / (max y - min y))^2 - eps; NaN where
                  all of x is one number
    exact         the exact variance of the sequence, as it is after rounding to the type; NaN where that is not finite
    error         |var - exact| / exact; infinite where exact is 0 and var is not
    output_error  the largest |y - exact y| of the normalized output y
    output_size   the root mean square of y, just below 1 where all is well; NaN where any y is
    """

    method: str
    dtype: str
    distance: float
    var: float
    exact: float
    error: float
    output_error: float
    output_size: float

    @property
    def negative(self) -> bool:
        """Is the variance below zero?"""
        return self.var < 0

    @property
    def is_nan(self) -> bool:
        """Is some output NaN, as sqrt(var + eps) of a variance below -eps is?"""
        return isnan(self.output_size)


def sweep(
    dtype: str, distances: Sequence[float] = DISTANCES, size: int = 256, seed: int = 0, eps: float = 1e-5
) -> tuple[Estimate, ...]:
    """The same noise at growing distances from zero, by every method, by Flax's formula and by torch's own layers.

    dtype      "float16", "bfloat16", "float32" or "float64".
    distances  up to 16, each from 0 to 10^7.
    size       numbers in the group, 2 to 1,024.
    seed       of the noise, which has standard deviation 1.
    eps        1e-30 to 1.

    Raises NormvizError for other values.

    >>> [round(e.error, 2) for e in sweep("float32", (1e0, 1e4)) if e.method == "two passes"]
    [0.0, 0.0]
    """
    eps = read_eps(eps)
    if not 1 <= len(distances) <= MOST_DISTANCES:
        raise NormvizError(
            f"a sweep takes 1 to {MOST_DISTANCES} distances, and these are {len(distances)}; give fewer."
        )
    places = [read_number("distance", distance, 0, LARGEST_DISTANCE) for distance in distances]
    x = torch.stack([sequence(dtype, distance, size, seed) for distance in places])
    outcomes = {name: (method(x), _by_hand(x, method(x), eps)) for name, method in METHODS.items()}
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    outcomes[FLAX] = (flax_fast(x), _by_hand(wide, flax_fast(x), eps).to(x.dtype))
    for name in OWN:
        y = torch.stack([own_output(name, one, eps) for one in x])
        outcomes[name] = (_read_back(x, y, eps), y)
    found: list[Estimate] = []
    for i, distance in enumerate(places):
        exact, exact_y = _exact(x[i], eps)
        for name, (var, y) in outcomes.items():
            found.append(_estimate(name, dtype, distance, float(var[i]), y[i], exact, exact_y))
    return tuple(found)


def _by_hand(x: Tensor, var: Tensor, eps: float) -> Tensor:
    return (x - x.mean(-1, keepdim=True)) / torch.sqrt(var[..., None] + eps)


def _read_back(x: Tensor, y: Tensor, eps: float) -> Tensor:
    """The variance that an output was divided by."""
    spans = [values.double().amax(-1) - values.double().amin(-1) for values in (x, y)]
    return (spans[0] / spans[1]).square() - eps


def _exact(x: Tensor, eps: float) -> tuple[float, Tensor]:
    if not bool(x.isfinite().all()):
        return nan, torch.full(x.shape, nan, dtype=torch.float64)
    return float(exact_variance(x)), exact_output(x, eps)


def _estimate(
    method: str, dtype: str, distance: float, var: float, y: Tensor, exact: float, exact_y: Tensor
) -> Estimate:
    output_error = float((y.double() - exact_y).abs().max())
    return Estimate(method, dtype, distance, var, exact, _relative(var, exact), output_error, root_mean_square(y))


def _relative(var: float, exact: float) -> float:
    if exact == 0 and not isnan(var):
        return 0.0 if var == 0 else inf
    return abs(var - exact) / exact if exact else nan
