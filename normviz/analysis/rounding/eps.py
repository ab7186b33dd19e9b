"""The size of eps: which dtypes can represent it, and its place inside or outside the square root.

Normalization multiplies the spread sqrt(var) by 1 / sqrt(var + eps), so the size (root mean square) of the output is
sqrt(var / (var + eps)): about 1 if eps is far below the variance, about 0 if eps is far above it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from normviz.analysis.checks import check_count, read_number
from normviz.analysis.forward import COMPUTES_IN
from normviz.analysis.rounding.groups import (
    DTYPES,
    TORCH_LAYERS,
    exact_variance,
    example_group,
    read_eps,
    root_mean_square,
    torch_output,
)

EPSILONS = (1e-3, 1e-5, 1e-6, 1e-12)  # Keras; torch; Flax; BERT
MOST_EPSILONS = 8
VARIANCES = tuple(10.0**power for power in range(-16, 3))
MOST_VARIANCES = 256
SMALLEST_VARIANCE, LARGEST_VARIANCE = 1e-30, 1e30


def by_hand(x: Tensor, eps: float) -> Tensor:
    """(x - mean) / sqrt(var + eps) along the last axis with every step in x's dtype, as in a hand-written layer.

    >>> by_hand(torch.tensor([2.0, 2.0], dtype=torch.float16), eps=1e-12).tolist()  # float16 has no 1e-12: 0 / 0
    [nan, nan]
    """
    centered = x - x.mean(-1, keepdim=True)
    return centered / torch.sqrt(centered.square().mean(-1, keepdim=True) + eps)


@dataclass(frozen=True)
class EpsOutcome:
    """One group of small variance with one eps in one dtype. Sizes are root mean squares of the output.

    dtype     the dtype of x
    eps       the given eps
    rounded   eps rounded to the dtype: 0 if it underflows
    var       the exact variance of x after rounding to the dtype
    exact     sqrt(var / (var + eps)), the size by the formula
    by_hand   the size from a layer with every step in the dtype; if var + eps is 0 there, infinite, or NaN for 0 / 0
    by_torch  the size from each of torch's own layers, by name. For half precision they compute statistics in float32, but
              BatchNorm and InstanceNorm round 1 / sqrt(var + eps) to x's dtype: NaN above 65,504 in float16
    """

    dtype: str
    eps: float
    rounded: float
    var: float
    exact: float
    by_hand: float
    by_torch: Mapping[str, float]


def eps_table(spread: float = 1e-4, seed: int = 0, epsilons: Sequence[float] = EPSILONS) -> tuple[EpsOutcome, ...]:
    """A group with standard deviation ``spread`` around 0, with every eps in every dtype.

    spread    10^-12 to 10^3, the root of the variance.
    seed      of the noise.
    epsilons  up to 8, each from 1e-30 to 1.

    Raises NormvizError for other values.

    >>> next(o.rounded for o in eps_table() if o.dtype == "float16" and o.eps == 1e-12)
    0.0
    """
    check_count("epsilons", len(epsilons), MOST_EPSILONS)
    values = [read_eps(eps) for eps in epsilons]
    groups = {dtype: example_group(dtype, seed=seed, spread=spread) for dtype in DTYPES}
    exact = {dtype: float(exact_variance(x)) for dtype, x in groups.items()}
    return tuple(
        EpsOutcome(
            dtype=dtype,
            eps=eps,
            rounded=float(torch.tensor(eps, dtype=x.dtype)),
            var=exact[dtype],
            exact=(exact[dtype] / (exact[dtype] + eps)) ** 0.5,
            by_hand=root_mean_square(by_hand(x, eps)),
            by_torch={name: root_mean_square(torch_output(name, x, eps)) for name in TORCH_LAYERS},
        )
        for dtype, x in groups.items()
        for eps in values
    )


@dataclass(frozen=True)
class NoEps:
    """RMSNorm with eps=None on one group. Sizes are root mean squares of the output.

    computing_eps   the machine epsilon of the dtype of the computation: float32's for half precision
    own_eps         the machine epsilon of x's own dtype
    by_torch        the size from torch's RMSNorm
    with_computing  the size by the formula with ``computing_eps``
    with_own        the size by the formula with ``own_eps``
    """

    computing_eps: float
    own_eps: float
    by_torch: float
    with_computing: float
    with_own: float


def no_eps(dtype: str, spread: float = 1e-3, seed: int = 0) -> NoEps:
    """The eps of RMSNorm with eps=None, from the size of its output: sqrt(ms / (ms + eps)), where ms is the mean of x^2.

    dtype   "float16", "bfloat16", "float32" or "float64".
    spread  standard deviation of x around 0, 10^-12 to 10^3; eps only matters if it is small.
    seed    of the noise.

    Raises NormvizError for other values.

    >>> found = no_eps("float16")
    >>> abs(found.by_torch - found.with_computing) < 1e-3, abs(found.by_torch - found.with_own) < 0.5
    (True, False)
    """
    x = example_group(dtype, seed=seed, spread=spread)
    square = float(x.double().square().mean())
    computing, own = (torch.finfo(kind).eps for kind in (COMPUTES_IN[x.dtype], x.dtype))
    with torch.no_grad():
        y = nn.RMSNorm(len(x), eps=None, elementwise_affine=False)(x)
    sizes = [(square / (square + eps)) ** 0.5 for eps in (computing, own)]
    return NoEps(computing, own, root_mean_square(y), sizes[0], sizes[1])


@dataclass(frozen=True)
class EpsPlacement:
    """eps inside or outside the square root, at one variance. Sizes are root mean squares of the output.

    inside   of (x - mean) / sqrt(var + eps)
    outside  of (x - mean) / (sqrt(var) + eps)
    """

    var: float
    inside: float
    outside: float


def eps_placement(eps: float = 1e-5, variances: Sequence[float] = VARIANCES) -> tuple[EpsPlacement, ...]:
    """A group of each variance, normalized with eps inside and outside the square root.

    eps        1e-30 to 1.
    variances  up to 256, each from 1e-30 to 1e30.

    Raises NormvizError for other values.
    Source: inside in Ioffe & Szegedy 2015, algorithm 1, and in all layers of torch.nn.

    >>> [(round(p.inside, 3), round(p.outside, 3)) for p in eps_placement(1e-5, (1e-10, 1e-5, 1))]
    [(0.003, 0.5), (0.707, 0.997), (1.0, 1.0)]
    """
    eps = read_eps(eps)
    check_count("variances", len(variances), MOST_VARIANCES)
    found = [read_number("variance", v, SMALLEST_VARIANCE, LARGEST_VARIANCE) for v in variances]
    var = torch.tensor(found, dtype=torch.float64)
    sizes = (var / (var + eps)).sqrt(), var.sqrt() / (var.sqrt() + eps)
    return tuple(EpsPlacement(*values) for values in zip(*(column.tolist() for column in (var, *sizes)), strict=True))
