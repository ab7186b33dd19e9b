"""Four ways to compute a variance, and their errors far from zero.

Every intermediate result has the dtype of x. Means are torch's own reductions, ``x.mean()``: they add pairwise, and accumulate
half precision in float32 with one rounding at the end, so the errors come from the method and not from the summation. Welford's
method has no reduction: it rounds after every step.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan

import torch
from torch import Tensor

from normviz.analysis.checks import check_count, read_number
from normviz.analysis.rounding import groups
from normviz.texts.messages import N_

MOST_DISTANCES = 16


def one_pass(x: Tensor) -> Tensor:
    """E[x^2] - E[x]^2: far from zero, two large and almost equal numbers, whose difference is mostly rounding error.

    x   (..., n), any floating-point dtype.

    Returns the biased variance along the last axis, of x's dtype: it can be negative.
    Source: labml's annotated LayerNorm.

    >>> one_pass(torch.tensor([1.0, 2.0, 3.0, 4.0])).item(), one_pass(torch.tensor([4096.0, 4097.0])).item()
    (1.25, 0.0)
    """
    return x.square().mean(-1) - x.mean(-1).square()


def two_passes(x: Tensor) -> Tensor:
    """E[(x - E[x])^2]: the mean first, then the mean of the squared deviations.

    >>> two_passes(torch.tensor([4096.0, 4097.0])).item()
    0.25
    """
    return (x - x.mean(-1, keepdim=True)).square().mean(-1)


def welford(x: Tensor) -> Tensor:
    """Welford's mean M and sum of squares S, updated for each number: M += (x - M_old) / k, S += (x - M_old)(x - M).

    Source: Welford 1962, "Note on a Method for Calculating Corrected Sums of Squares and Products".

    >>> welford(torch.tensor([4096.0, 4097.0])).item()
    0.25
    """
    mean = squares = torch.zeros_like(x[..., 0])
    for count, value in enumerate(x.unbind(-1), 1):
        deviation = value - mean
        mean = mean + deviation / count
        squares = squares + deviation * (value - mean)
    return squares / x.shape[-1]


def shifted(x: Tensor) -> Tensor:
    """``one_pass`` of x - K, where K is the first number: near zero there is no cancellation.

    >>> shifted(torch.tensor([4096.0, 4097.0])).item()
    0.25
    """
    return one_pass(x - x[..., :1])


METHODS: dict[str, Callable[[Tensor], Tensor]] = {
    "one_pass": one_pass,
    "two_passes": two_passes,
    "welford": welford,
    "shifted": shifted,
}
FLAX = "flax"
METHOD_LABELS = {
    "one_pass": "E[x²] − E[x]²",
    "two_passes": N_("two passes"),
    "welford": "Welford",
    "shifted": N_("shifted data"),
    FLAX: N_("Flax's default"),
}


def flax_fast(x: Tensor) -> Tensor:
    """max(0, E[x^2] - E[x]^2) in float32 or wider: Flax's default, ``use_fast_variance=True``, by its formula.

    x   (..., n), any floating-point dtype. float64 stays float64, as in JAX with ``jax_enable_x64``.

    Source: flax.linen.normalization, ``_compute_stats``.
    """
    return one_pass(x.to(torch.promote_types(x.dtype, torch.float32))).clamp(min=0)


@dataclass(frozen=True)
class Estimate:
    """The variance and the output of one group by one method.

    method        a key of ``METHODS``, ``FLAX``, or a layer of ``groups.LAYERS``
    dtype         the dtype of the group, and of the arithmetic for the keys of ``METHODS``
    distance      of the group from zero
    var           the variance; for a torch layer it follows from the output's range: ((max x - min x) / (max y - min y))^2 - eps, which
                  is NaN if x is constant
    exact         the exact variance of the group after rounding to the dtype; NaN if that is not finite
    output_size   the root mean square of y, just below 1 without errors; NaN if any y is NaN
    """

    method: str
    dtype: str
    distance: float
    var: float
    exact: float
    output_size: float

    @property
    def error(self) -> float:
        """|var - exact| / exact; infinite if exact is 0 and var is not."""
        if self.exact == 0 and not isnan(self.var):
            return 0.0 if self.var == 0 else inf
        return abs(self.var - self.exact) / self.exact if self.exact else nan

    @property
    def negative(self) -> bool:
        """Whether the variance is below zero."""
        return self.var < 0

    @property
    def is_nan(self) -> bool:
        """Whether an output is NaN, because var + eps is negative."""
        return isnan(self.output_size)


def sweep(
    dtype: str, distances: Sequence[float] = groups.DISTANCES, seed: int = 0, eps: float = 1e-5
) -> tuple[Estimate, ...]:
    """The same noise at several distances from zero, by every method, by Flax's formula and by torch's own layers.

    dtype      "float16", "bfloat16", "float32" or "float64".
    distances  up to 16, each from 0 to 10^7.
    seed       of the noise, which has standard deviation 1.
    eps        1e-30 to 1.

    Raises NormvizError for other values.

    >>> [round(e.error, 2) for e in sweep("float32", (1e0, 1e4)) if e.method == "two_passes"]
    [0.0, 0.0]
    """
    eps = groups.read_eps(eps)
    check_count("distances", len(distances), MOST_DISTANCES)
    places = [read_number("distance", distance, 0, groups.LARGEST_DISTANCE) for distance in distances]
    x = torch.stack([groups.example_group(dtype, distance, seed=seed) for distance in places])
    results = {}
    for name, method in (METHODS | {FLAX: flax_fast}).items():
        var = method(x)
        centered = x.to(var.dtype) - x.to(var.dtype).mean(-1, keepdim=True)  # Flax's arithmetic is wider than x
        results[name] = (var, (centered / torch.sqrt(var[..., None] + eps)).to(x.dtype))
    for name in groups.LAYERS:
        y = torch.stack([groups.torch_output(name, one, eps) for one in x])
        span_x, span_y = (values.double().amax(-1) - values.double().amin(-1) for values in (x, y))
        results[name] = ((span_x / span_y).square() - eps, y)
    exact = [float(groups.exact_variance(group)) if bool(group.isfinite().all()) else nan for group in x]
    return tuple(
        Estimate(name, dtype, distance, float(var[i]), exact[i], groups.root_mean_square(y[i]))
        for i, distance in enumerate(places)
        for name, (var, y) in results.items()
    )
