"""Example groups of numbers in each dtype, their exact variance and output, and the output of torch's layers."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log10

import torch
from torch import Tensor, nn

from normviz.analysis.checks import SEEDS, read_integer, read_number
from normviz.texts.errors import NormvizError, echo, listed

DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32, "float64": torch.float64}
GROUP_SIZES = range(2, 1025)
SIZE = 256  # numbers in a group, where no other size is given
LARGEST_DISTANCE = 1e7
DISTANCES = tuple(10.0**power for power in range(ceil(log10(LARGEST_DISTANCE)) + 1))  # 10^0 .. 10^7
SMALLEST_SPREAD, LARGEST_SPREAD = 1e-12, 1e3
SMALLEST_EPS = 1e-30


def read_dtype(name: str) -> torch.dtype:
    """The torch dtype called "float16", "bfloat16", "float32" or "float64". Raises NormvizError for another name.

    >>> read_dtype("float16")
    torch.float16
    """
    if not isinstance(name, str) or name not in DTYPES:
        raise NormvizError("dtype={dtype} is unknown; choose {names}.", dtype=echo(name), names=listed(DTYPES))
    return DTYPES[name]


def read_eps(eps: float) -> float:
    """eps as a float. Raises NormvizError unless it is from 1e-30 to 1 (torch's BatchNorm refuses 0)."""
    return read_number("eps", eps, SMALLEST_EPS, 1)


def example_group(dtype: str, distance: float = 0.0, size: int = SIZE, seed: int = 0, spread: float = 1.0) -> Tensor:
    """One statistics group: normal noise around ``distance``, rounded to the dtype.

    dtype     "float16", "bfloat16", "float32" or "float64".
    distance  the mean of the distribution, 0 to 10^7.
    size      the number of values, 2 to 1,024.
    seed      of the noise, which is the same at every distance and in every dtype.
    spread    the standard deviation of the distribution, 10^-12 to 10^3.

    Returns a tensor (size,) of the dtype; infinite beyond the largest number of the dtype (65,504 in float16).
    Raises NormvizError for other values.

    >>> example_group("bfloat16", distance=1000, size=4).tolist()  # bfloat16 has 8 bits: a spacing of 4 here
    [1000.0, 1000.0, 996.0, 1000.0]
    """
    distance = read_number("distance", distance, 0, LARGEST_DISTANCE)
    spread = read_number("spread", spread, SMALLEST_SPREAD, LARGEST_SPREAD)
    generator = torch.Generator().manual_seed(read_integer("seed", seed, SEEDS))
    noise = torch.randn(read_integer("size", size, GROUP_SIZES), generator=generator, dtype=torch.float64)
    return (distance + spread * noise).to(read_dtype(dtype))


@dataclass(frozen=True)
class TorchLayer:
    """One of torch's layers without gamma and beta, and the shape in which n numbers are one statistics group for it.

    strides  of that shape in memory; None: as in a contiguous tensor
    """

    make: Callable[[int, float], nn.Module]
    shape: Callable[[int], tuple[int, ...]]
    strides: Callable[[int], tuple[int, ...]] | None = None


TORCH_LAYERS: dict[str, TorchLayer] = {
    "LayerNorm": TorchLayer(lambda n, eps: nn.LayerNorm(n, eps=eps, elementwise_affine=False), lambda n: (1, n)),
    "BatchNorm1d": TorchLayer(
        lambda n, eps: nn.BatchNorm1d(1, eps=eps, affine=False, track_running_stats=False), lambda n: (n, 1)
    ),
    "GroupNorm": TorchLayer(lambda n, eps: nn.GroupNorm(1, 1, eps=eps, affine=False), lambda n: (1, 1, n)),
    "InstanceNorm1d": TorchLayer(lambda n, eps: nn.InstanceNorm1d(1, eps=eps), lambda n: (1, 1, n)),
}
# On the CPU, torch's only layer that computes the mean of x^2 minus the squared mean.
CHANNELS_LAST = "GroupNorm, channels_last"
LAYERS = TORCH_LAYERS | {
    CHANNELS_LAST: TorchLayer(
        lambda n, eps: nn.GroupNorm(1, n, eps=eps, affine=False), lambda n: (1, n, 1, 1), lambda n: (n, 1, n, n)
    )
}


def torch_output(name: str, x: Tensor, eps: float) -> Tensor:
    """The output of a layer of ``LAYERS`` with ``x`` as one statistics group: (n,), of x's dtype."""
    layer, n = LAYERS[name], x.numel()
    group = x.reshape(layer.shape(n))
    if layer.strides:
        group = group.contiguous().as_strided(group.shape, layer.strides(n))
    with torch.no_grad():
        output: Tensor = layer.make(n, eps)(group)
    return output.reshape(n)


def exact_variance(x: Tensor) -> Fraction:
    """The biased variance of ``x`` (n,) without rounding, in integer arithmetic: (n sum x^2 - (sum x)^2) / n^2.

    Raises NormvizError if a number is not finite.

    >>> exact_variance(torch.tensor([1.0, 2.0, 4.0]))
    Fraction(14, 9)
    """
    integers, scale = _integers(x)
    n, total = len(integers), sum(integers)
    return Fraction(n * sum(value * value for value in integers) - total * total, (n * scale) ** 2)


def root_mean_square(x: Tensor) -> float:
    """sqrt(mean(x^2)), in float64; NaN if x contains NaN."""
    return float(x.double().square().mean().sqrt())


def _integers(x: Tensor) -> tuple[list[int], int]:
    """x as integers divided by one power of two, which represents floating-point numbers exactly."""
    if not bool(x.isfinite().all()):
        raise NormvizError(
            "x contains numbers that are not finite in {dtype}; choose values closer to 0.",
            dtype=str(x.dtype).removeprefix("torch."),
        )
    ratios = [value.as_integer_ratio() for value in x.double().tolist()]
    scale = max(denominator for numerator, denominator in ratios)
    return [numerator * (scale // denominator) for numerator, denominator in ratios], scale
