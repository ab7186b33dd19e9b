"""Groups of numbers to compute with: their types, their distance from zero, what they exactly give, and torch's own layers on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log10

import torch
from torch import Tensor, nn

from normviz.analysis.checks import SEEDS, read_integer, read_number
from normviz.layers.errors import NormvizError, echo, listed

DTYPES = {
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "float64": torch.float64,
}
SAMPLES = range(2, 1025)  # numbers in a group
LARGEST_DISTANCE = 1e7
DISTANCES = tuple(10.0**power for power in range(ceil(log10(LARGEST_DISTANCE)) + 1))  # 10^0 .. 10^7
SMALLEST_SPREAD, LARGEST_SPREAD = 1e-12, 1e3
SMALLEST_EPS = 1e-30


def read_dtype(name: str) -> torch.dtype:
    """The torch type of that name: "float16", "bfloat16", "float32" or "float64". Raises NormvizError for another.

    >>> read_dtype("float16")
    torch.float16
    """
    if not isinstance(name, str) or name not in DTYPES:
        raise NormvizError(f"dtype={echo(name)} is unknown; choose {listed(DTYPES)}.")
    return DTYPES[name]


def read_eps(eps: float) -> float:
    """eps as a float. Raises NormvizError unless it is from 1e-30 to 1 (torch's BatchNorm refuses 0)."""
    return read_number("eps", eps, SMALLEST_EPS, 1)


def sequence(dtype: str, distance: float = 0.0, size: int = 256, seed: int = 0, spread: float = 1.0) -> Tensor:
    """One statistics group: normal noise around ``distance``, rounded to the type.

    dtype     "float16", "bfloat16", "float32" or "float64".
    distance  the mean of the distribution, 0 to 10^7.
    size      how many numbers, 2 to 1,024.
    seed      of the noise, which is the same at every distance and in every type.
    spread    the standard deviation of the distribution, 10^-12 to 10^3.

    Returns a tensor (size,) of the type; infinite where the type ends before ``distance`` does (float16 at 65,504).
    Raises NormvizError for other values.

    >>> sequence("bfloat16", distance=1000, size=4).tolist()  # bfloat16 has 8 bits: a step of 4 here
    [1000.0, 1000.0, 996.0, 1000.0]
    """
    distance, spread = (
        read_number("distance", distance, 0, LARGEST_DISTANCE),
        read_number("spread", spread, SMALLEST_SPREAD, LARGEST_SPREAD),
    )
    generator = torch.Generator().manual_seed(read_integer("seed", seed, SEEDS))
    noise = torch.randn(read_integer("size", size, SAMPLES), generator=generator, dtype=torch.float64)
    return (distance + spread * noise).to(read_dtype(dtype))


@dataclass(frozen=True)
class Own:
    """One of torch's layers, without gamma and beta, and the shape in which it takes n numbers as one statistics group."""

    make: Callable[[int, float], nn.Module]
    shape: Callable[[int], tuple[int, ...]]


OWN: dict[str, Own] = {
    "LayerNorm": Own(lambda n, eps: nn.LayerNorm(n, eps=eps, elementwise_affine=False), lambda n: (1, n)),
    "BatchNorm1d": Own(
        lambda n, eps: nn.BatchNorm1d(1, eps=eps, affine=False, track_running_stats=False), lambda n: (n, 1)
    ),
    "GroupNorm": Own(lambda n, eps: nn.GroupNorm(1, 1, eps=eps, affine=False), lambda n: (1, 1, n)),
    "InstanceNorm1d": Own(lambda n, eps: nn.InstanceNorm1d(1, eps=eps), lambda n: (1, 1, n)),
}


def own_output(name: str, x: Tensor, eps: float) -> Tensor:
    """What torch's own layer makes of ``x``, taken as one statistics group: (n,), of x's type. ``name`` is one of ``OWN``."""
    own, n = OWN[name], x.numel()
    with torch.no_grad():
        output: Tensor = own.make(n, eps)(x.reshape(own.shape(n)))
    return output.reshape(n)


def exact_variance(x: Tensor) -> Fraction:
    """The biased variance of the numbers in ``x`` (n,) without any rounding, in whole numbers: (n sum x^2 - (sum x)^2) / n^2.

    Raises NormvizError where a number is not finite.

    >>> exact_variance(torch.tensor([1.0, 2.0, 4.0]))
    Fraction(14, 9)
    """
    wholes, scale = _wholes(x)
    n, total = len(wholes), sum(wholes)
    return Fraction(n * sum(value * value for value in wholes) - total * total, (n * scale) ** 2)


def exact_output(x: Tensor, eps: float) -> Tensor:
    """(x - mean) / sqrt(var + eps) with exact mean and variance, rounded once at the end: float64, (n,).

    Raises NormvizError where a number is not finite.
    """
    wholes, scale = _wholes(x)
    n, total = len(wholes), sum(wholes)
    sigma = float(exact_variance(x) + Fraction(eps)) ** 0.5
    return torch.tensor([(n * value - total) / (n * scale) / sigma for value in wholes], dtype=torch.float64)


def root_mean_square(x: Tensor) -> float:
    """sqrt(mean(x^2)), in float64; NaN where x holds NaN."""
    return float(x.double().square().mean().sqrt())


def _wholes(x: Tensor) -> tuple[list[int], int]:
    """Whole numbers and one power of two to divide them by: floating-point numbers are just that."""
    if not bool(x.isfinite().all()):
        raise NormvizError(
            f"x holds numbers that are not finite in {str(x.dtype).removeprefix('torch.')}; move it closer to 0."
        )
    ratios = [value.as_integer_ratio() for value in x.double().tolist()]
    scale = max(denominator for _, denominator in ratios)
    return [numerator * (scale // denominator) for numerator, denominator in ratios], scale
